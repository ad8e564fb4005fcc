"""Which special functions have rules, and that all others say why they have none."""

from scipy import special

from rulescore import frule, rrule
from testutils.runs.listing import states_of_module

RECENT = ("softplus", "legendre_p", "sph_harm_y")  # in newer versions of SciPy
NO_UFUNCS = (
    *("comb", "factorial", "perm", "h1vp", "h2vp", "ivp", "jvp", "kvp", "yvp", "polygamma", "multigammaln", "zeta"),
    *("spherical_in", "spherical_jn", "spherical_kn", "spherical_yn", "lambertw", "sinc"),
    *("logsumexp", "softmax", "log_softmax"),
)


def test_every_function_of_scipy_special_has_rules_and_samples_or_a_reason():
    states = states_of_module("scipy.special")
    assert not [state.name for state in states if not state.is_complete and not state.reason]
    assert sum(state.kind == "rules" for state in states) > 200


def test_functions_that_are_no_ufuncs_have_rules():
    functions = [getattr(special, name) for name in (*NO_UFUNCS, *RECENT) if hasattr(special, name)]
    assert not [f for f in functions if f not in rrule or f not in frule]


def test_a_function_without_rules_says_what_to_use_instead():
    (record, *_) = rrule.records(special.assoc_laguerre)
    assert "eval_genlaguerre" in record.reason
    assert rrule(special.assoc_laguerre, 0.5, 2) is None
