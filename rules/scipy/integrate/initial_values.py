"""Solutions of initial value problems: with respect to the initial state, the times, and what the rate depends on.

Forward: y' = f(t, y, θ) and s' = ∂f/∂y s + ∂f/∂θ θ̇, solved as one system. Reverse, the adjoint: λ' = -(∂f/∂y)ᵀ λ from
the last time to the first, with a jump by ȳₖ at tₖ, and θ̄ = ∫ (∂f/∂θ)ᵀ λ dt; y is solved again between the times of the
solution, which serve as checkpoints, and so is neither kept as a whole nor integrated backwards, which stiff systems do
not bear (Cao et al. 2003, "Adjoint sensitivity analysis for differential-algebraic equations"). All with the solver and
the tolerances of the call.

Where the solver chooses the times (no t_eval), the derivative is that of the solution at these times, of which the
first and the last move with t_span.
"""

import numpy as np

import scipy.integrate
from rulescore import MissingDerivativeError, NoTangent, Tangent, ZeroTangent, apply_linear, frule_via_ad
from rulescore.closures import handed_over, made_explicit

from ...numpy.array_like import as_array, as_array_tangent
from ..named_arguments import filled, parts, pulled, rules_by_name
from ..optimize.implicit import (
    as_tuple,
    as_tuple_tangent,
    cotangents_of_result,
    from_tuple_cotangent,
    is_zero,
    tangent_of_result,
)
from .parameter_vectors import size_of, tangent_from, vector_of


class Rate:
    """f(t, y, *args) for both orders of the first two arguments."""

    def __init__(self, time_first):
        self.time_first = time_first

    def __call__(self, y, fun, args, t):
        values = fun(t, y, *args) if self.time_first else fun(y, t, *args)
        return np.reshape(as_array(values), np.shape(y))


TIME_FIRST, STATE_FIRST = Rate(True), Rate(False)


# ---------------------------------------------------------------- rates of the systems of derivatives


class Sensitivity:
    """The rate of (y, s), where s is the derivative of y in one direction."""

    def __init__(self, config, rate, fun, args, dfun, dargs):
        self.config, self.rate = config, rate
        self.fun, self.args, self.dfun, self.dargs = fun, args, dfun, dargs

    def __call__(self, t, z):
        n = len(z) // 2
        tangents = (NoTangent(), z[n:], self.dfun, self.dargs, ZeroTangent())
        f, df = frule_via_ad(self.config, tangents, self.rate, z[:n], self.fun, self.args, t)
        return np.concatenate([f, filled(df, f)])


class Adjoint:
    """The rate of (λ, θ̄), where y(t) is known."""

    def __init__(self, config, rate, fun, args, state):
        self.config, self.rate, self.fun, self.args, self.state = config, rate, fun, args, state

    def __call__(self, t, z):
        y = self.state(t)
        ybar, *bars, _ = pulled(self.config, z[: len(y)], self.rate, y, self.fun, self.args, t)
        return -np.concatenate([filled(ybar, y), vector_of(Tangent(tuple, *bars), (self.fun, self.args))])


# ---------------------------------------------------------------- trajectories


class Trajectory:
    """A solution at some times, and how it was found.

    Attributes
    ----------
    times : array of shape (m,)
    states : array of shape (m, n)
    start : number
        The time of the initial state.
    settings : dict
        The method of `solve_ivp`, its tolerances and other options.
    """

    def __init__(self, rate, fun, args, start, initial, times, states, settings):
        self.rate, self.fun, self.args = rate, fun, args
        self.start, self.initial, self.times, self.states, self.settings = start, initial, times, states, settings

    def rate_at(self, k):
        """y' at one of the times."""
        return self.rate(self.states[k], self.fun, self.args, self.times[k])

    # ---- forward

    def tangent(self, config, dinitial, dfun, dargs, dstart):
        """The tangents of the states at fixed times."""
        s = filled(dinitial, self.initial) - apply_linear(
            lambda dt: self.rate(self.initial, self.fun, self.args, self.start) * dt, dstart
        )
        system = Sensitivity(config, self.rate, self.fun, self.args, dfun, dargs)
        n = len(self.initial)
        z = np.concatenate([self.initial, s])
        if self.start == self.times[-1]:  # and so all times are
            return np.stack([s] * len(self.times))
        span = (self.start, self.times[-1])
        is_new = np.concatenate([[True], np.diff(self.times) != 0])  # odeint takes a time more than once
        times = self.times[is_new]
        if has_no_steps(system, self.start, z):
            return np.full_like(self.states, np.nan)
        solved = handed_over(scipy.integrate.solve_ivp, system, span, z, t_eval=times, **self._settings(n))
        _check(solved)
        return np.transpose(solved.y[n:])[np.cumsum(is_new) - 1]

    def _settings(self, extra):
        """The settings for a system with more components, which have the absolute tolerance of none of the first."""
        settings = dict(self.settings)
        if np.ndim(settings.get("atol", 0.0)):
            atol = np.asarray(settings["atol"])
            settings["atol"] = np.concatenate([atol, np.full(extra, np.min(atol))])
        return settings

    # ---- reverse

    def cotangents(self, config, ybar):
        """The cotangents of initial state, function and arguments, from those of the states, of shape (m, n)."""
        if made_explicit(self.states, (self.fun, self.args, self.initial, self.states, ybar), {}) is not None:
            return self._cotangents_by_direction(config, ybar)
        return self._cotangents_by_adjoint(config, ybar)

    def _cotangents_by_direction(self, config, ybar):
        """What derivatives of higher order take: by tangents, which are differentiated again as any solution is."""
        parameters = (self.fun, self.args)
        still = np.zeros(np.shape(self.initial))
        n, p = np.size(self.initial), size_of(parameters)

        def along_initial(e):
            return self.tangent(config, e, ZeroTangent(), ZeroTangent(), ZeroTangent())

        def along_parameters(e):
            return self.tangent(config, still, *tangent_from(e, parameters), ZeroTangent())

        def bars(along, count):
            """What each number does to ȳ: its real part, and where there are complex numbers its imaginary part."""
            units = np.eye(count)
            found = np.stack([inner(ybar, along(e)) for e in units])
            if not np.iscomplexobj(self.initial):
                return found
            return found + 1j * np.stack([inner(ybar, along(1j * e)) for e in units])

        funbar, argsbar = tangent_from(bars(along_parameters, p), parameters) if p else (ZeroTangent(), ZeroTangent())
        return bars(along_initial, n), funbar, argsbar

    def _cotangents_by_adjoint(self, config, ybar):
        n, parameters = len(self.initial), (self.fun, self.args)
        p = size_of(parameters)
        z = np.zeros(n + p, np.result_type(self.initial, ybar))
        for first, last in self._segments(ybar):
            z[:n] += ybar[last]
            t0, y0 = (self.start, self.initial) if first < 0 else (self.times[first], self.states[first])
            if t0 != self.times[last]:
                z = self._back(config, z, t0, y0, self.times[last])
        funbar, argsbar = tangent_from(z[n:], parameters) if p else (ZeroTangent(), ZeroTangent())
        return z[:n], funbar, argsbar

    def _segments(self, ybar):
        """Pairs of indices of times, the last ones first, -1 for the start: between them there is no jump.

        At most √m steps of the solution lie between them, so that this many are kept and not all.
        """
        m = len(self.times)
        jumps = set(np.flatnonzero(np.any(ybar != 0, axis=1)).tolist())
        every = max(1, int(np.sqrt(m)))
        ends = sorted({-1, m - 1} | jumps | set(range(0, m, every)), reverse=True)
        return list(zip(ends[1:], ends[:-1], strict=True))

    def _back(self, config, z, t0, y0, t1):
        """(λ, θ̄) at t0 from those at t1."""
        plain = opened(self.fun)
        again = scipy.integrate.solve_ivp(
            lambda t, y: self.rate(y, plain, self.args, t), (t0, t1), y0, dense_output=True, **self.settings
        )
        _check(again)
        system = Adjoint(config, self.rate, self.fun, self.args, again.sol)
        if has_no_steps(system, t1, z):
            return np.full_like(z, np.nan)
        solved = scipy.integrate.solve_ivp(system, (t1, t0), z, **self._settings(len(z) - len(y0)))
        _check(solved)
        return solved.y[:, -1]


def has_no_steps(system, t, z):
    """Whether a system does not move by finite amounts, of which SciPy would look for a first step without an end."""
    return not (np.all(np.isfinite(z)) and np.all(np.isfinite(system(t, z))))


def inner(ybar, dy):
    """How the cotangent of an array goes with a tangent."""
    return np.sum(np.real(np.conj(dy) * ybar))


def opened(fun):
    return getattr(fun, "function", fun) if type(fun).__name__ == "Closure" else fun


def _check(solved):
    if not solved.success:
        raise MissingDerivativeError(
            f"the derivative of a solution of an initial value problem was not found: {solved.message} Try another "
            "method=, or other tolerances"
        )


# ---------------------------------------------------------------- solve_ivp


def trajectory_of_ivp(call, y):
    if not y.success:
        raise MissingDerivativeError(
            "the derivative of a solution of an initial value problem was asked for, but the solver did not get to "
            f"the end: {y.message} Try another method= or other tolerances, or end before"
        )
    of_state_alone = ("jac_sparsity", "lband", "uband")
    settings = {"method": call.method, **{k: v for k, v in call.options.items() if k not in of_state_alone}}
    initial = as_array(call.y0)
    initial = initial if initial.dtype.kind in "fc" else initial.astype(float)
    return Trajectory(TIME_FIRST, call.fun, args_of(call), call.t_span[0], initial, y.t, np.transpose(y.y), settings)


def args_of(call):
    return () if call.args is None else tuple(call.args)


def solve_ivp_cotangents(config, call, y, ybar):
    tbar, statesbar = cotangents_of_result(ybar, y, ("t", "y"))
    found = trajectory_of_ivp(call, y)
    statesbar = np.transpose(filled(statesbar, y.y))
    tbar = filled(tbar, y.t)
    initialbar, funbar, argsbar = found.cotangents(config, statesbar)

    def moved(k):
        return tbar[k] + inner(statesbar[k], found.rate_at(k))

    def spanbar():
        first = -inner(initialbar, found.rate(found.initial, found.fun, found.args, found.start))
        if call.t_eval is not None:
            return Tangent(type(call.t_span), first, ZeroTangent())
        return Tangent(type(call.t_span), first + moved(0), moved(-1))

    def timesbar():
        return np.stack([moved(k) for k in range(len(y.t))])

    return {"fun": funbar, "y0": initialbar, "args": argsbar, "t_span": spanbar, "t_eval": timesbar}


def solve_ivp_tangent(config, call, y, d):
    found = trajectory_of_ivp(call, y)
    dstart, dend = parts(d.t_span, 2)
    dy0 = as_array_tangent(d.y0, call.y0)
    dstates = found.tangent(config, dy0, d.fun, d.args, dstart)
    if call.t_eval is not None:
        dt = filled(as_array_tangent(d.t_eval, call.t_eval), y.t)
    else:
        first, *_, last = np.eye(len(y.t))
        dt = first * filled(dstart, 0.0) + last * filled(dend, 0.0)
    if not is_zero(dt):
        rates = np.stack([found.rate_at(k) for k in range(len(y.t))])
        dstates = dstates + rates * dt[:, None]
    return tangent_of_result(y, {"t": dt, "y": np.transpose(dstates)})


def refuse_solve_ivp(call):
    if call.dense_output:
        return "the derivative of the interpolant of dense_output= is not known; ask for the times with t_eval="
    if call.events is not None:
        return (
            "the derivative of events= is not known; solve for the time of the event with root_scalar, as a root of "
            "the solution at that time"
        )
    return None


rules_by_name(scipy.integrate.solve_ivp, solve_ivp_cotangents, solve_ivp_tangent, refuse_solve_ivp, more=("jac",))


# ---------------------------------------------------------------- odeint


def trajectory_of_odeint(call, y):
    tolerances = {"rtol": 1.49012e-8, "atol": 1.49012e-8}  # the defaults of odeint, which calls LSODA too
    tolerances |= {name: getattr(call, name) for name in tolerances if getattr(call, name) is not None}
    initial = np.reshape(as_array(call.y0), -1)
    initial = initial if initial.dtype.kind in "fc" else initial.astype(float)
    rate = TIME_FIRST if call.tfirst else STATE_FIRST
    times = as_array(call.t)
    settings = {"method": "LSODA", **tolerances}
    return Trajectory(rate, call.func, as_tuple(call.args), times[0], initial, times, y, settings)


def odeint_cotangents(config, call, y, ybar):
    found = trajectory_of_odeint(call, y)
    initialbar, funbar, argsbar = found.cotangents(config, ybar)

    def timesbar():
        moved = np.stack([np.sum(found.rate_at(k) * ybar[k]) for k in range(len(y))])
        start = np.sum(initialbar * found.rate_at(0))  # the initial state is that at the first time
        return moved - start * np.eye(len(y))[0]

    return {
        "func": funbar,
        "y0": np.reshape(initialbar, np.shape(as_array(call.y0))),
        "t": timesbar,
        "args": from_tuple_cotangent(argsbar, call.args),
    }


def odeint_tangent(config, call, y, d):
    found = trajectory_of_odeint(call, y)
    dy0, dt = np.reshape(as_array_tangent(d.y0, call.y0), -1), as_array_tangent(d.t, call.t)
    at_fixed_times = found.tangent(config, dy0, d.func, as_tuple_tangent(d.args, call.args), dt[0])

    def by_times(dt):
        return np.stack([found.rate_at(k) for k in range(len(y))]) * dt[:, None]

    return at_fixed_times + apply_linear(by_times, dt)


def refuse_odeint(call):
    return "full_output gives an account of the integration too; leave that out" if call.full_output else None


rules_by_name(scipy.integrate.odeint, odeint_cotangents, odeint_tangent, refuse_odeint)
