"""Sample inputs for the compiled sums that kernel estimates of a density end in."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from rulescore.shipped import import_shipped

from ...random_tangents import with_tangent
from ...sampling import Sample, sample, sample_inputs

_kernel_estimates = import_shipped("rules.scipy.stats.kernel_estimates")


@sample_inputs(_kernel_estimates.gaussian_kernel_estimate, _kernel_estimates.gaussian_kernel_estimate_log)
def _(rng: np.random.Generator) -> Iterator[Sample]:
    factor = with_tangent(np.tril(rng.uniform(0.6, 1.2, (2, 2))), np.tril(rng.standard_normal((2, 2))))
    data, points = rng.standard_normal((5, 2)), rng.standard_normal((3, 2))
    yield sample(data, rng.uniform(0.1, 0.3, (5, 1)), points, factor, np.float64)
    yield sample(data, rng.uniform(0.1, 0.3, (5, 2)), points, factor, np.float64, _name="two sets of weights")
    data, points = rng.standard_normal((4, 1)), rng.standard_normal((2, 1))
    yield sample(data, np.full((4, 1), 0.25), points, np.array([[0.8]]), np.float64, _name="one variable")
