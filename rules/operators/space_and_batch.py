"""Images cut into interleaved ones, which stand in the batch, and put together again: `space_to_batch`
and `batch_to_space`.

They permute the elements of an array, once it is padded, or before it is cropped. Each is the transpose of the other.
"""

import math

import numpy as np

from rulescore import linear_rule

from .operator import operator
from .windows import per_axis


@operator(tensorflow="tf.space_to_batch")
def space_to_batch(input, block_shape, paddings=0):
    """The elements at each place within blocks, as images of their own in the batch.

    Parameters
    ----------
    input : array_like, shape (N, L1, ..., Ln, ...)
        A batch of images over n axes; any number of axes may follow, as channels.
    block_shape : int or tuple of int, length n
        How long blocks are along each axis.
    paddings : sequence of n pairs of int, a pair, or a number
        How many zeros are added before and after each axis first, so that blocks divide it.

    Returns
    -------
    y : ndarray, shape (b1 ⋯ bn N, (L1 + pads) / b1, ..., (Ln + pads) / bn, ...)
        ``y[(k1, ..., kn, i), o1, ..., on] = padded[i, o1 * b1 + k1, ..., on * bn + kn]``.

    Raises
    ------
    TypeError, ValueError
        When the blocks do not divide the padded axes.

    Notes
    -----
    As ``tf.space_to_batch``. Its transpose is `batch_to_space` with the paddings as crops.

    Examples
    --------
    >>> import numpy as np
    >>> space_to_batch(np.arange(4.0).reshape(1, 2, 2), (1, 2))[:, :, 0]
    array([[0., 2.],
           [1., 3.]])
    """
    x = np.asarray(input)
    blocks, pads = blocks_of("space_to_batch", x.shape, block_shape, "paddings", paddings)
    n = len(blocks)
    x = np.pad(x, [(0, 0), *pads, *[(0, 0)] * (x.ndim - n - 1)]) if any(map(any, pads)) else x
    lengths, rest = x.shape[1 : n + 1], x.shape[n + 1 :]
    if any(length % b for length, b in zip(lengths, blocks, strict=True)):
        raise ValueError(
            f"space_to_batch: blocks {blocks} do not divide axes of lengths {lengths}, paddings included; give "
            "paddings that fill the last block"
        )
    apart = [part for length, b in zip(lengths, blocks, strict=True) for part in (length // b, b)]
    x = np.reshape(x, (len(x), *apart, *rest))
    x = np.transpose(x, (*range(2, 2 * n + 1, 2), 0, *range(1, 2 * n + 1, 2), *range(2 * n + 1, x.ndim)))
    return np.reshape(x, (math.prod(x.shape[: n + 1]), *x.shape[n + 1 :]))


@operator(tensorflow="tf.batch_to_space")
def batch_to_space(input, block_shape, crops=0):
    """Images of the batch put together again as the blocks of fewer, larger ones.

    Parameters
    ----------
    input : array_like, shape (b1 ⋯ bn N, L1, ..., Ln, ...)
        A batch of images over n axes; any number of axes may follow, as channels.
    block_shape : int or tuple of int, length n
        How long blocks are along each axis.
    crops : sequence of n pairs of int, a pair, or a number
        How many elements are cut off before and after each axis at last.

    Returns
    -------
    y : ndarray, shape (N, b1 L1 - crops, ..., bn Ln - crops, ...)
        What `space_to_batch` makes the input of, without its padding.

    Raises
    ------
    TypeError, ValueError
        When the number of images is no multiple of the size of a block, or there is less than what is cut off.

    Notes
    -----
    As ``tf.batch_to_space``. Its transpose is `space_to_batch` with the crops as paddings.

    Examples
    --------
    >>> import numpy as np
    >>> batch_to_space(np.array([[[0.0], [2.0]], [[1.0], [3.0]]]), (1, 2))
    array([[[0., 1.],
            [2., 3.]]])
    """
    x = np.asarray(input)
    blocks, crops = blocks_of("batch_to_space", x.shape, block_shape, "crops", crops)
    n, size = len(blocks), math.prod(blocks)
    if len(x) % size:
        raise ValueError(
            f"batch_to_space: {len(x)} images are no whole number of blocks {blocks}, which take {size} images each"
        )
    lengths = [length * b for length, b in zip(x.shape[1:], blocks, strict=False)]
    if any(before + after > length for (before, after), length in zip(crops, lengths, strict=True)):
        raise ValueError(f"batch_to_space: crops={crops} of axes of lengths {tuple(lengths)}, which have not so many")
    x = np.reshape(x, (*blocks, len(x) // size, *x.shape[1:]))
    in_turn = [axis for i in range(n) for axis in (n + 1 + i, i)]
    x = np.transpose(x, (n, *in_turn, *range(2 * n + 1, x.ndim)))
    x = np.reshape(x, (len(x), *lengths, *x.shape[2 * n + 1 :]))
    inside = [slice(before, length - after) for (before, after), length in zip(crops, lengths, strict=True)]
    return x[(slice(None), *inside)]


def blocks_of(name, shape, block_shape, option, pairs):
    """The lengths of blocks, and what is added to or cut off from each axis, as pairs."""
    blocks = np.atleast_1d(block_shape).tolist()
    blocks = per_axis("block_shape", blocks, len(blocks), 1)
    if not blocks or len(shape) < len(blocks) + 1:
        raise ValueError(
            f"{name}: blocks {blocks} in an array of shape {shape}; give one of shape (batch, ...) with an axis for "
            "each length of a block"
        )
    try:
        pairs = np.broadcast_to(pairs, (len(blocks), 2)).tolist()
    except ValueError:
        raise ValueError(f"{name}: {option}={pairs!r}; give a pair of numbers for each of {len(blocks)} axes") from None
    return blocks, tuple([per_axis(option, pair, 2, 0) for pair in pairs])


linear_rule(
    space_to_batch,
    lambda ybar, input, block_shape, paddings=0: batch_to_space(ybar, block_shape, paddings),
    tags=tuple(space_to_batch.tags),
)
linear_rule(
    batch_to_space,
    lambda ybar, input, block_shape, crops=0: space_to_batch(ybar, block_shape, crops),
    tags=tuple(batch_to_space.tags),
)
