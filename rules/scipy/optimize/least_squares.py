"""Fits by least squares: minima of sums of squares of residuals, robust losses and bounds included.

The derivative is that of the minimum of the cost, second derivatives of the residuals included; solvers that use
JᵀJ in their place find the same minimum.
"""

import numpy as np

import scipy.optimize
from rulescore import AbstractZero, Tangent, ZeroTangent, add, apply_linear, frule_via_ad, not_implemented

from ...numpy.array_like import as_array
from ..named_arguments import differentiated, filled, parts, pulled, rules_by_name
from .implicit import (
    as_tuple,
    as_tuple_tangent,
    cotangents_of_result,
    from_tuple_cotangent,
    tangent_of_result,
)
from .roots import refuse_full_output
from .stationarity import Stationarity

# ρ(s) of squared residuals, as in `scipy.optimize.least_squares`, and its derivative.
LOSSES = {
    "linear": (lambda s: s, lambda s: np.ones(np.shape(s))),
    "soft_l1": (lambda s: 2 * (np.sqrt(1 + s) - 1), lambda s: 1 / np.sqrt(1 + s)),
    "huber": (lambda s: np.where(s <= 1, s, 2 * root_above_one(s) - 1), lambda s: 1 / root_above_one(s)),
    "cauchy": (np.log1p, lambda s: 1 / (1 + s)),
    "arctan": (np.arctan, lambda s: 1 / (1 + s**2)),
}


def root_above_one(s):
    return np.sqrt(np.where(s <= 1, 1.0, s))


def residuals_of(x, fun, args, kwargs):
    return np.reshape(as_array(fun(x, *args, **kwargs)), -1)


class Cost:
    """½ Σ C² ρ((rᵢ/C)²) as a function of the parameters of a fit, and of what the residuals depend on."""

    def __init__(self, loss="linear", scale=1.0, residuals=residuals_of):
        (self.loss, self.slope), self.scale, self.residuals = LOSSES[loss], scale, residuals

    def of(self, x, *parameters):
        r = self.residuals(x, *parameters)
        return 0.5 * np.sum(self.scale**2 * self.loss((r / self.scale) ** 2))

    def gradient(self, config, x, *parameters):
        """Jᵀ ρ' r."""
        r, pull = differentiated(config, self.residuals, x, *parameters)
        return filled(pull(self.slope((r / self.scale) ** 2) * r)[0], x)

    def stationarity(self, config, x, parameters, bounds=None):
        """The conditions of its minimum."""
        return Stationarity(config, lambda *args: self.gradient(config, *args), x, parameters, bounds)


def pairs_of(bounds):
    """Bounds as objects of `scipy.optimize.Bounds`; None where there are none."""
    if isinstance(bounds, scipy.optimize.Bounds):
        return bounds
    return None if all(np.ndim(b) == 0 and np.isinf(b) for b in bounds) else scipy.optimize.Bounds(*bounds)


def cotangent_of_pair(boundsbar, bounds):
    """The cotangent of bounds in the form in which they were given."""
    if isinstance(bounds, scipy.optimize.Bounds):
        return boundsbar
    return apply_linear(lambda bar: Tangent(type(bounds), bar.lb, bar.ub), boundsbar)


def tangent_of_pair(dbounds, bounds):
    if isinstance(bounds, scipy.optimize.Bounds):
        return dbounds
    return apply_linear(lambda dx: Tangent(scipy.optimize.Bounds, lb=dx[0], ub=dx[1]), dbounds)


# ---------------------------------------------------------------- least_squares

FIELDS = ("x", "fun", "cost")


def least_squares_parameters(call):
    return call.fun, as_tuple(call.args), call.kwargs or {}


def outputs_of(cost):
    """The residuals and the cost, as functions of what they depend on."""
    return lambda x, *parameters: (cost.residuals(x, *parameters), cost.of(x, *parameters))


def least_squares_cotangents(config, call, y, ybar):
    xbar, residualbar, costbar = cotangents_of_result(ybar, y, FIELDS)
    cost, parameters = Cost(call.loss, call.f_scale), least_squares_parameters(call)
    first, *bars = pulled(config, (residualbar, costbar), outputs_of(cost), y.x, *parameters)
    held = cost.stationarity(config, y.x, parameters, pairs_of(call.bounds))
    parametersbar, boundsbar, _ = held.pullback(add(xbar, first))
    funbar, argsbar, kwargsbar = [add(a, b) for a, b in zip(bars, parts(parametersbar, 3), strict=True)]
    return {
        "fun": funbar,
        "args": from_tuple_cotangent(argsbar, call.args),
        "kwargs": kwargsbar,
        "f_scale": not_implemented("f_scale= of least_squares"),
        "bounds": cotangent_of_pair(boundsbar, call.bounds),
    }


def least_squares_tangent(config, call, y, d):
    if not isinstance(d.f_scale, AbstractZero):
        return not_implemented("f_scale= of least_squares")
    cost, parameters = Cost(call.loss, call.f_scale), least_squares_parameters(call)
    dparameters = (d.fun, as_tuple_tangent(d.args, call.args), d.kwargs)
    held = cost.stationarity(config, y.x, parameters, pairs_of(call.bounds))
    dx = filled(
        held.pushforward(Tangent(tuple, *dparameters), tangent_of_pair(d.bounds, call.bounds), ZeroTangent()), y.x
    )
    _, both = frule_via_ad(config, (ZeroTangent(), dx, *dparameters), outputs_of(cost), y.x, *parameters)
    dresiduals, dcost = parts(both, 2)
    return tangent_of_result(y, {"x": dx, "fun": filled(dresiduals, y.fun), "cost": filled(dcost, y.cost)})


def refuse_least_squares(call):
    if callable(call.loss):
        return f"loss= as a function is not known to the rule; name one of {', '.join(LOSSES)}"
    return None


rules_by_name(scipy.optimize.least_squares, least_squares_cotangents, least_squares_tangent, refuse_least_squares)


# ---------------------------------------------------------------- leastsq


def leastsq_cotangents(config, call, y, ybar):
    xbar = parts(ybar, 2)[0]
    held = Cost().stationarity(config, y[0], (call.func, as_tuple(call.args), {}))
    funcbar, argsbar, _ = parts(held.pullback(xbar)[0], 3)
    return {"func": funcbar, "args": from_tuple_cotangent(argsbar, call.args)}


def leastsq_tangent(config, call, y, d):
    held = Cost().stationarity(config, y[0], (call.func, as_tuple(call.args), {}))
    dparameters = Tangent(tuple, d.func, as_tuple_tangent(d.args, call.args), ZeroTangent())
    return filled(held.pushforward(dparameters, ZeroTangent(), ZeroTangent()), y[0]), ZeroTangent()


rules_by_name(scipy.optimize.leastsq, leastsq_cotangents, leastsq_tangent, refuse_full_output)


# ---------------------------------------------------------------- curve_fit


def weighted_residuals(p, f, xdata, ydata, sigma):
    """What `curve_fit` squares: with a matrix of covariances, the residuals are whitened by its Cholesky factor."""
    r = np.reshape(f(xdata, *p) - as_array(ydata), -1)
    if sigma is None:
        return r
    sigma = as_array(sigma)
    return np.linalg.solve(np.linalg.cholesky(sigma), r) if np.ndim(sigma) == 2 else r / sigma


CURVE = Cost(residuals=weighted_residuals)


def covariance_of(config, absolute_sigma):
    """The covariance of the parameters, (JᵀJ)⁻¹ times the variance of the residuals, as a function of all it is of."""

    def covariance(p, *parameters):
        columns = []
        for e in np.eye(np.size(p)):
            tangents = (ZeroTangent(), e, *[ZeroTangent()] * len(parameters))
            r, dr = frule_via_ad(config, tangents, weighted_residuals, p, *parameters)
            columns.append(filled(dr, r))
        jacobian = np.stack(columns, axis=-1)
        inverse = np.linalg.inv(jacobian.T @ jacobian)
        return inverse if absolute_sigma else inverse * (np.sum(r**2) / (np.size(r) - np.size(p)))

    return covariance


def curve_fit_parameters(call):
    return call.f, call.xdata, call.ydata, call.sigma


def curve_fit_cotangents(config, call, y, ybar):
    pbar, covariancebar = parts(ybar, 2)
    p, parameters = y[0], curve_fit_parameters(call)
    first, *bars = pulled(config, covariancebar, covariance_of(config, call.absolute_sigma), p, *parameters)
    held = CURVE.stationarity(config, p, parameters, pairs_of(call.bounds))
    parametersbar, boundsbar, _ = held.pullback(add(pbar, first))
    every = [add(a, b) for a, b in zip(bars, parts(parametersbar, 4), strict=True)]
    found = dict(zip(("f", "xdata", "ydata", "sigma"), every, strict=True))
    return {**found, "bounds": cotangent_of_pair(boundsbar, call.bounds)}


def curve_fit_tangent(config, call, y, d):
    p, parameters = y[0], curve_fit_parameters(call)
    dparameters = (d.f, d.xdata, d.ydata, d.sigma)
    held = CURVE.stationarity(config, p, parameters, pairs_of(call.bounds))
    dp = filled(
        held.pushforward(Tangent(tuple, *dparameters), tangent_of_pair(d.bounds, call.bounds), ZeroTangent()), p
    )
    of = covariance_of(config, call.absolute_sigma)
    _, dcovariance = frule_via_ad(config, (ZeroTangent(), dp, *dparameters), of, p, *parameters)
    return dp, filled(dcovariance, y[1])


def refuse_curve_fit(call):
    if call.full_output:
        return "it returns an account of the search with the solution (full_output); leave that out"
    if call.nan_policy is not None:
        return "nan_policy= is not known to the rule; leave missing data out"
    return None


rules_by_name(scipy.optimize.curve_fit, curve_fit_cotangents, curve_fit_tangent, refuse_curve_fit)
