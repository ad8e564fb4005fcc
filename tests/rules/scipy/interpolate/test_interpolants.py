"""Interpolants in programs that are differentiated: built in them, called in them, and as functions with parameters."""

import copy
import functools
import pickle

import numpy as np
import pytest
from scipy import interpolate, sparse

from rules.scipy import interpolate as ours
from rules.scipy.interpolate.evaluation import evaluated
from rulescore import MissingDerivativeError, NoTangent, Tangent, rrule, unthunk
from rulescore.ad import NoRuleError, grad, hessian, jvp, primitive, vjp
from testutils import vjp_fd

X = np.array([0.0, 0.7, 1.9, 2.6, 4.0, 5.1])
Y = np.array([1.0, -0.5, 2.0, 0.3, 1.1, -0.2])
Q = np.array([0.3, 1.0, 2.2, 3.9, 4.4])
NO = NoTangent()

CLASSES = ["CubicSpline", "PchipInterpolator", "Akima1DInterpolator", "interp1d"]


def central_difference(f, x, h=1e-6):
    slopes = np.zeros(x.shape)
    for i in range(len(x)):
        step = np.zeros(x.shape)
        step[i] = h
        slopes[i] = (f(x + step) - f(x - step)) / (2 * h)
    return slopes


# ---------------------------------------------------------------- how a program reads


@pytest.mark.parametrize("name", CLASSES)
@pytest.mark.parametrize("which", [0, 1, 2])
def test_an_interpolant_is_built_and_called_within_a_program(name, which):
    def loss(build):
        return lambda x, y, q: np.sum(np.sin(build(x, y)(q)))

    found = grad(loss(getattr(ours, name)), argnums=which)(X, Y, Q)
    args = [X, Y, Q]

    def of_scipy(moved):
        return loss(getattr(interpolate, name))(*args[:which], moved, *args[which + 1 :])

    np.testing.assert_allclose(found, central_difference(of_scipy, args[which]), rtol=1e-5, atol=1e-7)


def test_scipys_own_class_is_made_a_primitive_within_a_partial():
    build = primitive(functools.partial(interpolate.CubicSpline, bc_type="natural"))

    def of_spline(y):
        return np.sum(build(X, y)(Q) ** 2)

    expected = central_difference(lambda y: np.sum(interpolate.CubicSpline(X, y, bc_type="natural")(Q) ** 2), Y)
    np.testing.assert_allclose(grad(of_spline)(Y), expected, rtol=1e-6)


def test_functions_that_build_splines_are_primitives():
    build = primitive(interpolate.make_interp_spline)

    def loss(make, x, y):
        spline = make(x, y, k=3)
        return np.sum(spline(Q) ** 2) + spline.integrate(0.5, 3.0) + np.sum(spline.derivative()(Q) ** 2)

    for i, point in enumerate((X, Y)):
        found = grad(lambda p: loss(build, *((p, Y) if i == 0 else (X, p))))(point)  # noqa: B023
        expected = central_difference(
            lambda p: loss(interpolate.make_interp_spline, *((p, Y) if i == 0 else (X, p))),  # noqa: B023
            point,
        )
        np.testing.assert_allclose(found, expected, rtol=2e-5, atol=1e-6)


def test_a_spline_of_numbers_is_a_primitive_itself():
    spline = interpolate.CubicSpline(X, Y)
    np.testing.assert_allclose(grad(lambda q: np.sum(primitive(spline)(q)))(Q), spline(Q, 1))
    np.testing.assert_allclose(jvp(primitive(spline), (Q,), (np.ones(5),))[1], spline(Q, 1))


def test_building_and_calling_in_one():
    def loss(y):
        return np.sum(ours.evaluated(interpolate.PchipInterpolator, (X, y), Q))

    expected = central_difference(lambda y: np.sum(interpolate.PchipInterpolator(X, y)(Q)), Y)
    np.testing.assert_allclose(grad(loss)(Y), expected, atol=1e-8)


def test_tck_tuples_carry_what_is_differentiated():
    splrep, splev = primitive(interpolate.splrep), primitive(interpolate.splev)
    found = grad(lambda y: np.sum(splev(Q, splrep(X, y)) ** 2))(Y)
    expected = central_difference(lambda y: np.sum(interpolate.splev(Q, interpolate.splrep(X, y)) ** 2), Y)
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("points", [[-1.0, 5.2], [-np.inf, np.inf]])
def test_outside_of_its_knots_a_spline_that_is_zero_moves_with_nothing(points):
    x, tck = np.array(points), (np.array([0.0, 1, 2, 2.5, 3, 4, 5, 6]), np.array([1.0, -2.0, 0.5, 3.0]), 3)
    y, pullback = rrule(interpolate.splev, x, tck, 0, 1)
    np.testing.assert_array_equal(y, 0)
    _, xbar, tck_bar, *_ = pullback(np.ones(2))
    for bar in (xbar, unthunk(tck_bar)[0], unthunk(tck_bar)[1]):
        np.testing.assert_array_equal(unthunk(bar), 0)


@pytest.mark.parametrize("ext", [0, 1, 3])
def test_knots_between_which_nothing_lies_are_those_of_no_spline(ext):
    t, c = np.array([0.0, 1, 2, 2.5, 2.5, 4, 5, 6]), np.array([1.0, -2.0, 0.5, 3.0])
    with pytest.raises(ValueError, match="two internal knots"):
        interpolate.BSpline(t, c, 3)
    assert rrule(interpolate.splev, np.array([2.0, 3.0]), (t, c, 3), 0, ext) is None
    assert rrule(interpolate.splint, 2.0, 3.0, (t, np.concatenate([c, np.zeros(4)]), 3)) is None


def test_grids_are_interpolated():
    grid, q = (X, X[:4]), np.array([[0.5, 0.9], [4.4, 2.2]])
    values = np.outer(Y, Y[:4])

    def loss(f, values):
        return np.sum(f(grid, values)(q) ** 2)

    found = grad(lambda v: loss(ours.RegularGridInterpolator, v))(values)
    expected = vjp_fd(lambda v: loss(interpolate.RegularGridInterpolator, v), 1.0, (values,)).value[0]
    np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-9)


CORNERS = np.array([[0.0, 0.1], [2.1, 0.0], [0.1, 2.0], [2.2, 2.3], [1.0, 1.2]])


@pytest.mark.parametrize("name", ["RBFInterpolator", "LinearNDInterpolator"])
def test_scattered_points_are_interpolated(name):
    q = np.array([[1.0, 0.5], [0.5, 1.1], [1.6, 1.3]])

    def loss(module):
        return lambda points, values, q: np.sum(getattr(module, name)(points, values)(q) ** 2)

    found = grad(loss(ours), argnums=(0, 1, 2))(CORNERS, Y[:5], q)
    expected = vjp_fd(loss(interpolate), 1.0, (CORNERS, Y[:5], q)).value
    for mine, right in zip(found, expected, strict=True):
        np.testing.assert_allclose(mine, right, rtol=1e-7, atol=1e-9)
    kept = getattr(interpolate, name)(CORNERS, Y[:5])
    np.testing.assert_allclose(grad(lambda q: np.sum(primitive(kept)(q) ** 2))(q), found[2])


def test_what_compiled_code_would_read_beyond_is_an_error():
    from rules.scipy.interpolate.bsplines import evaluate_bspline, spread_bspline
    from rules.scipy.interpolate.piecewise import evaluate_ppoly, spread_ppoly
    from rules.scipy.interpolate.weighted_neighbours import gather_weighted

    with pytest.raises(ValueError, match="do not fit"):
        evaluate_ppoly(np.ones((3, 4)), X[:3], Q, 0, True)
    with pytest.raises(ValueError, match="do not fit"):
        spread_ppoly(np.ones(5), X, Q, 0, (3, 2), True)
    with pytest.raises(MissingDerivativeError, match="knots"):
        evaluate_bspline(np.ones(5), X[:5], 3, Q, True)
    with pytest.raises(MissingDerivativeError, match="knots"):
        spread_bspline(np.ones(5), X[:5], 3, Q, 5, True)
    with pytest.raises(IndexError, match="do not exist"):
        gather_weighted(np.ones(2), np.array([[0, 3]]), np.ones((1, 2)))


def test_second_derivatives_mix_points_and_values():
    def loss(x, y):
        return np.sum(np.sin(ours.CubicSpline(x, y)(Q)))

    blocks = hessian(loss, argnums=(0, 1))(X, Y)
    for i in range(2):
        for j in range(2):

            def slope(p, i=i, j=j):
                return grad(loss, argnums=i)(*((p, Y) if j == 0 else (X, p)))

            h, columns = 1e-5, []
            for k in range(6):
                step = h * np.eye(6)[k]
                point = X if j == 0 else Y
                columns.append((slope(point + step) - slope(point - step)) / (2 * h))
            np.testing.assert_allclose(blocks[i][j], np.stack(columns, axis=1), rtol=1e-4, atol=1e-5)


# ---------------------------------------------------------------- objects


def test_the_cotangent_of_a_spline_is_structural():
    spline = interpolate.CubicSpline(X, Y)
    y, pullback = rrule(spline, Q)
    np.testing.assert_array_equal(y, spline(Q))
    spline_bar, qbar = pullback(np.ones(5))
    assert isinstance(spline_bar, Tangent)
    assert spline_bar.primal_type is interpolate.CubicSpline
    np.testing.assert_allclose(unthunk(qbar), spline(Q, 1))
    held = spline_bar.fields.get("_delegate_to", spline_bar)  # since SciPy 1.18, there is an object within
    (cbar,) = [unthunk(bar) for name, bar in held.fields.items() if name.endswith("c")]
    assert cbar[3].sum() == 5


def test_what_building_returned_takes_its_cotangent_back():
    spline, build_pullback = rrule(interpolate.CubicSpline, X, Y)
    spline_bar, _ = rrule(spline, Q)[1](np.ones(5))
    expected = central_difference(lambda y: np.sum(interpolate.CubicSpline(X, y)(Q)), Y)
    np.testing.assert_allclose(unthunk(build_pullback(spline_bar)[2]), expected, atol=1e-8)


def of_numbers(module, name):
    if name == "BSpline":
        return module.BSpline(np.arange(10.0), Y, 3)
    return module.PPoly(np.stack([Y[1:], Y[:-1]]), X) if name == "PPoly" else getattr(module, name)(X, Y)


@pytest.mark.parametrize("name", ["PPoly", "CubicSpline", "PchipInterpolator", "Akima1DInterpolator", "BSpline"])
def test_an_object_of_numbers_is_all_that_one_of_scipy_s_is(name):
    q = np.array([3.3, 4.0])
    mine, theirs = of_numbers(ours, name), of_numbers(interpolate, name)
    assert isinstance(mine, type(theirs))
    for copied in (mine, copy.copy(mine), pickle.loads(pickle.dumps(mine))):
        np.testing.assert_array_equal(copied(q), theirs(q))
        np.testing.assert_array_equal(copied.derivative()(q), theirs.derivative()(q))
        np.testing.assert_array_equal(copied.antiderivative()(q), theirs.antiderivative()(q))
        assert copied.integrate(3.1, 4.2) == theirs.integrate(3.1, 4.2)
        assert (copied.extrapolate, copied.axis) == (theirs.extrapolate, theirs.axis)


def test_a_piecewise_polynomial_is_extended_as_scipy_s_is():
    mine, theirs = of_numbers(ours, "PPoly"), of_numbers(interpolate, "PPoly")
    for spline in (mine, theirs):
        spline.extend(np.ones((2, 1)), X[-1:] + 1.0)
    np.testing.assert_array_equal(mine.x, theirs.x)
    np.testing.assert_array_equal(mine(X[-1] + Q), theirs(X[-1] + Q))
    with pytest.raises(NotImplementedError):
        of_numbers(ours, "Akima1DInterpolator").extend(np.ones((4, 1)), X[-1:] + 1.0)


@pytest.mark.parametrize("name", [*CLASSES, "make_interp_spline"])
def test_what_is_built_has_the_numbers_of_scipy_and_is_of_its_class(name):
    build = getattr(interpolate, name)
    spline, _ = rrule(build, X, Y)
    assert isinstance(spline, type(build(X, Y)))
    np.testing.assert_allclose(spline(Q), build(X, Y)(Q), rtol=1e-13)


def test_outside_there_is_nothing_to_differentiate():
    q = np.array([-1.0, 1.0])
    xbar = grad(lambda y: np.nansum(np.sin(ours.Akima1DInterpolator(X, y)(q))))(Y)
    assert np.isfinite(xbar).all()
    found = grad(lambda q: np.nansum(np.sin(ours.Akima1DInterpolator(X, Y)(q))))(q)
    assert found[0] == 0


def test_a_monotone_interpolant_is_flat_where_the_values_turn():
    y = np.array([0.0, 1.0, 0.0, 1.0, 0.0, 1.0])
    bars = grad(lambda y: np.sum(ours.PchipInterpolator(X, y)(X[1:-1], 1)))(y)
    np.testing.assert_array_equal(bars, np.zeros(6))


def test_the_factors_of_a_large_spline_are_sparse():
    n = 20000
    x = np.arange(float(n))
    bar = grad(lambda y: np.sum(primitive(interpolate.make_interp_spline)(x, y)(x[1:] - 0.5)))(np.sin(x))
    np.testing.assert_allclose(bar[100:-100], np.ones(n - 200), rtol=1e-9)
    assert not sparse.issparse(bar)


def test_smoothing_splines_have_no_rule():
    assert rrule(interpolate.splrep, X, Y, s=1.0) is None
    assert rrule(interpolate.splrep, X, Y, w=np.ones(6)) is None
    assert rrule(interpolate.make_interp_spline, X, np.append(Y[:-1], Y[0]), bc_type="periodic") is None
    assert rrule(interpolate.interpn, (X,), Y, Q, method="pchip") is None


@pytest.mark.parametrize("name", ["NdBSpline", "RBFInterpolator", "KroghInterpolator"])
def test_the_rules_of_a_call_name_the_points_as_scipy_does(name):
    x = np.linspace(0, 1, 6)
    build = {
        "NdBSpline": lambda: interpolate.NdBSpline((np.arange(8.0),), np.arange(4.0), 3),
        "RBFInterpolator": lambda: interpolate.RBFInterpolator(x[:, None], x**2),
        "KroghInterpolator": lambda: interpolate.KroghInterpolator(x, x**2),
    }
    held = build[name]()
    points = {"NdBSpline": {"xi": np.array([[3.2], [3.7]])}, "RBFInterpolator": {"x": np.array([[0.3]])}}
    call = points.get(name, {"x": np.array([0.3])})
    y, _ = rrule(held, **call)
    np.testing.assert_allclose(y, held(**call))
    other = {"x": "xi", "xi": "x"}
    assert rrule(held, **{other[key]: value for key, value in call.items()}) is None


@pytest.mark.parametrize(
    "value",
    [
        lambda x, y: ours.KroghInterpolator(x, y)(1.5),
        lambda x, y: primitive(interpolate.krogh_interpolate)(x, y, 1.5 * x[1:]),
    ],
)
def test_polynomials_through_repeated_points_say_that_they_have_no_derivative(value):
    x = np.array([1.0, 1.0, 2.0, 4.0])
    for argument in (0, 1):
        with pytest.raises(MissingDerivativeError, match="points that are repeated"):
            vjp(lambda z, argument=argument: value(*[z if i == argument else x for i in range(2)]), x)


def test_a_line_through_one_point_has_no_rule():
    def value(y):
        return primitive(functools.partial(interpolate.interp1d, fill_value="extrapolate"))(np.array([1.0]), y)(0.5)

    with pytest.raises(NoRuleError):
        grad(value)(np.array([2.0]))


@pytest.mark.parametrize("options", [{"bc_type": "clamped"}, {"k": 1}])
def test_a_spline_through_one_point_is_refused_before_scipy_reads_beyond_its_knots(options):
    def value(y):
        return primitive(interpolate.make_interp_spline)(np.array([1.0]), y, **options)(0.5).sum()

    with pytest.raises(MissingDerivativeError, match="two points or more, not 1"):
        grad(value)(np.array([2.0]))


@pytest.mark.parametrize(
    ("x", "what"),
    [
        ([0.5, 1.0, 2.0, 2.7, 3.05], r"x\[4\] = 3.05 has to lie between 2.5 and 3.0"),
        ([0.2, 0.3, 0.4, 0.5, 2.7], r"x\[3\] = 0.5 has to lie between 1.5 and 3.0"),
    ],
    ids=["past the last interval", "many before one spline"],
)
def test_points_that_determine_no_spline_are_refused_before_scipy_writes_beyond_its_equations(x, what):
    t = np.array([-0.1, 0.0, 0.1, 1.5, 2.5, 3.0, 4.0, 5.0])

    def value(y):
        return primitive(interpolate.make_interp_spline)(np.array(x), y, k=2, t=t)(1.7).sum()

    with pytest.raises(MissingDerivativeError, match=what):
        grad(value)(np.ones(5))


# ---------------------------------------------------------------- tables of every precision


TABLES = {
    "interp1d": (interpolate.interp1d, ()),
    "interp1d of rows": (interpolate.interp1d, (), {"axis": 0}),
    "slinear": (interpolate.interp1d, ("slinear",)),
    "cubic": (interpolate.interp1d, ("cubic",)),
    "nearest": (interpolate.interp1d, ("nearest",)),
    "KroghInterpolator": (interpolate.KroghInterpolator, ()),
    "BarycentricInterpolator": (interpolate.BarycentricInterpolator, ()),
    "CubicSpline": (interpolate.CubicSpline, ()),
    "PchipInterpolator": (interpolate.PchipInterpolator, ()),
    "Akima1DInterpolator": (interpolate.Akima1DInterpolator, ()),
    "make_interp_spline": (interpolate.make_interp_spline, ()),
}


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("kinds", [(a, b) for a in "dfeg" for b in "dfegb" if (a, b) != ("d", "d")], ids="".join)
def test_a_table_of_another_precision_gives_the_values_that_scipy_gives(name, kinds):
    """Each class keeps and computes with what it is given in its own way: in double precision, or in the table's."""
    build, rest, *options = TABLES[name]
    x, y = X.astype(kinds[0]), (3 * Y).astype(kinds[1])
    y = np.stack([y, y[::-1]], axis=1) if name.endswith("rows") else y
    wanted = evaluated(build, (x, y, *rest), Q, 0, *options)

    def of_points(q):
        return evaluated(build, (x, y, *rest), q, 0, *options)

    def of_values(y):
        return evaluated(build, (x, y, *rest), Q, 0, *options)

    found = [jvp(of_points, (Q,), (Q,))[0], vjp(of_points, Q)[0]]
    if kinds[1] != "b":
        found += [jvp(of_values, (y,), (y,))[0], vjp(of_values, y)[0]]
    for value in found:
        assert value.dtype == wanted.dtype
        np.testing.assert_allclose(value, wanted, rtol=1e-11 if wanted.dtype == float else 1e-3, atol=1e-11)


@pytest.mark.parametrize("x", [[1.0, 1.0, 3.0, 4.0], [0.0, 1.0, 1.0, 1.0], [0.0, 0.0, 0.0, 2.0], [0.0, 1.0, 1.0, 2.0]])
def test_of_equal_points_a_line_has_the_value_that_scipy_gives(x):
    x, y = np.array(x), np.array([0.3, 1.7, -0.4, 2.2])
    q = np.array([x[0], x[1], x[2], x[3], 0.5 * (x[0] + x[3])])
    wanted = interpolate.interp1d(x, y)(q)

    def of_values(y):
        return ours.interp1d(x, y)(q)

    found, tangent = jvp(of_values, (y,), (y,))
    np.testing.assert_allclose(found, wanted, rtol=1e-13)
    np.testing.assert_allclose(tangent, wanted, rtol=1e-13)
    np.testing.assert_allclose(
        grad(lambda y: np.sum(of_values(y) * y[0]))(y) @ y, 2 * np.sum(wanted) * y[0], rtol=1e-14
    )


@pytest.mark.parametrize("k", [1, np.int64(1), np.uint8(3), np.True_], ids=repr)
def test_the_degree_comes_back_as_it_was_given(k):
    """Since what is computed with it has the precision of its type."""

    def degree(y):
        return primitive(interpolate.splrep)(X, y, k=k)[2]

    wanted = type(interpolate.splrep(X, Y, k=k)[2])
    assert type(vjp(degree, Y)[0]) is type(jvp(degree, (Y,), (Y,))[0]) is wanted
