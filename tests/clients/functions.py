"""The functions that uses hand to libraries: NumPy code with a rule of its own, with shipped rules, or traced."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import astuple, dataclass
from typing import Any

import numpy as np
from scipy.special import gammaln, log_ndtr

from rulescore import frule, pullback_wrt, pushforward, rrule
from rulescore.ad import ignore_derivatives


@dataclass(frozen=True)
class Functions:
    """The functions, in NumPy or in another system, made by an adapter or written with the system's own functions.

    Attributes
    ----------
    swish : callable
        x / (1 + exp(-x)) of any array. Its rule is written here.
    hausdorff : callable
        The directed Hausdorff distance of a matrix of distances. Its rule is written here.
    log_determinant : callable
        log |det A|. NumPy code that is traced.
    log_normal_cdf : callable
        log Φ(x), a function of SciPy with a shipped rule.
    negative_binomial : callable
        Of counts, which are integers, their mean and the dispersion: the logarithm of their probabilities.
    predator_prey : callable
        The rates at which the numbers of prey and predators change, of these two numbers and four parameters.
    layer : callable
        Of a dict of parameters and of inputs: tanh(x W + b).
    moments : callable
        Of a matrix: the means of its columns, and their variances.
    """

    swish: Callable[..., Any]
    hausdorff: Callable[..., Any]
    log_determinant: Callable[..., Any]
    log_normal_cdf: Callable[..., Any]
    negative_binomial: Callable[..., Any]
    predator_prey: Callable[..., Any]
    layer: Callable[..., Any]
    moments: Callable[..., Any]

    def through(self, adapter: Callable[..., Any]) -> Functions:
        """The same functions, each through an adapter."""
        return Functions(*map(adapter, astuple(self)))


def swish(x: Any) -> Any:
    return x / (1 + np.exp(-x))


@rrule.register(swish)
def swish_rrule(x: Any) -> Any:
    sigmoid = 1 / (1 + np.exp(-x))

    @pullback_wrt(x)
    def swish_pullback(ybar: Any) -> Any:
        return ybar * (sigmoid + x * sigmoid * (1 - sigmoid))

    return x * sigmoid, swish_pullback


@frule.register(swish)
@pushforward
def swish_frule(dx: Any, x: Any) -> Any:
    sigmoid = 1 / (1 + np.exp(-x))
    return x * sigmoid, dx * (sigmoid + x * sigmoid * (1 - sigmoid))


def hausdorff(c: Any) -> Any:
    return np.max(np.min(c, axis=1))


@rrule.register(hausdorff)
def hausdorff_rrule(c: Any) -> Any:
    i = np.argmax(np.min(c, axis=1))
    at = i, np.argmin(c[i])

    @pullback_wrt(c)
    def hausdorff_pullback(ybar: Any) -> Any:
        cbar = np.zeros_like(c)
        cbar[at] = ybar
        return cbar

    return c[at], hausdorff_pullback


@frule.register(hausdorff)
@pushforward
def hausdorff_frule(dc: Any, c: Any) -> Any:
    i = np.argmax(np.min(c, axis=1))
    at = i, np.argmin(c[i])
    return c[at], dc[at]


def log_determinant(a: Any) -> Any:
    return np.linalg.slogdet(a)[1]


def negative_binomial(counts: Any, mean: Any, dispersion: Any) -> Any:
    return (
        gammaln(counts + dispersion)
        - gammaln(dispersion)
        - gammaln(counts + 1.0)
        + dispersion * np.log(dispersion / (dispersion + mean))
        + counts * np.log(mean / (dispersion + mean))
    )


def predator_prey(population: Any, rates: Any) -> Any:
    prey, predators = population[0], population[1]
    born = rates[0] * prey - rates[1] * prey * predators
    return np.stack([born, rates[2] * prey * predators - rates[3] * predators])


def layer(parameters: Any, x: Any) -> Any:
    return np.tanh(x @ parameters["W"] + parameters["b"])


def moments(x: Any) -> tuple[Any, Any]:
    return np.mean(x, axis=0), np.var(x, axis=0)


FUNCTIONS = Functions(swish, hausdorff, log_determinant, log_ndtr, negative_binomial, predator_prey, layer, moments)


def with_wrong_derivative(f: Callable[..., Any]) -> Callable[..., Any]:
    """The function, with derivatives that are wrong by a factor that differs between the numbers that it returns."""
    return functools.partial(_with_wrong_derivative, f)


def _with_wrong_derivative(f: Callable[..., Any], *args: Any) -> Any:
    y = f(*args)
    return tuple(map(_wrongly_derived, y)) if isinstance(y, tuple) else _wrongly_derived(y)


def _wrongly_derived(y: Any) -> Any:
    """Of the value y and the derivative y' (1.1 + 0.2 y)."""
    more = 0.1 * (y + y**2)
    return y + more - ignore_derivatives(more)
