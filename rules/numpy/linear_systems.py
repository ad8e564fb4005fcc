"""Rules of what solves linear systems: solve, and the Cholesky factor, determinants and their logarithms."""

import numpy as np

from rules.numpy.array_like import as_array, as_array_tangent
from rules.numpy.products import adjoint
from rulescore import (
    AbstractZero,
    NoTangent,
    Tangent,
    Thunk,
    ZeroTangent,
    frule,
    project_to,
    rrule,
    unbroadcast,
    unthunk,
)

NO_TANGENT = NoTangent()
ZERO_TANGENT = ZeroTangent()

# ---------------------------------------------------------------- solve


@frule.register(np.linalg.solve)
def solve_frule(tangents, a, b):
    """A dX = dB - dA X."""
    _, da, db = tangents
    da, db = as_array_tangent(unthunk(da), a), as_array_tangent(unthunk(db), b)
    x = np.linalg.solve(a, b)
    if isinstance(da, AbstractZero) and isinstance(db, AbstractZero):
        return x, da + db
    is_vector = np.ndim(b) == 1
    x_columns = x[..., None] if is_vector else x
    right = ZERO_TANGENT if isinstance(db, AbstractZero) else db[:, None] if is_vector else db
    if not isinstance(da, AbstractZero):
        right = right - da @ x_columns
    dx = np.linalg.solve(a, right)
    dx = dx[..., 0] if is_vector else dx
    return x, project_to(x)(dx if dx.shape == x.shape else np.broadcast_to(dx, x.shape).copy())


@rrule.register(np.linalg.solve)
def solve_rrule(a, b):
    """A X = B, hence B̄ = A⁻ᴴ X̄ and Ā = -B̄ Xᴴ (Giles 2008, §2.3.1)."""
    x = np.linalg.solve(a, b)
    project_a, project_b = project_to(a), project_to(b)
    shape_a, shape_b, is_vector = np.shape(a), np.shape(b), np.ndim(b) == 1
    a = as_array(a)

    def solve_pullback(xbar):
        if isinstance(xbar, AbstractZero):
            return NO_TANGENT, xbar, xbar
        xbar = unthunk(xbar)
        columns = np.linalg.solve(adjoint(a), xbar[..., None] if is_vector else xbar)

        def a_bar():
            x_columns = x[..., None] if is_vector else x
            return project_a(unbroadcast(-columns @ adjoint(x_columns), shape_a))

        def b_bar():
            return project_b(unbroadcast(columns[..., 0] if is_vector else columns, shape_b))

        return NO_TANGENT, Thunk(a_bar), Thunk(b_bar)

    return x, solve_pullback


# ---------------------------------------------------------------- cholesky


def lower_half(x):
    """Φ(X): the lower triangle, with half of the diagonal."""
    return np.tril(x) - 0.5 * (x * np.eye(x.shape[-1], dtype=x.dtype))


def hermitian_from(a, upper):
    """The Hermitian matrix of which `np.linalg.cholesky` reads one triangle, the diagonal's real part among it."""
    triangle = np.triu(a, 1) if upper else np.tril(a, -1)
    diagonal = a * np.eye(a.shape[-1], dtype=a.dtype)
    return triangle + adjoint(triangle) + diagonal.real


def lower_cholesky_tangent(factor, da):
    """L Φ(L⁻¹ dA L⁻ᴴ)."""
    inner = np.linalg.solve(factor, adjoint(np.linalg.solve(factor, adjoint(da))))
    return factor @ lower_half(inner)


def lower_cholesky_cotangent(factor, factor_bar):
    """The P with Re⟨P, dA⟩ = Re⟨L̄, dL⟩ for Hermitian dA: half of S + Sᴴ with S = L⁻ᴴ Φ(Lᴴ L̄) L⁻¹."""
    if type(factor) is type(factor_bar) is np.ndarray and factor.ndim == 2 and factor.dtype.kind == "f" and factor.size:
        s = similar_by_blas(factor, factor_bar)
    else:
        factor_h = adjoint(factor)
        inner = lower_half(factor_h @ factor_bar)
        s = np.linalg.solve(factor_h, adjoint(np.linalg.solve(factor_h, adjoint(inner))))
    return 0.5 * (s + adjoint(s))


def similar_by_blas(factor, factor_bar):
    """S by two triangular solves, a fifth of the work of two general ones."""
    from scipy.linalg import get_blas_funcs  # here, since SciPy takes long to import

    trmm, trsm = get_blas_funcs(("trmm", "trsm"), (factor,))
    upper = np.asfortranarray(factor.T)
    inner = trmm(1.0, upper, np.asfortranarray(factor_bar))
    inner = np.asfortranarray(np.tril(inner))
    inner[np.diag_indices_from(inner)] *= 0.5
    left = trsm(1.0, upper, inner, overwrite_b=1)
    return trsm(1.0, upper, left, side=1, trans_a=1, overwrite_b=1)


@frule.register(np.linalg.cholesky)
def cholesky_frule(tangents, a, /, *, upper=False):
    da = as_array_tangent(unthunk(tangents[1]), a)
    y = np.linalg.cholesky(a, upper=upper)
    if isinstance(da, AbstractZero):
        return y, da
    factor = adjoint(y) if upper else y
    dfactor = lower_cholesky_tangent(factor, hermitian_from(da, upper))
    return y, project_to(y)(adjoint(dfactor) if upper else dfactor)


@rrule.register(np.linalg.cholesky)
def cholesky_rrule(a, /, *, upper=False):
    """A = L Lᴴ, hence dL = L Φ(L⁻¹ dA L⁻ᴴ), where Φ takes the lower triangle and half of the diagonal (Murray 2016).

    NumPy reads one triangle of A; the other one has no cotangent, and each element of the first that of two.
    """
    y = np.linalg.cholesky(a, upper=upper)
    project = project_to(a)

    def cholesky_pullback(ybar):
        if isinstance(ybar, AbstractZero):
            return NO_TANGENT, ybar
        ybar = unthunk(ybar)
        factor, factor_bar = (adjoint(y), adjoint(ybar)) if upper else (y, ybar)
        p = lower_cholesky_cotangent(factor, np.tril(factor_bar))
        triangle = 2 * (np.triu(p, 1) if upper else np.tril(p, -1))
        return NO_TANGENT, project(triangle + (p * np.eye(p.shape[-1], dtype=p.dtype)).real)

    return y, cholesky_pullback


# ---------------------------------------------------------------- slogdet


@frule.register(np.linalg.slogdet)
def slogdet_frule(tangents, a):
    """d log det A = tr(A⁻¹ dA): the real part moves the logarithm, the imaginary part turns the sign."""
    da = as_array_tangent(unthunk(tangents[1]), a)
    y = np.linalg.slogdet(a)
    if isinstance(da, AbstractZero):
        return y, da
    trace = np.trace(np.linalg.solve(a, da), axis1=-2, axis2=-1)
    dlogdet = project_to(y.logabsdet)(trace)
    dsign = 1j * trace.imag * y.sign if np.iscomplexobj(a) else NO_TANGENT
    return y, Tangent(type(y), dsign, dlogdet)


@rrule.register(np.linalg.slogdet)
def slogdet_rrule(a):
    """Ā = A⁻ᴴ (l̄ + i Im(conj(sign) s̄)), with l̄ of the logarithm and s̄ of the sign."""
    y = np.linalg.slogdet(a)
    project, is_complex = project_to(a), np.iscomplexobj(a)
    sign = y.sign

    def slogdet_pullback(ybar):
        if isinstance(ybar, AbstractZero):
            return NO_TANGENT, ybar
        sign_bar, logdet_bar = (unthunk(part) for part in ybar)
        weight = logdet_bar
        if is_complex and not isinstance(sign_bar, AbstractZero):
            weight = weight + 1j * (np.conjugate(sign) * sign_bar).imag
        if isinstance(weight, AbstractZero):
            return NO_TANGENT, weight
        return NO_TANGENT, project(adjoint(np.linalg.inv(a)) * as_matrices(weight))

    return y, slogdet_pullback


def as_matrices(numbers):
    """One number for each matrix of a stack, with axes to broadcast along the matrices."""
    return numbers[..., None, None] if np.ndim(numbers) else numbers
