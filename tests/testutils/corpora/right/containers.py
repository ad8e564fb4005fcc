"""Arguments and outputs that are containers."""

import dataclasses

import numpy as np

from corpora import multiprecision as mp
from corpora.corpus import Differentiable, normal
from corpora.right.elementwise import tanh_derivative
from corpora.right.entry import right
from corpora.right.linear_algebra import adjoint
from rulescore import NoTangent, Tangent, unbroadcast


@dataclasses.dataclass
class Bell:
    """A Gaussian bell: its place, its width and its name."""

    centre: np.ndarray
    width: float
    name: str = "bell"


def bell(shape, t):
    return np.exp(-0.5 * ((t - shape.centre) / shape.width) ** 2)


def bell_jvp(dshape, dt, shape, t):
    z = (t - shape.centre) / shape.width
    return -np.exp(-0.5 * z**2) * z * (dt - dshape.centre - z * dshape.width) / shape.width


def bell_vjp(ybar, shape, t):
    z = (t - shape.centre) / shape.width
    tbar = -np.conj(np.exp(-0.5 * z**2) * z / shape.width) * ybar
    return Tangent(Bell, centre=-tbar, width=-np.sum(np.conj(z) * tbar), name=NoTangent()), np.sum(tbar)


def two_layers(parameters, x):
    """A network of two layers: nested dicts and lists of weights."""
    for layer in parameters["layers"]:
        x = np.tanh(layer["weight"] @ x + layer["bias"])
    return parameters["scale"] * x


def angles_of(parameters, x):
    """What goes into the tanh of each layer, after the input of that layer."""
    for layer in parameters["layers"]:
        angle = layer["weight"] @ x + layer["bias"]
        yield x, angle
        x = np.tanh(angle)


def two_layers_jvp(dp, dx, p, x):
    for (before, angle), layer, dlayer in zip(angles_of(p, x), p["layers"], dp["layers"], strict=True):
        dx = tanh_derivative(angle) * (dlayer["weight"] @ before + layer["weight"] @ dx + dlayer["bias"])
    return dp["scale"] * np.tanh(angle) + p["scale"] * dx


def two_layers_vjp(ybar, p, x):
    through = list(zip(p["layers"], angles_of(p, x), strict=True))
    _, (_, last_angle) = through[-1]
    scale_bar = np.sum(np.conj(np.tanh(last_angle)) * ybar)
    xbar = np.conj(p["scale"]) * ybar
    layer_bars = []
    for layer, (x, angle) in reversed(through):
        angle_bar = np.conj(tanh_derivative(angle)) * xbar
        layer_bars.insert(0, {"weight": np.outer(angle_bar, np.conj(x)), "bias": angle_bar})
        xbar = adjoint(layer["weight"]) @ angle_bar
    return {"layers": layer_bars, "scale": scale_bar}, xbar


def mp_two_layers(parameters, x):
    for layer in parameters["layers"]:
        x = mp.tanh(layer["weight"] @ x + layer["bias"])
    return parameters["scale"] * x


def a_network(rng):
    layers = [{"weight": rng.standard_normal((3, 3)), "bias": rng.standard_normal(3)} for _ in range(2)]
    return ({"layers": layers, "scale": float(rng.uniform(1, 2))}, rng.standard_normal(3)), {}


def mean_and_spread(x):
    """Two outputs: the mean, and the deviations from it."""
    return np.mean(x), x - np.mean(x)


def mean_and_spread_vjp(cotangents, x):
    mean_bar, deviation_bar = cotangents
    n = max(np.size(x), 1)
    return mean_bar / n + deviation_bar - np.sum(deviation_bar) / n


def stacked(pieces):
    return np.concatenate(pieces)


def stacked_vjp(ybar, pieces):
    return np.split(ybar, np.cumsum([len(piece) for piece in pieces])[:-1])


right(
    "a dataclass with a name",
    Differentiable(
        bell, bell_jvp, bell_vjp, twin=lambda shape, t: mp.exp(-(((t - shape.centre) / shape.width) ** 2) / 2)
    ),
    lambda rng: ((Bell(rng.standard_normal(3), float(rng.uniform(1, 2))), float(rng.standard_normal())), {}),
)
right(
    "nested dicts and lists", Differentiable(two_layers, two_layers_jvp, two_layers_vjp, twin=mp_two_layers), a_network
)
right(
    "two outputs",
    Differentiable(mean_and_spread, jvp=lambda dx, x: mean_and_spread(dx), vjp=mean_and_spread_vjp),
    normal(5),
)
right(
    "a list of arrays",
    Differentiable(stacked, jvp=lambda dpieces, pieces: np.concatenate(dpieces), vjp=stacked_vjp),
    lambda rng: (([rng.standard_normal(2), rng.standard_normal(1), rng.standard_normal(3)],), {}),
)


def where_positive(condition, a, b):
    return np.where(condition, a, b)


def where_positive_vjp(ybar, condition, a, b):
    return (
        NoTangent(),
        unbroadcast(np.where(condition, ybar, 0.0), np.shape(a)),
        unbroadcast(np.where(condition, 0.0, ybar), np.shape(b)),
    )


right(
    "a choice between branches, one of which is NaN where it is not taken",
    Differentiable(where_positive, jvp=lambda _, da, db, c, a, b: np.where(c, da, db), vjp=where_positive_vjp),
    lambda rng: (
        (np.array([True, False, True]), np.array([1.0, np.nan, 2.0]) * rng.uniform(1, 2, 3), rng.standard_normal(3)),
        {},
    ),
)
