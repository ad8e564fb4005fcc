"""Which special functions have rules, and which do not yet; a new one in SciPy is reported by name."""

import numpy as np
from scipy import special

from rulescore import frule, rrule
from testutils.sampling import samples_of

UFUNCS = {name: f for name, f in vars(special).items() if isinstance(f, np.ufunc) and not name.startswith("_")}
FUNCTIONS = (
    *(special.comb, special.factorial, special.factorial2, special.factorialk, special.perm, special.stirling2),
    *(special.h1vp, special.h2vp, special.ivp, special.jvp, special.kvp, special.yvp),
    *(special.spherical_in, special.spherical_jn, special.spherical_kn, special.spherical_yn),
    *(special.logsumexp, special.softmax, special.log_softmax),
    *(special.polygamma, special.multigammaln, special.zeta, special.lambertw, special.sinc),
)
RECENT = ("softplus", "legendre_p", "sph_harm_y")  # in newer versions of SciPy

WITHOUT = {
    "spheroidal and Mathieu functions, whose second derivatives the equation gives in its own units": (
        "mathieu_a mathieu_b mathieu_cem mathieu_modcem1 mathieu_modcem2 mathieu_modsem1 mathieu_modsem2 mathieu_sem "
        "obl_ang1 obl_ang1_cv obl_cv obl_rad1 obl_rad1_cv obl_rad2 obl_rad2_cv "
        "pro_ang1 pro_ang1_cv pro_cv pro_rad1 pro_rad1_cv pro_rad2 pro_rad2_cv"
    ),
    "distributions that are not central, and their inverses": (
        "chndtr chndtridf chndtrinc chndtrix ncfdtr ncfdtri ncfdtridfd ncfdtridfn ncfdtrinc "
        "nctdtr nctdtridf nctdtrinc nctdtrit"
    ),
    "inverses by a number of events": "bdtrik bdtrin nbdtrik nbdtrin",
    "statistics of Kolmogorov and Smirnov, and Tukey's distribution": "kolmogi kolmogorov smirnov smirnovi tklmbda",
    "others": "besselpoly log_wright_bessel wright_bessel",
}


def test_every_ufunc_of_scipy_special_has_rules_or_is_listed():
    listed = {name for names in WITHOUT.values() for name in names.split()}
    without = {name for name, f in UFUNCS.items() if f not in rrule or f not in frule}
    # One may be missing in another version of SciPy.
    assert without <= listed, f"without a rule and a reason: {', '.join(sorted(without - listed))}"
    assert not listed & (UFUNCS.keys() - without), "listed as without rules, which they have"


def test_functions_that_are_no_ufuncs_have_rules():
    recent = [getattr(special, name) for name in RECENT if hasattr(special, name)]
    assert not [f for f in (*FUNCTIONS, *recent) if f not in rrule or f not in frule]


def test_every_function_with_rules_has_sample_inputs():
    served = [f for f in UFUNCS.values() if f in rrule] + list(FUNCTIONS)
    assert not [f.__name__ for f in served if not samples_of(f)]
