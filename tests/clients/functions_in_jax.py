"""The functions in JAX: of which adapter, and as JAX's users write them."""

import jax
import jax.numpy as jnp
from jax.scipy.special import gammaln, log_ndtr

from rulescore.backends.jax import to_jax as adapter
from tests.clients.functions import Functions


def _hausdorff(c):
    return jnp.max(jnp.min(c, axis=1))


def _log_determinant(a):
    return jnp.linalg.slogdet(a)[1]


def _negative_binomial(counts, mean, dispersion):
    probability = mean / (dispersion + mean)
    choices = gammaln(counts + dispersion) - gammaln(dispersion) - gammaln(counts + 1.0)
    return choices + dispersion * jnp.log1p(-probability) + counts * jnp.log(probability)


def _predator_prey(population, rates):
    prey, predators = population
    met = prey * predators
    return jnp.array([rates[0] * prey - rates[1] * met, rates[2] * met - rates[3] * predators])


def _layer(parameters, x):
    return jnp.tanh(x @ parameters["W"] + parameters["b"])


def _moments(x):
    return x.mean(axis=0), x.var(axis=0)


OWN = Functions(
    jax.nn.swish, _hausdorff, _log_determinant, log_ndtr, _negative_binomial, _predator_prey, _layer, _moments
)

__all__ = ["OWN", "adapter"]
