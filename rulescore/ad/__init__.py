"""The reference AD: derivatives of plain NumPy code, of any order, from nothing but the rule tables.

`grad` and its kin have the signatures of JAX; `variable` and `backward` work as in PyTorch; `primitive` lets a function
of your own have a rule.
"""

from rulescore.ad.checkpointing import checkpoint
from rulescore.ad.forward import jvp, linearize
from rulescore.ad.jacobians import hessian, hvp, jacfwd, jacrev
from rulescore.ad.messages.errors import (
    LeakedTracerError,
    NoRuleError,
    NoSourceError,
    TracerConversionError,
    UnrelatedOutputError,
)
from rulescore.ad.messages.unused_rules import RuleNotUsedWarning
from rulescore.ad.primitives import primitive, primitives
from rulescore.ad.reverse import grad, value_and_grad, vjp
from rulescore.ad.system.reference_ad import AD
from rulescore.ad.traceable import traceable
from rulescore.ad.variables import backward, gradients, variable
from rulescore.definitions.declarations import ignore_derivatives

__all__ = [
    "AD",
    "LeakedTracerError",
    "NoRuleError",
    "NoSourceError",
    "RuleNotUsedWarning",
    "TracerConversionError",
    "UnrelatedOutputError",
    "backward",
    "checkpoint",
    "grad",
    "gradients",
    "hessian",
    "hvp",
    "ignore_derivatives",
    "jacfwd",
    "jacrev",
    "jvp",
    "linearize",
    "primitive",
    "primitives",
    "traceable",
    "value_and_grad",
    "variable",
    "vjp",
]
