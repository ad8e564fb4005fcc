"""Integrals of functions: with respect to their limits and to what the function depends on.

∂/∂b ∫ₐᵇ f(t, θ) dt = f(b, θ), ∂/∂a = -f(a, θ), and θ̄ = ∫ₐᵇ (∂f/∂θ)ᴴ ȳ dt, an integral of the same kind and with the
same tolerances (Leibniz' rule). What cannot move are limits at infinity.
"""

from functools import cache

import numpy as np

import scipy.integrate
from rulescore import AbstractZero, NoTangent, Tangent, ZeroTangent, apply_linear, frule_via_ad, not_implemented
from rulescore.closures import handed_over

from ...numpy.array_like import as_array
from ..named_arguments import differentiated, filled, pulled, rules_by_name
from ..optimize.implicit import as_tuple, as_tuple_tangent, from_tuple_cotangent, is_zero
from .parameter_vectors import size_of, tangent_from, vector_of

# ---------------------------------------------------------------- integrands


def value_at(t, fun, args):
    return as_array(fun(t, *args))


class Pulled:
    """t ↦ (∂f/∂θ)ᴴ ȳ as a vector, for the function and its arguments."""

    def __init__(self, config, fun, args, ybar):
        self.config, self.fun, self.args, self.ybar = config, fun, args, ybar

    def __call__(self, t):
        def at_t(fun, args):  # of which t is no argument, or inner integrals would be differentiated for it
            return value_at(t, fun, args)

        y, pull = differentiated(self.config, at_t, self.fun, self.args)
        return vector_of(Tangent(tuple, *pull(self.ybar * np.ones(np.shape(y))[()])), (self.fun, self.args))


class Pushed:
    """t ↦ ∂f/∂θ θ̇."""

    def __init__(self, config, fun, args, dfun, dargs):
        self.config, self.fun, self.args, self.dfun, self.dargs = config, fun, args, dfun, dargs

    def __call__(self, t):
        tangents = (NoTangent(), ZeroTangent(), self.dfun, self.dargs)
        y, dy = frule_via_ad(self.config, tangents, value_at, t, self.fun, self.args)
        return filled(dy, y)


class Integral:
    """The derivatives of an integral.

    Parameters
    ----------
    fun, args
        The function and its other arguments.
    a, b : number
        The limits.
    integrate : callable
        ``integrate(fun, a, b)``, the integral of a function whose values are arrays.
    weight : bool
        Whether there is a weight beside the function, by whose values at the limits the derivatives there go.
    """

    def __init__(self, fun, args, a, b, integrate, weight=False):
        self.fun, self.args, self.a, self.b = fun, as_tuple(args), a, b
        self.integrate, self.weight = integrate, weight

    def at(self, limit):
        """The function at a limit; 0 where that is infinite."""
        return value_at(limit, self.fun, self.args) if np.isfinite(limit) else 0.0

    def limit_cotangent(self, sign, limit, ybar):
        if self.weight:
            return not_implemented("a limit of an integral with weight=; write the weight into the function")
        return lambda: sign * np.real(np.sum(np.conj(self.at(limit)) * ybar))

    def cotangents(self, config, ybar):
        """The cotangents of function, arguments and limits, on demand."""
        parameters = (self.fun, self.args)
        abar, bbar = self.limit_cotangent(-1, self.a, ybar), self.limit_cotangent(1, self.b, ybar)

        @cache
        def bars():
            if not size_of(parameters):
                return ZeroTangent(), ZeroTangent()
            total = self.integrate(Pulled(config, self.fun, self.args, ybar), self.a, self.b)
            return tuple(tangent_from(total, parameters))

        return lambda: bars()[0], lambda: bars()[1], abar, bbar

    def tangent(self, config, dfun, dargs, da, db):
        def by_parameters(dfun, dargs):
            return self.integrate(Pushed(config, self.fun, self.args, dfun, dargs), self.a, self.b)

        by_lower = apply_linear(lambda da: self.limit_tangent(-1, self.a, da), da)
        by_upper = apply_linear(lambda db: self.limit_tangent(1, self.b, db), db)
        return apply_linear(by_parameters, dfun, dargs) + by_lower + by_upper

    def limit_tangent(self, sign, limit, dlimit):
        if self.weight:
            not_implemented("a limit of an integral with weight=; write the weight into the function").fail()
        return sign * self.at(limit) * dlimit


def first_of(ybar, what):
    """The cotangent of the value of an integral; that of the error estimate is an error unless it is zero."""
    first, *others = ybar
    if not all(map(is_zero, others)):
        not_implemented(f"the error estimate of {what}").fail()
    return first


# ---------------------------------------------------------------- quad

SETTINGS = ("epsabs", "epsrel", "limit", "points", "weight", "wvar", "wopts", "maxp1", "limlst")


def quad_of_array(fun, a, b, args=(), settings=None):
    """`scipy.integrate.quad` of a function whose values are arrays: element by element, which share its values."""
    settings = settings or {}
    known = {}

    def value(t, part, i):
        if t not in known:
            known[t] = np.asarray(fun(t, *args))
        return part(known[t]).reshape(-1)[i]

    middle = np.clip(0.5 * (np.clip(a, -1e3, 1e3) + np.clip(b, -1e3, 1e3)), min(a, b), max(a, b))
    example = known[float(middle)] = np.asarray(fun(float(middle), *args))
    y = np.zeros(example.shape, example.dtype)
    for i in range(y.size):
        y.flat[i] = scipy.integrate.quad(value, a, b, args=(np.real, i), **settings)[0]
        if example.dtype.kind == "c":
            y.flat[i] += 1j * scipy.integrate.quad(value, a, b, args=(np.imag, i), **settings)[0]
    return y


def settings_of(call):
    return {name: getattr(call, name) for name in SETTINGS}


def integral_by_quad(call, args, settings, weight=False):
    def integrate(fun, a, b):
        return handed_over(quad_of_array, fun, a, b, settings=settings)

    return Integral(call.func, args, call.a, call.b, integrate, weight)


def quad_cotangents(config, call, y, ybar):
    found = integral_by_quad(call, call.args, settings_of(call), call.weight is not None)
    return integral_bars(config, call, found, first_of(ybar, "quad"), "func")


def integral_bars(config, call, integral, ybar, name):
    funbar, argsbar, abar, bbar = integral.cotangents(config, ybar)
    bars = {name: funbar, "args": lambda: from_tuple_cotangent(argsbar(), call.args), "a": abar, "b": bbar}
    if getattr(call, "wvar", None) is not None:
        bars["wvar"] = not_implemented("wvar= of quad; write the weight into the function")
    return bars


def quad_tangent(config, call, y, d):
    if not isinstance(d.wvar, AbstractZero):
        not_implemented("wvar= of quad; write the weight into the function").fail()
    found = integral_by_quad(call, call.args, settings_of(call), call.weight is not None)
    dy = found.tangent(config, d.func, as_tuple_tangent(d.args, call.args), d.a, d.b)
    return filled(dy, y[0]), not_implemented("the error estimate of quad")


def refuse_quad(call):
    return "full_output gives an account of the integration too; leave that out" if call.full_output else None


rules_by_name(scipy.integrate.quad, quad_cotangents, quad_tangent, refuse_quad)


def quad_of_array_cotangents(config, call, y, ybar):
    found = integral_of_arrays(call)
    funbar, argsbar, abar, bbar = found.cotangents(config, ybar)
    return {"fun": funbar, "args": argsbar, "a": abar, "b": bbar}


def integral_of_arrays(call):
    def integrate(fun, a, b):
        return handed_over(quad_of_array, fun, a, b, settings=call.settings)

    has_weight = bool(call.settings) and call.settings.get("weight") is not None
    return Integral(call.fun, call.args, call.a, call.b, integrate, has_weight)


def quad_of_array_tangent(config, call, y, d):
    return integral_of_arrays(call).tangent(config, d.fun, d.args, d.a, d.b) + np.zeros(np.shape(y))


rules_by_name(quad_of_array, quad_of_array_cotangents, quad_of_array_tangent)


# ---------------------------------------------------------------- quad_vec


def integral_by_quad_vec(call):
    settings = {
        name: getattr(call, name)
        for name in ("epsabs", "epsrel", "norm", "cache_size", "limit", "workers", "points", "quadrature")
    }

    def integrate(fun, a, b):
        return handed_over(quad_vec_alone, fun, a, b, settings)

    return Integral(call.f, call.args, call.a, call.b, integrate)


def quad_vec_alone(fun, a, b, settings):
    """The integral without its error estimate."""
    return scipy.integrate.quad_vec(fun, a, b, **settings)[0]


def quad_vec_cotangents(config, call, y, ybar):
    return integral_bars(config, call, integral_by_quad_vec(call), first_of(ybar, "quad_vec"), "f")


def quad_vec_tangent(config, call, y, d):
    dargs = as_tuple_tangent(d.args, call.args)
    dy = integral_by_quad_vec(call).tangent(config, d.f, dargs, d.a, d.b)
    return dy + np.zeros(np.shape(y[0])), not_implemented("the error estimate of quad_vec")


rules_by_name(scipy.integrate.quad_vec, quad_vec_cotangents, quad_vec_tangent, refuse_quad)


def integral_alone(call):
    def integrate(fun, a, b):
        return handed_over(quad_vec_alone, fun, a, b, call.settings)

    return Integral(call.fun, (), call.a, call.b, integrate)


def quad_vec_alone_cotangents(config, call, y, ybar):
    funbar, _, abar, bbar = integral_alone(call).cotangents(config, ybar)
    return {"fun": funbar, "a": abar, "b": bbar}


def quad_vec_alone_tangent(config, call, y, d):
    return integral_alone(call).tangent(config, d.fun, ZeroTangent(), d.a, d.b) + np.zeros(np.shape(y))


rules_by_name(quad_vec_alone, quad_vec_alone_cotangents, quad_vec_alone_tangent)


# ---------------------------------------------------------------- several variables


class Inner:
    """The integral over all variables but the last, as a function of that one."""

    def __init__(self, fun, ranges, args, settings):
        self.fun, self.ranges, self.args, self.settings = fun, ranges, args, settings

    def __call__(self, t):
        return iterated(self.fun, self.ranges[:-1], (t, *self.args), self.settings[:-1])


def iterated(fun, ranges, args, settings):
    """The integral of ``fun(x0, x1, ..., *args)``, that over x0 the innermost; ranges may depend on what is outside."""
    limits = ranges[-1](*args) if callable(ranges[-1]) else ranges[-1]
    low, high = limits
    if len(ranges) == 1:
        return handed_over(scipy.integrate.quad, fun, low, high, args=args, **settings[-1])[0]
    return handed_over(scipy.integrate.quad, Inner(fun, ranges, args, settings), low, high, **settings[-1])[0]


def evaluated(limit, *args):
    return limit(*args) if callable(limit) else limit


class Limits:
    """A range as SciPy's functions of two and three variables take it: two functions of the variables outside."""

    def __init__(self, low, high, count):
        self.low, self.high, self.count = low, high, count

    def __call__(self, *args):
        outside = args[: self.count][::-1]  # they take the outermost variable first
        return evaluated(self.low, *outside), evaluated(self.high, *outside)


def register_iterated(f, problem, names):
    """The rules of a function of several variables, of which ``problem(**arguments)`` are the ranges and settings."""

    def integral(config, call):
        def of(fun, args, *others):
            every = {**vars(call), **dict(zip(names, others, strict=True))}
            ranges, settings = problem(every)
            return iterated(fun, ranges, as_tuple(args if args is not None else ()), settings)

        return of, (call.func, call.args, *[getattr(call, name) for name in names])

    def cotangents(config, call, y, ybar):
        of, parameters = integral(config, call)
        bars = pulled(config, first_of(ybar, f.__name__), of, *parameters)
        return dict(zip(("func", "args", *names), bars, strict=True))

    def tangent(config, call, y, d):
        of, parameters = integral(config, call)
        dparameters = (d.func, d.args, *[getattr(d, name) for name in names])
        _, dy = frule_via_ad(config, (NoTangent(), *dparameters), of, *parameters)
        return filled(dy, y[0]), not_implemented(f"the error estimate of {f.__name__}")

    def refuse(call):
        opts = getattr(call, "opts", None)
        several = opts if isinstance(opts, (list, tuple)) else [opts]
        if any(map(callable, several)):
            return "opts= as functions is not known to the rule; give dicts"
        return refuse_quad(call) if hasattr(call, "full_output") else None

    rules_by_name(f, cotangents, tangent, refuse)


def settings_of_several(every, count):
    return [{"epsabs": every["epsabs"], "epsrel": every["epsrel"]}] * count


register_iterated(
    scipy.integrate.dblquad,
    lambda every: (
        [Limits(every["gfun"], every["hfun"], 1), (every["a"], every["b"])],
        settings_of_several(every, 2),
    ),
    ("a", "b", "gfun", "hfun"),
)
register_iterated(
    scipy.integrate.tplquad,
    lambda every: (
        [
            Limits(every["qfun"], every["rfun"], 2),
            Limits(every["gfun"], every["hfun"], 1),
            (every["a"], every["b"]),
        ],
        settings_of_several(every, 3),
    ),
    ("a", "b", "gfun", "hfun", "qfun", "rfun"),
)


def nquad_problem(every):
    ranges, opts = list(every["ranges"]), every["opts"]
    several = opts if isinstance(opts, (list, tuple)) else [opts] * len(ranges)
    return ranges, [one or {} for one in several]


register_iterated(scipy.integrate.nquad, nquad_problem, ("ranges",))


# ---------------------------------------------------------------- fixed_quad


def gauss_legendre(func, a, b, args, n):
    """What `fixed_quad` computes; its function takes all points at once."""
    x, w = np.polynomial.legendre.leggauss(int(n))
    points = (b - a) * (x + 1) / 2.0 + a
    return (b - a) / 2.0 * np.sum(w * as_array(func(points, *args)), axis=-1)


def fixed_quad_cotangents(config, call, y, ybar):
    arguments = (call.func, call.a, call.b, as_tuple(call.args), call.n)
    funcbar, abar, bbar, argsbar, _ = pulled(config, first_of(ybar, "fixed_quad"), gauss_legendre, *arguments)
    return {"func": funcbar, "a": abar, "b": bbar, "args": from_tuple_cotangent(argsbar, call.args)}


def fixed_quad_tangent(config, call, y, d):
    tangents = (NoTangent(), d.func, d.a, d.b, as_tuple_tangent(d.args, call.args), NoTangent())
    arguments = (call.func, call.a, call.b, as_tuple(call.args), call.n)
    _, dy = frule_via_ad(config, tangents, gauss_legendre, *arguments)
    return filled(dy, y[0]), NoTangent()


rules_by_name(scipy.integrate.fixed_quad, fixed_quad_cotangents, fixed_quad_tangent)
