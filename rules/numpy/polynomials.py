"""Rules of polynomials given by their coefficients: `numpy.polyval` and its kin, `numpy.roots` and `numpy.vander`.

The coefficient of the highest power stands first. Objects of the class ``np.poly1d`` have no rules here. Fits are in
`polynomial_fits`.
"""

from multipledispatch import MDNotImplementedError

import numpy as np
from rulescore import (
    MissingDerivativeError,
    ZeroTangent,
    apply_linear,
    frule,
    linear_rule,
    pullback_wrt,
    pushforward,
    rrule,
    unbroadcast,
)
from rulescore.typing import Array, Count, Flag, OutputAndPullback, OutputAndTangent

from .array_like import as_array, as_array_tangent, conj, full_tangent, shape_of


def coefficients(*polynomials):
    """The coefficients in one axis, as arrays; of a number, one."""
    arrays = []
    for p in polynomials:
        p = as_array(p)
        if isinstance(p, np.poly1d) or np.ndim(p) > 1:
            raise MDNotImplementedError
        arrays.append(np.reshape(p, -1))
    return arrays if len(arrays) > 1 else arrays[0]


def tangents_of_coefficients(tangents, *polynomials):
    """Their tangents as arrays, of zeros where there is none."""
    return [np.reshape(full_tangent(dp, p), -1) for dp, p in zip(tangents, polynomials, strict=True)]


def with_zeros_before(p, length):
    """The same polynomial with so many coefficients, or without some of its first ones."""
    surplus = len(p) - length
    return p[surplus:] if surplus >= 0 else np.concatenate([np.zeros(-surplus, p.dtype), p])


# ---------------------------------------------------------------- values


def derivative_at(p, x):
    """p'(x), where the coefficients may be arrays along the first axis."""
    powers = np.reshape(np.arange(len(p) - 1, 0, -1), (-1,) + (1,) * (np.ndim(p) - 1))
    return np.polyval(p[:-1] * powers.astype(p.real.dtype), x)


def decline_polynomial_objects(*arguments):
    if any(isinstance(argument, (np.poly1d, np.matrix)) for argument in arguments):
        raise MDNotImplementedError


@frule.register(np.polyval)
@pushforward
def polyval_frule(dp: Array, dx: Array, p: Array, x: Array) -> OutputAndTangent:
    """ẏ = p'(x) ẋ + ṗ(x)."""
    decline_polynomial_objects(p, x)
    dp, dx = as_array_tangent(dp, p), as_array_tangent(dx, x)
    p, x = as_array(p), as_array(x)
    y = np.polyval(p, x)
    along_x = apply_linear(lambda dx: derivative_at(p, x) * dx, dx)
    # Of a constant, that has the shape of x.
    return y, np.broadcast_to(along_x + apply_linear(lambda dp: np.polyval(dp, x), dp), np.shape(y))


@rrule.register(np.polyval)
def polyval_rrule(p: Array, x: Array) -> OutputAndPullback:
    """y = Σ pₖ xⁿ⁻¹⁻ᵏ, hence x̄ = conj(p'(x)) ȳ and p̄ₖ = Σ conj(xⁿ⁻¹⁻ᵏ) ȳ."""
    decline_polynomial_objects(p, x)
    primals, p, x = (p, x), as_array(p), as_array(x)

    def p_bar(ybar):
        terms, bars, factor = ybar, [], conj(x)
        for k in range(len(p)):
            terms = terms * factor if k else ybar
            bars.append(unbroadcast(terms, np.shape(p)[1:]))
        return np.stack(bars[::-1]) if bars else np.zeros(np.shape(p))

    def x_bar(ybar):
        return unbroadcast(ybar * conj(derivative_at(p, x)), np.shape(x))

    return np.polyval(p, x), pullback_wrt(*primals, elementwise=True)(p_bar, x_bar)


# ---------------------------------------------------------------- sums, products, quotients


def sum_and_tangent(f, da1, da2, a1, a2):
    return f(*coefficients(a1, a2)), f(*tangents_of_coefficients((da1, da2), a1, a2))


def sum_and_pullback(f, sign, a1, a2):
    """The polynomials end with the same power, so that of ȳ each gets as many of the last elements as it has."""
    p1, p2 = coefficients(a1, a2)
    counts, shapes = (len(p1), len(p2)), (shape_of(a1), shape_of(a2))
    pullback = pullback_wrt(a1, a2)(
        lambda ybar: np.reshape(with_zeros_before(ybar, counts[0]), shapes[0]),
        lambda ybar: np.reshape(sign * with_zeros_before(ybar, counts[1]), shapes[1]),
    )
    return f(p1, p2), pullback


@frule.register(np.polyadd)
@pushforward
def polyadd_frule(da1: Array, da2: Array, a1: Array, a2: Array) -> OutputAndTangent:
    return sum_and_tangent(np.polyadd, da1, da2, a1, a2)


@rrule.register(np.polyadd)
def polyadd_rrule(a1: Array, a2: Array) -> OutputAndPullback:
    return sum_and_pullback(np.polyadd, 1, a1, a2)


@frule.register(np.polysub)
@pushforward
def polysub_frule(da1: Array, da2: Array, a1: Array, a2: Array) -> OutputAndTangent:
    return sum_and_tangent(np.polysub, da1, da2, a1, a2)


@rrule.register(np.polysub)
def polysub_rrule(a1: Array, a2: Array) -> OutputAndPullback:
    return sum_and_pullback(np.polysub, -1, a1, a2)


def without_leading_zeros(p):
    """As NumPy multiplies polynomials: zeros before the first other coefficient make the product no longer."""
    places = np.flatnonzero(p != 0)
    return p[min(places[0] if places.size else len(p) - 1, len(p) - 1) :] if len(p) else np.zeros(1, p.dtype)


@frule.register(np.polymul)
@pushforward
def polymul_frule(da1: Array, da2: Array, a1: Array, a2: Array) -> OutputAndTangent:
    p1, p2 = map(without_leading_zeros, coefficients(a1, a2))
    dp1, dp2 = tangents_of_coefficients((da1, da2), a1, a2)
    dp1, dp2 = with_zeros_before(dp1, len(p1)), with_zeros_before(dp2, len(p2))
    return np.convolve(p1, p2), np.convolve(dp1, p2) + np.convolve(p1, dp2)


@rrule.register(np.polymul)
def polymul_rrule(a1: Array, a2: Array) -> OutputAndPullback:
    """The convolution of the coefficients; zeros before the first other one are left out, and get 0."""
    p1, p2 = coefficients(a1, a2)
    counts, shapes = (len(p1), len(p2)), (shape_of(a1), shape_of(a2))
    p1, p2 = without_leading_zeros(p1), without_leading_zeros(p2)
    pullback = pullback_wrt(a1, a2)(
        lambda ybar: np.reshape(with_zeros_before(np.correlate(ybar, p2, "valid"), counts[0]), shapes[0]),
        lambda ybar: np.reshape(with_zeros_before(np.correlate(ybar, p1, "valid"), counts[1]), shapes[1]),
    )
    return np.convolve(p1, p2), pullback


class Division:
    """The quotient q and remainder r of u = q v + r, without the trouble that r is as long as it is not near zero."""

    __slots__ = ("count", "length", "q", "r", "v")

    def __init__(self, u, v):
        self.q, self.r = np.polydiv(u, v)
        self.v, self.length = v, len(u)
        self.count = max(len(u) - len(v) + 1, 0)

    def tangents(self, du, dv):
        """From u̇ - q v̇ = q̇ v + ṙ: the quotient and remainder of it."""
        if not self.count:
            return np.zeros(1, self.q.dtype), du[self.length - len(self.r) :]
        dividend = du - np.convolve(self.q, dv)
        dq = np.polydiv(dividend, self.v)[0]
        return dq, with_zeros_before(dividend - np.convolve(dq, self.v), len(self.r))

    def cotangents(self, qbar, rbar):
        """The transpose: q solves T q = u with the triangular Toeplitz matrix T of the first coefficients of v."""
        rbar = with_zeros_before(rbar, self.length)
        if not self.count:
            return rbar, np.zeros(len(self.v), rbar.dtype)
        rbar = np.concatenate([np.zeros(self.count, rbar.dtype), rbar[self.count :]])
        qbar = qbar - np.correlate(rbar, self.v, "valid")
        # T turned around both ways is Tᵀ, so its system is one of division too.
        turned = np.concatenate([qbar[::-1], np.zeros(len(self.v) - 1, qbar.dtype)])
        solved = np.polydiv(turned, conj(self.v))[0][::-1]
        ubar = np.concatenate([solved, rbar[self.count :]])
        return ubar, -np.correlate(ubar, self.q, "valid")


@frule.register(np.polydiv)
@pushforward
def polydiv_frule(du: Array, dv: Array, u: Array, v: Array) -> OutputAndTangent:
    division = Division(*coefficients(u, v))
    return (division.q, division.r), division.tangents(*tangents_of_coefficients((du, dv), u, v))


@rrule.register(np.polydiv)
def polydiv_rrule(u: Array, v: Array) -> OutputAndPullback:
    """u = q v + r, hence q̇ and ṙ are the quotient and the remainder of u̇ - q v̇."""
    division, shapes = Division(*coefficients(u, v)), (shape_of(u), shape_of(v))

    @pullback_wrt(u, v)
    def polydiv_pullback(ybar):
        qbar, rbar = (bar + np.zeros_like(y) for bar, y in zip(ybar, (division.q, division.r), strict=True))
        ubar, vbar = division.cotangents(qbar, rbar)
        return np.reshape(ubar, shapes[0]), np.reshape(vbar, shapes[1])

    return (division.q, division.r), polydiv_pullback


# ---------------------------------------------------------------- derivatives and integrals


def polyder_transpose(ybar, p, m=1):
    """yₖ = cₖ pₖ with the numbers cₖ that the derivative of Σ xᵏ has; the last m coefficients have no part in it."""
    if p.ndim != 1:
        raise MissingDerivativeError(
            f"np.polyder of an array of {p.ndim} axes, of which NumPy takes two for that of the coefficients, has no "
            "derivative in reverse mode: call it for each polynomial"
        )
    return np.concatenate([ybar * np.polyder(np.ones(p.size), m), np.zeros(min(int(m), p.size), ybar.dtype)])


linear_rule(np.polyder, polyder_transpose)


def weights_of_integral(length, m, count):
    """What the coefficients, and the constants of integration, are multiplied with in ``np.polyint``."""
    of_p = np.polyint(np.ones(length), m)[:length]
    of_constants = np.polyint(np.zeros(0), m, np.ones(m)) if m else np.zeros(0)
    return of_p, of_constants[: min(m, count)] if count > 1 else of_constants


def decline_number(p):
    """NumPy has no integral of it, but where it is to be integrated no times."""
    if not shape_of(p):
        raise MDNotImplementedError


@frule.register(np.polyint)
@pushforward
def polyint_frule(dp: Array, dk: Array, p: Array, m: Count = 1, k: Array = None) -> OutputAndTangent:
    decline_number(p)
    dk = None if k is None else full_tangent(dk, k)
    return np.polyint(coefficients(p), m, k), np.polyint(full_tangent(dp, p), m, dk)


@rrule.register(np.polyint)
def polyint_rrule(p: Array, m: Count = 1, k: Array = None) -> OutputAndPullback:
    """Linear in the coefficients and in the constants of integration, of which one stands for all."""
    decline_number(p)
    primals, shapes = (p, ..., k), (shape_of(p), () if k is None else shape_of(k))
    p = coefficients(p)
    y, length, m = np.polyint(p, m, k), len(p), int(m)
    count = int(np.prod(shapes[1], dtype=int))

    def p_bar(ybar):
        return np.reshape(ybar[:length] * weights_of_integral(length, m, count)[0], shapes[0])

    def k_bar(ybar):
        kbar = ybar[length:] * weights_of_integral(length, m, count)[1]
        kbar = np.sum(kbar, keepdims=True) if count == 1 else kbar
        return np.reshape(np.concatenate([kbar, np.zeros(count - len(kbar), kbar.dtype)]), shapes[1])

    return y, pullback_wrt(*primals)(p_bar, k_bar)


# ---------------------------------------------------------------- roots


def polynomials_of_the_first_roots(roots):
    """The coefficients of Π (x - rᵢ) for none of the roots, the first one, the first two and so on."""
    partial = [np.ones(1, roots.dtype)]
    for root in roots[:-1]:
        partial.append(times_root(partial[-1], root))
    return partial


def times_root(p, root):
    """The coefficients of p(x) (x - r)."""
    zero = np.zeros(1, p.dtype)
    return np.concatenate([p, zero]) - root * np.concatenate([zero, p])


def characteristic_adjugates(a, y):
    """The matrices Bₖ of adj(x - A) = Σ xⁿ⁻¹⁻ᵏ Bₖ, of the characteristic polynomial y (Faddeev and LeVerrier)."""
    identity = np.eye(len(a), dtype=a.dtype)
    adjugates = [identity]
    for k in range(1, len(a)):
        adjugates.append(a @ adjugates[-1] + y[k] * identity)
    return adjugates


def zeros_or_matrix(seq_of_zeros):
    seq_of_zeros = as_array(seq_of_zeros)
    return seq_of_zeros if np.ndim(seq_of_zeros) == 2 else np.reshape(seq_of_zeros, -1)


@frule.register(np.poly)
@pushforward
def poly_frule(dseq_of_zeros: Array, seq_of_zeros: Array) -> OutputAndTangent:
    y, dr = np.poly(seq_of_zeros), as_array_tangent(dseq_of_zeros, seq_of_zeros)
    roots = zeros_or_matrix(seq_of_zeros)
    if np.ndim(roots) == 2:
        parts = [-np.sum(b * dr.T) for b in characteristic_adjugates(roots, y)]
        return y, np.stack([np.zeros((), parts[0].dtype), *parts])
    if not len(roots):
        return y, ZeroTangent()
    dr, dy = np.reshape(dr, -1), np.zeros(1, roots.dtype)
    for p, root, droot in zip(polynomials_of_the_first_roots(roots), roots, dr, strict=True):
        dy = times_root(dy, root) - droot * np.concatenate([np.zeros(1, p.dtype), p])
    return y, dy


@rrule.register(np.poly)
def poly_rrule(seq_of_zeros: Array) -> OutputAndPullback:
    """y = Π (x - rᵢ), taken apart one root after the other, the last one first.

    Of a matrix, dy(x) = -tr(adj(x - A) dA), also where eigenvalues are equal.
    """
    y, shape = np.poly(seq_of_zeros), shape_of(seq_of_zeros)
    roots = zeros_or_matrix(seq_of_zeros)

    @pullback_wrt(seq_of_zeros)
    def poly_pullback(ybar):
        if not len(roots):
            return np.zeros(shape, roots.dtype)
        if np.ndim(roots) == 2:
            adjugates = characteristic_adjugates(roots, y)
            return -sum(bar * conj(b).T for bar, b in zip(ybar[1:], adjugates, strict=True))
        bars = []
        for p, root in zip(polynomials_of_the_first_roots(roots)[::-1], roots[::-1], strict=True):
            bars.append(-np.sum(conj(p) * ybar[1:]))
            ybar = ybar[:-1] - conj(root) * ybar[1:]
        return np.reshape(np.stack(bars[::-1]), shape)

    return y, poly_pullback


def slope_at_roots(p, roots):
    """p'(r), which is 0 in a root that is not a simple one."""
    slope = derivative_at(p, roots)
    if not np.all(slope):
        raise MissingDerivativeError(
            "the derivative of np.roots was asked for where two roots are equal, and is infinite there: move the "
            "coefficients, or differentiate something that is smooth there, such as np.polyval"
        )
    return slope


@frule.register(np.roots)
@pushforward
def roots_frule(dp: Array, p: Array) -> OutputAndTangent:
    """0 = p'(r) ṙ + ṗ(r)."""
    roots = np.roots(p)
    dp = np.reshape(as_array_tangent(dp, p), -1)
    return roots, -np.polyval(dp, roots) / slope_at_roots(coefficients(p), roots)


@rrule.register(np.roots)
def roots_rrule(p: Array) -> OutputAndPullback:
    """0 = p'(r) ṙ + ṗ(r), hence p̄ₖ = -Σ conj(rⁿ⁻¹⁻ᵏ / p'(r)) r̄, over all roots."""
    roots, shape, c = np.roots(p), shape_of(p), coefficients(p)

    @pullback_wrt(p)
    def roots_pullback(ybar):
        scaled = -ybar / conj(slope_at_roots(c, roots))
        return np.reshape(conj(np.vander(roots, len(c))).T @ scaled, shape)

    return roots, roots_pullback


# ---------------------------------------------------------------- powers


def powers_and_lower_powers(v, increasing):
    """The exponents of the columns of a Vandermonde matrix but for that of 1, and the columns of powers less by one."""
    exponents = np.arange(1, v.shape[1], dtype=v.real.dtype)
    return (exponents, v[:, :-1]) if increasing else (exponents[::-1], v[:, 1:])


@frule.register(np.vander)
@pushforward
def vander_frule(dx: Array, x: Array, N: Count = None, increasing: Flag = False) -> OutputAndTangent:
    v, dx = np.vander(x, N, increasing), as_array_tangent(dx, x)
    exponents, lower = powers_and_lower_powers(v, increasing)
    zeros, columns = np.zeros((len(dx), min(v.shape[1], 1)), v.dtype), dx[:, None] * exponents * lower
    return v, np.concatenate([zeros, columns] if increasing else [columns, zeros], 1)


@rrule.register(np.vander)
def vander_rrule(x: Array, N: Count = None, increasing: Flag = False) -> OutputAndPullback:
    """The column of xᵏ adds k conj(xᵏ⁻¹) ȳ to x̄, with the column of xᵏ⁻¹ beside it."""
    v = np.vander(x, N, increasing)

    @pullback_wrt(x)
    def vander_pullback(vbar):
        exponents, lower = powers_and_lower_powers(v, increasing)
        vbar = vbar[:, 1:] if increasing else vbar[:, :-1]
        return np.sum(vbar * exponents * conj(lower), 1)

    return v, vander_pullback
