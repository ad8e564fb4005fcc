"""The functions in HIPS autograd: of which adapter, and as autograd's users write them."""

import autograd.numpy as np
from autograd.scipy.special import gammaln
from autograd.scipy.stats import norm

from rulescore.backends.autograd import to_autograd as adapter
from tests.clients.functions import Functions


def _swish(x):
    return x / (1 + np.exp(-x))


def _hausdorff(c):
    return np.max(np.min(c, axis=1))


def _log_determinant(a):
    return np.linalg.slogdet(a)[1]


def _negative_binomial(counts, mean, dispersion):
    probability = mean / (dispersion + mean)
    choices = gammaln(counts + dispersion) - gammaln(dispersion) - gammaln(counts + 1.0)
    return choices + dispersion * np.log(1 - probability) + counts * np.log(probability)


def _predator_prey(population, rates):
    met = population[0] * population[1]
    return np.array([rates[0] * population[0] - rates[1] * met, rates[2] * met - rates[3] * population[1]])


def _layer(parameters, x):
    return np.tanh(np.dot(x, parameters["W"]) + parameters["b"])


def _moments(x):
    return np.mean(x, axis=0), np.var(x, axis=0)


OWN = Functions(_swish, _hausdorff, _log_determinant, norm.logcdf, _negative_binomial, _predator_prey, _layer, _moments)

__all__ = ["OWN", "adapter"]
