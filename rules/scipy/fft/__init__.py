"""Rules of `scipy.fft`."""

from rules.scipy.fft import constants, hankel, real_transforms, transforms

__all__ = ["constants", "hankel", "real_transforms", "transforms"]
