"""What random programs have shown to be wrong, each as a class: a test that failed before it was mended."""

from __future__ import annotations

import copy
import operator
import pickle
import warnings

import numpy as np
import pytest
import scipy.integrate
import scipy.interpolate
import scipy.linalg
import scipy.ndimage
import scipy.optimize
import scipy.signal
import scipy.sparse
import scipy.sparse.linalg
import scipy.spatial
import scipy.stats
from multipledispatch import MDNotImplementedError
from scipy import special

from rulescore import InplaceableThunk, MissingDerivativeError, NoTangent, NotImplementedTangent, Thunk, frule, rrule
from rulescore.ad import (
    NoRuleError,
    TracerConversionError,
    backward,
    checkpoint,
    grad,
    hessian,
    jacfwd,
    jacrev,
    jvp,
    linearize,
    primitive,
    variable,
    vjp,
)
from rulescore.testing import check_derivative
from testutils import jvp_fd

X = np.array([1.0, -2.0, 3.0])

# ---------------------------------------------------------------- constants of small types

TABLES = [np.uint8([200, 10, 30]), np.int8([100, -100, 3]), np.array([True, False, True]), [True, False, True]]


@pytest.mark.parametrize("table", TABLES, ids=["uint8", "int8", "bool", "a list of bool"])
@pytest.mark.parametrize(
    "f",
    [lambda t, c: np.interp(t, [0.0, 1.0, 2.0], c), lambda t, c: np.polyval(np.asarray(c), t)],
    ids=["interp", "polyval"],
)
def test_tables_of_small_numbers(f, table):
    numbers = np.asarray(table, float)
    assert grad(f)(0.5, table) == pytest.approx(grad(f)(0.5, numbers), rel=1e-14)
    assert jvp(lambda t: f(t, table), (0.5,), (1.0,))[1] == pytest.approx(grad(f)(0.5, numbers), rel=1e-14)


def test_the_slope_of_a_table_of_bytes():
    assert grad(lambda t: np.interp(t, [0.0, 1.0, 2.0], np.uint8([200, 10, 30])))(0.5) == -190.0


@pytest.mark.parametrize("f", [special.huber, special.jv, special.stdtr, special.owens_t, special.xlogy, np.arctan2])
@pytest.mark.parametrize("constant", [np.uint8(200), np.int8(100), np.True_, True, np.float32(3), np.float16(3)])
def test_parameters_of_small_types(f, constant):
    swapped = f is np.arctan2
    as_number = float(constant)

    def called(t, c):
        return f(t, c) if swapped else f(c, t)

    expected = grad(lambda t: called(t, as_number))(0.5)
    assert grad(lambda t: called(t, constant))(0.5) == pytest.approx(expected, rel=1e-12, abs=1e-300)
    assert jvp(lambda t: called(t, constant), (0.5,), (1.0,))[1] == pytest.approx(expected, rel=1e-12, abs=1e-300)


@pytest.mark.parametrize("f", [scipy.integrate.simpson, scipy.integrate.trapezoid])
def test_places_in_bytes(f):
    integral = primitive(f)
    places = np.array([0, 100, 200])
    found = grad(lambda y: integral(y, x=places.astype(np.uint8)))(X)
    np.testing.assert_allclose(found, grad(lambda y: integral(y, x=places.astype(float)))(X), rtol=1e-14)


@pytest.mark.parametrize("constant", [np.float32(3), np.float16(3), np.uint8(3), np.full(3, 3, np.float32)])
def test_forward_mode_keeps_the_digits_of_the_variable(constant):
    found = jvp(lambda x: x / constant, (X,), (np.ones(3),))[1]
    np.testing.assert_array_equal(found, np.ones(3) / 3.0)


def test_what_is_put_into_whole_numbers_stays_one():
    def f(x):
        return np.insert(np.array([0, 1, 2]), 1, x) * x

    assert vjp(f, 1.5)[0].tolist() == f(1.5).tolist()


# ---------------------------------------------------------------- memory


@pytest.mark.parametrize("make", [np.copy, np.asfortranarray, lambda x: np.repeat(x, 2, 0)[::-2]])
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_a_sorted_array_lies_in_memory_as_numpys(make, axis):
    def f(x):
        y = np.sort(x, axis=axis)
        z = y.reshape(-1)
        z *= 2
        return np.sum(y * np.arange(12.0).reshape(3, 4))

    x = make(np.random.default_rng(0).standard_normal((3, 4)))
    assert vjp(f, x)[0] == f(x)
    check_derivative(f, x, vjp=lambda ybar, x: ybar * grad(f)(x))


def test_an_array_of_a_list_lies_in_rows():
    def f(x):
        y = np.array([x], like=x)[0]
        y.reshape(-1)[:1] = 7.0
        return y

    x = np.asfortranarray(np.arange(6.0).reshape(2, 3))
    np.testing.assert_array_equal(vjp(f, x)[0], f(x))


def test_what_trim_zeros_leaves_is_a_view_of_the_same_place():
    def f(x):
        y = x.copy()
        z = np.trim_zeros(y)
        z[:] = 0
        z += 3 * x[1]
        return np.sum(y**2)

    x = np.array([0.0, 1.0, 2.0, 0.0])
    assert vjp(f, x)[0] == f(x) == 18.0
    np.testing.assert_allclose(grad(f)(x), [0, 36, 0, 0])
    assert jvp(f, (x,), (np.ones(4),))[1] == 36.0


def test_what_real_if_close_leaves_is_a_view_of_the_real_parts():
    def written_to(x, tol):
        y = np.real_if_close(x.copy(), tol)
        z = y.reshape(-1)
        z *= 2.0
        return y * 1.0

    x, tol = np.array([1.0 + 0.3j, 2.0 - 0.4j]), np.float64(1e17)
    for y in (jvp(written_to, (x, tol), (np.ones_like(x), 1.0)), vjp(written_to, x, tol)):
        assert y[0].dtype == float
        np.testing.assert_array_equal(y[0], [2.0, 4.0])

    def changed_beneath(x):
        y = x.copy()
        z = np.real_if_close(y)
        y[0] = y[1] * (1 + 2j)
        return np.sum(z**2)

    x = np.array([1.0 + 0j, 3.0 + 0j])
    assert vjp(changed_beneath, x)[0] == changed_beneath(x) == 18.0
    np.testing.assert_allclose(vjp(changed_beneath, x)[1](1.0)[0], [0, 12 - 12j])
    assert jvp(changed_beneath, (x,), (1j * np.ones(2),))[1] == -12.0


def test_views_of_what_a_function_leaves_of_an_array_without_axes_are_written_to():
    def f(x):
        y = np.apply_along_axis(np.sum, 0, x)
        w = y.reshape(-1)
        w *= 2.0
        return y * x[0]

    x = np.array([3.0, 4.0])
    assert vjp(f, x)[0] == f(x) == 42.0
    np.testing.assert_allclose(grad(f)(x), [20.0, 6.0])
    assert jvp(f, (x,), (np.ones(2),))[1] == 26.0


def test_views_of_an_array_without_axes_are_written_to():
    def f(x):
        y = np.copy(x)
        w = y.reshape(-1)
        w *= 2.0
        return y * x

    x = np.array(3.0)
    assert vjp(f, x)[0] == 18.0
    assert vjp(f, x)[1](1.0)[0] == pytest.approx(12.0)


# ---------------------------------------------------------------- ties


@pytest.mark.parametrize(
    "f",
    [
        lambda x, w: np.sum(np.sort(x) ** 2 * w),
        lambda x, w: np.sum(np.sort(x[:, None], axis=0)[:, 0] ** 2 * w),
        lambda x, w: np.sum(np.sort_complex(x).real ** 2 * w),
        lambda x, w: np.sum(np.partition(x, 2) ** 2 * w),
    ],
    ids=["sort", "along the first axis", "sort_complex", "partition"],
)
def test_the_hessian_at_ties_is_symmetric(f):
    found = hessian(lambda x: f(x, np.arange(1.0, 6.0)))(np.array([1.0, 1, 0, 2, 2]))
    np.testing.assert_array_equal(found, found.T)
    assert np.any(found)


# ---------------------------------------------------------------- the pullback's first item


def scaled(x, a):
    return a * x


MESSAGE = "the first one is that of the function itself"


@pytest.fixture
def forgetful():
    def rule(x, a):
        return a * x, lambda ybar: (a * ybar, np.sum(x * ybar))

    with rrule.override(scaled, rule):
        yield primitive(scaled)


@pytest.mark.parametrize(
    "differentiate",
    [
        lambda f: grad(lambda x: np.sum(f(x, 2.0)))(X),
        lambda f: grad(lambda a: np.sum(f(X, a)))(2.0),
        lambda f: grad(lambda x, a: np.sum(f(x, a)), (0, 1))(X, 2.0),
        lambda f: jacrev(lambda x: f(x, 2.0))(X),
        lambda f: backward(np.sum(f(variable(X), 2.0))),
        lambda f: grad(checkpoint(lambda x: np.sum(f(x, 2.0))))(X),
    ],
    ids=["one argument", "the other", "both", "jacrev", "variables", "checkpoint"],
)
def test_a_pullback_that_forgets_the_function_is_told(forgetful, differentiate):
    with pytest.raises(TypeError, match=MESSAGE):
        differentiate(forgetful)


def test_adapters_tell_it_too(forgetful):
    torch = pytest.importorskip("torch")
    from rulescore.backends.torch import to_torch

    with pytest.raises(TypeError, match=MESSAGE):
        to_torch(scaled)(torch.ones(3, dtype=torch.float64, requires_grad=True), 2.0).sum().backward()


def test_jax_tells_it_too(forgetful):
    jax = pytest.importorskip("jax")
    from rulescore.backends.jax import to_jax

    with pytest.raises(Exception, match=MESSAGE):
        jax.block_until_ready(jax.grad(lambda x: to_jax(scaled)(x, 2.0).sum())(jax.numpy.ones(3)))


def test_hips_autograd_tells_it_too(forgetful):
    autograd = pytest.importorskip("autograd")
    from rulescore.backends.autograd import to_autograd

    with pytest.raises(TypeError, match=MESSAGE):
        autograd.grad(lambda x: autograd.numpy.sum(to_autograd(scaled)(x, 2.0)))(X)


# ---------------------------------------------------------------- thunks


@pytest.mark.parametrize("make", [Thunk, lambda value: InplaceableThunk(lambda total: total, value)])
def test_thunks_are_copied_and_pickled(make):
    pending = make(lambda: np.arange(3.0))
    copied, pickled = copy.deepcopy(pending), pickle.loads(pickle.dumps(pending))
    assert pickled.force().tolist() == copied.force().tolist() == [0.0, 1.0, 2.0]
    assert copied.force() is not pending.force()


# ---------------------------------------------------------------- crashes


def test_lists_without_items_are_joined():
    for join in (np.concatenate, np.hstack):
        np.testing.assert_array_equal(jvp(lambda x, join=join: join([[], x]), (X,), (2 * X,))[1], 2 * X)
    inner = jvp(lambda x: jvp(lambda u: np.ediff1d(u**2), (x,), (X,))[1], (X,), (X,))[1]
    np.testing.assert_array_equal(inner, 2 * np.diff(X * X))


def test_constants_of_variables_have_shapes_of_their_own():
    x = variable(np.ones((2, 3)))
    y = np.zeros_like(x, shape=(3, 2))
    y[:, 0] = x[0]
    backward(np.sum(np.where(x > 0, x, np.zeros_like(x))) + np.sum(np.where(y > 0, y, np.zeros_like(y))))
    np.testing.assert_array_equal(x.grad, [[2.0] * 3, [1.0] * 3])


def test_missing_derivatives_are_named_by_what_computes_with_them():
    with pytest.raises(MissingDerivativeError, match="singular vectors"):
        jvp(lambda a: np.abs(np.linalg.svd(a)[0]), (np.eye(3),), (np.ones((3, 3)),))


def test_arguments_without_elements_are_traced():
    by_t, by_a = jacfwd(lambda t, a: np.array([t, t], like=a), (0, 1))(1.0, np.zeros(0))
    np.testing.assert_array_equal(by_t, np.ones(2))
    assert by_a.shape == (2, 0)


@pytest.mark.parametrize(
    "product", [lambda x, out: np.vecdot(x, x, out=out), lambda x, out: np.add(x[:, 0], x[:, 1], out)]
)
def test_results_are_repeated_in_a_larger_output(product):
    x = np.arange(6.0).reshape(3, 2)

    def f(x):
        return np.sum(product(x, np.zeros((2, 3), like=x)))

    assert vjp(f, x)[0] == f(x)
    assert jvp(f, (x,), (x,))[1] == pytest.approx(np.sum(grad(f)(x) * x))


def test_a_product_is_not_repeated_along_its_own_axes():
    with pytest.raises(ValueError, match="non-broadcastable"):
        grad(lambda x: np.sum(np.matmul(x[:, :1], x[:1], out=np.zeros((3, 4), like=x))[0]))(np.ones((3, 2)))


def test_an_array_without_axes_becomes_a_number_where_numpy_makes_one():
    kinds = []

    def f(x):
        y = np.sin(x)
        kinds.append(isinstance(y, np.float64))
        return y

    x = np.array(0.5)
    f(x), vjp(f, x), linearize(f, x), jvp(f, (x,), (x,)), grad(f)(x)
    assert all(kinds)


def test_a_tangent_of_nothing_is_none():
    assert isinstance(rrule(np.concatenate, ([], X))[1](X)[0], NoTangent)


def test_code_in_c_that_wants_an_array_is_told_apart():
    lu = scipy.sparse.linalg.splu(scipy.sparse.csc_array(2 * np.eye(3)))
    for mode in (grad, lambda f: lambda x: jvp(f, (x,), (x,))):
        with pytest.raises(TracerConversionError, match="code in C, called in") as caught:
            mode(lambda x: np.sum(lu.solve(x)))(X)
        assert isinstance(caught.value.__cause__, TypeError)
        with pytest.raises(TypeError, match="unsupported operand"):
            mode(lambda x: x + "1")(X)
    np.testing.assert_array_equal(grad(lambda x: np.sum(primitive(type(lu).solve)(lu, x)))(X), [0.5, 0.5, 0.5])


def test_scaled_airy_functions_left_of_zero():
    x = np.array([-0.4, -2.0, 0.7])

    def f(x):
        return np.sum(primitive(special.airye)(x)[3] ** 2)

    h = 1e-5
    wanted = (grad(f)(x + h) - grad(f)(x - h)) / (2 * h)
    np.testing.assert_allclose(np.diag(jacfwd(grad(f))(x)), wanted, rtol=1e-7)
    np.testing.assert_allclose(np.diag(jacrev(grad(f))(x)), wanted, rtol=1e-7)


def test_truth_values_in_the_place_of_whole_and_other_numbers():
    np.testing.assert_array_equal(grad(lambda x: np.sum(np.diagflat(x, np.bool_(True)) ** 2))(X), 2 * X)
    x = np.random.default_rng(0).normal(size=(5, 6))
    for f in (scipy.ndimage.morphological_laplace, scipy.ndimage.grey_erosion, scipy.ndimage.grey_dilation):
        g = primitive(f)
        by_numbers = grad(lambda x, g=g: np.sum(g(x, structure=np.ones((2, 3))) ** 2))(x)
        by_truth = grad(lambda x, g=g: np.sum(g(x, structure=np.ones((2, 3), bool)) ** 2))(x)
        np.testing.assert_array_equal(by_truth, by_numbers)


def test_a_solver_that_finds_no_derivative_says_so():
    solve, t = primitive(scipy.integrate.odeint), np.array([0.0, 0.1, 0.2])

    def f(a):
        return np.sum(solve(lambda y, t, a: -a * y, [1.0], t, (a,), rtol=1e-11, atol=0))

    # The derivative by a begins at 0, of which a relative tolerance asks for everything.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # SciPy's, that it has failed
        with pytest.raises(MissingDerivativeError, match="was not found"):
            grad(f)(0.3)


A = np.diag(np.arange(1.0, 9)) + 0.1 * np.cos(np.arange(64.0)).reshape(8, 8)


@pytest.mark.parametrize(
    "f",
    [
        lambda a: np.real(primitive(scipy.sparse.linalg.eigs)(a, 3, v0=np.ones(8))[1]),
        lambda a: primitive(scipy.sparse.linalg.eigsh)(a + a.T, 3, v0=np.ones(8))[1],
        lambda a: primitive(scipy.sparse.linalg.svds)(a, 2, v0=np.ones(8)),
    ],
    ids=["eigs", "eigsh", "svds"],
)
def test_a_pullback_does_not_leave_out_zeros_that_are_differentiated_themselves(f):
    direction = np.sin(np.arange(64.0)).reshape(8, 8)
    found, wanted = linearize(f, A)[1](direction), jvp(f, (A,), (direction,))[1]
    for one, other in zip(*(x if isinstance(x, tuple) else (x,) for x in (found, wanted)), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-11)


def test_a_cross_spectrum_of_an_array_with_itself_is_real():
    csd, x = primitive(scipy.signal.csd), np.cos(np.arange(20.0) ** 2)

    def power(x):
        return csd(x, x, nperseg=8)[1]

    plain, (y, dy) = power(x), jvp(power, (x,), (X.sum() * x,))
    assert plain.dtype == y.dtype == dy.dtype == vjp(power, x)[0].dtype == float
    np.testing.assert_allclose(dy, 2 * X.sum() * plain)
    y, both = jvp(lambda x, y: csd(x, y, nperseg=8)[1], (x, x), (x, 0 * x))  # two variables that are one array
    np.testing.assert_allclose(both, plain)


@pytest.mark.parametrize("window", ["gaussian", "exponential", "chebwin", "taylor", "kaiser_bessel_derived", "dpss"])
@pytest.mark.parametrize("number", [np.float16, np.uint8, float])
def test_lengths_of_windows_are_whole_numbers_of_any_type(window, number):
    windows = {"exponential": lambda m, x: f(m, None, x), "taylor": lambda m, x: f(m, 4, x)}
    f = primitive(getattr(scipy.signal.windows, window))
    g = windows.get(window, f)
    np.testing.assert_allclose(jacfwd(lambda x: g(number(8), x))(2.5), jacfwd(lambda x: g(8, x))(2.5))
    with pytest.raises(ValueError, match="non-negative integer"):
        jacfwd(lambda x: g(7.5, x))(2.5)


def test_constants_of_small_types_where_a_definition_computes_with_them():
    chirp, t = primitive(scipy.signal.chirp), np.array([0.7, 0.1])
    slopes = [jacfwd(lambda f, k=k: chirp(t, 2.0, f, k))(1.5) for k in (1, 1.0, np.bool_(True), np.uint8(1))]
    for slope in slopes[1:]:
        np.testing.assert_allclose(slope, slopes[0])
    gain, a = (lambda b, a: primitive(scipy.signal.tf2zpk)(b, a)[2]), np.array([2.0, 0.5, 0.125])
    np.testing.assert_allclose(grad(gain)(X, a.astype(np.float16)), grad(gain)(X, a))


def test_a_definition_that_declines_a_call_is_no_rule():
    @primitive
    def declining(x):
        raise MDNotImplementedError

    with pytest.raises(NoRuleError, match="cannot be differentiated"):
        grad(declining)(1.0)


def test_sparse_arrays_that_are_differentiated_have_the_methods_that_have_rules():
    s = scipy.sparse.csr_array(np.diag(X))

    def f(x):
        product = s * x
        assert product.format == (s * X).format
        return np.sum(product.toarray() ** 2)

    x = np.outer(X, X) + 1
    np.testing.assert_allclose(grad(f)(x), 2 * np.diag(X) ** 2 * x)
    with pytest.raises(AttributeError, match="nothing says how to differentiate it") as raised:
        grad(lambda x: np.sum((s * x).data))(x)
    assert isinstance(raised.value, NoRuleError)
    with pytest.raises(AttributeError, match="no attribute 'something'"):
        grad(lambda x: (s * x).something)(x)


def test_what_a_rule_declines_and_code_of_scipys_cannot_do_is_refused():
    # Where the code stops, and at what, SciPy 1.18 has changed.
    with pytest.raises(NoRuleError, match=r"stopped at|cannot be differentiated: .*iterative\.py"):
        grad(lambda r: np.sum(primitive(scipy.sparse.linalg.gcrotmk)(r * A, np.ones(8), rtol=r)[0]))(1e-12)


def test_a_mask_ends_where_an_array_is_sparse():
    s = scipy.sparse.csr_array(np.diag(X))
    divided = primitive(scipy.sparse.csr_array.__truediv__)

    def f(x):
        y = divided(s, x).toarray()
        return np.sum(np.where(y > 0, y, 0.0))

    np.testing.assert_allclose(grad(f)(2.5), -np.sum(X[X > 0]) / 2.5**2)


def test_second_derivatives_at_the_middle_of_what_is_odd():
    f = primitive(special.stdtr)
    wanted = (grad(lambda t: f(3.0 + 1e-6, t))(0.0) - grad(lambda t: f(3.0 - 1e-6, t))(0.0)) / 2e-6
    for found in (
        jacfwd(jacrev(lambda v: f(v[0], v[1]))),
        jacrev(jacfwd(lambda v: f(v[0], v[1]))),
        jacrev(jacrev(lambda v: f(v[0], v[1]))),
    ):
        np.testing.assert_allclose(found(np.array([3.0, 0.0])), [[0, wanted], [wanted, 0]], rtol=1e-6, atol=1e-12)
    g = primitive(scipy.stats.genpareto.logpdf)
    x = np.array([0.13, 0.47, 1.1, 3.2])
    # log f = -(1 + 1/c) log(1 + cx) = -x + c (x²/2 - x) + c² (x²/2 - x³/3) + ...
    np.testing.assert_allclose(jacfwd(jacfwd(lambda c: g(x, c)))(0.0), x**2 - 2 / 3 * x**3, rtol=1e-12)


def test_whole_numbers_of_any_type_where_functions_take_them():
    x = np.cos(np.arange(6.0))
    upfirdn, quad = primitive(scipy.signal.upfirdn), primitive(scipy.integrate.fixed_quad)
    h = np.array([1.0, -2.0, 0.5])
    filtered = [grad(lambda x, k=k: np.sum(upfirdn(h, x, 2, k) ** 2))(x) for k in (1, np.float16(1), np.uint8(1))]
    integrated = [grad(lambda b, n=n: quad(np.sin, 0.0, b, n=n)[0])(0.5) for n in (1, np.bool_(True), np.uint8(1))]
    weights = np.arange(6.0).reshape(3, 2)
    rolled = [
        grad(lambda x, k=k: np.sum(np.rollaxis(x.reshape(2, 3), 1, k) * weights))(x)
        for k in (0, np.uint8(0), np.int8(0))
    ]
    counted = [
        grad(lambda x, b=b: np.sum(np.bincount(b, x) ** 2))(x)
        for b in (np.array([0, 1, 1, 0, 1, 0]), np.array([False, True, True, False, True, False]))
    ]
    for found in (filtered, integrated, rolled, counted):
        for other in found[1:]:
            np.testing.assert_allclose(other, found[0])


def test_an_assignment_by_flat_says_what_to_write():
    def f(x):
        y = np.zeros(3)
        y.flat[0] = np.max(x)
        return np.sum(y)

    with pytest.raises(TracerConversionError, match=r"np\.zeros\(n, like=x\)"):
        grad(f)(X)


def test_images_of_whole_numbers_give_whole_numbers_however_deep_they_are_differentiated():
    image, weights = np.arange(6), np.arange(6.0)
    smooth = primitive(scipy.ndimage.gaussian_filter)

    def f(sigma):
        return np.sum(smooth(image, sigma) * sigma * weights)

    slope = np.sum(scipy.ndimage.gaussian_filter(image, 1.5) * weights)
    assert grad(f)(1.5) == slope
    assert jvp(grad(f), (1.5,), (1.0,)) == (slope, 0.0)
    assert grad(grad(lambda s: f(s) * s))(1.5) == 2 * slope
    convolve, w = primitive(scipy.ndimage.convolve1d), np.array([1.2, 0.3, 0.4])
    np.testing.assert_array_equal(hessian(lambda w: np.sum(convolve(image, w) * np.mean(w)))(w), np.zeros((3, 3)))


def test_filters_of_what_was_broadcast():
    correlate, w = primitive(scipy.ndimage.correlate), np.cos(np.arange(6.0)).reshape(2, 3)

    def f(t, w):
        return correlate(np.broadcast_to(t, (4, 5)), w)

    y, dy = jvp(f, (2.0, w), (3.0, np.sin(w)))
    full = scipy.ndimage.correlate(np.full((4, 5), 2.0), w)
    np.testing.assert_allclose(y, full)
    np.testing.assert_allclose(dy, 1.5 * full + scipy.ndimage.correlate(np.full((4, 5), 2.0), np.sin(w)))


def test_parameters_of_small_types_of_densities_of_several_variables():
    logpdf, x, shape = primitive(scipy.stats.multivariate_t.logpdf), np.array([0.3, -1.0]), np.eye(2) + 0.3
    by_number = grad(lambda s: logpdf(x, None, s, 4))(shape)
    for df in (np.uint8(4), np.int8(4), np.float16(4)):
        np.testing.assert_allclose(grad(lambda s, df=df: logpdf(x, None, s, df))(shape), by_number)
    with pytest.raises(MissingDerivativeError, match="singular"):
        grad(lambda x: np.sum(logpdf(x, None, np.ones((2, 2), bool), 4)))(x)


def test_pieces_of_r_that_are_lists_of_what_is_differentiated():
    r = primitive(operator.getitem)

    def f(x):
        return np.sum(r(np.r_, (slice(0, 1, 5j), [x[0], x[1]], x)) ** 3)

    np.testing.assert_allclose(hessian(f)(X), np.diag([12.0, 12.0, 6.0] * X))
    np.testing.assert_allclose(jacrev(jacrev(f))(X), np.diag([12.0, 12.0, 6.0] * X))


def test_a_linear_program_without_a_solution_has_no_derivative():
    solve = primitive(scipy.optimize.linprog)
    with pytest.raises(MissingDerivativeError, match="status"):
        jvp(lambda b: solve([1.0], A_ub=[[1.0], [-1.0]], b_ub=b)["status"] * b[0], (-np.ones(2),), (np.ones(2),))


@pytest.mark.parametrize(
    "of_both",
    [
        lambda known, missing: primitive(scipy.linalg.solve_toeplitz)((known, missing), known),
        lambda known, missing: primitive(scipy.linalg.matmul_toeplitz)((known, missing), known),
        lambda known, missing: np.diag([known[0], missing[0]]),
        lambda known, missing: np.fft.rfft([known[0], missing[0], known[1]]),
        lambda known, missing: primitive(scipy.sparse.block_diag)([known[None], missing[None]]).toarray(),
    ],
)
def test_a_missing_derivative_within_a_container_is_said_to_be_missing(of_both):
    def both(x):
        return 2 * x, np.sin(x)

    def both_frule(tangents, x):
        return both(x), (2 * tangents[1], NotImplementedTangent("of the second"))

    with (
        frule.override(both, both_frule),
        pytest.raises(MissingDerivativeError, match="of the second"),
    ):
        jvp(lambda x: of_both(*primitive(both)(x)), (X,), (np.ones(X.shape),))


def test_struves_functions_of_order_0_at_0():
    for f in (special.struve, special.modstruve):
        g = primitive(f)
        h = 1e-3
        for degree, wanted in ((1, (f(0, h) - f(0, -h)) / (2 * h)), (2, 0.0)):
            of = grad(lambda x, g=g: g(0, x)) if degree == 1 else grad(grad(lambda x, g=g: g(0, x)))
            np.testing.assert_allclose(of(0.0), wanted, atol=1e-6)


@pytest.mark.parametrize("dtype", [np.float32, np.complex64, np.float64])
def test_marks_of_masks_have_the_type_of_what_they_mark(dtype):
    seen = []

    def doubled(x):
        return 2 * x

    @rrule.register(doubled)
    def doubled_rrule(x):
        def doubled_pullback(ybar):
            seen.append(ybar.dtype)
            return NoTangent(), 2 * ybar

        return 2 * x, doubled_pullback

    x = np.ones(3, dtype)
    f = primitive(doubled)
    vjp(lambda x: np.where(np.arange(3) > 0, f(x), 0), x)[1](x)
    assert len(seen) == 2  # the cotangent, and its marks
    assert set(seen) == {np.dtype(dtype)}


@pytest.mark.parametrize("dx", [np.bool_(True), np.uint8(1), np.float16(1)])
def test_spacings_of_small_types(dx):
    simpson, y = primitive(scipy.integrate.simpson), np.array([0.3, -1.0, 2.0, 0.5])
    weights = scipy.integrate.simpson(np.eye(4), axis=0)
    np.testing.assert_allclose(grad(lambda y: simpson(y, dx=dx))(y), weights, rtol=1e-14)


@pytest.mark.parametrize(
    "f",
    [
        scipy.spatial.minkowski_distance_p,
        scipy.spatial.minkowski_distance,
        scipy.spatial.distance.minkowski,
        lambda u, v, p: primitive(scipy.spatial.distance.cdist)(u[None], v[None], "minkowski", p=p)[0, 0],
    ],
)
def test_second_derivatives_of_squares_where_coordinates_are_the_same(f):
    u, v = np.array([0.5, -1.0, 0.3]), np.array([1.0, 0.7, 0.3])
    distance = primitive(f) if hasattr(f, "__qualname__") and f.__name__ != "<lambda>" else f
    for p in (2, 2.0):
        gradient = grad(lambda u, p=p: distance(u, v, p))
        wanted = [jvp_fd(gradient, (u,), (e,)).value for e in np.eye(3)]
        np.testing.assert_allclose(hessian(lambda u, p=p: distance(u, v, p))(u), wanted, atol=1e-9)


@pytest.mark.parametrize("axis", [np.float16(0), 1.0])
def test_axes_that_are_floats_where_scipy_takes_them(axis):
    x = np.cos(np.arange(32.0)).reshape(2, 16)
    for f in (scipy.signal.welch, scipy.signal.stft, scipy.signal.periodogram):
        options = {} if f is scipy.signal.periodogram else {"nperseg": 2}
        try:
            f(x, axis=axis, **options)
        except TypeError:
            continue
        given, whole = (
            grad(lambda x, f=f, a=a, o=options: np.sum(np.abs(primitive(f)(x, axis=a, **o)[-1]) ** 2))(x)
            for a in (axis, int(axis))
        )
        np.testing.assert_array_equal(given, whole)


def test_elements_that_are_said_to_be_unique_and_are_not():
    a, b = np.array([2.0, 1.2, 3.0]), np.array([1.5, 1.5, 4.0])
    y, pullback = vjp(lambda a, b: np.intersect1d(a, b, assume_unique=True), a, b)
    np.testing.assert_array_equal(y, np.intersect1d(a, b, assume_unique=True))
    np.testing.assert_array_equal(np.array(pullback(np.ones(1))), [np.zeros(3), [1.0, 0.0, 0.0]])
    assert jvp(lambda a, b: np.intersect1d(a, b, assume_unique=True), (a, b), (a, b))[1] == 1.5


def test_writing_to_knots_that_a_function_hands_through():
    t, c = np.linspace(0.0, 5.0, 9) + 0.1, np.cos(np.arange(9.0))
    splder = primitive(scipy.interpolate.splder)

    def f(t):
        inner = splder((t * 1.0, c, 3))[0]
        w = inner.reshape(-1)
        w *= 2.0
        return inner * 1.0

    wanted = 2.0 * np.eye(9)[1:-1]
    np.testing.assert_array_equal(jacfwd(f)(t), wanted)
    np.testing.assert_array_equal(jacrev(f)(t), wanted)


@pytest.mark.parametrize(
    "edges",
    [
        lambda x, bins: np.histogram(x, bins)[1],
        lambda x, bins: np.histogram(x, bins=bins, weights=x, density=True)[1],
        lambda x, bins: np.histogram2d(x, x, bins, weights=x, density=True)[2],
        lambda x, bins: np.histogramdd(np.stack([x, x], 1), [bins, 3], weights=x)[1][0],
        lambda x, bins: np.histogram_bin_edges(x, bins),
    ],
    ids=["histogram", "of densities", "histogram2d", "histogramdd", "histogram_bin_edges"],
)
@pytest.mark.parametrize("by_rows", [True, False])
def test_writing_to_edges_that_a_histogram_hands_through(edges, by_rows):
    x, bins = np.array([0.7, -1.2, 0.3]), np.array([-2.0, -0.5, 0.75, 2.0])
    weights = np.array([0.5, -1.0, 2.0, -0.25])

    def f(bins):
        own = bins * 1.0
        inner = edges(x, own)
        w = inner.reshape(-1)
        w *= bins
        return np.sum(inner * weights)

    plain = [(f(bins + e) - f(bins - e)) / 2e-4 for e in 1e-4 * np.eye(4)]
    np.testing.assert_allclose(grad(f)(bins), plain, rtol=1e-9)
    wanted = np.stack([(grad(f)(bins + e) - grad(f)(bins - e)) / 2e-4 for e in 1e-4 * np.eye(4)])
    np.testing.assert_allclose((jacrev if by_rows else jacfwd)(grad(f))(bins), wanted, atol=1e-9)


def test_writing_to_what_scipy_hands_through():
    z, p, w = np.array([0.2]), np.array([-0.3]), np.array([0.3, 0.8, 2.0])

    def f(w):
        frequencies = primitive(scipy.signal.freqs_zpk)(z, p, 1.5, w * 1.0)[0]
        frequencies *= 2.0
        return frequencies + 1.0

    np.testing.assert_array_equal(jacrev(f)(w), 2.0 * np.eye(3))


def test_lists_of_numbers_beside_sparse_matrices():
    a = scipy.sparse.csr_array([[1.0, 2.0], [0.0, 3.0]])
    product = primitive(scipy.sparse.csr_array.__matmul__)
    for mode in (jacfwd, jacrev):
        np.testing.assert_array_equal(mode(lambda x: product(a, [x, 1.0]))(0.5), [1.0, 0.0])


def test_the_residual_where_no_root_was_found_has_no_derivative():
    root = primitive(scipy.optimize.root)
    for found in ("x", "fun"):
        for mode in (jacrev, jacfwd):
            with pytest.raises(MissingDerivativeError, match="the derivative of a solution was asked for"):
                mode(lambda a, found=found: root(lambda x, a: x**2 + a, [1.0], args=(a,))[found][0])(1.0)
    np.testing.assert_array_equal(jacrev(lambda a: root(lambda x, a: x**3 - a, [1.0], args=(a,))["fun"])(8.0), [0.0])


def test_a_flag_may_be_a_number():
    comb = primitive(special.comb)
    assert grad(lambda n: comb(n, 2.0, repetition=np.float16(1)))(5.0) == pytest.approx(5.5)
