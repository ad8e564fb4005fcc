"""Reductions of blocks, with the one form that their derivatives have: a sum of elements times weights.

The weights of a sum are 1, those of a maximum 1/k at the k elements that attain it, those of a logsumexp its softmax.
"""

import math

import numpy as np

from rulescore import ignore_derivatives, is_traced

from ..numpy.indexing import scatter
from .compiled import Compiled
from .matrix_blocks import Blocks, accumulate, block_sums, gather, spread


class LinearReduction:
    """A sum, each multiplied by a number."""

    def __init__(self, scale):
        self.scale = scale

    def __call__(self, x, blocks):
        return block_sums(x, blocks) if self.scale is None else block_sums(x, blocks) * self.scale(x, blocks)

    def linearized(self, x, blocks, again):
        """The value, the pushforward and the pullback."""
        scale = None if self.scale is None else self.scale(x, blocks)

        def push(dx):
            dy = block_sums(dx, blocks)
            return dy if scale is None else dy * scale

        def pull(ybar):
            return spread(ybar if scale is None else ybar * scale, blocks)

        return again(x) if is_traced(x) else self(x, blocks), push, pull


class WeightedReduction:
    """A reduction whose derivative is a sum of elements times weights.

    Parameters
    ----------
    parts : callable
        ``parts(g, blocks)`` are, for the gathered array, the value of each block, and a function without arguments that
        returns the weights, as `Weights` or `FewWeights`.
    is_smooth : bool
        Whether the weights have derivatives, so that ``parts`` takes tracers too. Otherwise they are constants.
    """

    def __init__(self, parts, is_smooth=False):
        self.parts, self.is_smooth = parts, is_smooth

    def __call__(self, x, blocks):
        return self.parts(gather(x, blocks), blocks.gathered)[0]

    def linearized(self, x, blocks, again):
        """The value, the pushforward and the pullback."""
        inner = blocks.gathered
        y, weights = self.parts(gather(x if self.is_smooth else ignore_derivatives(x), blocks), inner)
        if is_traced(x) and not self.is_smooth:
            y = again(x)

        def push(dx):
            return weights().push(gather(dx, blocks), inner)

        def pull(ybar):
            return accumulate(weights().pull(ybar, inner), blocks)

        return y, push, pull


class Weights:
    """A weight for each element of what has been gathered."""

    def __init__(self, w):
        self.w = w

    def push(self, dg, blocks):
        return block_sums(self.w * dg, blocks)

    def pull(self, ybar, blocks):
        return self.w * spread(ybar, blocks)


class FewWeights:
    """Weights for some elements, where all others have 0.

    Parameters
    ----------
    places, owners : ndarray of int
        The numbers of these elements, and of the blocks that they are in, counted through all axes. An element may be
        named twice, and then has both weights.
    w : ndarray
    shape : tuple of int
        Of what has been gathered.
    """

    def __init__(self, places, owners, w, shape):
        self.places, self.owners, self.w, self.shape = places, owners, w, shape

    def push(self, dg, blocks):
        shape = (*self.shape[:-2], *blocks.sizes.shape)
        terms = self.w * np.reshape(dg, (-1,))[self.places]
        return np.reshape(scatter(terms, (self.owners,), (math.prod(shape),), self.w.dtype), shape)

    def pull(self, ybar, blocks):
        terms = self.w * np.reshape(ybar, (-1,))[self.owners]
        return np.reshape(scatter(terms, (self.places,), (math.prod(self.shape),), self.w.dtype), self.shape)


def extremum(ufunc):
    """The largest or smallest elements, which share equally."""

    def parts(g, blocks):
        y = blocks.reduce(ufunc, g)

        def weights():
            is_attained = g == spread(y, blocks)
            if y.dtype.kind == "f" and np.isnan(y).any():
                is_attained |= np.isnan(g)
            is_attained = is_attained.astype(y.dtype)
            counts = block_sums(is_attained, blocks)
            return Weights(is_attained if (counts == 1).all() else is_attained / spread(counts, blocks))

        return y, weights

    return WeightedReduction(parts)


def logsumexp_parts(g, blocks):
    """log Σ exp gᵢ = m + log Σ exp(gᵢ - m), and its softmax; exp(gᵢ - m) is 1 where both are the same infinity."""
    m = blocks.reduce(np.maximum, ignore_derivatives(g), -np.inf)
    shift = spread(m, blocks)
    if np.isfinite(m).all():
        e = np.exp(g - shift)
    else:
        is_finite = np.isfinite(shift)
        gap = np.where(is_finite, g, 0) - np.where(is_finite, shift, 0)
        e = np.exp(np.where(is_finite, gap, np.where(ignore_derivatives(g) == shift, 0, -np.inf).astype(m.dtype)))
    sums = block_sums(e, blocks)
    with np.errstate(divide="ignore"):  # a block without elements has the value -∞
        return np.log(sums) + m, lambda: Weights(e / spread(sums, blocks))


def hausdorff_parts(g, blocks):
    """The element that is nearest in its row or column and, of those, farthest; see `hausdorff_weights`."""
    if hausdorff_loop.is_available() and g.dtype.char in "fd":
        return hausdorff_compiled(g, blocks)
    rows, cols = blocks.rows, blocks.cols
    from_rows, from_cols = cols.reduce(np.minimum, g, -1), rows.reduce(np.minimum, g, -2)
    y = np.maximum(rows.reduce(np.maximum, from_rows, -2), cols.reduce(np.maximum, from_cols, -1))

    def weights():
        def to_elements(z):
            return z.take(rows.owners, -2).take(cols.owners, -1)

        distance = to_elements(y)
        is_nan = np.isnan(distance)  # and so have all elements of the block
        nearest = from_rows.take(cols.owners, -1), from_cols.take(rows.owners, -2)
        listed = [np.flatnonzero(((g == distance) & (near == distance)) | is_nan) for near in nearest]
        places, is_back = np.concatenate(listed), np.repeat([False, True], [len(found) for found in listed])
        owners = np.ravel(to_elements(np.reshape(np.arange(y.size), y.shape)))[places]
        w = hausdorff_weights(owners, *np.unravel_index(places, g.shape)[-2:], is_back)
        w = np.where(np.ravel(is_nan)[places], np.nan, w).astype(g.dtype)
        return FewWeights(places, owners, w, g.shape)

    return y, weights


def hausdorff_weights(owners, rows, cols, is_back):
    """The weights of all elements that have the distance of their block and are nearest in their row, or column.

    The two directions share where they agree, then the rows or columns that are as far, then the elements in each that
    are as near: what differentiating maxima of minima gives. But a minimum of several elements has no share where it is
    surpassed by one of them, wherever the elements move: max(min(a, b), b) is b. That is so where the one is the only
    nearest of its row, if the minimum is that of a column, or of its column.

    Parameters
    ----------
    owners, rows, cols : ndarray of int
        The blocks of the elements, and where these are. Rows and columns of other matrices have other blocks.
    is_back : ndarray of bool
        Whether the element is listed as the nearest in its column. One that is so in its row too is listed twice.
    """
    size = 1 + max(np.max(rows, initial=0), np.max(cols, initial=0))
    minima = (2 * owners + is_back) * size + np.where(is_back, cols, rows)
    across = (2 * owners + ~is_back) * size + np.where(is_back, rows, cols)
    minima, of_minimum, counts = np.unique(minima, return_inverse=True, return_counts=True)
    is_surpassed = (counts > 1) & np.isin(minima, across[counts[of_minimum] == 1])
    directions, of_direction = np.unique(minima // size, return_inverse=True)
    farthest = np.bincount(of_direction, ~is_surpassed, len(directions))
    blocks, of_block = np.unique(directions // 2, return_inverse=True)
    agreeing = np.bincount(of_block, farthest > 0, len(blocks))
    shares = counts * np.maximum(farthest[of_direction], 1) * agreeing[of_block[of_direction]]
    return np.where(is_surpassed, 0.0, 1 / shares)[of_minimum]


def directed_hausdorff_parts(g, blocks):
    """The row whose nearest column is farthest."""
    rows, cols = blocks.rows, blocks.cols
    from_rows = cols.reduce(np.minimum, g, -1)
    y = rows.reduce(np.maximum, from_rows, -2)
    return y, lambda: Weights(shared(g, from_rows, shared(from_rows, y, 1 + 0 * y, rows, -2), cols, -1))


def directed_chamfer_parts(g, blocks):
    """The mean over the rows of the element that is nearest."""
    y, weights = chamfer_there(g, blocks)
    return y, lambda: Weights(weights())


def chamfer_there(g, blocks):
    rows, cols = blocks.rows, blocks.cols
    from_rows = cols.reduce(np.minimum, g, -1)
    per_row = (1 / rows.lengths[rows.owners, None]).astype(g.dtype)
    y = rows.sum(from_rows * per_row, -2)
    return y, lambda: shared(g, from_rows, np.broadcast_to(per_row, from_rows.shape), cols, -1)


def chamfer_parts(g, blocks):
    """That, and the same over the columns, added."""
    there, weights_there = chamfer_there(g, blocks)
    back, weights_back = chamfer_there(g.swapaxes(-1, -2), Blocks(blocks.cols, blocks.rows))
    return there + back.swapaxes(-1, -2), lambda: Weights(weights_there() + weights_back().swapaxes(-1, -2))


def shared(x, y, weights, cut, axis):
    """The weights of y divided equally among the elements of x that attain it, along an axis."""
    is_attained = (x == y.take(cut.owners, axis)).astype(x.dtype)
    counts = np.maximum(cut.sum(is_attained, axis), 1)
    return is_attained * (weights / counts).take(cut.owners, axis)


def hausdorff_compiled(g, blocks):
    """The same by `hausdorff_loop`, which is compiled for one type of arrays."""
    rows, cols = blocks.rows, blocks.cols
    stack = np.ascontiguousarray(g, np.float64).reshape(-1, *g.shape[-2:])
    y = np.empty((len(stack), rows.count, cols.count))
    found, room = y.size, 0
    while found > room:  # the second time only where many elements share
        room = found + y.size
        places, owners, w = np.empty(room, np.intp), np.empty(room, np.intp), np.empty(room)
        found = hausdorff_loop(stack, rows.offsets, cols.offsets, y, places, owners, w)
    weights = FewWeights(places[:found], owners[:found], w[:found].astype(g.dtype, copy=False), g.shape)
    return y.reshape(*g.shape[:-2], *y.shape[1:]).astype(g.dtype, copy=False), lambda: weights


@Compiled
def hausdorff_loop(g, rows, cols, y, places, owners, w):
    """Write the distance of each block to ``y``, and the elements with weights to the arrays after it.

    Returns how many elements these are, also where the arrays have no room for all of them. All that indexes is
    unsigned: numba looks at any other number first whether it is below zero, which doubles the time.
    """
    from_row, from_col = np.empty(g.shape[1]), np.empty(g.shape[2])
    in_row, in_col = np.empty(g.shape[1], np.intp), np.empty(g.shape[2], np.intp)
    height, width, one = np.uint64(g.shape[1]), np.uint64(g.shape[2]), np.uint64(1)
    owner, found, room = -1, 0, len(w)
    for b in range(np.uint64(g.shape[0])):
        for i in range(np.uint64(len(rows) - 1)):
            for j in range(np.uint64(len(cols) - 1)):
                owner += 1
                top, bottom = np.uint64(rows[i]), np.uint64(rows[i + one])
                left, right = np.uint64(cols[j]), np.uint64(cols[j + one])
                # The values first, without jumps that nobody could foresee.
                is_nan = False
                for c in range(left, right):
                    from_col[c] = np.inf
                there = back = -np.inf
                for r in range(top, bottom):
                    nearest = np.inf
                    for c in range(left, right):
                        v = g[b, r, c]
                        is_nan |= v != v
                        nearest = v if v < nearest else nearest
                        from_col[c] = v if v < from_col[c] else from_col[c]
                    from_row[r] = nearest
                    there = nearest if nearest > there else there
                for c in range(left, right):
                    back = from_col[c] if from_col[c] > back else back
                y[b, i, j] = distance = np.nan if is_nan else (there if there > back else back)
                first = found
                for r in range(top, bottom):
                    if from_row[r] == distance:
                        for c in range(left, right):
                            if g[b, r, c] == distance:
                                if found < room:
                                    places[found], owners[found], w[found] = (b * height + r) * width + c, owner, 1.0
                                found += 1
                for c in range(left, right):
                    if from_col[c] == distance:
                        for r in range(top, bottom):
                            if g[b, r, c] == distance and from_row[r] != distance:
                                if found < room:
                                    places[found], owners[found], w[found] = (b * height + r) * width + c, owner, 1.0
                                found += 1
                if found == first + 1:
                    continue
                if is_nan:
                    for r in range(top, bottom):
                        for c in range(left, right):
                            if found < room:
                                places[found], owners[found], w[found] = (b * height + r) * width + c, owner, np.nan
                            found += 1
                    continue
                # Several share: how many there are of each minimum that is the distance; but none of what is surpassed,
                # see `hausdorff_weights`.
                in_row[top:bottom], in_col[left:right] = 0, 0
                for k in range(first, min(found, room)):
                    r, c = np.uint64(places[k]) // width - b * height, np.uint64(places[k]) % width
                    in_row[r] += from_row[r] == distance
                    in_col[c] += from_col[c] == distance
                for k in range(first, min(found, room)):
                    r, c = np.uint64(places[k]) // width - b * height, np.uint64(places[k]) % width
                    if in_row[r] > 1 and in_col[c] == 1:
                        in_row[r] = 0
                    elif in_col[c] > 1 and in_row[r] == 1:
                        in_col[c] = 0
                far_rows, far_cols = np.sum(in_row[top:bottom] > 0), np.sum(in_col[left:right] > 0)
                share = 0.5 if far_rows and far_cols else 1.0
                for k in range(first, min(found, room)):
                    r, c = np.uint64(places[k]) // width - b * height, np.uint64(places[k]) % width
                    of_row = share / (far_rows * in_row[r]) if in_row[r] else 0.0
                    of_col = share / (far_cols * in_col[c]) if in_col[c] else 0.0
                    w[k] = of_row + of_col
    return found


REDUCTIONS = {
    "sum": LinearReduction(None),
    "mean": LinearReduction(lambda x, blocks: (1 / blocks.sizes).astype(np.abs(x[..., :0, :0]).dtype)),
    "max": extremum(np.maximum),
    "min": extremum(np.minimum),
    "logsumexp": WeightedReduction(logsumexp_parts, is_smooth=True),
    "hausdorff": WeightedReduction(hausdorff_parts),
    "directed_hausdorff": WeightedReduction(directed_hausdorff_parts),
    "chamfer": WeightedReduction(chamfer_parts),
    "directed_chamfer": WeightedReduction(directed_chamfer_parts),
}
"""By the names that `pool` takes."""

OF_NOTHING = ("sum", "logsumexp")
"""Those that have a value for a block without elements: 0 and -∞."""
