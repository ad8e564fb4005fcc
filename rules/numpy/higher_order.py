"""Rules of what calls functions of Python: ``np.vectorize`` objects and ``fromfunction``, by way of the AD system.

``apply_along_axis``, ``apply_over_axes`` and ``piecewise`` opt out: AD systems look into what NumPy does in them. So
values that a function takes from around it have a derivative too, which no rule gets to see.
"""

import math
import re
from typing import Any

import numpy as np
from rulescore import (
    AbstractZero,
    HasForwardMode,
    HasReverseMode,
    NoTangent,
    RuleConfig,
    Tangent,
    frule,
    frule_via_ad,
    ignore_derivatives,
    instances_of,
    opt_out,
    rrule,
    rrule_via_ad,
)
from rulescore.typing import DType, Function, OutputAndPullback, OutputAndTangent, Shape, Tangents

for _function in (np.apply_along_axis, np.apply_over_axes, np.piecewise):
    opt_out(rrule, _function)
    opt_out(frule, _function)


# ---------------------------------------------------------------- fromfunction


@frule.register(np.fromfunction, config=HasForwardMode)
def fromfunction_frule(
    config: RuleConfig, tangents: Tangents, function: Function, shape: Shape, *, dtype: DType = float, **kwargs: Any
) -> OutputAndTangent:
    indices = np.indices(shape, dtype=dtype)
    return frule_via_ad(config, (tangents[1], *[NoTangent()] * len(indices)), function, *indices, **kwargs)


@rrule.register(np.fromfunction, config=HasReverseMode)
def fromfunction_rrule(
    config: RuleConfig, function: Function, shape: Shape, *, dtype: DType = float, **kwargs: Any
) -> OutputAndPullback:
    """The indices are constants, the function may have parameters."""
    y, pullback = rrule_via_ad(config, function, *np.indices(shape, dtype=dtype), **kwargs)

    def fromfunction_pullback(ybar):
        return NoTangent(), pullback(ybar)[0]

    return y, fromfunction_pullback


# ---------------------------------------------------------------- vectorize


def laid_as(args, y):
    """The outputs of elementwise computation with their axes in the order in which NumPy lays them in memory."""
    if type(y) is tuple:
        return tuple([laid_as(args, part) for part in y])
    if np.ndim(y) < 2 or not np.size(y):
        return y
    strides = np.nditer([*map(ignore_derivatives, args), None]).operands[-1].strides
    axes = sorted(range(len(strides)), key=lambda axis: -strides[axis])
    if axes == list(range(len(strides))):
        return y
    return np.transpose(np.copy(np.transpose(y, axes), order="C"), np.argsort(axes))


class Elementwise:
    """What a call of an ``np.vectorize`` object does, in functions that can be differentiated.

    Attributes
    ----------
    vectorized : np.vectorize
        The object, which is asked for everything but its function.
    keywords : mapping
        The keyword arguments.
    """

    def __init__(self, vectorized, keywords):
        self.vectorized, self.keywords = vectorized, keywords

    def __call__(self, function, *args):
        """Call the function for one element after the other, or one array of its signature."""
        of_each = {i: x for i, x in [*enumerate(args), *self.keywords.items()] if i not in self.vectorized.excluded}
        cores = dict(zip(of_each, self.core_ndims(len(of_each)), strict=True))
        loops = {i: np.shape(x)[: np.ndim(x) - cores[i]] for i, x in of_each.items()}
        shape = np.broadcast_shapes(*loops.values())
        count = math.prod(shape)
        shapes = {i: np.shape(x)[len(loops[i]) :] for i, x in of_each.items()}
        rows = {i: np.reshape(np.broadcast_to(x, shape + shapes[i]), (count, *shapes[i])) for i, x in of_each.items()}
        outputs = []
        for k in range(count):
            of_this = {i: rows[i][k] for i in rows}
            positional = [of_this.get(i, x) for i, x in enumerate(args)]
            outputs.append(function(*positional, **{name: of_this.get(name, x) for name, x in self.keywords.items()}))
        y = self.joined(outputs, shape)
        return y if self.vectorized.signature else laid_as(of_each.values(), y)

    def core_ndims(self, count):
        """How many axes of each argument the function takes."""
        if self.vectorized.signature is None:
            return [0] * count
        cores = re.findall(r"\(([^)]*)\)", self.vectorized.signature.partition("->")[0])
        return [len([name for name in core.split(",") if name.strip()]) for core in cores]

    def joined(self, outputs, shape):
        """The outputs as an array, or several. As in NumPy, the first of them decides what type they have."""
        otypes = self.vectorized.otypes
        if not outputs:
            if not otypes:
                raise ValueError("cannot call `vectorize` on size 0 inputs unless `otypes` is set")
            empty = tuple([np.zeros(shape, otype) for otype in otypes])
            return empty if len(empty) > 1 else empty[0]
        if not isinstance(outputs[0], tuple):
            return self.array_of(outputs, shape, otypes[0] if otypes else None)
        columns = zip(*outputs, strict=True)
        return tuple([self.array_of(c, shape, otypes[i] if otypes else None) for i, c in enumerate(columns)])

    def array_of(self, outputs, shape, otype):
        dtype = np.result_type(outputs[0]) if otype is None else np.empty(0, otype).dtype
        y = np.stack(list(outputs))
        y = y if y.dtype == dtype else y.astype(dtype)
        return np.reshape(y, shape + np.shape(y)[1:])


@frule.register(instances_of(np.vectorize), config=HasForwardMode)
def vectorize_frule(
    config: RuleConfig, tangents: Tangents, vectorized: Function, *args: Any, **kwargs: Any
) -> OutputAndTangent:
    dself, *dargs = tangents
    dfunction = dself if isinstance(dself, AbstractZero) else dself.pyfunc
    call = Elementwise(vectorized, kwargs)
    return frule_via_ad(config, (NoTangent(), dfunction, *dargs), call, vectorized.pyfunc, *args)


@rrule.register(instances_of(np.vectorize), config=HasReverseMode)
def vectorize_rrule(config: RuleConfig, vectorized: Function, *args: Any, **kwargs: Any) -> OutputAndPullback:
    """The AD system follows the function from element to element."""
    y, pullback = rrule_via_ad(config, Elementwise(vectorized, kwargs), vectorized.pyfunc, *args)

    def vectorize_pullback(ybar):
        bars = pullback(ybar)
        if len(bars) < 2:  # of integers, say
            return bars
        _, function_bar, *args_bar = bars
        is_constant = isinstance(function_bar, AbstractZero)
        return function_bar if is_constant else Tangent(np.vectorize, pyfunc=function_bar), *args_bar

    return y, vectorize_pullback
