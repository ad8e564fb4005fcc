"""Calls of host functions from PyTorch, whose derivatives are such calls again: `host_call` chooses among the ways.

There is one for each mode of PyTorch. While a program is compiled or written down it is the custom operator; all else
that there is, the transforms of `torch.func`, forward mode and native mode, is served by the `torch.autograd.Function`
in `transformed`. Beside it stand two short cuts, which keep the pullback that a rule has made: `eager` for PyTorch as
it is, and `levels` for reverse mode of `torch.func`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch import Tensor

from rulescore.backends.host.functions import HostFunction
from rulescore.backends.torch.calls.eager import call_eagerly
from rulescore.backends.torch.calls.levels import call_at_level
from rulescore.backends.torch.calls.modes import (
    has_transforms,
    is_compiling,
    is_forward,
    is_grad_enabled,
    is_recorded,
    is_reverse_level,
    unwrap,
)
from rulescore.backends.torch.calls.transformed import Derivatives, TransformedCall, value
from rulescore.backends.torch.custom_operator import number_of, operator
from rulescore.backends.torch.native import NativeMode
from rulescore.backends.torch.tensors import all_tensors


def host_call(function: HostFunction, given: Sequence[Any]) -> tuple[Any, ...]:
    """The outputs of a function, as tensors that know how to be differentiated.

    Parameters
    ----------
    function : HostFunction
        The function.
    given : sequence of tensor or array
        Its arrays; those of NumPy's are constants.
    """
    if is_compiling():
        return tuple(operator(all_tensors(given), number_of(function)))
    has_levels, is_moved, is_written_down = has_transforms(), is_forward(), is_recorded()
    if not (has_levels or is_moved or is_written_down):
        given = [unwrap(x) if isinstance(x, Tensor) else x for x in given]
        if is_grad_enabled() and [x for x in given if isinstance(x, Tensor) and x.requires_grad]:
            return call_eagerly(function, *given)  # type: ignore[no-any-return]
        return value(function, given)
    tensors = list(map(unwrap, all_tensors(given)))
    if is_written_down and not (has_levels or is_moved):  # in forward mode the operator would answer zero
        return tuple(operator(tensors, number_of(function, True)))
    if has_levels and not is_written_down and is_reverse_level():
        return call_at_level(function, tensors)
    return TransformedCall.apply(function, None, *tensors)  # type: ignore[no-any-return]


def native_or_host_call(function: HostFunction, tensors: Sequence[Any], mode: NativeMode | None) -> tuple[Any, ...]:
    """`host_call`, or natively where that is asked for and can be."""
    if mode is not None and mode.takes(function, tensors):
        return TransformedCall.apply(function, mode, *tensors)  # type: ignore[no-any-return]
    return host_call(function, tensors)


Derivatives.call = native_or_host_call
