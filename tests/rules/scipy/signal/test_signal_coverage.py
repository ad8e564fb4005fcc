"""Which functions of `scipy.signal` have rules, and that all others say why they have none."""

import scipy.signal

from rulescore import rrule
from testutils.runs.listing import states_of_module


def test_every_function_of_scipy_signal_has_rules_and_samples_or_a_reason():
    states = states_of_module("scipy.signal")
    assert not [state.name for state in states if not state.is_complete and not state.reason]
    assert sum(state.kind == "rules" for state in states) > 50


def test_a_function_without_rules_says_what_to_use_instead():
    (record, *_) = rrule.records(scipy.signal.butter)
    assert "sosfilt" in record.reason
    assert rrule(scipy.signal.butter, 2, 0.3) is None
