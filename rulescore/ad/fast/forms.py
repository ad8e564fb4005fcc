"""What the tape needs to know of functions in order to record them without a call of their rule.

Most operations of most programs are ufuncs of one or two arguments, whose rules are partial derivatives to multiply the
cotangent with (`StaticForm.partials`). For them a tape keeps the partial and what it reads, which takes less time and
memory than a rule's closure. All of it comes from the rule tables and goes when they change.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from rulescore.tables.records import RuleRecord, StaticForm
from rulescore.tables.registry import rrule
from rulescore.tables.signatures import plain_type

# In the place of partials that are constants: the cotangent is passed on or negated, and nothing is multiplied.
ONE: Any = object()
MINUS_ONE: Any = object()


# Forms are plain tuples, since to unpack a named one takes four times as long.

Unary = tuple[Callable[..., Any], bool, bool, Any]
"""An elementwise function of one argument whose output has the dtype of the argument.

Its ``partial(y, x)``; whether that reads ``y``, and ``x``, which the tape has to keep then; and, where it is one ufunc
of ``x``, as cos for sin, that ufunc: calling it saves a call.
"""

Reads = tuple[bool, bool, bool]
"""Whether a partial derivative reads the output, the first argument, and the second."""

Binary = tuple[Callable[..., Any], Callable[..., Any], Reads, Reads, Reads]
"""An elementwise function of two arguments, whose output has the dtype that they share.

Its partials; and what the first of them reads, the second, and both.
"""

# By ufunc; None for one that has to be recorded by its rule.
unary_forms: dict[Any, Unary | None] = rrule.dependent_cache()
binary_forms: dict[Any, Binary | None] = rrule.dependent_cache()


def unary_form(ufunc: Any) -> Unary | None:
    """How to record an elementwise function of one argument, or None; also put into the cache."""
    form: Unary | None = None
    generation = rrule.generation
    static = _form_by_partials(ufunc, 1)
    if static is not None:
        (partial,) = static.partials
        reads = (static.uses_output[0], static.uses_arguments[0][0])
        is_minus_one = not any(reads) and partial(None, None) == -1
        form = (MINUS_ONE if is_minus_one else partial, *reads, _ufunc_of_argument(partial))
    rrule.store(unary_forms, ufunc, form, generation)
    return form


def binary_form(ufunc: Any) -> Binary | None:
    """How to record an elementwise function of two arguments, or None; also put into the cache."""
    form: Binary | None = None
    generation = rrule.generation
    static = _form_by_partials(ufunc, 2)
    if static is not None:
        first, second = static.partials
        of_first, of_second = zip(static.uses_output, *zip(*static.uses_arguments, strict=True), strict=True)
        of_both = tuple(map(operator.or_, of_first, of_second))
        form = (_simplest(first, of_first), _simplest(second, of_second), of_first, of_second, of_both)
    rrule.store(binary_forms, ufunc, form, generation)
    return form


def _form_by_partials(ufunc: Any, count: int) -> Any:
    """The static form of a ufunc of so many arguments, if its rule serves all types and no loop changes the dtype."""
    if not isinstance(ufunc, np.ufunc) or (ufunc.nin, ufunc.nout) != (count, 1) or ufunc.signature is not None:
        return None
    record = rrule.rule_for_types(ufunc, (np.ndarray,) * count)
    if record is None or any(t is not object for signature in record.signatures for t in signature):
        return None
    loops = {loop.partition("->")[0]: loop.partition("->")[2] for loop in ufunc.types}
    keeps_dtype = "d" * count in loops and all(loops.get(char * count, char) == char for char in "efdgFDG")
    is_alone = not any(other is not record and _serves_arrays(other) for other in rrule.records(ufunc))
    form = record.static
    has_partials = form is not None and form.partials is not None and None not in form.partials
    return form if keeps_dtype and is_alone and has_partials else None


def _serves_arrays(record: RuleRecord) -> bool:
    """Whether a rule may be the one for a call with nothing but arrays and numbers, unlike those of sparse arrays."""
    return any(
        all(any(issubclass(usual, plain_type(t)) for usual in _USUAL) for t in types) for types in record.signatures
    )


_USUAL = (np.ndarray, np.float64, np.float32, np.int64, float, int, complex, bool)


def _simplest(partial: Callable[..., Any], reads: Reads) -> Callable[..., Any]:
    if any(reads):
        return partial
    constant = partial(None, None, None)
    return ONE if constant == 1 else MINUS_ONE if constant == -1 else partial


SERVED_ALIKE = frozenset({np.ndarray, np.float64})
"""The types that one static form of one argument serves."""

# By function; None for one whose rule has to be called. Of arrays of real numbers without keywords.
static_forms: dict[Any, StaticForm | None] = rrule.dependent_cache()


def static_form(f: Any, count: int) -> StaticForm | None:
    """The static form of a function of so many positional arguments, or None; also put into the cache."""
    generation = rrule.generation
    record = rrule.rule_for_types(f, (np.ndarray,) * count)
    form = None if record is None else record.static
    if form is not None and (len(form.vjps) != count or form.partials is not None):
        form = None
    if count == 1 and any(rrule.rule_for_types(f, (t,)) is not record for t in SERVED_ALIKE):
        form = None
    if record is not None:  # of what has no rule nothing is kept: it may be a function that was made for one call
        rrule.store(static_forms, f, form, generation)
    return form


class _Probe:
    """Stands for the argument of a partial derivative, to find out whether that is one ufunc of the argument."""

    def __init__(self, ufunc: Any = None) -> None:
        self.ufunc = ufunc

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if method != "__call__" or kwargs or len(inputs) != 1 or self.ufunc is not None:
            raise TypeError
        return _Probe(ufunc)


def _ufunc_of_argument(partial: Callable[..., Any]) -> Any:
    """The ufunc of ``x`` that ``partial(y, x)`` is; None where it is something else."""
    try:
        result = partial(None, _Probe())
    except Exception:  # it does something else with its arguments than call one ufunc
        return None
    return result.ufunc if isinstance(result, _Probe) else None
