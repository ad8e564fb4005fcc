"""Sample inputs for the rules of `rules.operators`."""

from __future__ import annotations

from . import (
    attention,
    convolutions,
    cross_products,
    morphology,
    normalisation,
    partitions,
    pooling,
    rotary,
    segment_reductions,
    set_distances,
    soft_sorting,
    space_and_batch,
    time_warping,
    transport,
    window_pooling,
    windows,
)

__all__ = [
    "attention",
    "convolutions",
    "cross_products",
    "morphology",
    "normalisation",
    "partitions",
    "pooling",
    "rotary",
    "segment_reductions",
    "set_distances",
    "soft_sorting",
    "space_and_batch",
    "time_warping",
    "transport",
    "window_pooling",
    "windows",
]
