"""Linear algebra of good and bad condition, Fourier transforms, convolutions, lookups."""

import mpmath
import numpy as np

from corpora import multiprecision as mp
from corpora.corpus import Differentiable, complex_normal, normal
from corpora.right.entry import fixed, right
from corpora.right.reductions import products_of_others
from rulescore import NoTangent


# ================================================================== linear algebra
def adjoint(a):
    return np.conj(np.swapaxes(a, -1, -2))


def inv_vjp(ybar, a):
    """Giles 2008, §2.2.3."""
    y_h = adjoint(np.linalg.inv(a))
    return -y_h @ ybar @ y_h


INV = Differentiable(
    np.linalg.inv,
    jvp=lambda da, a: -np.linalg.inv(a) @ da @ np.linalg.inv(a),
    vjp=inv_vjp,
    twin=mp.of_matrices(mpmath.inverse),
)


def of_condition(number, size=4):
    """A matrix with singular values evenly spread (in their logarithms) from 1 to 1/number."""

    def inputs(rng):
        u, _ = np.linalg.qr(rng.standard_normal((size, size)))
        v, _ = np.linalg.qr(rng.standard_normal((size, size)))
        return (u * np.geomspace(1, 1 / number, size) @ v,), {}

    return inputs


HILBERT = 1 / (np.arange(8)[:, None] + np.arange(8) + 1.0)

right("the inverse of a good matrix", INV, of_condition(10), accuracy=1e-12)
right("the inverse of a matrix of condition 1e3", INV, of_condition(1e3), accuracy=1e-10)
right("the inverse of a matrix of condition 1e6", INV, of_condition(1e6), accuracy=1e-7)
right("the inverse of a matrix of condition 1e10", INV, of_condition(1e10), accuracy=1e-3)
right("the inverse of Hilbert's matrix of order 8", INV, fixed(HILBERT), accuracy=1e-3)
right("the inverse of a complex matrix", INV, complex_normal((3, 3)), accuracy=1e-10)


def solve(a, b):
    """The solution of a x = b for one right-hand side."""
    return np.linalg.solve(a, b[:, None])[:, 0]


def solve_vjp(ybar, a, b):
    """Giles 2008, §2.3.1."""
    bbar = solve(adjoint(a), ybar)
    return -np.outer(bbar, np.conj(solve(a, b))), bbar


SOLVE = Differentiable(solve, jvp=lambda da, db, a, b: solve(a, db - da @ solve(a, b)), vjp=solve_vjp, twin=mp.solve)


def adjugate(a):
    """det(A) A⁻¹ by the singular values, so that singular matrices have one too."""
    u, s, v_h = np.linalg.svd(a)
    return np.linalg.det(u) * np.linalg.det(v_h) * adjoint(v_h) * products_of_others(s) @ adjoint(u)


DET = Differentiable(
    np.linalg.det,
    jvp=lambda da, a: np.trace(adjugate(a) @ da),
    vjp=lambda ybar, a: ybar * adjoint(adjugate(a)),
    twin=mp.of_matrices(mpmath.det),
)


def logabsdet(a):
    return np.linalg.slogdet(a)[1]


LOGABSDET = Differentiable(
    logabsdet,
    jvp=lambda da, a: np.trace(np.linalg.solve(a, da)),
    vjp=lambda ybar, a: ybar * np.linalg.inv(a).T,
    real=True,
    twin=mp.of_matrices(lambda a: mpmath.log(abs(mpmath.det(a)))),
)

right("a linear system", SOLVE, normal((4, 4), 4), accuracy=1e-9)
right(
    "a linear system of condition 1e5",
    SOLVE,
    lambda rng: ((of_condition(1e5)(rng)[0][0], rng.standard_normal(4)), {}),
    accuracy=1e-7,
)
right("a determinant", DET, normal((4, 4)), accuracy=1e-11)
right("a determinant of a matrix of condition 1e6", DET, of_condition(1e6), accuracy=1e-7)
right("the logarithm of a determinant", LOGABSDET, normal((4, 4)), accuracy=1e-10)


def symmetric(a):
    """The symmetric part of a square matrix."""
    if np.ndim(a) != 2 or len(a) != len(a.T):
        raise ValueError(f"an array of shape {np.shape(a)} is no square matrix")
    return (a + a.T) / 2


def eigenvalues(a):
    """The eigenvalues of the symmetric part, in ascending order."""
    return np.linalg.eigvalsh(symmetric(a))


def eigenvalues_jvp(da, a):
    v = np.linalg.eigh(symmetric(a))[1]
    return np.sum(v * (symmetric(da) @ v), axis=0)


def eigenvalues_vjp(ybar, a):
    v = np.linalg.eigh(symmetric(a))[1]
    return (v * ybar) @ v.T


EIGENVALUES = Differentiable(
    eigenvalues, eigenvalues_jvp, eigenvalues_vjp, real=True, twin=lambda a: mp.eigvalsh(symmetric(a))
)


def with_eigenvalues(*values):
    """A symmetric matrix with these eigenvalues, and random eigenvectors."""

    def inputs(rng):
        v, _ = np.linalg.qr(rng.standard_normal((len(values), len(values))))
        return (symmetric((v * values) @ v.T),), {}

    return inputs


right("eigenvalues far apart", EIGENVALUES, with_eigenvalues(-2.0, 0.5, 1.0, 3.0), accuracy=1e-11)
right("eigenvalues 1e-4 apart", EIGENVALUES, with_eigenvalues(-1.0, 1.0, 1.0001), accuracy=1e-9)
right("eigenvalues 1e-6 apart", EIGENVALUES, with_eigenvalues(-1.0, 1.0, 1.000001), accuracy=1e-7)


def cholesky(a):
    """The lower factor of the symmetric part."""
    return np.linalg.cholesky(symmetric(a))


def lower_half(x):
    """The lower triangle, with half of the diagonal."""
    return np.tril(x) - 0.5 * np.diag(np.diag(x))


def cholesky_jvp(da, a):
    """dL = L Φ(L⁻¹ dA L⁻ᵀ) (Murray 2016, eq. 8)."""
    y = cholesky(a)
    return y @ lower_half(np.linalg.solve(y, np.linalg.solve(y, symmetric(da)).T))


def cholesky_vjp(ybar, a):
    """Ā = sym(L⁻ᵀ Φ(Lᵀ L̄) L⁻¹) (Murray 2016, eq. 10)."""
    y = cholesky(a)
    phi = lower_half(y.T @ np.tril(ybar))
    return symmetric(np.linalg.solve(y.T, np.linalg.solve(y.T, phi.T).T))


CHOLESKY = Differentiable(
    cholesky, cholesky_jvp, cholesky_vjp, real=True, twin=lambda a: mp.of_matrices(mpmath.cholesky)(symmetric(a))
)
right("a Cholesky factor", CHOLESKY, with_eigenvalues(0.5, 1.0, 2.0, 3.0), accuracy=1e-12)
right("a Cholesky factor of condition 1e6", CHOLESKY, with_eigenvalues(1e-6, 1.0, 2.0), accuracy=1e-8)

MATMUL = Differentiable(
    np.matmul,
    jvp=lambda da, db, a, b: da @ b + a @ db,
    vjp=lambda ybar, a, b: (ybar @ adjoint(b), adjoint(a) @ ybar),
    twin=lambda a, b: a @ b,
)
right("a complex matrix product", MATMUL, complex_normal((2, 3), (3, 4)))
right(
    "a product of a real and a complex matrix",
    MATMUL,
    lambda rng: ((rng.standard_normal((2, 3)), complex_normal((3, 2))(rng)[0][0]), {}),
)
right(
    "a matrix product of a Fortran and a transposed matrix",
    MATMUL,
    lambda rng: ((np.asfortranarray(rng.standard_normal((3, 4))), rng.standard_normal((2, 4)).T), {}),
)


def dot(a, b):
    return a @ b


DOT = Differentiable(
    dot,
    jvp=lambda da, db, a, b: da @ b + a @ db,
    vjp=lambda ybar, a, b: (ybar * np.conj(b), ybar * np.conj(a)),
)
right("a dot product of 1e5 entries", DOT, normal(100_000, 100_000))


# ================================================================== transforms and indexing
def spectrum(x):
    return np.fft.fft(x)


def windowed(x, kernel):
    return np.convolve(x, kernel)


def correlated(ybar, other, shape):
    return np.correlate(ybar, np.atleast_1d(other), "valid").reshape(shape)


def lookup(table, indices):
    return table[indices]


def lookup_vjp(ybar, table, indices):
    tbar = np.zeros(np.shape(table), np.result_type(ybar, 1.0))
    np.add.at(tbar, indices, ybar)
    return tbar, NoTangent()


SPECTRUM = Differentiable(
    spectrum, jvp=lambda dx, x: np.fft.fft(dx), vjp=lambda ybar, x: len(x) * np.fft.ifft(ybar), twin=mp.fft
)
LOOKUP = Differentiable(lookup, jvp=lambda dt, _, table, indices: dt[indices], vjp=lookup_vjp)
CONVOLUTION = Differentiable(
    windowed,
    jvp=lambda da, db, a, b: np.convolve(da, b) + np.convolve(a, db),
    vjp=lambda ybar, a, b: (correlated(ybar, b, np.shape(a)), correlated(ybar, a, np.shape(b))),
)

right("a Fourier transform of real numbers", SPECTRUM, normal(6))
right("a Fourier transform of complex numbers", SPECTRUM, complex_normal(5))
right(
    "a lookup with repeated indices", LOOKUP, lambda rng: ((rng.standard_normal((4, 2)), np.array([3, 0, 3, 3, 1])), {})
)
right("a convolution", CONVOLUTION, normal(7, 3))


def interpolated(t, values, knots):
    """The piecewise linear function through ``values`` at ``knots``, at the points ``t``."""
    return np.interp(t, knots, values)


def interpolation_weights(t, values, knots):
    """The knot to the left, the weight of the one to the right, and the slope, which is zero beyond the ends."""
    inside = np.clip(t, knots[0], knots[-1])
    left = np.clip(np.searchsorted(knots, inside) - 1, 0, len(knots) - 2)
    distance = knots[left + 1] - knots[left]
    slope = np.where(inside == t, (values[left + 1] - values[left]) / distance, 0.0)
    return left, (inside - knots[left]) / distance, slope


def interpolated_jvp(dt, dvalues, _, t, values, knots):
    left, weight, slope = interpolation_weights(t, values, knots)
    return slope * dt + (1 - weight) * dvalues[left] + weight * dvalues[left + 1]


def interpolated_vjp(ybar, t, values, knots):
    left, weight, slope = interpolation_weights(t, values, knots)
    values_bar = np.zeros(np.shape(values))
    np.add.at(values_bar, left, (1 - weight) * ybar)
    np.add.at(values_bar, left + 1, weight * ybar)
    return slope * ybar, values_bar, NoTangent()


def between_knots(rng):
    """Points at least 1e-3 from the knots 0, 1, ..., 5, which are integers and so no arguments of a derivative."""
    return (rng.integers(0, 5, 4) + rng.uniform(1e-3, 1 - 1e-3, 4), rng.standard_normal(6), np.arange(6)), {}


def mp_interpolated(t, values, knots):
    inside = np.clip(t, knots[0], knots[-1])
    left = [min(int(mpmath.floor(point)), len(knots) - 2) for point in inside]
    return np.array([(k + 1 - p) * values[k] + (p - k) * values[k + 1] for k, p in zip(left, inside, strict=True)])


right(
    "an interpolation off the knots",
    Differentiable(interpolated, interpolated_jvp, interpolated_vjp, real=True, twin=mp_interpolated),
    between_knots,
)
