"""
Rotary embedding and its gradient field
=======================================

Rotary embedding turns each pair of coordinates by its position times a frequency. A dot product of two embedded vectors
then depends on the difference of their positions alone. The positions can be found by gradient: the derivative of an
angle is the right-angle turn of the vector, which makes a field that winds around the origin.
"""

# %%
# Turning
# -------

import matplotlib.pyplot as plt
import numpy as np

from rulescore.ad import value_and_grad
from rulescore.operators import rotary_embedding

rng = np.random.default_rng(0)
PAIRS = 4
theta = 100.0 ** -(np.arange(PAIRS) / PAIRS)
query, key = rng.standard_normal((2, 1, 2 * PAIRS))


def score(position_of_query, position_of_key):
    """The dot product of the embedded vectors."""
    embedded = [
        rotary_embedding(x, theta, np.reshape(position, (1,)))
        for x, position in ((query, position_of_query), (key, position_of_key))
    ]
    return np.sum(embedded[0] * embedded[1])


assert np.isclose(score(3.0, 1.0), score(103.0, 101.0))
print(f"score at positions (3, 1): {score(3.0, 1.0):.6f}, at (103, 101): {score(103.0, 101.0):.6f}")

# %%
# The gradient is right
# ---------------------
# It is that of a function of the difference, so the two slopes cancel.

_, slopes = value_and_grad(score, argnums=(0, 1))(3.0, 1.0)
step = 1e-5
for slope, (a, b) in zip(slopes, ((step, 0), (0, step)), strict=True):
    assert np.isclose(slope, (score(3 + a, 1 + b) - score(3 - a, 1 - b)) / (2 * step), rtol=1e-6)
print(f"slopes in the two positions: {slopes[0]:+.4f} and {slopes[1]:+.4f}; central differences would take 4 scores")
assert np.isclose(slopes[0], -slopes[1])

# %%
# The field
# ---------
# How much does y have to turn to come closer to a target? One pair of coordinates, one position; the loss at every
# point of a plane, with its gradient in x.

target = np.array([1.0, 0.0])
quarter = np.array([np.pi / 4])
side = np.linspace(-1.5, 1.5, 15)
plane = np.stack(np.meshgrid(side, side), -1)  # vectors at position 1, to be turned by 45 degrees


def loss(x):
    return 0.5 * np.sum((rotary_embedding(x[..., None, :], quarter, np.ones(1)) - target) ** 2)


total, field = value_and_grad(loss)(plane)
minimum = rotary_embedding(target[None], quarter, -np.ones(1))[0]
assert np.allclose(
    field, plane - minimum
)  # turning keeps lengths, so the field points away from the target turned back


def loss_of_turn(positions):
    return 0.5 * np.sum((rotary_embedding(plane[..., None, :], quarter, positions) - target) ** 2)


_, torque = value_and_grad(loss_of_turn)(np.ones((*plane.shape[:-1], 1)))
print(f"the field in x vanishes at {minimum.round(3)}: the target, turned back")

# %%

figure, axes = plt.subplots(1, 3, figsize=(10.5, 3.6), layout="constrained")
left, middle, right = axes
differences = np.linspace(0, 60, 400)
left.plot(differences, [score(d, 0.0) for d in differences])
left.set(xlabel="difference of positions", ylabel="score", title="score of two vectors")
middle.quiver(*np.moveaxis(plane, -1, 0), *np.moveaxis(-field, -1, 0), angles="xy")
middle.plot(*minimum, "o", color="#d55e00")  # the target, turned back
middle.set(aspect="equal", xlabel="first coordinate of x", ylabel="second coordinate of x", title="descent in x")
drawn = right.pcolormesh(side, side, torque[..., 0], cmap="RdBu_r", vmin=-1.5, vmax=1.5)
figure.colorbar(drawn, ax=right, label="slope of the loss")
right.set(aspect="equal", xlabel="first coordinate of x", title="slope in the position")
