"""Recording: calls of rules become entries; and the tape, which keeps them in a list for as long as a call takes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from rulescore.ad.engine.entries import LEAF, Entry, Key, Output, Pulled, Several
from rulescore.ad.engine.walk_back import Cotangents, walk_back
from rulescore.ad.tracing.calls import Call, Stripped, bound, captures, strip, traced
from rulescore.ad.tracing.tracers import Trace, Tracer, new_level
from rulescore.ad.values.skeletons import Skeleton
from rulescore.definitions.declarations import no_tangent_pullback
from rulescore.tables.registry import rrule


class Recorder(Trace):
    """A trace that records calls by their reverse rules. Who keeps the entries, and by which keys, subclasses say."""

    __slots__ = ()

    def process(self, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        call = bound(Call(f, args, kwargs), rrule, self.system)
        if call is None:
            return NotImplemented
        seen = values, needs, _ = strip(self, call.args)
        found = self.system.pull(f, values, call.kwargs, needs)
        if found is None:
            return NotImplemented
        y, pullback = found
        return self.recorded(y, pullback, call, seen)

    def recorded(self, y: Any, pullback: Callable[[Any], Any], call: Call, seen: Stripped) -> Any:
        """The output of a call with tracers in it; NotImplemented where it depends on this trace past the pullback."""
        if captures(self, y):
            return NotImplemented
        _, _, targets = seen
        return y if pullback is no_tangent_pullback else traced(self, y, call, Pulled(pullback, targets))

    def keep(self, entry: Entry) -> Key:
        """Keep an entry; its key."""
        raise NotImplementedError

    def record(self, y: Any, entry: Entry) -> Any:
        """A tracer of an output, with its entry."""
        return self.tracer(y, self.keep(entry))

    def record_several(self, outputs: list[Any], entry: Entry, skeleton: Skeleton) -> list[Any]:
        """Tracers of several outputs of one operation, None standing for one without a tangent space."""
        whole = self.keep(Several(entry, skeleton, len(outputs)))
        return [None if y is None else self.record(y, Output(whole, i)) for i, y in enumerate(outputs)]


class Tape(list[Any], Recorder):
    """The record of one differentiation in reverse mode. The key of an entry is its position."""

    __slots__ = ("arguments", "kind", "level", "system")

    def __init__(self, system: Any, kind: type[Tracer]) -> None:
        self.level = new_level()
        self.system = system
        self.kind = kind
        self.arguments = 0
        """How many entries at the beginning are arguments."""

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of level {self.level}: {len(self)} operations>"

    def leaf(self, value: Any) -> Any:
        """A tracer of an argument; these come before everything else."""
        self.arguments += 1
        return self.tracer(value, self.keep(LEAF))

    def constant(self, value: Any) -> Any:
        return self.record(value, LEAF)

    def keep(self, entry: Entry) -> int:
        self.append(entry)
        return len(self) - 1

    def pull_back(self, seeds: list[tuple[int, Any]], keep: bool = False, with_masks: bool = False) -> list[Any]:
        """The cotangents of the arguments, from those of some outputs, by their keys; None where none arrives.

        A tape is emptied on the way, and what it keeps alive is freed, unless it is kept to be walked again. Those that
        have a mask are written out, unless they go on ``with_masks``.
        """
        bars = Cotangents(seeds)
        walk_back(self._backwards(keep), bars)
        take = bars.take if with_masks else bars.written_out
        return [take(position) for position in range(self.arguments)]

    def _backwards(self, keep: bool) -> Iterator[tuple[int, Entry]]:
        for position in range(len(self) - 1, self.arguments - 1, -1):
            yield position, self[position] if keep else self.pop()
