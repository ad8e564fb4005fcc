"""Rotary embedding: pair i of the vector at position m is turned by the angle m θᵢ. Positions count from 1."""

import numpy as np

from rulescore import apply_linear, frule, pullback_wrt, pushforward, rrule
from rulescore.testing import sample, sample_inputs


def rotary(x, theta):
    """y[m, 2i] + 1j y[m, 2i+1] = exp(1j m θᵢ) (x[m, 2i] + 1j x[m, 2i+1]).

    ``x`` has shape (positions, d) with an even d, ``theta`` has shape (d/2,).
    """
    return turn(x, *cos_and_sin(x, theta))


def cos_and_sin(x, theta):
    """Cosine and sine of the angles, both of shape (positions, d/2)."""
    if np.ndim(x) != 2 or np.shape(x)[1] % 2 == 1:
        raise ValueError(
            f"rotary(x, theta) turns pairs of columns, and x of shape {np.shape(x)} cannot be cut into pairs: "
            "give x the shape (positions, d) with an even d"
        )
    if np.shape(theta) != (np.shape(x)[1] // 2,):
        raise ValueError(
            f"rotary(x, theta) turns each pair of columns by an angle of its own, and theta of shape "
            f"{np.shape(theta)} does not fit x of shape {np.shape(x)}: give theta the shape ({np.shape(x)[1] // 2},)"
        )
    if np.iscomplexobj(x) or np.iscomplexobj(theta):
        raise TypeError(
            "rotary(x, theta) turns pairs of real numbers by real angles, and got complex ones: "
            "for complex vectors write x * np.exp(1j * angles)"
        )
    angles = positions(x, theta) * theta
    return np.cos(angles), np.sin(angles)


def positions(x, theta):
    """The column 1, 2, ..., in the precision of the angles."""
    return np.arange(1, len(x) + 1, dtype=theta.dtype)[:, None]


def turn(x, cos, sin):
    even, odd = x[:, 0::2], x[:, 1::2]
    return interleave(cos * even - sin * odd, sin * even + cos * odd)


def interleave(even, odd):
    return np.stack([even, odd], axis=-1).reshape(len(even), -1)


@frule.register(rotary)
@pushforward
def rotary_frule(dx, dtheta, x: np.ndarray, theta: np.ndarray):
    """dy is dx turned, plus y turned by a right angle times m dθᵢ."""
    cos, sin = cos_and_sin(x, theta)
    y = turn(x, cos, sin)

    def from_angles(dtheta):
        dangles = positions(x, theta) * dtheta
        return interleave(-dangles * y[:, 1::2], dangles * y[:, 0::2])

    # One of the two may be zero: `apply_linear` passes it by.
    return y, apply_linear(lambda dx: turn(dx, cos, sin), dx) + apply_linear(from_angles, dtheta)


@rrule.register(rotary)
def rotary_rrule(x: np.ndarray, theta: np.ndarray):
    """xbar is ybar turned back; θ̄ᵢ = Σₘ m (y[m, 2i] ybar[m, 2i+1] - y[m, 2i+1] ybar[m, 2i])."""
    cos, sin = cos_and_sin(x, theta)
    y = turn(x, cos, sin)

    def thetabar(ybar):
        torque = y[:, 0::2] * ybar[:, 1::2] - y[:, 1::2] * ybar[:, 0::2]
        return np.sum(positions(y, theta) * torque, axis=0)

    # Most callers want one of the two. They are two functions, so the other costs nothing.
    return y, pullback_wrt(x, theta)(lambda ybar: turn(ybar, cos, -sin), thetabar)


@sample_inputs(rotary)
def rotary_samples(rng):
    yield sample(rng.standard_normal((5, 6)), rng.standard_normal(3))
    yield sample(rng.standard_normal((1, 2)), rng.standard_normal(1), _name="one pair")
    yield sample(rng.standard_normal((8, 4)), 10000.0 ** -np.linspace(0, 0.5, 2), _name="angles of a language model")
    yield sample(rng.standard_normal((3, 4)).astype(np.float32), rng.standard_normal(2).astype(np.float32))
    yield sample(rng.standard_normal((3, 4)).astype(np.float32), rng.standard_normal(2), _name="two precisions")
