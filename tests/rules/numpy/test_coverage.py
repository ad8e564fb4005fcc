"""Every public function of NumPy is one of four things, and no function of a NumPy to come is forgotten."""

import numpy as np
import pytest

from testutils.runs.listing import states_of_module

OWNERS = ["numpy", "numpy.linalg", "numpy.fft", "numpy.ndarray"]
REMOVED = {"numpy.in1d", "numpy.trapz", "numpy.ndarray.tostring"}
"""Deprecated since NumPy 2.0 and gone in 2.4: `isin`, `trapezoid` and `tobytes` are their other names."""


@pytest.mark.parametrize("owner", OWNERS)
def test_nothing_is_missing(owner):
    """What fails here by name has neither rules, nor samples to prove them, nor a declaration why it needs none.

    Give it rules; or declare it in rules/numpy/constants.py, assignments_and_conversions.py or not_numerical.py.
    """
    states = states_of_module(owner)
    missing = {f"{owner}.{s.name}": s.kind or "nothing known" for s in states if not s.is_complete}
    assert {name: kind for name, kind in missing.items() if name not in REMOVED} == {}


def test_a_new_function_is_reported_by_name(monkeypatch):
    def brand_new(x):
        return x

    monkeypatch.setattr(np, "brand_new", brand_new, raising=False)
    monkeypatch.setattr(np, "__all__", [*np.__all__, "brand_new"])
    assert "brand_new" in [state.name for state in states_of_module("numpy") if state.kind == ""]


@pytest.mark.parametrize(
    ("owner", "name", "kind"),
    [
        ("numpy", "sin", "rules"),
        ("numpy", "floor", "constant"),
        ("numpy", "sign", "rules"),
        ("numpy", "put", "looked into"),
        ("numpy", "savetxt", "not numerical"),
        ("numpy.ndarray", "sum", "rules"),
        ("numpy.ndarray", "sort", "looked into"),
        ("numpy.ndarray", "tobytes", "not numerical"),
        ("numpy.fft", "fftfreq", "rules"),
    ],
)
def test_what_things_are(owner, name, kind):
    (state,) = [state for state in states_of_module(owner) if state.name == name]
    assert state.kind == kind
