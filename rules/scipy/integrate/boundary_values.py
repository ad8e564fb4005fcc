"""Solutions of boundary value problems: with respect to what the rate and the boundary conditions depend on.

SciPy's solution on its final mesh is that of the collocation equations (Kierzenka and Shampine 2001, "A BVP solver
based on residual control and the Matlab PSE"), so the implicit function theorem gives its derivative there. The mesh
moves with that of the call, between whose points the solver adds new ones.
"""

import numpy as np

import scipy.integrate
from rulescore import MissingDerivativeError, NoTangent, add, frule_via_ad, ignore_derivatives

from ...numpy.array_like import as_array, as_array_tangent
from ..named_arguments import filled, parts, pulled, rules_by_name
from ..optimize.implicit import (
    cotangents_of_result,
    implicit_pullback,
    implicit_pushforward,
    tangent_of_result,
)


class Collocation:
    """The equations of a solution on its mesh, of y and the unknown parameters as one vector.

    Attributes
    ----------
    weights : array of shape (m, m0)
        The final mesh as means of the points of the one in the call.
    """

    def __init__(self, call, y):
        if not y.success:
            raise MissingDerivativeError(
                "the derivative of a solution of a boundary value problem was asked for, but the solver has found "
                f"none: {y.message} Try another mesh, another guess, or more max_nodes="
            )
        self.shape, self.has_parameters = np.shape(y.y), call.p is not None
        self.mesh, self.parameters = as_array(call.x) * 1.0, (call.fun, call.bc, as_array(call.x) * 1.0)
        self.weights = means_of(self.mesh, y.x)
        self.z = np.reshape(y.y, -1)
        if self.has_parameters:
            self.z = np.concatenate([self.z, y.p])

    def rate(self, fun, x, y, p):
        return np.reshape(as_array(fun(x, y, p) if self.has_parameters else fun(x, y)), np.shape(y))

    def parts(self, z, x0):
        """The mesh, the values there and the unknown parameters."""
        n, m = self.shape
        return self.weights @ x0, np.reshape(z[: n * m], (n, m)), z[n * m :]

    def conditions(self, z, fun, bc, x0):
        """At the middle of each interval a cubic has the slope that the rate asks for; and at the ends, bc = 0."""
        x, y, p = self.parts(z, x0)
        h = x[1:] - x[:-1]
        f = self.rate(fun, x, y, p)
        middle = 0.5 * (y[:, 1:] + y[:, :-1]) - 0.125 * h * (f[:, 1:] - f[:, :-1])
        at_middle = self.rate(fun, x[:-1] + 0.5 * h, middle, p)
        inside = y[:, 1:] - y[:, :-1] - h / 6 * (f[:, :-1] + f[:, 1:] + 4 * at_middle)
        ends = bc(y[:, 0], y[:, -1], p) if self.has_parameters else bc(y[:, 0], y[:, -1])
        return np.concatenate([np.reshape(inside, -1), np.reshape(as_array(ends), -1)])

    def outputs(self, z, fun, x0):
        """The mesh, values, slopes and unknown parameters."""
        x, y, p = self.parts(z, x0)
        return x, y, self.rate(fun, x, y, p), p


def means_of(mesh, x):
    """Points within a mesh as means of its points: the weights, row by row."""
    mesh, x = (np.asarray(ignore_derivatives(points), float) for points in (mesh, x))
    return np.stack([np.interp(x, mesh, e) for e in np.eye(len(mesh))], axis=-1)


FIELDS = ("x", "y", "yp", "p")


def solve_bvp_cotangents(config, call, y, ybar):
    bars, found = cotangents_of_result(ybar, y, FIELDS), Collocation(call, y)
    x_bar, y_bar, slopes_bar, p_bar = [filled(bar, y[name]) for name, bar in zip(FIELDS, bars, strict=True)]
    if not found.has_parameters:
        p_bar = np.zeros(0)
    ybar = x_bar, y_bar, slopes_bar, p_bar
    z_bar, fun_bar, mesh_bar = pulled(config, ybar, found.outputs, found.z, call.fun, found.mesh)
    fun, bc, mesh = implicit_pullback(config, found.conditions, found.z, found.parameters, z_bar)
    return {"fun": add(fun_bar, fun), "bc": bc, "x": add(mesh_bar, mesh)}


def solve_bvp_tangent(config, call, y, d):
    found = Collocation(call, y)
    dmesh = as_array_tangent(d.x, call.x)
    dz = implicit_pushforward(config, found.conditions, found.z, found.parameters, (d.fun, d.bc, dmesh))
    outputs, douts = frule_via_ad(config, (NoTangent(), dz, d.fun, dmesh), found.outputs, found.z, call.fun, found.mesh)
    known = {name: filled(dy, part) for name, dy, part in zip(FIELDS, parts(douts, 4), outputs, strict=True)}
    return tangent_of_result(y, known if found.has_parameters else {**known, "p": NoTangent()})


def refuse_solve_bvp(call):
    if call.S is not None:
        return "S= is not known to the rule; write the singular term into fun"
    return None


rules_by_name(scipy.integrate.solve_bvp, solve_bvp_cotangents, solve_bvp_tangent, refuse_solve_bvp)
