"""Rules of `scipy.signal`."""

from rules.scipy.signal import (
    analytic_signals,
    constants,
    convolutions,
    convolutions_of_images,
    filter_states,
    filters,
    frequency_responses,
    lags,
    missing,
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
    "missing",
    "representations",
    "resampling",
    "segments",
    "smoothing",
    "spectra",
    "waveforms",
    "windows",
]
