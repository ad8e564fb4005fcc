"""Functions of NumPy arrays as a custom operator of PyTorch's: what they are within a compiled program."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from typing import Any

import optree

from rulescore.backends.host.calls import HostCall
from rulescore.backends.host.extras import framework
from rulescore.backends.host.finding import Calls
from rulescore.backends.host.functions import HostFunction
from rulescore.backends.torch_arrays import (
    along_first,
    array_of,
    has_derivative,
    numpy_dtype,
    spread,
    tensors_of,
    torch_dtype,
)

torch = framework("torch", "torch")

from torch.autograd import forward_ad  # noqa: E402

_numbered: dict[int, HostFunction] = {}
_numbers: dict[HostFunction, int] = {}


def number_of(function: HostFunction) -> int:
    """What stands for a function in a compiled program.

    PyTorch keeps programs on disk, where a later process finds them by their operators and these numbers. Programs hold
    numbers of derivatives too, by which they are not found; so no two processes may have a number in common.
    """
    if function not in _numbers:
        number = _numbers[function] = secrets.randbits(62)
        _numbered[number] = function
    return _numbers[function]


def _function(number: int) -> HostFunction:
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
    function = _function(number)
    if function.maps and len(arrays[0]) == 0:
        return [torch.empty(y.shape, dtype=y.dtype) for y in _empty_results(tensors, number)]
    return list(tensors_of(function(arrays), arrays, tensors))


@operator.register_fake  # type: ignore[untyped-decorator]
def _empty_results(tensors: list[Any], number: int) -> list[Any]:
    if forward_ad._current_level >= 0:
        raise NotImplementedError(
            f"forward mode of {_function(number).name} within a compiled program: the operator that it is there has no "
            "derivative in forward mode. Differentiate the compiled function, or leave this part uncompiled"
        )
    specs = [(tuple([int(n) for n in x.shape]), numpy_dtype(x.dtype)) for x in tensors]
    results = _function(number).results(specs)
    like = next((x for x in tensors if x.device.type != "cpu"), torch.empty(0))  # as `tensors_of` chooses
    return [like.new_empty(shape, dtype=torch_dtype(dtype)) for shape, dtype in results]


def _operator_context(ctx: Any, inputs: tuple[Any, ...], output: list[Any]) -> None:
    tensors, ctx.number = inputs
    ctx.save_for_backward(*tensors)
    ctx.differentiable = [has_derivative(y) for y in output]


def _operator_backward(ctx: Any, ybars: list[Any]) -> tuple[Any, None]:
    tensors = ctx.saved_tensors
    needs = tuple([has_derivative(x) for x in tensors])
    seeds = [ybar for ybar, has_one in zip(ybars, ctx.differentiable, strict=True) if has_one]
    pullback = _function(ctx.number).pullback(needs)
    bars = operator([*tensors, *seeds], number_of(pullback))
    return list(spread(bars, needs)), None


def _operator_vmap(info: Any, in_dims: Any, tensors: list[Any], number: int) -> tuple[list[Any], list[int]]:
    outputs = operator(along_first(info, in_dims[0], tensors), number_of(_function(number).batched()))
    return outputs, [0] * len(outputs)


operator.register_vmap(_operator_vmap)
operator.register_autograd(_operator_backward, setup_context=_operator_context)


# ---------------------------------------------------------------- within a compiled program


def compiled_call(calls: Calls, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The call as the compiler sees it: an operator between taking containers apart and putting them together."""
    tensors: list[Any] = []
    number = _number_of_call(calls, _form(args, tensors), _form(kwargs, tensors))
    outputs = operator(tensors, number)  # which calls the function, so that the form of its result is known
    return _formed(_form_of_result(number), outputs)


# What the compiler may take for a constant are tuples of strings and numbers; so the structure of containers is made of
# these, in code that it can follow.


_named_tuples: dict[str, Any] = {}


def _form(x: Any, tensors: list[Any]) -> Any:
    """What a container looks like around its tensors."""
    if isinstance(x, torch.Tensor):
        tensors.append(x)
        return ("tensor", len(tensors) - 1)
    if isinstance(x, (tuple, list)):
        return ("list" if isinstance(x, list) else "tuple", tuple([_form(part, tensors) for part in x]))
    if isinstance(x, dict):
        return ("dict", tuple(x.keys()), tuple([_form(part, tensors) for part in x.values()]))
    return ("constant", x)


def _formed(form: Any, tensors: list[Any]) -> Any:
    """The container of a form."""
    kind = form[0]
    if kind == "tensor":
        return tensors[form[1]]
    if kind == "constant":
        return form[1]
    parts = [_formed(part, tensors) for part in form[-1]]
    if kind == "dict":
        return dict(zip(form[1], parts, strict=True))
    if kind == "named tuple":
        return _named_tuples[form[1]](*parts)
    return parts if kind == "list" else tuple(parts)


@torch.compiler.assume_constant_result  # type: ignore[untyped-decorator]
def _number_of_call(calls: Calls, args: Any, kwargs: Any) -> int:
    places = [torch.empty(0)] * sum(1 for _ in _places(args)) + [torch.empty(0)] * sum(1 for _ in _places(kwargs))
    return number_of(calls.find(_formed(args, places), _formed(kwargs, places))[0])


def _places(form: Any) -> Iterator[int]:
    if form[0] == "tensor":
        yield form[1]
    elif form[0] != "constant":
        for part in form[-1]:
            yield from _places(part)


@torch.compiler.assume_constant_result  # type: ignore[untyped-decorator]
def _form_of_result(number: int) -> Any:
    call = _function(number)
    assert isinstance(call, HostCall)
    if call.structure is None:
        raise TypeError(f"{call.name} has to be called once before a program with it is compiled")
    structure = call.structure
    return _form_of_numbers(optree.tree_unflatten(structure, range(structure.num_leaves)))


def _form_of_numbers(x: Any) -> Any:
    if isinstance(x, int):
        return ("tensor", x)
    if x is None:
        return ("constant", None)
    if isinstance(x, tuple) and hasattr(x, "_fields"):
        name = f"{type(x).__module__}.{type(x).__qualname__}"
        _named_tuples[name] = type(x)
        return ("named tuple", name, tuple(map(_form_of_numbers, x)))
    if isinstance(x, (tuple, list)):
        return ("list" if isinstance(x, list) else "tuple", tuple(map(_form_of_numbers, x)))
    if isinstance(x, dict):
        return ("dict", tuple(x), tuple(map(_form_of_numbers, x.values())))
    raise TypeError(f"a compiled program cannot put a {type(x).__name__} together: return tuples, lists or dicts")
