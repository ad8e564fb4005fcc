"""New arrays in traceable programs: ordinary ones to all who ask, until a differentiated value is written into them."""

from __future__ import annotations

import ctypes
import io
import math
import operator
import pickle

import numpy as np
import pytest
from scipy import ndimage, special
from scipy.spatial import cKDTree

from rulescore.ad import grad, hessian, jvp, traceable
from rulescore.ad.messages.errors import NoRuleError, TracerConversionError
from testutils import jacobian_fd

X = np.array([0.5, 0.8, 1.2])


def assert_derivatives(f, x=X):
    """Those of first order in both modes, and of second order, are those of finite differences."""
    expected = jacobian_fd(f, x).value.reshape(np.shape(x))
    g = traceable(f)
    np.testing.assert_allclose(grad(g)(x), expected, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(jvp(g, (x,), (np.ones_like(x),))[1], expected.sum(), rtol=1e-6, atol=1e-7)
    of_gradient = jacobian_fd(grad(g), x).value.reshape(np.shape(hessian(g)(x)))
    np.testing.assert_allclose(hessian(g)(x), of_gradient, rtol=1e-6, atol=1e-7)


def weighed(y):
    """A number that depends on every element in another way."""
    return (y * np.arange(1.0, y.size + 1).reshape(y.shape)).sum()


# ---------------------------------------------------------------- before


def as_memory(y):
    return memoryview(y)[1]


def by_address(y):
    return ctypes.cast(y.ctypes.data, ctypes.POINTER(ctypes.c_double))[1]


def by_frombuffer(y):
    return np.frombuffer(y)[1]


def by_bytes(y):
    return np.frombuffer(y.tobytes())[1]


def by_pickle(y):
    return pickle.loads(pickle.dumps(y))[1]


def by_file(y):
    file = io.BytesIO()
    np.save(file, y)
    file.seek(0)
    return np.load(file)[1]


def by_tree(y):
    return cKDTree(np.array([[1.0, 1.0, 2.0]])).query(y)[0]


def by_float(y):
    return float(y[1])


def by_list(y):
    return y.tolist()[1]


def by_text(y):
    return float(str(y[1]))


def by_method(y):
    return y.max()


def by_int_index(y):
    return [0.0, 1.0, 2.0][int(y[1])]


def by_histogram(y):
    return np.histogram(y, [0.5, 1.5])[0][0] / 3.0


BEFORE = [
    *(as_memory, by_address, by_frombuffer, by_bytes, by_pickle, by_file, by_tree, by_float, by_list, by_text),
    *(by_method, by_int_index, by_histogram),
]


@pytest.mark.parametrize("read", BEFORE, ids=lambda read: read.__name__)
def test_an_array_can_be_read_by_anybody_before_it_is_written_to(read):
    def f(x):
        y = np.ones(3)
        y[0] = 1.0
        before = read(y)
        y[:] = x
        return math.exp(y[0]) * before + y[2]

    assert f(X) == math.exp(X[0]) + X[2]
    assert_derivatives(f)


def test_other_kinds_of_arrays_are_made_of_one_before_it_is_written_to():
    def f(x):
        y = np.ones(3)
        masked, numbers = np.ma.masked_array(y, [True, False, False]).sum(), y.view(np.int64)
        y[:] = x
        return y[0] * masked * (numbers > 0).sum() + y[1]

    assert_derivatives(f)


def test_the_text_of_one_is_that_of_an_ordinary_array():
    seen = []

    def f(x):
        y = np.ones(3)
        seen.extend([repr(y), str(y), f"{y}"])
        return x[0]

    grad(traceable(f))(X)
    assert seen == [repr(np.ones(3)), str(np.ones(3)), str(np.ones(3))]


@pytest.mark.parametrize("make", [np.zeros, np.ones, np.empty, lambda n: np.full(n, 2.0)])
def test_what_is_not_written_to_is_an_ordinary_array(make):
    seen = []

    def f(x):
        y = make(3)
        y[:] = 1.0
        seen.append((isinstance(y, np.ndarray), type(y) is np.ndarray, y.dtype, y.shape, y.flags.writeable, len(y)))
        return x[0] * (y + 1)[0]

    expected = (True, True, np.dtype(float), (3,), True, 3)
    assert grad(traceable(f))(X)[0] == 2.0
    assert seen == [expected]


def test_results_that_are_new_arrays_are_ordinary_arrays():
    outcome = traceable(lambda x: (x[0], [np.zeros(3), {"y": np.ones(2)}]))
    _, (zeros, table) = grad(outcome, has_aux=True)(X)
    assert type(zeros) is np.ndarray
    assert type(table["y"]) is np.ndarray


# ---------------------------------------------------------------- after

AFTER = [by_address, by_frombuffer, by_bytes, by_pickle, by_file, by_tree, by_text]


@pytest.mark.parametrize("read", AFTER, ids=lambda read: read.__name__)
def test_what_would_hand_out_the_numbers_of_one_that_was_written_to_is_an_error(read):
    def f(x):
        y = np.ones(3)
        y[1] = x[0]
        return y[1] * read(y)

    for differentiate in (grad(traceable(f)), lambda x: jvp(traceable(f), (x,), (x,))):
        with pytest.raises((NoRuleError, TracerConversionError, AttributeError), match="differentiated"):
            differentiate(X)


def test_the_error_of_compiled_code_names_the_function_and_the_line():
    def f(x):
        y = np.ones((1, 3))
        y[0, 1] = x[0]
        tree = cKDTree(y)  # here
        return tree.data[0, 1]

    line = f.__code__.co_firstlineno + 3
    with pytest.raises(NoRuleError, match=rf"cKDTree.*called in .*f at .*test_traceable_buffers.py:{line}"):
        grad(traceable(f))(X)


def after_a_memoryview_is_gone(y):
    memoryview(y)[1]


def while_a_memoryview_is_there(y):
    return memoryview(y)


def while_its_own_memoryview_is_there(y):
    return operator.attrgetter("data")(y)


def while_a_pointer_is_there(y):
    return y.ctypes.data_as(ctypes.POINTER(ctypes.c_double))


SHOW = [
    *(after_a_memoryview_is_gone, while_a_memoryview_is_there),
    *(while_its_own_memoryview_is_there, while_a_pointer_is_there),
]


@pytest.mark.parametrize("show", SHOW, ids=lambda show: show.__name__)
@pytest.mark.parametrize("is_shown_first", [True, False])
def test_a_derivative_keeps_what_was_in_an_array_whose_memory_was_shown(show, is_shown_first):
    def f(x):
        y = np.ones(3)
        view = show(y) if is_shown_first else None
        z = y * x
        view = view if is_shown_first else show(y)
        y[0] = 5.0
        if view is not None:
            assert view[0] == 5.0
            view[2] = 7.0
            assert y[2] == 7.0
        return (z * y * x).sum()

    assert_derivatives(f)


def by_name(y):
    return memoryview(object=y)


@pytest.mark.parametrize("show", [by_name, *SHOW[1:]], ids=lambda show: show.__name__)
def test_what_a_memoryview_shows_is_not_written_to_by_what_it_would_not_see(show):
    def f(x):
        y = np.ones(3)
        view = show(y[1:])
        y[0] = x[0]
        return y[0] * view[0]

    with pytest.raises(TracerConversionError, match="make the memoryview afterwards"):
        grad(traceable(f))(X)


# ---------------------------------------------------------------- what was computed of one before it is written to


def saved_by_a_product(x):
    y = np.zeros(3)
    y[:] = x
    z = y * y
    y[0] = x[2] * x[1]
    y[1:] *= 2.0
    return (z * y).sum()


def saved_by_a_product_with_one_that_is_not_written_to_yet(x):
    y = np.ones(3)
    z = y * x
    y[0] = x[1]
    y[1] = 5.0
    return (z * y).sum()


def saved_by_compiled_rules(x):
    y = np.full(3, 1.5)
    z = special.gamma(y * x)
    y[:] = np.sin(x)
    return (special.gammainc(y + 1.0, x) * z).sum()


def saved_by_an_index(x):
    y, order = np.zeros(3), np.zeros(3, int)
    y[:] = x
    order[:] = [2, 0, 1]
    z = y[order] * x
    order[0] = 1
    y[order] += x
    return (z * y).sum()


def copied_and_written_to(x):
    y = np.zeros(3)
    y[0] = x[0]
    z = y.copy()
    z[1] = x[1]
    w = np.array(y)
    w[2] = x[2] * y[0]
    return (y + z * w + w).sum()


def copied_before_anything_was_written(x):
    y = np.zeros(3)
    z, w = y.copy(), y.astype(float)
    z[:] = x
    w[1] = z[0] * 2
    return (y + z * w).sum()


def views_see_what_is_written_to_the_other(x):
    y = np.zeros((3, 3))
    row, column, corner = y[1], y[:, 1], y[1:, 1:]
    diagonal = np.einsum("ii->i", y)
    y[1, 1] = x[0]
    before = row[1] * column[1] * corner[0, 0]
    row[2] = x[1] ** 2
    corner[1] += x[1:]
    diagonal[:] = diagonal * 2
    return before + math.exp(corner[0, 0]) + (y * column).sum() + row.sum()


def views_that_are_made_after_writing(x):
    y = np.empty((2, 3))
    y[0] = x
    y[1] = 2.0
    flat = y.reshape(-1)
    flat[3:] *= x
    transposed = y.T
    transposed[0] += transposed[1]
    return (y**2).sum() * flat[4]


def two_that_are_the_same(x):
    y = z = np.zeros(3)
    z[0] = x[0]
    y[0] *= z[0]
    return y[0] * z[0] + y.sum()


def swapped(x):
    old, new = np.ones(3), np.zeros(3)
    for _ in range(3):
        new[1:-1] = (old[2:] + old[:-2]) * x[0]
        new[0], new[-1] = x[1], old[0] * x[2]
        old, new = new, old
    return old.sum() * new[0]


def written_within_functions(x):
    def fill(y, i):
        y[i] = math.sin(x[i])
        if i + 1 < len(y):
            fill(y, i + 1)

    y = np.zeros(3)
    fill(y, 0)
    return float(y @ y)


def kept_in_objects(x):
    class State:
        def __init__(self):
            self.history = np.zeros((2, 3))

        def step(self, i):
            self.history[i] = x * (self.history[i - 1] + 1)
            return self.history[i]

    state = State()
    first = state.step(0)
    state.step(1)
    first[0] = x[2]
    return state.history.sum() * state.history[0, 0]


def augmented_by_slices(x):
    y = np.zeros((3, 3))
    y[1:, :2] += np.outer(x[1:], x[:2])
    y[:, [0, 2]] -= x[:, None]
    y[y > 0.5] *= x[0]
    y[np.triu_indices(3)] += 1.0
    y **= 2
    return y.sum()


def sorted_and_reversed(x):
    y = np.zeros(3)
    y[:] = -x
    y.sort()
    z = y[::-1]
    z[0] = z[0] * z[1]
    return (y * [1.0, 2.0, 3.0]).sum()


def a_default_that_is_kept(x):
    def accumulate(v, total=np.zeros(3)):  # noqa: B008
        return total + v

    return (accumulate(x) * accumulate(x**2)).sum()


def swapped_rows(x):
    y = np.zeros((3, 2))
    y[:, 0], y[:, 1] = x, x**2
    y[[0, 2]] = y[[2, 0]]
    return (y * [[1.0], [2.0], [3.0]]).sum() * y[0, 0]


def an_array_from_outside(x):
    y = np.array(CONSTANT)
    y[0] += x[0]
    return (y * x).sum() * CONSTANT.sum()


def written_to_by_results(x):
    sums, products, parts, both = np.zeros(3), np.zeros(3), np.zeros(3), np.zeros((2, 3))
    np.add.accumulate(x, out=sums)
    np.matmul(np.eye(3), x, out=products)
    np.clip(sums, 0.6, 1.0, out=parts)
    np.stack([x, x**2], out=both)
    total = np.zeros(())
    x.sum(out=total)
    np.multiply(products, products, out=products, where=products < 1.0)
    return weighed(both) * weighed(sums * products + parts) * total


def written_to_by_methods(x):
    y = np.zeros(3)
    y.__setitem__(0, x[0])
    operator.setitem(y, 1, x[1])
    y.put([2], x[2:])
    y.__iadd__(x)
    z = np.zeros(3)
    z.fill(x[0])
    list(map(z.__setitem__, range(2), x))
    return weighed(y * z) + weighed(operator.iadd(y, z))


def written_to_by_its_parts(x):
    y, z = np.zeros(3, complex), np.zeros((3, 1))
    y.real = x
    y.imag[0] = x[1]
    z.flat = x
    z.flat[1] *= x[0]
    z.T[0, 2] = x[1] ** 2
    z[None][0, 0] += x[0]
    return weighed(np.abs(y + 1)) * weighed(z)


def written_to_in_another_shape(x):
    y, z = np.zeros((2, 3)), np.zeros(3)
    view = z.view()
    view.shape = (3, 1)
    view[0] = x[0]
    np.squeeze(z[None])[1] = x[1]
    y.reshape(3, 2)[0] = x[:2]
    y.swapaxes(0, 1)[2] += x[1]
    return weighed(y) * weighed(z)


def written_to_at_places(x):
    y, z = np.zeros(3), np.zeros(3)
    np.minimum.at(y, [0], -x[0])
    np.subtract.at(y, [1, 1], x[1])
    np.place(z, [True, False, True], x)
    np.put_along_axis(z, np.array([1]), x[0], 0)
    y[x > 0.6] += x[x > 0.6]
    y[::2] = y[::-2] * z[::2]
    y[1:] *= y[:-1]
    return weighed(y) + weighed(z)


def written_to_in_another_order(x):
    y, z = np.zeros(3), x.copy()
    y[:] = x
    np.random.default_rng(0).shuffle(y)
    z[::-1].sort()
    z.partition(1)
    return weighed(y * z)


def written_to_by_unpacking(x):
    y = np.zeros((2, 3))
    y[0], y[1, :2] = x, x[1:]
    first, *y[1] = [x[0], *(x * x)]
    y[0, 0] = y[1, 1] = first * x[2]
    return weighed(y) * first


CONSTANT = np.array([1.0, 2.0, 3.0])
PROGRAMS = [
    saved_by_a_product,
    saved_by_a_product_with_one_that_is_not_written_to_yet,
    saved_by_compiled_rules,
    saved_by_an_index,
    copied_and_written_to,
    copied_before_anything_was_written,
    views_see_what_is_written_to_the_other,
    views_that_are_made_after_writing,
    two_that_are_the_same,
    swapped,
    written_within_functions,
    kept_in_objects,
    augmented_by_slices,
    sorted_and_reversed,
    a_default_that_is_kept,
    swapped_rows,
    an_array_from_outside,
    written_to_by_results,
    written_to_by_methods,
    written_to_by_its_parts,
    written_to_in_another_shape,
    written_to_at_places,
    written_to_in_another_order,
    written_to_by_unpacking,
]


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_what_is_written_later_does_not_change_what_was_computed(f):
    assert_derivatives(f)


# ---------------------------------------------------------------- views

VIEWS = {
    "the array itself": lambda y: y,
    "asarray": np.asarray,
    "ascontiguousarray": np.ascontiguousarray,
    "array, without a copy": lambda y: np.array(y, copy=False),
    "ravel": np.ravel,
    "reshape": lambda y: y.reshape(3, 2),
    "transpose": lambda y: y.T,
    "moveaxis": lambda y: np.moveaxis(y, 0, 1),
    "expand_dims": lambda y: np.expand_dims(y, 1),
    "a part": lambda y: y[:, 1:],
    "a row": lambda y: y[1],
    "a column": lambda y: y[:, 1],
    "backwards": lambda y: y[-1:, ::-2],
    "flip": np.flip,
    "rot90": np.rot90,
    "split": lambda y: np.split(y, 2)[1],
    "hsplit": lambda y: np.hsplit(y, 3)[2],
    "a list of rows": lambda y: list(y)[1],
    "unpacked": lambda y: [*y][0],  # noqa: RUF015
    "einsum": lambda y: np.einsum("ij->ji", y),
    "a view": lambda y: y.view(),
    "a view of a view": lambda y: y[1:][0][1:],
    "astype, without a copy": lambda y: y.astype(float, copy=False),
    "a method of the class": lambda y: np.ndarray.reshape(y, -1),
    "several at once": lambda y: np.broadcast_arrays(y, np.zeros((2, 3)))[0].T,
    "real": np.real,
    "an attribute": lambda y: y.real,
    "squeeze": np.squeeze,
    "atleast_2d": np.atleast_2d,
    "a copy": lambda y: y.copy(),
    "another copy": lambda y: np.array(y),
    "an index": lambda y: y[[0, 1]],
}


def made_before_writing(x, view):
    y = np.zeros((2, 3))
    w = view(y)
    y[0], y[1] = x, x**2
    return weighed(w) + weighed(y) * x[0]


def written_to_before_the_array(x, view):
    y = np.ones((2, 3))
    w = view(y)
    w[...] = x[0]
    w *= x[1]
    return weighed(y) + w.sum() * x[2]


def made_between_writing(x, view):
    y = np.zeros((2, 3))
    y[0] = x
    w = view(y)
    y[1] = x**2
    y *= x[1]
    return weighed(w) * x[0]


def written_to_after_the_array(x, view):
    y = np.zeros((2, 3))
    y[0] = x
    w, saved = view(y), y * 1.0
    w[...] = x[2]
    w += x[1]
    return weighed(y) + (saved * y).sum() * x[0]


@pytest.mark.parametrize(
    "program", [made_before_writing, written_to_before_the_array, made_between_writing, written_to_after_the_array]
)
@pytest.mark.parametrize("name", VIEWS)
def test_views_and_copies_of_new_arrays(program, name):
    assert_derivatives(lambda x: program(x, VIEWS[name]))


# ---------------------------------------------------------------- arrays that somebody else sees


def test_arrays_from_outside_are_not_written_to_silently():
    outside = np.zeros(3)

    def f(x):
        outside[0] = x[0]
        return outside.sum()

    with pytest.raises(TracerConversionError):
        grad(traceable(f))(X)
    assert outside.sum() == 0.0


def test_arguments_that_are_not_differentiated_are_not_written_to_silently():
    def f(x, y):
        y[0] = x[0]
        return y.sum()

    y = np.zeros(3)
    with pytest.raises(TracerConversionError):
        grad(traceable(f))(X, y)
    assert y.sum() == 0.0


def test_two_names_of_an_array_that_is_changed_in_place():
    def f(x):
        y = np.arange(3.0)
        z = y
        y += x
        return (y * z).sum()

    assert_derivatives(f)


def test_arrays_that_cannot_hold_it_are_an_error():
    def f(x):
        y = np.zeros(3, int)
        y[0] = x[0]
        return y.sum()

    with pytest.raises((TracerConversionError, NoRuleError, TypeError)):
        grad(traceable(f))(X)


def test_the_image_of_a_compiled_function_of_a_new_array_is_constant():
    def f(x):
        y = np.zeros(5)
        y[2] = 1.0
        kernel = ndimage.generic_filter(y, max, size=3)
        y[2] = x[0]
        return (kernel * y).sum() * math.exp(x[1])

    assert_derivatives(f)
