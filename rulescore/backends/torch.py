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
from rulescore.backends.foreign_functions import ForeignFunction, as_function_of_arrays
from rulescore.backends.host_functions import Call, Calls, HostFunction, is_differentiable
from rulescore.config import HasForwardMode, HasReverseMode
from rulescore.thunks import unthunk
from rulescore.zero import AbstractZero, NoTangent

torch = framework("torch", "torch")

from torch.autograd import Function, forward_ad  # noqa: E402

# ---------------------------------------------------------------- tensors and arrays


def _array(tensor: Any) -> Any:
    """The array with a tensor's memory; a number of NumPy's where it is one, which more functions take."""
    try:
        array = tensor.detach().numpy()
        array.flags.writeable = False  # PyTorch would not know what was written
        return array[()]
    except (TypeError, RuntimeError):
        pass
    if tensor.device.type != "cpu":
        _warn_of_device(tensor.device)
    try:
        return tensor.numpy(force=True)[()]  # on another device, or conjugated when it is read
    except TypeError as error:
        raise TypeError(
            f"NumPy has no arrays of {tensor.dtype} ({error}): convert the tensor with .to(torch.float32)"
        ) from None
    except RuntimeError as error:
        raise RuntimeError(
            f"a function made by to_torch got a tensor without numbers of its own ({error}). Where that comes from "
            "is_grads_batched=True or vectorize=True, use torch.func.vmap, jacrev or jacfwd instead"
        ) from error


@functools.cache
def _warn_of_device(device: Any) -> None:
    warnings.warn(
        f"a function made by to_torch got a tensor on {device}: it is copied to the CPU, where the function runs, and "
        "the results back, at every call",
        RuntimeWarning,
        stacklevel=2,
    )


def _tensors(arrays: Sequence[Any], given: Sequence[Any], tensors: Sequence[Any]) -> tuple[Any, ...]:
    """Tensors with the memory of arrays, or of copies of those that share it with what was given or with each other."""
    found = []
    taken = list(given)
    for array in arrays:
        array = np.asarray(array)
        if array.base is None:
            if any(array is x for x in taken):
                array = array.copy()
        elif not array.flags.writeable or any(np.may_share_memory(array, x) for x in taken):
            array = array.copy()
        elif min(array.strides, default=0) < 0:
            array = np.ascontiguousarray(array)
        taken.append(array)
        try:
            found.append(torch.from_numpy(array))
        except TypeError as error:
            raise TypeError(f"PyTorch has no tensors of {array.dtype}: return another dtype") from error
    if tensors and not tensors[0].is_cpu:
        return tuple([y.to(tensors[0].device) for y in found])
    return tuple(found)


# ---------------------------------------------------------------- three ways to call a function


def host_call(function: HostFunction, tensors: Sequence[Any]) -> tuple[Any, ...]:
    """The outputs of a function, as tensors that know how to be differentiated."""
    if torch.compiler.is_compiling():
        return tuple(_operator(list(tensors), _number_of(function)))
    is_forward = forward_ad._current_level >= 0
    is_recorded = _is_recorded()
    # The operator has no forward mode: it would answer a tangent of zero.
    if torch._C._are_functorch_transforms_active() or (is_recorded and is_forward):
        return _TransformedCall.apply(function, *tensors)  # type: ignore[no-any-return]
    if is_recorded:
        return tuple(_operator(list(tensors), _number_of(function)))
    if is_forward or (torch.is_grad_enabled() and any(x.requires_grad for x in tensors)):
        return _EagerCall.apply(function, *tensors)  # type: ignore[no-any-return]
    return _value(function, tensors)


_PROXY, _FAKE = torch._C._TorchDispatchModeKey.PROXY, torch._C._TorchDispatchModeKey.FAKE


def _is_recorded() -> bool:
    """Whether operators are written down, or run on tensors without numbers (`make_fx`, `torch.func.linearize`)."""
    # What NumPy computes would become a constant of the program.
    get_mode = torch._C._get_dispatch_mode
    return get_mode(_PROXY) is not None or get_mode(_FAKE) is not None


def _value(function: HostFunction, tensors: Sequence[Any]) -> tuple[Any, ...]:
    """The outputs, as tensors that know nothing."""
    if _is_recorded():
        return tuple(_operator(list(tensors), _number_of(function)))
    arrays = [_array(x) for x in tensors]
    return _tensors(function(arrays), arrays, tensors)


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
        ctx.arrays = arrays
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
            bars = _tensors(ctx.pull(arrays), [*arrays, *ctx.arrays], tensors)
        return None, *_spread(bars, ctx.needs)

    @staticmethod
    def jvp(ctx: Any, _: Any, *tangents: Any) -> tuple[Any, ...]:
        return _pushed(ctx.function, ctx.saved_tensors, tangents, ctx.differentiable)


class _TransformedCall(Function):  # type: ignore[misc]
    """For the transforms of torch.func, which take forward, backward and jvp apart."""

    @staticmethod
    def forward(function: HostFunction, *tensors: Any) -> tuple[Any, ...]:
        return _value(function, tensors)

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
        outputs = host_call(function.batched(), _along_first(info, in_dims[1:], tensors))
        return outputs, (0,) * len(outputs)


def _along_first(info: Any, dims: Sequence[int | None], tensors: Sequence[Any]) -> list[Any]:
    return [
        x.expand(info.batch_size, *x.shape) if dim is None else x.movedim(dim, 0)
        for x, dim in zip(tensors, dims, strict=True)
    ]


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
    if forward_ad._current_level >= 0:
        raise NotImplementedError(
            f"forward mode of {_numbered[number].name} within a compiled program: the operator that it is there has no "
            "derivative in forward mode. Differentiate the compiled function, or leave this part uncompiled"
        )
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


def _operator_vmap(info: Any, in_dims: Any, tensors: list[Any], number: int) -> tuple[list[Any], list[int]]:
    along_first = _along_first(info, in_dims[0], tensors)
    outputs = _operator(along_first, _number_of(_numbered[number].batched()))
    return outputs, [0] * len(outputs)


_operator.register_vmap(_operator_vmap)
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


# ---------------------------------------------------------------- functions from PyTorch


class _TorchFunction(ForeignFunction):
    """A function of tensors."""

    def value(self, arrays: Sequence[Any]) -> list[Any]:
        with torch.no_grad():
            return _as_numpy(self.function(*map(_as_tensor, arrays)))

    def vjp(self, arrays: Sequence[Any]) -> tuple[list[Any], Callable[[Sequence[Any]], list[Any]]]:
        tensors = [_as_tensor(x).requires_grad_(is_differentiable(x)) for x in arrays]
        with torch.enable_grad():
            outputs = self.function(*tensors)

        def pull(ybars: Sequence[Any]) -> list[Any]:
            return _as_numpy(_pulled(outputs, tensors, ybars))

        return _as_numpy(outputs), pull

    def jvp(self, arrays: Sequence[Any], tangents: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        outputs, dys = _pushed_forward(self.function, [*map(_as_tensor, arrays)], [*map(_as_tensor, tangents)])
        return _as_numpy(outputs), _as_numpy(dys)

    def pullback(self, count: int) -> _TorchFunction:
        def pullback(*tensors: Any) -> list[Any]:
            of_chosen, chosen = _of_chosen(self.function, tensors[:count])
            outputs, pull = torch.func.vjp(lambda *xs: [y for y in of_chosen(*xs) if _has_derivative(y)], *chosen)
            seeds = [ybar.to(y.dtype) for y, ybar in zip(outputs, tensors[count:], strict=True)]
            return list(pull(seeds))

        return _TorchFunction(pullback, f"the pullback of {self.name}")

    def pushforward(self, count: int) -> _TorchFunction:
        def pushforward(*tensors: Any) -> list[Any]:
            return _pushed_forward(self.function, list(tensors[:count]), list(tensors[count:]))[1]

        return _TorchFunction(pushforward, f"the pushforward of {self.name}")


def _has_derivative(x: Any) -> bool:
    return x.is_floating_point() or x.is_complex()  # type: ignore[no-any-return]


def _as_tensor(x: Any) -> Any:
    return torch.from_numpy(np.array(x))  # a copy: the function may write into it


def _as_numpy(outputs: Sequence[Any]) -> list[Any]:
    return [y.numpy(force=True)[()] for y in outputs]


def _pulled(outputs: Sequence[Any], tensors: Sequence[Any], ybars: Sequence[Any]) -> list[Any]:
    """The cotangents of the tensors that have one."""
    given = iter(ybars)
    seeds = [(y, _as_tensor(next(given)).to(y.dtype)) for y in outputs if _has_derivative(y)]
    related = [(y, seed) for y, seed in seeds if y.requires_grad]
    asked = [x for x in tensors if _has_derivative(x)]
    if not related or not asked:
        return [torch.zeros_like(x) for x in asked]
    ys, seeds_of = zip(*related, strict=True)
    return list(torch.autograd.grad(ys, asked, seeds_of, allow_unused=True, materialize_grads=True, retain_graph=True))


def _of_chosen(function: Any, tensors: Sequence[Any]) -> tuple[Callable[..., tuple[Any, ...]], list[Any]]:
    """A function of those tensors that have a derivative, and these."""

    def of_chosen(*chosen: Any) -> tuple[Any, ...]:
        given = iter(chosen)
        return tuple(function(*[next(given) if _has_derivative(x) else x for x in tensors]))

    return of_chosen, [x for x in tensors if _has_derivative(x)]


def _pushed_forward(function: Any, tensors: Sequence[Any], tangents: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    of_chosen, chosen = _of_chosen(function, tensors)
    directions = tuple([dx.to(x.dtype) for x, dx in zip(chosen, tangents, strict=True)])
    outputs, dys = torch.func.jvp(of_chosen, tuple(chosen), directions)
    return list(outputs), [dy for y, dy in zip(outputs, dys, strict=True) if _has_derivative(y)]


def from_torch(g: Callable[..., Any]) -> Callable[..., Any]:
    """A function of NumPy arrays, with rules, from one of PyTorch tensors.

    Parameters
    ----------
    g : callable
        A function or a module. Its arguments and results are tensors and nested containers of them; its parameters are
        constants.

    Returns
    -------
    callable
        With the arguments of ``g``, which PyTorch differentiates, to any order. It takes and returns NumPy arrays, and
        is a `rulescore.ad.primitive` with an ``frule`` and an ``rrule``, so that the testers and all other systems take
        it.

    Raises
    ------
    TypeError
        When ``g`` cannot be called.

    Examples
    --------
    >>> import numpy as np, torch
    >>> from rulescore.ad import grad
    >>> from rulescore.backends.torch import from_torch
    >>> softplus = from_torch(torch.nn.functional.softplus)
    >>> grad(softplus)(np.float64(0.0))
    np.float64(0.5)
    """
    _load_forward_mode()
    return as_function_of_arrays(g, "from_torch", _TorchFunction)


@functools.cache
def _load_forward_mode() -> None:
    """Have PyTorch load what its forward mode needs, which warns about PyTorch's own code."""
    with warnings.catch_warnings(), forward_ad.dual_level():
        warnings.simplefilter("ignore", DeprecationWarning)
        forward_ad.make_dual(torch.zeros(()), torch.zeros(()))


# ---------------------------------------------------------------- for rules that call back into AD


class TorchConfig(HasReverseMode, HasForwardMode):
    """PyTorch for rules of higher-order functions: they hand it functions of tensors."""

    def rrule_via_ad(self, f: Any, /, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
        y, pull = torch.func.vjp(functools.partial(f, **kwargs), *args)

        def pullback(ybar: Any) -> tuple[Any, ...]:
            ybar = unthunk(ybar)
            seed = optree.tree_map(torch.zeros_like, y) if isinstance(ybar, AbstractZero) else ybar
            return (NoTangent(), *pull(seed))

        return y, pullback

    def frule_via_ad(self, tangents: tuple[Any, ...], f: Any, /, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
        directions = [
            optree.tree_map(torch.zeros_like, x) if isinstance(dx, AbstractZero) else unthunk(dx)
            for x, dx in zip(args, tangents[1:], strict=True)
        ]
        return torch.func.jvp(functools.partial(f, **kwargs), args, tuple(directions))  # type: ignore[no-any-return]
