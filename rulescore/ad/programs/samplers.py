"""Random numbers whose distribution is differentiated: those of the standard one, moved and stretched.

NumPy makes them so itself, in this order of the same stream, so that the numbers are those of the plain program.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from rulescore.ad.programs.stand_ins.table import as_array


def _drawn(draw: Any, size: Any, *parameters: Any) -> tuple[Any, ...]:
    """Numbers of the standard distribution, and the parameters; ``draw(shape)`` makes the numbers."""
    arrays = [as_array(x) if isinstance(x, (list, tuple)) else x for x in parameters]
    shape = np.broadcast_shapes(*map(np.shape, arrays)) or None
    return draw(shape if size is None else size), *arrays


def normal(source: Any, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
    """``source.normal(loc, scale, size)``."""
    z, loc, scale = _drawn(source.standard_normal, size, loc, scale)
    return loc + scale * z


def lognormal(source: Any, mean: Any = 0.0, sigma: Any = 1.0, size: Any = None) -> Any:
    """``source.lognormal(mean, sigma, size)``."""
    return np.exp(normal(source, mean, sigma, size))


def uniform(source: Any, low: Any = 0.0, high: Any = 1.0, size: Any = None) -> Any:
    """``source.uniform(low, high, size)``."""
    z, low, high = _drawn(source.random, size, low, high)
    return low + (high - low) * z


def exponential(source: Any, scale: Any = 1.0, size: Any = None) -> Any:
    """``source.exponential(scale, size)``."""
    z, scale = _drawn(source.standard_exponential, size, scale)
    return scale * z


SAMPLERS: dict[str, Callable[..., Any]] = {f.__name__: f for f in (normal, lognormal, uniform, exponential)}
"""By the name of the method, of `numpy.random.Generator` and of `numpy.random.RandomState`."""
