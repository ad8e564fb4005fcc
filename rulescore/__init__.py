"""Derivative rules for Python: written once, used by every AD system, proven by a test.

`rrule` and `frule` are the two tables of rules. A rule is registered with ``@rrule.register(f)``; `pullback_wrt` and
`pushforward` leave only its mathematics to write. Or one line makes it (`scalar_rule`, `linear_rule`,
`non_differentiable`). The rules of NumPy are found by themselves when a table is asked for one. The testers are in
`rulescore.testing`.
"""

from rulescore.config import frule_via_ad, rrule_via_ad
from rulescore.definitions.declarations import (
    ignore_derivatives,
    missing_rules,
    no_tangent_pullback,
    non_differentiable,
    not_implemented,
    not_numerical,
    opt_out,
)
from rulescore.definitions.elementwise import derivatives_given_output, scalar_rule
from rulescore.definitions.linear import linear_rule
from rulescore.definitions.partials import OneOver
from rulescore.definitions.pullbacks import pullback_wrt, pushforward
from rulescore.definitions.static import static_rule
from rulescore.primal_calls import is_traced, seen_by_tracers
from rulescore.tables.batching import batching
from rulescore.tables.features import HasForwardMode, HasReverseMode, RuleConfig
from rulescore.tables.records import RuleRecord, StaticForm
from rulescore.tables.registry import frule, rrule
from rulescore.tables.signatures import instances_of, typeof
from rulescore.tables.table import RuleTable
from rulescore.tangents.accumulation import add, add_inplace, is_inplaceable_destination
from rulescore.tangents.arithmetic import AbstractTangent, MissingDerivativeError
from rulescore.tangents.blueprints import Blueprint
from rulescore.tangents.broadcasting import unbroadcast
from rulescore.tangents.masked import Selected
from rulescore.tangents.not_implemented import NotImplementedTangent
from rulescore.tangents.projection import Projector, ProjectTo, is_differentiable, project_to
from rulescore.tangents.spaces import zero_tangent
from rulescore.tangents.structural import Tangent, construct, is_zero
from rulescore.tangents.structure import structure_of
from rulescore.tangents.thunks import InplaceableThunk, Thunk, thunk, unthunk
from rulescore.tangents.zero import AbstractZero, NoTangent, ZeroTangent, apply_linear

__version__ = "0.1.0"

__all__ = [
    "AbstractTangent",
    "AbstractZero",
    "Blueprint",
    "HasForwardMode",
    "HasReverseMode",
    "InplaceableThunk",
    "MissingDerivativeError",
    "NoTangent",
    "NotImplementedTangent",
    "OneOver",
    "ProjectTo",
    "Projector",
    "RuleConfig",
    "RuleRecord",
    "RuleTable",
    "Selected",
    "StaticForm",
    "Tangent",
    "Thunk",
    "ZeroTangent",
    "add",
    "add_inplace",
    "apply_linear",
    "batching",
    "construct",
    "derivatives_given_output",
    "frule",
    "frule_via_ad",
    "ignore_derivatives",
    "instances_of",
    "is_differentiable",
    "is_inplaceable_destination",
    "is_traced",
    "is_zero",
    "linear_rule",
    "missing_rules",
    "no_tangent_pullback",
    "non_differentiable",
    "not_implemented",
    "not_numerical",
    "opt_out",
    "project_to",
    "pullback_wrt",
    "pushforward",
    "rrule",
    "rrule_via_ad",
    "scalar_rule",
    "seen_by_tracers",
    "static_rule",
    "structure_of",
    "thunk",
    "typeof",
    "unbroadcast",
    "unthunk",
    "zero_tangent",
]
