"""Tools to prove rules right: testers, finite differences, random tangents and sample inputs.

``check_rule`` reports on the rules of one call, ``test_rule`` and its siblings raise what it reports; with
``sample_inputs`` a package offers the calls its rules are checked on.
"""

from testutils.ad_systems import conformance
from testutils.config import TestConfig
from testutils.conformance_report import ConformanceError, ConformanceReport
from testutils.conversations import FunctionOfPrimals
from testutils.finite_differences import (
    Estimate,
    backward_fdm,
    central_fdm,
    forward_fdm,
    jacobian_fd,
    jvp_fd,
    vjp_fd,
)
from testutils.random_tangents import rand_tangent, with_tangent
from testutils.report import CheckResult, InconclusiveError, InconclusiveWarning, Report, RuleTestError
from testutils.rule_tables import check_rule_tables, test_rule_tables
from testutils.sampling import Sample, load_samples, sample, sample_inputs, sampled_functions, samples_of
from testutils.taylor import TaylorResult, taylor_test
from testutils.testers import check_rule, check_sample, test_frule, test_rrule, test_rule, test_scalar

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
