"""Python's operators, and the built-in functions behind them, are served by the rules of the ufuncs.

`rrule(operator.mul, a, b)` answers what `rrule(np.multiply, a, b)` does.
"""

import builtins
import operator

import numpy as np
from rulescore import rrule

_UFUNCS = {
    operator.add: np.add,
    operator.sub: np.subtract,
    operator.mul: np.multiply,
    operator.truediv: np.divide,
    operator.floordiv: np.floor_divide,
    operator.mod: np.remainder,
    operator.pow: np.power,
    operator.matmul: np.matmul,
    operator.neg: np.negative,
    operator.pos: np.positive,
    operator.abs: np.absolute,
    operator.invert: np.invert,
    operator.and_: np.bitwise_and,
    operator.or_: np.bitwise_or,
    operator.xor: np.bitwise_xor,
    operator.lshift: np.left_shift,
    operator.rshift: np.right_shift,
    operator.eq: np.equal,
    operator.ne: np.not_equal,
    operator.lt: np.less,
    operator.le: np.less_equal,
    operator.gt: np.greater,
    operator.ge: np.greater_equal,
    builtins.abs: np.absolute,
    builtins.divmod: np.divmod,
    builtins.pow: np.power,
}

for _operator, _ufunc in _UFUNCS.items():
    rrule.alias(_operator, _ufunc)
