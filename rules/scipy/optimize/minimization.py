"""Minima of functions: with respect to what the function depends on, the bounds and the constraints."""

import numpy as np

import scipy.optimize
from rulescore import Tangent, ZeroTangent, add, apply_linear, frule_via_ad

from ...numpy.array_like import as_array
from ..named_arguments import filled, parts, pulled, rules_by_name
from .implicit import (
    as_tuple,
    as_tuple_tangent,
    cotangents_of_result,
    from_tuple_cotangent,
    tangent_of_result,
)
from .roots import refuse_full_output
from .stationarity import Stationarity, gradient

# ---------------------------------------------------------------- what is minimised


def objective(x, fun, args):
    """A function of SciPy's users, who may return an array of one element."""
    return np.reshape(as_array(fun(x, *args)), ())


def objective_of_pair(x, fun, args):
    """The same where the function returns its gradient too."""
    return np.reshape(as_array(fun(x, *args)[0]), ())


def gradient_in(config, jac, has_gradient):
    """``gradient(x, fun, args, jac)``: what the user computes, if so, since it is what the solver makes vanish."""
    if has_gradient:
        return lambda x, fun, args, jac: np.reshape(as_array(fun(x, *args)[1]), np.shape(x))
    if callable(jac):
        return lambda x, fun, args, jac: np.reshape(as_array(jac(x, *args)), np.shape(x))
    return lambda x, fun, args, jac: gradient(config, objective, x, fun, args)


# ---------------------------------------------------------------- minimize


def stationarity_of(config, call, x):
    has_gradient = call.jac is True
    jac = call.jac if callable(call.jac) else None
    of = gradient_in(config, jac, has_gradient)
    return Stationarity(config, of, x, (call.fun, as_tuple(call.args), jac), call.bounds, call.constraints)


def value_of(call):
    return objective_of_pair if call.jac is True else objective


def minimize_cotangents(config, call, y, ybar):
    xbar, valuebar = cotangents_of_result(ybar, y, ("x", "fun"))
    args = as_tuple(call.args)
    bars = pulled(config, valuebar, value_of(call), y.x, call.fun, args)
    held = stationarity_of(config, call, y.x)
    parametersbar, boundsbar, constraintsbar = held.pullback(add(xbar, bars[0]))
    funbar, argsbar, jacbar = parts(parametersbar, 3)
    return {
        "fun": add(bars[1], funbar),
        "args": from_tuple_cotangent(add(bars[2], argsbar), call.args),
        "jac": jacbar,
        "bounds": boundsbar,
        "constraints": like_constraints(constraintsbar, call.constraints),
    }


def minimize_tangent(config, call, y, d):
    dargs = as_tuple_tangent(d.args, call.args)
    dparameters = Tangent(tuple, d.fun, dargs, d.jac)
    dx = stationarity_of(config, call, y.x).pushforward(dparameters, d.bounds, as_list_tangent(d, call.constraints))
    tangents = (ZeroTangent(), dx, d.fun, dargs)
    _, dvalue = frule_via_ad(config, tangents, value_of(call), y.x, call.fun, as_tuple(call.args))
    return tangent_of_result(y, {"x": filled(dx, y.x), "fun": filled(dvalue, y.fun)})


def as_list_tangent(d, constraints):
    """The tangent of the constraints as a list of them."""
    is_several = isinstance(constraints, (list, tuple))
    return apply_linear(lambda dx: Tangent(list, *dx) if is_several else Tangent(list, dx), d.constraints)


def like_constraints(bar, constraints):
    """The cotangent of a list of constraints in the form of what the user gave."""
    is_several = isinstance(constraints, (list, tuple))
    return apply_linear(lambda bar: Tangent(type(constraints), *bar) if is_several else bar[0], bar)


rules_by_name(scipy.optimize.minimize, minimize_cotangents, minimize_tangent)


# ---------------------------------------------------------------- functions of one number


def objective_of_number(x, fun, args):
    return objective(x[0], fun, args)


def stationarity_of_number(config, fun, args, x, bounds=None):
    """The conditions of a minimum of a function of one number, as of one of a vector of one element."""

    def of_number(x, fun, args):
        return gradient(config, objective_of_number, x, fun, args)

    # A search within an interval comes near to its ends only.
    return Stationarity(config, of_number, np.reshape(x, (1,)), (fun, as_tuple(args)), bounds, near=1e-4)


def interval_of(call):
    """The interval of a search as bounds, None where there is none."""
    return None if call.bounds is None else [tuple(call.bounds)]


def minimize_scalar_cotangents(config, call, y, ybar):
    xbar, valuebar = cotangents_of_result(ybar, y, ("x", "fun"))
    bars = pulled(config, valuebar, objective, y.x, call.fun, as_tuple(call.args))
    held = stationarity_of_number(config, call.fun, call.args, y.x, interval_of(call))
    parametersbar, boundsbar, _ = held.pullback(np.reshape(add(xbar, bars[0]), (1,)))
    funbar, argsbar = parts(parametersbar, 2)
    found = {"fun": add(bars[1], funbar), "args": from_tuple_cotangent(add(bars[2], argsbar), call.args)}
    if call.bounds is not None:
        (pairbar,) = parts(boundsbar, 1)
        found["bounds"] = apply_linear(lambda bar: Tangent(type(call.bounds), *bar), pairbar)
    return found


def minimize_scalar_tangent(config, call, y, d):
    dargs = as_tuple_tangent(d.args, call.args)
    dbounds = apply_linear(lambda dx: Tangent(list, Tangent(tuple, *dx)), d.bounds)
    held = stationarity_of_number(config, call.fun, call.args, y.x, interval_of(call))
    dx = filled(held.pushforward(Tangent(tuple, d.fun, dargs), dbounds, ZeroTangent()), np.zeros(1))[0]
    tangents = (ZeroTangent(), dx, d.fun, dargs)
    _, dvalue = frule_via_ad(config, tangents, objective, y.x, call.fun, as_tuple(call.args))
    return tangent_of_result(y, {"x": dx, "fun": filled(dvalue, y.fun)})


def refuse_array_bounds(call):
    if call.bounds is not None and not isinstance(call.bounds, (tuple, list)):
        return "give bounds= as a tuple of two numbers"
    return None


rules_by_name(scipy.optimize.minimize_scalar, minimize_scalar_cotangents, minimize_scalar_tangent, refuse_array_bounds)


# ---------------------------------------------------------------- functions that return the minimum alone


def register_minimizer(f, name, is_of_number=False):
    """The rules of a function that returns a minimum, of the function that is its argument of a name."""

    def stationarity(config, call, x):
        fun = getattr(call, name)
        if is_of_number:
            return stationarity_of_number(config, fun, call.args, x, interval_of_ends(call))
        fprime = getattr(call, "fprime", None)
        return Stationarity(config, gradient_in(config, fprime, False), x, (fun, as_tuple(call.args), fprime))

    def cotangents(config, call, x, xbar):
        parametersbar, endsbar, _ = stationarity(config, call, x).pullback(np.reshape(xbar, (-1,)))
        funbar, argsbar, *fprimebar = parts(parametersbar, 2 if is_of_number else 3)
        found = {name: funbar, "args": from_tuple_cotangent(argsbar, call.args)}
        if fprimebar:
            found["fprime"] = fprimebar[0]
        if hasattr(call, "x1"):
            (pairbar,) = parts(endsbar, 1)
            found["x1"], found["x2"] = parts(pairbar, 2)
        return found

    def tangent(config, call, x, d):
        dparameters = [getattr(d, name), as_tuple_tangent(d.args, call.args)]
        if not is_of_number:
            dparameters.append(getattr(d, "fprime", ZeroTangent()))
        dends = Tangent(list, Tangent(tuple, d.x1, d.x2)) if hasattr(call, "x1") else ZeroTangent()
        dx = stationarity(config, call, x).pushforward(Tangent(tuple, *dparameters), dends, ZeroTangent())
        return np.reshape(filled(dx, x), np.shape(x))[()]

    rules_by_name(f, cotangents, tangent, refuse_full_output)


def interval_of_ends(call):
    return [(call.x1, call.x2)] if hasattr(call, "x1") else None


for _minimizer in (scipy.optimize.fmin, scipy.optimize.fmin_powell):
    register_minimizer(_minimizer, "func")
for _minimizer in (scipy.optimize.fmin_bfgs, scipy.optimize.fmin_cg, scipy.optimize.fmin_ncg):
    register_minimizer(_minimizer, "f")
for _minimizer in (scipy.optimize.brent, scipy.optimize.golden, scipy.optimize.fminbound):
    register_minimizer(_minimizer, "func", is_of_number=True)
