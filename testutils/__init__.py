"""Tools to prove rules right: testers, finite differences, random tangents and sample inputs.

``check_rule`` reports on the rules of one call, ``test_rule`` and its siblings raise what it reports; with
``sample_inputs`` a package offers the calls its rules are checked on.
"""

# Each name is imported when it is first asked for, since a test that needs one of them need not pay for all.

from importlib import import_module as _import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .bare_functions import check_derivative
    from .cases.config import TestConfig
    from .evidence.finite_differences import (
        Estimate,
        backward_fdm,
        central_fdm,
        forward_fdm,
        jacobian_fd,
        jvp_fd,
        vjp_fd,
    )
    from .reports.report import InconclusiveError, InconclusiveWarning, Report, RuleTestError
    from .reports.results import CheckResult
    from .runs.conformance import conformance
    from .runs.rule_tables import check_rule_tables, test_rule_tables
    from .samples.random_tangents import rand_tangent, with_tangent
    from .samples.sampling import Sample, load_samples, sample, sample_inputs, sampled_functions, samples_of
    from .systems.conformance_report import ConformanceError, ConformanceReport
    from .systems.conversations import FunctionOfPrimals
    from .taylor.taylor_test import TaylorResult, taylor_test
    from .testers import check_rule, check_sample, test_frule, test_rrule, test_rule, test_scalar

__all__ = [
    "CheckResult",
    "ConformanceError",
    "ConformanceReport",
    "Estimate",
    "FunctionOfPrimals",
    "InconclusiveError",
    "InconclusiveWarning",
    "Report",
    "RuleTestError",
    "Sample",
    "TaylorResult",
    "TestConfig",
    "backward_fdm",
    "central_fdm",
    "check_derivative",
    "check_rule",
    "check_rule_tables",
    "check_sample",
    "conformance",
    "forward_fdm",
    "jacobian_fd",
    "jvp_fd",
    "load_samples",
    "rand_tangent",
    "sample",
    "sample_inputs",
    "sampled_functions",
    "samples_of",
    "taylor_test",
    "test_frule",
    "test_rrule",
    "test_rule",
    "test_rule_tables",
    "test_scalar",
    "vjp_fd",
    "with_tangent",
]

_HOMES = {
    "bare_functions": ("check_derivative",),
    "reports.results": ("CheckResult",),
    "systems.conformance_report": ("ConformanceError", "ConformanceReport"),
    "evidence.finite_differences": (
        "Estimate",
        "backward_fdm",
        "central_fdm",
        "forward_fdm",
        "jacobian_fd",
        "jvp_fd",
        "vjp_fd",
    ),
    "systems.conversations": ("FunctionOfPrimals",),
    "reports.report": ("InconclusiveError", "InconclusiveWarning", "Report", "RuleTestError"),
    "samples.sampling": ("Sample", "load_samples", "sample", "sample_inputs", "sampled_functions", "samples_of"),
    "taylor.taylor_test": ("TaylorResult", "taylor_test"),
    "cases.config": ("TestConfig",),
    "testers": ("check_rule", "check_sample", "test_frule", "test_rrule", "test_rule", "test_scalar"),
    "runs.rule_tables": ("check_rule_tables", "test_rule_tables"),
    "runs.conformance": ("conformance",),
    "samples.random_tangents": ("rand_tangent", "with_tangent"),
}


def __getattr__(name: str) -> Any:
    for module, names in _HOMES.items():
        if name in names:
            found = globals()[name] = getattr(_import_module(f".{module}", __name__), name)
            return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
