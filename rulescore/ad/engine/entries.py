"""What is recorded of an operation: how a cotangent of its output becomes cotangents of its arguments.

An entry names what it was computed from, its parents, by keys: positions on a tape, nodes in a graph. It does not know
which of them it is.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Any

import numpy as np

from rulescore.ad.tracing.calls import part_of_tangent
from rulescore.ad.tracing.tracers import Tracer, is_differentiated, value_beneath
from rulescore.ad.values.skeletons import Skeleton, tangent_of
from rulescore.definitions.pullbacks import require_that_of_function
from rulescore.tangents.masked import Selected, everywhere, follows_marks, of_marks, where_reached
from rulescore.tangents.sparsity import is_sparse
from rulescore.tangents.thunks import unthunk
from rulescore.tangents.zero import AbstractZero, NoTangent, ZeroTangent

Key = Any
FAILED_AT = "_rulescore_failed_at"
"""The attribute of an exception by which a walk back tells the key of the entry that raised it."""
_NO_TANGENT, _ZERO_TANGENT = NoTangent(), ZeroTangent()


class Entry:
    """Something that cotangents reach. This one passes nothing on: an argument, or a constant."""

    __slots__ = ()
    parents: tuple[Key, ...] = ()
    """The keys of what it was computed from."""
    is_elementwise = False
    """Whether it multiplies cotangents element by element, and so takes masked ones (`Selected`) as they are."""

    def cotangents(self, ybar: Any) -> Iterable[tuple[Key, Any]]:
        """The keys of parents, each with what is to be added to its cotangent."""
        return ()

    keeps_places = False
    """Whether each element of a cotangent that it passes on comes from the one at the same place."""

    def cotangents_of_masked(self, ybar: Selected) -> Iterable[tuple[Key, Any]]:
        """The same of a masked cotangent: which zeros of it are zeros of theirs, its marks tell.

        Of one that is nothing but such zeros no marks are passed on, which an infinite slope would make NaN.
        """
        if not ybar.is_reached:
            for key, xbar in self.cotangents(ybar.force()):
                yield key, masked_as(unthunk(xbar), _ZERO_TANGENT, ybar.is_certain_throughout)
            return
        if self.keeps_places:
            for key, xbar in self.cotangents(ybar.force()):
                yield key, masked_as(unthunk(xbar), ybar.marks, ybar.is_certain)
            return
        values = [(key, unthunk(xbar)) for key, xbar in self.cotangents(ybar.force())]
        marks = Marks(
            lambda marks: self._marks(marks(ybar)), ybar.is_certain is True, self.parents, [xbar for _, xbar in values]
        )
        for number, (key, xbar) in enumerate(values):
            yield key, marks.on(number, xbar)

    def _marks(self, marks: Any) -> list[Any]:
        return [unthunk(mark) for _, mark in self.cotangents(marks)]

    def with_variables(self, graph: Any) -> Entry:
        """The same with variables in the place of what it has saved, so that the graph records what it computes."""
        return self


class Marks:
    """What an entry makes of the marks of masked cotangents, which tells the masks of what it passes on.

    ``pass_on`` is given a function, from a cotangent to its marks; ``are_certain`` says whether its zeros are. Where an
    entry has several parents one may be the other's factor, so there are marks of NaN too, which no factor hides, but
    some code skips (SciPy's filters take it for a weight that is zero); and where what is passed on is differentiated
    itself, they tell of which zeros it is certain that no factor has made them.
    """

    def __init__(
        self, pass_on: Callable[[Any], Any], are_certain: bool, parents: Collection[Key], values: Iterable[Any]
    ) -> None:
        self._pass_on = pass_on
        self._marks: Any = None
        self._doubts: Any = None
        are_bare = len(parents) > 1 or follows_marks()
        try:
            self._marks = _joined(pass_on, _NANS, _MARKS) if are_bare else of_marks(pass_on, _MARKS)
            if not are_certain or any(map(is_differentiated, values)):
                is_known = are_bare and are_certain
                self._doubts = self._marks if is_known else _joined(pass_on, _DOUBTS, _MARKS_OF_DOUBTS)
        except Exception:  # as of a solver that refuses NaN
            self._marks = None

    def on(self, key: Any, xbar: Any) -> Any:
        """What was passed on, masked."""
        if self._marks is None:
            return xbar
        mark = self._marks[key]
        if _may_be_unreached(mark, xbar):
            mark = self._without_unreached(key, mark)
        return masked_as(xbar, mark, True if self._doubts is None else _is_zero(self._doubts[key], xbar))

    def _without_unreached(self, key: Any, mark: Any) -> Any:
        """The mark, zero where it is NaN by an infinite slope alone."""
        if self._apart is None or np.shape(apart := self._apart[key]) != np.shape(mark):
            return mark
        return np.where(np.isnan(mark) & ~np.isnan(apart), 0, mark)

    @functools.cached_property
    def _apart(self) -> Any:
        try:
            return of_marks(self._pass_on, _APART)
        except Exception:  # as of the marks
            return None


def _may_be_unreached(mark: Any, xbar: Any) -> bool:
    """Whether marks and numbers are NaN somewhere."""
    if not hasattr(mark, "dtype") or not hasattr(xbar, "dtype") or is_sparse(mark):
        return False
    numbers = value_beneath(xbar)
    if is_sparse(numbers) or np.shape(numbers) != np.shape(mark):
        return False
    return bool(np.any(np.isnan(mark) & np.isnan(numbers)))


_MARKS, _NANS, _APART = operator.attrgetter("marks"), operator.attrgetter("nans"), operator.attrgetter("apart")
_MARKS_OF_DOUBTS, _DOUBTS = operator.attrgetter("marks_of_doubts"), operator.attrgetter("doubts")


def _joined(pass_on: Callable[[Any], Any], nans: Any, marks: Any) -> Any:
    """What is passed on of marks of both kinds, each by itself."""
    by_nans, by_marks = of_marks(pass_on, nans), of_marks(pass_on, marks)
    if isinstance(by_nans, dict):
        return type(by_nans)(
            {key: joined_marks(by_nans[key], by_marks[key]) for key in by_nans.keys() | by_marks.keys()}
        )
    return list(map(joined_marks, by_nans, by_marks))


def joined_marks(one: Any, other: Any) -> Any:
    """Marks that are zero where both are."""
    if one is None or isinstance(one, AbstractZero):
        return other
    return one if other is None or not hasattr(one, "dtype") else one + other


def _is_zero(mark: Any, xbar: Any) -> Any:
    if mark is None or isinstance(mark, AbstractZero):
        return True
    is_zero = np.equal(mark, 0) if hasattr(mark, "dtype") and not is_sparse(mark) else False
    return is_zero if np.shape(is_zero) == np.shape(xbar) else False


def masked_as(xbar: Any, mark: Any, is_certain: Any) -> Any:
    """A cotangent, masked where a mark has remained zero; what is no array, or a sparse one, has no mask."""
    if not hasattr(xbar, "dtype") or is_sparse(value_beneath(xbar)) or is_sparse(mark):
        return xbar
    if isinstance(mark, AbstractZero):
        mark = np.zeros(np.shape(xbar))
    if not hasattr(mark, "dtype"):
        return xbar
    return where_reached(xbar, mark, value_beneath(xbar), is_certain)


def is_empty(ybar: Any) -> bool:
    """Whether a cotangent has no entries.

    Nothing is passed on of it: what was computed from something has not used it then, and zeros, which are a sum of
    nothing, would become NaN where they meet an infinite slope.
    """
    value = value_beneath(ybar) if isinstance(ybar, Tracer) else ybar
    return type(value) is np.ndarray and not value.size


LEAF = Entry()


class Pulled(Entry):
    """A call, by the pullback of its rule: from the cotangent of the output to those of the function and the arguments.

    The targets say which arguments have a parent: by their position, the path within a container there, and its key.
    """

    __slots__ = ("pullback", "targets")

    def __init__(self, pullback: Callable[[Any], Any], targets: list[tuple[int, tuple[Any, ...], Key]]) -> None:
        self.pullback = pullback
        self.targets = targets

    @property
    def parents(self) -> tuple[Key, ...]:  # type: ignore[override]
        return tuple([key for _, _, key in self.targets])

    @property
    def is_elementwise(self) -> bool:  # type: ignore[override]
        return getattr(self.pullback, "is_elementwise", False)

    @property
    def keeps_places(self) -> bool:  # type: ignore[override]
        return getattr(self.pullback, "keeps_places", False)

    def cotangents(self, ybar: Any) -> Iterator[tuple[Key, Any]]:
        if is_empty(ybar):
            return
        bars = self.pullback(ybar)
        if not bars or bars[0] is not _NO_TANGENT:
            require_that_of_function(bars)
        for position, path, key in self.targets:
            if 1 + position < len(bars):  # a pullback may stop early: what is missing has no derivative
                yield key, part_of_tangent(bars[1 + position], path)


class Several(Entry):
    """A call with several outputs, whose cotangent is made of theirs.

    It is recorded as this entry, and an `Output` for each of them, whose parent this is: they send it `Parts`, which
    the sums merge (`Cotangents.add`), so that the pullback is called once.
    """

    __slots__ = ("_count", "_skeleton", "whole")

    def __init__(self, whole: Entry, skeleton: Skeleton, count: int) -> None:
        self.whole = whole
        self._skeleton = skeleton
        self._count = count

    @property
    def parents(self) -> tuple[Key, ...]:  # type: ignore[override]
        return self.whole.parents

    def cotangents(self, parts: Any) -> Iterable[tuple[Key, Any]]:
        for part in parts.values():  # a generator takes four times as long
            if type(part) is Selected:
                return self._cotangents_of_masked(parts)
        return self._cotangents(parts)

    def _cotangents(self, parts: dict[int, Any]) -> Iterable[tuple[Key, Any]]:
        bars = [parts.get(i, _ZERO_TANGENT) for i in range(self._count)]
        return self.whole.cotangents(tangent_of(self._skeleton, bars))

    def _cotangents_of_masked(self, parts: dict[int, Any]) -> Iterable[tuple[Key, Any]]:
        """As of one masked cotangent; what has no mask may differ from zero everywhere."""
        if self.whole.is_elementwise:
            return self._cotangents(parts)
        return self._by_marks(parts)

    def _by_marks(self, parts: dict[int, Any]) -> Iterator[tuple[Key, Any]]:
        selected = {i: part if type(part) is Selected else everywhere(part) for i, part in parts.items()}
        is_reached = any(part.is_reached for part in selected.values())
        values = [(key, unthunk(xbar)) for key, xbar in self._cotangents({i: x.force() for i, x in selected.items()})]
        if not is_reached:
            is_certain = all(part.is_certain_throughout for part in selected.values())
            for key, xbar in values:
                yield key, masked_as(xbar, _ZERO_TANGENT, is_certain)
            return

        def of_each(marks: Any) -> list[Any]:
            return [unthunk(mark) for _, mark in self._cotangents({i: marks(part) for i, part in selected.items()})]

        are_certain = all(part.is_certain is True for part in selected.values())
        passed = Marks(of_each, are_certain, self.parents, [xbar for _, xbar in values])
        for number, (key, xbar) in enumerate(values):
            yield key, passed.on(number, xbar)

    def with_variables(self, graph: Any) -> Entry:
        return Several(self.whole.with_variables(graph), self._skeleton, self._count)


class Output(Entry):
    """One of the outputs of such a call."""

    __slots__ = ("_number", "parents")
    is_elementwise = True

    def __init__(self, several: Key, number: int) -> None:
        self.parents = (several,)
        self._number = number

    def cotangents(self, ybar: Any) -> Iterable[tuple[Key, Any]]:
        if is_empty(ybar):
            return ()
        return ((self.parents[0], Parts({self._number: ybar if type(ybar) is Selected else unthunk(ybar)})),)


class Parts(dict[int, Any]):
    """The cotangents of some of the outputs of a call, by their number."""
