"""The rule of the normalised sinc, sin(πx) / (πx)."""

import numpy as np
from rulescore import scalar_rule

SERIES_DENOMINATORS = [2 * k * (2 * k + 3) for k in range(1, 11)]


def spherical_bessel_1(t):
    """sin(t)/t² - cos(t)/t for |t| ≤ 1, where this difference would cancel.

    The ratio of successive terms of its series t/3 - t³/30 + ... is -t² / (2k (2k + 3)); ten reach longdouble.
    """
    series = 1.0
    for denominator in reversed(SERIES_DENOMINATORS):
        series = 1 - t * t / denominator * series
    return t / 3 * series


def sinc_slope(y, x):
    """(cos(πx) - sinc(x)) / x, which near 0 is -π j₁(πx) with the spherical Bessel function j₁."""
    # The cosine of πx is that of the remainder of x by 2, which is exact, while πx is rounded.
    remainder = x - 2 * np.round(np.real(x) / 2)
    is_small = np.abs(x) < 0.3
    far = (np.cos(np.pi * remainder) - y) / np.where(is_small, 1, x)
    near = -np.pi * spherical_bessel_1(np.pi * np.where(is_small, x, 0))
    return np.where(is_small, near, far)


scalar_rule(np.sinc, sinc_slope)
