"""pool_sum(x, rows, cols), the sum over each block of a matrix: the function is a plain loop, its rule is fast."""

import numpy as np
from multipledispatch import MDNotImplementedError

from rulescore import frule, pullback_wrt, pushforward, rrule
from rulescore.testing import sample, sample_inputs


def segments(length, step):
    """The slices that cut ``length`` entries into segments of ``step``; the last one may be short."""
    return [slice(start, min(start + step, length)) for start in range(0, length, step)]


def pool_sum(x, rows, cols):
    return np.array([[np.sum(x[r, c]) for c in cols] for r in rows])


def starts_and_lengths(slices, length):
    """Where segments begin and how long they are, if they cover ``length`` entries in order, each entry once."""
    starts, stops = [s.start for s in slices], [s.stop for s in slices]
    if any(s.step is not None for s in slices) or [0, *stops] != [*starts, length]:
        # Overlaps and gaps are for another rule: this one declines, and `rrule` answers None.
        raise MDNotImplementedError
    lengths = np.subtract(stops, starts)
    if np.any(lengths <= 0):
        raise MDNotImplementedError
    return starts, lengths


def block_sums(x, row_starts, col_starts):
    return np.add.reduceat(np.add.reduceat(x, col_starts, axis=1), row_starts, axis=0)


@frule.register(pool_sum)
@pushforward
def pool_sum_frule(dx, x: np.ndarray, rows, cols):
    """pool_sum is linear, so dy is pool_sum of dx."""
    row_starts, _ = starts_and_lengths(rows, x.shape[0])
    col_starts, _ = starts_and_lengths(cols, x.shape[1])
    return block_sums(x, row_starts, col_starts), block_sums(dx, row_starts, col_starts)


@rrule.register(pool_sum)
def pool_sum_rrule(x: np.ndarray, rows, cols):
    """Every entry of a block has the cotangent of the block's sum."""
    row_starts, row_lengths = starts_and_lengths(rows, x.shape[0])
    col_starts, col_lengths = starts_and_lengths(cols, x.shape[1])

    @pullback_wrt(x)  # rows and cols, which follow, have no derivative
    def pool_sum_pullback(ybar):
        return np.repeat(np.repeat(ybar, col_lengths, axis=1), row_lengths, axis=0)

    return block_sums(x, row_starts, col_starts), pool_sum_pullback


@sample_inputs(pool_sum)
def pool_sum_samples(rng):
    yield sample(rng.standard_normal((6, 4)), segments(6, 3), segments(4, 2))
    yield sample(rng.standard_normal((7, 5)), segments(7, 3), segments(5, 2), _name="short last segments")
    yield sample(rng.standard_normal((3, 4)), segments(3, 1), segments(4, 9), _name="rows as they are, one column")
    yield sample(rng.standard_normal((5, 3)), [slice(0, 1), slice(1, 5)], segments(3, 2), _name="uneven segments")
    yield sample(rng.standard_normal((4, 4)).astype(np.float32), segments(4, 3), segments(4, 3))
