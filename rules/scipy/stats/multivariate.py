"""Log-densities of several variables: ``multivariate_normal``, ``multivariate_t``, ``dirichlet``, ``multinomial``.

And the entropy and the cumulative probability of the first. The methods are bound methods of SciPy's objects, as in
`standardised`. A rule gives ∂ℓ/∂ of each argument, for each of the points where the density is asked for; the density
is exp(ℓ). A covariance is symmetric, and so is its cotangent.
"""

import functools
from typing import Any

import numpy as np
from multipledispatch import MDNotImplementedError

from rulescore import (
    MissingDerivativeError,
    apply_linear,
    frule,
    ignore_derivatives,
    not_implemented,
    rrule,
    seen_by_tracers,
)
from rulescore.typing import OutputAndPullback, OutputAndTangent, Tangents
from scipy import special, stats

from ...numpy.array_like import as_array, as_array_tangent
from ...numpy.products import adjoint
from ..working_precision import in_working_precision
from .named_arguments import Arguments

psi = special.digamma


class Multivariate:
    """What the rules of a log-density need: its tangent, and the cotangent of each argument.

    Attributes
    ----------
    names : tuple of str
        The arguments that it has a derivative with respect to.
    """

    names: tuple

    def pushed(self, name, dx):
        """ℓ̇ of a tangent of one argument."""
        raise NotImplementedError

    def pulled(self, name, bar):
        """The cotangent of one argument."""
        raise NotImplementedError


def as_number(x):
    """What a rule can compute with, as SciPy does: whole numbers of a small type as others, and what LAPACK has."""
    dtype = getattr(x, "dtype", None)
    is_whole = getattr(dtype, "kind", "") in tuple("iub")
    return np.asarray(x, np.float64)[()] if is_whole else in_working_precision(x) if dtype == np.longdouble else x


def register_densities(distribution, name, make, densities=("pdf", "logpdf")):
    """The rules of both methods, where ``make(**arguments)`` is a `Multivariate`."""
    for method in densities:
        register_density(distribution, name, method, make, is_log=method.startswith("log"))


def register_density(distribution, name, method, make, is_log):
    bound = getattr(distribution, method)
    arguments = Arguments(bound)

    def call(*args, **kwargs):
        return seen_by_tracers(bound, *map(as_array, args), **{name: as_array(x) for name, x in kwargs.items()})

    call.__signature__ = arguments.signature
    call.__name__, call.__qualname__, call.__module__ = method, f"{name}.{method}", "scipy.stats"
    rrule.alias(bound, call)

    def real_values(args, kwargs):
        values = {key: as_array(x) for key, x in arguments.values(args, kwargs).items()}
        if any(np.iscomplexobj(x) for x in values.values()):
            raise MDNotImplementedError
        return {key: as_number(x) for key, x in values.items()}

    def missing(key):
        return not_implemented(f"scipy.stats.{name}.{method} with respect to {key}")

    @arguments.pushforward
    def density_frule(tangents: Tangents, *args: Any, **kwargs: Any) -> OutputAndTangent:
        values = real_values(args, kwargs)
        of, y = make(**values), call(*args, **kwargs)
        known = [
            apply_linear(functools.partial(of.pushed, key), as_array_tangent(tangents[key], values[key]))
            for key in of.names
        ]
        absent = [missing(key) * dx for key, dx in tangents.items() if key not in of.names]
        return y, sum(absent, np.reshape(sum(known[1:], known[0]), np.shape(y)) * (1 if is_log else y))

    def density_rrule(*args: Any, **kwargs: Any) -> OutputAndPullback:
        of, y = make(**real_values(args, kwargs)), call(*args, **kwargs)

        def cotangent(key, ybar):
            return of.pulled(key, ybar if is_log else ybar * y) if key in of.names else missing(key)

        return y, arguments.pullback(cotangent, args, kwargs)

    density_rrule.__signature__ = arguments.signature
    frule.add_rule(call, density_frule)
    rrule.add_rule(call, density_rrule)


# ---------------------------------------------------------------- of a quadratic form


class Quadratic(Multivariate):
    """ℓ = -½ log|S| + h(q) with q = δᵀ S⁻¹ δ and δ = x - m: with s = S⁻¹ δ and h′,

        ∂ℓ/∂x = 2 h′ s,   ∂ℓ/∂m = -2 h′ s,   ∂ℓ/∂S = -½ S⁻¹ - h′ s sᵀ.

    A centre of one number is that of all coordinates; a shape that is a number or a vector is its diagonal.
    """

    def __init__(self, keys, x, centre, shape, allow_singular):
        if isinstance(shape, stats.Covariance):
            raise MDNotImplementedError
        self.keys = self.names = keys
        x, centre = as_array(x), 0.0 if centre is None else as_array(centre)
        shape = in_working_precision(1.0 if shape is None else shape)
        self.dimension = dimension_of(x, centre, shape)
        self.shape_of_shape, self.shape_of_centre, self.shape_of_x = np.shape(shape), np.shape(centre), np.shape(x)
        n = self.dimension
        if n > 1 and np.shape(x)[-1:] != (n,):  # one number that SciPy takes for all coordinates
            raise MDNotImplementedError
        points = np.reshape(x, (-1, n))
        matrix = symmetric_of(shape, n)
        if allow_singular and is_singular(matrix):
            # On the plane where the density is; that of another plane is another function.
            self.names, self.inverse = keys[:2], np.linalg.pinv(matrix, rcond=SINGULAR, hermitian=True)
        else:
            self.inverse = inverse_of(matrix)
        self.deltas = deltas = points - np.reshape(centre, -1)
        self.solved = deltas @ self.inverse
        self.q = np.sum(deltas * self.solved, axis=1)

    def slope(self):
        """h′, in a row."""
        return np.full(self.q.shape, -0.5)

    # ------------------------------------------------------------------ for each point

    def by_points(self):
        """∂ℓ/∂x."""
        return self.solved * (2 * self.slope())[:, None]

    def along_matrix(self, dmatrix):
        """ℓ̇ along a tangent of S."""
        moved = np.sum((self.solved @ dmatrix) * self.solved, axis=1)
        return -self.slope() * moved - np.sum(self.inverse * dmatrix) / 2

    def by_matrix(self, bar):
        """Σ ∂ℓ/∂S, weighted by a number for each point."""
        weighted = self.solved * (bar * self.slope())[:, None]
        return -(adjoint(weighted) @ self.solved) - np.sum(bar) * self.inverse / 2

    # ------------------------------------------------------------------ for each argument

    def pushed(self, name, dx):
        if name == self.keys[2]:
            return self.along_matrix(matrix_of(dx, self.dimension))
        dpoints = np.reshape(dx, (-1, self.dimension if np.size(dx) >= self.dimension else 1))
        terms = np.sum(self.by_points() * dpoints, axis=1)
        return terms if name == self.keys[0] else -terms

    def pulled(self, name, bar):
        bar = np.reshape(bar, -1)
        if name == self.keys[2]:
            return given_as(self.shape_of_shape, self.by_matrix(bar))
        of_points = self.by_points() * bar[:, None]
        if name == self.keys[0]:
            return np.reshape(of_points, self.shape_of_x)
        total = -np.sum(of_points, axis=0)
        single = np.prod(self.shape_of_centre, dtype=int) == 1
        return np.reshape(np.sum(total) if single else total, self.shape_of_centre)


def dimension_of(x, centre, shape):
    """How many variables there are, as SciPy finds out: by the parameters, and not by the points."""
    if np.ndim(shape) == 2:
        return np.shape(shape)[0]
    return max(np.size(centre), np.size(shape))


def matrix_of(shape, n):
    """What stands for a matrix: itself, or its diagonal, or the one number of that."""
    return shape * np.eye(n) if np.ndim(shape) < 2 else shape


SINGULAR = 1e6 * np.finfo(float).eps
"""An eigenvalue this small beside the largest counts as zero for SciPy."""


def is_singular(matrix):
    sizes = np.abs(np.linalg.eigvalsh(ignore_derivatives(matrix)))
    return np.any(sizes <= SINGULAR * np.max(sizes))


def decline_singular(allow_singular):
    if allow_singular:
        raise MDNotImplementedError


def inverse_of(matrix):
    try:
        return np.linalg.inv(matrix)
    except np.linalg.LinAlgError:
        raise MissingDerivativeError("the derivative of a density was asked for where its matrix is singular") from None


def symmetric_of(shape, n):
    matrix = matrix_of(shape, n)
    return (matrix + adjoint(matrix)) / 2


def given_as(shape, bar):
    """The cotangent of what stands for a matrix, of that shape."""
    if len(shape) == 2:
        return np.reshape(bar, shape)
    diagonal = np.diagonal(bar)
    return np.reshape(np.sum(diagonal) if np.prod(shape, dtype=int) == 1 else diagonal, shape)


def multivariate_normal(x, mean=None, cov=1, allow_singular=False):
    return Quadratic(("x", "mean", "cov"), x, mean, cov, allow_singular)


register_densities(stats.multivariate_normal, "multivariate_normal", multivariate_normal)


class NormalEntropy(Multivariate):
    """h = ½ log|2πe S|, so that ∂h/∂S = ½ S⁻¹; it does not depend on the mean.

    Of a singular S SciPy leaves out the directions in which there is no variance, and small changes of S bring them in.
    """

    names = ("mean", "cov")

    def __init__(self, mean=None, cov=1):
        if isinstance(cov, stats.Covariance):
            raise MDNotImplementedError
        mean, cov = 0.0 if mean is None else as_array(mean), in_working_precision(1.0 if cov is None else cov)
        self.shape_of_mean, self.shape_of_cov = np.shape(mean), np.shape(cov)
        # SciPy does not compare the number of variances with that of the means.
        self.dimension = np.shape(cov)[0] if np.ndim(cov) else np.size(mean)
        matrix = symmetric_of(cov, self.dimension)
        if is_singular(matrix):
            raise MDNotImplementedError
        self.inverse = np.linalg.inv(matrix)

    def pushed(self, name, dx):
        return 0.0 if name == "mean" else np.sum(self.inverse * matrix_of(dx, self.dimension)) / 2

    def pulled(self, name, bar):
        return np.zeros(self.shape_of_mean) if name == "mean" else given_as(self.shape_of_cov, bar * self.inverse / 2)


register_density(stats.multivariate_normal, "multivariate_normal", "entropy", NormalEntropy, is_log=True)


class NormalProbability(Quadratic):
    """Φ(δ; S), by densities φ of some variables times the probability of the others where these are known.

        ∂Φ/∂xᵢ = φ(δᵢ) Φ(others | i)
        Hᵢⱼ = ∂²Φ/∂xᵢ∂xⱼ = φ(δᵢ, δⱼ) Φ(others | i, j),   Hᵢᵢ = -(δᵢ ∂Φ/∂xᵢ + Σⱼ Sᵢⱼ Hᵢⱼ) / Sᵢᵢ
        ∂Φ/∂S = ½ H (Plackett 1954).

    Of three variables and more (in 1.16, of two) SciPy computes Φ from random points, to a few digits, and so is what
    is made of it.
    """

    def __init__(self, is_log, x, mean=None, cov=1, allow_singular=False, lower_limit=None, **settings):
        if lower_limit is not None:
            raise MDNotImplementedError
        decline_singular(allow_singular)
        super().__init__(("x", "mean", "cov"), x, mean, cov, False)
        if len(self.shape_of_shape) == 1 and self.shape_of_shape != (self.dimension,):
            raise MDNotImplementedError  # SciPy computes something of these, without comparing their lengths
        self.settings = settings
        self.matrix = symmetric_of(1.0 if cov is None else in_working_precision(cov), self.dimension)
        whole = self.probability(self.deltas, self.matrix) if is_log else np.ones(len(self.deltas))
        self.first = np.stack([self.part([i]) for i in range(self.dimension)], axis=1) / whole[:, None]
        self.whole = whole

    def probability(self, deltas, matrix):
        """Φ of some variables; 1 of none."""
        count = deltas.shape[1]
        if not count:
            return np.ones(len(deltas))
        found = seen_by_tracers(stats.multivariate_normal.cdf, deltas, np.zeros(count), matrix, **self.settings)
        return np.reshape(found, (len(deltas),))

    def part(self, chosen):
        """φ of the variables that are chosen times Φ of the others, given these."""
        others = [i for i in range(self.dimension) if i not in chosen]
        known, matrix = self.deltas[:, chosen], self.matrix[chosen][:, chosen]
        solved = known @ np.linalg.inv(matrix)
        density = np.exp(-0.5 * np.sum(solved * known, axis=1)) / np.sqrt(np.linalg.det(2 * np.pi * matrix))
        across = self.matrix[chosen][:, others]
        rest = self.matrix[others][:, others] - adjoint(across) @ np.linalg.inv(matrix) @ across
        return density * self.probability(self.deltas[:, others] - solved @ across, rest)

    def second(self):
        """H of each point."""
        n, none = self.dimension, np.zeros(len(self.deltas))
        pairs = {(i, j): self.part([i, j]) / self.whole for i in range(n) for j in range(i)}
        rows = []
        for i in range(n):
            row = [none if i == j else pairs[max(i, j), min(i, j)] for j in range(n)]
            own = self.deltas[:, i] * self.first[:, i] + sum(self.matrix[i, j] * h for j, h in enumerate(row))
            row[i] = -own / self.matrix[i, i]
            rows.append(np.stack(row, axis=-1))
        return np.stack(rows, axis=-2)

    def by_points(self):
        return self.first

    def along_matrix(self, dmatrix):
        return np.sum(self.second() * dmatrix, axis=(1, 2)) / 2

    def by_matrix(self, bar):
        return np.sum(self.second() * bar[:, None, None], axis=0) / 2


for _method in ("cdf", "logcdf"):
    register_density(
        stats.multivariate_normal,
        "multivariate_normal",
        _method,
        functools.partial(NormalProbability, _method == "logcdf"),
        is_log=True,
    )


class StudentQuadratic(Quadratic):
    """With h = -½ (ν + n) log(1 + q/ν)."""

    def __init__(self, x, loc=None, shape=1, df=1, allow_singular=False):
        decline_singular(allow_singular)
        super().__init__(("x", "loc", "shape"), x, loc, shape, False)
        if np.ndim(df) or np.isinf(df):
            raise MDNotImplementedError
        self.df, self.names = df, ("x", "loc", "shape", "df")

    def slope(self):
        return -(self.df + self.dimension) / (2 * (self.df + self.q))

    def of_df(self):
        df, n, q = self.df, self.dimension, self.q
        total = psi((df + n) / 2) - psi(df / 2) - n / df - np.log1p(q / df) + (df + n) * q / (df * (df + q))
        return total / 2

    def pushed(self, name, dx):
        return self.of_df() * dx if name == "df" else super().pushed(name, dx)

    def pulled(self, name, bar):
        return np.sum(np.reshape(bar, -1) * self.of_df()) if name == "df" else super().pulled(name, bar)


register_densities(stats.multivariate_t, "multivariate_t", StudentQuadratic)


# ---------------------------------------------------------------- of shares


class Dirichlet(Multivariate):
    """ℓ = Σ (α - 1) log x - log B(α), where x may be given without its last share, which is what is left."""

    names = ("x", "alpha")

    def __init__(self, x, alpha):
        self.x, self.alpha = as_array(x), as_array(alpha)
        self.is_short = len(self.x) == len(self.alpha) - 1
        full = np.concatenate([self.x, 1 - np.sum(self.x, axis=0, keepdims=True)]) if self.is_short else self.x
        self.rows = np.reshape(full, (len(self.alpha), -1))
        self.logs = np.log(self.rows)

    def of_x(self):
        slope = (self.alpha - 1)[:, None] / self.rows
        return slope[:-1] - slope[-1:] if self.is_short else slope

    def of_alpha(self):
        return self.logs - (psi(self.alpha) - psi(np.sum(self.alpha)))[:, None]

    def pushed(self, name, dx):
        slope = self.of_x() if name == "x" else self.of_alpha()
        return np.sum(slope * np.reshape(dx, (len(slope), -1)), axis=0)

    def pulled(self, name, bar):
        bar = np.reshape(bar, -1)
        if name == "x":
            return np.reshape(self.of_x() * bar, np.shape(self.x))
        return np.sum(self.of_alpha() * bar, axis=1)


register_densities(stats.dirichlet, "dirichlet", Dirichlet)


# ---------------------------------------------------------------- of counts


class Counts(Multivariate):
    """A mass function of whole numbers, with a slope for each of the components of a real parameter."""

    def __init__(self, key, slopes):
        self.names, self.slopes = (key,), slopes

    def pushed(self, name, dx):
        return np.sum(self.slopes * dx, axis=-1)

    def pulled(self, name, bar):
        terms = self.slopes * np.expand_dims(bar, -1)
        return np.sum(terms, axis=tuple(range(np.ndim(terms) - 1)))


def multinomial(x, n, p):
    """Of the last probability SciPy takes what the others leave."""
    x, p = as_array(x), as_array(p)
    if np.ndim(p) != 1:
        raise MDNotImplementedError
    last = 1 - np.sum(p[:-1])
    of_others = x[..., :-1] / p[:-1] - x[..., -1:] / last
    return Counts("p", np.concatenate([of_others, np.zeros_like(of_others[..., :1])], axis=-1))


def dirichlet_multinomial(x, alpha, n):
    x, alpha = as_array(x), as_array(alpha)
    if np.ndim(alpha) != 1 or np.shape(x)[-1:] != np.shape(alpha):
        raise MDNotImplementedError
    total = np.sum(alpha)
    return Counts("alpha", psi(x + alpha) - psi(alpha) + psi(total) - psi(np.expand_dims(n, -1) + total))


register_densities(stats.multinomial, "multinomial", multinomial, ("pmf", "logpmf"))
register_densities(stats.dirichlet_multinomial, "dirichlet_multinomial", dirichlet_multinomial, ("pmf", "logpmf"))
