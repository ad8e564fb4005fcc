"""Forward mode with masks, for where NaN came out of it without (`unreached`): which entries of a tangent move.

An entry that nothing has moved is a strong zero: an infinite slope times nothing is nothing. To be zero is not enough.
At 0 the tangent of ``x**2`` is zero, and that of ``np.log(x**2)`` does not exist. The tangent of ``np.append(x, 0)``
has an entry that does not move, and neither does its root. So which entries move is followed beside the tangent:
through elementwise functions entry by entry, and through all others by marks.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rulescore.ad.engine.duals import Dual, tangents_of
from rulescore.ad.engine.entries import joined_marks, masked_as
from rulescore.ad.engine.unreached import has_nan
from rulescore.ad.tracing.calls import Call, Target, bound, map_tracers, strip, traced
from rulescore.ad.tracing.tracers import Tracer, is_differentiated, value_beneath
from rulescore.ad.values.skeletons import Skeleton, tangents_in
from rulescore.tables.records import RuleRecord
from rulescore.tables.registry import frule, rrule
from rulescore.tangents.masked import Selected, everywhere, of_marks
from rulescore.tangents.spaces import as_scalar
from rulescore.tangents.thunks import unthunk
from rulescore.tangents.zero import AbstractZero, NoTangent, ZeroTangent

_NO_TANGENT, _ZERO_TANGENT = NoTangent(), ZeroTangent()

Part = tuple[Any, Any, bool]
"""What one argument adds to a tangent, the marks of where it may, and whether what they leave out is certain."""


class MaskedDual(Dual):
    """One differentiation in forward mode whose tangents are masked, each the sum of what the arguments add to it."""

    __slots__ = ()

    def process(self, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        call = bound(Call(f, args, kwargs), frule, self.system)
        if call is None:
            return NotImplemented
        values, _, targets = strip(self, call.args)
        moving: dict[int, list[Target]] = {}
        for target in targets:
            if not isinstance(target[2], AbstractZero):
                moving.setdefault(target[0], []).append(target)
        y, parts = None, []
        for of_argument in moving.values() or ([],):
            numbers = [(position, path, unthunk(dx)) for position, path, dx in of_argument]
            found = self.pushed(call, values, tangents_of(values, numbers))
            if found is NotImplemented:
                return NotImplemented
            y, dy = found
            if not isinstance(dy, AbstractZero):
                dy = self._without_unmoved(call, values, of_argument, dy)
                parts.append((dy, *self._marks(call, values, y, of_argument, len(moving) == 1)))
            elif dy is _NO_TANGENT and len(moving) < 2:
                return y
        return traced(self, y, call, parts)

    def _without_unmoved(self, call: Call, values: tuple[Any, ...], targets: list[Target], dy: Any) -> Any:
        """What an argument adds, where the rule has summed NaN of entries that do not move: by the reverse rule.

        Of a list, these may be the items that are constant. What that rule multiplies a cotangent with, its transpose
        multiplies the tangent with, entry by entry.
        """
        if not has_nan((dy,)) or all(not path and np.all(dx.condition) for _, path, dx in targets):
            return dy
        found = self.system.push_by_reverse_rule(call.f, values, call.kwargs, tangents_of(values, targets))
        return dy if found is None else unthunk(found[1])

    def record(self, y: Any, parts: list[Part]) -> Any:  # type: ignore[override]
        return self.tracer(y, _sum_of(parts))

    def record_several(self, outputs: list[Any], parts: list[Part], skeleton: Skeleton) -> list[Any]:
        of_outputs: list[list[Part]] = [[] for _ in outputs]
        for dy, mark, is_certain in parts:
            tangents = tangents_in(dy, skeleton)
            is_common = mark is None or type(mark) is np.ndarray
            marks = [mark] * len(outputs) if is_common else tangents_in(mark, skeleton)
            for of_output, tangent, its_mark in zip(of_outputs, tangents, marks, strict=True):
                of_output.append((tangent, its_mark, is_certain))
        both = zip(outputs, of_outputs, strict=True)
        return [None if y is None else self.tracer(y, _sum_of(of_output)) for y, of_output in both]

    # ---------------------------------------------------------------- which entries of an output an argument moves

    def _marks(
        self, call: Call, values: tuple[Any, ...], y: Any, targets: list[Target], is_alone: bool
    ) -> tuple[Any, bool]:
        """Marks of what an argument adds, None where none are had, and whether where they are zero nothing ever moves.

        Through what is linear in the argument go numbers at random, if no other one moves; a factor that is zero hides
        them. Through all else goes NaN too, which no factor hides.
        """
        record, other = (self._rule(table, call, values) for table in (frule, rrule))
        if any(type(dx) is not Selected for _, _, dx in targets):
            return None, True
        is_certain = all(dx.is_certain is True for _, _, dx in targets)
        if any("elementwise" in of.tags for of in (record, other) if of is not None) and len(targets) == 1:
            shape = np.shape(y[0] if isinstance(y, tuple) else y)
            return np.broadcast_to(targets[0][2].condition, shape), is_certain
        is_linear = is_alone and _is_linear_in(targets[0][0], other)
        pushed = self._pushed_marks(call, values, [(*place, as_scalar(dx.marks[()])) for *place, dx in targets])
        if is_linear or pushed is None:
            return pushed, False
        nans = self._pushed_marks(call, values, [(*place, as_scalar(dx.nans[()])) for *place, dx in targets])
        return None if nans is None else _joined(nans, pushed), is_certain

    def _rule(self, table: Any, call: Call, values: tuple[Any, ...]) -> RuleRecord | None:
        try:
            return self.system.rule(table, call.f, values, call.kwargs)  # type: ignore[no-any-return]
        except TypeError:  # not hashable
            return None

    def _pushed_marks(self, call: Call, values: tuple[Any, ...], marks: list[Target]) -> Any:
        """What the rule makes of marks, by the plain values; None where it does not take them."""
        if any(not x._trace.differentiates for x in _tracers_in(values)):
            return None
        plain = map_tracers(value_beneath, values)
        tangents = tangents_of(plain, marks)
        try:
            with np.errstate(all="ignore"):
                return of_marks(lambda: unthunk(self.system.push(call.f, plain, call.kwargs, tangents)[1]))
        except Exception:  # as of a solver that refuses NaN
            return None


def _joined(nans: Any, marks: Any) -> Any:
    """The same of a tangent of several outputs."""
    if type(nans) is tuple and type(marks) is tuple:
        return tuple(map(_joined, nans, marks))
    return joined_marks(unthunk(nans), unthunk(marks))


def _sum_of(parts: list[Part]) -> Any:
    total: Any = None
    for dy, mark, is_certain in parts:
        dy = unthunk(dy)
        if isinstance(dy, AbstractZero):
            continue
        if mark is not None:
            dy = masked_as(dy, unthunk(mark), is_certain or not is_differentiated(dy))
        if type(dy) is not Selected and hasattr(dy, "dtype"):
            dy = everywhere(dy)
        total = dy if total is None else total.joined(dy) if type(total) is type(dy) is Selected else total + dy
    return _ZERO_TANGENT if total is None else total


def _is_linear_in(position: int, record: RuleRecord | None) -> bool:
    """Whether the derivative with respect to an argument depends on others alone."""
    if record is None:
        return False
    if "linear" in record.tags:
        return position == 0
    form = record.static
    if form is None or position >= len(form.vjps):
        return False
    return not (form.uses_output[position] or form.uses_arguments[position][position])


def _tracers_in(values: Any) -> list[Tracer]:
    """The tracers in some values, and those within them."""
    found: list[Tracer] = []

    def look(x: Any) -> Any:
        while isinstance(x, Tracer):
            found.append(x)
            x = x._value
        return x

    map_tracers(look, values)
    return found
