"""An AD system for arrays: NumPy's protocols say what is called, and the rules what its derivative is."""

import functools
import heapq
import itertools
import operator
import types

import numpy as np
import optree

from rulescore import (
    AbstractZero,
    HasReverseMode,
    NoTangent,
    NotImplementedTangent,
    ZeroTangent,
    add,
    rrule,
    unthunk,
    zero_tangent,
)

NUMBERS = itertools.count()


class Variable(np.lib.mixins.NDArrayOperatorsMixin):
    """An array, with the pullback of the call that it came from and the arguments of that call."""

    __rule_type__ = np.ndarray
    shape, ndim, size, T, real, imag = map(property, (np.shape, np.ndim, np.size, np.transpose, np.real, np.imag))
    dtype = property(lambda self: self.value.dtype)

    def __init__(self, value, level, pullback=lambda ybar: (), parents=()):
        self.value = value if hasattr(value, "dtype") else np.asarray(value)[()]
        self.level, self.pullback, self.parents, self.number = level, pullback, parents, next(NUMBERS)

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


def call(f, args, kwargs):
    """Call a function with variables among its arguments, and record the call."""
    args, kwargs = rrule.bind(f, args, kwargs, CONFIG)
    level = max(levels_in((args, kwargs)))
    found = None
    if level not in levels_in(kwargs):
        needs = tuple(level in levels_in(arg) for arg in args)
        found = rrule.call(f, values_at(level, args), kwargs, config=CONFIG, needs=needs)
    if found is None:
        code = getattr(f, "__wrapped__", f)  # the Python code of a function of NumPy's
        if isinstance(code, types.FunctionType):
            return code(*args, **kwargs)
        raise NotImplementedError(f"{f.__name__} has no rule for these arguments: register one with rrule.register")
    y, pullback = found
    if level in levels_in(y):
        raise NotImplementedError(f"{f.__name__} calls a function that captured a variable: pass it as an argument")
    leaves, structure = optree.tree_flatten(y)
    whole = Variable(None, level, lambda ybar: pullback(ybar)[1:], args)
    parts = [Variable(leaf, level, functools.partial(alone, structure, i), [whole]) for i, leaf in enumerate(leaves)]
    return structure.unflatten([x if is_differentiable(y) else y for x, y in zip(parts, leaves, strict=True)])


def alone(structure, i, ybar):
    """The cotangent of all outputs from that of one."""
    return [structure.unflatten([ybar if i == j else ZeroTangent() for j in range(structure.num_leaves)])]


def levels_in(tree):
    return {x.level for x in optree.tree_leaves(tree) if isinstance(x, Variable)}


def values_at(level, tree):
    return optree.tree_map(lambda x: x.value if isinstance(x, Variable) and x.level == level else x, tree)


def is_differentiable(x):
    return isinstance(x, Variable) or zero_tangent(x) is not NoTangent()


def backward(y, ybar, level):
    """The cotangents of all variables that y came from, by number."""
    bars, waiting, pairs = {}, [], pairs_in(y, ybar)
    while True:
        for x, xbar in pairs:
            xbar = unthunk(xbar) if x.level == level else NoTangent()
            if isinstance(xbar, NotImplementedTangent):
                xbar.fail()  # with the message of the rule's author
            if not isinstance(xbar, AbstractZero):
                if x.number not in bars:
                    heapq.heappush(waiting, (-x.number, x))
                bars[x.number] = add(bars.get(x.number, ZeroTangent()), xbar)
        if not waiting:
            return bars
        _, x = heapq.heappop(waiting)
        pairs = pairs_in(list(x.parents), x.pullback(bars[x.number]))


def pairs_in(x, xbar):
    """The variables in an argument, each with its cotangent."""
    if isinstance(x, Variable):
        yield x, xbar
    elif isinstance(x, (tuple, list, dict)) and not isinstance(xbar := unthunk(xbar), AbstractZero):
        for key in x if isinstance(x, dict) else range(min(len(x), len(xbar))):
            yield from pairs_in(x[key], xbar[key])


def vjp(f, *primals):
    """f(*primals), and the pullback from its cotangent to those of the primals."""
    level = next(NUMBERS)
    variables = optree.tree_map(lambda x: Variable(x, level) if is_differentiable(x) else x, primals)
    y = f(*variables)

    def pullback(ybar):
        bars = backward(y, ybar, level)
        return optree.tree_map(lambda x: bars.get(getattr(x, "number", None), ZeroTangent()), variables)

    return values_at(level, y), pullback


class Config(HasReverseMode):
    """What rules of functions that take functions call back."""

    def rrule_via_ad(self, f, *args, **kwargs):
        y, pullback = vjp(lambda *args: f(*args, **kwargs), *args)
        return y, lambda ybar: (NoTangent(), *pullback(ybar))


CONFIG = Config()
