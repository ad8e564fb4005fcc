"""PyTorch: functions of NumPy arrays with rules as functions of tensors, under autograd, torch.func and torch.compile.

A function runs on the CPU, on arrays that share the tensors' memory. It is called in one of three ways, whose
derivatives are such calls again: by a lean `torch.autograd.Function` that keeps the rule's own pullback; by one that
the transforms of `torch.func` take apart; and, while a program is compiled, as a custom operator.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import optree

from rulescore.backends.extras import framework
from rulescore.backends.host_functions import Call, Calls, HostFunction

torch = framework("torch", "torch")

from torch.autograd import Function, forward_ad  # noqa: E402

# ---------------------------------------------------------------- tensors and arrays


def _array(tensor: Any) -> Any:
    """The array with a tensor's memory."""
    try:
        return tensor.detach().numpy()
    except (TypeError, RuntimeError):
        pass
    if tensor.device.type != "cpu":
        _warn_of_device(tensor.device)
    try:
        return tensor.numpy(force=True)  # on another device, or conjugated when it is read
    except TypeError as error:
        raise TypeError(
            f"NumPy has no arrays of {tensor.dtype} ({error}): convert the tensor with .to(torch.float32)"
        ) from None


@functools.cache
def _warn_of_device(device: Any) -> None:
    warnings.warn(
        f"a function made by to_torch got a tensor on {device}: it is copied to the CPU, where the function runs, and "
        "the results back, at every call",
        RuntimeWarning,
        stacklevel=2,
    )


def _tensor(array: Any, given: Sequence[Any], like: Any) -> Any:
    """A tensor with an array's memory, which has to be its own."""
    array = np.asarray(array)
    # A result that shares memory with an argument would be changed with it, without PyTorch's knowing.
    is_own = array.base is None and not any(array is x for x in given)
    if not is_own and (any(np.may_share_memory(array, x) for x in given) or not array.flags.writeable):
        array = array.copy()
    elif not is_own and min(array.strides, default=0) < 0:
        array = np.ascontiguousarray(array)
    try:
        tensor = torch.from_numpy(array)
    except TypeError as error:
        raise TypeError(f"PyTorch has no tensors of {array.dtype}: return another dtype") from error
    return tensor if like is None or like.device.type == "cpu" else tensor.to(like.device)


def _tensors(arrays: Sequence[Any], given: Sequence[Any], tensors: Sequence[Any]) -> tuple[Any, ...]:
    like = tensors[0] if tensors else None
    return tuple([_tensor(y, given, like) for y in arrays])


# ---------------------------------------------------------------- three ways to call a function


def host_call(function: HostFunction, tensors: Sequence[Any]) -> tuple[Any, ...]:
    """The outputs of a function, as tensors that know how to be differentiated."""
    if torch.compiler.is_compiling():
        return tuple(_operator(list(tensors), _number_of(function)))
    if torch._C._are_functorch_transforms_active():
        return _TransformedCall.apply(function, *tensors)  # type: ignore[no-any-return]
    if forward_ad._current_level >= 0 or (torch.is_grad_enabled() and any(x.requires_grad for x in tensors)):
        return _EagerCall.apply(function, *tensors)  # type: ignore[no-any-return]
    arrays = [_array(x) for x in tensors]
    return _tensors(function(arrays), arrays, tensors)


def _differentiable(tensors: Sequence[Any]) -> list[Any]:
    return [x for x in tensors if x.is_floating_point() or x.is_complex()]


class _EagerCall(Function):  # type: ignore[misc]
    """Keeps the pullback of the rule, and calls it in the backward pass."""

    # In the old style, with the context in forward: setup_context costs 10 µs more.
    @staticmethod
    def forward(ctx: Any, function: HostFunction, *tensors: Any) -> tuple[Any, ...]:
        arrays = [_array(x) for x in tensors]
        ctx.needs = needs = ctx.needs_input_grad[1:]
        ctx.function = function
        if any(needs):
            values, ctx.pull = function.vjp(arrays, needs)
        else:
            values = function(arrays)
        ctx.save_for_backward(*tensors)
        ctx.save_for_forward(*tensors)
        outputs = _tensors(values, arrays, tensors)
        constant = [y for y in outputs if not (y.is_floating_point() or y.is_complex())]
        if constant:
            ctx.mark_non_differentiable(*constant)
        ctx.differentiable = [y.is_floating_point() or y.is_complex() for y in outputs]
        return outputs

    @staticmethod
    def backward(ctx: Any, *ybars: Any) -> tuple[Any, ...]:
        tensors = ctx.saved_tensors  # also where they are not read: PyTorch checks that nobody has written into them
        seeds = [ybar for ybar, has_one in zip(ybars, ctx.differentiable, strict=True) if has_one]
        if torch.is_grad_enabled():
            bars = host_call(ctx.function.pullback(ctx.needs), [*tensors, *seeds])
        else:
            arrays = [_array(ybar) for ybar in seeds]
            given = [*arrays, *map(_array, tensors)]
            bars = _tensors(ctx.pull(arrays), given, tensors)
        return None, *_spread(bars, ctx.needs)

    @staticmethod
    def jvp(ctx: Any, _: Any, *tangents: Any) -> tuple[Any, ...]:
        return _pushed(ctx.function, ctx.saved_tensors, tangents, ctx.differentiable)


class _TransformedCall(Function):  # type: ignore[misc]
    """For the transforms of torch.func, which take forward, backward and jvp apart."""

    @staticmethod
    def forward(function: HostFunction, *tensors: Any) -> tuple[Any, ...]:
        arrays = [_array(x) for x in tensors]
        return _tensors(function(arrays), arrays, tensors)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: tuple[Any, ...]) -> None:
        ctx.function, *tensors = inputs
        ctx.save_for_backward(*tensors)
        ctx.save_for_forward(*tensors)
        ctx.differentiable = [y.is_floating_point() or y.is_complex() for y in output]
        constant = [y for y, has_one in zip(output, ctx.differentiable, strict=True) if not has_one]
        if constant:
            ctx.mark_non_differentiable(*constant)

    @staticmethod
    def backward(ctx: Any, *ybars: Any) -> tuple[Any, ...]:
        needs = ctx.needs_input_grad[1:]
        seeds = [ybar for ybar, has_one in zip(ybars, ctx.differentiable, strict=True) if has_one]
        bars = host_call(ctx.function.pullback(needs), [*ctx.saved_tensors, *seeds])
        return None, *_spread(bars, needs)

    @staticmethod
    def jvp(ctx: Any, _: Any, *tangents: Any) -> tuple[Any, ...]:
        return _pushed(ctx.function, ctx.saved_tensors, tangents, ctx.differentiable)

    @staticmethod
    def vmap(info: Any, in_dims: tuple[Any, ...], function: HostFunction, *tensors: Any) -> tuple[Any, Any]:
        along_first = [
            x.expand(info.batch_size, *x.shape) if dim is None else x.movedim(dim, 0)
            for x, dim in zip(tensors, in_dims[1:], strict=True)
        ]
        outputs = host_call(function.batched(), along_first)
        return outputs, (0,) * len(outputs)


def _spread(parts: Sequence[Any], places: Sequence[bool]) -> list[Any]:
    given = iter(parts)
    return [next(given) if has_one else None for has_one in places]


def _pushed(function: HostFunction, tensors: Any, tangents: Any, differentiable: list[bool]) -> tuple[Any, ...]:
    needs = tuple([dx is not None for dx in tangents])
    directions = [dx for dx in tangents if dx is not None]
    return tuple(_spread(host_call(function.pushforward(needs), [*tensors, *directions]), differentiable))


# ---------------------------------------------------------------- as an operator, for the compiler

_numbered: list[HostFunction] = []
_numbers: dict[HostFunction, int] = {}


def _number_of(function: HostFunction) -> int:
    """What stands for a function in a compiled program, which lives as long as the process."""
    if function not in _numbers:
        _numbers[function] = len(_numbered)
        _numbered.append(function)
    return _numbers[function]


_SCHEMA = "(Tensor[] tensors, int number) -> Tensor[]"


@torch.library.custom_op("rulescore::host_call", mutates_args=(), schema=_SCHEMA)  # type: ignore[untyped-decorator]
def _operator(tensors: list[Any], number: int) -> list[Any]:
    arrays = [_array(x) for x in tensors]
    function = _numbered[number]
    if function.maps and len(arrays[0]) == 0:
        return [torch.empty(y.shape, dtype=y.dtype) for y in _empty_results(tensors, number)]
    return list(_tensors(function(arrays), arrays, tensors))


@_operator.register_fake  # type: ignore[untyped-decorator]
def _empty_results(tensors: list[Any], number: int) -> list[Any]:
    specs = [(tuple([int(n) for n in x.shape]), _numpy_dtype(x.dtype)) for x in tensors]
    results = _numbered[number].results(specs)
    like = tensors[0] if tensors else torch.empty(0)
    return [like.new_empty(shape, dtype=_torch_dtype(dtype)) for shape, dtype in results]


def _numpy_dtype(dtype: Any) -> Any:
    return np.dtype(str(dtype).removeprefix("torch."))


def _torch_dtype(dtype: Any) -> Any:
    return getattr(torch, np.dtype(dtype).name)


def _operator_context(ctx: Any, inputs: tuple[Any, ...], output: list[Any]) -> None:
    tensors, ctx.number = inputs
    ctx.save_for_backward(*tensors)
    ctx.differentiable = [y.is_floating_point() or y.is_complex() for y in output]


def _operator_backward(ctx: Any, ybars: list[Any]) -> tuple[Any, None]:
    tensors = ctx.saved_tensors
    needs = tuple([x.is_floating_point() or x.is_complex() for x in tensors])
    seeds = [ybar for ybar, has_one in zip(ybars, ctx.differentiable, strict=True) if has_one]
    pullback = _numbered[ctx.number].pullback(needs)
    bars = _operator([*tensors, *seeds], _number_of(pullback))
    return _spread(bars, needs), None


_operator.register_autograd(_operator_backward, setup_context=_operator_context)


# ---------------------------------------------------------------- functions for PyTorch


def to_torch(f: Callable[..., Any], *, vmap_method: str = "sequential") -> Callable[..., Any]:
    """A function of PyTorch tensors from a Python function of NumPy arrays.

    Parameters
    ----------
    f : callable
        With rules, or of NumPy code that `rulescore.ad` differentiates. It runs on the CPU and gets NumPy arrays that
        share the tensors' memory; it may not write into them. Arguments and results may be nested tuples, lists and
        dicts.
    vmap_method : {"sequential", "broadcast_all"}
        What `torch.vmap` does: ``"sequential"`` calls ``f`` for one item after the other; ``"broadcast_all"`` calls it
        once with a further axis in front of every array, for functions that take such axes.

    Returns
    -------
    callable
        With the arguments of ``f``, of which tensors are differentiated, NumPy arrays are constants, and everything
        else (numbers, strings, functions) is fixed and has to be hashable. It works with ``backward`` to any order,
        ``gradcheck`` and ``gradgradcheck`` (forward mode too), all of `torch.func`, and under ``torch.compile``.

    Raises
    ------
    TypeError
        When ``f`` cannot be called; from the returned function, when an argument is neither an array nor hashable.

    Examples
    --------
    >>> import numpy as np, torch
    >>> from rulescore.backends.torch import to_torch
    >>> det = to_torch(np.linalg.det)
    >>> a = torch.tensor([[2.0, 1.0], [0.0, 3.0]], dtype=torch.float64, requires_grad=True)
    >>> det(a).backward()
    >>> a.grad
    tensor([[ 3., -0.],
            [-1.,  2.]], dtype=torch.float64)
    """
    calls = Calls("to_torch", f, _ARRAYS, optree.tree_flatten, optree.tree_unflatten, vmap_method)

    @functools.wraps(f, updated=())
    def torch_function(*args: Any, **kwargs: Any) -> Any:
        if torch.compiler.is_compiling():
            return _compiled(calls, args, kwargs)
        call, arrays = calls.find(args, kwargs)
        outputs = host_call(call, [x if isinstance(x, torch.Tensor) else _constant(x) for x in arrays])
        return optree.tree_unflatten(call.structure, outputs)

    return torch_function


_ARRAYS = (torch.Tensor, np.ndarray)


def _constant(x: Any) -> Any:
    return torch.from_numpy(x if x.flags.writeable and min(x.strides, default=0) >= 0 else x.copy())


# ---------------------------------------------------------------- within a compiled program


def _compiled(calls: Calls, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The call as the compiler sees it: an operator between taking containers apart and putting them together."""
    tensors: list[Any] = []
    number = _number_of_call(calls, _form(args, tensors), _form(kwargs, tensors))
    outputs = _operator(tensors, number)  # which calls the function, so that the form of its result is known
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
    return _number_of(calls.find(_formed(args, places), _formed(kwargs, places))[0])


def _places(form: Any) -> Iterator[int]:
    if form[0] == "tensor":
        yield form[1]
    elif form[0] != "constant":
        for part in form[-1]:
            yield from _places(part)


@torch.compiler.assume_constant_result  # type: ignore[untyped-decorator]
def _form_of_result(number: int) -> Any:
    call = _numbered[number]
    assert isinstance(call, Call)
    if call.structure is None:
        raise TypeError(f"{call.name} has to be called once before a program with it is compiled")
    structure = call.structure
    return _form_of_numbers(optree.tree_unflatten(structure, range(structure.num_leaves)))


def _form_of_numbers(x: Any) -> Any:
    if isinstance(x, int):
        return ("tensor", x)
    if isinstance(x, tuple) and hasattr(x, "_fields"):
        name = f"{type(x).__module__}.{type(x).__qualname__}"
        _named_tuples[name] = type(x)
        return ("named tuple", name, tuple(map(_form_of_numbers, x)))
    if isinstance(x, (tuple, list)):
        return ("list" if isinstance(x, list) else "tuple", tuple(map(_form_of_numbers, x)))
    if isinstance(x, dict):
        return ("dict", tuple(x), tuple(map(_form_of_numbers, x.values())))
    raise TypeError(f"a compiled program cannot put a {type(x).__name__} together: return tuples, lists or dicts")
