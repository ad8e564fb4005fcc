"""The reference AD: derivatives of plain NumPy code, of any order, from nothing but the rule tables.

`grad` and its kin have the signatures of JAX; `variable` and `backward` work as in PyTorch; `primitive` lets a function
of your own have a rule.
"""

from rulescore.ad.checkpointing import checkpoint
from rulescore.ad.errors import LeakedTracerError, NoRuleError, TracerConversionError, UnrelatedOutputError
from rulescore.ad.jacobians import hessian, hvp, jacfwd, jacrev
from rulescore.ad.primitives import primitive, primitives
from rulescore.ad.transformations import grad, jvp, linearize, value_and_grad, vjp
from rulescore.ad.unused_rules import RuleNotUsedWarning
from rulescore.ad.variables import backward, gradients, variable
from rulescore.definitions.declarations import ignore_derivatives

__all__ = [
    "LeakedTracerError",
    "NoRuleError",
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
    "value_and_grad",
    "variable",
    "vjp",
]
