"""The implicit function theorem: derivatives of what is defined by equations, without those of how it was found.

Where F(z, θ) = 0 defines z(θ), dz = -(∂F/∂z)⁻¹ ∂F/∂θ dθ, hence θ̄ = -(∂F/∂θ)ᴴ λ with (∂F/∂z)ᴴ λ = z̄ (Blondel et al.
2022, "Efficient and modular implicit differentiation"). F is differentiated by the AD system that calls the rule.
"""

import numpy as np

from rulescore import (
    AbstractZero,
    MissingDerivativeError,
    NoTangent,
    Tangent,
    ZeroTangent,
    apply_linear,
    frule_via_ad,
    not_implemented,
    structure_of,
    unthunk,
)

from ...numpy.array_like import as_array
from ..named_arguments import differentiated, filled
from ..working_precision import solve

# How far from the solution, in Newton steps relative to its size, a derivative is still taken for that of the solution.
CLOSE = 1e-3


def implicit_pullback(config, conditions, z, parameters, zbar):
    """The cotangents of the parameters of ``conditions(z, *parameters) = 0``, from that of z.

    Parameters
    ----------
    conditions : callable
        Returns an array with as many elements as ``z``.
    z : array
        Where the conditions hold.
    parameters : tuple
        Whatever they depend on, functions with parameters of their own too.
    zbar : array
        The cotangent of ``z``.
    """
    if isinstance(zbar, AbstractZero) or np.size(z) == 0:
        return (ZeroTangent(),) * len(parameters)
    f, pull = differentiated(config, conditions, z, *parameters)

    def bars_of(fbar):
        return pull(np.reshape(fbar, np.shape(f)))

    jacobian_h = np.stack([_vector(bars_of(e)[0], z) for e in unit_vectors(z)], axis=-1)
    multipliers = _solved(jacobian_h, zbar, z)
    _check_is_solution(jacobian_h.conj().T, f, z)
    return tuple(bars_of(-multipliers)[1:])


def implicit_pushforward(config, conditions, z, parameters, dparameters):
    """The tangent of z from those of the parameters; see `implicit_pullback`."""

    if np.size(z) == 0:
        return ZeroTangent()

    def pushed(dz, dtheta):
        tangents = (NoTangent(), dz, *dtheta)
        f, df = frule_via_ad(config, tangents, conditions, z, *parameters)
        return f, unthunk(df)

    def solved(df):
        still = [ZeroTangent() if not isinstance(dx, NoTangent) else dx for dx in dparameters]
        units = [np.reshape(e, np.shape(z)) for e in unit_vectors(z)]
        jacobian = np.stack([_vector(pushed(e, still)[1], z) for e in units], axis=-1)
        _check_is_solution(jacobian, f, z)
        return -_solved(jacobian, df, z)

    f, df = pushed(ZeroTangent(), dparameters)
    return apply_linear(solved, df)


def unit_vectors(z):
    """The unit vectors of the space of an array, as vectors."""
    return np.eye(np.size(z), dtype=np.result_type(z))


def _vector(bar, z):
    return np.reshape(filled(bar, z), -1)


def _solved(matrix, right, z):
    try:
        found = solve(matrix, np.reshape(right, -1))
    except np.linalg.LinAlgError:
        raise MissingDerivativeError(
            "the derivative of a solution was asked for where it has none: the Jacobian of the equations that define "
            "it is singular there (a multiple root, a flat minimum, constraints that depend on each other)"
        ) from None
    return np.reshape(found, np.shape(z))


def _check_is_solution(jacobian, f, z):
    """Raise where the solver stopped far from a solution: the formula would give the derivative of something else."""
    step = np.max(np.abs(_solved(jacobian, f, z)), initial=0.0)
    if not step <= CLOSE * (1 + np.max(np.abs(z), initial=0.0)):
        raise MissingDerivativeError(
            "the derivative of a solution was asked for where the solver has found none (a Newton step from there is "
            f"of size {step}): look at its success and message, give another start or tighter tolerances"
        )


# ---------------------------------------------------------------- functions and their arguments


def as_tuple(args):
    """The ``args=`` of SciPy's functions, which may be a single object in the place of a tuple."""
    return args if isinstance(args, tuple) else (args,)


def as_tuple_tangent(dargs, args):
    return dargs if isinstance(args, tuple) else apply_linear(lambda dx: Tangent(tuple, dx), dargs)


def from_tuple_cotangent(bar, args):
    """The cotangent of ``args=`` from that of the tuple."""
    return bar if isinstance(args, tuple) else bar[0]


def values_of(fun, z, args):
    """What a function returns, as an array in the form of its argument: SciPy lets it return lists."""
    return np.reshape(as_array(fun(z, *args)), np.shape(z))


# ---------------------------------------------------------------- results


def tangent_of_result(y, known):
    """The tangent of an ``OptimizeResult``: what is known of it, the rest is missing."""
    fields = {key: like(value, known[key]) if key in known else _missing(key, value) for key, value in y.items()}
    return Tangent.from_fields(type(y), fields)


def like(value, dx):
    """A tangent of a number as a number, where it is an array without axes."""
    return dx[()] if np.ndim(value) == 0 and hasattr(dx, "dtype") else dx


def _missing(key, value):
    if isinstance(value, (tuple, list, dict)):
        fields = {k: _missing(key, part) for k, part in (structure_of(value) or {}).items()}
        return Tangent.from_fields(type(value), fields) if fields else NoTangent()
    if getattr(getattr(value, "dtype", None), "kind", "") in ("f", "c") or issubclass(type(value), (float, complex)):
        return not_implemented(f".{key} of the result, which depends on how the solution was found")
    return NoTangent()


def cotangents_of_result(ybar, y, names):
    """The cotangents of some fields of an ``OptimizeResult``; an error where others have one that is not zero."""
    fields = ybar.fields if isinstance(ybar, Tangent) else dict(ybar)
    bars = {key: unthunk(bar) for key, bar in fields.items()}
    for key, bar in bars.items():
        if key not in names and not is_zero(bar):
            not_implemented(f".{key} of the result, which depends on how the solution was found").fail()
    return [bars.get(name, ZeroTangent()) for name in names]


def is_zero(bar):
    """Whether a cotangent is zero, throughout where it is one of a container."""
    bar = unthunk(bar)
    if isinstance(bar, Tangent):
        return all(map(is_zero, bar.fields.values()))
    if isinstance(bar, (tuple, list)):
        return all(map(is_zero, bar))
    return isinstance(bar, AbstractZero) or not np.any(bar)
