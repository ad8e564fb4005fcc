"""Rules of distribution functions and of their inverses with respect to each of their arguments.

All are incomplete gamma and beta functions but for Student's, of which many degrees of freedom make the beta function
lose digits. Numbers of events are whole numbers, without derivative, where SciPy makes such of them.
"""

import numpy as np

from rulescore import scalar_rule
from scipy import special

from .error_functions import ROOT_TWO_PI
from .incomplete import (
    beta_density,
    beta_weight,
    betainc_wrt_a,
    betainc_wrt_b,
    gamma_density,
    gammainc_wrt_a,
    quotient,
    stirling,
    unless_underflown,
)
from .quadrature import from_zero, on_half_line

# ---------------------------------------------------------------- χ²: P(v/2, x/2)


def _chi2_wrt_v(v, x):
    return gammainc_wrt_a(v / 2, x / 2) / 2


def _chi2_density(v, x):
    return gamma_density(v / 2, x / 2) / 2


scalar_rule(special.chdtr, lambda y, v, x: _chi2_wrt_v(v, x), lambda y, v, x: _chi2_density(v, x))
scalar_rule(special.chdtrc, lambda y, v, x: -_chi2_wrt_v(v, x), lambda y, v, x: -_chi2_density(v, x))
scalar_rule(
    special.chdtri,
    unless_underflown(lambda x, v, p: -quotient(_chi2_wrt_v(v, x), _chi2_density(v, x)), 1, end=1),
    unless_underflown(lambda x, v, p: -1 / _chi2_density(v, x), 1, end=1),
)
scalar_rule(
    special.chdtriv,
    lambda v, p, x: 1 / _chi2_wrt_v(v, x),
    lambda v, p, x: -_chi2_density(v, x) / _chi2_wrt_v(v, x),
)

# ---------------------------------------------------------------- the gamma distribution: P(b, a x)

scalar_rule(
    special.gdtr,
    lambda y, a, b, x: x * gamma_density(b, a * x),
    lambda y, a, b, x: gammainc_wrt_a(b, a * x),
    lambda y, a, b, x: a * gamma_density(b, a * x),
)
scalar_rule(
    special.gdtrc,
    lambda y, a, b, x: -x * gamma_density(b, a * x),
    lambda y, a, b, x: -gammainc_wrt_a(b, a * x),
    lambda y, a, b, x: -a * gamma_density(b, a * x),
)
scalar_rule(
    special.gdtria,
    unless_underflown(lambda a, p, b, x: 1 / (x * gamma_density(b, a * x)), 0),
    unless_underflown(lambda a, p, b, x: -gammainc_wrt_a(b, a * x) / (x * gamma_density(b, a * x)), 0),
    lambda a, p, b, x: -a / x,
)
scalar_rule(
    special.gdtrib,
    lambda b, a, p, x: -x * gamma_density(b, a * x) / gammainc_wrt_a(b, a * x),
    lambda b, a, p, x: 1 / gammainc_wrt_a(b, a * x),
    lambda b, a, p, x: -a * gamma_density(b, a * x) / gammainc_wrt_a(b, a * x),
)
scalar_rule(
    special.gdtrix,
    lambda x, a, b, p: -x / a,
    unless_underflown(lambda x, a, b, p: -quotient(gammainc_wrt_a(b, a * x), a * gamma_density(b, a * x)), 2),
    unless_underflown(lambda x, a, b, p: 1 / (a * gamma_density(b, a * x)), 2),
)

# ---------------------------------------------------------------- Poisson's: 1 - P(⌊k⌋ + 1, m)


def _poisson(k, m):
    """The probability of ⌊k⌋ events, which is the slope in m."""
    return gamma_density(np.floor(k) + 1.0, m)


scalar_rule(special.pdtr, None, lambda y, k, m: -_poisson(k, m))
scalar_rule(special.pdtrc, None, lambda y, k, m: _poisson(k, m))
scalar_rule(special.pdtri, None, lambda m, k, y: -1 / _poisson(np.trunc(k), m))
# Here the number of events is any number that is not negative.
scalar_rule(
    special.pdtrik,
    lambda k, p, m: np.where(k > 0, -1 / gammainc_wrt_a(k + 1, m), 0),
    lambda k, p, m: np.where(k > 0, -gamma_density(k + 1, m) / gammainc_wrt_a(k + 1, m), 0),
)

# ---------------------------------------------------------------- the binomial distributions


def _binomial_slope(k, n, p):
    """The derivative of 1 - I_p(⌊k⌋ + 1, n - ⌊k⌋) with respect to p, but for its sign; of k = n it is 0."""
    k = np.floor(k)
    return beta_density(k + 1.0, n - k, p, 1 - p)


scalar_rule(special.bdtr, None, None, lambda y, k, n, p: -_binomial_slope(k, n, p))
scalar_rule(special.bdtrc, None, None, lambda y, k, n, p: _binomial_slope(k, n, p))
scalar_rule(special.bdtri, None, None, lambda p, k, n, y: -1 / _binomial_slope(k, n, p))


def _negative_binomial_slope(k, n, p):
    """The derivative of I_p(n, k + 1) with respect to p."""
    return beta_density(np.trunc(n), np.trunc(k) + 1.0, p, 1 - p)


scalar_rule(special.nbdtr, None, None, lambda y, k, n, p: _negative_binomial_slope(k, n, p))
scalar_rule(special.nbdtrc, None, None, lambda y, k, n, p: -_negative_binomial_slope(k, n, p))
scalar_rule(special.nbdtri, None, None, lambda p, k, n, y: 1 / _negative_binomial_slope(k, n, p))

# ---------------------------------------------------------------- the beta distribution, by its parameters

scalar_rule(
    special.btdtria,
    lambda a, p, b, x: 1 / betainc_wrt_a(a, b, x, 1 - x),
    lambda a, p, b, x: -betainc_wrt_b(a, b, x, 1 - x) / betainc_wrt_a(a, b, x, 1 - x),
    lambda a, p, b, x: -beta_density(a, b, x, 1 - x) / betainc_wrt_a(a, b, x, 1 - x),
)
scalar_rule(
    special.btdtrib,
    lambda b, a, p, x: -betainc_wrt_a(a, b, x, 1 - x) / betainc_wrt_b(a, b, x, 1 - x),
    lambda b, a, p, x: 1 / betainc_wrt_b(a, b, x, 1 - x),
    lambda b, a, p, x: -beta_density(a, b, x, 1 - x) / betainc_wrt_b(a, b, x, 1 - x),
)

# ---------------------------------------------------------------- F: I_u(m/2, n/2) with u = m x / (n + m x)


def _of_f(dfn, dfd, x):
    """The parameters of the beta function, u and 1 - u."""
    total = dfd + dfn * x
    return dfn / 2, dfd / 2, dfn * x / total, dfd / total


def _f_density(dfn, dfd, x):
    """u'(x) = u (1-u) / x, hence uᵃ (1-u)ᵇ / B(a, b) / x; at 0 it is xᵃ⁻¹."""
    a, b, u, v = _of_f(dfn, dfd, x)
    return beta_density(a, b, u, v) * (2 * a / (2 * b) * v * v)


def _f_weight(a, b, u, v):
    """uᵃ vᵇ / B(a, b), 0 at the ends."""
    is_inside = (u > 0) & (v > 0)
    return np.where(is_inside, beta_weight(a, b, np.where(is_inside, u, 0.5), np.where(is_inside, v, 0.5)), 0)


def _f_wrt_dfn(dfn, dfd, x):
    of_f = _of_f(dfn, dfd, x)
    return betainc_wrt_a(*of_f) / 2 + _f_weight(*of_f) / dfn


def _f_wrt_dfd(dfn, dfd, x):
    of_f = _of_f(dfn, dfd, x)
    return betainc_wrt_b(*of_f) / 2 - _f_weight(*of_f) / dfd


scalar_rule(
    special.fdtr,
    lambda y, dfn, dfd, x: _f_wrt_dfn(dfn, dfd, x),
    lambda y, dfn, dfd, x: _f_wrt_dfd(dfn, dfd, x),
    lambda y, dfn, dfd, x: _f_density(dfn, dfd, x),
)
scalar_rule(
    special.fdtrc,
    lambda y, dfn, dfd, x: -_f_wrt_dfn(dfn, dfd, x),
    lambda y, dfn, dfd, x: -_f_wrt_dfd(dfn, dfd, x),
    lambda y, dfn, dfd, x: -_f_density(dfn, dfd, x),
)
scalar_rule(
    special.fdtri,
    unless_underflown(lambda x, dfn, dfd, p: -quotient(_f_wrt_dfn(dfn, dfd, x), _f_density(dfn, dfd, x)), 2),
    unless_underflown(lambda x, dfn, dfd, p: -quotient(_f_wrt_dfd(dfn, dfd, x), _f_density(dfn, dfd, x)), 2),
    unless_underflown(lambda x, dfn, dfd, p: 1 / _f_density(dfn, dfd, x), 2),
)


def _where_found(largest, slope):
    """A slope, and 0 where SciPy's search for y has found none and returns one of its ends, whatever is asked."""

    def slope_where_found(y, *args):
        found = (y > 1e-100) & (y < largest)
        return np.where(found, slope(np.where(found, y, 1.0), *args), 0)

    return slope_where_found


scalar_rule(
    special.fdtridfd,
    _where_found(1e100, lambda dfd, dfn, p, x: -_f_wrt_dfn(dfn, dfd, x) / _f_wrt_dfd(dfn, dfd, x)),
    _where_found(1e100, lambda dfd, dfn, p, x: 1 / _f_wrt_dfd(dfn, dfd, x)),
    _where_found(1e100, lambda dfd, dfn, p, x: -_f_density(dfn, dfd, x) / _f_wrt_dfd(dfn, dfd, x)),
)

# ---------------------------------------------------------------- Student's t


def student_density(df, t):
    """Γ((ν+1)/2) / (Γ(ν/2) √(πν)) (1 + t²/ν)^(-(ν+1)/2)."""
    return _student_peak(df) * np.exp(-(df + 1) / 2 * np.log1p(t * (t / df)))


def _student_peak(df):
    """By Stirling's remainders, since the logarithms of the two gamma functions would cancel."""
    h = df / 2
    return np.exp(h * np.log1p(0.5 / h) - 0.5 + stirling(h + 0.5) - stirling(h)) / ROOT_TWO_PI


def _student_log_peak_slope(df):
    """½ (ψ((ν+1)/2) - ψ(ν/2) - 1/ν), of large ν by its series (DLMF 5.11.2 for both)."""
    is_large = df >= 60
    z = 2 / np.where(is_large, df, 60)
    small = np.where(is_large, 1, df)
    u = z * z
    series = u * (1 / 8 + u * (-1 / 64 + u * (1 / 128 + u * (-17 / 2048 + u * (31 / 2048)))))
    near = special.psi((small + 1) / 2) - special.psi(small / 2) - 1 / small
    return np.where(is_large, series, near) / 2


SPLIT = 1.55
"""About here the density does not depend on ν: below it grows with ν, above it shrinks."""


def _student_wrt_df(df, t):
    """∫ ∂f/∂ν from -∞ to t, odd in t: from 0 on, or for large |t| from |t| to ∞, where it has one sign.

    ∂ log f/∂ν = c(ν) + ½ (r - log(1 + q)) + r/(2ν), with q = t²/ν and r = q/(1+q).
    """
    sign = np.where(t < 0, -1, 1)
    size = sign * t  # whose slope at 0 is not 0, as that of |t|
    is_inner, is_outer = size < SPLIT, (size >= SPLIT) & (size < np.inf)
    peak, c = _student_peak(df), _student_log_peak_slope(df)
    inner = from_zero(_student_inner, np.arcsinh(np.where(is_inner, size, 0) / np.sqrt(df)), df, c)
    outer = np.where(is_outer, size, 2)
    log_q = 2 * np.log(outer) - np.log(df)
    q = outer * outer / df
    rate = np.maximum((df + 1) * (q / (1 + q)) - 1, 0) + np.sqrt((df + 1) * q) / (1 + q)
    tail = on_half_line(_student_outer, np.maximum(1 / rate, 1 / df), df, log_q, c)
    slope = np.where(is_inner, np.sqrt(df) * inner, np.where(is_outer, -outer * tail, 0))
    return sign * peak * slope


def _student_inner(s, df, c):
    """With t = √ν sinh s."""
    q = np.sinh(s)
    q = q * q
    r, log_1_plus_q = q / (1 + q), np.log1p(q)
    return np.exp(-df / 2 * log_1_plus_q) * (c + (r - log_1_plus_q) / 2 + r / (2 * df))


def _student_outer(s, df, log_q, c):
    """With t grown by exp(s)."""
    log_q = log_q + 2 * s
    log_1_plus_q, r = np.logaddexp(0, log_q), special.expit(log_q)
    return np.exp(s - (df + 1) / 2 * log_1_plus_q) * (c + (r - log_1_plus_q) / 2 + r / (2 * df))


scalar_rule(special.stdtr, lambda y, df, t: _student_wrt_df(df, t), lambda y, df, t: student_density(df, t))


def _where_t_found(of_end, slope):
    """A slope, and another one where t²/ν is as large as SciPy's search goes: then t is its end, whatever p is."""

    def slope_where_found(t, df, p):
        limits = np.finfo(np.result_type(t, np.float32))
        end = np.sqrt(limits.max) / 2 * np.sqrt(df)
        is_end = abs(abs(t) - end) <= 8 * limits.eps * end
        return np.where(is_end, of_end(t, df), slope(df, np.where(is_end, 1.0, t)))

    return slope_where_found


scalar_rule(
    special.stdtrit,
    _where_t_found(lambda t, df: t / (2 * df), lambda df, t: -_student_wrt_df(df, t) / student_density(df, t)),
    _where_t_found(lambda t, df: 0, lambda df, t: 1 / student_density(df, t)),
)
scalar_rule(
    special.stdtridf,
    _where_found(1e10, lambda df, p, t: 1 / _student_wrt_df(df, t)),
    _where_found(1e10, lambda df, p, t: -student_density(df, t) / _student_wrt_df(df, t)),
)

# ---------------------------------------------------------------- the normal distribution, by its parameters


def _inverse_normal_slope(z):
    return ROOT_TWO_PI * np.exp(z * z / 2)


def _of_normal(p):
    return special.ndtri(p)


# x = mean + deviation · ndtri(p)
scalar_rule(
    special.nrdtrimn,
    lambda mean, p, std, x: -std * _inverse_normal_slope(_of_normal(p)),
    lambda mean, p, std, x: -_of_normal(p),
    lambda mean, p, std, x: 1,
)
scalar_rule(
    special.nrdtrisd,
    lambda std, mean, p, x: -1 / _of_normal(p),
    lambda std, mean, p, x: -std * _inverse_normal_slope(_of_normal(p)) / _of_normal(p),
    lambda std, mean, p, x: 1 / _of_normal(p),
)
