"""Signals cut into overlapping segments and put together again: two linear maps, each the transpose of the other."""

from typing import Any

import numpy as np

from rulescore import seen_by_tracers

from ..linear_maps import linear_map


def segments(x: Any, length: int, step: int) -> Any:
    """The segments of this length that begin at every ``step``-th sample.

    Parameters
    ----------
    x : ndarray
        Signals, with time as the last axis.
    length, step : int
        The length of a segment, and the distance between the beginnings of two.

    Returns
    -------
    y : ndarray
        With one axis more: that of the segments stands before that of time.

    Examples
    --------
    >>> import numpy as np
    >>> segments(np.arange(5.0), 3, 2)
    array([[0., 1., 2.],
           [2., 3., 4.]])
    """
    return np.lib.stride_tricks.sliding_window_view(x, length, axis=-1)[..., ::step, :].copy()


def overlap_add(y: Any, step: int, total: int) -> Any:
    """The sum of segments, each of which begins ``step`` samples after the one before.

    Parameters
    ----------
    y : ndarray
        The segments, with time as the last axis and their number as the one before.
    step : int
        The distance between the beginnings of two.
    total : int
        How many samples there are in all; those that no segment reaches are 0.

    Returns
    -------
    x : ndarray
        With time as the last axis.

    Examples
    --------
    >>> import numpy as np
    >>> overlap_add(np.ones((2, 3)), 2, 6)
    array([1., 1., 2., 1., 1., 0.])
    """
    y = np.asarray(y)
    *outer, count, length = y.shape
    steps = -(-length // step)  # how many steps a segment is long
    rows = np.zeros((*outer, count + steps, step), y.dtype)
    for i in range(steps):  # the i-th step of every segment at once
        piece = y[..., i * step : (i + 1) * step]
        rows[..., i : i + count, : piece.shape[-1]] += piece
    flat = rows.reshape((*outer, (count + steps) * step))
    if flat.shape[-1] >= total:
        return flat[..., :total].copy()
    return np.concatenate([flat, np.zeros((*outer, total - flat.shape[-1]), y.dtype)], axis=-1)


linear_map(segments, lambda ybar, x, length, step: seen_by_tracers(overlap_add, ybar, step, x.shape[-1]))


def overlap_add_transpose(xbar, y, step, total):
    """The segments of x̄, with zeros where it has no samples."""
    count, length = y.shape[-2:]
    missing = (count - 1) * step + length - total
    xbar = np.pad(xbar, [(0, 0)] * (len(y.shape) - 2) + [(0, max(missing, 0))])
    return seen_by_tracers(segments, xbar, length, step)[..., :count, :]


linear_map(overlap_add, overlap_add_transpose)
