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


def register_density(distribution, name, method, make, is_log=True, of_value=False):
    """The rules of one method: of a log-density, where ``is_log``, else of its exponential.

    ``of_value`` says that ``make(y, **arguments)`` is given the value, and tells the derivatives of that itself.
    """
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
        y = call(*args, **kwargs)
        of = make(y, **values) if of_value else make(**values)
        known = [
            apply_linear(functools.partial(of.pushed, key), as_array_tangent(tangents[key], values[key]))
            for key in of.names
        ]
        absent = [missing(key) * dx for key, dx in tangents.items() if key not in of.names]
        return y, sum(absent, np.reshape(sum(known[1:], known[0]), np.shape(y)) * (1 if is_log else y))

    def density_rrule(*args: Any, **kwargs: Any) -> OutputAndPullback:
        y = call(*args, **kwargs)
        of = make(y, **real_values(args, kwargs)) if of_value else make(**real_values(args, kwargs))

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


class Powers:
    """The slopes along b of y = c Π bᵢ^eᵢ over the first axis, or of log y; a factor with eᵢ = 0 is 1 for any bᵢ.

    Where bᵢ = 0 that of y is c eᵢ bᵢ^(eᵢ - 1) Π' bⱼ^eⱼ, with the product of the others, and not y eᵢ / bᵢ.

    Attributes
    ----------
    value : array
        y itself, or 1 for its logarithm: what the slopes of the logarithm are multiplied with.
    """

    def __init__(self, bases, exponents, log_constant, y, is_log):
        self.bases, self.exponents, self.log_constant = bases, exponents, log_constant
        self.is_log, self.value = is_log, 1.0 if is_log else y
        self.is_zero = ignore_derivatives(bases) == 0

    def slopes(self):
        e = ignore_derivatives(self.exponents)
        if self.is_log or not np.any(self.is_zero):
            return self.value * self.exponents / np.where(self.is_zero & (e == 0), 1.0, self.bases)
        filled = np.where(self.is_zero, 1.0, self.bases)
        terms = special.xlogy(self.exponents, filled)
        vanishing = np.where(self.is_zero, self.bases**self.exponents, 1.0)
        every = range(len(self.bases))
        logs = np.stack([np.sum(np.delete(terms, i, axis=0), axis=0) for i in every]) + self.log_constant
        others = np.exp(logs) * np.stack([np.prod(np.delete(vanishing, i, axis=0), axis=0) for i in every])
        is_flat = (e == 0) | (ignore_derivatives(others) == 0)
        with np.errstate(divide="ignore", invalid="ignore"):  # infinite slopes, and what is not chosen
            at_zero = np.where(is_flat, 0.0, self.exponents * self.bases ** (self.exponents - 1) * others)
        return np.where(self.is_zero, at_zero, self.value * self.exponents / filled)

    def of_exponents(self):
        """The slopes along e."""
        vanishes = self.is_zero & (ignore_derivatives(self.exponents) > 1)
        return special.xlogy(self.value, self.bases if self.is_log else np.where(vanishes, 1.0, self.bases))


class Dirichlet(Multivariate):
    """ℓ = Σ (α - 1) log x - log B(α), where x may be given without its last share, which is what is left; and exp ℓ."""

    names = ("x", "alpha")

    def __init__(self, is_log, y, x, alpha):
        self.x, self.alpha = as_array(x), as_array(alpha)
        self.is_short = len(self.x) == len(self.alpha) - 1
        full = np.concatenate([self.x, 1 - np.sum(self.x, axis=0, keepdims=True)]) if self.is_short else self.x
        rows = np.reshape(full, (len(self.alpha), -1))
        log_constant = special.gammaln(np.sum(self.alpha)) - np.sum(special.gammaln(self.alpha))
        self.powers = Powers(rows, (self.alpha - 1)[:, None], log_constant, np.reshape(y, -1), is_log)

    def of_x(self):
        slope = self.powers.slopes()
        return slope[:-1] - slope[-1:] if self.is_short else slope

    def of_alpha(self):
        centre = (psi(self.alpha) - psi(np.sum(self.alpha)))[:, None]
        return self.powers.of_exponents() - self.powers.value * centre

    def pushed(self, name, dx):
        slope = self.of_x() if name == "x" else self.of_alpha()
        return np.sum(slope * np.reshape(dx, (len(slope), -1)), axis=0)

    def pulled(self, name, bar):
        bar = np.reshape(bar, -1)
        if name == "x":
            return np.reshape(self.of_x() * bar, np.shape(self.x))
        return np.sum(self.of_alpha() * bar, axis=1)


for _method in ("pdf", "logpdf"):
    register_density(
        stats.dirichlet, "dirichlet", _method, functools.partial(Dirichlet, _method == "logpdf"), of_value=True
    )


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


def multinomial(is_log, y, x, n, p):
    """Of the last probability SciPy takes what the others leave."""
    x, p = as_array(x), as_array(p)
    if np.ndim(p) != 1:
        raise MDNotImplementedError
    counts = np.moveaxis(np.asarray(x, np.float64), -1, 0)
    shares = np.append(p[:-1], 1 - np.sum(p[:-1]))
    bases = np.broadcast_to(np.reshape(shares, (-1,) + (1,) * (np.ndim(counts) - 1)), np.shape(counts))
    log_constant = special.gammaln(np.asarray(n) + 1.0) - np.sum(special.gammaln(counts + 1.0), axis=0)
    slopes = np.moveaxis(Powers(bases, counts, log_constant, y, is_log).slopes(), 0, -1)
    if not is_log:  # nothing is possible but whole counts that add up
        is_possible = np.all((counts >= 0) & (counts == np.floor(counts)), axis=0) & (np.sum(counts, axis=0) == n)
        slopes = np.where(is_possible[..., None], slopes, 0.0)
    of_others = slopes[..., :-1] - slopes[..., -1:]
    return Counts("p", np.concatenate([of_others, np.zeros_like(of_others[..., :1])], axis=-1))


def dirichlet_multinomial(x, alpha, n):
    x, alpha = as_array(x), as_array(alpha)
    if np.ndim(alpha) != 1 or np.shape(x)[-1:] != np.shape(alpha):
        raise MDNotImplementedError
    total = np.sum(alpha)
    return Counts("alpha", psi(x + alpha) - psi(alpha) + psi(total) - psi(np.expand_dims(n, -1) + total))


for _method in ("pmf", "logpmf"):
    register_density(
        stats.multinomial, "multinomial", _method, functools.partial(multinomial, _method == "logpmf"), of_value=True
    )
register_densities(stats.dirichlet_multinomial, "dirichlet_multinomial", dirichlet_multinomial, ("pmf", "logpmf"))
