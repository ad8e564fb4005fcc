"""``ufunc.at``: adding to elements by index, of which several may be the same."""

from __future__ import annotations

from typing import Any

import numpy as np

from rulescore.ad.in_place.replaced import last_of_each
from rulescore.ad.in_place.writing import check_traced, write_into
from rulescore.ad.messages.errors import no_rule
from rulescore.ad.numpy_protocols.operands import operands, refuse_types
from rulescore.ad.numpy_protocols.ufuncs import converted_to
from rulescore.ad.tracing.tracers import Tracer, apply
from rulescore.definitions.declarations import no_tangent_pullback
from rulescore.tables.registry import frule, rrule
from rulescore.tangents.broadcasting import unbroadcast
from rulescore.tangents.projection import NON_DIFFERENTIABLE, project_to
from rulescore.tangents.thunks import Thunk, unthunk
from rulescore.tangents.zero import AbstractZero, NoTangent

_NO_TANGENT = NoTangent()


def add_at(ufunc: Any, inputs: tuple[Any, ...]) -> None:
    """``ufunc.at(x, index, value)``."""
    refuse_types(map(type, inputs))
    x, index, *value = inputs
    check_traced(x, f"np.{ufunc.__name__}.at(a, index, x)")
    value = list(operands(ufunc, tuple(value)))
    if ufunc is np.add or ufunc is np.subtract:
        (v,) = value
        write_into(x, apply(added_at, (x, index, v if ufunc is np.add else np.negative(v))))
        return
    counts = last_of_each(index, x.shape)
    if counts is not None and not np.all(counts):
        raise no_rule(
            getattr(ufunc, "at"),  # noqa: B009
            inputs,
            {},
            "an element is named several times in the index. Only np.add.at and np.subtract.at are differentiated "
            f"then; call np.{ufunc.__name__}.at once for each set of different indices",
        )
    x[index] = converted_to(ufunc(x[index], *value), x.dtype)


def added_at(x: Any, index: Any, value: Any) -> Any:
    """A copy of an array with something added at an index: what ``np.add.at(x, index, value)`` makes of ``x``.

    >>> added_at(np.ones(3), [0, 0, 2], 5.0)
    array([11.,  1.,  6.])
    """
    if isinstance(x, Tracer) or isinstance(value, Tracer):
        return apply(added_at, (x, index, value))
    y = x.copy()
    np.add.at(y, index, value)
    return y


@frule.register(added_at)
def added_at_frule(tangents: Any, x: Any, index: Any, value: Any) -> Any:
    _, dx, _, dvalue = tangents
    y = added_at(x, index, value)
    if isinstance(dvalue, AbstractZero):
        return y, dx
    dx = np.zeros(x.shape, x.dtype) if isinstance(dx, AbstractZero) else dx
    return y, added_at(dx, index, dvalue)


@rrule.register(added_at)
def added_at_rrule(x: Any, index: Any, value: Any) -> Any:
    """x̄ is ȳ; the cotangent of the value is ȳ at the index, once for each time that an element is named."""
    y = added_at(x, index, value)
    project_x, project_value = project_to(x), project_to(value)
    if project_x is NON_DIFFERENTIABLE and project_value is NON_DIFFERENTIABLE:
        return y, no_tangent_pullback
    narrow = np.shape(value)

    def added_at_pullback(ybar: Any) -> Any:
        ybar = unthunk(ybar)
        if isinstance(ybar, AbstractZero):
            return _NO_TANGENT, ybar, _NO_TANGENT, ybar

        def value_bar() -> Any:
            bar = ybar[index]
            wide = np.shape(bar)
            if wide != narrow:  # adding broadcasts, and drops leading axes of length 1
                bar = np.reshape(unbroadcast(bar, narrow[max(len(narrow) - len(wide), 0) :]), narrow)
            return project_value(bar)

        return _NO_TANGENT, project_x(ybar), _NO_TANGENT, Thunk(value_bar)

    return y, added_at_pullback
