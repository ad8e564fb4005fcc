"""The arguments that the rules are checked on."""

from rulescore.testing import sample, sample_inputs
from springs import energy


@sample_inputs(energy)
def energy_samples(rng):
    yield sample(rng.random(3) + 1, rng.standard_normal(3))
    yield sample(rng.random((2, 2)) + 1, rng.standard_normal((2, 2)))
