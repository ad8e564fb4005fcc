"""One mode from the rule of the other."""

import numpy as np

from rulescore import NoTangent, Thunk, rrule
from rulescore.ad import jvp, primitive


@primitive
def scaled(x, factor):
    return x * factor


@rrule.register(scaled)
def scaled_rrule(x, factor):
    return x * factor, lambda ybar: (
        NoTangent(),
        Thunk(lambda: ybar * factor),
        Thunk(lambda: np.sum(ybar * x)),
    )


def test_forward_mode_from_a_pullback_of_thunks():
    x, dx = np.array([1.0, 2.0]), np.array([0.5, -1.0])
    y, dy = jvp(scaled, (x, 3.0), (dx, 2.0))
    np.testing.assert_array_equal(y, 3 * x)
    np.testing.assert_allclose(dy, 3 * dx + 2 * x)


def test_thunks_of_arguments_that_do_not_move_are_not_forced():
    forced = []

    @primitive
    def product(x, y):
        return x * y

    @rrule.register(product)
    def product_rrule(x, y):
        return x * y, lambda zbar: (NoTangent(), zbar * y, Thunk(lambda: forced.append(1) or zbar * x))

    _, dz = jvp(lambda x: product(x, 5.0), (2.0,), (1.0,))
    assert dz == 5
    assert not forced
