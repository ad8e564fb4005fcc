"""Functions without a rule: differentiated through NumPy's own code, or refused with the reason.

Each way through an implementation is compared with NumPy's value and with finite differences, in both modes and at
second order. Most of the functions have rules, of which nothing is known here (`without_rules`).
"""

import contextlib
import threading

import numpy as np
import pytest
from scipy.sparse import linalg as sparse_linalg

import rulescore.ad.programs.implementations as implementations
from rulescore import frule, rrule
from rulescore.ad import NoRuleError, TracerConversionError, grad, jvp, primitive, vjp
from rulescore.ad.in_place.tracer import call_and_settle
from rulescore.ad.tracing.tracers import Tracer

rng = np.random.default_rng(0)
# Numbers of both signs, all of them apart from each other.
X = (rng.permutation(12) + rng.uniform(-0.3, 0.3, 12)).reshape(3, 4) / 4 - 1.2
POSITIVE = rng.uniform(0.5, 1.5, (3, 4))
ROW, WEIGHTS, SCALAR = X[0], POSITIVE[0], POSITIVE[1, 1]
COMPLEX = X + 1j * POSITIVE
MATRIX = rng.standard_normal((3, 3))
HOLE = np.arange(12).reshape(3, 4) == 6


def with_nan(x):
    return np.where(HOLE, np.nan, x)


# By function: the calls, each with the arguments that are differentiated.
CALLS = {
    "pad": [
        (lambda a: np.pad(a, 1), X),
        (lambda a, c: np.pad(a, ((1, 2), (0, 1)), constant_values=c), X, SCALAR),
        (lambda a: np.pad(a, 2, mode="edge"), X),
        (lambda a: np.pad(a, 2, mode="linear_ramp", end_values=0.5), X),
        (lambda a: np.pad(a, 1, mode="maximum"), X),
        (lambda a: np.pad(a, 1, mode="minimum", stat_length=2), X),
        (lambda a: np.pad(a, 1, mode="mean"), COMPLEX),
        (lambda a: np.pad(a, 1, mode="median"), X),
        (lambda a: np.pad(a, 2, mode="reflect"), X),
        (lambda a: np.pad(a, 2, mode="reflect", reflect_type="odd"), X),
        (lambda a: np.pad(a, 5, mode="symmetric"), X),
        (lambda a: np.pad(a, 5, mode="wrap"), X),
    ],
    "average": [(lambda a: np.average(a, axis=0), X), (lambda a: np.average(a, axis=1, keepdims=True), COMPLEX)],
    "cov": [(np.cov, X), (np.cov, ROW, WEIGHTS), (lambda a: np.cov(a, fweights=[1, 2, 3, 1]), X), (np.cov, COMPLEX)],
    "corrcoef": [(np.corrcoef, X)],
    "nansum": [(lambda a: np.nansum(with_nan(a)), X), (lambda a: np.nansum(with_nan(a), 1, keepdims=True), COMPLEX)],
    "nanprod": [(lambda a: np.nanprod(with_nan(a), axis=1), X)],
    "nanmean": [(lambda a: np.nanmean(with_nan(a)), X), (lambda a: np.nanmean(with_nan(a), axis=0), X)],
    "nanvar": [
        (lambda a: np.nanvar(with_nan(a)), X),
        (lambda a: np.nanvar(with_nan(a), axis=1, ddof=1, keepdims=True), COMPLEX),
        (lambda a: np.nanvar(with_nan(a), where=X > -1), X),
    ],
    "nanstd": [(lambda a: np.nanstd(with_nan(a)), X), (lambda a: np.nanstd(with_nan(a), axis=0), X)],
    "nanmax": [(lambda a: np.nanmax(with_nan(a)), X), (lambda a: np.nanmax(with_nan(a), axis=1), X)],
    "nanmin": [(lambda a: np.nanmin(with_nan(a), axis=0, keepdims=True), X)],
    "nanmedian": [(lambda a: np.nanmedian(with_nan(a)), X), (lambda a: np.nanmedian(with_nan(a), axis=1), X)],
    "nanquantile": [(lambda a: np.nanquantile(with_nan(a), 0.35, axis=1), X)],
    "nanpercentile": [(lambda a: np.nanpercentile(with_nan(a), [35.0, 60]), X)],
    "nancumsum": [(lambda a: np.nancumsum(with_nan(a), axis=1), X)],
    "nancumprod": [(lambda a: np.nancumprod(with_nan(a)), X)],
    "median": [
        (np.median, X),
        (lambda a: np.median(a, axis=1, keepdims=True), X),
        (lambda a: np.median(a, axis=(0, 1), overwrite_input=True), X),
    ],
    "quantile": [
        *[(lambda a, method=method: np.quantile(a, 0.35, method=method), X) for method in ("linear", "midpoint")],
        *[(lambda a, method=method: np.quantile(a, 0.35, method=method), X) for method in ("lower", "inverted_cdf")],
        (lambda a: np.quantile(a, [0.2, 0.6], axis=0, method="hazen", keepdims=True), X),
        (lambda a, q: np.quantile(a, q, axis=1), X, np.array([0.35, 0.6])),
        (lambda a: np.quantile(a, 0.35, axis=1, weights=WEIGHTS, method="inverted_cdf"), X),
    ],
    "percentile": [(lambda a: np.percentile(a, 35, axis=(0, 1)), X)],
    "ptp": [(np.ptp, X), (lambda a: np.ptp(a, axis=1, keepdims=True), X)],
    "unwrap": [(lambda a: np.unwrap(6 * a), X), (lambda a: np.unwrap(6 * a, axis=0, period=4.0), X)],
    "select": [(lambda a, b: np.select([X > 0, X < -0.5], [a, b]), X, POSITIVE)],
    "piecewise": [
        (lambda a: np.piecewise(a, [X > 0, X < -0.5], [np.square, lambda t: 3 * t, 1.5]), X),
        (lambda a, c: np.piecewise(a, [X > 0], [lambda t, c: t * c, lambda t, c: c], c), X, SCALAR),
    ],
    "apply_along_axis": [
        (lambda a: np.apply_along_axis(lambda row: row**2 * row.sum(), 1, a), X),
        (lambda a: np.apply_along_axis(np.sum, 0, a * a), X),
        (lambda a: np.apply_along_axis(lambda row: np.apply_along_axis(np.cumprod, 0, row), 1, a), X),
    ],
    "apply_over_axes": [(lambda a: np.apply_over_axes(np.sum, a * a, (0, 1)), X)],
    "resize": [(lambda a: np.resize(a, (5, 3)), X), (lambda a: np.resize(a, (2, 3)), X)],
    "trim_zeros": [(lambda a: np.trim_zeros(np.concatenate([[0.0], a, [0.0]])), ROW)],
    "meshgrid": [
        (lambda a, b: tuple(np.meshgrid(a, b)), ROW, WEIGHTS[:2]),
        (lambda a, b: tuple(np.meshgrid(a, b, sparse=True, copy=False)), ROW, WEIGHTS[:2]),
        (lambda a, b, c: np.prod(np.stack(np.meshgrid(a, b, c, indexing="ij")), 0), ROW, WEIGHTS, ROW[:1]),
    ],
    "geomspace": [
        (lambda a, b: np.geomspace(a, b, 4), WEIGHTS[0], WEIGHTS[1]),
        (lambda a, b: np.geomspace(-a, -b, 3, endpoint=False, axis=-1), WEIGHTS, WEIGHTS + 1),
    ],
    "real_if_close": [(np.real_if_close, X)],
    "i0": [(np.i0, 6 * X)],
    "vander": [(np.vander, ROW), (lambda a: np.vander(a, 3, increasing=True), COMPLEX[0])],
    "polyval": [(np.polyval, ROW, X), (lambda a: np.polyval([1.0, 2.0, 3.0], a), COMPLEX)],
    "polyadd": [(np.polyadd, ROW, WEIGHTS[:3])],
    "polysub": [(np.polysub, ROW, WEIGHTS[:3])],
    "polymul": [(np.polymul, ROW, WEIGHTS[:3])],
    "polydiv": [(lambda a, b: np.polydiv(a, b)[0], ROW, WEIGHTS[:2])],
    "polyder": [(np.polyder, ROW)],
    "polyint": [(lambda a: np.polyint(a, 2, k=[1.0, 2.0]), ROW)],
    "poly": [(np.poly, ROW)],
    "sort_complex": [(np.sort_complex, COMPLEX[0])],
    "unique_values": [(np.unique_values, X)],
    "unique_inverse": [(lambda a: np.unique_inverse(a).values, X)],
    "unique": [(np.unique, X), (lambda a: np.unique(a, True, True, True)[0], X)],
    "intersect1d": [(lambda a: np.intersect1d(a, a[1:]), ROW)],
    "union1d": [(np.union1d, ROW, WEIGHTS)],
    "setdiff1d": [(lambda a: np.setdiff1d(a, [9.0]), ROW)],
    "setxor1d": [(np.setxor1d, ROW, WEIGHTS)],
    "histogram": [
        (lambda a: np.histogram(a, 4)[1], X),
        (lambda a: np.histogram(a, 4, density=True)[0], X),
        (lambda b: np.histogram(X, 4, weights=b)[0], POSITIVE),
        (lambda b: np.histogram(X, [-1.5, 0, 0.2, 1], weights=b, density=True)[0], POSITIVE),
    ],
    "histogram_bin_edges": [(lambda a: np.histogram_bin_edges(a, 5), X)],
    "histogram2d": [(lambda b: np.histogram2d(X[0], X[1], 3, weights=b)[0], WEIGHTS)],
    "histogramdd": [
        (lambda b: np.histogramdd(X.T, 2, weights=b)[0], WEIGHTS),
        (lambda a: np.histogramdd(a, 3)[1][0], X),
    ],
    "bincount": [(lambda b: np.bincount([0, 1, 1, 3], weights=b, minlength=6), WEIGHTS)],
    "convolve": [
        *[(lambda a, b, mode=mode: np.convolve(a, b, mode), ROW, WEIGHTS[:2]) for mode in ("full", "same", "valid")],
        (np.convolve, WEIGHTS[:2], COMPLEX[0]),
    ],
    "correlate": [
        *[(lambda a, b, mode=mode: np.correlate(a, b, mode), ROW, WEIGHTS[:3]) for mode in ("full", "same", "valid")],
        (lambda a, b: np.correlate(a, b, "same"), COMPLEX[1, :2], COMPLEX[0]),
    ],
    "interp": [
        (np.interp, X, np.array([-0.7, 0.0, 0.3, 0.5]), WEIGHTS),
        (lambda a, f, left: np.interp(a, [-0.7, 0.0, 0.3, 0.5], f, left=left), ROW, COMPLEX[0], COMPLEX[1, 1]),
        (lambda a, b: np.interp(a, b, [1.0, 2.0, 4.0, 3.0], period=2.0), X, np.array([0.1, 0.5, 1.0, 1.6])),
        (lambda a: np.interp(a, [-0.7, 0.3], [1.0, 2.0]), SCALAR),
    ],
    "norm": [
        *[
            (lambda a, order=order: np.linalg.norm(a, order), ROW)
            for order in (None, 1, 2, 3, 0.5, -1, np.inf, -np.inf)
        ],
        *[(lambda a, order=order: np.linalg.norm(a, order), MATRIX) for order in (None, "fro", 1, -1, np.inf, -np.inf)],
        (lambda a: np.linalg.norm(a, 3, axis=1, keepdims=True), COMPLEX),
    ],
    "vector_norm": [(lambda a: np.linalg.vector_norm(a, axis=1, ord=3), X)],
    "matrix_norm": [(np.linalg.matrix_norm, X), (lambda a: np.linalg.matrix_norm(a, ord=1), COMPLEX)],
    "multi_dot": [(lambda a, b, c: np.linalg.multi_dot([a, b, c]), MATRIX, X, ROW)],
    "matrix_power": [(lambda a, n=n: np.linalg.matrix_power(a, n), MATRIX) for n in (0, 1, 3, 5, -2)],
    "tensorsolve": [(np.linalg.tensorsolve, MATRIX, ROW[:3])],
    "tensorinv": [(lambda a: np.linalg.tensorinv(a, ind=1), MATRIX)],
}


@pytest.fixture(scope="module", autouse=True)
def without_rules():
    """As if NumPy's functions had appeared in this version of NumPy, and nobody had written their rules yet."""
    with contextlib.ExitStack() as stack:
        for name in CALLS:
            f = getattr(np, name, None) or getattr(np.linalg, name)
            for table in (rrule, frule):
                stack.enter_context(table.override(f, None))
        yield


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.filterwarnings("default:Degrees of freedom")
def test_derivatives_agree_with_finite_differences(name, check_derivatives):
    for f, *primals in CALLS[name]:
        check_derivatives(f, *primals)


@pytest.mark.parametrize(
    ("f", "args"),
    [
        (np.nanmean, ()),
        (np.median, ()),
        (np.quantile, (np.float32(0.3),)),
        (np.pad, (1,)),
        (np.ptp, ()),
        (np.unique_values, ()),
        (np.convolve, (np.ones(2, np.float32),)),
    ],
    ids=lambda x: getattr(x, "__name__", ""),
)
def test_precision_is_kept(f, args):
    x = ROW.astype(np.float32)
    y, pullback = vjp(lambda x: f(x, *args), x)
    assert y.dtype == np.float32
    (xbar,) = pullback(y)
    assert xbar.dtype == np.float32


def test_ties_share_the_derivative_of_the_median():
    np.testing.assert_allclose(grad(np.median)(np.array([1.0, 2.0, 2.0, 2.0])), [0, 1 / 3, 1 / 3, 1 / 3])


# ---------------------------------------------------------------- how it is done


def test_numpys_own_functions_are_untouched():
    before = {name: vars(np.lib._function_base_impl)[name] for name in ("asanyarray", "_lerp", "zeros_like", "np")}
    code = np.median._implementation.__code__
    grad(np.median)(ROW)
    after = vars(np.lib._function_base_impl)
    assert all(after[name] is before[name] for name in before)
    assert np.median._implementation.__code__ is code
    assert isinstance(np.median(ROW), np.float64)


def test_a_function_is_converted_once():
    original = np.median._implementation
    converted = implementations._of_numpy.converted(original)
    assert converted.__code__ is implementations._of_numpy.converted(original).__code__
    assert converted.__code__ is not original.__code__
    assert converted.__kwdefaults__ == original.__kwdefaults__
    assert converted.__defaults__ == original.__defaults__


def test_threads_may_differentiate_through_the_same_function():
    results = []
    work = [threading.Thread(target=lambda: results.append(grad(lambda x: np.quantile(x, 0.3))(ROW))) for _ in range(8)]
    for thread in work:
        thread.start()
    for thread in work:
        thread.join()
    assert len(results) == 8
    assert all(np.array_equal(result, results[0]) for result in results)


def test_nested_differentiations_go_through_each_other():
    third = grad(grad(grad(lambda x: np.average(np.pad(np.reshape(x**4, 1), 1)))))(2.0)
    np.testing.assert_allclose(third, 4 * 3 * 2 * 2.0 / 3)


def test_what_is_written_in_place_keeps_its_derivative():
    def last_of_padded(x):
        y = np.pad(x, 1)
        y[0] = 5 * x[1]
        return y[0] * y[1]

    np.testing.assert_allclose(grad(last_of_padded)(np.array([2.0, 3.0])), [15, 10])


# ---------------------------------------------------------------- errors


def message(f, *args):
    with pytest.raises(NoRuleError) as info:
        grad(f)(*args)
    return str(info.value)


def test_a_function_in_c_says_so():
    error = message(lambda x: np.sum(np.packbits(x)), ROW)
    assert "numpy.packbits(float64[4])" in error
    assert "implemented in C" in error
    assert "@rrule.register(packbits)" in error


def test_a_function_that_stops_inside_numpy_says_where_and_why():
    error = message(lambda x: np.sum(np.unique(x, axis=0)), X)
    assert error.startswith("numpy.unique(float64[3, 4], axis=int) cannot be differentiated")
    assert "_arraysetops_impl.py" in error


def test_the_cause_of_a_refusal_is_kept():
    with pytest.raises(NoRuleError) as info:
        grad(lambda x: np.sum(np.unique(x, axis=0)))(X)
    assert isinstance(info.value.__cause__, (TypeError, TracerConversionError))


def test_a_form_of_a_call_that_no_rule_and_no_code_serves_is_refused_and_does_not_recurse():
    assert "numpy.sort(float64[4], order=str)" in message(lambda x: np.sum(np.sort(x, order="f")), ROW)


def test_ufuncs_made_of_python_functions_get_advice():
    square = np.frompyfunc(lambda t: t * t, 1, 1)
    error = message(lambda x: np.sum(square(x)), ROW)
    assert "np.frompyfunc" in error
    assert "np.where" in error


@pytest.mark.parametrize(
    ("f", "kind"),
    [
        (lambda x: np.median(x, axis=5), np.exceptions.AxisError),
        (lambda x: np.pad(x, 1, mode="sideways"), ValueError),
        (lambda x: np.quantile(x, 1.5), ValueError),
        (lambda x: np.convolve(x, []), ValueError),
        (lambda x: np.bincount([0, 1], weights=x), ValueError),
        (lambda x: np.nanmean(x, flavour="sweet"), TypeError),
    ],
    ids=["axis", "mode", "range", "empty", "lengths", "keyword"],
)
def test_an_error_that_numpy_would_raise_is_that_error(f, kind):
    with pytest.raises(kind) as plain:
        f(ROW)
    with pytest.raises(kind) as traced:
        grad(lambda x: np.sum(f(x)))(ROW)
    assert type(traced.value) is type(plain.value)
    assert str(traced.value).partition("\n")[0] == str(plain.value)


def test_an_error_of_a_function_that_was_handed_in_is_that_error():
    def fails(row):
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        grad(lambda x: np.sum(np.apply_along_axis(fails, 0, x)))(X)

    with pytest.raises(TracerConversionError, match="Python float"):
        grad(lambda x: np.sum(np.apply_along_axis(lambda row: float(row[0]), 0, x)))(X)


# ---------------------------------------------------------------- functions that are not NumPy's


def test_a_plain_function_without_a_rule_is_called_with_tracers():
    def cube(x, times=1.0):
        return times * x**3

    f = lambda x: call_and_settle(cube, (x,), {"times": 2.0})  # noqa: E731
    assert rrule(cube, 2.0) is None
    assert grad(f)(2.0) == 24
    assert jvp(f, (2.0,), (1.0,))[1] == 24


def test_a_plain_function_that_makes_numbers_of_its_arguments_needs_a_rule():
    def halved(x):
        return float(x) / 2

    error = message(lambda x: call_and_settle(halved, (x,)), 2.0)
    assert "halved(float64) cannot be differentiated" in error
    assert "has no rule" in error
    assert "test_implementations.py" in error


def test_callable_objects_are_called_too():
    class Doubling:
        __hash__ = None

        def __call__(self, x):
            return 2 * x

    assert grad(lambda x: call_and_settle(Doubling(), (x,)))(1.0) == 2


# ---------------------------------------------------------------- nothing is lost silently


@pytest.mark.parametrize(
    "name",
    ["tobytes", "tofile", "dump", "dumps", "data", "ctypes", "byteswap", "getfield", "setfield"],
)
def test_a_tracer_does_not_hand_out_its_numbers(name):
    with pytest.raises(AttributeError, match="ignore_derivatives"):
        grad(lambda x: np.sum(getattr(x, name)))(ROW)


@pytest.mark.parametrize(
    "convert",
    [
        *[np.float64, float, complex, memoryview, np.asarray, np.array, np.frombuffer],
        *[lambda x: np.fromiter(x, float), lambda x: np.nditer([x]), lambda x: np.vectorize(abs)(x), np.ndenumerate],
        *[lambda x: x.__dlpack__(), lambda x: x.view(np.int64), range, np.ma.masked_array],
    ],
)
def test_no_conversion_takes_the_derivative_away(convert):
    def loss(x):
        pytest.fail(f"converted to {convert(x)!r}")

    with pytest.raises(TypeError):
        grad(loss)(np.array(1.5) if convert in (float, complex, np.float64) else ROW)


@pytest.mark.parametrize(
    "f",
    [
        *[np.floor, np.round, np.argsort, np.count_nonzero, np.isfinite, np.floor_divide],
        *[lambda x: x > 0, lambda x: x.astype(int), lambda x: np.searchsorted([0.0, 1.0], x), np.isnan],
    ],
)
def test_only_what_is_declared_to_have_no_derivative_returns_ordinary_numbers(f):
    def loss(x):
        y = f(x, 2.0) if f is np.floor_divide else f(x)
        assert not isinstance(y, Tracer)
        return np.sum(x) + np.sum(y)

    np.testing.assert_array_equal(grad(loss)(ROW), np.ones(4))


@pytest.mark.parametrize("differentiate", [lambda f: jvp(f, (MATRIX,), (MATRIX,)), lambda f: grad(f)(MATRIX)])
@pytest.mark.parametrize("find", [sparse_linalg.eigs, sparse_linalg.eigsh])
def test_compiled_code_writes_into_the_dict_of_its_caller(find, differentiate):
    # ARPACK keeps its state in a dict. With another one each time, SciPy takes it for done, and all eigenvalues for 0.
    with pytest.raises(NoRuleError):
        differentiate(lambda a: np.sum(np.real(primitive(find)(a, 1, M=np.eye(3))[0])))
