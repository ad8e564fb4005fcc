"""Sample inputs for `scipy.fft`."""

from . import constants, hankel, real_transforms, transforms

__all__ = ["constants", "hankel", "real_transforms", "transforms"]
