"""Rules of `scipy.signal`."""

import scipy.signal
from rulescore import missing_rules

from .. import functions_without_rules
from . import (
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

for _functions, _because in functions_without_rules.missing_in(scipy.signal):
    missing_rules(*_functions, because=_because)
