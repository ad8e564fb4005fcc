"""Calling code that is under test: what it raises ends one check and not the test."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import rulescore
from rulescore import NotImplementedTangent, Thunk, unthunk

from ..evidence.vectorisation import Vector, layout_of, tangent_in_place, tangent_to_vector
from ..reports.places import shown_place

_TESTUTILS = Path(__file__).parent.parent
_OUR_FOLDERS = (
    Path(rulescore.__file__).parent,
    *[_TESTUTILS / part for part in ("cases", "checks", "hints", "variants", "bare_functions.py")],
)
_SHORT_FORMS = Path(rulescore.__file__).parent / "definitions"
"""What the short forms raise about a rule's answer names the rule's function and its line itself."""


class MisfitError(ValueError):
    """What a derivative returned does not fit: the message names it, and is all there is to say."""


class RuleRaisedError(Exception):
    """A rule, a pullback or a thunk raised, or did not return what it returned before."""

    @classmethod
    def by(cls, what: str, error: Exception) -> RuleRaisedError:
        """The error that ``what`` raised, with the last lines of rule code it came through."""
        if isinstance(error, MisfitError):
            return cls(str(error))
        frames = traceback.extract_tb(error.__traceback__)
        own = [frame for frame in frames if not any(map(Path(frame.filename).is_relative_to, _OUR_FOLDERS))]
        if not own and not Path(frames[-1].filename).is_relative_to(_SHORT_FORMS):
            own = frames
        where = "".join(
            f"\n  {shown_place(frame.filename, frame.lineno or 0)} in {frame.name}: {frame.line}" for frame in own[-3:]
        )
        return cls(f"{what} raised {type(error).__name__}: {error}{where}")


class NotReachedError(Exception):
    """What a check looks at does not exist, for a reason that another check reports."""


class rule_code:  # noqa: N801 (a class, since a generator takes a microsecond more for each call of a rule)
    """Turn what rule code raises into `RuleRaisedError`, so that it ends one check and not the test."""

    def __init__(self, what: str) -> None:
        self._what = what

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, Exception):
            raise RuleRaisedError.by(self._what, error) from error


def reached(compute: Callable[[], Any]) -> Any:
    """The value of ``compute()``; `NotReachedError` where rule code raises, since another check reports that."""
    try:
        return compute()
    except RuleRaisedError as error:
        raise NotReachedError from error


def force(cotangent: Any) -> Any:
    """A cotangent without its thunk."""
    if not isinstance(cotangent, Thunk):
        return cotangent
    with rule_code("the thunk"):
        return unthunk(cotangent)


def vector_of(primal: Any, tangent: Any, in_place: bool = False) -> Vector:
    """A rule's tangent as real numbers; `NotReachedError` where its type does not fit its primal.

    In place, without a copy where it is one array, for reading.
    """
    if isinstance(tangent, NotImplementedTangent):
        raise NotReachedError
    try:
        return tangent_in_place(layout_of(primal), tangent) if in_place else tangent_to_vector(primal, tangent)
    except (TypeError, ValueError) as error:
        raise NotReachedError from error


def is_pair(result: Any) -> bool:
    """Whether a rule returned a tuple of two."""
    return isinstance(result, tuple) and len(result) == 2


@dataclass(frozen=True, eq=False)
class Primal:
    """A rule's own call: the copies it was given, and the output it returned with the way to its derivative."""

    inputs: tuple[Any, ...]
    output: Any
    derivative: Any
