"""
Gradient flow between two point clouds
======================================

A cloud of points is moved, step by step, against the gradient of its distance to another cloud. The chamfer distance
looks at every point's nearest neighbour, so all points move. The Hausdorff distance is the distance of the one point
that is furthest from the other cloud, so one point moves in each step: the one that is furthest, or the neighbour of
the one that is.
"""

# %%
# Two clouds
# ----------

import matplotlib.pyplot as plt
import numpy as np

from rulescore.ad import value_and_grad
from rulescore.operators import chamfer_distance, hausdorff_distance

POINTS = 100
rng = np.random.default_rng(0)
turn = rng.uniform(0, 2 * np.pi, POINTS)
start = 0.35 * rng.standard_normal((POINTS, 2))
heart = np.stack([16 * np.sin(turn) ** 3, 13 * np.cos(turn) - 5 * np.cos(2 * turn) - 2 * np.cos(3 * turn)], 1) / 12

# %%
# The gradients are right
# -----------------------

gradients = {}
for distance in (chamfer_distance, hausdorff_distance):
    _, gradient = value_and_grad(distance)(start, heart)
    step, direction = 1e-7, rng.standard_normal(start.shape)
    moved = [distance(start + sign * step * direction, heart) for sign in (1, -1)]
    assert np.isclose(np.sum(gradient * direction), (moved[0] - moved[1]) / (2 * step), rtol=1e-4, atol=1e-7)
    gradients[distance] = gradient
    print(f"{distance.__name__}: {np.count_nonzero(gradient.any(axis=1))} of {POINTS} points have a gradient")

print(f"one gradient for {start.size} coordinates; central differences would take {2 * start.size} distances")

# %%
# The flow
# --------
# The step of the Hausdorff flow has a fixed length, since its gradient has. It gets stuck where one point is the
# nearest neighbour of two that are equally far: each pulls it back from the other. The chamfer flow goes on.

SHOWN = (0, 50, 300, 1500)


def flow(distance, rate, steps=SHOWN[-1]):
    """The cloud after some numbers of steps, and the distance after each."""
    cloud, frames, distances = start.copy(), {}, []
    gradient_at = value_and_grad(distance)
    for number in range(steps + 1):
        value, gradient = gradient_at(cloud, heart)
        distances.append(value)
        if number in SHOWN:
            frames[number] = cloud.copy()
        cloud -= rate * gradient
    return frames, distances


flows = {"chamfer": flow(chamfer_distance, 4.0), "Hausdorff": flow(hausdorff_distance, 0.02)}
for name, (frames, distances) in flows.items():
    end = hausdorff_distance(frames[SHOWN[-1]], heart)
    print(f"{name} flow: distance {distances[0]:.3g} before, {distances[-1]:.3g} after; Hausdorff distance {end:.3g}")
    assert end < 0.7 * hausdorff_distance(start, heart)

# %%

figure, axes = plt.subplots(2, len(SHOWN), figsize=(9, 5.2), layout="constrained", sharex=True, sharey=True)
for of_row, (name, (frames, _)) in zip(axes, flows.items(), strict=True):
    for ax, (number, cloud) in zip(of_row, frames.items(), strict=True):
        targets = ax.scatter(*heart.T, s=8, color="0.75")
        moved_points = ax.scatter(*cloud.T, s=8, color="#d55e00")
        ax.set_aspect("equal")
        ax.set_title(f"{name}, {number} steps", fontsize=10)
figure.supxlabel("first coordinate", fontsize=10)
figure.supylabel("second coordinate", fontsize=10)
labels = ["the cloud to come to", "the cloud that is moved"]
figure.legend([targets, moved_points], labels, loc="outside upper center", ncols=2)
