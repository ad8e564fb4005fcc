"""An AD system for arrays: NumPy's protocols say what is called, and the rules what its derivative is."""

import collections
import itertools
import operator
import types

import numpy as np
import optree

from rulescore import AbstractZero, NoTangent, ZeroTangent, add, rrule, unthunk, zero_tangent


class Variable(np.lib.mixins.NDArrayOperatorsMixin):
    """An array, and the tape on which the calls with it are written down."""

    __rule_type__ = np.ndarray
    shape, ndim, size, T, real, imag = map(property, (np.shape, np.ndim, np.size, np.transpose, np.real, np.imag))

    def __init__(self, value, tape):
        self.value = value if hasattr(value, "dtype") else np.asarray(value)[()]
        self.dtype, self.tape = self.value.dtype, tape

    def __array_ufunc__(self, ufunc, method, *args, **kwargs):
        return call(ufunc if method == "__call__" else getattr(ufunc, method), args, kwargs)

    def __array_function__(self, f, types, args, kwargs):
        return call(f, args, kwargs)

    def __getitem__(self, index):
        return call(operator.getitem, (self, index), {})

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        method = getattr(np.ndarray, name)
        return lambda *args, **kwargs: call(method, (self, *args), kwargs)

    def __len__(self):
        return len(self.value)

    def __bool__(self):
        return bool(self.value)

    def __array__(self, dtype=None, copy=None):
        raise TypeError("a plain array cannot hold a variable: write np.stack([...]), not np.array([...])")


class Tape:
    """The calls of one differentiation: of each the result, the arguments and the pullback."""

    numbers = itertools.count()

    def __init__(self):
        self.number, self.calls = next(Tape.numbers), []

    def variables(self, tree):
        return optree.tree_map(lambda x: x if zero_tangent(x) is NoTangent() else Variable(x, self), tree)

    def values(self, tree):
        return optree.tree_map(lambda x: x.value if isinstance(x, Variable) and x.tape is self else x, tree)


def tapes_of(tree):
    return {x.tape for x in optree.tree_leaves(tree) if isinstance(x, Variable)}


def call(f, args, kwargs):
    """Call a function with variables among its arguments, and write the call down."""
    args, kwargs = rrule.bind(f, args, kwargs)
    tape = max(tapes_of((args, kwargs)), key=lambda tape: tape.number)
    found = None if tape in tapes_of(kwargs) else rrule.call(f, tape.values(args), kwargs)
    code = getattr(f, "__wrapped__", f)  # the Python code of a function of NumPy's
    if found is None and isinstance(code, types.FunctionType):
        return code(*args, **kwargs)
    if found is None or tape in tapes_of(found[0]):  # which the rule can only have from a function that captured it
        raise NotImplementedError(f"{f.__name__} has no rule here: register one, or pass what it captured as argument")
    y, pullback = tape.variables(found[0]), found[1]
    tape.calls.append((y, args, pullback))
    return y


def accumulate(bars, tape, x, xbar):
    """Add the cotangent of an argument to those of the variables in it, which are kept by their identity."""
    if isinstance(x, Variable) and x.tape is tape:
        bars[id(x)] = add(bars[id(x)], unthunk(xbar))
    elif isinstance(x, (tuple, list, dict)) and not isinstance(xbar := unthunk(xbar), AbstractZero):
        for key in x if isinstance(x, dict) else range(min(len(x), len(xbar))):
            accumulate(bars, tape, x[key], xbar[key])


def vjp(f, *primals):
    """f(*primals), and the pullback from its cotangent to those of the primals."""
    tape = Tape()
    variables = tape.variables(primals)
    y = f(*variables)

    def pullback(ybar):
        bars = collections.defaultdict(ZeroTangent)
        accumulate(bars, tape, y, ybar)
        for result, args, pull in reversed(tape.calls):
            bar = optree.tree_map(lambda x: bars[id(x)], result)
            if not all(isinstance(part, AbstractZero) for part in optree.tree_leaves(bar)):
                accumulate(bars, tape, args, pull(bar)[1:])
        return optree.tree_map(lambda x: bars[id(x)], variables)

    return tape.values(y), pullback
