"""What PyTorch is doing just now: each a question of a few dozen nanoseconds, asked at every call."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from rulescore.backends.host.extras import framework

torch = framework("torch", "torch")

from torch._C import _functorch  # noqa: E402
from torch.autograd import forward_ad  # noqa: E402

is_compiling, is_grad_enabled = torch.compiler.is_compiling, torch.is_grad_enabled
has_transforms = torch._C._are_functorch_transforms_active
unwrap = _functorch.unwrap_if_dead
"""A tensor of a transform that is over, as what it is outside."""

_is_tracing, _count_modes, _get_mode = (
    torch.jit.is_tracing,
    torch._C._len_torch_dispatch_stack,
    torch._C._get_dispatch_mode,
)
_PROXY, _FAKE = torch._C._TorchDispatchModeKey.PROXY, torch._C._TorchDispatchModeKey.FAKE


_callback = torch._C._dynamo.eval_frame.get_eval_frame_callback


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


def is_only_level() -> bool:
    """Whether there is one transform of torch.func, and none around it."""
    return bool(_functorch.get_dynamic_layer_stack_depth() == 1)


def is_recorded() -> bool:
    """Whether operators are written down, or run on tensors without numbers.

    By `torch.jit.trace`, `make_fx`, `torch.func.linearize`: what NumPy computes would become a constant of the program.
    """
    if not _count_modes():
        return _is_tracing()  # type: ignore[no-any-return]
    return _is_tracing() or _get_mode(_PROXY) is not None or _get_mode(_FAKE) is not None


def are_plain(tensors: Sequence[Any]) -> bool:
    """Whether tensors are numbers alone, that nobody differentiates or writes down."""
    return not (any(x.requires_grad for x in tensors) or is_forward() or is_recorded())
