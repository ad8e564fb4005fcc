"""Tracers answer to what arrays answer to: operators, methods, attributes, indexing, Python's own protocols."""

import builtins
import copy
import math
import operator
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from rulescore.ad import TracerConversionError, grad, jvp, variable, vjp
from rulescore.ad.in_place.tracer import WritableTracer

RNG = np.random.default_rng(2)
X, V, M = RNG.uniform(0.5, 1.5, (3, 4)), RNG.uniform(0.5, 1.5, 4), RNG.standard_normal((4, 3))
Z = RNG.standard_normal((2, 3)) + 1j * RNG.standard_normal((2, 3))


def written(source, **names):
    names = {"np": np, "M": M, "math": math, "operator": operator, **names}
    return pytest.param(eval(f"lambda x, v: {source}", names), id=source)


# ---------------------------------------------------------------- operators, methods, attributes, Python's protocols

OPERATORS = [
    *["-(x * v)", "+x * v", "abs(-x * v)", "x + v", "x - v", "x * v", "x / v", "x**v", "x**2", "x % v", "x // v * x"],
    *["x + 1", "1 + x * x", "2 - x * v", "3 / x", "2**x", "2.5 % x", "7 // x * x", "-1j * x"],
    *[
        "np.ones(4) + x * x",
        "x - np.ones((2, 1, 1)) * v",
        "np.float64(2) / x",
        "x * np.float32(2)",
        "np.int64(3) * x * x",
    ],
    *["[1, 2, 3, 4] * x * x", "x**[1, 2, 3, 4]", "(1.0, 2, 3, 4) / x", "x - (1, 2, 3, 4)", "x * [v[0], 1, v[1], 2]"],
    *["[[v[0]], [1.0], [2]] + x * x", "np.add(x, [v[0], 1, 2, v[1] ** 2])", "np.multiply((1, 2, 3, 4), x * x)"],
    *["x @ M", "M @ (x * v)", "x @ v", "v @ v", "x @ x.T @ x", "[1.0, 2, 3] @ (x * x)", "(x * x) @ [1.0, 2, 3, 4]"],
    *[
        "divmod(x, v)[1] * x",
        "divmod(x * v, 0.3)[1] ** 2",
        "divmod(3.0, x)[1] ** 2",
        "pow(x, 3)",
        "operator.matmul(x, v)",
    ],
    *[
        "np.where(x > v, x * v, v)",
        "x * (x > 1)",
        "x * ~(x > 1)",
        "x * ((x > 0.8) & (x < 1.2))",
        "x[(x > 1) | (x < 0.7)] ** 2",
    ],
]

METHODS = [
    *[
        "x.T * x.T",
        "x.mT @ x",
        "x.real * x",
        "x.imag + x * x",
        "(x * 1j * v).imag",
        "(x * 1j * v).real + x",
        "x.flat[3] ** 2",
    ],
    *["x.flat[1:7] ** 2", "np.stack([a * a for a in x.flat])", "x.item(3) * x.item(-1) ** 2", "x.item(1, 2) ** 2"],
    *[
        "x.item((1, 2)) ** 2",
        "v[:1].item() ** 2",
        "np.stack(x.tolist()[1]) ** 2",
        "v[0].tolist() ** 2",
        "(x * v).sum()",
    ],
    *[
        "(x * v).sum(1)",
        "(x * v).sum(axis=(0, 1), keepdims=True)",
        "(x * v).mean(0)",
        "(x * v).std(ddof=1)",
        "x.var(axis=0)",
    ],
    *[
        "x.prod(1)",
        "(x * v).max()",
        "(x * v).min(axis=1)",
        "(x * v).cumsum()",
        "(x * v).cumsum(1)",
        "x.cumprod(axis=0)",
    ],
    *["x.dot(v)", "x.dot(x.T)", "x.ravel() ** 2", "x.T.ravel() ** 2", "x.flatten() ** 2", "x.flatten('F') ** 2"],
    *["x.reshape(4, 3) ** 2", "x.reshape((2, -1)) ** 2", "x.reshape(-1) ** 2", "x.reshape(2, 6, order='F') ** 2"],
    *["x.transpose() ** 2", "x.transpose(1, 0) ** 2", "x[None].transpose((1, 0, 2)) ** 2", "x.swapaxes(0, 1) ** 2"],
    *["(x * x)[None].squeeze()", "(x * x)[:, None].squeeze(1)", "(x * x).trace()", "(x * x).trace(offset=1)"],
    *["(x * x).diagonal()", "(x * x).diagonal(1)", "(x * x).repeat(2)", "(x * x).repeat([1, 0, 2], axis=0)"],
    *["(x * x).take([0, 3, 3])", "(x * x).take([[0, 1]], axis=1)", "(x * x).compress([True, False, True], axis=0)"],
    *["(x * x).compress([True, False, True])", "x.clip(0.7, 1.2) * x", "x.clip(min=0.8) * x", "x.clip(max=1.1) * x"],
    *["x.clip(v, None) * x", "(x * x).astype(complex)", "(x * x).astype(float)", "x.copy() * x", "x.conj() * x"],
    *[
        "x.conjugate() * x",
        "x.round(1) * x",
        "x.round() * x",
        "x[x.argmax(0), np.arange(4)] ** 2",
        "x[:, v.argsort()] ** 2",
    ],
    *["x[x.nonzero()] ** 2", "v[np.array([0.1, 0.9]).searchsorted(0.5)] ** 2", "x.argmin() * x", "x.all() * x * x"],
    *["x.any(1)[:, None] * x * x", "x.argpartition(2)[:, :2] * x[:, :2]", "x.view() ** 2", "x.view(np.float64) ** 2"],
    *["x.view(np.ndarray) ** 2", "x.to_device('cpu') ** 2", "x.__array_namespace__().sin(x)", "copy.copy(x) ** 2"],
    *["copy.deepcopy(x) ** 2", "copy.copy(v[0]) ** 2"],
]

PYTHON = [
    *[
        "sum(x) ** 2",
        "sum(v) ** 2",
        "max(v) ** 2",
        "min(v) ** 2",
        "math.prod(v) ** 2",
        "len(x) * x * x",
        "x.size * x * x",
    ],
    *[
        "np.stack([row * row for row in x])",
        "np.stack([a * b for a, b in zip(v, x[0])])",
        "np.stack([*reversed(v)]) ** 2",
    ],
    *[
        "np.stack([i * a * a for i, a in enumerate(v)])",
        "[a * b + c * d for a, b, c, d in [v]][0]",
        "np.stack(sorted(v)) ** 2",
    ],
    *[
        "x * x * (1.0 in x)",
        "x * x * (v[0] in v)",
        "x * (x if x.sum() > 0 else 1)",
        "x * x * int(v[0] * 10)",
        "x * math.floor(v[0] * 9)",
    ],
    *[
        "x * math.ceil(v[0] * 9)",
        "x * math.trunc(v[0] * 9)",
        "x * round(v[0] * 9)",
        "x * round(v[0], 1)",
        "x * bool(v[0]) * x",
    ],
    *[
        "x * x * float(f'{v[0]:.1f}')",
        "x * x * x.ndim * x.shape[1] * x.itemsize * x.nbytes",
        "x * x * x.flags.c_contiguous",
    ],
    *[
        "x * x * x.strides[0]",
        "x * x * (x.base is None)",
        "x.T**2 * (x.T.base is not None)",
        "x * x * (x.device == 'cpu')",
    ],
]


@pytest.mark.parametrize("f", [written(source, copy=copy) for source in OPERATORS + METHODS + PYTHON])
def test_it_is_numpys_with_derivatives_of_both_modes_and_orders(check_derivatives, f):
    check_derivatives(f, X, V)


@pytest.mark.parametrize(
    "f",
    [
        written(source)
        for source in [
            *[
                "x * x.conj()",
                "x.real * x.imag",
                "(x * x).real",
                "abs(x) ** 2",
                "x.T @ x",
                "x.imag.sum(0) ** 2",
                "1j * x * x",
            ],
            *["x[0] * x[1]", "x.astype(complex) ** 2", "x.sum() ** 2", "x.ravel()[1:3] ** 2", "x.mean(1).real ** 2"],
        ]
    ],
)
def test_it_is_numpys_for_complex_numbers_too(check_derivatives, f):
    check_derivatives(lambda x: f(x, None), Z, second_order=False)


# ---------------------------------------------------------------- in place


def fill(x, v):
    y = x * v
    y[1].fill(v[0] * v[1])
    return y * y


def sort(x, v):
    y = x * v
    y.sort()
    y[0].sort()
    y.sort(axis=0)
    return y * x


def partition(x, v):
    y = x[0] * v
    y.partition(1)
    return y[1] * v


def put(x, v):
    y = x * v
    y.put([0, 5, -1], [v[0] ** 2, 1.0])
    return y * x


def flat(x, v):
    y = x * v
    y.flat[2] = v[0] * v[1]
    y.flat[5:9] = v[:2] ** 2
    y.flat[[0, 11]] = 3.0
    return y * x


def flat_as_a_whole(x, v):
    y = x * v
    y.flat = v * v
    return y * x


def real_and_imag(x, v):
    y = x * 1j
    y.real = v * v
    y.imag = x * x
    y[0].imag = v
    return y.real * y.imag


def real_of_real_numbers(x, v):
    y = x * v
    y.real = v * v
    return y * x


def shape(x, v):
    y = x * v
    y.shape = (2, 6)
    y[0] = y[1] ** 2
    return y * y


def operators(x, v):
    y = x * v
    y += v
    y -= x * x
    y *= 2 * v
    y /= x
    y **= 2
    y %= 0.7
    y @= np.eye(4) * 2
    y += [1, 2, 3, 4]
    return y * x


def floor_division(x, v):
    y = x * v
    y //= 0.3
    return y * x


@pytest.mark.parametrize(
    "f",
    [
        fill,
        sort,
        partition,
        put,
        flat,
        flat_as_a_whole,
        real_and_imag,
        real_of_real_numbers,
        shape,
        operators,
        floor_division,
    ],
    ids=lambda f: f.__name__,
)
def test_what_changes_an_array_in_place_is_numpys_with_derivatives(check_derivatives, f):
    check_derivatives(f, X, V)


# ---------------------------------------------------------------- indexing

INDICES = [
    *[
        "0",
        "-1",
        "True",
        "False",
        "None",
        "...",
        "()",
        "np.int64(1)",
        "np.array(1)",
        "slice(1, None)",
        "slice(None, None, -1)",
    ],
    *["(1, 2)", "(-1, -4)", "(slice(None), 1)", "(slice(0, 2), slice(None, None, 2))", "(slice(None, None, -2), -1)"],
    *[
        "(..., 1)",
        "(1, ...)",
        "(None, 1, None, ...)",
        "(slice(None), None, slice(1, 1))",
        "(0, np.newaxis, slice(1, 3))",
    ],
    *["[0, 2, 2]", "[[0, 1], [2, 0]]", "np.array([-1, 0, -1])", "np.zeros((0,), int)", "([0, 1, 0], [3, 1, 3])"],
    *[
        "([[0], [2]], [1, 1])",
        "(slice(None), [0, 0, 3])",
        "([2, 0], slice(1, None))",
        "(1, [0, 0])",
        "([0, 2], None, [1, 1])",
    ],
    *["([True, False, True],)", "np.array([True, False, True])", "(slice(None), np.array([True, False, False, True]))"],
    *[
        "MASK",
        "~MASK",
        "(MASK, None)",
        "(MASK, ...)",
        "np.ix_([0, 2, 0], [1, 3])",
        "np.ix_([True, False, True], [1, 1])",
    ],
    *["np.array(True)", "(np.array([0, 1]), np.array([True, False, False, True]))", "np.nonzero(MASK)", "np.uint8(2)"],
    *["np.argsort(X, axis=0)[0]", "np.s_[1:, ::2]", "(0, 1, ...)", "(0, 1)"],
]


@pytest.mark.parametrize("index", INDICES)
def test_indexing_is_numpys_with_derivatives(check_derivatives, index):
    mask = np.array([[True, False, True, True], [False, False, True, True], [True, True, False, True]])
    index = eval(index, {"np": np, "MASK": mask, "X": X})
    check_derivatives(lambda x: x[index] ** 2, X)


@pytest.mark.parametrize(
    "f",
    [
        written(source)
        for source in [
            *["x[x > 1] ** 2", "x[x > v] ** 2", "x[1:][:, ::2][0] ** 2", "x[x[:, 0] > 0.9] ** 2", "x[..., v > 1] ** 2"],
            *["x[[0, 1]][:, [1, 1]] ** 2", "v[v.argmax()] ** 2", "x[np.argmax(x, 1)] ** 2", "v[int(v[0])] ** 2"],
        ]
    ],
)
def test_indices_made_of_traced_values_select_as_numpys(check_derivatives, f):
    check_derivatives(f, X, V)


@settings(deadline=None, derandomize=True, max_examples=40)
@given(st.data())
def test_any_index_scatters_where_it_gathered(data):
    x = np.arange(24.0).reshape(2, 3, 4) ** 2
    basic = npst.basic_indices(x.shape, allow_newaxis=True, allow_ellipsis=True)
    index = data.draw(st.one_of(basic, npst.integer_array_indices(x.shape), npst.arrays(bool, x.shape)))
    y, vjp_fn = vjp(lambda x: x[index], x)
    np.testing.assert_array_equal(y, x[index], strict=True)
    ybar = np.reshape(np.arange(1.0, 1 + np.size(y)), np.shape(y))
    expected = np.zeros(x.shape)
    np.add.at(expected, index, ybar)
    np.testing.assert_array_equal(vjp_fn(ybar)[0], expected)
    np.testing.assert_array_equal(jvp(lambda x: x[index], (x,), (x + 1,))[1], (x + 1)[index])


@pytest.mark.parametrize(
    ("index", "error"),
    [
        (3, IndexError),
        ((0, 0, 0), IndexError),
        (1.0, IndexError),
        ("a", IndexError),
        ([0, 5], IndexError),
        ({}, IndexError),
    ],
)
def test_an_index_that_numpy_refuses_raises_its_error(index, error):
    with pytest.raises(error):
        vjp(lambda x: x[index], X)


# ---------------------------------------------------------------- comparisons and truth


@pytest.mark.parametrize("operation", [operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne])
def test_comparisons_give_ordinary_truth_values(operation):
    seen = []
    grad(lambda x: (seen.extend([operation(x, V), operation(1.0, x), operation(x[0], x[1])]), np.sum(x))[1])(X)
    jvp(lambda x: (seen.extend([operation(x, V), operation(1.0, x), operation(x[0], x[1])]), x)[1], (X,), (X,))
    expected = [operation(X, V), operation(1.0, X), operation(X[0], X[1])] * 2
    for ours, numpys in zip(seen, expected, strict=True):
        assert type(ours) is np.ndarray
        np.testing.assert_array_equal(ours, numpys)


@pytest.mark.parametrize("other", [None, "a", {}, object()])
def test_a_comparison_with_what_is_no_number_is_no_error(other):
    grad(lambda x: x[0] if not np.any(x == other) and np.all(x != other) else x[1])(V)


# ---------------------------------------------------------------- what cannot work says what to write

CONVERSIONS = [
    ("float(x[0])", "np.sin"),
    ("float(x[:1])", "np.sin"),
    ("complex(x[0])", "complex"),
    ("math.sin(x[0])", r"np\.sin\(x\) for math\.sin\(x\)"),
    ("math.sqrt(x[0])", "np.sin"),
    ("'%f' % x[0]", "formatting"),
    ("np.array(x)", r"np\.array\(\[\.\.\.\], like=x\)"),
    ("np.array([x[0], x[1]])", r"np\.stack"),
    ("np.array([x, x])", r"np\.stack"),
    ("np.asarray(x)", r"np\.asarray\(x, like=x\)"),
    ("np.asarray(x, dtype=object)", r"np\.asarray\(x, like=x\)"),
    ("np.full(3, x[0])", r"like=x"),
    ("np.zeros(4).__setitem__(0, x[0])", r"np\.zeros\(n, like=x\)"),
    ("np.zeros(4).__setitem__(slice(None), x)", r"np\.zeros\(n, like=x\)"),
    ("np.fromiter(x, float)", r"np\.zeros\(n, like=x\)"),
    ("list(np.ndenumerate(x))", "like=x"),
    ("np.add.reduce([x[0], x[1]])", r"np\.stack"),
    ("np.from_dlpack(x)", "ordinary array"),
    ("pickle.dumps(x)", "ignore_derivatives"),
    ("np.ma.array([1.0, 2, 3, 4]) * x", "ordinary array"),
]


@pytest.mark.parametrize(("source", "advice"), CONVERSIONS)
def test_what_would_lose_the_derivative_says_what_to_write(source, advice):
    f = eval(f"lambda x: {source}", {"np": np, "math": math, "pickle": pickle})
    with pytest.raises(TracerConversionError, match=advice):
        vjp(f, V)
    with pytest.raises(TracerConversionError, match=advice):
        jvp(f, (V,), (V,))


@pytest.mark.parametrize(
    ("source", "advice"),
    [
        ("operator.index(x[0])", r"int\(x\)"),
        ("range(x[0])", r"int\(x\)"),
        ("[1, 2][x[0]]", r"int\(x\)"),
        ("np.zeros(x[0])", "integer"),
        ("x[: x[0]]", r"int\(x\)"),
        ("x.reshape(x[0], 4)", r"int\(x\)|integer"),
        ("round(x)", r"np\.round"),
        ("round(x, 2)", r"np\.round"),
        ("x.resize(2)", r"np\.resize\(x, shape\)"),
        ("x.view(np.int64)", "astype"),
        ("x.view(complex)", "astype"),
        ("x * np.matrix([1.0, 2, 3, 4])", r"np\.asarray\(m\)"),
        ("np.matrix([1.0, 2, 3, 4]) * x", r"np\.asarray\(m\)"),
        ("np.dot(np.matrix([1.0, 2, 3, 4]), x)", r"np\.asarray\(m\)"),
        ("np.add(x, np.matrix([1.0, 2, 3, 4]))", r"np\.asarray\(m\)"),
        ("x * np.ma.array([1.0, 2, 3, 4])", r"np\.where"),
        ("np.dot(x, np.ma.array([1.0, 2, 3, 4]))", r"np\.where"),
        ("np.concatenate([x, np.ma.array([1.0, 2, 3, 4])])", r"np\.where"),
        ("sparse.dot(x)", r"scipy\.sparse"),
    ],
)
@pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning")
def test_what_cannot_be_done_says_what_to_write(source, advice):
    from scipy.sparse import csr_array

    f = eval(f"lambda x: {source}", {"np": np, "operator": operator, "sparse": csr_array(np.eye(4))})
    with pytest.raises((TypeError, IndexError), match=advice):
        vjp(f, V)
    with pytest.raises((TypeError, IndexError), match=advice):
        jvp(f, (V,), (V,))


@pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning")
@pytest.mark.parametrize("make", [np.matrix, np.ma.array])
def test_arrays_whose_operators_mean_something_else_are_refused_as_arguments(make):
    with pytest.raises(TypeError, match=r"np\.asarray"):
        grad(lambda x: np.sum(x * x))(make(np.eye(2)))
    with pytest.raises(TypeError, match=r"np\.asarray"):
        jvp(lambda x: np.sum(x * x), (make(np.eye(2)),), (np.eye(2),))


@pytest.mark.parametrize(
    ("source", "error"),
    [
        ("x & x", TypeError),
        ("x | 1", TypeError),
        ("x << 1", TypeError),
        ("(x > 1) & x", TypeError),
        ("~x", TypeError),
        ("pow(x, 2, 3)", TypeError),
        ("x + None", TypeError),
        ("x + 'a'", TypeError),
        ("x + {}", TypeError),
        ("x + {1.0}", TypeError),
        ("x + np.ones(3)", ValueError),
        ("x @ 2.0", ValueError),
        ("bool(x)", ValueError),
        ("int(x)", TypeError),
        ("x.item()", ValueError),
        ("x.item(9)", IndexError),
        ("len(x[0])", TypeError),
        ("list(x[0])", TypeError),
        ("hash(x)", TypeError),
        ("{x: 1}", TypeError),
        ("x.ptp()", AttributeError),
        ("x.nonsense", AttributeError),
        ("x.reshape(3, 3)", ValueError),
        ("x.astype('nonsense')", TypeError),
        ("x.to_device('gpu')", ValueError),
        ("x.__delitem__(0)", ValueError),
        ("operator.setitem(x[0], 0, 1.0)", TypeError),
        ("x.transpose(0, 1)", ValueError),
        ("setattr(x, 'imag', 1.0)", TypeError),
    ],
)
def test_what_numpy_refuses_raises_the_same_error(source, error):
    f = eval(f"lambda x: {source}", {"np": np, "operator": operator})
    with pytest.raises(error):
        f(V.copy())
    with pytest.raises(error):
        vjp(f, V)
    with pytest.raises(error):
        jvp(f, (V,), (V,))


def test_every_attribute_of_an_array_is_there_or_is_refused_with_advice():
    memory = {"byteswap", "ctypes", "data", "dump", "dumps", "getfield", "setfield", "tobytes", "tofile"}
    memory |= {"tostring"} & set(dir(np.ndarray))  # until NumPy 2.3
    names = {name for name in dir(np.ndarray) if not name.startswith("_") and hasattr(X, name)}

    def f(x):
        for name in names - memory:
            getattr(x, name)
        for name in memory:
            assert not hasattr(x, name)
            with pytest.raises(AttributeError, match=rf"ignore_derivatives\(x\)\.{name}"):
                getattr(x, name)
        return np.sum(x)

    grad(f)(X)
    jvp(f, (X,), (X,))


def test_the_methods_of_python_that_arrays_have_are_there_but_for_those_of_memory_and_integers():
    integers = {f"__{prefix}{name}__" for prefix in ("", "r", "i") for name in ("and", "or", "xor", "lshift", "rshift")}
    memory = {"__array_interface__", "__array_struct__", "__array_finalize__", "__array_wrap__", "__setstate__"}
    memory |= {"__buffer__"} & set(dir(np.ndarray))  # since Python 3.12
    names = {name for base in WritableTracer.__mro__ for name in vars(base)}
    assert set(dir(np.ndarray)) - names == integers | memory | {"__invert__", "__class_getitem__"}


# ---------------------------------------------------------------- what a tracer is


def test_a_tracer_speaks_the_protocols_of_arrays():
    def f(x):
        assert type(x) is not np.ndarray
        assert hasattr(x, "__array_function__")
        assert repr(x) == f"Tracer({V!r})"
        assert str(x) == str(V)
        return np.sum(x)

    grad(f)(V)


@pytest.mark.parametrize(
    ("x", "kinds", "others"),
    [
        (V, (np.ndarray,), (float, np.generic)),
        (V[:1].reshape(()), (np.ndarray,), (float, np.generic)),
        (0.5, (float, np.floating, np.generic), (np.ndarray, int)),
        (np.float32(0.5), (np.float32, np.floating), (np.ndarray, float)),
        (0.5 + 1j, (complex, np.complexfloating), (np.ndarray, float)),
    ],
    ids=["array", "0-d array", "number", "single precision", "complex"],
)
def test_isinstance_takes_a_tracer_for_its_value(x, kinds, others):
    seen = []

    def f(x):
        seen.append(x)
        assert all(isinstance(x, kind) for kind in kinds)
        assert not any(isinstance(x, kind) for kind in others)
        return np.sum(x if all(isinstance(x, kind) for kind in kinds) else 0 * x)

    for slope in (vjp(f, x)[1](1.0)[0], jvp(f, (x,), (x,))[1], jvp(lambda x: vjp(f, x)[1](1.0)[0] * x, (x,), (x,))[1]):
        assert np.any(slope != 0)
    assert len(seen) == 3
    f(variable(x))


def test_a_branch_on_isinstance_is_differentiated_as_it_is_run():
    gradient = grad(lambda x: np.sum(x) if isinstance(x, np.ndarray) else 0 * np.sum(x))(V)
    np.testing.assert_array_equal(gradient, np.ones_like(V))


def test_memory_of_the_argument_is_left_alone():
    x = V.copy()

    def f(x):
        x[0] = 0.0
        x += 1
        x.sort()
        np.multiply(x, 2, out=x)
        return np.sum(x * x)

    grad(f)(x)
    jvp(f, (x,), (x,))
    np.testing.assert_array_equal(x, V)


def test_iterating_gives_views_that_can_be_written_to(check_derivatives):
    def f(x):
        y = x * x
        for row in y:
            row *= row[0]
        return y * x

    check_derivatives(f, X)


def test_the_base_of_a_view_is_what_it_shows_a_part_of():
    def f(x):
        y = x * x
        assert y.base is None
        assert y[1:][0].base is y
        assert (y[1:] * 2).base is None
        return np.sum(y)

    grad(f)(X)


@pytest.mark.parametrize("name", sorted(dir(builtins)))
def test_no_builtin_function_of_one_number_loses_a_derivative_silently(name):
    function = getattr(builtins, name)
    if name in {"breakpoint", "input", "exit", "quit", "help", "print"} or not callable(function):
        return
    if isinstance(function, type) and issubclass(function, BaseException):
        return
    seen = []

    def f(x):
        try:
            seen.append(function(x))
        except Exception:
            seen.append(None)
        return x * 1.0

    grad(f)(0.5)
    assert not issubclass(type(seen[0]), (float, complex)), "a number that looks like the tracer and has no derivative"


def test_array_functions_find_tracers_within_containers(check_derivatives):
    def f(x, v):
        blocks = np.block([[x * v, x[:, :1]], [v, v[0]]])
        return np.concatenate([blocks, (v[0] * np.ones((1, 5)))]) ** 2

    check_derivatives(f, X, V)


def test_an_int_that_takes_all_digits_is_refused():
    with pytest.raises(TracerConversionError, match=r"all of its digits"):
        grad(lambda x: int(x * 2.0**60) * x)(1.3)
    assert grad(lambda x: int(x * 2.0**40) * x)(1.0) == 2.0**40
    with pytest.raises(OverflowError):
        grad(lambda x: int(x * np.inf) * x)(1.3)
