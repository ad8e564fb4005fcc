"""The functions in PyTensor, which takes those of JAX: of which adapter, and as PyTensor's users write them."""

import pytensor
import pytensor.tensor as pt

from rulescore.backends.jax import to_jax
from tests.clients.functions import Functions


def adapter(f):
    """A function of PyTensor's variables."""
    return pytensor.wrap_jax(to_jax(f))


def _swish(x):
    return x * pt.sigmoid(x)


def _hausdorff(c):
    return pt.max(pt.min(c, axis=1))


def _log_determinant(a):
    return pt.linalg.slogdet(a)[1]


def _log_normal_cdf(x):
    return pt.log(pt.erfc(-x / pt.sqrt(2.0)) / 2)


def _negative_binomial(counts, mean, dispersion):
    probability = mean / (dispersion + mean)
    choices = pt.gammaln(counts + dispersion) - pt.gammaln(dispersion) - pt.gammaln(counts + 1.0)
    return choices + dispersion * pt.log1p(-probability) + counts * pt.log(probability)


def _predator_prey(population, rates):
    met = population[0] * population[1]
    return pt.stack([rates[0] * population[0] - rates[1] * met, rates[2] * met - rates[3] * population[1]])


def _layer(parameters, x):
    return pt.tanh(x @ parameters["W"] + parameters["b"])


def _moments(x):
    return x.mean(axis=0), x.var(axis=0)


OWN = Functions(
    _swish, _hausdorff, _log_determinant, _log_normal_cdf, _negative_binomial, _predator_prey, _layer, _moments
)
