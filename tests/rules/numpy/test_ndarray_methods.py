"""The methods, attributes and operators of arrays, called on what is being differentiated, in all forms that they have.

First and second derivatives are compared with finite differences of the same call on ordinary arrays.
"""

import operator

import numpy as np
import pytest

from rulescore.ad import TracerConversionError, grad, jvp, vjp
from testutils import jvp_fd, vjp_fd

RNG = np.random.default_rng(7)
X = RNG.permutation(np.linspace(-1.7, 2.1, 12)).reshape(3, 4)  # no two elements are close
SQUARE = X[:, :3]
COMPLEX = RNG.standard_normal((2, 3)) + 1j * RNG.standard_normal((2, 3))
W = RNG.standard_normal((4, 2))
MASK = X > 0


def after(change):
    """A function that changes a copy of its argument and returns it."""

    def changed(x):
        y = x * 1
        change(y, x)
        return y

    return changed


def operation(f):
    """An operator that writes to its left operand."""

    def changed(x):
        y = x * 1
        return f(y, x[0] + 2)

    return changed


CALLS = {
    "T": [lambda x: x.T],
    "mT": [lambda x: x.mT],
    "__abs__": [abs],
    "__add__": [lambda x: x + 2 * x, lambda x: x + 1],
    "__radd__": [lambda x: 1.5 + x, lambda x: X + x],
    "__sub__": [lambda x: x - x**2],
    "__rsub__": [lambda x: 1 - x, lambda x: X - x],
    "__mul__": [lambda x: x * x[0]],
    "__rmul__": [lambda x: 3 * x, lambda x: X * x],
    "__truediv__": [lambda x: x / (x[:1] + 5)],
    "__rtruediv__": [lambda x: 2 / (x + 5), lambda x: X / (x + 5)],
    "__pow__": [lambda x: x**3, lambda x: (x + 3) ** x[0]],
    "__rpow__": [lambda x: 2.0**x],
    "__mod__": [lambda x: x % 0.75, lambda x: (x + 5) % (x[:1] + 3)],
    "__rmod__": [lambda x: 7.5 % (x + 5)],
    "__divmod__": [lambda x: divmod(x, 0.75)[1]],
    "__rdivmod__": [lambda x: divmod(7.5, x + 5)[1]],
    "__neg__": [lambda x: -x],
    "__pos__": [lambda x: +x],
    "__matmul__": [lambda x: x @ W, lambda x: x @ x.T],
    "__rmatmul__": [lambda x: W.T @ x.T],
    "__iadd__": [operation(operator.iadd)],
    "__isub__": [operation(operator.isub)],
    "__imul__": [operation(operator.imul)],
    "__itruediv__": [operation(operator.itruediv)],
    "__ipow__": [lambda x: operator.ipow(x + 3, x[0])],
    "__ifloordiv__": [lambda x: operator.ifloordiv(x * 1, 0.75) * x],
    "__imod__": [lambda x: operator.imod(x + 5, 3.1)],
    "__imatmul__": [lambda x: operator.imatmul(x @ x.T, SQUARE)],
    "__getitem__": [
        lambda x: x[1],
        lambda x: x[1, 2],
        lambda x: x[..., None, ::2],
        lambda x: x[[0, 0, 2], 1:],
        lambda x: x[MASK],
        lambda x: x[np.array([True, False, True])],
        lambda x: x[np.ix_([0, 2], [1, 1])],
    ],
    "__setitem__": [
        after(lambda y, x: operator.setitem(y, 0, x[1] ** 2)),
        after(lambda y, x: operator.setitem(y, (slice(None), 1), 2.5)),
        after(lambda y, x: operator.setitem(y, MASK, -x[MASK])),
        after(lambda y, x: operator.setitem(y, ([0, 1], [1, 0]), x[0, :2])),
    ],
    "__iter__": [lambda x: sum(row**2 for row in x)],
    "__copy__": [lambda x: x.__copy__()],
    "__deepcopy__": [lambda x: x.__deepcopy__({})],
    "astype": [lambda x: x.astype(complex).real, lambda x: x.astype(float, copy=False)],
    "clip": [lambda x: x.clip(-1, 1.2), lambda x: x.clip(max=1.2), lambda x: x.clip(min=x[0, 0])],
    "compress": [lambda x: x.compress([True, False, True], 0), lambda x: x.compress([False, True])],
    "copy": [lambda x: x.copy(), lambda x: x.copy("F")],
    "cumprod": [lambda x: x.cumprod(), lambda x: x.cumprod(1), lambda x: x.cumprod(axis=0, dtype=float)],
    "cumsum": [lambda x: x.cumsum(), lambda x: x.cumsum(1), lambda x: x.cumsum(axis=0)],
    "diagonal": [lambda x: x.diagonal(), lambda x: x.diagonal(1), lambda x: x.diagonal(offset=-1, axis1=1, axis2=0)],
    "dot": [lambda x: x.dot(W), lambda x: x.dot(x[0])],
    "fill": [after(lambda y, x: y.fill(2.5)), after(lambda y, x: y[0].fill(x[1, 1]))],
    "flat": [
        lambda x: x.flat[3],
        lambda x: x.flat[2:9:2],
        after(lambda y, x: operator.setitem(y.flat, slice(1, 4), x[0, 1:])),
        after(lambda y, x: setattr(y, "flat", x[0])),
    ],
    "flatten": [lambda x: x.flatten(), lambda x: x.T.flatten("F"), lambda x: x.T.flatten(order="K")],
    "item": [lambda x: x.item(5), lambda x: x.item(1, 2), lambda x: x[1, 1].item()],
    "max": [lambda x: x.max(), lambda x: x.max(1), lambda x: x.max(axis=0, keepdims=True, initial=0.5, where=MASK)],
    "mean": [lambda x: x.mean(), lambda x: x.mean(0), lambda x: x.mean(axis=(0, 1), keepdims=True, where=MASK)],
    "min": [lambda x: x.min(), lambda x: x.min(1), lambda x: x.min(axis=0, keepdims=True, initial=0.5, where=MASK)],
    "partition": [after(lambda y, x: y.partition(2)), after(lambda y, x: y.partition((0, 1), axis=0))],
    "prod": [lambda x: x.prod(), lambda x: x.prod(0), lambda x: x.prod(axis=1, keepdims=True, initial=2.0, where=MASK)],
    "put": [
        after(lambda y, x: y.put([0, 5], x[0, 1:3])),
        after(lambda y, x: y.put([-1, 13], 1.5, mode="wrap")),
        after(lambda y, x: y.put(range(5), x[1, :2], mode="clip")),
    ],
    "ravel": [lambda x: x.ravel(), lambda x: x.ravel("F"), lambda x: x.T.ravel(order="K")],
    "repeat": [lambda x: x.repeat(2), lambda x: x.repeat([2, 0, 1], axis=0)],
    "reshape": [
        lambda x: x.reshape(-1),
        lambda x: x.reshape(4, 3),
        lambda x: x.reshape((2, 6), order="F"),
        lambda x: x.reshape([3, -1, 2], copy=True),
    ],
    "shape": [after(lambda y, x: setattr(y, "shape", (4, 3)))],
    "sort": [after(lambda y, x: y.sort()), after(lambda y, x: y.sort(0)), after(lambda y, x: y.sort(kind="stable"))],
    "squeeze": [lambda x: x[:, :1].squeeze(), lambda x: x[:1, :1].squeeze(axis=0)],
    "std": [lambda x: x.std(), lambda x: x.std(0, ddof=1), lambda x: x.std(axis=1, keepdims=True, ddof=0.5)],
    "sum": [lambda x: x.sum(), lambda x: x.sum(0), lambda x: x.sum(axis=-1, keepdims=True, initial=3, where=MASK)],
    "swapaxes": [lambda x: x.swapaxes(0, -1)],
    "take": [lambda x: x.take([0, 0, 7]), lambda x: x.take([[1], [-1]], axis=1), lambda x: x.take(5, 0, mode="wrap")],
    "to_device": [lambda x: x.to_device("cpu")],
    "tolist": [lambda x: x.tolist()[1][2]],
    "trace": [lambda x: x.trace(), lambda x: x.trace(1), lambda x: x.trace(offset=-1, axis1=1, axis2=0)],
    "transpose": [lambda x: x.transpose(), lambda x: x.transpose(1, 0), lambda x: x[None].transpose((2, 0, 1))],
    "var": [lambda x: x.var(), lambda x: x.var(0, ddof=1), lambda x: x.var(axis=(0, 1), keepdims=True, where=MASK)],
    "view": [lambda x: x.view(), after(lambda y, x: operator.setitem(y.view(), 0, x[1] ** 2))],
    "conj": [lambda x: x.conj()],
    "conjugate": [lambda x: x.conjugate()],
    "real": [lambda x: x.real, after(lambda y, x: setattr(y, "real", x[0]))],
    "imag": [lambda x: x.imag],
}


OF_COMPLEX = {
    "conj": [lambda x: x.conj()],
    "conjugate": [lambda x: x.conjugate()],
    "real": [lambda x: x.real, after(lambda y, x: setattr(y, "real", x.imag))],
    "imag": [lambda x: x.imag, after(lambda y, x: setattr(y, "imag", x.real**2))],
    "__abs__": [abs],
    "__pow__": [lambda x: x**2],
    "dot": [lambda x: x.dot(x[0])],
    "prod": [lambda x: x.prod(0)],
    "var": [lambda x: x.var(1)],
    "astype": [lambda x: x.astype(np.complex128)],
    "sort": [after(lambda y, x: y.sort())],
    "trace": [lambda x: x.trace()],
}

CONSTANTS = {
    "all": lambda x: x.all(axis=0),
    "any": lambda x: x.any(),
    "argmax": lambda x: x.argmax(1),
    "argmin": lambda x: x.argmin(axis=0, keepdims=True),
    "argpartition": lambda x: x.argpartition(1),
    "argsort": lambda x: x.argsort(axis=0),
    "nonzero": lambda x: np.stack(x.nonzero()),
    "round": lambda x: x.round(1),
    "searchsorted": lambda x: x[0].searchsorted(0.3),
    "__bool__": lambda x: bool(x[0, 0]),
    "__contains__": lambda x: 7.0 in x,
    "__eq__": lambda x: x == 0,
    "__ne__": lambda x: x != 0,
    "__lt__": lambda x: x < 0,
    "__le__": lambda x: x <= x[0],
    "__gt__": lambda x: x > 0,
    "__ge__": lambda x: x >= 1,
    "__floordiv__": lambda x: x // 0.75,
    "__rfloordiv__": lambda x: 7.5 // (x + 5),
    "__int__": lambda x: int(x[0, 0] + 5),
    "__len__": len,
    "__str__": lambda x: len(str(x)) > 0,
    "__repr__": lambda x: len(repr(x)) > 0,
    "__format__": lambda x: len(f"{x[0, 0]:.2f}") > 0,
    "ndim": lambda x: x.ndim,
    "size": lambda x: x.size,
    "itemsize": lambda x: x.itemsize,
    "nbytes": lambda x: x.nbytes,
    "strides": lambda x: x.strides,
    "dtype": lambda x: x.dtype.char == "d",
    "device": lambda x: x.device == "cpu",
    "flags": lambda x: x.flags.c_contiguous,
    "base": lambda x: (x * 1).base is None,
    "__array_namespace__": lambda x: x.__array_namespace__() is np,
}

REFUSED = {
    # A method of the numbers of the choices, an ordinary array: np.choose is handed over.
    "choose": lambda x: np.array([0, 1, 1, 0]).choose([x[0], x[1]]),
    "__float__": lambda x: float(x[0, 0]),
    "__complex__": lambda x: complex(x[0, 0]),
    "__array__": lambda x: x.__array__(),
    "__reduce__": lambda x: x.__reduce__(),
    "__index__": lambda x: range(x[0, 0]),
    "resize": lambda x: (x * 1).resize((4, 4), refcheck=False),
}
"""What would lose the derivative, and says so."""


def loss(call, x):
    """A number that depends on every element of a result, and not linearly."""
    y = call(x)
    weights = np.cos(np.arange(np.size(y), dtype=float)).reshape(np.shape(y))
    return np.sum(weights * np.sin(np.real(y) + 0.5 * np.imag(y) ** 2 * np.ones(np.shape(y))))


def forms(table, x):
    return [
        pytest.param(call, x, id=f"{name}-{i}")
        for name, calls in table.items()
        for i, call in enumerate(calls if isinstance(calls, list) else [calls])
    ]


ALL = forms(CALLS, X) + forms(OF_COMPLEX, COMPLEX)


@pytest.mark.parametrize(("call", "x"), ALL)
def test_values_are_those_of_numpy(call, x):
    y, _ = vjp(call, x)
    # The square of a complex number is rounded otherwise than its power.
    np.testing.assert_allclose(y, call(x), rtol=1e-15)


@pytest.mark.parametrize(("call", "x"), ALL)
def test_first_derivatives_agree_with_finite_differences_in_both_modes(call, x):
    direction = np.cos(3 + np.arange(x.size)).reshape(x.shape) * (1 if x.dtype == float else 1 + 0.5j)
    bar = vjp_fd(lambda x: loss(call, x), 1.0, (x,)).value[0]
    np.testing.assert_allclose(grad(lambda x: loss(call, x))(x), bar, rtol=1e-7, atol=1e-8)
    y, dy = jvp(lambda x: loss(call, x), (x,), (direction,))
    np.testing.assert_allclose(dy, np.sum(np.real(np.conj(bar) * direction)), rtol=1e-7, atol=1e-8)
    assert y == loss(call, x)


@pytest.mark.parametrize(("call", "x"), ALL)
def test_second_derivatives_agree_with_finite_differences_in_all_combinations_of_modes(call, x):
    direction = np.cos(3 + np.arange(x.size)).reshape(x.shape) * (1 if x.dtype == float else 1 + 0.5j)
    first = grad(lambda x: loss(call, x))
    expected = jvp_fd(first, (x,), (direction,)).value
    close = {"rtol": 1e-6, "atol": 1e-6}
    np.testing.assert_allclose(jvp(first, (x,), (direction,))[1], expected, **close)

    def along(x):
        return jvp(lambda x: loss(call, x), (x,), (direction,))[1]

    def product(x):
        return np.sum(np.real(np.conj(first(x)) * direction))

    np.testing.assert_allclose(grad(product)(x), expected, **close)
    np.testing.assert_allclose(grad(along)(x), expected, **close)
    np.testing.assert_allclose(
        jvp(along, (x,), (direction,))[1], np.sum(np.real(np.conj(expected) * direction)), **close
    )


@pytest.mark.parametrize("name", CONSTANTS)
def test_what_is_constant_between_jumps_is_a_constant(name):
    seen = []

    def f(x):
        seen.append(CONSTANTS[name](x))
        return np.sum(x * np.sum(np.asarray(seen[-1], float)))

    np.testing.assert_array_equal(grad(f)(X), np.full(X.shape, np.sum(np.asarray(CONSTANTS[name](X), float))))
    np.testing.assert_array_equal(seen[0], CONSTANTS[name](X))


@pytest.mark.parametrize("name", REFUSED)
def test_what_would_lose_the_derivative_is_refused(name):
    with pytest.raises((TracerConversionError, TypeError), match="being differentiated"):
        grad(REFUSED[name])(X)


MEANINGLESS = {
    *("byteswap", "ctypes", "data", "dump", "dumps", "getfield", "itemset", "newbyteorder", "ptp", "setfield"),
    *("setflags", "tobytes", "tofile", "tostring"),
    *("__and__", "__or__", "__xor__", "__rand__", "__ror__", "__rxor__", "__iand__", "__ior__", "__ixor__"),
    *("__invert__", "__lshift__", "__rlshift__", "__ilshift__", "__rshift__", "__rrshift__", "__irshift__"),
    *("__delitem__", "__dlpack__", "__dlpack_device__", "__setstate__", "__reduce_ex__", "__array_finalize__"),
    *("__array_function__", "__array_interface__", "__array_priority__", "__array_struct__", "__array_ufunc__"),
    *("__array_wrap__", "__array_prepare__", "__buffer__", "__class_getitem__"),
}
"""Methods for bits, bytes and pickles, and the protocols by which NumPy itself gets at an array."""


def test_every_method_of_arrays_is_here():
    own = {name for name in dir(np.ndarray) if name not in dir(object) and not name.startswith("_set_")}
    assert own - CALLS.keys() - CONSTANTS.keys() - REFUSED.keys() - MEANINGLESS == set()
