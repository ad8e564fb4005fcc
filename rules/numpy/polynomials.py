"""Rules of polynomials given by their coefficients: `numpy.polyval` and its kin, `numpy.roots` and `numpy.vander`.

The coefficient of the highest power stands first. Objects of the class ``np.poly1d`` have no rules here. Fits are in
`polynomial_fits`.
"""

import numpy as np
from multipledispatch import MDNotImplementedError

from rules.numpy.array_like import as_array, as_array_tangent, conj, shape_of
from rules.numpy.differences import array_tangent_or_zeros
from rules.numpy.reduced_axes import NOT_GIVEN, projector_of, stop_early
from rulescore import (
    AbstractZero,
    NoTangent,
    Tangent,
    Thunk,
    ZeroTangent,
    frule,
    linear_rule,
    project_to,
    rrule,
    unbroadcast,
    unthunk,
)
from rulescore.tangents.projection import NON_DIFFERENTIABLE

NO_TANGENT = NoTangent()
ZERO_TANGENT = ZeroTangent()


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
    pairs = zip(tangents, polynomials, strict=True)
    return [np.reshape(array_tangent_or_zeros(dp, p), -1) for dp, p in pairs]


def with_zeros_before(p, length):
    """The same polynomial with so many coefficients, or without some of its first ones."""
    surplus = len(p) - length
    return p[surplus:] if surplus >= 0 else np.concatenate([np.zeros(-surplus, p.dtype), p])


class Pair:
    """Two polynomials as they were given: what puts cotangents of their coefficients in their place."""

    __slots__ = ("projects", "shapes")

    def __init__(self, first, second):
        self.projects = project_to(first), project_to(second)
        self.shapes = shape_of(first), shape_of(second)

    def cotangents(self, *bars):
        """What a pullback returns, from cotangents as arrays of one axis, zeros, or functions that return them."""
        return NO_TANGENT, *map(self._placed, self.projects, bars, self.shapes)

    def _placed(self, project, bar, shape):
        if isinstance(bar, AbstractZero) or project is NON_DIFFERENTIABLE:
            return project(bar)
        return project(Thunk(lambda: np.reshape(bar() if callable(bar) else bar, shape)))


def all_zero(*tangents):
    return all(isinstance(tangent, AbstractZero) for tangent in tangents)


# ---------------------------------------------------------------- values


def derivative_at(p, x):
    """p'(x), where the coefficients may be arrays along the first axis."""
    powers = np.reshape(np.arange(len(p) - 1, 0, -1), (-1,) + (1,) * (np.ndim(p) - 1))
    return np.polyval(p[:-1] * powers.astype(p.real.dtype), x)


def decline_polynomial_objects(*arguments):
    if any(isinstance(argument, (np.poly1d, np.matrix)) for argument in arguments):
        raise MDNotImplementedError


@frule.register(np.polyval)
def polyval_frule(tangents, p, x):
    """ẏ = p'(x) ẋ + ṗ(x)."""
    decline_polynomial_objects(p, x)
    dp, dx = as_array_tangent(tangents[1], p), as_array_tangent(tangents[2], x)
    p, x = as_array(p), as_array(x)
    y = np.polyval(p, x)
    along_x = dx if isinstance(dx, AbstractZero) else derivative_at(p, x) * dx
    along_p = dp if isinstance(dp, AbstractZero) else np.polyval(dp, x)
    dy = along_x + along_p
    # Of a constant, along_x has the shape of x.
    return y, project_to(y)(dy if isinstance(dy, AbstractZero) else np.broadcast_to(dy, np.shape(y)))


@rrule.register(np.polyval)
def polyval_rrule(p, x):
    """y = Σ pₖ xⁿ⁻¹⁻ᵏ, hence x̄ = conj(p'(x)) ȳ and p̄ₖ = Σ conj(xⁿ⁻¹⁻ᵏ) ȳ."""
    decline_polynomial_objects(p, x)
    project_p, project_x, shape = project_to(p), project_to(x), shape_of(x)
    p, x = as_array(p), as_array(x)
    y = np.polyval(p, x)

    def polyval_pullback(ybar):
        ybar = unthunk(ybar)
        if isinstance(ybar, AbstractZero):
            return NO_TANGENT, project_p(ybar), project_x(ybar)

        def p_bar():
            terms, bars, factor = ybar, [], conj(x)
            for k in range(len(p)):
                terms = terms * factor if k else ybar
                bars.append(unbroadcast(terms, np.shape(p)[1:]))
            return np.stack(bars[::-1]) if bars else np.zeros(np.shape(p))

        def x_bar():
            return unbroadcast(conj(derivative_at(p, x)) * ybar, shape)

        pbar = NO_TANGENT if project_p is NON_DIFFERENTIABLE else project_p(Thunk(p_bar))
        return NO_TANGENT, pbar, NO_TANGENT if project_x is NON_DIFFERENTIABLE else project_x(Thunk(x_bar))

    return y, polyval_pullback


# ---------------------------------------------------------------- sums, products, quotients


def sum_frule(f, tangents, a1, a2):
    p1, p2 = coefficients(a1, a2)
    y = f(p1, p2)
    return y, ZERO_TANGENT if all_zero(*tangents[1:]) else project_to(y)(
        f(*tangents_of_coefficients(tangents[1:], a1, a2))
    )


def sum_rrule(f, sign, a1, a2):
    """The polynomials end with the same power, so that of ȳ each gets as many of the last elements as it has."""
    pair, (p1, p2) = Pair(a1, a2), coefficients(a1, a2)
    counts = len(p1), len(p2)

    def sum_pullback(ybar):
        ybar = unthunk(ybar)
        if isinstance(ybar, AbstractZero):
            return pair.cotangents(ybar, ybar)
        return pair.cotangents(with_zeros_before(ybar, counts[0]), sign * with_zeros_before(ybar, counts[1]))

    return f(p1, p2), sum_pullback


@frule.register(np.polyadd)
def polyadd_frule(tangents, a1, a2):
    return sum_frule(np.polyadd, tangents, a1, a2)


@rrule.register(np.polyadd)
def polyadd_rrule(a1, a2):
    return sum_rrule(np.polyadd, 1, a1, a2)


@frule.register(np.polysub)
def polysub_frule(tangents, a1, a2):
    return sum_frule(np.polysub, tangents, a1, a2)


@rrule.register(np.polysub)
def polysub_rrule(a1, a2):
    return sum_rrule(np.polysub, -1, a1, a2)


def without_leading_zeros(p):
    """As NumPy multiplies polynomials: zeros before the first other coefficient make the product no longer."""
    places = np.flatnonzero(p != 0)
    return p[min(places[0] if places.size else len(p) - 1, len(p) - 1) :] if len(p) else np.zeros(1, p.dtype)


@frule.register(np.polymul)
def polymul_frule(tangents, a1, a2):
    p1, p2 = map(without_leading_zeros, coefficients(a1, a2))
    y = np.convolve(p1, p2)
    if all_zero(*tangents[1:]):
        return y, ZERO_TANGENT
    dp1, dp2 = tangents_of_coefficients(tangents[1:], a1, a2)
    dp1, dp2 = with_zeros_before(dp1, len(p1)), with_zeros_before(dp2, len(p2))
    return y, project_to(y)(np.convolve(dp1, p2) + np.convolve(p1, dp2))


@rrule.register(np.polymul)
def polymul_rrule(a1, a2):
    """The convolution of the coefficients; zeros before the first other one are left out, and get 0."""
    pair, (p1, p2) = Pair(a1, a2), coefficients(a1, a2)
    counts = len(p1), len(p2)
    p1, p2 = without_leading_zeros(p1), without_leading_zeros(p2)

    def polymul_pullback(ybar):
        ybar = unthunk(ybar)
        if isinstance(ybar, AbstractZero):
            return pair.cotangents(ybar, ybar)
        return pair.cotangents(
            lambda: with_zeros_before(np.correlate(ybar, p2, "valid"), counts[0]),
            lambda: with_zeros_before(np.correlate(ybar, p1, "valid"), counts[1]),
        )

    return np.convolve(p1, p2), polymul_pullback


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
def polydiv_frule(tangents, u, v):
    division = Division(*coefficients(u, v))
    if all_zero(*tangents[1:]):
        return (division.q, division.r), ZERO_TANGENT
    dq, dr = division.tangents(*tangents_of_coefficients(tangents[1:], u, v))
    return (division.q, division.r), Tangent(tuple, project_to(division.q)(dq), project_to(division.r)(dr))


@rrule.register(np.polydiv)
def polydiv_rrule(u, v):
    """u = q v + r, hence q̇ and ṙ are the quotient and the remainder of u̇ - q v̇."""
    pair, division = Pair(u, v), Division(*coefficients(u, v))

    def polydiv_pullback(ybar):
        ybar = unthunk(ybar)
        if isinstance(ybar, AbstractZero):
            return pair.cotangents(ybar, ybar)
        parts = zip(map(unthunk, ybar), (division.q, division.r), strict=True)
        bars = [np.zeros(len(y), y.dtype) if isinstance(bar, AbstractZero) else bar for bar, y in parts]
        return pair.cotangents(*division.cotangents(*bars))

    return (division.q, division.r), polydiv_pullback


# ---------------------------------------------------------------- derivatives and integrals


def polyder_transpose(ybar, p, m=1):
    """yₖ = cₖ pₖ with the numbers cₖ that the derivative of Σ xᵏ has; the last m coefficients have no part in it."""
    if p.ndim != 1:
        raise MDNotImplementedError
    return np.concatenate([ybar * np.polyder(np.ones(p.size), m), np.zeros(min(m, p.size), ybar.dtype)])


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
def polyint_frule(tangents, p, m=1, k=None):
    decline_number(p)
    y, (_, dp, *rest) = np.polyint(coefficients(p), m, k), tangents
    dk = rest[1] if len(rest) > 1 else NO_TANGENT
    if all_zero(dp, dk):
        return y, ZERO_TANGENT
    dp = array_tangent_or_zeros(dp, p)
    dk = None if isinstance(dk, AbstractZero) else as_array_tangent(dk, k)
    return y, project_to(y)(np.polyint(dp, m, dk))


@rrule.register(np.polyint)
def polyint_rrule(p, m=1, k=None):
    """Linear in the coefficients and in the constants of integration, of which one stands for all."""
    decline_number(p)
    project_p, project_k = project_to(p), projector_of(NOT_GIVEN if k is None else k)
    shapes = shape_of(p), () if k is None else shape_of(k)
    p = coefficients(p)
    y, length, m = np.polyint(p, m, k), len(p), int(m)
    count = int(np.prod(shapes[1], dtype=int))

    def polyint_pullback(ybar):
        ybar = unthunk(ybar)
        if isinstance(ybar, AbstractZero):
            return stop_early(NO_TANGENT, project_p(ybar), NO_TANGENT, project_k(ybar))
        of_p, of_constants = weights_of_integral(length, m, count)

        def k_bar():
            kbar = ybar[length:] * of_constants
            kbar = np.sum(kbar, keepdims=True) if count == 1 else kbar
            return np.reshape(np.concatenate([kbar, np.zeros(count - len(kbar), kbar.dtype)]), shapes[1])

        pbar = project_p(Thunk(lambda: np.reshape(ybar[:length] * of_p, shapes[0])))
        return stop_early(NO_TANGENT, pbar, NO_TANGENT, project_k(Thunk(k_bar)))

    return y, polyint_pullback


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
def poly_frule(tangents, seq_of_zeros):
    y, dr = np.poly(seq_of_zeros), as_array_tangent(tangents[1], seq_of_zeros)
    if isinstance(dr, AbstractZero):
        return y, dr
    roots = zeros_or_matrix(seq_of_zeros)
    if np.ndim(roots) == 2:
        parts = [-np.sum(b * dr.T) for b in characteristic_adjugates(roots, y)]
        return y, project_to(y)(np.stack([np.zeros((), parts[0].dtype), *parts]))
    dr, dy = np.reshape(dr, -1), np.zeros(1, roots.dtype)
    for p, root, droot in zip(polynomials_of_the_first_roots(roots), roots, dr, strict=len(roots) > 0):
        dy = times_root(dy, root) - droot * np.concatenate([np.zeros(1, p.dtype), p])
    return y, project_to(y)(dy if len(roots) else ZERO_TANGENT)


@rrule.register(np.poly)
def poly_rrule(seq_of_zeros):
    """y = Π (x - rᵢ), taken apart one root after the other, the last one first.

    Of a matrix, dy(x) = -tr(adj(x - A) dA), also where eigenvalues are equal.
    """
    y, project, shape = np.poly(seq_of_zeros), project_to(seq_of_zeros), shape_of(seq_of_zeros)
    roots = zeros_or_matrix(seq_of_zeros)

    def of_matrix(ybar):
        return -sum(bar * conj(b).T for bar, b in zip(ybar[1:], characteristic_adjugates(roots, y), strict=True))

    def of_roots(ybar):
        bars = []
        for p, root in zip(polynomials_of_the_first_roots(roots)[::-1], roots[::-1], strict=True):
            bars.append(-np.sum(conj(p) * ybar[1:]))
            ybar = ybar[:-1] - conj(root) * ybar[1:]
        return np.reshape(np.stack(bars[::-1]), shape)

    def poly_pullback(ybar):
        ybar = unthunk(ybar)
        if isinstance(ybar, AbstractZero) or project is NON_DIFFERENTIABLE:
            return NO_TANGENT, project(ybar)
        if not len(roots):
            return NO_TANGENT, np.zeros(shape, roots.dtype)
        return NO_TANGENT, project(of_matrix(ybar) if np.ndim(roots) == 2 else of_roots(ybar))

    return y, poly_pullback


def slope_at_roots(p, roots):
    """p'(r), which is 0 in a root that is not a simple one."""
    slope = derivative_at(p, roots)
    if not np.all(slope):
        raise ValueError(
            "the derivative of np.roots was asked for where two roots are equal, and is infinite there: move the "
            "coefficients, or differentiate something that is smooth there, such as np.polyval"
        )
    return slope


@frule.register(np.roots)
def roots_frule(tangents, p):
    """0 = p'(r) ṙ + ṗ(r)."""
    roots, dp = np.roots(p), as_array_tangent(tangents[1], p)
    if isinstance(dp, AbstractZero):
        return roots, dp
    droots = -np.polyval(np.reshape(dp, -1), roots) / slope_at_roots(coefficients(p), roots)
    return roots, project_to(roots)(droots)


@rrule.register(np.roots)
def roots_rrule(p):
    """0 = p'(r) ṙ + ṗ(r), hence p̄ₖ = -Σ conj(rⁿ⁻¹⁻ᵏ / p'(r)) r̄, over all roots."""
    roots, project, shape = np.roots(p), project_to(p), shape_of(p)
    p = coefficients(p)

    def roots_pullback(ybar):
        ybar = unthunk(ybar)
        if isinstance(ybar, AbstractZero) or project is NON_DIFFERENTIABLE:
            return NO_TANGENT, project(ybar)
        scaled = -ybar / conj(slope_at_roots(p, roots))
        return NO_TANGENT, project(np.reshape(conj(np.vander(roots, len(p))).T @ scaled, shape))

    return roots, roots_pullback


# ---------------------------------------------------------------- powers


def powers_and_lower_powers(v, increasing):
    """The exponents of the columns of a Vandermonde matrix but for that of 1, and the columns of powers less by one."""
    exponents = np.arange(1, v.shape[1], dtype=v.real.dtype)
    return (exponents, v[:, :-1]) if increasing else (exponents[::-1], v[:, 1:])


@frule.register(np.vander)
def vander_frule(tangents, x, N=None, increasing=False):
    v, dx = np.vander(x, N, increasing), as_array_tangent(tangents[1], x)
    if isinstance(dx, AbstractZero):
        return v, dx
    exponents, lower = powers_and_lower_powers(v, increasing)
    zeros, columns = np.zeros((len(dx), min(v.shape[1], 1)), v.dtype), dx[:, None] * exponents * lower
    return v, project_to(v)(np.concatenate([zeros, columns] if increasing else [columns, zeros], 1))


@rrule.register(np.vander)
def vander_rrule(x, N=None, increasing=False):
    """The column of xᵏ adds k conj(xᵏ⁻¹) ȳ to x̄, with the column of xᵏ⁻¹ beside it."""
    v, project = np.vander(x, N, increasing), project_to(x)

    def vander_pullback(vbar):
        vbar = unthunk(vbar)
        if isinstance(vbar, AbstractZero) or project is NON_DIFFERENTIABLE:
            return NO_TANGENT, project(vbar)
        exponents, lower = powers_and_lower_powers(v, increasing)
        vbar = vbar[:, 1:] if increasing else vbar[:, :-1]
        return NO_TANGENT, project(np.sum(vbar * exponents * conj(lower), 1))

    return v, vander_pullback
