"""mymaximum(x), the largest entry of a vector or matrix: the pullback uses the index that the forward pass found.

At a tie the first of the largest entries gets the whole cotangent. That is one member of the generalised derivative;
the rule of ``np.max`` chooses another, and shares equally.
"""

import numpy as np

from rulescore import frule, pullback_wrt, pushforward, rrule
from rulescore.testing import sample, sample_inputs


def mymaximum(x):
    return np.max(x)


def index_of_maximum(x):
    return np.unravel_index(np.argmax(x), x.shape)


@frule.register(mymaximum)
@pushforward
def mymaximum_frule(dx, x: np.ndarray):
    """dy = dx[k], where x[k] is the maximum."""
    k = index_of_maximum(x)
    return x[k], dx[k]


@rrule.register(mymaximum)
def mymaximum_rrule(x: np.ndarray):
    """xbar[k] = ybar, where x[k] is the maximum; zero elsewhere."""
    k = index_of_maximum(x)
    shape, dtype = x.shape, x.dtype  # all that is needed of x: the pullback does not keep x itself alive

    @pullback_wrt(x)
    def mymaximum_pullback(ybar):
        xbar = np.zeros(shape, dtype)
        xbar[k] = ybar
        return xbar

    return x[k], mymaximum_pullback


@sample_inputs(mymaximum)
def mymaximum_samples(rng):
    yield sample(rng.standard_normal(6))
    yield sample(rng.standard_normal((4, 5)))
    yield sample(rng.standard_normal((1, 1)))
    yield sample(rng.standard_normal((5, 4)).T, _name="not contiguous")
    yield sample(rng.standard_normal((3, 4)).astype(np.float32))
