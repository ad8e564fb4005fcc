"""pool(x, rows, cols, f) for any function f of a block, with a rule for the Hausdorff distance alone.

The rule is chosen by dispatch on the function that is passed. Where several entries of a block are the distance, the
one that is found first gets the whole cotangent.
"""

import numpy as np

from rulescore import frule, pullback_wrt, pushforward, rrule, typeof
from rulescore.testing import sample, sample_inputs


def pool(x, rows, cols, f=np.sum):
    return np.array([[f(x[r, c]) for c in cols] for r in rows])


def hausdorff(block):
    """The Hausdorff distance of two point sets, from the matrix of the distances between their points."""
    return max(block.min(axis=1).max(), block.min(axis=0).max())


def hausdorff_entry(block):
    """The row and column of the entry that is the Hausdorff distance."""
    row = block.min(axis=1).argmax()
    col = block.min(axis=0).argmax()
    there = row, block[row].argmin()
    back = block[:, col].argmin(), col
    return there if block[there] >= block[back] else back


def hausdorff_entries(x, rows, cols):
    """For each block, the row and column in ``x`` of the entry that is its Hausdorff distance."""
    found = np.empty((2, len(rows), len(cols)), dtype=np.intp)
    row_numbers, col_numbers = np.arange(x.shape[0]), np.arange(x.shape[1])
    for i, r in enumerate(rows):
        for j, c in enumerate(cols):
            row, col = hausdorff_entry(x[r, c])
            found[:, i, j] = row_numbers[r][row], col_numbers[c][col]
    return tuple(found)


@frule.register(pool, np.ndarray, object, object, typeof(hausdorff))
@pushforward
def pool_hausdorff_frule(dx, x, rows, cols, f):
    """dy[i, j] = dx[k], where x[k] is the distance of block i, j."""
    entries = hausdorff_entries(x, rows, cols)
    return x[entries], dx[entries]


@rrule.register(pool, np.ndarray, object, object, typeof(hausdorff))
def pool_hausdorff_rrule(x, rows, cols, f):
    """xbar[k] is the sum of ybar[i, j] over the blocks whose distance is x[k]; zero where there is none."""
    entries = hausdorff_entries(x, rows, cols)
    shape, dtype = x.shape, x.dtype

    @pullback_wrt(x)  # rows, cols and f, which follow, have no derivative
    def pool_hausdorff_pullback(ybar):
        xbar = np.zeros(shape, dtype)
        # Overlapping blocks may share an entry: `xbar[entries] += ybar` would keep one of their cotangents.
        np.add.at(xbar, entries, ybar)
        return xbar

    return x[entries], pool_hausdorff_pullback


@sample_inputs(pool)
def pool_samples(rng):
    halves = [slice(0, 4), slice(4, 7)]
    windows = [slice(i, i + 3) for i in range(5)]
    yield sample(rng.random((7, 8)), halves, [slice(0, 5), slice(5, 8)], hausdorff)
    yield sample(rng.random((7, 7)), windows, windows, hausdorff, _name="overlapping blocks")
    yield sample(rng.random((7, 9)), halves, [slice(2, 5)], hausdorff, _name="columns in no block")
    yield sample(rng.random((7, 9)), halves, [slice(0, 9, 2)], hausdorff, _name="every other column")
    yield sample(rng.random((7, 7)).astype(np.float32), halves, windows, hausdorff)
