"""Roots of systems of equations and of functions of one number, and fixed points.

What defines the root is fun(x, *args) = 0. The start, the brackets and the derivatives that were handed to the solver
have no influence on it, so their derivative is zero.
"""

import numpy as np

import scipy.optimize

from ..named_arguments import filled, moves, rules_by_name
from .implicit import (
    as_tuple,
    as_tuple_tangent,
    cotangents_of_result,
    from_tuple_cotangent,
    implicit_pullback,
    implicit_pushforward,
    tangent_of_result,
    values_of,
)


def root_conditions(x, fun, args):
    return values_of(fun, x, args)


def fixed_point_conditions(x, fun, args):
    return values_of(fun, x, args) - x


def root_cotangents(config, fun, args, x, xbar, conditions=root_conditions):
    """The cotangents of a function and of its arguments, from that of its root."""
    funbar, argsbar = implicit_pullback(config, conditions, x, (fun, as_tuple(args)), xbar)
    return funbar, from_tuple_cotangent(argsbar, args)


def root_tangent(config, fun, args, x, dfun, dargs, conditions=root_conditions):
    """The tangent of a root, from those of the function and its arguments."""
    tangents = (dfun, as_tuple_tangent(dargs, args))
    return implicit_pushforward(config, conditions, x, (fun, as_tuple(args)), tangents)


def register_root_finder(f, name, conditions=root_conditions):
    """The rules of a function that returns a root, of the function that is its argument of a name."""

    def cotangents(config, call, x, xbar):
        funbar, argsbar = root_cotangents(config, getattr(call, name), args_of(call), x, xbar, conditions)
        return {name: funbar, "args": argsbar}

    def tangent(config, call, x, d):
        return root_tangent(config, getattr(call, name), args_of(call), x, getattr(d, name), args_of(d), conditions)

    rules_by_name(f, cotangents, tangent, refuse=refuse_full_output)


def refuse_full_output(call):
    if getattr(call, "full_output", False) or getattr(call, "retall", False):
        return "it returns an account of the search with the solution (full_output, retall); leave that out"
    return None


def args_of(call):
    return getattr(call, "args", ())


# ---------------------------------------------------------------- functions of one number

for _finder in (
    scipy.optimize.brentq,
    scipy.optimize.brenth,
    scipy.optimize.ridder,
    scipy.optimize.bisect,
    scipy.optimize.toms748,
):
    register_root_finder(_finder, "f")


def root_scalar_cotangents(config, call, y, ybar):
    (rootbar,) = cotangents_of_result(ybar, y, ("root",))
    funbar, argsbar = root_cotangents(config, call.f, call.args, y.root, rootbar)
    return {"f": funbar, "args": argsbar}


def root_scalar_tangent(config, call, y, d):
    dx = root_tangent(config, call.f, call.args, y.root, d.f, d.args)
    return tangent_of_result(y, {"root": dx})


rules_by_name(scipy.optimize.root_scalar, root_scalar_cotangents, root_scalar_tangent)


# ---------------------------------------------------------------- systems of equations

register_root_finder(scipy.optimize.fsolve, "func")
register_root_finder(scipy.optimize.fixed_point, "func", fixed_point_conditions)
register_root_finder(scipy.optimize.newton, "func")
for _finder in (
    scipy.optimize.broyden1,
    scipy.optimize.broyden2,
    scipy.optimize.anderson,
    scipy.optimize.newton_krylov,
    scipy.optimize.linearmixing,
    scipy.optimize.diagbroyden,
    scipy.optimize.excitingmixing,
):
    register_root_finder(_finder, "F")


def root_of_system_cotangents(config, call, y, ybar):
    xbar, residual_bar = cotangents_of_result(ybar, y, ("x", "fun"))
    if moves(residual_bar):  # fun is zero, whatever the arguments: at a solution, which it then is asked whether x is
        xbar = filled(xbar, y.x)
    funbar, argsbar = root_cotangents(config, call.fun, call.args, y.x, xbar)
    return {"fun": funbar, "args": argsbar}


def root_of_system_tangent(config, call, y, d):
    dx = root_tangent(config, call.fun, call.args, y.x, d.fun, d.args)
    return tangent_of_result(y, {"x": dx, "fun": np.zeros_like(y.fun)})


rules_by_name(scipy.optimize.root, root_of_system_cotangents, root_of_system_tangent)
