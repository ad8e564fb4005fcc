"""The functions in PyTorch: of which adapter, and as PyTorch's users write them."""

import torch

from rulescore.backends.torch import to_torch as adapter
from tests.clients.functions import Functions


def _hausdorff(c):
    return c.min(dim=1).values.max()


def _log_determinant(a):
    return torch.linalg.slogdet(a).logabsdet


def _negative_binomial(counts, mean, dispersion):
    probability = mean / (dispersion + mean)
    choices = torch.lgamma(counts + dispersion) - torch.lgamma(dispersion) - torch.lgamma(counts + 1.0)
    return choices + dispersion * torch.log1p(-probability) + counts * torch.log(probability)


def _predator_prey(population, rates):
    prey, predators = population
    met = prey * predators
    return torch.stack([rates[0] * prey - rates[1] * met, rates[2] * met - rates[3] * predators])


def _layer(parameters, x):
    return torch.tanh(x @ parameters["W"] + parameters["b"])


def _moments(x):
    return x.mean(dim=0), x.var(dim=0, correction=0)


OWN = Functions(
    torch.nn.functional.silu,
    _hausdorff,
    _log_determinant,
    torch.special.log_ndtr,
    _negative_binomial,
    _predator_prey,
    _layer,
    _moments,
)

__all__ = ["OWN", "adapter"]
