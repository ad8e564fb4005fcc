"""Rotary embedding."""

import numpy as np
import pytest

from rules.operators import rotary_embedding
from rulescore import NoTangent, frule, rrule, unthunk
from rulescore.ad import grad

LAYOUTS = ("interleaved", "half")


def naive(x, theta, positions, layout):
    half = x.shape[-1] // 2
    first, second = (x[..., ::2], x[..., 1::2]) if layout == "interleaved" else (x[..., :half], x[..., half:])
    z = (first + 1j * second) * np.exp(1j * np.multiply.outer(positions, theta))
    parts = [z.real, z.imag]
    return np.stack(parts, -1).reshape(x.shape) if layout == "interleaved" else np.concatenate(parts, -1)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("shape", [(1, 2), (7, 6), (3, 2, 5, 8), (3000, 64)])
def test_pairs_are_turned_by_their_positions_from_zero(shape, layout):
    rng = np.random.default_rng(0)
    x, theta = rng.standard_normal(shape), rng.random(shape[-1] // 2)
    expected = naive(x, theta, np.arange(shape[-2]), layout)
    np.testing.assert_allclose(rotary_embedding(x, theta, layout=layout), expected, atol=1e-11)
    positions = np.arange(1, shape[-2] + 1)
    np.testing.assert_allclose(
        rotary_embedding(x, theta, positions, layout), naive(x, theta, positions, layout), atol=1e-11
    )


@pytest.mark.parametrize("layout", LAYOUTS)
def test_gradients_are_those_of_torch(layout):
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(1)
    x, theta, positions, ybar = (rng.standard_normal(s) for s in ((2, 5, 6), 3, 5, (2, 5, 6)))
    s, t, p = (torch.tensor(a, requires_grad=True) for a in (x, theta, positions))
    angles = p[:, None] * t
    a, b = (s[..., ::2], s[..., 1::2]) if layout == "interleaved" else (s[..., :3], s[..., 3:])
    parts = [a * angles.cos() - b * angles.sin(), a * angles.sin() + b * angles.cos()]
    y = torch.stack(parts, -1).flatten(-2) if layout == "interleaved" else torch.cat(parts, -1)
    y.backward(torch.tensor(ybar))
    bars = grad(lambda *args: np.sum(ybar * rotary_embedding(*args, layout)), argnums=(0, 1, 2))(x, theta, positions)
    for mine, theirs in zip(bars, (s, t, p), strict=True):
        np.testing.assert_allclose(mine, theirs.grad.numpy(), rtol=1e-12, atol=1e-14)


def test_scores_depend_on_the_difference_of_positions_alone():
    q, k, theta = np.ones((1, 8)), np.arange(8.0)[None], 10000.0 ** -(np.arange(4) / 4)

    def score(m, n):
        return np.sum(rotary_embedding(q, theta, [m]) * rotary_embedding(k, theta, [n]))

    assert score(5, 3) == pytest.approx(score(105, 103), rel=1e-12)


def test_positions_broadcast_over_heads():
    rng = np.random.default_rng(2)
    x, theta = rng.standard_normal((2, 5, 3, 4)), rng.random(2)  # batch, position, head, coordinate
    y = rotary_embedding(x, theta, np.arange(5)[:, None])
    np.testing.assert_allclose(y, np.swapaxes(rotary_embedding(np.swapaxes(x, 1, 2), theta), 1, 2), atol=1e-14)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_single_precision_stays_single_and_loses_nothing_far_out(layout):
    rng = np.random.default_rng(3)
    x, theta = rng.standard_normal((5, 4)).astype(np.float32), rng.random(2)
    positions = np.arange(1_000_000, 1_000_005)
    y, pullback = rrule(rotary_embedding, x, theta, positions, layout)
    assert y.dtype == unthunk(pullback(y)[1]).dtype == np.float32
    np.testing.assert_allclose(y, naive(x, theta, positions, layout), atol=1e-6)
    np.testing.assert_allclose(unthunk(pullback(y)[1]), x, atol=1e-6)  # turned back
    _, dy = frule(
        (NoTangent(), x, NoTangent(), NoTangent(), NoTangent()), rotary_embedding, x, theta, positions, layout
    )
    np.testing.assert_array_equal(dy, y)


def test_whole_positions_have_no_derivative_and_cost_nothing():
    x, theta = np.ones((3, 4)), np.ones(2)
    _, pullback = rrule(rotary_embedding, x, theta, np.arange(3))
    assert unthunk(pullback(x)[3]) == NoTangent()


@pytest.mark.parametrize(
    ("args", "error", "message"),
    [
        ((np.ones((4, 5)), np.ones(2)), ValueError, r"\(4, 5\) cannot be cut into pairs"),
        ((np.ones((4, 6)), np.ones(4)), ValueError, r"theta of shape \(4,\).*give theta the shape \(3,\)"),
        ((np.ones((4, 6)), np.ones(3), np.ones(5)), ValueError, r"positions of shape \(5,\).*broadcasts to \(4,\)"),
        ((np.ones((4, 6)), np.ones(3), None, "halves"), ValueError, "'interleaved' or 'half'"),
        ((np.ones((4, 6)) + 1j, np.ones(3)), TypeError, "complex vectors write"),
    ],
)
def test_errors_say_what_to_write(args, error, message):
    with pytest.raises(error, match=message):
        rotary_embedding(*args)
