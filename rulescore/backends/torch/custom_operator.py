"""Functions of NumPy arrays as a custom operator of PyTorch's: what they are within a compiled program."""

from __future__ import annotations

import secrets
import weakref
from typing import Any

from rulescore.backends.host.calls import HostCall
from rulescore.backends.host.extras import framework
from rulescore.backends.host.functions import HostFunction
from rulescore.backends.torch.tensors import (
    along_first,
    array_of,
    has_derivative,
    spec_of,
    spread,
    tensors_of,
    torch_dtype,
)

torch = framework("torch", "torch")

from torch.autograd import forward_ad  # noqa: E402

_numbered: weakref.WeakValueDictionary[int, HostFunction] = weakref.WeakValueDictionary()
_numbers: weakref.WeakKeyDictionary[HostFunction, int] = weakref.WeakKeyDictionary()
_written_down: set[HostFunction] = set()


def number_of(function: HostFunction, is_written_down: bool = False) -> int:
    """What stands for a function in a compiled program.

    PyTorch keeps programs on disk, where a later process finds them by their operators and these numbers. Programs hold
    numbers of derivatives too, by which they are not found; so no two processes may have a number in common.

    A compiled program runs where somebody calls it with the function, which keeps its derivatives. What is written
    down, as by `torch.export`, is a program of its own: nobody knows how long somebody has it.
    """
    if is_written_down:
        _written_down.add(function)
    if function not in _numbers:
        number = _numbers[function] = secrets.randbits(62)
        _numbered[number] = function
    return _numbers[function]


def function_of(number: int) -> HostFunction:
    try:
        return _numbered[number]
    except KeyError:
        raise RuntimeError(
            "a program with a function made by to_torch was loaded into a process that did not compile it: the "
            "function is in the process that did. Compile the program again"
        ) from None


_SCHEMA = "(Tensor[] tensors, int number) -> Tensor[]"


@torch.library.custom_op("rulescore::host_call", mutates_args=(), schema=_SCHEMA)  # type: ignore[untyped-decorator]
def operator(tensors: list[Any], number: int) -> list[Any]:
    arrays = [array_of(x) for x in tensors]
    function = function_of(number)
    if function.maps and len(arrays[0]) == 0:
        return [torch.empty(y.shape, dtype=y.dtype) for y in _empty_results(tensors, number)]
    outputs = list(function(arrays))
    if isinstance(function, HostCall):
        function.require_known(list(map(spec_of, tensors)), outputs)
    return list(tensors_of(outputs, tensors))


@operator.register_fake  # type: ignore[untyped-decorator]
def _empty_results(tensors: list[Any], number: int) -> list[Any]:
    if forward_ad._current_level >= 0:
        raise NotImplementedError(
            f"forward mode of {function_of(number).name} within a compiled program: the operator that it is there has "
            "no derivative in forward mode. Compile without fullgraph=True, or differentiate the compiled function"
        )
    results = function_of(number).results(list(map(spec_of, tensors)))
    like = next((x for x in tensors if x.device.type != "cpu"), torch.empty(0))  # as `tensors_of` chooses
    return [like.new_empty(shape, dtype=torch_dtype(dtype)) for shape, dtype in results]


def _operator_context(ctx: Any, inputs: tuple[Any, ...], output: list[Any]) -> None:
    tensors, ctx.number = inputs
    ctx.save_for_backward(*tensors)
    ctx.differentiable = [has_derivative(y) for y in output]


def _operator_backward(ctx: Any, ybars: list[Any]) -> tuple[Any, None]:
    tensors = ctx.saved_tensors
    needs = tuple([need and has_derivative(x) for x, need in zip(tensors, ctx.needs_input_grad[0], strict=True)])
    seeds = [ybar for ybar, has_one in zip(ybars, ctx.differentiable, strict=True) if has_one]
    pullback = function_of(ctx.number).pullback(needs)
    bars = operator([*tensors, *seeds], number_of(pullback))
    return list(spread(bars, needs)), None


def _operator_vmap(info: Any, in_dims: Any, tensors: list[Any], number: int) -> tuple[list[Any], list[int]]:
    outputs = operator(along_first(info, in_dims[0], tensors), number_of(function_of(number).batched()))
    return outputs, [0] * len(outputs)


operator.register_vmap(_operator_vmap)
operator.register_autograd(_operator_backward, setup_context=_operator_context)
