"""The transpose of broadcasting: a cotangent summed back to the shape that an argument had."""

from __future__ import annotations

from typing import Any

import numpy as np

from rulescore.tangents.masked import Selected
from rulescore.tangents.not_implemented import NotImplementedTangent
from rulescore.tangents.thunks import Thunk
from rulescore.tangents.zero import AbstractZero


def unbroadcast(xbar: Any, shape: tuple[int, ...]) -> Any:
    """Sum a cotangent over the axes that broadcasting added or expanded, back to ``shape``.

    The transpose of ``np.broadcast_to(x, xbar.shape)``.

    Parameters
    ----------
    xbar : array
        A cotangent of the broadcast array.
    shape : tuple of int
        The shape before broadcasting.

    Returns
    -------
    array
        A cotangent of that shape; ``xbar`` itself when nothing was broadcast.

    Examples
    --------
    >>> import numpy as np
    >>> unbroadcast(np.ones((4, 3)), (1, 3))
    array([[4., 4., 4.]])
    """
    if type(xbar) is np.ndarray:  # the most frequent cases: nothing was broadcast, or axes were added
        wide = xbar.shape
        if wide == shape:
            return xbar
        added = len(wide) - len(shape)
        if added > 0 and wide[added:] == shape:
            total = np.add.reduce(xbar, axis=0 if added == 1 else tuple(range(added)))
            return total if shape else np.asarray(total)
    if isinstance(xbar, Selected):
        return xbar.summed(lambda value: unbroadcast(value, shape))
    if isinstance(xbar, Thunk):
        return xbar.map(lambda value: unbroadcast(value, shape))
    if isinstance(xbar, (AbstractZero, NotImplementedTangent)):
        return xbar
    wide = np.shape(xbar)
    if wide == shape:
        return xbar
    added = len(wide) - len(shape)
    if added < 0 or any(length not in (1, wide[added + axis]) for axis, length in enumerate(shape)):
        raise ValueError(
            f"unbroadcast of a cotangent of shape {wide} to {shape}: an array of shape {shape} does not broadcast to "
            f"{wide}; the cotangent belongs to another argument or output"
        )
    expanded = [added + axis for axis, length in enumerate(shape) if length == 1 and wide[added + axis] != 1]
    return xbar.sum(axis=(*range(added), *expanded)).reshape(shape)
