"""`TorchConfig`: PyTorch for rules that call back into AD."""

from __future__ import annotations

import functools
from typing import Any

import optree

from rulescore.backends.host.extras import framework
from rulescore.tables.features import HasForwardMode, HasReverseMode
from rulescore.tangents.thunks import unthunk
from rulescore.tangents.zero import AbstractZero, NoTangent

torch = framework("torch", "torch")


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
