"""The general way: a `torch.autograd.Function` that the transforms of `torch.func` take apart, also for native mode."""

from __future__ import annotations

from typing import Any

from rulescore.backends.host.extras import framework
from rulescore.backends.host.functions import HostFunction
from rulescore.backends.torch.calls.contexts import Derivatives, describe_outputs, pushed, seeds_of, value
from rulescore.backends.torch.calls.modes import is_recorded
from rulescore.backends.torch.custom_operator import number_of, operator
from rulescore.backends.torch.native import NativeMode
from rulescore.backends.torch.tensors import along_first, spread

framework("torch", "torch")

from torch.autograd import Function  # noqa: E402


class TransformedCall(Function):  # type: ignore[misc]
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

    @staticmethod
    def backward(ctx: Any, *ybars: Any) -> tuple[Any, ...]:
        needs = ctx.needs_input_grad[2:]
        bars = Derivatives.call(ctx.function.pullback(needs), [*ctx.saved_tensors, *seeds_of(ctx, ybars)], ctx.mode)
        return None, None, *spread(bars, needs)

    @staticmethod
    def jvp(ctx: Any, _: Any, __: Any, *tangents: Any) -> tuple[Any, ...]:
        return pushed(ctx.function, ctx.saved_tensors, tangents, ctx.differentiable, ctx.mode)

    @staticmethod
    def vmap(
        info: Any, in_dims: tuple[Any, ...], function: HostFunction, mode: NativeMode | None, *tensors: Any
    ) -> tuple[Any, Any]:
        batches = along_first(info, in_dims[2:], tensors)
        if mode is not None:  # the forward mode of PyTorch refuses what was expanded
            batches = [x.contiguous() for x in batches]
        outputs = Derivatives.call(function.batched(), batches, mode)
        return outputs, (0,) * len(outputs)
