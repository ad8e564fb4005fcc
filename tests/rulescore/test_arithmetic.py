"""The arithmetic of the tangent types among themselves and with plain values: the table of ChainRulesCore."""

import operator

import numpy as np
import pytest
import scipy.sparse

from rulescore import MissingDerivativeError, NoTangent, Tangent, Thunk, ZeroTangent, not_implemented, unthunk
from rulescore.tangents.arithmetic import AbstractTangent

OPERATORS = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "@": operator.matmul}

# One row per left operand, one column per right operand: missing, none, zero, thunk, plain.
# a, b: that operand itself; -b: its negative; M, N, Z: missing, NoTangent, ZeroTangent; =: the values' own result;
# !: MissingDerivativeError; 0: ZeroDivisionError.
KINDS = ["missing", "none", "zero", "thunk", "plain"]
TABLE = {
    "+": {
        "missing": ["a", "a", "a", "a", "a"],
        "none": ["b", "N", "N", "b", "b"],
        "zero": ["b", "N", "Z", "b", "b"],
        "thunk": ["b", "a", "a", "=", "="],
        "plain": ["b", "a", "a", "=", "="],
    },
    "-": {
        "missing": ["!", "!", "!", "!", "!"],
        "none": ["!", "N", "N", "-b", "-b"],
        "zero": ["!", "N", "Z", "-b", "-b"],
        "thunk": ["!", "a", "a", "=", "="],
        "plain": ["!", "a", "a", "=", "="],
    },
    "*": {
        "missing": ["M", "N", "Z", "M", "M"],
        "none": ["N", "N", "Z", "N", "N"],
        "zero": ["Z", "Z", "Z", "Z", "Z"],
        "thunk": ["M", "N", "Z", "=", "="],
        "plain": ["M", "N", "Z", "=", "="],
    },
    "/": {
        "missing": ["!", "!", "0", "!", "!"],
        "none": ["!", "N", "N", "N", "N"],
        "zero": ["Z", "Z", "Z", "Z", "Z"],
        "thunk": ["!", "0", "0", "=", "="],
        "plain": ["!", "0", "0", "=", "="],
    },
}
TABLE["@"] = TABLE["*"]

PLAIN = {
    "array": np.array([[1.0, 2.0], [3.0, 4.0]]),
    "float32 array": np.array([[1.0, 2.0], [3.0, 4.0]], np.float32),
    "complex array": np.array([[1.0 + 1j, 2.0], [3.0, 4.0]]),
    "0-d array": np.array(2.0),
    "np.float64": np.float64(2.0),
    "np.float32": np.float32(2.0),
    "np.float16": np.float16(2.0),
    "np.longdouble": np.longdouble(2.0),
    "np.complex64": np.complex64(2.0 + 1j),
    "float": 2.0,
    "complex": 2.0 + 1j,
    "csr": scipy.sparse.csr_array(np.array([[1.0, 2.0], [3.0, 4.0]])),
    "dok": scipy.sparse.dok_array(np.array([[1.0, 2.0], [3.0, 4.0]])),
}


def operand(kind, plain):
    return {
        "missing": lambda: not_implemented("a derivative"),
        "none": NoTangent,
        "zero": ZeroTangent,
        "thunk": lambda: Thunk(lambda: plain),
        "plain": lambda: plain,
    }[kind]()


def assert_same(got, expected):
    assert type(got) is type(expected)
    if scipy.sparse.issparse(expected):
        got, expected = got.toarray(), expected.toarray()
    np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("plain", PLAIN.values(), ids=PLAIN.keys())
@pytest.mark.parametrize("right", KINDS)
@pytest.mark.parametrize("left", KINDS)
@pytest.mark.parametrize("symbol", TABLE)
def test_the_table_decides_for_every_pair_of_operands(symbol, left, right, plain):
    operate = OPERATORS[symbol]
    a, b = operand(left, plain), operand(right, plain)
    both_are_values = {left, right} <= {"thunk", "plain"}
    if both_are_values and ((symbol == "@" and np.ndim(plain) == 0) or scipy.sparse.issparse(plain)):
        return  # not defined for the values themselves, or SciPy's own business
    outcome = TABLE[symbol][left][KINDS.index(right)]
    if outcome in "!0":
        with pytest.raises({"!": MissingDerivativeError, "0": ZeroDivisionError}[outcome]):
            operate(a, b)
        return
    got = operate(a, b)
    if outcome in ("a", "b"):
        assert got is {"a": a, "b": b}[outcome]
    elif outcome == "-b":
        assert_same(unthunk(got), -plain)
    elif outcome == "M":
        assert got is (a if left == "missing" else b)
    elif outcome in "NZ":
        assert got is {"N": NoTangent(), "Z": ZeroTangent()}[outcome]
    else:
        assert_same(got, operate(plain, plain))


@pytest.mark.parametrize("zero", [ZeroTangent(), NoTangent()], ids=repr)
@pytest.mark.parametrize("value", [np.nan, np.inf, np.array([np.nan, np.inf])], ids=str)
def test_a_zero_stays_zero_whatever_it_is_multiplied_with(zero, value):
    assert value * zero is zero
    assert zero * value is zero
    assert np.ones((2, 2)) @ zero is zero
    assert zero / value is zero


def test_a_sum_with_two_missing_derivatives_reports_the_first():
    assert (not_implemented("one") + not_implemented("two")).message == "one"


def test_negation_keeps_the_kind():
    assert -ZeroTangent() is ZeroTangent()
    assert -NoTangent() is NoTangent()
    missing = not_implemented("a derivative")
    assert -missing is missing
    np.testing.assert_array_equal(-Thunk(lambda: np.ones(2)), [-1.0, -1.0])
    assert -Tangent(tuple, 1.0, ZeroTangent()) == Tangent(tuple, -1.0, ZeroTangent())


def test_unary_plus_is_the_identity():
    for x in (ZeroTangent(), NoTangent(), not_implemented("x"), Thunk(lambda: 1.0), Tangent(tuple, 1.0)):
        assert +x is x


@pytest.mark.parametrize("zero", [ZeroTangent(), NoTangent()], ids=repr)
def test_adding_a_zero_in_place_leaves_the_array_as_it_is(zero):
    x = original = np.ones(2)
    x += zero
    x -= zero
    assert x is original
    np.testing.assert_array_equal(x, [1.0, 1.0])


def test_adding_a_thunk_in_place_writes_into_the_array():
    x = original = np.ones(2)
    x += Thunk(lambda: np.array([1.0, 2.0]))
    assert x is original
    np.testing.assert_array_equal(x, [2.0, 3.0])


@pytest.mark.parametrize("zero", [ZeroTangent(), NoTangent()], ids=repr)
def test_a_thunk_of_a_zero_acts_like_the_zero_also_with_an_array_on_the_left(zero):
    x = np.ones(2)
    assert x + Thunk(lambda: zero) is x
    assert x * Thunk(lambda: zero) is zero
    assert Thunk(lambda: zero) * x is zero
    assert np.float64(3.0) * Thunk(lambda: zero) is zero
    x += Thunk(lambda: zero)
    np.testing.assert_array_equal(x, [1.0, 1.0])


def test_a_thunk_of_a_structural_tangent_scales_with_a_numpy_scalar_on_the_left():
    t = Thunk(lambda: Tangent(tuple, 1.0, np.ones(2)))
    assert np.float64(2.0) * t == Tangent(tuple, 2.0, np.full(2, 2.0))
    assert t + Tangent(tuple, 1.0, np.ones(2)) == Tangent(tuple, 2.0, np.full(2, 2.0))


@pytest.mark.parametrize("scalar", [2, 2.0, np.float32(2.0), np.float64(2.0), np.array(2.0)], ids=repr)
def test_a_structural_tangent_is_scaled_from_both_sides(scalar):
    t = Tangent(tuple, 1.0, np.ones(2))
    expected = Tangent(tuple, 2.0, np.full(2, 2.0))
    assert scalar * t == expected
    assert t * scalar == expected
    assert expected / scalar == t


@pytest.mark.parametrize("plain", [np.ones(2), np.ones((2, 2))], ids=np.shape)
def test_a_structural_tangent_and_an_array_have_no_product_and_make_no_object_array(plain):
    t = Tangent(tuple, 1.0, 2.0)
    for operate in (operator.mul, operator.matmul, operator.truediv, operator.add, operator.sub):
        for left, right in ((plain, t), (t, plain)):
            with pytest.raises(TypeError, match="tangent"):
                operate(left, right)


def test_structural_tangents_meet_the_other_kinds_as_the_table_says():
    t, missing = Tangent(tuple, 1.0, 2.0), not_implemented("x")
    for zero in (ZeroTangent(), NoTangent()):
        assert t + zero is t
        assert zero + t is t
        assert t - zero is t
        assert zero - t == -t
        assert t * zero is zero
        assert zero * t is zero
    assert t + missing is missing
    assert missing + t is missing
    assert t * missing is missing
    with pytest.raises(MissingDerivativeError):
        t - missing
    with pytest.raises(TypeError, match="scaled by numbers"):
        t * t
    with pytest.raises(TypeError, match="divided by a tangent"):
        1.0 / t


def test_multiplying_an_array_by_a_zero_in_place_clears_it():
    x = original = np.array([1.0, np.nan])
    x *= ZeroTangent()
    assert x is original
    np.testing.assert_array_equal(x, [0.0, 0.0])


def test_adding_a_missing_derivative_in_place_raises():
    x = np.ones(2)
    with pytest.raises(MissingDerivativeError):
        x += not_implemented("a derivative")
    np.testing.assert_array_equal(x, [1.0, 1.0])


@pytest.mark.parametrize("zero", [ZeroTangent(), NoTangent()], ids=repr)
def test_ufuncs_of_the_operators_take_a_tangent(zero):
    x = np.ones(2)
    assert np.add(x, zero) is x
    assert np.multiply(zero, x) is zero
    assert np.conj(zero) is zero
    assert np.negative(zero) is zero
    assert np.positive(zero) is zero


def test_no_array_equals_a_tangent():
    x = np.zeros(2)
    for tangent in (ZeroTangent(), NoTangent(), Tangent(tuple, 0.0, 0.0), not_implemented("x"), Thunk(ZeroTangent)):
        assert (x == tangent) is False
        assert (x != tangent) is True
    assert [1.0, ZeroTangent()] != [1.0, x]


def test_other_ufuncs_refuse_a_tangent_instead_of_making_an_object_array():
    refused = [
        lambda t: np.sin(t),
        lambda t: np.add.reduce(t),
        lambda t: np.add(1.0, t, where=True),
        lambda t: np.add(1.0, 2.0, out=t),
    ]
    for tangent in (ZeroTangent(), NoTangent(), Tangent(tuple, 1.0)):
        for call in refused:
            with pytest.raises(TypeError, match="is a tangent and no array: only the operators"):
                call(tangent)
    with pytest.raises(MissingDerivativeError):
        np.sin(not_implemented("a derivative"))


def test_the_base_class_leaves_every_operation_to_its_subclasses():
    class Silent(AbstractTangent):
        pass

    for name in ("_plus", "_minus", "_rminus", "_times", "_over", "_rover"):
        with pytest.raises(NotImplementedError):
            getattr(Silent(), name)(1.0)
