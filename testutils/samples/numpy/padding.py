"""Sample inputs for ``pad``."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..sampling import Sample, sample, sample_inputs
from ..versions import NUMPY
from .reductions import complex_normal
from .sorting import apart


@sample_inputs(np.pad)
def linear_modes(rng: np.random.Generator) -> Iterator[Sample]:
    x = rng.standard_normal((3, 4))
    for mode in ("constant", "edge", "linear_ramp", "reflect", "symmetric", "wrap"):
        yield sample(x, 1, mode)
        yield sample(x, ((2, 0), (1, 3)), mode, _name=f"{mode} other widths on each side")
        yield sample(rng.standard_normal(3), (7, 8), mode, _name=f"{mode} wider than the array")
        yield sample(complex_normal(rng, 2, 3), (1, 2), mode=mode)
        yield sample(x.T.astype(np.float32), (2, 1), mode, _name=f"{mode} strided float32")
    for mode in ("reflect", "symmetric"):
        yield sample(x, ((2, 0), (1, 3)), mode, reflect_type="odd")
        yield sample(rng.standard_normal(4), (9, 10), mode, reflect_type="odd", _name=f"odd {mode} wider")
        yield sample(rng.standard_normal(2), (3, 2), mode, reflect_type="odd", _name=f"odd {mode} of two")
        yield sample(rng.standard_normal((1, 3)), 2, mode, reflect_type="odd", _name=f"odd {mode} of one row")
        yield sample(complex_normal(rng, 3).astype(np.complex64), (3, 2), mode, reflect_type="odd")
        yield sample(rng.standard_normal(4), 2, mode, reflect_type="even")
    yield sample(rng.standard_normal((2, 3, 2)), ((1, 0), (0, 0), (2, 1)), "symmetric", _name="three axes")
    yield sample(rng.standard_normal((1, 3)), 2, "wrap", _name="wrap one row")
    yield sample(x, 0, "reflect", _name="no padding")
    yield sample(rng.standard_normal((2, 0)), ((1, 1), (0, 0)), "edge", _name="empty array along another axis")
    yield sample([1.5, 2.5, 3.5], 2, "reflect", _name="list")


@sample_inputs(np.pad)
def constants(rng: np.random.Generator) -> Iterator[Sample]:
    x = rng.standard_normal((3, 4))
    yield sample(x, 2)
    yield sample(x, 2, constant_values=1.5)
    yield sample(x, ((1, 2), (3, 0)), "constant", constant_values=(1.5, -2.5))
    yield sample(x, 1, constant_values=rng.standard_normal((2, 2)))
    yield sample(x, 1, constant_values=((1.5,), (2.5,)), _name="one constant for each axis")
    yield sample(x, 1, constant_values=[[1.5, 2.5], [3.5, 4]], _name="list of constants")
    yield sample(x, {-1: (1, 2)}, constant_values=1.5) if DICTS else sample(x, ((0, 0), (1, 2)), constant_values=1.5)
    yield sample(complex_normal(rng, 3), 2, constant_values=1.5 + 2j)
    yield sample(complex_normal(rng, 3), 2, constant_values=1.5)
    yield sample(x.astype(np.float32), 1, constant_values=np.float32(1.5))
    yield sample(np.zeros((0, 2)), ((1, 1), (0, 0)), constant_values=2.5, _name="empty array")
    yield sample(np.array(1.5), 0, _name="0-d array")
    yield sample(np.arange(3), 1, constant_values=7, _constant=True, _name="integers")
    yield sample(x, ((1, 2), (3, 0)), "linear_ramp", end_values=(1.5, -2.5))
    yield sample(x, 3, "linear_ramp", end_values=rng.standard_normal((2, 1)))
    yield sample(x[0], (0, 3), "linear_ramp", end_values=2.5)
    yield sample(x[0, :1], 2, "linear_ramp", end_values=2.5, _name="linear_ramp of one element")
    yield sample(complex_normal(rng, 3), 2, "linear_ramp", end_values=1.5 + 2j)
    yield sample(x.astype(np.float32), 2, "linear_ramp", end_values=1.5)


@sample_inputs(np.pad)
def statistics(rng: np.random.Generator) -> Iterator[Sample]:
    x = apart(rng, 4, 5)
    for mode in ("maximum", "mean", "median", "minimum"):
        yield sample(x, 1, mode)
        yield sample(x, ((2, 0), (1, 3)), mode, stat_length=((2, 3), (1, 4)))
        yield sample(x, 2, mode, stat_length=3)
        yield sample(x[0], (0, 2), mode, stat_length=(1, 9), _name=f"{mode} of more than there are")
        yield sample(x.T.astype(np.float32), (2, 1), mode, stat_length=None)
        yield sample(rng.standard_normal((0, 3)), ((0, 0), (1, 1)), mode, _name=f"{mode} of an empty array")
        yield sample(apart(rng, 3).tolist(), 1, mode, _name=f"{mode} of a list")
    yield sample(complex_normal(rng, 3), 2, "mean", stat_length=2)


DICTS = NUMPY >= "2.4.0"
