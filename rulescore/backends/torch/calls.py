"""Calls of host functions from PyTorch, whose derivatives are such calls again.

There are three kinds: by a lean `torch.autograd.Function` that keeps the rule's own pullback; by one that the
transforms of `torch.func` take apart; and, while a program is compiled, by a custom operator. For the first two there
is a short cut beside the general way, where a rule answers with one array.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from sys import getrefcount
from typing import Any

import numpy as np

from rulescore.backends.host.calls import HostCall, is_simple
from rulescore.backends.host.extras import framework
from rulescore.backends.host.functions import HostFunction
from rulescore.backends.torch.custom_operator import number_of, operator
from rulescore.backends.torch.native import NativeMode
from rulescore.backends.torch.tensors import (
    all_tensors,
    along_first,
    array_of,
    constant_tensor,
    has_derivative,
    owner_of,
    spread,
    tensor_of,
    tensors_of,
)
from rulescore.definitions.pullbacks import require_that_of_function
from rulescore.tangents.thunks import Thunk
from rulescore.tangents.zero import NoTangent

_NO_TANGENT = NoTangent()

torch = framework("torch", "torch")

from torch import Tensor  # noqa: E402
from torch._C import _functorch  # noqa: E402
from torch._functorch.pyfunctorch import retrieve_current_functorch_interpreter  # noqa: E402
from torch.autograd import Function, forward_ad  # noqa: E402
from torch.autograd.function import _SingleLevelFunction  # noqa: E402
from torch.compiler import is_compiling  # noqa: E402


def host_call(function: HostFunction, tensors: Sequence[Any]) -> tuple[Any, ...]:
    """The outputs of a function, as tensors that know how to be differentiated."""
    if is_compiling():
        return tuple(operator(list(tensors), number_of(function)))
    return uncompiled_call(function, tensors)


def uncompiled_call(function: HostFunction, given: Sequence[Any]) -> tuple[Any, ...]:
    """`host_call`, where nothing is compiled, of tensors and of arrays of NumPy's beside them."""
    is_recorded = count_modes() and _is_recorded()
    if has_transforms() and not is_recorded and _is_reverse_mode():
        return _at_level(function, [unwrap(x) if isinstance(x, Tensor) else x for x in given])
    tensors = list(map(unwrap, all_tensors(given)))
    is_forward = forward_ad._current_level >= 0
    if has_transforms() or (is_recorded and is_forward):
        # The operator has no forward mode: it would answer a tangent of zero.
        return _TransformedCall.apply(function, None, *tensors)  # type: ignore[no-any-return]
    if is_recorded:
        return tuple(operator(list(tensors), number_of(function)))
    if is_forward or (is_grad_enabled() and any(x.requires_grad for x in tensors)):
        if isinstance(function, HostCall):
            _keep_simple_call(function, given)
        return _call_eagerly(function, *tensors)  # type: ignore[no-any-return]
    return _value(function, tensors)


is_grad_enabled, unwrap = torch.is_grad_enabled, _functorch.unwrap_if_dead
count_modes, has_transforms = torch._C._len_torch_dispatch_stack, torch._C._are_functorch_transforms_active
_PROXY, _FAKE = torch._C._TorchDispatchModeKey.PROXY, torch._C._TorchDispatchModeKey.FAKE


def _is_reverse_mode() -> bool:
    """Whether the innermost of the transforms of torch.func is."""
    is_it: bool = _functorch.peek_interpreter_stack().key() == _functorch.TransformType.Grad
    return is_it


def _is_recorded() -> bool:
    """Whether operators are written down, or run on tensors without numbers (`make_fx`, `torch.func.linearize`)."""
    # What NumPy computes would become a constant of the program.
    if not count_modes():
        return False
    get_mode = torch._C._get_dispatch_mode
    return get_mode(_PROXY) is not None or get_mode(_FAKE) is not None


def _value(function: HostFunction, tensors: Sequence[Any]) -> tuple[Any, ...]:
    """The outputs, as tensors that know nothing."""
    if _is_recorded():
        return tuple(operator(list(tensors), number_of(function)))
    arrays = [array_of(x) for x in tensors]
    return tensors_of(function(arrays), arrays, tensors)


class _EagerCall(Function):  # type: ignore[misc]
    """Keeps the pullback of the rule, and calls it in the backward pass."""

    # In the old style, with the context in forward: setup_context costs 10 µs more, and each attribute 0.3.
    @staticmethod
    def forward(ctx: Any, function: HostFunction, *tensors: Any) -> tuple[Any, ...]:
        return _forward(ctx, function, tensors, ctx.needs_input_grad[1:])

    @staticmethod
    def backward(ctx: Any, *ybars: Any) -> tuple[Any, ...]:
        return None, *_backward(ctx, ybars)

    @staticmethod
    def jvp(ctx: Any, _: Any, *tangents: Any) -> tuple[Any, ...]:
        return _jvp(ctx, tangents)


def _forward(ctx: Any, function: HostFunction, tensors: Sequence[Any], needs: tuple[bool, ...]) -> tuple[Any, ...]:
    arrays = list(map(array_of, tensors))
    ctx.save_for_backward(*tensors)
    values, pull = function.vjp(arrays, needs) if True in needs else (function(arrays), None)
    outputs = tensors_of(values, arrays, tensors)
    if forward_ad._current_level >= 0:
        ctx.save_for_forward(*tensors)
    ctx.kept = function, needs, pull, arrays, [y.detach() for y in outputs], _describe_outputs(ctx, outputs)
    return outputs


def _backward(ctx: Any, ybars: Sequence[Any]) -> tuple[Any, ...]:
    function, needs, pull, arrays, aliases, _ = ctx.kept
    tensors = ctx.saved_tensors  # PyTorch checks that nobody has written into them
    ybars = _seeds(ctx, ybars)
    if is_grad_enabled() or is_compiling():  # compiled autograd leaves the operator as it is
        return spread(host_call(function.pullback(needs), [*tensors, *ybars]), needs)
    if any(y._version for y in aliases):
        _, pull = function.vjp(arrays, needs)
    seeds = list(map(array_of, ybars))
    return spread(tensors_of(pull(seeds), seeds + arrays, tensors), needs)


def _jvp(ctx: Any, tangents: Sequence[Any]) -> tuple[Any, ...]:
    function, *_, differentiable = ctx.kept
    return _pushed(function, ctx.saved_tensors, tangents, differentiable)


# `Function.apply` would ask after transforms again, and `apply` of the backward class which of several methods to call.
_call_eagerly = super(Function, _EagerCall).apply
_EagerCall._backward_cls.apply = _EagerCall.backward


class _SimpleCall(Function):  # type: ignore[misc]
    """Keeps the pullback of a rule that answers with one array: much of `_EagerCall` written out.

    It takes arrays of NumPy's beside the tensors. A class for each function and kinds of what it takes, since an
    argument that is neither costs 0.4 µs; the function keeps what calls it.
    """

    @staticmethod
    def forward(ctx: Any, *given: Any) -> tuple[Any, ...]:
        function, needs = ctx.function, ctx.needs_input_grad
        found = _by_simple_rule(function, needs, given)
        if found is None:
            return _forward(ctx, function, all_tensors(given), needs)
        y, pullback, arrays, tensors, is_held = found
        ctx.save_for_backward(*tensors)
        ctx.kept = function, needs, pullback, arrays, y.detach() if is_held else None
        return (y,)

    @staticmethod
    def backward(ctx: Any, *ybars: Any) -> tuple[Any, ...]:
        if len(ctx.kept) != 5:  # no simple rule was called
            return _backward(ctx, ybars)
        function, needs, pullback, arrays, alias = ctx.kept
        tensors, (ybar,) = ctx.saved_tensors, ybars
        if is_grad_enabled() or is_compiling():
            return spread(host_call(function.pullback(needs), [*_every_tensor(ctx, arrays, tensors), ybar]), needs)
        if alias is not None and alias._version:
            _, pullback = function.simple_rules[needs](*arrays)
        return _cotangents(function, needs, pullback, arrays, tensors, array_of(ybar))

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> tuple[Any, ...]:
        return _jvp(ctx, tangents)


def _by_simple_rule(
    function: HostCall, needs: tuple[bool, ...], given: Sequence[Any]
) -> tuple[Any, Any, list[Any], list[Any], bool] | None:
    """The result, the pullback, all arrays, the tensors, and whether the pullback holds the result.

    None where no simple rule answers, or an argument is more than an array on the CPU.
    """
    rule = function.simple_rules.get(needs)
    if rule is None or not function.returns_one_array or forward_ad._current_level >= 0:
        return None
    arrays: list[Any] = []
    tensors = []
    try:
        for x in given:
            if isinstance(x, Tensor) and x.is_cpu:
                tensors.append(x)
                array = x.numpy(force=True)
            elif type(x) is np.ndarray and x.ndim:
                array = x.view()
            else:
                return None
            array.setflags(False)  # not writeable
            arrays.append(array if array.ndim else array[()])
    except (TypeError, RuntimeError):  # `array_of` says why
        return None
    found = rule(*arrays)
    if found is None or not is_simple(found[0]):
        return None
    value, pullback = found
    references = getrefcount(found[0])
    is_held = _is_held(value, references)
    y = tensors_of([value], arrays, tensors)[0] if owner_of(value) is None else tensor_of(value)
    return y, pullback, arrays, tensors, is_held


def _cotangents(
    function: HostCall, needs: tuple[bool, ...], pullback: Any, arrays: list[Any], tensors: Sequence[Any], seed: Any
) -> tuple[Any, ...]:
    """What the pullback of a simple rule answers, as tensors."""
    bars = pullback(seed)
    if bars[0] is not _NO_TANGENT:
        require_that_of_function(bars)
    found: list[Any] = []
    owners = []
    for place, x, need in zip(function.places, arrays, needs, strict=True):
        if need:
            bar = _at(place, bars)
            owner = owner_of(bar)
            if owner is None or bar.shape != x.shape or id(owner) in owners:
                return spread(tensors_of(function.cotangents(bars, arrays, needs), [seed, *arrays], tensors), needs)
            owners.append(id(owner))
            found.append(tensor_of(bar))
        else:
            found.append(None)
    return tuple(found)


def _every_tensor(ctx: Any, arrays: list[Any], tensors: Sequence[Any]) -> list[Any]:
    """The tensors of a simple call, and constants of the arrays beside them."""
    given = iter(tensors)
    return [
        next(given) if is_tensor else constant_tensor(x) for x, is_tensor in zip(arrays, ctx.are_tensors, strict=True)
    ]


def _at(place: int, bars: Sequence[Any]) -> Any:
    """A cotangent, computed; None where the pullback has stopped before."""
    bar = bars[place] if len(bars) > place else None
    return bar.force() if type(bar) is Thunk else bar


class _CallOfOneArray(_SimpleCall):
    """One array by the rule of one array: `_SimpleCall` with all written out that it calls, worth 0.5 to 1 µs of 25."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> tuple[Any, ...]:
        function = ctx.function
        rule = function.simple_rules.get(ctx.needs_input_grad)
        if rule is None or not function.returns_one_array or forward_ad._current_level >= 0 or not x.is_cpu:
            return _SimpleCall.forward(ctx, x)
        try:
            array = x.numpy(force=True)
        except (TypeError, RuntimeError):  # `array_of` says why
            return _SimpleCall.forward(ctx, x)
        array.setflags(False)
        if not array.ndim:
            array = array[()]
        found = rule(array)
        if found is None:
            return _SimpleCall.forward(ctx, x)
        value, pullback = found
        references = getrefcount(found[0])
        if type(value) is np.ndarray and value.base is None and value.dtype.kind in "fc" and value.flags.writeable:
            is_held, y = references != _ALONE, tensor_of(value)
        elif is_simple(value):
            is_held, (y,) = _is_held(value, references), tensors_of([value], [array], [x])
        else:
            return _SimpleCall.forward(ctx, x)
        ctx.save_for_backward(x)
        ctx.kept = function, ONE, pullback, [array], y.detach() if is_held else None
        return (y,)


def _pulled_back(ctx: Any, *ybars: Any) -> Any:
    """`_SimpleCall.backward` where one cotangent is needed: `_cotangents` written out, worth 0.9 µs of 25."""
    kept = ctx.kept
    if len(kept) != 5 or is_grad_enabled():
        return _SimpleCall.backward(ctx, *ybars)
    function, needs, pullback, arrays, alias = kept
    tensors, (ybar,), (index, place) = ctx.saved_tensors, ybars, ctx.place
    if alias is not None and alias._version:
        _, pullback = function.simple_rules[needs](*arrays)
    seed = array_of(ybar)
    bars = pullback(seed)
    if bars[0] is not _NO_TANGENT:
        require_that_of_function(bars)
    bar = _at(place, bars)
    if owner_of(bar) is not None and bar.shape == arrays[index].shape:
        found = (tensor_of(bar),)
    else:
        found = tensors_of(function.cotangents(bars, arrays, needs), [seed, *arrays], tensors)
    return found if len(needs) == 1 else spread(found, needs)


def _keep_simple_call(function: HostCall, given: Sequence[Any]) -> None:
    """Have a function keep what calls it by a simple rule, where there is one for these kinds of arguments."""
    kinds = kinds_of(given)
    if tuple(map(bool, kinds)) not in function.simple_rules or kinds in function.kept:
        return
    kind: Any = type("EagerCall", (_CallOfOneArray if kinds == ONE else _SimpleCall,), {})
    kind._backward_cls.function, kind._backward_cls.are_tensors = function, [each is not None for each in kinds]
    kind._backward_cls.apply = _SimpleCall.backward
    if kinds.count(True) == 1:
        index = kinds.index(True)
        kind._backward_cls.place, kind._backward_cls.apply = (index, function.places[index]), _pulled_back
    function.kept[kinds] = super(Function, kind).apply


def kinds_of(given: Sequence[Any]) -> tuple[bool | None, ...]:
    """Whether tensors are differentiated; None stands for an array of NumPy's."""
    return tuple([x.requires_grad if isinstance(x, Tensor) else None for x in given])


ONE = (True,)


def _is_held(value: Any, references: int) -> bool:
    """Whether something else has the memory of the value that a rule returned: its pullback, as far as one knows.

    Then an alias of the tensor tells whether somebody has written into it, and the pullback is made anew.
    """
    base = value.base
    if references != _ALONE or base is None:
        return references != _ALONE
    return type(base) is not np.ndarray or base.base is not None or getrefcount(base) != _BASE_ALONE


def _references(found: tuple[Any, Any]) -> tuple[int, int]:
    value, _pullback = found  # as where they are counted
    base = value.base
    return getrefcount(found[0]), getrefcount(base)


_ALONE, _BASE_ALONE = _references((np.empty((1, 2))[0], None))
"""References to a value that a rule returned, and to what it is a view of, when nothing else refers to them."""


def _describe_outputs(ctx: Any, outputs: Sequence[Any]) -> list[bool]:
    """Which outputs have a derivative. Keeps it, and what zeros for those look like that get no cotangent."""
    ctx.set_materialize_grads(False)
    ctx.differentiable = [has_derivative(y) for y in outputs]
    constant = [y for y, has_one in zip(outputs, ctx.differentiable, strict=True) if not has_one]
    if constant:
        ctx.mark_non_differentiable(*constant)
    ctx.zeros = [functools.partial(torch.zeros, y.shape, dtype=y.dtype, device=y.device) for y in outputs]
    return ctx.differentiable  # type: ignore[no-any-return]


def _seeds(ctx: Any, ybars: Sequence[Any]) -> tuple[Any, ...]:
    """The cotangents of the outputs that have one. Autograd does not make the zeros, as it would for tangents too."""
    described = zip(ybars, ctx.zeros, ctx.differentiable, strict=True)
    return tuple([zeros() if ybar is None else ybar for ybar, zeros, has_one in described if has_one])


class _LevelCall(_SingleLevelFunction):  # type: ignore[misc]
    """One level of reverse mode of torch.func, as PyTorch makes it of a Function; but it makes a class for each call.

    Keeps the pullback of the rule, as `_EagerCall` does. ``value`` computes the function where that is known better.
    """

    @staticmethod
    def forward(ctx: Any, function: HostFunction, value: Any, *tensors: Any) -> tuple[Any, ...]:
        return _forward_at_level(ctx, function, value, tensors, ctx.needs_input_grad[2:])

    @staticmethod
    def backward(ctx: Any, *ybars: Any) -> tuple[Any, ...]:
        return None, None, *_backward_at_level(ctx, ybars)


_LevelCall._backward_cls.apply = _LevelCall.backward


def _forward_at_level(
    ctx: Any, function: HostFunction, value: Any, tensors: Sequence[Any], needs: tuple[bool, ...]
) -> tuple[Any, ...]:
    level, pull, arrays = _functorch.current_level(), None, None
    below = [_functorch._unwrap_for_grad(x, level) for x in tensors]
    if _is_only_level() and _is_plain(below):  # nothing else is going on
        transform = _functorch.pop_dynamic_layer_stack()
        try:
            arrays = list(map(array_of, below))
            if value is not None:
                values = value(arrays)
            elif isinstance(function, HostCall) and True in needs:
                values, pull = function.vjp(arrays, needs)
            else:
                values = function(arrays)
            outputs = tensors_of(values, arrays, below)
        finally:
            _functorch.push_dynamic_layer_stack(transform)
    else:
        with (
            retrieve_current_functorch_interpreter().lower(),
            torch.enable_grad(),
            forward_ad._set_fwd_grad_enabled(True),
        ):
            outputs = host_call(function, below)
    ctx.save_for_backward(*tensors)
    wrapped = tuple([_functorch._wrap_for_grad(y, level) for y in outputs])
    is_one = len(wrapped) == 1 and has_derivative(wrapped[0])
    differentiable = None if is_one else _describe_outputs(ctx, wrapped)
    ctx.kept = function, needs, pull, arrays, differentiable, outputs if pull is not None else ()
    return wrapped


def _backward_at_level(ctx: Any, ybars: Sequence[Any]) -> tuple[Any, ...]:
    function, needs, pull, given, differentiable, outputs = ctx.kept
    tensors = list(map(unwrap, ctx.saved_tensors))
    if differentiable is not None:
        ybars = _seeds(ctx, ybars)
    seeds = list(map(unwrap, ybars))
    for y in outputs:
        if y._version:  # as in `_EagerCall`
            _, pull = function.vjp(given, needs)
            break
    if pull is not None and not has_transforms() and _is_plain(seeds):
        arrays = list(map(array_of, seeds))
        bars = tensors_of(pull(arrays), [*arrays, *given], tensors)
    else:
        bars = _bars_at_level(function, needs, pull, tensors, seeds)
    return bars if False not in needs else spread(bars, needs)


def _bars_at_level(
    function: HostFunction, needs: tuple[bool, ...], pull: Any, tensors: list[Any], seeds: list[Any]
) -> tuple[Any, ...]:
    """Cotangents, as tensors that know how to be differentiated."""
    if pull is None or not has_transforms() or not _is_reverse_mode():
        return host_call(function.pullback(needs), [*tensors, *seeds])
    count = len(tensors)
    call = functools.partial(_LevelCall.apply, function.pullback(needs), lambda arrays: pull(arrays[count:]))
    return _at_one_level(call, [*tensors, *seeds])


class _SimpleLevelCall(_SingleLevelFunction):  # type: ignore[misc]
    """`_LevelCall` by a simple rule, as `_SimpleCall` is of `_EagerCall`."""

    @staticmethod
    def forward(ctx: Any, *given: Any) -> tuple[Any, ...]:
        function, needs, level, found = ctx.function, ctx.needs_input_grad, _functorch.current_level(), None
        below = [_functorch._unwrap_for_grad(x, level) if isinstance(x, Tensor) else x for x in given]
        if _is_only_level() and _is_plain([x for x in below if isinstance(x, Tensor)]):
            transform = _functorch.pop_dynamic_layer_stack()
            try:
                found = _by_simple_rule(function, needs, below)
            finally:
                _functorch.push_dynamic_layer_stack(transform)
        if found is None:
            return _forward_at_level(ctx, function, None, all_tensors(given), needs)
        y, pullback, arrays, _, is_held = found
        ctx.save_for_backward(*[x for x in given if isinstance(x, Tensor)])
        ctx.kept = function, needs, pullback, arrays, y if is_held else None
        return (_functorch._wrap_for_grad(y, level),)

    @staticmethod
    def backward(ctx: Any, *ybars: Any) -> tuple[Any, ...]:
        if len(ctx.kept) != 5:
            return _backward_at_level(ctx, ybars)
        function, needs, pullback, arrays, y = ctx.kept
        tensors, seed = list(map(unwrap, ctx.saved_tensors)), unwrap(ybars[0])
        if y is not None and y._version:
            _, pullback = function.simple_rules[needs](*arrays)
        if not has_transforms() and _is_plain([seed]):
            return _cotangents(function, needs, pullback, arrays, tensors, array_of(seed))

        def pull(seeds: Sequence[Any]) -> Any:
            return function.cotangents(pullback(seeds[0]), arrays, needs)

        return spread(_bars_at_level(function, needs, pull, _every_tensor(ctx, arrays, tensors), [seed]), needs)


def _at_level(function: HostFunction, given: Sequence[Any]) -> tuple[Any, ...]:
    """`uncompiled_call` under a reverse mode of torch.func."""
    types = tuple(map(type, given))
    if types in function.kept:
        return _at_one_level(function.kept[types], given)
    if function.simple_rules:
        kind: Any = type("LevelCall", (_SimpleLevelCall,), {})
        kind._backward_cls.function, kind._backward_cls.apply = function, _SimpleLevelCall.backward
        kind._backward_cls.are_tensors = [issubclass(each, Tensor) for each in types]
        function.kept[types] = kind.apply
    return _at_one_level(functools.partial(_LevelCall.apply, function, None), all_tensors(given))


def _at_one_level(call: Callable[..., tuple[Any, ...]], given: Sequence[Any]) -> tuple[Any, ...]:
    """Have PyTorch allow functions for one level, which it does not allow anybody else."""
    was_allowed = _functorch.get_single_level_autograd_function_allowed()
    _functorch.set_single_level_autograd_function_allowed(True)
    try:
        return call(*given)
    finally:
        _functorch.set_single_level_autograd_function_allowed(was_allowed)


def _is_only_level() -> bool:
    depth: int = _functorch.get_dynamic_layer_stack_depth()
    return depth == 1


def _is_plain(tensors: Sequence[Any]) -> bool:
    """Whether tensors are numbers alone, that nobody differentiates."""
    for x in tensors:
        if x.requires_grad:
            return False
    return forward_ad._current_level < 0 and not _is_recorded()


class _TransformedCall(Function):  # type: ignore[misc]
    """For the transforms of torch.func, which take forward, backward and jvp apart; and for native mode."""

    @staticmethod
    def forward(function: HostFunction, mode: NativeMode | None, *tensors: Any) -> tuple[Any, ...]:
        return _value(function, tensors) if mode is None else tuple(mode.system.natively(function)(*tensors))

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: tuple[Any, ...]) -> None:
        ctx.function, ctx.mode, *tensors = inputs
        ctx.save_for_backward(*tensors)
        ctx.save_for_forward(*tensors)
        _describe_outputs(ctx, output)

    @staticmethod
    def backward(ctx: Any, *ybars: Any) -> tuple[Any, ...]:
        needs = ctx.needs_input_grad[2:]
        bars = native_or_host_call(ctx.function.pullback(needs), [*ctx.saved_tensors, *_seeds(ctx, ybars)], ctx.mode)
        return None, None, *spread(bars, needs)

    @staticmethod
    def jvp(ctx: Any, _: Any, __: Any, *tangents: Any) -> tuple[Any, ...]:
        return _pushed(ctx.function, ctx.saved_tensors, tangents, ctx.differentiable, ctx.mode)

    @staticmethod
    def vmap(
        info: Any, in_dims: tuple[Any, ...], function: HostFunction, mode: NativeMode | None, *tensors: Any
    ) -> tuple[Any, Any]:
        batches = along_first(info, in_dims[2:], tensors)
        if mode is not None:  # the forward mode of PyTorch refuses what was expanded
            batches = [x.contiguous() for x in batches]
        outputs = native_or_host_call(function.batched(), batches, mode)
        return outputs, (0,) * len(outputs)


def native_or_host_call(function: HostFunction, tensors: Sequence[Any], mode: NativeMode | None) -> tuple[Any, ...]:
    """`host_call`, or natively where that is asked for and can be."""
    if mode is not None and mode.takes(function, tensors):
        return _TransformedCall.apply(function, mode, *tensors)  # type: ignore[no-any-return]
    return host_call(function, tensors)


def _pushed(
    function: HostFunction, tensors: Any, tangents: Any, differentiable: list[bool], mode: NativeMode | None = None
) -> tuple[Any, ...]:
    needs = tuple([dx is not None for dx in tangents])
    directions = [dx for dx in tangents if dx is not None]
    return tuple(
        spread(native_or_host_call(function.pushforward(needs), [*tensors, *directions], mode), differentiable)
    )
