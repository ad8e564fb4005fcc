"""One mode from the rule of the other."""

import numpy as np

from rulescore import NoTangent, Tangent, Thunk, frule, rrule
from rulescore.ad import jvp, primitive, vjp


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


def test_of_a_pullback_with_thunks_within_containers():
    @primitive
    def weighted(parts):
        return parts[0] * parts[1]["w"]

    @rrule.register(weighted)
    def weighted_rrule(parts):
        x, w = parts[0], parts[1]["w"]
        return x * w, lambda ybar: (
            NoTangent(),
            [Thunk(lambda: ybar * w), Thunk(lambda: Tangent(dict, w=Thunk(lambda: ybar * x)))],
        )

    x, w = np.array([1.0, 2.0]), np.array([3.0, -1.0])
    _, dy = jvp(lambda x, w: weighted([x, {"w": w}]), (x, w), (x + 1, w * 2))
    np.testing.assert_allclose(dy, (x + 1) * w + x * w * 2)


def test_of_a_pushforward_with_thunks_within_containers():
    @primitive
    def both(x):
        return np.sin(x), (np.cos(x), x)

    @frule.register(both)
    def both_frule(tangents, x):
        (_, dx) = tangents
        return both(x), (Thunk(lambda: np.cos(x) * dx), Thunk(lambda: (Thunk(lambda: -np.sin(x) * dx), dx)))

    _, pullback = vjp(both, np.array([0.3, 0.5]))
    (xbar,) = pullback((np.array([1.0, 0.0]), (np.array([2.0, 3.0]), np.array([0.0, 4.0]))))
    np.testing.assert_allclose(xbar, [np.cos(0.3) - 2 * np.sin(0.3), 4 - 3 * np.sin(0.5)])
