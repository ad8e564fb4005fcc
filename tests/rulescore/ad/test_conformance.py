"""The sample inputs of every installed rule, through the reference AD, judged by finite differences.

At first order all samples of NumPy's functions run in both modes, and `FEW` of each other function, spread evenly. At
second order the AD's own pullbacks and pushforwards are differentiated again, in both modes, on `FEW` samples of each
function of NumPy's and `FEWER` of others; on as many of NumPy's, each argument is differentiated alone. Without the
AD's short cuts, which change no rule, it is `FEWER` everywhere. All samples run in ``rulescore check --thorough``,
which asks the AD as written in `testutils.systems.reference_ad` too. Rules that are added later are run without a line
here.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.integrate
import scipy.optimize
import scipy.signal
import scipy.stats

from rulescore.ad import jvp, vjp
from rulescore.ad.system.reference_ad import AD
from rulescore.ad.values.trees import flatten, unflatten
from rulescore.tables.discovery import rule_entries
from testutils import conformance
from testutils.runs.running import collect_targets
from testutils.samples.sampling import Sample
from testutils.systems.conformance_report import FunctionResult
from testutils.systems.reference_ad import Floats, as_a_program, is_list_that_numpy_converts, vjp_as_a_program
from testutils.systems.reference_ad import jvp as our_jvp
from testutils.systems.reference_ad import vjp as our_vjp

FEWER = 1
FEW = 4 if AD.short_cuts else FEWER
"""Of each function, spread evenly over its samples. At second order one takes as long as ten at first order."""

NOT_ASKED = {
    ("numpy.nan_to_num", "float32-3-True-float-float-float"): "NumPy hands over the call for its first argument alone",
    ("numpy.sum", "all-by-position"): "NumPy hands over the call for its first argument alone, not for initial=",
}
"""Samples of which one argument alone cannot be differentiated, and why. The AD says so."""


# ---------------------------------------------------------------- one argument alone


def of_one(f: Any, floats: Floats, i: int) -> Callable[[Any], Any]:
    """A function of one of the floats; the others are constants."""
    before, after = floats.values[:i], floats.values[i + 1 :]
    return lambda value: as_a_program(f)(*floats.primals([*before, value, *after]))


def vjp_one_by_one(f: Any, *primals: Any) -> Any:
    floats = Floats(primals)
    both = [vjp(of_one(f, floats, i), value) for i, value in enumerate(floats.values)]
    return both[0][0], lambda ybar: floats.cotangents([pullback(ybar)[0] for _, pullback in both])


def jvp_one_by_one(f: Any, primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> Any:
    floats = Floats(primals)
    pairs = zip(floats.values, floats.of(tangents), strict=True)
    both = [jvp(of_one(f, floats, i), (value,), (dx,)) for i, (value, dx) in enumerate(pairs)]
    structure = flatten(both[0][1])[1]
    return both[0][0], unflatten(structure, map(sum, zip(*(flatten(dy)[0] for _, dy in both), strict=True)))


# ---------------------------------------------------------------- the samples

NOT_WHOLE = (
    *(getattr(scipy.optimize, name) for name in ("root", "root_scalar", "minimize", "minimize_scalar", "lsq_linear")),
    *(getattr(scipy.optimize, name) for name in ("linprog", "broyden1", "broyden2", "anderson", "newton_krylov")),
    *(getattr(scipy.optimize, name) for name in ("least_squares", "diagbroyden", "linearmixing", "excitingmixing")),
    *(getattr(scipy.integrate, name) for name in ("quad", "quad_vec", "dblquad", "tplquad", "nquad")),
    *(scipy.integrate.solve_ivp, scipy.integrate.solve_bvp, "rules.scipy.integrate.quadrature.quad_vec_alone"),
    *(getattr(scipy.stats, name, None) for name in ("kendalltau", "spearmanr", "spearmanrho", "chatterjeexi")),
    *(scipy.stats.somersd, scipy.stats.mood, scipy.stats.wilcoxon, scipy.stats.mannwhitneyu),
    getattr(scipy.signal, "whittaker_henderson", None),
)
"""Functions that no program returns the whole result of: an object with an account of the search, or an estimate of
the error, which has no derivative, or SciPy's object for the results of a statistical test or a fit. What a program
uses of them is differentiated in tests/rules/scipy. And those whose samples are functions with parameters, which a
primitive sees and a plain call does not."""

ALIKE = re.compile(
    r"scipy\.stats\.((?!(norm|gamma|poisson)\.)\w+\.(pdf|pmf|sf|logcdf|logsf|ppf|isf)|(?!(norm|gamma|poisson|t|f)\.)\w+\.cdf)"
)
"""Methods of distributions whose rules are made of those of logpdf, and of the slopes of the cdf, in the same way for
each distribution: of a few distributions they run here, and of all in ``rulescore check``."""

rule_entries.load_all()
# Not all that there is: other test modules register rules too. Objects of a class have no name that `conformance`
# knows; the one there is, a checkpointed call, is differentiated in test_checkpoint.py. Sparse arrays are not traced.
TARGETS = {
    target.name: target
    for target in collect_targets(["rules", "rulescore.ad"])
    if target.samples
    and not target.name.startswith(("instances_of", "scipy.sparse.", "rules.scipy.sparse"))
    and not any(f in (target.name, target.function) for f in NOT_WHOLE)
    and not ALIKE.fullmatch(target.name)
}

TWICE = "second order"
NOT_TWICE_DIFFERENTIABLE = [
    (name, sample.id.partition("-")[2])
    for name, target in TARGETS.items()
    for sample in target.samples
    if TWICE in (sample.skip or {})
]
"""Samples, by function and name, that say why they have no second derivative to compare with."""


def word(sample: Sample) -> str:
    """What names a sample, wherever it stands among the others."""
    return sample.id.partition("-")[2]


def only(*positions: int) -> Callable[[str, Sample], bool]:
    return lambda name, sample: sample.position not in positions


def is_of_numpy(name: str) -> bool:
    return not name.startswith(("scipy.", "rules.scipy."))


def spread(name: str, count: int) -> set[int]:
    """The positions of some of a function's samples, spread evenly."""
    return {round(place) for place in np.linspace(0, max(len(TARGETS[name].samples) - 1, 0), count)}


def few(name: str, leaves_out: Callable[[Sample], bool], vjp: Any) -> Callable[[str, Sample], bool]:
    """What leaves out all samples of a function but a few of the others."""
    target = TARGETS[name]
    positions = spread(name, FEW if is_of_numpy(name) else FEWER)
    chosen = [sample for sample in target.samples if sample.position in positions and not leaves_out(sample)]
    return only(*[s.position for s in chosen if not is_list_that_numpy_converts(target.function, s, vjp)])


def problems(found: FunctionResult) -> str:
    """What is not right; empty where all is."""
    return "\n".join(f"{s.mode}, {s.sample}: {s.report or s.message}" for s in found.samples if s.verdict != "right")


def run(name: str, vjp: Any = our_vjp, jvp: Any = our_jvp, **options: Any) -> FunctionResult:
    (found,) = conformance(vjp, jvp, names=name, **options).functions
    return found


# ---------------------------------------------------------------- first order


@pytest.mark.parametrize("name", TARGETS)
def test_every_sample_is_right_in_both_modes(name: str) -> None:
    found = run(name, skip=() if is_of_numpy(name) and AD.short_cuts else only(*spread(name, FEW)))
    assert not problems(found)
    assert found.verdict in ("right", "not differentiable")


@pytest.mark.parametrize("name", [name for name in TARGETS if is_of_numpy(name)])
def test_each_argument_alone_is_right_in_both_modes(name: str) -> None:
    chosen = few(name, lambda sample: (name, word(sample)) in NOT_ASKED, vjp_one_by_one)
    found = run(name, vjp_one_by_one, jvp_one_by_one, skip=chosen)
    assert not problems(found)
    assert found.verdict in ("right", "not differentiable")


# ---------------------------------------------------------------- second order


@pytest.mark.parametrize("name", TARGETS)
def test_derivatives_of_derivatives_are_right_in_all_combinations_of_modes(name: str) -> None:
    found = run(name, order=2, skip=few(name, lambda sample: TWICE in (sample.skip or {}), vjp_as_a_program))
    assert not problems(found)
    assert found.verdict in ("right", "not differentiable")


# ---------------------------------------------------------------- exceptions


def at_exception(name: str, exception: str) -> Callable[[str, Sample], bool]:
    positions = [sample.position for sample in TARGETS[name].samples if word(sample) == exception]
    assert positions
    return only(*positions)


@pytest.mark.parametrize(("name", "exception"), NOT_TWICE_DIFFERENTIABLE)
def test_what_has_no_second_derivative_is_not_right(name: str, exception: str) -> None:
    assert problems(run(name, order=2, skip=at_exception(name, exception)))


@pytest.mark.parametrize(("name", "exception"), NOT_ASKED)
def test_arguments_that_numpy_does_not_hand_over_for_are_refused(name: str, exception: str) -> None:
    found = run(name, vjp_one_by_one, jvp_one_by_one, skip=at_exception(name, exception))
    assert found.verdict == "unsupported"
    assert "would lose its derivative" in found.message


def test_all_rules_are_run() -> None:
    assert {
        "numpy.sin",
        "numpy.ndarray.astype",
        "operator.getitem",
        "rulescore.ad.in_place.replaced.replaced",
    } <= TARGETS.keys()
    assert len(TARGETS) > 240


def test_lists_that_numpy_converts_are_refused_and_no_others() -> None:
    def refused(name: str) -> set[str]:
        f, samples = TARGETS[name].function, TARGETS[name].samples
        return {word(sample) for sample in samples if is_list_that_numpy_converts(f, sample)}

    assert refused("numpy.sum") == {"list"}
    assert refused("numpy.stack") == refused("numpy.array") == set()
