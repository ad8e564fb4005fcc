"""Sample inputs for densities of several variables."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ...random_tangents import with_tangent
from ...sampling import Sample, sample, sample_inputs
from ...versions import SCIPY
from .distributions import methods_of

NO_COVARIANCE = {"zero entry": "with a zero on one side of the diagonal it is no covariance, and SciPy reads one half"}


def covariance(rng: np.random.Generator, n: int) -> Any:
    """A positive definite matrix, with a symmetric tangent."""
    x, dx = rng.standard_normal((2, n, n))
    return with_tangent(x @ x.T / n + np.eye(n), dx + dx.T)


@sample_inputs(*methods_of("multivariate_normal", "pdf", "logpdf"))
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x, mean = rng.standard_normal((4, 3)), rng.standard_normal(3)
    yield sample(x, mean, covariance(rng, 3), _skip=NO_COVARIANCE)
    yield sample(x[0], mean, covariance(rng, 3), _name="one point", _skip=NO_COVARIANCE)
    yield sample(
        rng.standard_normal((2, 2, 3)), mean, covariance(rng, 3), _name="points in a grid", _skip=NO_COVARIANCE
    )
    yield sample(x, mean, 1.5, _name="one variance")
    yield sample(x, mean, rng.uniform(0.5, 1.5, 3), _name="variances")
    yield sample(x, mean)
    yield sample(rng.standard_normal(4), 0.5, 2.5, _name="one variable")
    yield sample(x[0].tolist(), mean.tolist(), 2.0, _name="lists")
    yield sample(x.astype(np.float32), mean.astype(np.float32), np.float32(1.5), _name="float32")


_FAR_OUT = "far out, where SciPy's probability is 0 or 1, the slope is that of the true one"
FAR_OUT = dict.fromkeys(("larger", "larger, negated", "thousandfold"), _FAR_OUT)


@sample_inputs(*methods_of("multivariate_normal", "cdf", "logcdf"))
def _(rng: np.random.Generator) -> Iterator[Sample]:
    if SCIPY < "1.16.0" or SCIPY >= "1.17.0":  # between, it has random points for two variables as for more
        skip = {**FAR_OUT, **NO_COVARIANCE}
        yield sample(rng.standard_normal((3, 2)), rng.standard_normal(2), covariance(rng, 2), _skip=skip)
    mean, variances = rng.standard_normal(2), rng.uniform(0.5, 1.5, 2)
    yield sample(rng.standard_normal(2), mean, variances, _name="variances", _skip=FAR_OUT)
    yield sample(rng.standard_normal(4), 0.5, 2.5, _name="one variable", _skip=FAR_OUT)


@sample_inputs(*methods_of("multivariate_normal", "entropy"))
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(rng.standard_normal(3), covariance(rng, 3), _skip=NO_COVARIANCE)
    yield sample(rng.standard_normal(3), cov=rng.uniform(0.5, 1.5, 3), _name="variances")


@sample_inputs(*methods_of("multivariate_t", "pdf", "logpdf"))
def _(rng: np.random.Generator) -> Iterator[Sample]:
    x, loc = rng.standard_normal((4, 3)), rng.standard_normal(3)
    yield sample(x, loc, covariance(rng, 3), 4.5, _skip=NO_COVARIANCE)
    yield sample(x[0], loc, covariance(rng, 3), 3, _name="one point", _skip=NO_COVARIANCE)
    yield sample(x, loc, 1.5, 2.5, _name="one scale")


@sample_inputs(*methods_of("dirichlet", "pdf", "logpdf"))
def _(rng: np.random.Generator) -> Iterator[Sample]:
    alpha = np.array([1.5, 2.5, 0.7])
    yield sample(np.array([0.2, 0.3]), alpha)
    yield sample(np.array([[0.2, 0.1], [0.3, 0.6]]), alpha, _name="two points")
    x, dx = np.array([0.2, 0.3, 0.5]), np.array([0.4, -0.7, 0.3])
    yield sample(with_tangent(x, dx), alpha, _name="all shares")


@sample_inputs(*methods_of("multinomial", "pmf", "logpmf"))
def _(rng: np.random.Generator) -> Iterator[Sample]:
    # SciPy warns where they do not sum to 1.
    p = with_tangent(np.array([0.3, 0.2, 0.5]), np.array([0.4, -0.7, 0.3]))
    yield sample(np.array([3, 1, 2]), 6, p)
    yield sample(np.array([[3, 1, 2], [0, 4, 2]]), 6, p)


@sample_inputs(*methods_of("dirichlet_multinomial", "pmf", "logpmf"))
def _(rng: np.random.Generator) -> Iterator[Sample]:
    yield sample(np.array([3, 1, 2]), np.array([1.5, 2.5, 0.7]), 6)
    yield sample(np.array([[3, 1, 2], [0, 4, 2]]), np.array([1.5, 2.5, 0.7]), 6)
