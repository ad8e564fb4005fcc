"""What the contexts of `torch.autograd.Function` keep, and the functions that all of these have in common."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from rulescore.backends.host.extras import framework
from rulescore.backends.host.functions import HostFunction
from rulescore.backends.torch.calls.modes import is_forward, uncompiled
from rulescore.backends.torch.native import NativeMode
from rulescore.backends.torch.tensors import array_of, has_derivative, spread, tensors_of

torch = framework("torch", "torch")


class Derivatives:
    """How derivatives are called, which are functions like any other: the package, which knows all ways, says it."""

    call: Callable[..., tuple[Any, ...]]
    """``call(function, tensors, mode)``: the outputs, natively if the mode is not None and it can be."""


def value(function: HostFunction, tensors: Sequence[Any]) -> tuple[Any, ...]:
    """The outputs, as tensors that know nothing."""
    return tensors_of(list(function(list(map(array_of, tensors)))), tensors)


def describe_outputs(ctx: Any, outputs: Sequence[Any]) -> None:
    """Keep which outputs have a derivative, and what zeros for those look like that get no cotangent."""
    ctx.differentiable = [has_derivative(y) for y in outputs]
    ctx.zeros = None
    if len(outputs) == 1 and ctx.differentiable[0] and not is_forward():  # what is missing, PyTorch makes
        return
    ctx.set_materialize_grads(False)  # of tangents too, of which it would make zeros for what does not move
    constant = [y for y, has_one in zip(outputs, ctx.differentiable, strict=True) if not has_one]
    if constant:
        ctx.mark_non_differentiable(*constant)
    ctx.zeros = [functools.partial(torch.zeros, y.shape, dtype=y.dtype, device=y.device) for y in outputs]


def seeds_of(ctx: Any, ybars: Sequence[Any]) -> Sequence[Any]:
    """The cotangents of the outputs that have one."""
    if ctx.zeros is None:
        return ybars
    described = zip(ybars, ctx.zeros, ctx.differentiable, strict=True)
    return [zeros() if ybar is None else ybar for ybar, zeros, has_one in described if has_one]


@uncompiled
def pulled_back(pull: Any, seeds: Sequence[Any], tensors: Sequence[Any]) -> tuple[Any, ...]:
    """What the pullback of a rule answers, as tensors that know nothing."""
    return tensors_of(list(pull(list(map(array_of, seeds)))), tensors)


def pushed(
    function: HostFunction, tensors: Any, tangents: Any, differentiable: list[bool], mode: NativeMode | None = None
) -> tuple[Any, ...]:
    """The tangents of the outputs, as tensors that know how to be differentiated."""
    needs = tuple([dx is not None for dx in tangents])
    directions = [dx for dx in tangents if dx is not None]
    return tuple(spread(Derivatives.call(function.pushforward(needs), [*tensors, *directions], mode), differentiable))
