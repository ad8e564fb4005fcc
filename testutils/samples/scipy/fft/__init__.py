"""Sample inputs for `scipy.fft`."""

from testutils.samples.scipy.fft import constants, hankel, real_transforms, transforms

__all__ = ["constants", "hankel", "real_transforms", "transforms"]
