"""What PyTorch is doing just now: each a question of a few dozen nanoseconds, asked at every call."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import torch
from torch._C import _functorch
from torch.autograd import forward_ad

is_compiling, is_grad_enabled = torch.compiler.is_compiling, torch.is_grad_enabled
has_transforms = torch._C._are_functorch_transforms_active
unwrap = _functorch.unwrap_if_dead
"""A tensor of a transform that is over, as what it is outside."""

_callback = torch._C._dynamo.eval_frame.get_eval_frame_callback
_count_modes, _mode = torch._C._len_torch_dispatch_stack, torch._C._get_dispatch_mode
_WRITING = torch._C._TorchDispatchModeKey.PROXY, torch._C._TorchDispatchModeKey.FAKE


def uncompiled(f: Any) -> Any:
    """A function that PyTorch leaves as it is, wherever it is called.

    What is called within a program that it does not compile, as one under a transform of `torch.func`, it compiles by
    itself, with functions of its own in the place of NumPy's.
    """
    disabled = torch.compiler.disable(f)

    @functools.wraps(f)
    def call(*args: Any) -> Any:
        # The other takes 1.5 µs.
        return f(*args) if _callback() is None else disabled(*args)

    return call


def is_forward() -> bool:
    """Whether forward mode is on."""
    return forward_ad._current_level >= 0  # type: ignore[no-any-return]


def is_reverse_level() -> bool:
    """Whether the innermost of the transforms of torch.func is one of reverse mode."""
    return bool(_functorch.peek_interpreter_stack().key() == _functorch.TransformType.Grad)


def is_recorded() -> bool:
    """Whether operators are written down, or run on tensors without numbers.

    By `torch.jit.trace`, `make_fx`, `torch.func.linearize`: what NumPy computes would become a constant of the program.
    """
    return torch.jit.is_tracing() or (_count_modes() > 0 and any(_mode(key) is not None for key in _WRITING))


def are_plain(tensors: Sequence[Any]) -> bool:
    """Whether tensors are numbers alone, that nobody differentiates or writes down."""
    return not (any(x.requires_grad for x in tensors) or is_forward() or is_recorded())
