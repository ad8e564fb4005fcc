"""Writing to arrays that are being differentiated: values as NumPy's, derivatives as finite differences have them."""

import operator
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rulescore.ad.in_place.replaced as general
from rulescore.ad import LeakedTracerError, TracerConversionError, grad, jvp, vjp
from rulescore.ad.fast import assignment
from rulescore.ad.in_place.replaced import replaced
from testutils.samples.sampling import samples_of
from testutils.testers import check_sample

RNG = np.random.default_rng(0)


def assert_agrees(f, *primals, order=1):
    """``f`` has the values that it has on plain arrays, and derivatives as central differences of it have them."""
    given = [np.copy(x) for x in primals]
    expected = f(*[x.copy() for x in primals])
    y, pull = vjp(f, *primals)
    assert type(y) is type(expected)
    assert np.shape(y) == np.shape(expected)
    assert y.dtype == expected.dtype
    np.testing.assert_array_equal(y, expected)
    ybar = RNG.standard_normal(np.shape(y)) * (1 + 2j if y.dtype.kind == "c" else 1)
    tangents = [direction(x) for x in primals]

    def along(t):
        moved = f(*[np.array(x + t * dx, x.dtype) for x, dx in zip(primals, tangents, strict=True)])
        return np.sum((np.conj(ybar) * moved).real)

    difference = central_difference(along)
    bars = pull(ybar.astype(y.dtype))
    pulled = sum(np.sum((np.conj(bar) * dx).real) for bar, dx in zip(bars, tangents, strict=True))
    value, dy = jvp(f, tuple(primals), tuple(tangents))
    np.testing.assert_array_equal(value, expected)
    pushed = np.sum((np.conj(ybar) * dy).real)
    # As precise as the differences are: their errors are h⁴ times a fifth derivative.
    np.testing.assert_allclose([pulled, pushed], difference, rtol=1e-6, atol=1e-8)
    for x, before in zip(primals, given, strict=True):
        np.testing.assert_array_equal(x, before)
    if order == 2:
        assert_agrees(lambda *xs: vjp(f, *xs)[1](ybar)[0], *primals)
        assert_agrees(lambda *xs: jvp(f, xs, tuple(tangents))[1], *primals)


def direction(x):
    dx = RNG.standard_normal(np.shape(x))
    return dx + 1j * RNG.standard_normal(np.shape(x)) if x.dtype.kind == "c" else dx.astype(x.dtype)


def central_difference(f, h=1e-3):
    return (8 * (f(h) - f(-h)) - (f(2 * h) - f(-2 * h))) / (12 * h)


A = RNG.standard_normal((3, 4))
V = RNG.standard_normal(4)


def test_replaced_agrees_with_finite_differences():
    for sample in samples_of(replaced, seed=1):
        report = check_sample(replaced, sample)
        assert report.verdict == "pass", str(report)


# ---------------------------------------------------------------- assigning to elements

INDICES = {
    "integer": 1,
    "NumPy integer": np.int64(-1),
    "pair": (1, -2),
    "slice": slice(1, None),
    "reversed": (slice(None, None, -1), slice(None, None, 2)),
    "ellipsis": (..., 2),
    "everything": ...,
    "empty tuple": (),
    "new axis": (slice(None), None, 1),
    "integers": [2, 0],
    "repeated": [1, 1, 0, 1],
    "repeated and negative": np.array([-1, 2, 0]),
    "repeated pairs": ([0, 0, 1], [2, 2, 3]),
    "matrix of integers": np.array([[0, 1], [1, 0]]),
    "integers in Fortran order": np.asfortranarray([[0, 1], [1, 0]]),
    "integers after a slice": (slice(1, None), [0, 0, 3]),
    "integers apart": ([0, 0], ..., [1, 1]),
    "mask": A > 0,
    "mask of rows": np.array([True, False, True]),
    "mask and integers": (np.array([True, False, True]), [0, 0]),
    "nothing": slice(0, 0),
    "empty list": [],
    "empty mask": np.zeros((3, 4), bool),
    "True": True,
    "False": False,
    "object with an index": type("Three", (), {"__index__": lambda self: 2})(),
}


@pytest.mark.parametrize("index", INDICES.values(), ids=INDICES)
def test_assigning_to_elements(index):
    count = A[index].size

    def f(x, v):
        y = x * 2
        y[index] = (np.resize(v, count) if isinstance(v, np.ndarray) else v[np.arange(count) % 4]).reshape(
            A[index].shape
        )
        y[index] *= np.sin(x[0, 0])
        return y

    assert_agrees(f, A, V)


@pytest.mark.parametrize("index", INDICES.values(), ids=INDICES)
def test_assigning_what_is_not_differentiated(index):
    def f(x):
        y = x * x
        y[index] = 3.0
        return y

    assert_agrees(f, A)


@pytest.mark.parametrize(
    ("index", "shape"),
    [
        (slice(None), (4,)),
        (slice(None), (3, 1)),
        (slice(None), (1, 1, 4)),
        (0, (1, 4)),
        (0, (1, 1, 1)),
        ([0, 0, 1], (1, 4)),
        ([0, 0, 1], (3, 1)),
        (([0, 0, 1], [1, 1, 2]), (1, 1)),
        (..., ()),
    ],
)
def test_values_broadcast(index, shape):
    def f(x, v):
        y = x * 1
        y[index] = np.sin(v)
        return y

    assert_agrees(f, A, RNG.standard_normal(shape), order=2)


@pytest.mark.parametrize("reversed_index", [False, True])
@pytest.mark.parametrize("order", ["C", "F"])
def test_of_repeated_elements_that_one_counts_which_numpy_writes_last(order, reversed_index):
    rows = RNG.integers(0, 2, (4, 5))[:: -1 if reversed_index else 1]
    columns = RNG.integers(0, 2, (4, 5))[:: -1 if reversed_index else 1]

    def f(x, v):
        y = x * 1
        y[rows, columns] = v.T if order == "F" else v.reshape(5, 4)[::-1, ::-1].reshape(4, 5)
        return y

    assert_agrees(f, A, RNG.standard_normal((5, 4)))


def test_an_index_is_read_when_the_element_is_assigned():
    def f(x):
        index = np.array([0, 1])
        y = x * 1
        y[index] = 2 * x[2:4]
        index[:] = 3
        return y

    assert_agrees(f, V)


def test_a_list_of_values():
    def f(x):
        y = x * 1
        y[1:3] = [x[0] ** 2, 5.0]
        y[0] = x[[1, 2]].sum()
        return y

    assert_agrees(f, V)


def test_a_recurrence():
    def f(x):
        z = 0 * x
        z[0] = x[0]
        for i in range(1, len(x)):
            z[i] = np.sin(z[i - 1]) * x[i] + z[0]
        return z

    assert_agrees(f, V, order=2)


def test_assigning_into_zeros_like():
    def f(x):
        z = np.zeros((2, 4)) if type(x) is np.ndarray else np.zeros((2, 4), like=x)
        z[0] = x**2
        z[1, ::2] = x[:2] * z[0, 1]
        return z

    assert_agrees(f, V)


def test_swapping_rows_is_as_wrong_as_with_numpy():
    def f(x):
        y = x * 1
        y[0], y[1] = y[1], y[0]
        y[0, 0], y[0, 1] = y[0, 1], y[0, 0]
        return y

    assert_agrees(f, A)


# ---------------------------------------------------------------- types


def test_values_are_converted_to_the_type_of_the_array():
    def f(x, v):
        y = x * np.float32(2)
        y[1:] = v[1:]
        y += v
        y[0] *= v[0]
        return y

    x = V.astype(np.float32)
    y, pull = vjp(f, x, V)
    expected = f(x.copy(), V.copy())
    assert y.dtype == np.float32
    np.testing.assert_array_equal(y, expected)
    xbar, vbar = pull(np.ones(4, np.float32))
    assert (xbar.dtype, vbar.dtype) == (np.float32, np.float64)
    np.testing.assert_allclose(xbar, [2 * V[0], 0, 0, 0], rtol=1e-6)
    np.testing.assert_allclose(vbar, [2 * (x[0] + V[0]), 2, 2, 2], rtol=1e-6)


def test_complex_numbers_into_real_elements_warn_as_in_numpy():
    def f(x):
        y = 0 * x
        y[...] = x * (2 + 1j)
        return y

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert_agrees(f, V)
    with pytest.warns(np.exceptions.ComplexWarning):
        vjp(f, V)


def assign_python_complex(x):
    x[0] = 1j


def add_complex(x):
    x += 1j * x


@pytest.mark.parametrize("f", [assign_python_complex, add_complex])
def test_complex_numbers_that_numpy_refuses(f):
    with pytest.raises(TypeError):
        f(V.copy())
    with pytest.raises(TypeError):
        vjp(f, V)


def test_real_values_in_complex_arrays():
    def f(x, z):
        y = z * 1
        y[1:] = x[1:]
        y[0] += x[0]
        return y

    assert_agrees(f, V, V + 1j * V[::-1], order=2)


def test_whole_numbers_in_place():
    def f(x):
        y = x * 3
        y //= 2
        y += x
        y %= 1.5
        y **= 2
        y[:2] = np.arange(2)
        return y

    assert_agrees(f, V)


# ---------------------------------------------------------------- operators in place


@pytest.mark.parametrize("op", [operator.iadd, operator.isub, operator.imul, operator.itruediv, operator.ipow])
def test_operators_in_place_reach_all_names(op):
    def f(x, v):
        y = np.exp(x)
        other = y
        y = op(y, v)
        y = op(y, 2.0)
        assert y is other
        return other

    assert_agrees(f, A, V)


def test_matmul_in_place():
    def f(x, m):
        y = x * 1
        other = y
        y @= m
        return other

    assert_agrees(f, A, RNG.standard_normal((4, 4)))


def test_numbers_are_immutable():
    def f(x):
        y = x[0]
        other = y
        y += x[1]
        y *= 2
        return other * y

    assert_agrees(f, V)
    with pytest.raises(TypeError, match="'float64' object does not support item assignment"):
        grad(lambda x: operator.setitem(x, (), 1.0))(1.0)


def test_arrays_without_axes_are_not():
    def f(x):
        y = x.copy()
        other = y
        y += x.sum()
        y *= 2
        y[()] = y * y
        y[...] += 1
        return other

    assert_agrees(f, V[:1].reshape(()))


def test_an_operator_keeps_the_layout_of_the_array():
    def f(x, v):
        y = np.asfortranarray(x) if type(x) is np.ndarray else x.T.copy().T
        y += v
        w = y.T.reshape(-1)  # a view of an array in Fortran order
        w[0] = 7 * v[0]
        return y

    assert_agrees(f, A, V)


# ---------------------------------------------------------------- what cannot be written to


def assign_to_broadcast(x):
    np.broadcast_to(x, (2, *x.shape))[0] = 1.0


def add_to_broadcast(x):
    y = np.broadcast_to(x, (2, *x.shape))
    y += 1.0


def assign_to_diagonal(x):
    np.diagonal(x)[0] = 1.0


def assign_too_many(x):
    x[0] = np.ones(3)


def assign_outside(x):
    x[7] = 1.0


def assign_by_float(x):
    x[1.5] = 1.0


def assign_to_a_part_of_a_number(x):
    x[0, 0][()] = 1.0


def add_what_is_larger(x):
    x += np.ones((2, *x.shape))


def delete(x):
    del x[0]


@pytest.mark.parametrize(
    "f",
    [
        assign_to_broadcast,
        add_to_broadcast,
        assign_to_diagonal,
        assign_too_many,
        assign_outside,
        assign_by_float,
        assign_to_a_part_of_a_number,
        add_what_is_larger,
        delete,
    ],
)
def test_what_numpy_refuses_is_refused(f):
    with pytest.raises((ValueError, TypeError, IndexError)) as plain:
        f(A.copy())
    for differentiate in (vjp, lambda f, x: jvp(f, (x,), (x,))):
        with pytest.raises(plain.type):
            differentiate(f, A)


def test_a_read_only_argument_is_read_only():
    x = V.copy()
    x.flags.writeable = False

    def f(x):
        x[0] = 1.0
        return x

    with pytest.raises(ValueError, match="read-only"):
        vjp(f, x)


def test_elements_in_one_place_are_not_written_to():
    x = np.lib.stride_tricks.as_strided(np.ones(2), (3, 2), (0, 8))
    with pytest.raises(ValueError, match="several elements lie in the same place"):
        vjp(lambda x: operator.setitem(x, 0, 1.0), x)


def test_overlapping_elements_by_a_mask_are_refused():
    def f(x):
        y = x * 1
        y[np.ones(4, bool)] = y[::-1]  # NumPy overwrites elements that it has not read yet

    with pytest.raises(ValueError, match="assign a copy"):
        vjp(f, V)


def test_overlapping_slices_are_copied_first():
    def f(x):
        y = x * 1
        y[1:] = y[:-1]
        y[::-1] += y
        return y

    assert_agrees(f, V)


ORDINARY = {
    "element": lambda x: operator.setitem(np.zeros(4), 0, x[0]),
    "slice": lambda x: operator.setitem(np.zeros(4), slice(None), x),
    "operator": lambda x: operator.iadd(np.zeros(4), x),
    "array of elements": lambda x: np.array([x[0], x[1]]),
    "flat": lambda x: operator.setitem(np.zeros(4).flat, slice(None), x),
    "fill": lambda x: np.zeros(4).fill(x[0]),
}


@pytest.mark.parametrize("f", ORDINARY.values(), ids=ORDINARY)
def test_writing_into_an_ordinary_array_says_what_to_write_instead(f):
    with pytest.raises(TracerConversionError, match=r"np\.zeros\(n, like=x\)"):
        vjp(f, V)


def test_x_flat_is_no_ordinary_array():
    with pytest.raises(TracerConversionError, match=r"x\.ravel\(\)"):
        vjp(lambda x: np.asarray(x.flat), V)


# ---------------------------------------------------------------- the caller's arrays


def test_nothing_is_written_to_arguments_tangents_or_constants():
    x, v, c = A.copy(), V.copy(), np.ones(4)
    dx, dv = A.copy(), V.copy()

    def f(x, v):
        x[0] = v
        x += c
        x[1:] *= 2
        v[0] = 5.0
        v *= c
        y = x[2]
        y[...] = v
        return x, v

    (y, w), pull = vjp(f, x, v)
    pull((y, w))
    pull((y, w))
    jvp(f, (x, v), (dx, dv))
    for array, original in ((x, A), (v, V), (dx, A), (dv, V), (c, np.ones(4))):
        np.testing.assert_array_equal(array, original)


def test_a_cotangent_is_not_written_to():
    def f(x):
        y = x * 1
        y[0] = x[1]
        y[1:] = x[0]
        return y

    ybar = np.arange(1.0, 5.0)
    pull = vjp(f, V)[1]
    first = pull(ybar)[0]
    np.testing.assert_array_equal(ybar, np.arange(1.0, 5.0))
    np.testing.assert_array_equal(pull(ybar)[0], first)


# ---------------------------------------------------------------- nested differentiations


def test_a_value_of_an_inner_differentiation_in_an_outer_array():
    def f(x):
        y = x * 1
        view = y[1:]

        def inner(t):
            y[0] = t * x[1]
            view[...] *= y[0]
            return np.sum(y**2)

        return grad(inner)(x[2])

    def without_nesting(x):  # the inner function is (t x₁)² (1 + x₁² + x₂² + x₃²)
        return 2 * x[2] * x[1] ** 2 * (1 + np.sum(x[1:] ** 2))

    y, pull = vjp(f, V)
    np.testing.assert_allclose(y, without_nesting(V))
    slopes = [central_difference(lambda t, e=e: without_nesting(V + t * e)) for e in np.eye(4)]
    np.testing.assert_allclose(pull(1.0)[0], slopes, atol=1e-8)
    np.testing.assert_allclose([jvp(f, (V,), (e,))[1] for e in np.eye(4)], slopes, atol=1e-8)


@pytest.mark.parametrize("keep", ["array", "view"])
@pytest.mark.parametrize("inner_mode", ["reverse", "forward"])
def test_an_array_does_not_outlive_the_inner_value_in_it(keep, inner_mode):
    def f(x):
        y = x * 1
        view = y[1:]

        def inner(t):
            y[0] = t * 3
            return t * t

        grad(inner)(2.0) if inner_mode == "reverse" else jvp(inner, (2.0,), (1.0,))
        return np.sum(y if keep == "array" else view)

    with pytest.raises(LeakedTracerError):
        grad(f)(V)


def test_an_array_forgets_the_inner_value_that_is_written_over():
    def f(x):
        y = x * 1

        def inner(t):
            before = y[0] * 1
            y[0] = t * y[1]
            s = y[0] ** 2
            y[...] = x
            y[0] = before
            return s

        return grad(inner)(2.0) * y

    with pytest.raises(LeakedTracerError):  # the elements that were not written over may depend on it still
        vjp(f, V)


def test_writing_in_an_inner_function_to_its_own_argument():
    def f(x):
        def inner(t):
            t[0] *= t[1]
            t += x
            return np.sum(np.sin(t))

        return grad(inner)(x * 2) + x

    assert_agrees(f, V, order=2)


# ---------------------------------------------------------------- other ways to write


def test_elements_by_number():
    def f(x, v):
        y = x * 1
        y.flat[::5] = v[:3]
        y.flat[1] = v[0]
        y.flat[[2, 3, 2]] = v[:2]
        y.flat[y.flat.copy() > 1] = v[1]
        y.put([0, 7, -1], v[:2])
        y.put([13, 14], v[2], mode="wrap")
        y.T.flat[:4] = y.flat[4:8] * 2
        return y

    assert_agrees(f, A, V)


def test_reading_elements_by_number_copies():
    def f(x):
        y = x * 1
        part = y.flat[1:3]
        part *= 2
        z = np.stack(list(y.flat)[:3])
        y.flat = 3 * x[0, 0]
        return z * part.sum() + y[0, :3]

    assert_agrees(f, A)


def test_methods_that_write():
    def f(x, v):
        y = x * 1
        y[0].sort()
        y[1].fill(v[0])
        y.T[0].sort()
        y.shape = (2, 6)
        y[1, 1:] += v[1]
        return y

    assert_agrees(f, A, V)


def test_a_shape_that_needs_a_copy_cannot_be_set():
    def f(x):
        x = x.T
        x.shape = (-1,)

    with pytest.raises(AttributeError):
        f(A.copy())
    with pytest.raises(AttributeError):
        vjp(f, A)


# ---------------------------------------------------------------- what it costs


@pytest.fixture
def copied(monkeypatch):
    """How many elements assigning has copied."""
    counts = []

    def counting(x, *args):
        counts.append(np.size(x))
        return original(x, *args)

    original = assignment.copy_of
    monkeypatch.setattr(general, "copy_of", counting)
    monkeypatch.setattr(assignment, "copy_of", counting)
    return counts


def fill_one_by_one(x):
    z = 0 * x
    for i in range(len(x)):
        z[i] = 2 * z[i - 1] + x[i]
    return np.sum(z)


def fill_rows(x):
    z = 0 * x.reshape(-1, 4)
    for i in range(len(z)):
        z[i] = np.tanh(z[i - 1] + x.reshape(-1, 4)[i])
    return np.sum(z)


def scale_rows(x):
    z = x.reshape(-1, 4) * 1
    for row in z:
        row *= 2
    return np.sum(z)


def fill_through_a_view(x):
    z = 0 * x
    view = z[1:].reshape(-1)
    for i in range(len(view)):
        view[i] = x[i]
    return np.sum(z)


COUNTED = pytest.mark.skipif(assignment._ONE_HOLDER is None, reason="without the global lock every assignment copies")


@COUNTED
@pytest.mark.short_cuts
@pytest.mark.parametrize("f", [fill_one_by_one, fill_rows, scale_rows, fill_through_a_view])
def test_assignments_do_not_copy_the_array_each_time(f, copied):
    x = RNG.standard_normal(100)
    grad(f)(x)
    jvp(f, (x,), (x,))
    assert sum(copied) <= 10 * x.size


@COUNTED
@pytest.mark.short_cuts
def test_an_array_that_is_seen_by_others_is_copied(copied):
    def f(x):
        z = x * 1
        y = np.sin(z)  # its derivative needs z
        z[0] = 5.0
        z[1] = 6.0
        return np.sum(y * z)

    x = V.copy()
    assert_agrees(f, x)
    copied.clear()
    grad(f)(x)
    assert len(copied) == 2  # one on the way forward, one on the way back


def test_no_array_passes_for_unseen_where_references_are_not_counted(monkeypatch, copied):
    monkeypatch.setattr("rulescore.ad.fast.assignment._ONE_HOLDER", None)
    x = RNG.standard_normal(20)
    g = grad(fill_one_by_one)(x)
    assert sum(copied) >= 20 * 20
    monkeypatch.undo()
    np.testing.assert_array_equal(grad(fill_one_by_one)(x), g)


# ---------------------------------------------------------------- little programs

OPERATORS = [operator.iadd, operator.isub, operator.imul]
ORDERS = "CFAK"


def random_slice(rng, n):
    kind = rng.integers(6)
    if kind == 0 and n:
        return int(rng.integers(-n, n))
    start, stop = int(rng.integers(n + 1)), int(rng.integers(n + 1))
    return [slice(None), slice(start, None), slice(None, stop), slice(None, None, -1), slice(None, None, 2)][kind - 1]


def random_index(rng, shape):
    slices = tuple([random_slice(rng, n) for n in shape])
    choices = [..., slices, slices[:1], (None, *slices), (..., *slices[-1:]), rng.random(shape) < 0.5]
    if shape and shape[0]:
        choices += [slices[0], rng.integers(-shape[0], shape[0], size=3)]
    if len(shape) > 1 and all(shape):
        choices.append(tuple([rng.integers(0, n, size=(2, 2)) for n in shape[:2]]))
        choices.append((slices[0], rng.integers(0, shape[1], size=3).tolist()))
    return choices[rng.integers(len(choices))]


def random_view(rng, x):
    order = ORDERS[rng.integers(4 if 0 not in x.strides else 2)]
    views = [
        lambda: x.T,
        lambda: x.reshape(-1),
        lambda: x.reshape(x.shape[::-1], order=ORDERS[rng.integers(2)]),
        lambda: np.ravel(x, order=order),
        lambda: np.transpose(x, rng.permutation(x.ndim).tolist()),
        lambda: np.expand_dims(x, int(rng.integers(x.ndim + 1))),
        lambda: np.squeeze(x),
        lambda: np.swapaxes(x, 0, -1),
        lambda: np.moveaxis(x, 0, -1),
        lambda: np.flip(x),
        lambda: np.array_split(x, 2)[rng.integers(2)],
        lambda: np.diagonal(x),
        lambda: x.real,
        lambda: x.imag,
        lambda: np.broadcast_to(x, (2, *x.shape)),
    ]
    place = rng.integers(2 * len(views))
    return views[place]() if place < len(views) else x[random_index(rng, x.shape)]


def random_copy(rng, x, narrow):
    copies = [
        lambda: np.sin(x),
        lambda: x.copy(),
        lambda: x * (1 + 0.5j),
        lambda: np.sin(x)[::2],
        lambda: x.astype(narrow) if x.dtype.kind != "c" else x.T + 1,
    ]
    return copies[rng.integers(len(copies))]()


def random_operand(rng, variables, like):
    v = variables[rng.integers(len(variables))]
    v = v.real if v.dtype.kind == "c" and like.dtype.kind != "c" else v
    constant = rng.standard_normal(like.shape[-1:])
    choices = [lambda: 0.5, lambda: constant, lambda: v, lambda: np.sin(v), lambda: np.sum(np.cos(v).real)]
    return choices[rng.integers(len(choices))]()


def step(name, variables, place, rng, narrow):
    """Do one thing with one of the variables."""
    x = variables[place]
    if name == "view":
        variables.append(random_view(rng, x))
    elif name == "copy":
        variables.append(random_copy(rng, x, narrow))
    elif name == "alias":
        variables.append(x)
    elif name == "drop" and len(variables) > 2:
        del variables[place]
    elif name == "assign":
        index = random_index(rng, x.shape)
        # NumPy does not look whether a mask reads what it has written.
        x[index] = random_operand(rng, variables, x[index]) * 1.0
    elif name == "assign a view" and x.ndim:
        x[1:] = x[:-1]
    elif name == "operate":
        op, other = OPERATORS[rng.integers(3)], random_operand(rng, variables, x)
        variables[place] = op(x, np.cos(other) if op is operator.imul else other)
    elif name == "operate on elements":
        index = random_index(rng, x.shape)
        x[index] += random_operand(rng, variables, x[index])
    elif name == "rows":
        for row in x:
            row *= 0.5
    elif name == "recurrence":
        for i in range(1, len(x)):
            x[i] = 0.5 * x[i - 1] * x[i]
    elif name == "flat" and x.ndim:
        x.flat[[slice(None, None, 2), [0, 0, -1]][rng.integers(2)]] = random_operand(rng, variables, x) * 1.0
    elif name == "shape":
        x.shape = (-1,)


STEPS = ["view", "view", "view", "copy", "alias", "drop", "assign", "assign", "assign a view", "operate"]
STEPS += ["operate on elements", "rows", "recurrence", "flat", "shape"]

programs = st.lists(st.tuples(st.sampled_from(STEPS), st.integers(0, 9), st.integers(0, 10**6)), max_size=14)


def run(program, inputs, narrow, refusals):
    """All variables at the end of a program. What NumPy refuses is left out."""
    variables = list(inputs)
    for name, place, seed in program:
        try:
            step(name, variables, place % len(variables), np.random.default_rng(seed), narrow)
            refusals.append(None)
        except (ValueError, TypeError, IndexError, AttributeError) as error:
            refusals.append(type(error).__name__)
    return variables


def laid_out(x, layout):
    """A copy whose elements lie in memory in one of several ways."""
    if layout == "gaps" and x.ndim == 2:
        y = np.zeros((x.shape[0], 2 * x.shape[1]))[:, ::-2]
        y[...] = x
        return y
    return x.copy("F" if layout == "Fortran" else "C")


def inner_product(us, vs):
    return sum(np.sum((np.conj(u) * v).real) for u, v in zip(us, vs, strict=True))


@settings(deadline=None, derandomize=True, max_examples=150)
@given(program=programs, layout=st.sampled_from(["C", "Fortran", "gaps"]))
def test_little_programs(program, layout):
    x, y = A[:2, :3].copy(), V[:3].copy()
    for narrow in (np.float32, np.float64):
        refused, refused_traced = [], []
        plain = run(program, [laid_out(x, layout), y.copy()], narrow, refused)
        primals = (laid_out(x, layout), y)
        traced, pull = vjp(lambda *xs: run(program, xs, narrow, refused_traced), *primals)  # noqa: B023
        assert refused == refused_traced
        assert [(u.dtype, u.shape, type(u)) for u in traced] == [(u.dtype, u.shape, type(u)) for u in plain]
        for u, v in zip(traced, plain, strict=True):
            np.testing.assert_array_equal(u, v)
        np.testing.assert_array_equal(primals[0], x)
        np.testing.assert_array_equal(y, V[:3])
    rng = np.random.default_rng(0)
    tangents = (rng.standard_normal((2, 3)), rng.standard_normal(3))
    bars = [rng.standard_normal(u.shape) * (1 - 2j if u.dtype.kind == "c" else 1) for u in plain]

    def along(t):
        moved = [laid_out(x + t * tangents[0], layout), y + t * tangents[1]]
        return inner_product(bars, run(program, moved, np.float64, []))

    pushed = jvp(lambda *xs: run(program, xs, np.float64, []), primals, tangents)[1]
    pulled = pull(bars)
    found = [inner_product(pulled, tangents), inner_product(bars, pushed)]
    # As precise as a difference of sums of such numbers is.
    scale = 1 + sum(np.sum(np.abs(u)) for u in plain)
    np.testing.assert_allclose(found, central_difference(along), rtol=1e-6, atol=1e-7 * scale)
