"""What of `scipy.signal` has no derivative: numbers of samples, places, decisions; and the design of Kaiser windows."""

import numpy as np
from multipledispatch import MDNotImplementedError

import scipy.signal
from rulescore import non_differentiable

from ..linear_maps import composed

non_differentiable(
    scipy.signal.argrelextrema,
    scipy.signal.argrelmax,
    scipy.signal.argrelmin,
    scipy.signal.besselap,
    scipy.signal.buttap,
    scipy.signal.check_COLA,
    scipy.signal.check_NOLA,
    scipy.signal.choose_conv_method,
    scipy.signal.correlation_lags,
    scipy.signal.find_peaks_cwt,
    scipy.signal.max_len_seq,
    scipy.signal.unit_impulse,
)


@composed(scipy.signal.kaiser_beta)
def kaiser_beta(a):
    """Kaiser's formula, in three pieces."""
    if np.ndim(a):
        raise MDNotImplementedError
    if a > 50:
        return 0.1102 * (a - 8.7)
    return 0.5842 * (a - 21) ** 0.4 + 0.07886 * (a - 21) if a > 21 else np.float64(0.0) * a


@composed(scipy.signal.kaiser_atten)
def kaiser_atten(numtaps, width):
    return 2.285 * (numtaps - 1) * np.pi * width + 7.95
