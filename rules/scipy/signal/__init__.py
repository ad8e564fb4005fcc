"""Rules of `scipy.signal`."""

import scipy.signal

from rules.scipy import functions_without_rules
from rules.scipy.signal import (
    analytic_signals,
    constants,
    convolutions,
    convolutions_of_images,
    filter_states,
    filters,
    frequency_responses,
    lags,
    representations,
    resampling,
    segments,
    smoothing,
    spectra,
    waveforms,
    windows,
)

__all__ = [
    "analytic_signals",
    "constants",
    "convolutions",
    "convolutions_of_images",
    "filter_states",
    "filters",
    "frequency_responses",
    "lags",
    "representations",
    "resampling",
    "segments",
    "smoothing",
    "spectra",
    "waveforms",
    "windows",
]

functions_without_rules.declare(scipy.signal)
