"""What of `scipy.special` has a derivative and no rule, and why."""

from scipy import special

from rulescore import missing_rules


def _missing(names, because):
    """Of functions by name: some are missing in an older SciPy, or gone in a newer one."""
    missing_rules(*[getattr(special, name) for name in names.split() if hasattr(special, name)], because=because)


# ---------------------------------------------------------------- functions of equations with an eigenvalue

_missing(
    "mathieu_a mathieu_b",
    "the derivative of the characteristic value with respect to q is an integral over its Mathieu function, which has "
    "no rule yet; a difference of two values is the way around",
)
_missing(
    "mathieu_cem mathieu_sem mathieu_modcem1 mathieu_modcem2 mathieu_modsem1 mathieu_modsem2",
    "there is no rule yet: with respect to x the derivative is the second output (of cem and sem it is per radian, "
    "where x is in degrees), with respect to q it has no closed form",
)
_missing(
    "obl_cv pro_cv obl_cv_seq pro_cv_seq",
    "the derivative of the characteristic value with respect to c is an integral over its spheroidal function, which "
    "has no rule yet",
)
_missing(
    "obl_ang1 obl_ang1_cv obl_rad1 obl_rad1_cv obl_rad2 obl_rad2_cv "
    "pro_ang1 pro_ang1_cv pro_rad1 pro_rad1_cv pro_rad2 pro_rad2_cv",
    "there is no rule yet: with respect to x the derivative is the second output, with respect to c it has no closed "
    "form",
)
_missing(
    "mathieu_even_coef mathieu_odd_coef",
    "the coefficients are an eigenvector of a matrix whose others SciPy does not give; there is no rule yet",
)
_missing(
    "ellip_harm ellip_harm_2 ellip_normal",
    "the coefficients of Lamé's functions are an eigenvector that SciPy keeps to itself",
)

# ---------------------------------------------------------------- distributions

_missing(
    "chndtr chndtrix chndtrinc chndtridf ncfdtr ncfdtri ncfdtridfd ncfdtridfn ncfdtrinc "
    "nctdtr nctdtrit nctdtridf nctdtrinc",
    "noncentral distributions have no rule yet: their derivatives are series over central ones",
)
_missing(
    "bdtrik bdtrin nbdtrik nbdtrin",
    "the inverse by a number of events has no rule yet; invert scipy.special.betainc in its parameter (btdtria, "
    "btdtrib), of which it is a case",
)
_missing(
    "kolmogorov kolmogi smirnov smirnovi",
    "SciPy has the density of the statistic in private functions only, and there is no rule yet",
)
_missing(
    "tklmbda",
    "SciPy inverts the quantile (pᵏ - (1-p)ᵏ)/k, k being lmbda, by bisection; differentiate the quantile, which is a "
    "formula, and invert",
)

# ---------------------------------------------------------------- Bessel's and Legendre's

_missing(
    "lmbda riccati_jn riccati_yn",
    "it returns all orders up to one, and their derivatives; use scipy.special.jv, spherical_jn or spherical_yn, which "
    "take arrays of orders and have rules",
)
_missing(
    "pbdn_seq pbdv_seq pbvv_seq",
    "it returns all orders up to one, and their derivatives; use scipy.special.pbdv or pbvv, which take arrays of "
    "orders and have rules",
)
_missing(
    "assoc_legendre_p assoc_legendre_p_all sph_legendre_p sph_legendre_p_all legendre_p_all sph_harm_y_all",
    "there is no rule yet; with diff_n=1 the function returns its derivative itself, and scipy.special.lpmv, "
    "legendre_p and sph_harm_y have rules",
)
_missing("lqn lqmn", "Legendre functions of the second kind have no rule yet; the second output is the derivative")

# ---------------------------------------------------------------- polynomials

_missing(
    "chebyc chebys chebyt chebyu gegenbauer genlaguerre hermite hermitenorm jacobi laguerre legendre sh_chebyt "
    "sh_chebyu sh_jacobi sh_legendre",
    "it returns a polynomial object; use the function of the same name with eval_ before it, which has rules",
)
_missing(
    "roots_gegenbauer roots_genlaguerre roots_jacobi roots_sh_jacobi",
    "nodes and weights depend on the parameters of the family, and have no rule for that yet",
)
_missing("assoc_laguerre", "use scipy.special.eval_genlaguerre(n, k, x), which it calls and which has rules")
_missing("diric", "use its formula, sin(n x / 2) / (n sin(x / 2)), which NumPy's rules differentiate off its poles")
