"""Functions with rules as JAX, PyTorch and HIPS autograd call them: by the adapter, and in the ways beside it.

What imports a system is imported within the functions, so that each can be missing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from rules.operators import pool, pool_sum, rotary_embedding, segments
from rulescore import NoTangent, frule, rrule, unthunk


def sine(x: Any) -> Any:
    """A function whose rule costs what its mathematics costs."""
    return np.sin(x)


@rrule.register(sine)
def sine_rrule(x: Any) -> Any:
    return np.sin(x), lambda ybar: (NoTangent(), ybar * np.cos(x))


@frule.register(sine)
def sine_frule(tangents: Any, x: Any) -> Any:
    return np.sin(x), tangents[1] * np.cos(x)


@dataclass
class Case:
    """A function, what it is differentiated with respect to, and its further arguments."""

    function: Callable[..., Any]
    x: Any
    further: tuple[Any, ...] = ()


def normal(*shape: int) -> Any:
    return np.random.default_rng(0).standard_normal(shape)


def blocks(size: int) -> tuple[Any, Any]:
    return segments(size, 3), segments(size, 2)


def frequencies(dimension: int) -> Any:
    return 10000.0 ** (-2 * np.arange(dimension // 2) / dimension)


CASES = {
    "sin, 3 entries": Case(sine, normal(3)),
    "sin, 10⁶ entries": Case(sine, normal(1_000_000)),
    "pool_sum, 12 × 12": Case(pool_sum, normal(12, 12), blocks(12)),
    "pool_sum, 100 × 100": Case(pool_sum, normal(100, 100), blocks(100)),
    "Hausdorff pooling, 12 × 12": Case(pool, np.abs(normal(12, 12)), (*blocks(12), "hausdorff")),
    "Hausdorff pooling, 100 × 100": Case(pool, np.abs(normal(100, 100)), (*blocks(100), "hausdorff")),
    "rotary embedding, 8 × 8": Case(rotary_embedding, normal(8, 8), (frequencies(8),)),
    "rotary embedding, 128 × 64": Case(rotary_embedding, normal(128, 64), (frequencies(64),)),
}
RULE = "the rule itself"


def by_rule(case: Case, ybar: Any) -> Callable[[], Any]:
    def run() -> Any:
        _, pullback = rrule(case.function, case.x, *case.further)
        return unthunk(pullback(ybar)[1])

    return run


def torch_contestants(case: Case, ybar: Any) -> dict[str, Callable[[], Any]]:
    import torch

    from rulescore.backends.torch import to_torch

    torch.set_num_threads(1)
    x, further = case.x, case.further
    leaf, plain, seed = torch.tensor(x, requires_grad=True), torch.tensor(x), torch.tensor(ybar)

    class ByHand(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            y, ctx.pullback = rrule(case.function, x.detach().numpy(), *further)
            return torch.from_numpy(y)

        @staticmethod
        def backward(ctx: Any, ybar: Any) -> Any:
            return torch.from_numpy(unthunk(ctx.pullback(ybar.numpy())[1]))

    class TransformedByHand(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(x: Any) -> Any:
            return torch.from_numpy(case.function(x.detach().numpy(), *further))

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.save_for_backward(*inputs)

        @staticmethod
        def backward(ctx: Any, ybar: Any) -> Any:
            (x,) = ctx.saved_tensors
            _, pullback = rrule(case.function, x.detach().numpy(), *further)
            return torch.from_numpy(unthunk(pullback(ybar.detach().numpy())[1]))

    class Empty(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x.detach()

        @staticmethod
        def backward(ctx: Any, ybar: Any) -> Any:
            return ybar

    def backward(f: Any, *further: Any) -> Callable[[], Any]:
        def run() -> Any:
            leaf.grad = None
            f(leaf, *further).backward(seed)
            return leaf.grad

        return run

    def transformed(f: Any, *further: Any) -> Callable[[], Any]:
        return lambda: torch.func.vjp(lambda x: f(x, *further), plain)[1](seed)

    contestants = {
        "PyTorch, backward: adapter": backward(to_torch(case.function), *further),
        "PyTorch, backward: a Function for this rule": backward(ByHand.apply),
        "torch.func.vjp: adapter": transformed(to_torch(case.function), *further),
        "torch.func.vjp: a Function for this rule": transformed(TransformedByHand.apply),
    }
    if case.function is sine:
        contestants |= {
            "PyTorch, backward: native mode": backward(to_torch(sine, native=True)),
            "PyTorch, backward: torch.sin": backward(torch.sin),
            "PyTorch, backward: a Function that does nothing": backward(Empty.apply),
            "torch.func.vjp: torch.sin": transformed(torch.sin),
            "torch.func.vjp: a function that does nothing": transformed(lambda x: x),
        }
    return contestants


def autograd_contestants(case: Case, ybar: Any) -> dict[str, Callable[[], Any]]:
    import autograd.numpy as anp
    from autograd.core import make_vjp
    from autograd.extend import defvjp, primitive

    from rulescore.backends.autograd import to_autograd

    def run_of(f: Any, *further: Any) -> Callable[[], Any]:
        def run() -> Any:
            vjp, _ = make_vjp(lambda x: f(x, *further), case.x)
            return vjp(ybar)

        return run

    @primitive  # type: ignore[untyped-decorator]
    def by_hand(x: Any) -> Any:
        y, by_hand.pullback = rrule(case.function, x, *case.further)
        return y

    def vjp_by_hand(ans: Any, x: Any) -> Any:
        pullback = by_hand.pullback
        return lambda ybar: unthunk(pullback(ybar)[1])

    defvjp(by_hand, vjp_by_hand)
    contestants = {
        "HIPS autograd: adapter": run_of(to_autograd(case.function), *case.further),
        "HIPS autograd: a primitive for this rule": lambda: make_vjp(by_hand, case.x)[0](ybar),
    }
    if case.function is sine:
        contestants["HIPS autograd: anp.sin"] = run_of(anp.sin)
    return contestants


def jax_contestants(case: Case, ybar: Any) -> dict[str, Callable[[], Any]]:
    import jax

    from rulescore.backends.jax import to_jax

    jax.config.update("jax_enable_x64", True)
    given, seed = jax.numpy.asarray(case.x), jax.numpy.asarray(ybar)

    def eager(f: Any, *further: Any) -> Callable[[], Any]:
        return lambda: jax.block_until_ready(jax.vjp(lambda x: f(x, *further), given)[1](seed))

    def jitted(f: Any, *further: Any) -> Callable[[], Any]:
        compiled = jax.jit(lambda x, ybar: jax.vjp(lambda x: f(x, *further), x)[1](ybar))
        return lambda: jax.block_until_ready(compiled(given, seed))

    contestants = {
        "JAX, jit: adapter": jitted(to_jax(case.function), *case.further),
        "JAX, eager: adapter": eager(to_jax(case.function), *case.further),
    }
    if case.function is sine:
        contestants |= {
            "JAX, jit: native mode": jitted(to_jax(sine, native=True)),
            "JAX, jit: jnp.sin": jitted(jax.numpy.sin),
            "JAX, eager: jnp.sin": eager(jax.numpy.sin),
        }
    return contestants


CONTESTANTS = {"torch": torch_contestants, "autograd": autograd_contestants, "jax": jax_contestants}
"""By the module of the system."""


def contestants_of(system: str, case: Case) -> dict[str, Callable[[], Any]]:
    """The calls that compute the value and the pullback of a case, the rule itself among them."""
    ybar = np.ones_like(case.function(case.x, *case.further))
    return {RULE: by_rule(case, ybar), **CONTESTANTS[system](case, ybar)}


def is_ours(contestant: str) -> bool:
    """Whether a contestant calls anything of ours."""
    return contestant == RULE or contestant.endswith(("adapter", "native mode", "for this rule"))
