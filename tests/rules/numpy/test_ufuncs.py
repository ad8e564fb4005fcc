"""What every ufunc's rules have in common: they exist, keep shapes and precision, and refuse what they do not know."""

import builtins
import operator
import warnings

import numpy as np
import pytest

from rulescore import AbstractZero, NoTangent, ZeroTangent, derivatives_given_output, frule, rrule, unthunk
from testutils.samples.sampling import samples_of
from testutils.testers import check_sample

ALL = {f.__name__: f for f in vars(np).values() if isinstance(f, np.ufunc)}
PRODUCTS = {"matmul", "matvec", "vecdot", "vecmat"}
ELEMENTWISE = {name: f for name, f in ALL.items() if name not in PRODUCTS}


def is_constant(f):
    return any("non-differentiable" in record.tags for record in rrule.records(f))


DIFFERENTIABLE = {name: f for name, f in ELEMENTWISE.items() if not is_constant(f)}
OF_TWO_FLOATS = sorted(name for name, f in DIFFERENTIABLE.items() if f.nin == 2 and name != "ldexp")
TAKES_COMPLEX = {name for name, f in DIFFERENTIABLE.items() if any("D->" in s for s in f.types)}
# These have no partial derivatives, or compute in double precision at least.
WITHOUT_FLOAT32 = {"absolute", "sign", "conjugate", "float_power"}

NAMES_AND_DTYPES = [
    (name, dtype)
    for name in sorted(DIFFERENTIABLE)
    for dtype in ("e", "f", "d", "g", *(("F", "G") if name in TAKES_COMPLEX else ()))
]


def arguments(f, dtype, shapes=((3,), (3,))):
    """Points inside the domain of every differentiable ufunc."""
    values = [1.25 if f is np.arccosh else 0.3, 0.7][: f.nin]
    args = [np.full(shape, value, dtype) for shape, value in zip(shapes, values, strict=False)]
    return [args[0], np.full(shapes[1], 2)] if f is np.ldexp else args


def cotangents(f, *args):
    y, pullback = rrule(f, *args)
    ybar = tuple(map(np.ones_like, y)) if isinstance(y, tuple) else np.ones_like(y)
    bars = [unthunk(bar) for bar in pullback(ybar)[1:]]
    return bars + [NoTangent()] * (len(args) - len(bars))


def test_every_ufunc_of_numpy_has_rules_or_is_declared_non_differentiable():
    without = [name for name, f in ALL.items() if f not in rrule or f not in frule]
    assert not without, f"ufuncs with neither a rule nor a declaration: {', '.join(without)}"


def test_every_ufunc_has_sample_inputs():
    without = [name for name, f in ELEMENTWISE.items() if not samples_of(f)]
    assert not without, f"ufuncs without sample inputs: {', '.join(without)}"


@pytest.mark.parametrize("name", sorted(ELEMENTWISE))
def test_rules_agree_with_finite_differences(name):
    f = ELEMENTWISE[name]
    for sample in samples_of(f, seed=1):
        report = check_sample(f, sample)
        assert report.verdict == "pass", report


def test_ufuncs_that_count_as_steps():
    steps = "floor ceil rint trunc floor_divide spacing signbit greater equal logical_and isnan gcd bitwise_or"
    assert all(is_constant(ALL[name]) for name in steps.split())


@pytest.mark.parametrize("name", sorted(DIFFERENTIABLE))
@pytest.mark.parametrize(
    "keywords",
    [{"out": ...}, {"where": True}, {"dtype": np.float64}, {"casting": "unsafe"}],
    ids=lambda k: next(iter(k)),
)
def test_a_call_with_ufunc_keywords_has_no_rule(name, keywords):
    f = DIFFERENTIABLE[name]
    args = arguments(f, np.float64)
    if "out" in keywords:
        keywords = {"out": tuple(np.empty(3) for _ in range(f.nout))}
    tangents = (NoTangent(), *map(np.ones_like, args))
    assert rrule(f, *args, **keywords) is None
    assert frule(tangents, f, *args, **keywords) is None


@pytest.mark.parametrize("name", sorted(DIFFERENTIABLE))
def test_an_output_array_given_by_position_has_no_rule(name):
    f = DIFFERENTIABLE[name]
    args = [*arguments(f, np.float64), np.full(3, 7.0)]
    assert rrule(f, *args) is None
    assert frule((NoTangent(), *map(np.ones_like, args)), f, *args) is None
    assert (args[-1] == 7).all()


@pytest.mark.parametrize(("name", "dtype"), NAMES_AND_DTYPES)
def test_derivatives_keep_the_precision_of_their_primals(name, dtype):
    f = DIFFERENTIABLE[name]
    args = arguments(f, dtype)
    for x, xbar in zip(args, cotangents(f, *args), strict=True):
        assert xbar is NoTangent() or xbar.dtype == x.dtype
    y, dy = frule((NoTangent(), *[np.ones_like(x) if x.dtype == dtype else NoTangent() for x in args]), f, *args)
    outputs = zip(y, dy, strict=True) if isinstance(y, tuple) else [(y, dy)]
    for out, dout in outputs:
        assert isinstance(dout, AbstractZero) or dout.dtype == out.dtype


def stays_float32(partial):
    return np.result_type(getattr(partial, "dtype", np.int8), np.float32) == np.float32


@pytest.mark.parametrize("name", sorted(DIFFERENTIABLE.keys() - WITHOUT_FLOAT32))
def test_partial_derivatives_of_float32_are_computed_in_float32(name):
    f = DIFFERENTIABLE[name]
    args = arguments(f, np.float32)
    for row in derivatives_given_output(f, f(*args), *args):
        assert all(map(stays_float32, row))


@pytest.mark.parametrize("name", sorted(set(OF_TWO_FLOATS) - WITHOUT_FLOAT32))
@pytest.mark.parametrize("number", [0.7, 2], ids=["float", "int"])
def test_a_python_number_does_not_widen_float32(name, number):
    f, x = DIFFERENTIABLE[name], np.full(3, 0.3, np.float32)
    for row in derivatives_given_output(f, f(x, number), x, number):
        assert stays_float32(row[0])
    for row in derivatives_given_output(f, f(number, x), number, x):
        assert stays_float32(row[1])


@pytest.mark.parametrize("name", sorted(DIFFERENTIABLE))
@pytest.mark.parametrize("scalar", [float, np.float32, np.float64, np.array])
def test_scalars_and_0d_arrays_keep_their_kind(name, scalar):
    f = DIFFERENTIABLE[name]
    args = [scalar(1.25 if f is np.arccosh else 0.3), scalar(0.7)][: f.nin]
    if f is np.ldexp:
        args[1] = 2
    wanted = np.ndarray if scalar is np.array else scalar
    for xbar in cotangents(f, *args):
        assert xbar is NoTangent() or (isinstance(xbar, wanted) and np.shape(xbar) == ())


@pytest.mark.parametrize("name", [*OF_TWO_FLOATS, "ldexp"])
@pytest.mark.parametrize(
    "shapes",
    [((3, 1), (1, 4)), ((), (3,)), ((3,), ()), ((2, 3), (3,)), ((1,), (0,)), ((2, 1, 1), (5, 1)), ((0, 2), (1, 2))],
    ids=str,
)
def test_shapes_after_broadcasting(name, shapes):
    f = DIFFERENTIABLE[name]
    args = arguments(f, np.float64, shapes)
    for x, xbar in zip(args, cotangents(f, *args), strict=True):
        assert xbar is NoTangent() or xbar.shape == x.shape
    # Only the first argument moves: the tangent has the shape of the output all the same.
    y, dy = frule((NoTangent(), np.ones_like(args[0]), NoTangent()), f, *args)
    for out, dout in zip(y, dy, strict=True) if isinstance(y, tuple) else [(y, dy)]:
        assert isinstance(dout, NoTangent | ZeroTangent) or dout.shape == out.shape


def test_broadcasting_sums_the_cotangent():
    row, column = np.array([[1.0, 2.0]]), np.array([[3.0], [4.0], [5.0]])
    _, pullback = rrule(np.multiply, row, column)
    _, rowbar, columnbar = pullback(np.ones((3, 2)))
    np.testing.assert_array_equal(rowbar + 0, [[12, 12]])
    np.testing.assert_array_equal(columnbar + 0, [[3], [3], [3]])


def test_integers_have_no_derivative_and_do_no_harm():
    _, pullback = rrule(np.multiply, 2, np.array([1.0, 3.0]))
    _, twobar, xbar = pullback(np.ones(2))
    assert twobar is NoTangent()
    np.testing.assert_array_equal(xbar, [2, 2])
    assert frule((NoTangent(), NoTangent(), 1.0), np.multiply, 2, 3.0) == (6.0, 2.0)
    assert cotangents(np.sin, 2) == [NoTangent()]


@pytest.mark.parametrize("name", sorted(DIFFERENTIABLE))
def test_a_zero_cotangent_gives_zero_cotangents(name):
    f = DIFFERENTIABLE[name]
    args = arguments(f, np.float64)
    _, pullback = rrule(f, *args)
    for bar in pullback(ZeroTangent()):
        bar = unthunk(bar)
        assert bar is NoTangent() or bar is ZeroTangent() or not np.any(bar)


def test_a_power_with_integer_exponent_takes_no_logarithm():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert cotangents(np.power, np.array([-2.0, 0.0]), 2)[1] is NoTangent()
        assert cotangents(np.power, 3, np.array([2.0]))[1] == pytest.approx(9 * np.log(3))


OPERATORS = {
    operator.add: np.add,
    operator.sub: np.subtract,
    operator.mul: np.multiply,
    operator.truediv: np.divide,
    operator.floordiv: np.floor_divide,
    operator.mod: np.remainder,
    operator.pow: np.power,
    operator.neg: np.negative,
    operator.pos: np.positive,
    operator.abs: np.absolute,
    operator.lt: np.less,
    builtins.abs: np.absolute,
    builtins.divmod: np.divmod,
    builtins.pow: np.power,
}


@pytest.mark.parametrize("python_operator", OPERATORS, ids=lambda f: f.__name__)
def test_python_operators_are_served_by_the_rules_of_ufuncs(python_operator):
    f = OPERATORS[python_operator]
    args = arguments(f, np.float64)
    assert rrule.canonical(python_operator) is f
    np.testing.assert_array_equal(rrule(python_operator, *args)[0], f(*args))
    for xbar, wanted in zip(cotangents(python_operator, *args), cotangents(f, *args), strict=True):
        assert xbar is wanted or (xbar == wanted).all()


def test_the_matrix_product_operator_is_matmul():
    assert rrule.canonical(operator.matmul) is np.matmul
