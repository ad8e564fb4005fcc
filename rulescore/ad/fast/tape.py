"""The tape with entries that are tuples, and the walk back along it, in lists by position."""

from __future__ import annotations

from typing import Any

import numpy as np

from rulescore.ad.engine.entries import FAILED_AT, LEAF, Entry, Pulled
from rulescore.ad.engine.tapes import Tape
from rulescore.ad.fast.entries import (
    FastEntry,
    accumulate,
    is_elementwise,
    propagate_by_ufunc,
    propagate_entry,
    propagate_masked,
    propagate_to_first,
)
from rulescore.ad.tracing.calls import Call, captures, traced
from rulescore.ad.tracing.tracers import Tracer
from rulescore.definitions.declarations import no_tangent_pullback
from rulescore.tangents.masked import Selected

_ndarray, _float64 = np.ndarray, np.float64
_LEAF = (propagate_entry, LEAF)


class FastTape(Tape):
    """A tape whose entries are tuples; see `entries`."""

    __slots__ = ()

    def leaf(self, value: Any) -> Any:  # spelled out: 2 % of one sine and its sum
        self.arguments += 1
        self.append(_LEAF)
        return self.tracer(value, len(self) - 1)

    def keep(self, entry: Entry) -> int:
        self.append((propagate_entry, entry))
        return len(self) - 1

    def process(self, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        first = args[0] if args else None
        if isinstance(first, Tracer) and first._trace is self and _are_plain(args[1:], kwargs):
            return self._process_first(f, first, args, kwargs)
        return Tape.process(self, f, args, kwargs)

    def _process_first(self, f: Any, first: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The same where the first argument alone is a tracer: most calls, and so without what others need."""
        x = first._value
        found = self.system.pull(f, (x, *args[1:]), kwargs, (True,) + (False,) * (len(args) - 1))
        if found is None or captures(self, found[0]):
            return NotImplemented
        y, pullback = found
        if pullback is no_tangent_pullback:
            return y
        entry = (propagate_to_first, pullback, first._node)
        if is_inexact(y) and y.size:
            return self.record_tuple(y, entry)
        return traced(self, y, Call(f, args, kwargs), Pulled(pullback, [(0, (), first._node)]))

    def record_tuple(self, y: Any, entry: FastEntry) -> Any:
        """A tracer of an output, with its entry."""
        self.append(entry)
        return self.tracer(y, len(self) - 1)

    def pull_back(self, seeds: list[tuple[int, Any]], keep: bool = False, with_masks: bool = False) -> list[Any]:
        bars: list[Any] = [None] * len(self)
        owned = bytearray(len(self))
        for position, seed in seeds:
            accumulate(seed, position, bars, owned)
        # Both are taken from their ends, so that what they hold is freed; the position of an entry is the length of
        # `bars`.
        next_entry: Any = reversed(self).__next__ if keep else self.pop
        next_bar = bars.pop
        try:
            for _ in range(len(self) - self.arguments):
                entry = next_entry()
                ybar = next_bar()
                if ybar is None:
                    continue
                if entry[0] is propagate_by_ufunc:  # spelled out, since the call would cost a tenth of it
                    _, ufunc, x, parent = entry
                    if bars[parent] is None:
                        bars[parent] = ybar * ufunc(x)
                    else:
                        accumulate(ybar * ufunc(x), parent, bars, owned)
                else:
                    if type(ybar) is Selected and not is_elementwise(entry):
                        propagate_masked(entry, ybar, bars, owned)
                    else:
                        entry[0](entry, ybar, bars, owned)
        except Exception as error:
            vars(error).setdefault(FAILED_AT, len(bars))
            raise
        return bars if with_masks else [bar.written_out() if type(bar) is Selected else bar for bar in bars]


# What may stand beside a tracer in a call without a second look: it holds no tracers.
_PLAIN = frozenset({int, float, bool, str, slice, type(None), type(...), np.ndarray, np.float64, np.int64, np.bool_})


def _are_plain(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    for x in args:
        if type(x) not in _PLAIN:
            return False
    if kwargs:
        for x in kwargs.values():
            if type(x) not in _PLAIN:
                return False
    return True


def is_inexact(y: Any) -> bool:
    kind = type(y)
    return kind is _float64 or (y.dtype.kind in "fc" if kind is _ndarray else issubclass(kind, np.inexact))


def is_fresh(y: Any) -> bool:
    """Whether an output is a number or array of real numbers that is no view."""
    kind = type(y)
    return kind is _float64 or (
        y.dtype.kind == "f" and y.base is None if kind is _ndarray else issubclass(kind, np.floating)
    )
