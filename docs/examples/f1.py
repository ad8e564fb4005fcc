"""f1(x, y) = x² + 3y: the rules of an elementwise function, written out."""

import numpy as np

from rulescore import frule, pullback_wrt, pushforward, rrule, unbroadcast, zero_tangent
from rulescore.testing import sample, sample_inputs


def f1(x, y):
    return x**2 + 3 * y


@frule.register(f1)
@pushforward
def f1_frule(dx, dy, x, y):
    """dz = 2x dx + 3 dy."""
    z = f1(x, y)
    # The zero gives dz the shape of z, also where only the smaller of two broadcast arguments moves.
    return z, zero_tangent(z) + 2 * x * dx + 3 * dy


@rrule.register(f1)
def f1_rrule(x, y):
    """xbar = conj(2x) zbar and ybar = 3 zbar, summed over the axes along which broadcasting repeats x or y."""
    shape_x, shape_y = np.shape(x), np.shape(y)
    f1_pullback = pullback_wrt(x, y)(
        lambda zbar: unbroadcast(2 * np.conj(x) * zbar, shape_x),
        lambda zbar: unbroadcast(3 * zbar, shape_y),
    )
    return f1(x, y), f1_pullback


@sample_inputs(f1)
def f1_samples(rng):
    yield sample(2.0, 5.0)
    yield sample(1.5 - 2j, 0.5j, _name="complex")
    yield sample(rng.standard_normal(3), rng.standard_normal(3))
    yield sample(rng.standard_normal((4, 3)), rng.standard_normal(3), _name="y is broadcast")
    yield sample(rng.standard_normal((4, 1)), rng.standard_normal((1, 3)), _name="both are broadcast")
    yield sample(rng.standard_normal((2, 3, 4)), 1.0, _name="array and number")
    yield sample(3, rng.standard_normal(2), _name="an integer has no derivative")
    yield sample(rng.standard_normal(4).astype(np.float32), rng.standard_normal(4).astype(np.float32))
