"""Every rule that is written out says what its arguments are."""

import inspect
from pathlib import Path

import rules.numpy
from rulescore import frule, rrule
from testutils.runs.running import collect_targets

RULES = Path(rules.numpy.__file__).parents[1]


def rules_written_out():
    """Those of both tables that are functions of the package's own."""
    for target in collect_targets([]):
        for table in (rrule, frule):
            for record in table.records(target.function):
                rule = inspect.unwrap(record.implementation)
                code = getattr(rule, "__code__", None)
                if code is not None and Path(code.co_filename).is_relative_to(RULES):
                    yield rule


def test_no_registered_rule_is_left_unannotated():
    written_out = {id(rule): rule for rule in rules_written_out()}
    assert len(written_out) > 500
    missing = [
        f"{rule.__code__.co_filename}:{rule.__code__.co_firstlineno} {rule.__name__}"
        for rule in written_out.values()
        if rule.__code__.co_argcount + rule.__code__.co_kwonlyargcount > len(rule.__annotations__.keys() - {"return"})
        or "return" not in rule.__annotations__
    ]
    assert missing == []
