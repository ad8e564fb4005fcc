"""Views of arrays that are being differentiated: what is written to one of them shows in all."""

import operator

import numpy as np
import pytest

from rulescore import NoTangent, rrule
from rulescore.ad import LeakedTracerError, grad, gradients, jvp, primitive, variable, vjp
from rulescore.ad.in_place.sharing import released
from rulescore.ad.in_place.views import View
from rulescore.ad.tracing.tracers import Tracer, frozen

RNG = np.random.default_rng(0)
A = RNG.standard_normal((3, 4))
V = RNG.standard_normal(4)
Z = RNG.standard_normal((2, 3)) + 1j * RNG.standard_normal((2, 3))


def assert_agrees(f, x):
    """``f``, which returns a list of arrays, has NumPy's values and derivatives as differences have them."""
    plain = f(like(x, x))
    for traced in (vjp(f, x)[0], jvp(f, (x,), (x,))[0]):
        for u, v in zip(traced, plain, strict=True):
            assert type(u) is type(v)
            np.testing.assert_array_equal(u, v)
    dx = RNG.standard_normal(x.shape) + (1j * RNG.standard_normal(x.shape) if x.dtype.kind == "c" else 0)
    bars = [RNG.standard_normal(np.shape(u)) * (1 + 1j if u.dtype.kind == "c" else 1) for u in plain]

    def along(t):
        return inner_product(bars, f(like(x, x + t * dx)))

    h = 1e-3
    difference = (8 * (along(h) - along(-h)) - (along(2 * h) - along(-2 * h))) / (12 * h)
    pulled = inner_product(vjp(f, x)[1](bars), [dx])
    pushed = inner_product(bars, jvp(f, (x,), (dx,))[1])
    np.testing.assert_allclose([pulled, pushed], difference, rtol=1e-6, atol=1e-8)


def like(x, values):
    """An array of other values that lies in memory as ``x`` does."""
    y = np.repeat(values, 2, axis=1)[::-1, ::2] if x.strides[0] < 0 else values.copy("F" if x.flags.fnc else "C")
    y[...] = values
    return y


def inner_product(us, vs):
    return sum(np.sum((np.conj(u) * v).real) for u, v in zip(us, vs, strict=True))


# ---------------------------------------------------------------- every way to take a view

VIEWS = {
    "row": lambda x: x[1],
    "slice": lambda x: x[1:],
    "backwards": lambda x: x[::-1, ::-2],
    "column": lambda x: x[:, 2],
    "ellipsis": lambda x: x[...],
    "empty tuple": lambda x: x[()],
    "new axes": lambda x: x[None, :, None, 1:],
    "element by ellipsis": lambda x: x[0, 1, ...],
    "reshape": lambda x: x.reshape(2, -1),
    "reshape, one by one": lambda x: x.reshape(2, 3, 2),
    "np.reshape": lambda x: np.reshape(x, (-1,)),
    "ravel": lambda x: x.ravel(),
    "ravel in memory order": lambda x: x.ravel("K"),
    "ravel in the order it has": lambda x: np.ravel(x, "A"),
    "ravel in Fortran order": lambda x: x.ravel("F"),
    "T": lambda x: x.T,
    "mT": lambda x: x.mT,
    "transpose": lambda x: x.transpose(1, 0),
    "np.transpose with a list": lambda x: np.transpose(x, [1, 0]),
    "swapaxes": lambda x: x.swapaxes(0, 1),
    "moveaxis": lambda x: np.moveaxis(x, 0, 1),
    "rollaxis": lambda x: np.rollaxis(x, 1),
    "permute_dims": lambda x: np.permute_dims(x, (1, 0)),
    "squeeze": lambda x: x[:, 1:2].squeeze(),
    "expand_dims": lambda x: np.expand_dims(x, 1),
    "atleast_3d": lambda x: np.atleast_3d(x),
    "flip": lambda x: np.flip(x, 1),
    "rot90": lambda x: np.rot90(x),
    "piece": lambda x: np.split(x, 3)[1],
    "piece by array_split": lambda x: np.array_split(x, [1, 3], axis=1)[1],
    "hsplit": lambda x: np.hsplit(x, 2)[0],
    "real": lambda x: x.real,
    "np.real": lambda x: np.real(x),
    "atleast_2d": lambda x: np.atleast_2d(x),
    "view": lambda x: x.view(),
    "flat after transposing": lambda x: x.T.reshape(-1),
    "view of views": lambda x: x[1:].T[::2].reshape(2, 2)[:, 0],
    "chain with a copy": lambda x: (x[1:] * 1)[0],
    "integers": lambda x: x[[0, 1]],
    "mask": lambda x: x[x > 0],
    "take": lambda x: x.take([0, 1], axis=0),
    "copy": lambda x: x.copy(),
    "flatten": lambda x: x.flatten(),
    "nothing": lambda x: x[:, :0],
}


@pytest.mark.parametrize("layout", ["C", "F", "gaps"])
@pytest.mark.parametrize("take", VIEWS.values(), ids=VIEWS)
def test_view_and_array_see_what_is_written_to_either(take, layout):
    x = A.copy("F") if layout == "F" else np.repeat(A[::-1], 2, axis=1)[::-1, ::2] if layout == "gaps" else A.copy()

    def f(x):
        view = take(x)
        before = np.sin(view)
        view *= 2
        x[1] = x[0] * x[2, 2]
        view[...] += before * x[0, 0]
        x[:, 1] **= 2
        return [x, view, before]

    assert_agrees(f, x)


@pytest.mark.parametrize(
    "take",
    [lambda z: z.real, lambda z: z.imag, lambda z: np.imag(z.T)[1], lambda z: z[1:].real.reshape(-1)],
    ids=["real", "imag", "row of the imaginary part", "flat real part"],
)
def test_parts_of_complex_arrays(take):
    def f(z):
        part = take(z)
        part += np.cos(part)
        z *= 1 + 1j
        part[0] = part[-1] * 2
        z[0] = part.sum()
        return [z, part]

    assert_agrees(f, Z)


def test_setting_the_parts_of_complex_arrays():
    def f(z):
        z.real = z.imag**2
        z.imag *= 2
        z[0].imag[:] = z.real[1]
        return [z]

    assert_agrees(f, Z)


def test_rows_in_a_loop():
    def f(x):
        for i, row in enumerate(x):
            row *= np.sin(x[i - 1, 0])
            row[1:] = row[:-1]
        first, *others = x
        first += sum(others)
        return [x, first, *others]

    assert_agrees(f, A)


def test_the_transpose_is_assigned_to():
    def f(x):
        x.T[0] = x[0, :3]
        x.T[1:3, 1] *= 2
        x.reshape(-1)[::5] = 3 * x[1, 1]
        x[1:, :][:, ::2][0] = x[0, 1]
        return [x]

    assert_agrees(f, A)


def test_the_diagonal_by_a_slice_of_the_flat_array():
    def f(x):
        x.reshape(-1)[:: x.shape[1] + 1] = x[0, :3] ** 2
        x.flat[1 :: x.shape[1] + 1] = x[1, 1]
        return [x]

    assert_agrees(f, A)


def test_overlapping_views():
    def f(x):
        left, right, every_other = x[:3], x[1:], x[::2]
        left += right
        right *= every_other[1]
        every_other[...] = left[:2]
        left[1:] = right[:2]
        return [x, left, right, every_other]

    assert_agrees(f, V)


def test_a_view_outlives_the_name_of_what_it_is_a_view_of():
    def f(x):
        middle = x[1:]
        inner = middle.T[1:]
        middle = middle * 2
        x = x.reshape(-1)
        inner[0] = middle[0, 0]
        x[-1] = inner[0, 0]
        del x
        return [inner, middle]

    assert_agrees(f, A)


def test_views_taken_between_changes():
    def f(x):
        views = []
        for i in range(len(x)):
            views.append(x[i:])
            x[i] = np.sum(views[i // 2] ** 2)
        views[1][...] = views[0][1:] * 2
        return [x, *views]

    assert_agrees(f, V)


def test_a_long_chain_of_views():
    def f(x):
        view, total = x, 0.0
        while len(view) > 1:
            total = total + view[0]
            view = view[1:]
        view[0] = total
        x[0] = 2 * view[0]
        return [x, view]

    x = RNG.standard_normal(1500)
    xbar = vjp(f, x)[1]([np.ones(1500), np.ones(1)])[0]
    np.testing.assert_allclose(xbar, np.r_[4.0, np.full(1498, 5.0), 0.0])  # deeper than Python may recurse


def test_a_view_keeps_its_shape_when_that_of_the_array_is_set():
    def f(x):
        view, row = x[1:, 1:], x[1]
        x.shape = (2, 6)
        x[1] = 2 * x[0]
        view[0] = x[0, 0] ** 2
        flat = row[...]
        flat.shape = (2, 2)
        flat[1] = x[0, :2]
        row[0] = flat[1, 1]
        return [x, view, row, flat]

    assert_agrees(f, A)


def test_lists_of_axes_and_places_may_change_after_the_view_was_taken():
    def f(x):
        axes, places = [1, 0], [1, 2]
        turned, pieces = np.transpose(x, axes), np.split(x, places)
        axes[:], places[:] = [0, 1], [0, 0]
        x[0] = x[1] * 2
        turned[0] = x[0, 0]
        pieces[1][...] = turned[1, 1]
        return [x, turned, *pieces]

    assert_agrees(f, A)


def test_the_same_array_under_another_name():
    def f(x):
        same, real, also = x, x.real, np.atleast_1d(x)
        same += 1
        real *= 2
        also[0] = x[1] ** 2
        real.shape = (2, 2)
        return [x, same, real, also]

    assert_agrees(f, V)


def test_arrays_broadcast_against_each_other():
    def f(x):
        row, column = np.broadcast_arrays(x[0], x[:, :1])
        x[0] = row[1] * column[2]
        x[1:, 0] *= 3
        return [x, row, column]

    assert_agrees(f, A)


def test_what_is_broadcast_is_not_written_to():
    for f in (
        lambda x: operator.setitem(np.broadcast_arrays(x, np.zeros((3, 1)))[0], 0, 1.0),
        lambda x: operator.setitem(np.broadcast_to(x, (2, 4)), 0, 1.0),
        lambda x: operator.setitem(np.broadcast_to(x, (2, 4)).T, 0, 1.0),
    ):
        with pytest.raises(ValueError, match=r"read-only|several elements lie in the same place"):
            vjp(f, V)


# ---------------------------------------------------------------- which results are views


def taken(f, *primals):
    """The results of ``f``, as they are while it is being differentiated."""
    found = []

    def spy(*xs):
        y = f(*xs)
        found.extend(y if isinstance(y, (list, tuple)) else [y])
        return xs[0] * 1

    vjp(spy, *primals)
    return found


@pytest.mark.parametrize("name", sorted(VIEWS.keys() - {"chain with a copy"}))
def test_results_are_views_where_numpy_returns_views(name):
    (y,) = taken(VIEWS[name], A)
    x = A.copy()
    plain = VIEWS[name](x)
    assert isinstance(y, View) == (plain is not x and np.shares_memory(plain, x))


@pytest.mark.parametrize(
    "f", [np.sin, lambda x: x + 0, lambda x: x[0, 0], lambda x: np.sum(x), lambda x: np.concatenate([x]), np.tril]
)
def test_results_in_their_own_memory_are_no_views(f):
    (y,) = taken(f, A)
    assert isinstance(y, Tracer)
    assert not isinstance(y, View)


def test_results_of_operations_on_views_are_no_views():
    for y in taken(lambda x: [x[0] * 2, x[0] + x[1], np.sin(x[0]), x.T @ x, -x[0]], A):
        assert not isinstance(y, View)


def test_arguments_that_were_views_of_one_array_are_separate():
    x = RNG.standard_normal(5)

    def f(a, b):
        a[1] = 2 * b[0]
        first, second = np.broadcast_arrays(a[1:], b[1:4])
        a[2] *= 3
        b[1] = a[2] ** 2
        return [a, b, first, second]

    (a, b) = x[:4], x[1:]
    plain = f(a.copy(), b.copy())
    traced, pull = vjp(f, a, b)
    for u, v in zip(traced, plain, strict=True):
        np.testing.assert_array_equal(u, v)
    abar, bbar = pull([np.zeros(4), np.zeros(4), np.zeros(3), np.ones(3)])
    np.testing.assert_allclose(abar, [0, 0, 18 * x[2], 0])
    np.testing.assert_allclose(bbar, [0, 0, 1, 1])


def test_a_view_of_an_ordinary_array_is_not_written_to():
    ordinary = np.zeros(4)

    def f(x):
        _, y = np.broadcast_arrays(x, ordinary[:])
        y[0] = 1.0

    with pytest.raises(ValueError):
        vjp(f, RNG.standard_normal((2, 4)))
    np.testing.assert_array_equal(ordinary, 0.0)


def test_what_a_function_with_its_own_rule_hands_through_is_not_written_to():
    @primitive
    def reversing(x):
        return x

    rrule.register(reversing)(lambda x: (x, lambda ybar: (NoTangent(), -ybar)))

    def f(x):
        y = reversing(x)
        x[0] = x[1]
        return np.sum(y * V)

    np.testing.assert_allclose(grad(f)(V), [0, -V[0] - V[1], -V[2], -V[3]])
    with pytest.raises(ValueError, match=r"Write to a copy, y\.copy\(\)"):
        grad(lambda x: operator.setitem(reversing(x), 0, 1.0))(V)


# ---------------------------------------------------------------- nested differentiations


def test_views_taken_outside_and_inside_of_an_inner_differentiation():
    def f(x):
        y = x * 1
        row = y[0]

        def inner(t):
            column = y[:, 0]
            row[1] = t**2
            column[1] = row[1] * t
            return np.sum(y * y)

        return grad(inner)(x[1, 1])

    def without_nesting(x):  # of the inner function all but t⁴ + t⁶ is constant
        return 4 * x[1, 1] ** 3 + 6 * x[1, 1] ** 5

    np.testing.assert_allclose(vjp(f, A)[0], without_nesting(A))
    expected = np.zeros((3, 4))
    expected[1, 1] = (without_nesting(A + 1e-5) - without_nesting(A - 1e-5)) / 2e-5
    np.testing.assert_allclose(grad(f)(A), expected, rtol=1e-8)
    np.testing.assert_allclose(jvp(f, (A,), (np.ones((3, 4)),))[1], expected.sum(), rtol=1e-8)


def test_views_through_second_derivatives():
    def f(x):
        y = np.sin(x)
        flat = y.T.reshape(-1, order="F")
        flat[::2] *= y[0, 1]
        y[:, 1:].T[0] = flat[3] * x[0, :3]
        return np.sum(y**3)

    dx = RNG.standard_normal((3, 4))
    h = 1e-4
    difference = (grad(f)(A + h * dx) - grad(f)(A - h * dx)) / (2 * h)
    forward_over_reverse = jvp(grad(f), (A,), (dx,))[1]
    reverse_over_reverse = grad(lambda x: np.sum(grad(f)(x) * dx))(A)
    reverse_over_forward = grad(lambda x: jvp(f, (x,), (dx,))[1])(A)
    for found in (forward_over_reverse, reverse_over_reverse, reverse_over_forward):
        np.testing.assert_allclose(found, difference, rtol=1e-5, atol=1e-6)


def test_a_view_that_is_used_too_late_says_so():
    leaked = []

    def f(x):
        y = x * 1
        leaked.append(y[1:])
        y[1] = 3.0
        return np.sum(y)

    grad(f)(V)
    with pytest.raises(LeakedTracerError):
        leaked[0] * 2


def test_a_snapshot_stays_what_it_is():
    def f(x):
        y = x * 1
        views = [y, y[1:]]
        kept = [frozen(v) for v in views]
        y[...] = 2 * x
        kept[1][0] = 7 * x[0]
        return [y, *views, *kept]

    y, pull = vjp(f, V)
    for u, v in zip(y, [2 * V, 2 * V, 2 * V[1:], V, np.r_[7 * V[0], V[2:]]], strict=True):
        np.testing.assert_array_equal(u, v)
    np.testing.assert_allclose(pull([np.zeros(4), np.zeros(4), np.ones(3), np.ones(4), np.ones(3)])[0], [8, 3, 4, 4])
    assert frozen(V) is V


def test_the_array_within_a_tracer_is_handed_out_read_only():
    def f(x):
        inside = x._value
        for y in (inside, inside[1:]):
            shown = released(y, ([x],))
            np.testing.assert_array_equal(shown, y)
            assert np.shares_memory(shown, inside)
            with pytest.raises(ValueError, match="read-only"):
                shown[0] = 1.0
        for y in (inside * 2, inside > 0, inside[0]):
            assert released(y, (x,)) is y
        return np.sum(x)

    grad(f)(V)
    assert V.flags.writeable


@pytest.mark.parametrize(
    "operation",
    [
        np.sin,
        np.tanh,
        np.negative,
        np.sum,
        np.mean,
        lambda v: v * 2.0,
        lambda v: 2.0 / v,
        lambda v: v * v,
        lambda v: v @ v,
    ],
)
@pytest.mark.parametrize("inner", ["grad", "jvp"])
@pytest.mark.parametrize("outer", ["grad", "jvp", "variable"])
def test_a_view_of_an_array_that_an_inner_differentiation_has_assigned_to(operation, inner, outer):
    """It is a view of what the inner one records from then on, also for the operation that is the first to notice."""

    def slope(h, t):
        return grad(h)(t) if inner == "grad" else jvp(h, (t,), (1.0,))[1]

    def by_view(x):
        part = (x + 0.0)[:2]

        def h(t):
            part[0] = t * t
            return np.sum(operation(part))

        return slope(h, x[2])

    def without(x):
        return slope(lambda t: np.sum(operation(np.stack([t * t, x[1]]))), x[2])

    x = np.array([0.5, 2.0, 0.7])
    if outer == "grad":
        np.testing.assert_allclose(grad(by_view)(x), grad(without)(x), rtol=1e-12)
    elif outer == "jvp":
        np.testing.assert_allclose(jvp(by_view, (x,), (x,))[1], jvp(without, (x,), (x,))[1], rtol=1e-12)
    else:
        y = variable(x)
        np.testing.assert_allclose(gradients(by_view(y), y), gradients(without(y), y), rtol=1e-12)
