"""The general way: a `torch.autograd.Function` that the transforms of `torch.func` take apart, also for native mode.

What the short cuts have in common with it is here too.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Sequence
from typing import Any

import torch

from rulescore.backends.host.functions import HostFunction
from rulescore.backends.torch.calls.modes import is_recorded, uncompiled
from rulescore.backends.torch.custom_operator import number_of, operator
from rulescore.backends.torch.native import NativeMode
from rulescore.backends.torch.tensors import along_first, array_of, has_derivative, spread, tensors_of


class Derivatives:
    """How derivatives are called, which are functions like any other: the package, which knows all ways, says it."""

    call: Callable[..., tuple[Any, ...]]
    """``call(function, tensors, mode)``: the outputs, natively if the mode is not None and it can be."""


class TransformedCall(torch.autograd.Function):  # type: ignore[misc]
    """A function of tensors; or, with a mode, natively."""

    @staticmethod
    def forward(function: HostFunction, mode: NativeMode | None, *tensors: Any) -> tuple[Any, ...]:
        if mode is not None:
            return tuple(mode.system.natively(function)(*tensors))
        return tuple(operator(list(tensors), number_of(function, True))) if is_recorded() else value(function, tensors)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: tuple[Any, ...]) -> None:
        ctx.function, ctx.mode, *tensors = inputs
        ctx.save_for_backward(*tensors)
        ctx.save_for_forward(*tensors)
        describe_outputs(ctx, output)
        ctx.set_materialize_grads(False)  # of tangents too, of which it would make zeros for what does not move
        ctx.zeros = [functools.partial(torch.zeros, y.shape, dtype=y.dtype, device=y.device) for y in output]

    @staticmethod
    def backward(ctx: Any, *ybars: Any) -> tuple[Any, ...]:
        needs = ctx.needs_input_grad[2:]
        ybars = tuple([zeros() if ybar is None else ybar for ybar, zeros in zip(ybars, ctx.zeros, strict=True)])
        bars = Derivatives.call(ctx.function.pullback(needs), [*ctx.saved_tensors, *seeds_of(ctx, ybars)], ctx.mode)
        return None, None, *spread(bars, needs)

    @staticmethod
    def jvp(ctx: Any, _: Any, __: Any, *tangents: Any) -> tuple[Any, ...]:
        pushforward = ctx.function.pushforward(tuple([dx is not None for dx in tangents]))
        directions = [dx for dx in tangents if dx is not None]
        return spread(Derivatives.call(pushforward, [*ctx.saved_tensors, *directions], ctx.mode), ctx.differentiable)

    @staticmethod
    def vmap(
        info: Any, in_dims: tuple[Any, ...], function: HostFunction, mode: NativeMode | None, *tensors: Any
    ) -> tuple[Any, Any]:
        batches = along_first(info, in_dims[2:], tensors)
        if mode is not None:  # the forward mode of PyTorch refuses what was expanded
            batches = [x.contiguous() for x in batches]
        outputs = Derivatives.call(function.batched(), batches, mode)
        return outputs, (0,) * len(outputs)


def value(function: HostFunction, tensors: Sequence[Any]) -> tuple[Any, ...]:
    """The outputs, as tensors that know nothing."""
    return tensors_of(list(function(list(map(array_of, tensors)))), tensors)


def describe_outputs(ctx: Any, outputs: Sequence[Any]) -> None:
    """Keep which outputs have a derivative, and let PyTorch know."""
    ctx.differentiable = list(map(has_derivative, outputs))
    if False in ctx.differentiable:
        ctx.mark_non_differentiable(*[y for y in outputs if not has_derivative(y)])


def seeds_of(ctx: Any, ybars: Sequence[Any]) -> list[Any]:
    """The cotangents of the outputs that have one."""
    return list(itertools.compress(ybars, ctx.differentiable))


@uncompiled
def pulled_back(pull: Any, seeds: Sequence[Any], tensors: Sequence[Any]) -> tuple[Any, ...]:
    """What the pullback of a rule answers, as tensors that know nothing."""
    return tensors_of(list(pull(list(map(array_of, seeds)))), tensors)
