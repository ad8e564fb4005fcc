"""Sample inputs for functions without rules, which AD systems look into; `rulescore check` runs them through the AD.

What writes to an array returns nothing, so its samples call a function that returns the array after it was written to.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from types import MethodDescriptorType
from typing import Any

import numpy as np

from ..sampling import Sample, sample, sample_inputs
from .reductions import complex_normal
from .sorting import apart


def written_by(f: Any) -> Callable[..., Any]:
    """A function of what ``f`` writes to and of its other arguments: the array afterwards, in new memory."""

    @functools.wraps(f, updated=(), assigned=("__name__", "__qualname__", "__doc__"))
    def written(x: Any, /, *args: Any, **kwargs: Any) -> Any:
        # An ordinary array cannot take what is being differentiated, so the new one is like the argument that is.
        y = np.array(x, like=next((v for v in (x, *args, *kwargs.values()) if _speaks_for_itself(v)), np.empty(0)))
        if isinstance(f, MethodDescriptorType):
            getattr(y, f.__name__)(*args, **kwargs)
        else:
            f(y, *args, **kwargs)
        return y

    return written


def _speaks_for_itself(x: Any) -> bool:
    return hasattr(x, "__array_function__") and not issubclass(type(x), (np.ndarray, np.generic))


WRITTEN = {
    f: written_by(f)
    for f in (
        *(np.copyto, np.fill_diagonal, np.place, np.put, np.put_along_axis, np.putmask),
        *(np.ndarray.fill, np.ndarray.partition, np.ndarray.put, np.ndarray.sort),
    )
}


@sample_inputs(np.copyto)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    call = WRITTEN[np.copyto]
    yield sample(rng.standard_normal((2, 3)), rng.standard_normal((2, 3)), _function=call)
    yield sample(rng.standard_normal((2, 3)), rng.standard_normal(3), _function=call, _name="broadcast")
    mask = rng.standard_normal((2, 3)) > 0
    yield sample(rng.standard_normal((2, 3)), rng.standard_normal(3), where=mask, _function=call, _name="where")
    yield sample(complex_normal(rng, 3), rng.standard_normal(3), _function=call, _name="real into complex")
    single = rng.standard_normal(3).astype(np.float32)
    yield sample(single, rng.standard_normal(3), casting="same_kind", _function=call, _name="double into single")


@sample_inputs(np.fill_diagonal)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    call = WRITTEN[np.fill_diagonal]
    yield sample(rng.standard_normal((3, 3)), rng.standard_normal(), _function=call)
    yield sample(rng.standard_normal((3, 4)), rng.standard_normal(3), _function=call, _name="vector")
    yield sample(rng.standard_normal((6, 2)), rng.standard_normal(2), wrap=True, _function=call, _name="wrap")
    yield sample(complex_normal(rng, 2, 2, 2), rng.standard_normal(), _function=call, _name="three axes")


@sample_inputs(np.place)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    call = WRITTEN[np.place]
    mask = np.array([[True, False, True], [False, True, True]])
    yield sample(rng.standard_normal((2, 3)), mask, rng.standard_normal(4), _function=call)
    yield sample(rng.standard_normal((2, 3)), mask, rng.standard_normal(3), _function=call, _name="repeated values")


@sample_inputs(np.putmask)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    call = WRITTEN[np.putmask]
    mask = np.array([[True, False, True], [False, True, True]])
    yield sample(rng.standard_normal((2, 3)), mask, rng.standard_normal((2, 3)), _function=call)
    yield sample(rng.standard_normal((2, 3)), mask, rng.standard_normal(2), _function=call, _name="repeated values")


@sample_inputs(np.put, np.ndarray.put)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    # One generator for both: a method and its function write in the same way.
    yield sample(rng.standard_normal((2, 3)), [0, 4], rng.standard_normal(2), _function=WRITTEN[np.put])
    yield sample(
        rng.standard_normal(4), [-1, 7, 9], rng.standard_normal(2), mode="wrap", _function=WRITTEN[np.ndarray.put]
    )
    yield sample(rng.standard_normal(4), [1, 1], rng.standard_normal(2), _function=WRITTEN[np.put], _name="twice")


@sample_inputs(np.put_along_axis)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    call = WRITTEN[np.put_along_axis]
    indices = np.array([[2, 0], [1, 2]])
    yield sample(rng.standard_normal((2, 3)), indices, rng.standard_normal((2, 2)), 1, _function=call)
    yield sample(rng.standard_normal((3, 2)), indices, rng.standard_normal((2, 1)), axis=0, _function=call)
    yield sample(rng.standard_normal((2, 3)), np.array([0, 5]), rng.standard_normal(2), None, _function=call)


@sample_inputs(np.ndarray.fill)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(rng.standard_normal((2, 3)), rng.standard_normal(), _function=WRITTEN[np.ndarray.fill])


@sample_inputs(np.ndarray.sort)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(apart(rng, 2, 4), _function=WRITTEN[np.ndarray.sort])
    yield sample(apart(rng, 4, 2), 0, kind="stable", _function=WRITTEN[np.ndarray.sort])


@sample_inputs(np.ndarray.partition)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(apart(rng, 5), 2, _function=WRITTEN[np.ndarray.partition])
    yield sample(apart(rng, 4, 2), (1, 2), axis=0, _function=WRITTEN[np.ndarray.partition])


@sample_inputs(np.fromiter)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample([rng.standard_normal(), rng.standard_normal()], float)
    yield sample([rng.standard_normal(), rng.standard_normal(), 1.5], np.complex128, 2, _name="the first two")


@sample_inputs(np.ndarray.item)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(rng.standard_normal((1, 1)))
    yield sample(rng.standard_normal((2, 3)), 4)
    yield sample(complex_normal(rng, 2, 3), 1, 2)


@sample_inputs(np.ndarray.tolist)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(rng.standard_normal(3))
    yield sample(rng.standard_normal((2, 2)))


@sample_inputs(np.ndarray.to_device)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(rng.standard_normal(3), "cpu")


@sample_inputs(np.ndarray.view)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(rng.standard_normal((2, 3)))
    yield sample(rng.standard_normal(3), np.ndarray)
