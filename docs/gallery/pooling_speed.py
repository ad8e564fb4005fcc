"""
What a rule saves: pooling over blocks
======================================

The mean of every block of an image is one line of Python, and a slow one: an AD system records each block, and goes
through all of them again for the gradient. An operator with a rule does both at once. How much that saves depends on
how many blocks there are.
"""

# %%
# The loop, and the operator
# --------------------------

import time

import matplotlib.pyplot as plt
import numpy as np

from rulescore.ad import value_and_grad
from rulescore.operators import pool, segments

SIDE = 96
rng = np.random.default_rng(0)
image = rng.random((SIDE, SIDE))


def by_loop(x, rows, cols):
    """The loss, block after block."""
    loss = 0.0
    for r in rows:
        for c in cols:
            loss = loss + np.mean(x[r, c]) ** 2
    return loss


def by_rule(x, rows, cols):
    return np.sum(pool(x, rows, cols, "mean") ** 2)


# %%
# The gradients are the same, and right
# -------------------------------------

rows, cols = segments(SIDE, 12), segments(SIDE, 8)
value, gradient = value_and_grad(by_rule)(image, rows, cols)
assert np.allclose(gradient, value_and_grad(by_loop)(image, rows, cols)[1])

step, direction = 1e-5, rng.standard_normal(image.shape)
moved = [by_rule(image + sign * step * direction, rows, cols) for sign in (1, -1)]
assert np.isclose(np.sum(gradient * direction), (moved[0] - moved[1]) / (2 * step), rtol=1e-6)
print(f"one gradient for {image.size} pixels; central differences would take {2 * image.size} losses")

# %%
# The time
# --------
# The same image in more and more blocks.


def fastest(f, *args, seconds=0.1):
    """Of all calls in a tenth of a second, and of three at least."""
    found, began = [], time.perf_counter()
    while len(found) < 3 or time.perf_counter() - began < seconds:
        start = time.perf_counter()
        f(*args)
        found.append(time.perf_counter() - start)
    return min(found)


counts, times = [], {by_loop: [], by_rule: []}
for side in (48, 24, 12, 6, 3):
    blocks = segments(SIDE, side)
    counts.append(len(blocks) ** 2)
    for f, found in times.items():
        found.append(fastest(value_and_grad(f), image, blocks, blocks))
    ratio = times[by_loop][-1] / times[by_rule][-1]
    print(f"{counts[-1]:5} blocks: the loop takes {ratio:.0f} times as long")

assert ratio > 10

# %%

_, axes = plt.subplots(figsize=(6, 3.6), layout="constrained")
for (_, found), label in zip(times.items(), ("the loop", "pool, with its rule"), strict=True):
    axes.loglog(counts, 1e3 * np.array(found), "o-", label=label)
axes.set(
    xlabel="number of blocks",
    ylabel="time of value and gradient, ms",
    title=f"means over the blocks of {SIDE} x {SIDE} pixels",
)
axes.legend()
