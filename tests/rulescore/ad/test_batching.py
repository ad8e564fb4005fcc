"""What a batch of values makes of NumPy's functions: for each of its elements what NumPy does."""

import importlib
import operator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from rulescore import rrule
from rulescore.ad import TracerConversionError
from rulescore.ad.batches.batch import Batch, BatchTracer
from rulescore.ad.in_place.replaced import added_at, replaced
from rulescore.ad.in_place.tracer import call_and_settle
from rulescore.ad.numpy_protocols.ufuncs import segment_sums

RNG = np.random.default_rng(11)
SIZE = 4
MASK = RNG.random((2, 3, 4)) < 0.5
ORDER = RNG.integers(0, 3, (2, 5, 4))


def array(*shape):
    return RNG.standard_normal(shape)


def matrix(n):
    return array(n, n) + n * np.eye(n)


def batched(*shape):
    """A batch of random arrays, and the arrays."""
    return of_values(array(SIZE, *shape))


def of_values(values):
    return Batch(len(values)).tracer(values), list(values)


def elements(y, i):
    """The i-th element of each tracer in a result."""
    if isinstance(y, BatchTracer):
        return y._value[i]
    return type(y)(*[elements(part, i) for part in y]) if hasattr(y, "_fields") else _in_list(y, i)


def _in_list(y, i):
    return type(y)([elements(part, i) for part in y]) if isinstance(y, (list, tuple)) else y


def leaves(y):
    return [leaf for part in y for leaf in leaves(part)] if isinstance(y, (list, tuple)) else [y]


def assert_is_done_elementwise(f, x, values):
    y = f(x)
    for i, value in enumerate(values):
        found, expected = leaves(elements(y, i)), leaves(f(value))
        assert len(found) == len(expected)
        for a, b in zip(found, expected, strict=True):
            assert np.shape(a) == np.shape(b)
            assert np.asarray(a).dtype == np.asarray(b).dtype
            np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-13)


@pytest.fixture
def no_loop(monkeypatch):
    """Let no function be called for one element after the other."""

    def refuse(self, f, args, kwargs):
        raise AssertionError(f"{f} has no batching rule for this call")

    monkeypatch.setattr(Batch, "_one_by_one", refuse)


# ---------------------------------------------------------------- with a rule

UNARY_OPERATIONS = {
    "sin": np.sin,
    "negative": lambda x: -x,
    "absolute": abs,
    "modf": np.modf,
    "round": lambda x: np.round(x, 1),
    "clip": lambda x: np.clip(x, -0.5, 0.5),
    "real": lambda x: x.real + x.imag,
    "nan_to_num": np.nan_to_num,
    "copy": lambda x: x.copy() + np.copy(x),
    "astype": lambda x: x.astype(np.float32),
    "zeros": lambda x: np.zeros_like(x) + np.ones_like(x),
    "comparison": lambda x: (x > 0, x <= 0),
    "where": lambda x: np.where(x > 0, x, 0.5),
    "sum": np.sum,
    "mean": lambda x: x.mean(),
    "max": np.max,
    "var": np.var,
    "ptp": np.ptp,
    "any": lambda x: np.any(x > 1),
    "all": lambda x: np.all(x > -1),
    "add.reduce of all": lambda x: np.add.reduce(x, axis=None),
    "shape": lambda x: x.reshape(x.shape),
    "ravel": np.ravel,
    "flatten": lambda x: x.flatten(),
    "ravel in Fortran's order": lambda x: np.ravel(x, order="F"),
    "transpose": lambda x: x.T,
    "new axes": lambda x: x[None, ..., None],
    "expand_dims": lambda x: np.expand_dims(x, (0, -1)),
    "squeeze": lambda x: np.squeeze(x[None]),
    "broadcast_to": lambda x: np.broadcast_to(x, (2, *x.shape)),
    "stack": lambda x: np.stack([x, 2 * x, np.ones(x.shape)], axis=-1),
    "outer": lambda x: np.outer(x, [1.0, 2.0]),
    "vdot": lambda x: np.vdot(x, np.ones(x.shape)),
}


@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (2, 1, 3)], ids=str)
@pytest.mark.parametrize("name", UNARY_OPERATIONS)
def test_functions_of_arrays_with_any_number_of_axes(name, shape, no_loop):
    x, values = batched(*shape)
    assert_is_done_elementwise(UNARY_OPERATIONS[name], x, values)


AXIS_OPERATIONS = {
    "sum": lambda x: np.sum(x, axis=1),
    "sum of several": lambda x: x.sum(axis=(0, -1)),
    "sum with keepdims": lambda x: np.sum(x, axis=-2, keepdims=True),
    "sum with where": lambda x: np.sum(x, axis=0, where=MASK, initial=2.0),
    "prod": lambda x: np.prod(x, axis=-1),
    "min": lambda x: np.min(x, axis=(1, 2)),
    "std": lambda x: np.std(x, axis=2),
    "add.reduce": np.add.reduce,
    "maximum.reduce": lambda x: np.maximum.reduce(x, axis=(0, 2), keepdims=True),
    "multiply.accumulate": lambda x: np.multiply.accumulate(x, axis=1),
    "cumsum": lambda x: np.cumsum(x, axis=-1),
    "cumsum of all": np.cumsum,
    "cumprod": lambda x: np.cumprod(x, 0),
    "cumulative_sum": lambda x: np.cumsum(x, axis=2),
    "sort": lambda x: np.sort(x, axis=0),
    "sort of all": lambda x: np.sort(x, axis=None),
    "argsort": lambda x: np.argsort(x),
    "argmax": lambda x: (np.argmax(x), np.argmax(x, axis=1)),
    "flip": lambda x: np.flip(x),
    "flip of one": lambda x: np.flip(x, 1),
    "roll": lambda x: np.roll(x, 1, axis=1),
    "roll of several": lambda x: np.roll(x, (1, 2), axis=(0, 0)),
    "diff": lambda x: np.diff(x, 1, 0),
    "take": lambda x: np.take(x, [[0, 1], [1, 1]], axis=1),
    "take of all": lambda x: np.take(x, [7, 0]),
    "take_along_axis": lambda x: np.take_along_axis(x, ORDER, axis=1),
    "repeat": lambda x: np.repeat(x, [1, 0, 2], axis=1),
    "split": lambda x: np.split(x, 2, axis=2),
    "array_split": lambda x: np.array_split(x, [1], 1),
    "fft": lambda x: np.fft.fft(x, 5, 0),
    "rfft": lambda x: np.fft.rfft(x, axis=1),
    "segment sums": lambda x: call_and_settle(segment_sums, (x, np.array([0, 2]), 1)),
    "reshape": lambda x: np.reshape(x, (4, -1)),
    "reshape by method": lambda x: (x.reshape(6, 4), x.reshape((-1,)), x.reshape(-1, order="F")),
    "reshape in Fortran's order": lambda x: np.reshape(x, (4, 6), order="F"),
    "transpose": lambda x: np.transpose(x, (2, 0, 1)),
    "transpose by method": lambda x: (x.transpose(2, -3, 1), x.transpose((1, 0, 2)), x.transpose()),
    "swapaxes": lambda x: np.swapaxes(x, 0, -1),
    "moveaxis": lambda x: np.moveaxis(x, (0, 1), (-1, 0)),
    "moveaxis by name": lambda x: np.moveaxis(x, source=0, destination=-1),
    "matrix transpose": lambda x: x.mT,
    "squeeze": lambda x: np.squeeze(x[:, :1], axis=1),
    "trace": lambda x: np.trace(x, 1, 2, 0),
    "diagonal": lambda x: np.diagonal(x, axis1=-1, axis2=1),
    "tril": lambda x: np.tril(x, 1),
    "triu": np.triu,
    "concatenate": lambda x: np.concatenate([x, x[:, :1], np.ones((2, 1, 4))], axis=1),
    "concatenate of all": lambda x: np.concatenate([x, x[0]], axis=None),
    "stack": lambda x: np.stack((x, np.ones((2, 3, 4))), 1),
    "where": lambda x: np.where(MASK, x, x[0]),
    "broadcasting": lambda x: x + x[0, 0] * np.arange(4.0) + x[:, :1, :1] + np.ones((5, 1, 1, 1)),
}


@pytest.mark.parametrize("name", AXIS_OPERATIONS)
def test_axes_are_those_of_an_element(name, no_loop):
    x, values = batched(2, 3, 4)
    assert_is_done_elementwise(AXIS_OPERATIONS[name], x, values)


@pytest.mark.parametrize(
    ("f", "shape", "axis"),
    [(np.sum, (3,), 1), (np.cumsum, (3,), -2), (np.expand_dims, (3,), 3), (np.swapaxes, (2, 3), (2, 0))],
    ids=["sum", "cumsum", "expand_dims", "swapaxes"],
)
def test_the_axis_of_the_batch_cannot_be_reached(f, shape, axis):
    x, _ = batched(*shape)
    axes = axis if isinstance(axis, tuple) else (axis,)
    with pytest.raises(np.exceptions.AxisError):
        f(x, *axes)


MATRIX_OPERATIONS = {
    "inv": np.linalg.inv,
    "det": np.linalg.det,
    "cholesky": lambda x: np.linalg.cholesky(x @ x.mT),
    "eigh": lambda x: np.linalg.eigh(x + x.T).eigenvalues,
    "slogdet": np.linalg.slogdet,
    "qr": np.linalg.qr,
    "svd": lambda x: np.linalg.svd(x, compute_uv=False),
    "matrix_power": lambda x: np.linalg.matrix_power(x, 3),
    "solve for a vector": lambda x: np.linalg.solve(x, np.arange(3.0)),
    "solve for vectors": lambda x: np.linalg.solve(x, np.ones((3, 2))),
    "solve of one matrix for a vector": lambda x: np.linalg.solve(MATRIX, x[0]),
    "solve of one matrix for vectors": lambda x: np.linalg.solve(MATRIX, x),
    "solve of many matrices": lambda x: np.linalg.solve(MATRICES, x),
}
MATRIX, MATRICES = matrix(3), np.stack([matrix(3), matrix(3)])


@pytest.mark.parametrize("name", MATRIX_OPERATIONS)
def test_functions_of_matrices(name, no_loop):
    x, values = of_values(np.stack([matrix(3) for _ in range(SIZE)]))
    assert_is_done_elementwise(MATRIX_OPERATIONS[name], x, values)


PRODUCTS = {
    np.matmul: [
        *[((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 4)), ((2, 3), (3, 4)), ((5, 2, 3), (3,)), ((5, 2, 3), (3, 4))],
        *[((3,), (5, 3, 4)), ((2, 3), (5, 3, 4)), ((1, 2, 3), (5, 3, 4)), ((0, 3), (3, 2)), ((2, 0), (0, 3))],
    ],
    np.dot: [((), (2, 3)), ((3,), (3,)), ((2, 3), (3, 4)), ((5, 2, 3), (3,)), ((2, 3), (5, 3, 4)), ((3,), (5, 3, 4))],
    np.inner: [((), (3,)), ((3,), (2, 3)), ((2, 3), (4, 3)), ((5, 2, 3), (3,))],
    np.outer: [((3,), (2, 2)), ((2, 3), ())],
    np.vdot: [((2, 3), (2, 3)), ((3,), (3,))],
    np.vecdot: [((3,), (3,)), ((2, 3), (3,)), ((3,), (2, 3))],
    np.tensordot: [((2, 3, 4), (3, 4, 5)), ((3, 4), (3, 4))],
}


@pytest.mark.parametrize("is_second", [False, True], ids=["of the first factor", "of the second factor"])
@pytest.mark.parametrize(
    ("f", "a", "b"),
    [(f, *shapes) for f, pairs in PRODUCTS.items() for shapes in pairs],
    ids=lambda x: getattr(x, "__name__", str(x)),
)
def test_products(f, a, b, is_second, no_loop):
    constant = array(*(a if is_second else b)) + 1j * array(*(a if is_second else b))
    x, values = batched(*(b if is_second else a))
    assert_is_done_elementwise(lambda x: f(constant, x) if is_second else f(x, constant), x, values)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.tensordot(x, array_of_axes(3, 2), axes=([1], [0])),
        lambda x: np.tensordot(array_of_axes(5, 2, 3), x, axes=((2, 1), (1, 0))),
        lambda x: np.einsum("ij,jk->ik", x, array_of_axes(3, 2)),
        lambda x: np.einsum("...j,kj->k...", x, array_of_axes(4, 3)),
        lambda x: np.vecdot(x, array_of_axes(3), axis=-1),
        lambda x: x[0] @ x.T,
        lambda x: x @ x[1],
        lambda x: x[0] @ x[1],
        lambda x: x @ [1.0, 2.0, 3.0],
    ],
)
def test_contractions(f, no_loop):
    x, values = batched(2, 3)
    assert_is_done_elementwise(f, x, values)


def array_of_axes(*shape):
    return np.arange(float(np.prod(shape))).reshape(shape)


# ---------------------------------------------------------------- indexing

INDICES = [
    0,
    -1,
    slice(1, None),
    (slice(None), 1),
    (..., 0),
    (0, None, 1),
    (),
    Ellipsis,
    [0, 1, 1],
    np.array([[0, 1], [1, 0]]),
    np.zeros(0, int),
    ([0, 1], [2, 0]),
    ([0, 1], slice(None), [3, 0]),
    (0, slice(None), [3, 0]),
    ([1, 0], slice(1, 3), 2),
    ([[0], [1]], slice(None), [3, 0, 1]),
    (slice(None), [0, 2], [1, 1]),
    (slice(None), 1, [1, 1, 0]),
    (None, [0, 1], None, [1, 2]),
    (..., [1, 2]),
    ([0, 1], ..., [1, 2]),
    MASK,
    (slice(None), MASK[0, :, 0]),
    (MASK[:, 0, 0], slice(None), [0]),
    (slice(None), MASK[0]),
]


@pytest.mark.parametrize("index", INDICES, ids=repr)
def test_indexing(index, no_loop):
    x, values = batched(2, 3, 4)
    assert_is_done_elementwise(lambda x: x[index], x, values)


@pytest.mark.parametrize("index", INDICES, ids=repr)
def test_assigning_to_an_index(index, no_loop):
    x, values = batched(2, 3, 4)
    part = values[0][index]
    whole, narrow = array(*np.shape(part)), array(*np.shape(part)[1:])
    assert_is_done_elementwise(lambda x: call_and_settle(replaced, (x, index, whole)), x, values)
    assert_is_done_elementwise(lambda x: call_and_settle(replaced, (x, index, narrow)), x, values)
    assert_is_done_elementwise(lambda x: call_and_settle(replaced, (x, index, x[index] * 2)), x, values)
    assert_is_done_elementwise(lambda x: call_and_settle(replaced, (np.zeros((2, 3, 4)), index, x[index])), x, values)
    assert_is_done_elementwise(lambda x: call_and_settle(added_at, (x, index, x[index])), x, values)


@pytest.fixture(scope="module")
def scatter():
    rrule.lookup(operator.getitem, np.ndarray)  # loads the rules as an entry point, as their records then say
    return importlib.import_module("rules.numpy.indexing").scatter


@pytest.mark.parametrize("index", INDICES, ids=repr)
def test_scattering_from_an_index(index, scatter, no_loop):
    x, values = batched(*np.shape(np.zeros((2, 3, 4))[index]))
    assert_is_done_elementwise(lambda x: scatter(x, index, (2, 3, 4), np.dtype(float)), x, values)


@settings(deadline=None, derandomize=True, max_examples=150)
@given(data=st.data())
def test_any_index_of_numpy(data):
    shape = data.draw(npst.array_shapes(min_dims=1, max_dims=4, max_side=3))
    places = st.integers(0, len(shape) - 1)
    entries = [data.draw(_entry(length)) for length in shape[: 1 + data.draw(places)]]
    for _ in range(data.draw(st.integers(0, 2))):
        entries.insert(data.draw(st.integers(0, len(entries))), None)
    if data.draw(st.booleans()):
        entries.append(...)
    index = tuple(entries)
    x, values = of_values(np.arange(2.0 * np.prod(shape)).reshape(2, *shape))
    assert_is_done_elementwise(lambda x: x[index], x, values)
    assert_is_done_elementwise(lambda x: call_and_settle(replaced, (x, index, x[index] + 100)), x, values)


def _entry(length):
    whole = st.integers(-length, length - 1)
    slices = st.builds(slice, whole, st.none() | whole, st.sampled_from([1, 2, -1]))
    return whole | slices | npst.arrays(int, st.sampled_from([(2,), (1,), (2, 1)]), elements=whole)


# ---------------------------------------------------------------- assigning, as code does


def test_in_place_code_on_batches():
    def f(x):
        y = np.zeros_like(x)
        y[1:] = x[:-1]
        row = y[0]
        row += 2 * x[1]
        y.T[0] *= 3.0
        y.reshape(-1)[-1] = 7.0
        return y

    x, values = batched(2, 3)
    assert_is_done_elementwise(f, x, values)


def test_a_number_is_not_changed_in_place():
    x, values = batched()
    y = x
    y += 1.0
    np.testing.assert_array_equal(x._value, values)
    np.testing.assert_array_equal(y._value, np.add(values, 1.0))


def test_an_element_keeps_its_value_when_its_array_is_assigned_to():
    x, values = batched(3)
    y = x.copy()
    element, part = y[0], y[..., 0]
    y[0] = 5.0
    np.testing.assert_array_equal(element._value, [value[0] for value in values])
    np.testing.assert_array_equal(part._value, [5.0] * SIZE)  # a view, also in NumPy


def test_new_arrays_like_a_batch_can_be_assigned_to():
    x, values = batched(3)

    def f(x):
        y = np.zeros((2, 3), like=x)
        y[1] = x
        return y + np.full((2, 3), 2.0, like=x)

    result = f(x)
    for i, value in enumerate(values):
        np.testing.assert_array_equal(result._value[i], [[2.0] * 3, value + 2.0])


@pytest.mark.parametrize(
    "write",
    [
        lambda x: np.copyto(np.zeros(3), x),
        lambda x: np.add(x, 1.0, out=np.zeros(3)),
        lambda x: np.sum(x, axis=0, out=np.zeros(())),
        lambda x: np.sum(x, 0, None, np.zeros(SIZE)),
        lambda x: np.cumsum(x, out=np.zeros(3)),
        lambda x: np.add.at(np.zeros(3), [0, 1, 2], x),
        lambda x: operator.setitem(np.zeros(3), slice(None), x),
        lambda x: operator.iadd(np.zeros(3), x),
        lambda x: np.asarray(x),
        lambda x: float(x[0]),
    ],
)
def test_a_batch_is_never_written_into_an_ordinary_array(write):
    x, _ = batched(3)
    with pytest.raises(TracerConversionError):
        write(x)


# ---------------------------------------------------------------- without a rule

LOOPS = {
    "a function without a rule": lambda x: np.kron(x, np.ones(2)),
    "several outputs": lambda x: np.histogram(x, bins=3),
    "nested outputs": lambda x: np.meshgrid(x, x[:2]),
    "implicit output of einsum": lambda x: np.einsum("i,j", x, x),
    "along an axis with more to it": lambda x: np.diff(x, append=0.0),
    "an index that is batched": lambda x: call_and_settle(operator.getitem, (np.arange(9.0), np.argsort(x))),
    "counts": lambda x: np.count_nonzero(x > 0),
    "reduceat": lambda x: np.multiply.reduceat(x, [0, 2]),
    "roll of all": lambda x: np.roll(x.reshape(2, -1), 1),
    "order K": lambda x: np.ravel(x, order="K"),
    "keywords": lambda x: np.cross(a=x[:3], b=np.ones(3)),
}


@pytest.mark.parametrize("name", LOOPS)
def test_functions_without_a_rule_are_called_for_each_element(name, monkeypatch):
    loops = []
    loop = Batch._one_by_one
    monkeypatch.setattr(Batch, "_one_by_one", lambda *call: loops.append(call[1]) or loop(*call))
    x, values = batched(4)
    assert_is_done_elementwise(LOOPS[name], x, values)
    assert loops


def test_outputs_of_different_shapes_cannot_be_carried_on():
    x, _ = of_values(np.array([[0.0, 1.0], [1.0, 2.0]]))
    with pytest.raises(TracerConversionError, match="another shape or kind for each value of a batch"):
        np.flatnonzero(x)


# ---------------------------------------------------------------- facts


def test_facts_about_a_batch_are_those_of_an_element():
    x, values = batched(2, 3)
    value = values[0]
    assert (x.shape, x.ndim, x.size, len(x), x.nbytes) == ((2, 3), 2, 6, 2, value.nbytes)
    assert (x.strides, x.itemsize, x.flags.c_contiguous) == (value.strides, 8, True)
    assert (np.shape(x), np.ndim(x), np.size(x), np.size(x, 1)) == ((2, 3), 2, 6, 3)
    assert not np.iscomplexobj(x)
    assert np.isrealobj(x)
    assert np.result_type(x, np.complex64) == np.complex128
    assert x.tolist()[1][2].shape == ()
    assert len(list(x)) == 2


def test_a_batch_of_numbers_has_no_length():
    x, _ = batched()
    assert (x.shape, x.ndim, x.size) == ((), 0, 1)
    with pytest.raises(TypeError, match="unsized"):
        len(x)


def test_truth_is_answered_where_it_is_the_same_throughout():
    x, _ = of_values(np.array([1.0, 2.0, 3.0]))
    assert x > 0
    assert not x > 5
    assert int(x / x) == 1
    with pytest.raises(TracerConversionError, match=r"use np\.where"):
        bool(x > 2)
    with pytest.raises(TracerConversionError):
        int(x)
    with pytest.raises(TracerConversionError):
        round(x)


def test_constants_of_a_batch_are_the_same_throughout():
    batch = Batch(3)
    x = batch.constant(np.arange(2.0))
    assert x.shape == (2,)
    np.testing.assert_array_equal(batch.values(x), [[0.0, 1.0]] * 3)
    np.testing.assert_array_equal(batch.values(5.0), [5.0] * 3)


# ---------------------------------------------------------------- with other traces


def test_batches_within_batches():
    outer_values, inner_values = array(2, 3), array(4, 3)
    outer = Batch(2)
    inner = Batch(4)
    x = inner.tracer(inner_values)
    y = outer.tracer(outer_values)
    result = np.outer(y, x) + y
    expected = [[np.outer(b, a) + b for b in outer_values] for a in inner_values]
    np.testing.assert_allclose(result._value._value if result._trace is inner else None, np.moveaxis(expected, 1, 0))
