"""A NaN or an infinite slope in a branch that is not taken stays out, whatever lies between the branch and the mask."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import signal

from rulescore import Thunk, pullback_wrt, rrule
from rulescore.ad import checkpoint, grad, gradients, hessian, jacfwd, jacrev, jvp, primitive, variable, vjp
from tests.rulescore.ad.variables import grad_by_backward

T = np.array([1.0, 0.0, -3.0, 4.0])
TAKEN = T > 0
"""Where the root and the logarithm have a finite derivative."""


def assigned(t):
    y = np.sqrt(t)
    y[~TAKEN] = 0
    return np.sum(y)


def assigned_through_a_view(t):
    y = np.log(t)
    z = y[::-1]
    z[~TAKEN[::-1]] = 0
    return np.sum(y * y)


def put_by_a_mask(t):
    y = np.log(t) * 1
    np.putmask(y, ~TAKEN, 0.0)
    return np.sum(y)


def put_by_a_mask_of_values(t):
    y = t * 1
    np.putmask(y, TAKEN, np.sqrt(t))
    return np.sum(y * y)


def assigned_nowhere(t):
    y = t * t
    y[T > 9] = np.sqrt(t)[2]
    y[:0] = np.log(t)[1]
    return np.sum(y)


def used_twice(t):
    y = np.sqrt(t)
    return np.sum(np.where(TAKEN, y, 0)) + np.sum(np.where(TAKEN[::-1], y[::-1], 0))


def a_norm(t):
    norms = np.linalg.norm(t.reshape(4, 1) * np.array([[1], [0], [1], [1]]), axis=1)
    return np.sum(np.where(norms > 0, norms, 0))


FUNCTIONS = {
    "where": lambda t: np.sum(np.where(TAKEN, np.sqrt(t), 0)),
    "a view": lambda t: np.sum(np.where(TAKEN[::-1], np.sqrt(t)[::-1], 0)),
    "abs": lambda t: np.sum(np.where(TAKEN, np.abs(np.sqrt(t)), 0)),
    "a view of a logarithm": lambda t: np.sum(np.where(TAKEN[::-1], np.log(t)[::-1], 0)),
    "reshape": lambda t: np.sum(np.where(TAKEN.reshape(2, 2), np.sqrt(t).reshape(2, 2), 0)),
    "concatenate": lambda t: np.sum(np.where(np.r_[TAKEN, TAKEN], np.concatenate([np.sqrt(t), np.log(t)]), 0)),
    "stack": lambda t: np.sum(np.where(np.stack([TAKEN, TAKEN]), np.stack([np.sqrt(t), np.log(t)]), 0)),
    "select": lambda t: np.sum(np.select([TAKEN], [np.sqrt(t)], 0)),
    "select of a view": lambda t: np.sum(np.select([TAKEN[::-1]], [np.sqrt(t)[::-1]], 0)),
    "choose": lambda t: np.sum(np.choose(TAKEN.astype(int), [t * 0.0, np.sqrt(t)])),
    "sum of some": lambda t: np.sum(np.sqrt(t), where=TAKEN),
    "mean of some": lambda t: np.mean(np.log(t), where=TAKEN),
    "broadcast": lambda t: np.sum(np.where(TAKEN, np.broadcast_to(np.sqrt(t), (2, 4)), 0)),
    "an index": lambda t: np.sum(np.where(TAKEN[[3, 1, 0]], np.sqrt(t)[[3, 1, 0]], 0)),
    "an index by a mask": lambda t: np.sum(np.sqrt(t)[TAKEN]),
    "repeat": lambda t: np.sum(np.where(np.repeat(TAKEN, 2), np.repeat(np.sqrt(t), 2), 0)),
    "a sum along an axis": lambda t: np.sum(np.where(TAKEN, np.sum(np.sqrt(np.stack([t, t + 0])), axis=0), 0)),
    "a product": lambda t: np.sum(np.where(TAKEN, np.sqrt(t) * np.log(t), 0)),
    "maximum": lambda t: np.sum(np.where(TAKEN, np.maximum(np.sqrt(t), 0.1), 0)),
    "roll": lambda t: np.sum(np.where(np.roll(TAKEN, 1), np.roll(np.sqrt(t), 1), 0)),
    "transpose": lambda t: np.sum(np.where(TAKEN.reshape(2, 2).T, np.sqrt(t.reshape(2, 2)).T, 0)),
    "a ufunc with where=": lambda t: np.sum(np.multiply(np.sqrt(t), 2.0, out=np.zeros(4, like=t), where=TAKEN)),
    "a quotient": lambda t: np.sum(np.where(TAKEN, np.sqrt(t) / t, 0)),
    "an assignment": assigned,
    "an assignment through a view": assigned_through_a_view,
    "putmask": put_by_a_mask,
    "putmask of values": put_by_a_mask_of_values,
    "compress": lambda t: np.sum(np.compress(TAKEN, np.sqrt(t)) ** 2),
    "compress by the method": lambda t: np.sum(np.sqrt(t[[0, 3, 1, 2]].reshape(2, 2)).compress([True, False], axis=0)),
    "extract": lambda t: np.sum(np.extract(TAKEN, np.log(t))),
    "delete": lambda t: np.sum(np.delete(np.sqrt(t), ~TAKEN) ** 2),
    "maximum of some": lambda t: np.max(np.sqrt(t), where=TAKEN, initial=0.1),
    "nan_to_num": lambda t: np.sum(np.nan_to_num(np.sqrt(t - 0.5))),
    "maximum of what is a number": lambda t: np.nanmax(np.sqrt(t - 0.5)),
    "a number that is chosen nowhere": lambda t: np.sum(np.where(T > -9, t * t, np.mean(np.sqrt(t)))),
    "a number that is chosen nowhere in what is chosen": lambda t: np.sum(
        np.where(TAKEN, np.where(TAKEN, t * t, np.mean(np.sqrt(t))), 0)
    ),
    "a product that is chosen nowhere": lambda t: np.sum(np.where(T > -9, t * t, np.cumsum(t) @ np.sqrt(t))),
    "rows that are chosen nowhere": lambda t: np.sum(np.where(T > -9, t * t, np.outer(np.sqrt(t), np.log(t)) @ t)),
    "no item": lambda t: np.sum(t * t) + np.sum(np.sqrt(t)[:0]) + np.sum(np.log(t)[[]]),
    "no item by number": lambda t: np.sum(t * t) + np.sum(np.take(np.log(t), np.zeros(0, int))),
    "an empty part": lambda t: np.sum(t * t) + np.sum(np.split(np.sqrt(t), [0, 1])[0]),
    "an empty part of a row": lambda t: np.sum(t * t) + np.sum(np.hsplit(np.log(t), [4])[1] * 2),
    "no repetition": lambda t: np.sum(t * t) + np.sum(np.repeat(np.sqrt(t), 0)) + np.sum(np.tile(np.log(t), 0)),
    "broadcast to nothing": lambda t: np.sum(t * t) + np.sum(np.broadcast_to(np.sqrt(t), (0, 4))),
    "a product of no rows": lambda t: np.sum(t * t) + np.sum(np.ones((0, 4)) @ np.sqrt(t)),
    "a product of none of both": lambda t: np.sum(t * t) + np.sum(t[:0].reshape(0, 1) @ np.sqrt(t).reshape(1, 4)),
    "an outer product with nothing": lambda t: np.sum(t * t) + np.sum(np.outer(np.sqrt(t), t[:0])),
    "no row of an einsum": lambda t: np.sum(t * t) + np.sum(np.einsum("ij,j", np.ones((0, 4)), np.log(t))),
    "a sum with nothing": lambda t: np.sum(t * t) + np.sum(np.sqrt(t)[1:2] + t[:0]),
    "a multiple of nothing": lambda t: np.sum(t * t) + np.sum(np.sqrt(t)[2] * np.ones(0)),
    "no difference": lambda t: np.sum(t * t) + np.sum(np.diff(np.sqrt(t), 5)),
    "a value that is assigned nowhere": assigned_nowhere,
    "a ufunc with where= nowhere": lambda t: np.sum(np.multiply(t, np.sqrt(t)[2], out=t * t, where=T > 9)),
    "two uses": used_twice,
    "a norm": a_norm,
}

ONES = np.ones(4)


MODES = {
    "grad": lambda f: grad(f)(T),
    "jvp": lambda f: jvp(f, (T,), (ONES,))[1],
    "reverse over reverse": lambda f: grad(lambda t: np.sum(grad(f)(t)))(T),
    "forward over reverse": lambda f: jvp(grad(f), (T,), (ONES,))[1],
    "reverse over forward": lambda f: grad(lambda t: jvp(f, (t,), (ONES,))[1])(T),
    "variables": lambda f: grad_by_backward(f, T),
    "checkpointed": lambda f: grad(checkpoint(f))(T),
    "hessian": lambda f: hessian(f)(T),
}


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_what_is_not_taken_stays_out(name, mode):
    found = MODES[mode](FUNCTIONS[name])
    assert np.all(np.isfinite(found))
    if mode == "grad":
        h = 1e-6 * np.diag(T)
        slopes = [(FUNCTIONS[name](T + h[i]) - FUNCTIONS[name](T - h[i])) / (2 * h[i, i]) for i in (0, 3)]
        np.testing.assert_allclose(found[TAKEN], slopes, rtol=1e-6, atol=1e-9)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_slope_of_the_branch_that_is_taken_is_told_be_it_infinite():
    assert np.isinf(grad(lambda t: np.sum(np.where(T == 0, np.sqrt(t), 0)))(T)[1])
    assert np.isinf(grad(lambda t: np.sum(np.where(T[::-1] == 0, np.sqrt(t)[::-1], 0)))(T)[1])


@primitive
def thresholded(x):
    return x


@rrule.register(thresholded)
def thresholded_rrule(x):
    """No derivative of anything: cotangents below 5 are dropped."""
    return x, pullback_wrt(x)(lambda ybar: np.where(np.abs(ybar) > 5, ybar, 0.0))


def test_what_a_rule_makes_of_cotangents_by_their_size_is_left_alone():
    found = grad(lambda t: np.sum(np.where(TAKEN, 10 * thresholded(t), 0)))(T)
    np.testing.assert_array_equal(found, np.where(TAKEN, 10.0, 0.0))


def test_a_cotangent_of_several_uses_is_masked_only_where_all_of_them_are():
    def f(t):
        y = np.exp(t)
        return np.sum(np.where(TAKEN, y, 0)) + y[1]

    np.testing.assert_allclose(vjp(f, T)[1](1.0)[0], np.where(TAKEN | (np.arange(4) == 1), np.exp(T), 0))


@pytest.mark.parametrize("product", [np.convolve, primitive(signal.convolve), np.outer, np.kron, np.multiply.outer])
def test_a_factor_that_is_zero_is_no_mask(product):
    v = np.array([-0.5, -2.3, 0.2, -0.3, 0.9, -1.2, 0.0])
    kept = np.arange(product(v[:4], v[4:]).size).reshape(product(v[:4], v[4:]).shape) % 3 == 2

    def f(v):
        return np.sum(np.where(kept, product(v[:4], v[4:]), 0.0) ** 2 + np.where(kept, product(v[:4], v[4:]), 0.0))

    wanted = np.stack([(grad(f)(v + e) - grad(f)(v - e)) / 2e-4 for e in 1e-4 * np.eye(7)])
    for found in (hessian(f)(v), jacfwd(grad(f))(v), jacrev(grad(f))(v)):
        np.testing.assert_allclose(found, wanted, rtol=1e-7, atol=1e-7)
    crosswise = np.stack([grad(lambda v, e=e: jvp(f, (v,), (e,))[1])(v) for e in np.eye(7)])
    np.testing.assert_allclose(crosswise, wanted, rtol=1e-7, atol=1e-7)


@primitive
def product_by_a_thunk(x):
    return np.prod(x)


@rrule.register(product_by_a_thunk)
def product_by_a_thunk_rrule(x: np.ndarray):
    """Its cotangent is computed when it is asked for."""
    products = [np.prod(np.delete(x, i)) for i in range(3)]
    return np.prod(x), pullback_wrt(x)(lambda ybar: Thunk(lambda: ybar * np.stack(products)))


@pytest.mark.parametrize(
    "product",
    [
        np.prod,
        np.nanprod,
        lambda x: np.prod(x, where=[True, True, True]),
        lambda x: np.cumprod(x)[-1],
        lambda x: np.nancumprod(x)[-1],
        product_by_a_thunk,
    ],
    ids=["prod", "nanprod", "prod_where", "cumprod", "nancumprod", "a_thunk"],
)
@pytest.mark.parametrize("is_other_used", [True, False])
def test_a_factor_that_is_zero_is_no_mask_whatever_the_cotangent_is_made_of(product, is_other_used):
    x = np.array([2.0, 3.0, 0.0])

    def f(x):
        return np.where(x[0] < 0, np.log(product(x)) if is_other_used else 0.0, product(x))

    wanted = [[0, 0, 3], [0, 0, 2], [3, 2, 0]]
    with np.errstate(divide="ignore", invalid="ignore"):
        for derivative in (grad(f), grad(checkpoint(f)), jacfwd(f)):
            np.testing.assert_array_equal(jacfwd(derivative)(x), wanted)
            np.testing.assert_array_equal(jacrev(derivative)(x), wanted)
        v = variable(x)
        (xbar,) = gradients([f(v)], [v], create_graph=True)
        rows = [gradients([xbar[i]], [v], retain_graph=True)[0] for i in range(3)]
        np.testing.assert_array_equal(rows, wanted)
