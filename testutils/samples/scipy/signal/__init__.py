"""Sample inputs for `scipy.signal`."""

from . import (
    analytic_signals,
    constants,
    convolutions,
    filters,
    frequency_responses,
    representations,
    resampling,
    smoothing,
    spectra,
    waveforms,
    windows,
)

__all__ = [
    "analytic_signals",
    "constants",
    "convolutions",
    "filters",
    "frequency_responses",
    "representations",
    "resampling",
    "smoothing",
    "spectra",
    "waveforms",
    "windows",
]
