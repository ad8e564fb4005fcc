"""What programs ask of a value is answered as of the ordinary one, so that they take the same branches."""

# ruff: noqa: B004, E721 -- as people write

from __future__ import annotations

import copy
import decimal
import fractions
import functools
import inspect
import math
import numbers
import operator
import typing
from collections import abc

import numpy as np
import pytest
from scipy import sparse

from rulescore.ad import grad, jacfwd, traceable

# ---------------------------------------------------------------- questions in statements


def matched(x):
    match x:
        case int():
            return "integer"
        case float():
            return "float"
        case complex():
            return "complex"
        case np.ndarray():
            return "array"
        case [_, *_]:
            return "sequence"
        case _:
            return "other"


def matched_by_numpy(x):
    match x:
        case np.floating():
            return "number of NumPy"
        case float():
            return "float"
        case np.ndarray(ndim=1):
            return "one dimension"
        case _:
            return "other"


def matched_as_sequence(x):
    match x:
        case [_, _, _]:
            return "three"
        case {"x": _}:
            return "mapping"
        case _ if np.ndim(x):
            return "array"
        case _:
            return "other"


@functools.singledispatch
def dispatched(x):
    return "object"


@dispatched.register(np.ndarray)
def _(x):
    return "array"


@dispatched.register(float)
def _(x):
    return "float"


@dispatched.register(complex)
def _(x):
    return "complex"


@dispatched.register(np.floating)
def _(x):
    return "number of NumPy"


# ---------------------------------------------------------------- questions in expressions

OF_EVERYTHING = [
    lambda x: isinstance(x, numbers.Number),
    lambda x: isinstance(x, numbers.Real),
    lambda x: isinstance(x, numbers.Complex),
    lambda x: isinstance(x, numbers.Integral),
    lambda x: isinstance(x, float),
    lambda x: isinstance(x, complex),
    lambda x: isinstance(x, np.ndarray),
    lambda x: isinstance(x, (int, float)),
    lambda x: isinstance(x, (list, tuple, np.ndarray)),
    lambda x: isinstance(x, int | float),
    lambda x: isinstance(x, np.complexfloating),
    lambda x: isinstance(x, np.integer),
    lambda x: isinstance(x, object),
    lambda x: isinstance(x, abc.Sequence),
    lambda x: isinstance(x, abc.Iterable),
    lambda x: isinstance(x, abc.Collection),
    lambda x: isinstance(x, abc.Hashable),
    lambda x: isinstance(x, abc.Mapping),
    lambda x: isinstance(x, abc.Callable),
    lambda x: callable(x),
    lambda x: isinstance(x, abc.Iterator),
    lambda x: isinstance(x, abc.Reversible),
    lambda x: isinstance(x, typing.SupportsFloat),
    lambda x: isinstance(x, typing.SupportsInt),
    lambda x: isinstance(x, typing.SupportsAbs),
    lambda x: sparse.issparse(x),
    lambda x: isinstance(x, (decimal.Decimal, fractions.Fraction)),
    lambda x: type(x) is np.ndarray,
    lambda x: type(x) == np.ndarray,
    lambda x: type(x) in (np.ndarray, list),
    lambda x: x.__class__ is np.ndarray,
    lambda x: issubclass(type(x), np.ndarray),
    lambda x: issubclass(x.__class__, np.ndarray),
    lambda x: np.ndarray in type(x).__mro__,
    lambda x: matched(x),
    lambda x: matched_as_sequence(x),
    lambda x: hasattr(x, "__iter__"),
    lambda x: hasattr(x, "__len__"),
    lambda x: hasattr(x, "__float__"),
    lambda x: hasattr(x, "append"),
    lambda x: hasattr(x, "__call__"),
    lambda x: hasattr(x, "keys"),
    lambda x: hasattr(x, "unit"),
    lambda x: hasattr(x, "values"),
    lambda x: hasattr(x, "to_numpy"),
    lambda x: hasattr(x, "__cuda_array_interface__"),
    lambda x: hasattr(x, "toarray"),
    lambda x: hasattr(x, "mask"),
    lambda x: hasattr(x, "real"),
    lambda x: hasattr(x, "__index__"),
    lambda x: hasattr(x, "__bool__"),
    lambda x: hasattr(x, "__complex__"),
    lambda x: hasattr(x, "__int__"),
    lambda x: np.isscalar(x),
    lambda x: np.ndim(x),
    lambda x: np.shape(x),
    lambda x: np.size(x),
    lambda x: np.iterable(x),
    lambda x: np.iscomplexobj(x),
    lambda x: np.isrealobj(x),
    lambda x: np.result_type(x),
    lambda x: np.issubdtype(type(x), np.floating),
    lambda x: np.common_type(np.atleast_1d(x)),
    lambda x: np.asarray(x).dtype,
    lambda x: np.asarray(x).shape,
    lambda x: np.dtype(type(x)),
    lambda x: np.isfortran(np.asarray(x)),
    lambda x: np.may_share_memory(x, x),
    lambda x: np.shares_memory(x, x),
    lambda x: np.asarray(x) is x,
    lambda x: np.array(x) is x,
    lambda x: np.isreal(x),
    lambda x: np.iscomplex(x),
    lambda x: np.isfinite(x),
    lambda x: np.array_equal(x, x),
    lambda x: np.asarray(x).flags.c_contiguous,
    lambda x: np.asarray(x).flags["WRITEABLE"],
    lambda x: np.asarray(x).strides,
    lambda x: np.asarray(x).nbytes,
    lambda x: np.asarray(x).itemsize,
    lambda x: np.asarray(x).dtype.kind,
    lambda x: np.asarray(x).dtype.char,
    lambda x: np.asarray(x).dtype == float,
    lambda x: np.asarray(x).dtype is np.dtype(float),
    lambda x: np.isdtype(np.asarray(x).dtype, "real floating"),
    lambda x: np.finfo(np.asarray(x).dtype).eps,
    lambda x: np.asarray(x).ndim == 0,
    lambda x: np.promote_types(np.asarray(x).dtype, np.float32),
    lambda x: x is None,
    lambda x: x is x,
    lambda x: x is not None,
    lambda x: bool(np.any(x)),
    lambda x: len(np.atleast_1d(x)),
    lambda x: int(np.atleast_1d(x)[0].real),
    lambda x: operator.length_hint([x]),
    lambda x: isinstance(copy.deepcopy(x), np.ndarray),
    lambda x: inspect.isclass(x),
    lambda x: inspect.isfunction(x),
    lambda x: x in (None,) if np.ndim(x) == 0 else 0,
    lambda x: repr(np.asarray(x).dtype),
    lambda x: type(np.asarray(x)) is np.ndarray,
    lambda x: type(x + 1) is type(x),
    lambda x: isinstance(np.sum(x), float),
    lambda x: isinstance(np.sum(x), np.ndarray),
    lambda x: isinstance(np.abs(x), np.ndarray),
    lambda x: isinstance(x == x, (bool, np.bool_)),
    lambda x: type(x == x).__name__,
    lambda x: isinstance(np.atleast_1d(x)[0], float),
    lambda x: isinstance(np.atleast_1d(x)[0], np.floating),
    lambda x: isinstance(np.squeeze(np.asarray(x)), np.ndarray),
    lambda x: isinstance(np.asarray(x)[()], float),
    lambda x: isinstance(math.floor(np.atleast_1d(x)[0].real), int),
    lambda x: isinstance(round(np.atleast_1d(x)[0].real), int),
    lambda x: type(round(np.atleast_1d(x)[0].real, 1)).__name__,
    lambda x: isinstance(int(np.atleast_1d(x)[0].real), int),
    lambda x: type(float(np.atleast_1d(x)[0].real)).__name__,
    lambda x: type(math.exp(np.atleast_1d(x)[0].real)).__name__,
    lambda x: np.isscalar(np.atleast_1d(x)[0]),
]
"""Of arrays, of their elements and sums, and of numbers of Python's."""

OF_ARRAYS = [
    lambda x: isinstance(x, np.generic),
    lambda x: isinstance(x, np.floating),
    lambda x: isinstance(x, np.float64),
    lambda x: isinstance(x, np.inexact),
    lambda x: isinstance(x, np.number),
    lambda x: isinstance(x, abc.Sized),
    lambda x: isinstance(x, abc.Container),
    lambda x: isinstance(x, typing.SupportsIndex),
    lambda x: isinstance(x, typing.SupportsComplex),
    lambda x: type(x) in {np.ndarray, float},
    lambda x: type(x).__name__,
    lambda x: type(x).__module__,
    lambda x: x.__class__.__name__,
    lambda x: type(x) is float,
    lambda x: type(x) in (int, float),
    lambda x: type(x) is np.float64,
    lambda x: {float: "f", np.ndarray: "a", np.float64: "n", complex: "c", np.complex128: "nc"}[type(x)],
    lambda x: [c.__name__ for c in type(x).mro()],
    lambda x: matched_by_numpy(x),
    lambda x: dispatched(x),
    lambda x: hasattr(x, "shape"),
    lambda x: hasattr(x, "dtype"),
    lambda x: hasattr(x, "__array__"),
    lambda x: hasattr(x, "ndim"),
    lambda x: hasattr(x, "tolist"),
    lambda x: hasattr(x, "__getitem__"),
    lambda x: hasattr(x, "hex"),
    lambda x: hasattr(x, "item"),
    lambda x: hasattr(x, "copy"),
    lambda x: hasattr(x, "size"),
    lambda x: hasattr(x, "__array_namespace__"),
    lambda x: np.can_cast(x.dtype, float),
    lambda x: np.issubdtype(x.dtype, np.floating),
    lambda x: np.asarray(x).base is None,
    lambda x: copy.copy(x) is x,
    lambda x: str(type(x)),
    lambda x: f"{type(x).__name__}",
    lambda x: type(x * 1.0).__name__,
    lambda x: isinstance(x.tolist() if hasattr(x, "tolist") else x, (list, float, complex)),
    lambda x: type(x.item()).__name__ if np.ndim(x) == 0 and hasattr(x, "item") else "",
]
"""Of arrays with dimensions: a number that is being differentiated may be Python's or NumPy's."""

X = np.array([0.5, 0.8, 1.2])
ARRAYS = {
    "an array": (lambda x: x, X),
    "a complex array": (lambda x: x * 1j + 1, X),
    "a part of an array": (lambda x: x[1:], X),
    "a computed array": (lambda x: np.sin(x) * 2.0, X),
}
VALUES = {
    **ARRAYS,
    "an array without dimensions": (lambda x: x, np.array(0.7)),
    "an element": (lambda x: x[0], X),
    "a sum": (lambda x: x.sum(), X),
    "a float": (lambda x: x, 0.7),
}


def answers(questions, value, point, differentiate):
    """What a program finds out about a value, when it is called and when it is differentiated."""
    found = []

    def program(x):
        found.append([answer(question, value(x)) for question in questions])
        return np.sum(x) * 1.0

    program(point)
    differentiate(traceable(program))(point)
    return found


def answer(question, x):
    try:
        return question(x)
    except (AttributeError, TypeError, KeyError) as error:
        return type(error)


def assert_same_answers(questions, value, point, differentiate):
    ordinary, ours = answers(questions, value, point, differentiate)
    different = [
        f"{inspect.getsource(question).strip()} {theirs!r}, and not {found!r}"
        for question, theirs, found in zip(questions, ordinary, ours, strict=True)
        if not np.array_equal(theirs, found)
    ]
    assert different == []


@pytest.mark.parametrize("differentiate", [grad, jacfwd])
@pytest.mark.parametrize("name", VALUES)
def test_questions_about_values(name, differentiate):
    assert_same_answers(OF_EVERYTHING, *VALUES[name], differentiate)


@pytest.mark.parametrize("differentiate", [grad, jacfwd])
@pytest.mark.parametrize("name", ARRAYS)
def test_questions_about_arrays(name, differentiate):
    assert_same_answers(OF_ARRAYS, *ARRAYS[name], differentiate)
