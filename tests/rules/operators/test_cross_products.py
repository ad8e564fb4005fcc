"""The cross product broadcasts, and takes vectors of three numbers alone."""

import numpy as np
import pytest

from rules.operators import cross


def test_values_and_gradients_are_those_of_torch(agrees_with_torch):
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(0)
    agrees_with_torch(cross, torch.linalg.cross, rng.standard_normal((4, 1, 3)), rng.standard_normal((1, 5, 3)))


def test_other_lengths_are_told():
    with pytest.raises(ValueError, match=r"give vectors of three numbers, \(..., 3\)"):
        cross(np.ones(2), np.ones(2))
