"""Sparse arrays beside what is differentiated: operators take the rules of `scipy.sparse`, anything else is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from rulescore.ad import TracerConversionError, grad, hessian, jacfwd, jacrev, jvp, variable

DENSE = np.array([[1.0, 0, 2], [0, 3, 0], [4, 0, 0], [0, 0, 5]])
A = sparse.csr_array(DENSE)
X, V = np.array([1.0, 2.0, 3.0]), np.array([0.5, -1.0, 2.0, 3.0])
M = np.arange(12.0).reshape(4, 3)

OPERATIONS: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any], Any]] = {
    "A @ x": (lambda x: A @ x, lambda x: DENSE @ x, X),
    "A @ X": (lambda x: A @ x, lambda x: DENSE @ x, M.T),
    "x @ A": (lambda x: x @ A, lambda x: x @ DENSE, V),
    "A + X": (lambda x: A + x, lambda x: DENSE + x, M),
    "X - A": (lambda x: x - A, lambda x: x - DENSE, M),
    "A - X": (lambda x: A - x, lambda x: DENSE - x, M),
    "A.T @ x": (lambda x: A.T @ x, lambda x: DENSE.T @ x, V),
}
"""The operation, the same of a dense array, and where."""


@pytest.mark.parametrize("name", OPERATIONS)
def test_operators_with_a_sparse_constant(name: str) -> None:
    f, dense, x = OPERATIONS[name]
    loss, expected = (lambda x: np.sum(np.sin(f(x)) * 2)), (lambda x: np.sum(np.sin(dense(x)) * 2))
    np.testing.assert_allclose(grad(loss)(x), grad(expected)(x))
    np.testing.assert_allclose(jacfwd(f)(x), jacfwd(dense)(x))
    np.testing.assert_allclose(jacrev(f)(x), jacrev(dense)(x))
    np.testing.assert_allclose(hessian(loss)(x), hessian(expected)(x), atol=1e-12)
    np.testing.assert_allclose(jvp(loss, (x,), (x,))[1], jvp(expected, (x,), (x,))[1])


@pytest.mark.parametrize("name", OPERATIONS)
def test_the_same_of_variables(name: str) -> None:
    f, dense, at = OPERATIONS[name]
    x = variable(at.copy())
    np.sum(f(x) ** 2).backward()
    np.testing.assert_allclose(x.grad, grad(lambda x: np.sum(dense(x) ** 2))(at))


def test_what_has_no_rule_is_refused() -> None:
    with pytest.raises(TracerConversionError, match=r"scipy\.sparse"):
        grad(lambda x: np.sum(A.dot(x)))(X)
