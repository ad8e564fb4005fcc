"""Kernel estimates of a density: the compiled sums over the data in which ``gaussian_kde`` and its ``logpdf`` end.

Of data xᵢ with weights vᵢ, at points ξⱼ, with the lower Cholesky factor L of the kernels' covariance,

    yⱼ = Σᵢ vᵢ kⱼᵢ  or its logarithm,   kⱼᵢ = exp(-½ |rⱼᵢ|²) / Πₐ √(2π) Lₐₐ,   rⱼᵢ = L⁻¹ (ξⱼ - xᵢ)

and with g = L⁻ᵀ r the slopes of log k are g by x, -g by ξ, and tril(g rᵀ) - diag(1 / Lₐₐ) by L. SciPy computes x, v and
L of what it is given in Python, with functions that have rules.
"""

import numpy as np

from rulescore import apply_linear, frule, pullback_wrt, pushforward, rrule, seen_by_tracers
from rulescore.typing import Array, DType, OutputAndPullback, OutputAndTangent
from scipy.stats import _stats

from ..working_precision import in_working_precision


class Kernels:
    """The kernels of all data at all points: ``slopes[j, i]`` is g, and ``shares[j, i, c]`` is ∂yⱼ/∂vᵢ.

    There may be several weights for each of the data, and then as many estimates at each point.
    """

    def __init__(self, points, values, xi, cho_cov, log_estimate=0.0):
        self.values, self.inverse = values, np.linalg.inv(np.tril(in_working_precision(cho_cov)))
        self.residuals = (xi[:, None, :] - points) @ np.swapaxes(self.inverse, 0, 1)
        self.slopes = self.residuals @ self.inverse
        exponents = -np.sum(self.residuals**2 + np.log(2 * np.pi), axis=2) / 2
        self.shares = np.prod(np.diagonal(self.inverse)) * np.exp(exponents[:, :, None] - log_estimate)

    def tangent(self, dpoints, dvalues, dxi, dcho_cov):
        """ẏ."""
        return (
            apply_linear(lambda dv: np.einsum("jic,ic->jc", self.shares, dv), dvalues)
            + apply_linear(lambda dx: self.along(np.einsum("jia,ia->ji", self.slopes, dx)), dpoints)
            + apply_linear(lambda dx: self.along(-np.einsum("jia,ja->ji", self.slopes, dx)), dxi)
            + apply_linear(lambda dc: self.along(self.log_kernels_along(np.tril(dc))), dcho_cov)
        )

    def along(self, dlog_kernels):
        """ẏ of a tangent of log k."""
        return np.einsum("jic,ic,ji->jc", self.shares, self.values, dlog_kernels)

    def log_kernels_along(self, dfactor):
        moved = np.sum((self.slopes @ dfactor) * self.residuals, axis=2)
        return moved - np.sum(np.diagonal(dfactor) * np.diagonal(self.inverse))

    def cotangents(self, ybar):
        """Of the data, their weights, the points and the factor."""

        def weighted():
            """The cotangent of log k, times g."""
            return np.einsum("jc,jic,ic,jia->jia", ybar, self.shares, self.values, self.slopes)

        def factor_bar():
            total = np.einsum("jc,jic,ic->", ybar, self.shares, self.values)
            moved = np.einsum("jia,jib->ab", weighted(), self.residuals)
            return np.tril(moved) - total * np.diag(np.diagonal(self.inverse))

        return (
            lambda: np.sum(weighted(), axis=0),
            lambda: np.einsum("jic,jc->ic", self.shares, ybar),
            lambda: -np.sum(weighted(), axis=1),
            factor_bar,
        )


def estimate_by(compiled, name):
    """One of SciPy's sums as a function that has its rules, and does not end the process where lengths differ."""

    def estimate(points, values, xi, cho_cov, dtype):
        if {*map(np.ndim, (points, values, xi, cho_cov))} != {2} or len(points) != len(values):
            raise ValueError("data, weights, points and factor are matrices, and there are as many weights as data")
        return seen_by_tracers(compiled, points, values, xi, cho_cov, dtype)

    estimate.__name__ = estimate.__qualname__ = name
    rrule.alias(compiled, estimate)
    return estimate


def register_estimate(estimate, is_log):
    def kernels(y, *args):
        return Kernels(*args, log_estimate=y[:, None] if is_log else 0.0)

    @frule.register(estimate)
    @pushforward
    def kernel_estimate_frule(
        dpoints: Array,
        dvalues: Array,
        dxi: Array,
        dcho_cov: Array,
        points: Array,
        values: Array,
        xi: Array,
        cho_cov: Array,
        dtype: DType,
    ) -> OutputAndTangent:
        y = estimate(points, values, xi, cho_cov, dtype)
        return y, kernels(y, points, values, xi, cho_cov).tangent(dpoints, dvalues, dxi, dcho_cov)

    @rrule.register(estimate)
    def kernel_estimate_rrule(
        points: Array, values: Array, xi: Array, cho_cov: Array, dtype: DType
    ) -> OutputAndPullback:
        y = estimate(points, values, xi, cho_cov, dtype)

        @pullback_wrt(points, values, xi, cho_cov)
        def kernel_estimate_pullback(ybar):
            return kernels(y, points, values, xi, cho_cov).cotangents(ybar)

        return y, kernel_estimate_pullback


gaussian_kernel_estimate = estimate_by(_stats.gaussian_kernel_estimate["double"], "gaussian_kernel_estimate")
gaussian_kernel_estimate_log = estimate_by(
    _stats.gaussian_kernel_estimate_log["double"], "gaussian_kernel_estimate_log"
)
register_estimate(gaussian_kernel_estimate, is_log=False)
register_estimate(gaussian_kernel_estimate_log, is_log=True)
