"""What is differentiated of functions that NumPy calls: values from around them too, and parameters of objects."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from rulescore import NoTangent, frule, rrule
from rulescore.ad import NoRuleError, TracerConversionError, grad, hessian, jvp, primitive
from rulescore.ad.system.reference_ad import AD
from testutils import vjp_fd

NO = NoTangent()
X = np.array([[0.5, -1.0, 2.0], [1.5, 3.0, -0.5]])


@dataclass
class Slope:
    a: Any

    def __call__(self, *x):
        return self.a * sum(x)


# ---------------------------------------------------------------- apply_along_axis, apply_over_axes


def test_rows_and_columns_are_differentiated_one_by_one():
    found = grad(lambda x: np.sum(np.apply_along_axis(lambda r: np.sum(r) * r[0], 1, x)))(X)
    np.testing.assert_allclose(found, [[1.5 + 0.5, 0.5, 0.5], [4 + 1.5, 1.5, 1.5]])
    h = hessian(lambda x: np.sum(np.apply_along_axis(lambda r: r[0] * r, 0, x)))(X)
    assert h[0, 1, 0, 1] == 2
    assert h[0, 1, 1, 1] == 1
    assert h[0, 1, 1, 2] == 0


def test_functions_of_rows_may_use_values_from_around_them():
    def f(a):
        return np.sum(np.apply_along_axis(lambda r, b: a * b * r**2, 0, a * X, 2 * a))

    np.testing.assert_allclose(grad(f)(2.0), 4 * 8 * 2 * np.sum(X**2))
    np.testing.assert_allclose(jvp(f, (2.0,), (1.0,))[1], 4 * 8 * 2 * np.sum(X**2))


def test_reductions_over_several_axes():
    found = grad(lambda x: np.sum(np.apply_over_axes(np.sum, x, (0, 1)) ** 2))(X)
    np.testing.assert_allclose(found, np.full(X.shape, 2 * X.sum()))
    found = grad(lambda x: np.sum(np.apply_over_axes(np.prod, x, 1)))(np.array([[2.0, 3.0, 0.0]]))
    np.testing.assert_allclose(found, [[0, 0, 6]])


# ---------------------------------------------------------------- fromfunction


def test_a_function_of_indices_may_use_values_from_around_it():
    def f(a):
        return np.sum(np.fromfunction(lambda i, j: a**2 * i + a * j, (2, 3)))

    assert grad(f)(3.0) == 2 * 3 * 3 + 6
    assert jvp(f, (3.0,), (1.0,)) == (9 * 3 + 3 * 6, 24)


def test_the_cotangent_of_a_function_of_indices_is_structural():
    y, pullback = rrule(AD, np.fromfunction, Slope(np.array(3.0)), (2, 2))
    assert y.tolist() == [[0, 3], [3, 6]]
    assert pullback(np.ones((2, 2)))[1].a == 4
    assert rrule(np.fromfunction, Slope(np.array(3.0)), (2, 2)) is None


# ---------------------------------------------------------------- vectorize


def branching(x, y):
    return x**2 * y if x > 0 else y - x


def test_every_element_takes_its_own_branch():
    f = primitive(np.vectorize(branching))
    dx, dy = grad(lambda x, y: np.sum(f(x, y)), argnums=(0, 1))(X, np.float64(3.0))
    np.testing.assert_allclose(dx, np.where(X > 0, 6 * X, -1))
    np.testing.assert_allclose(dy, np.sum(np.where(X > 0, X**2, 1)))
    np.testing.assert_allclose(jvp(lambda x: f(x, 3.0), (X,), (np.ones(X.shape),))[1], np.where(X > 0, 6 * X, -1))


def test_second_derivatives_of_vectorized_functions():
    f = primitive(np.vectorize(branching))
    h = hessian(lambda x: np.sum(f(x, x[1])))(np.array([2.0, 3.0]))
    np.testing.assert_allclose(h, [[2 * 3, 2 * 2], [2 * 2, 6 * 3]])


def test_signatures_hand_on_vectors():
    f = np.vectorize(lambda u, v: np.sum(u * v) * u, signature="(n),(n)->(n)")
    y, pullback = rrule(AD, f, X, X[0])
    np.testing.assert_array_equal(y, f(X, X[0]))
    ubar, vbar = pullback(np.ones(X.shape))[1:]
    expected = vjp_fd(f, np.ones(X.shape), (X, X[0])).value
    np.testing.assert_allclose(ubar, expected[0], rtol=1e-8)
    np.testing.assert_allclose(vbar, expected[1], rtol=1e-8)


def test_excluded_arguments_are_handed_on_whole():
    f = primitive(np.vectorize(lambda p, x: p[0] * x + p[1], excluded={0}))
    assert grad(lambda p: np.sum(f(p, np.arange(3.0))))(np.array([1.0, 2.0])).tolist() == [3, 3]


def test_the_parameters_of_a_vectorized_object_have_cotangents():
    f = np.vectorize(Slope(2.0))
    fbar, xbar = rrule(AD, f, X)[1](np.ones(X.shape))
    assert fbar.pyfunc.a == X.sum()
    np.testing.assert_array_equal(xbar, np.full(X.shape, 2.0))


def test_the_first_output_decides_on_the_type_as_in_numpy():
    f = np.vectorize(lambda x: 0 if x > 0 else x)
    assert f(X).dtype == int
    y, pullback = rrule(AD, f, X)
    np.testing.assert_array_equal(y, f(X))
    assert y.dtype == int
    assert pullback(np.ones(X.shape)) == (NO,)


def test_several_outputs():
    f = np.vectorize(lambda x: (x, x**2))
    y, dy = frule(AD, (NO, np.ones(X.shape)), f, X)
    np.testing.assert_array_equal(y[1], X**2)
    np.testing.assert_array_equal(dy[1], 2 * X)


def test_nothing_to_call_a_function_with():
    with pytest.raises(ValueError, match="size 0 inputs"):
        rrule(AD, np.vectorize(branching), np.zeros(0), 1.0)
    y, _ = rrule(AD, np.vectorize(branching, otypes="d"), np.zeros((0, 2)), 1.0)
    assert y.shape == (0, 2)


def test_without_an_ad_system_there_is_no_rule():
    assert rrule(np.vectorize(branching), X, 1.0) is None


def test_a_vectorized_function_that_is_no_primitive_is_refused():
    with pytest.raises(TracerConversionError, match="primitive"):
        grad(lambda x: np.sum(np.vectorize(branching)(x, 1.0)))(X)


def test_ufuncs_of_python_functions_are_refused():
    with pytest.raises(NoRuleError, match="frompyfunc"):
        grad(lambda x: np.sum(np.frompyfunc(branching, 2, 1)(x, 1.0)))(X)
