"""Nothing keeps a function that was made for one call of an adapter, nor what it captured."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

EAGER, COMPILED, COMPILED_BY_PYTORCH = 10_000, 200, 20
"""Calls; PyTorch takes a tenth of a second to compile one."""


def fresh() -> Callable[[Any], Any]:
    captured = np.ones(3)
    return lambda x: np.sin(x) * captured


def assert_gone(call: Callable[[Any], Any], count: int, clear_caches: Callable[[], None] = lambda: None) -> None:
    functions = []
    for _ in range(count):
        f = fresh()
        functions.append(weakref.ref(f))
        call(f)
        del f
    clear_caches()
    gc.collect()
    assert sum(f() is not None for f in functions) <= 1  # the last may live on in what a system keeps of its last call


def by_jax() -> dict[str, tuple[int, Callable[[Any], Any]]]:
    import jax

    from rulescore.backends.jax import to_jax

    x = jax.numpy.ones(3)

    def gradient(f: Any) -> Any:
        return jax.grad(lambda x: to_jax(f)(x).sum())

    return {
        "call": (EAGER, lambda f: to_jax(f)(np.ones(3, np.float32))),
        "grad": (COMPILED, lambda f: gradient(f)(x)),
        "vmap": (COMPILED, lambda f: jax.vmap(to_jax(f))(x[None])),
        "jit": (COMPILED, lambda f: jax.jit(to_jax(f))(x)),
        "jit of grad": (COMPILED, lambda f: jax.jit(gradient(f))(x)),
        "native": (COMPILED, lambda f: jax.jit(to_jax(f, native=True))(x)),
    }


def by_torch() -> dict[str, tuple[int, Callable[[Any], Any]]]:
    import torch

    from rulescore.backends.torch import to_torch

    x = torch.ones(3)

    def gradient(f: Any) -> Any:
        return torch.func.grad(lambda x: f(x).sum())

    def compiled(f: Any) -> Any:
        torch.compiler.reset()  # of one piece of code there are eight programs at most
        g = to_torch(f)
        return torch.compile(lambda x: g(x), backend="aot_eager", fullgraph=True)

    return {
        "call": (EAGER, lambda f: to_torch(f)(x)),
        "backward": (EAGER, lambda f: to_torch(f)(torch.ones(3, requires_grad=True)).sum().backward()),
        "grad": (COMPILED, lambda f: gradient(to_torch(f))(x)),
        "vmap": (COMPILED, lambda f: torch.func.vmap(to_torch(f))(x[None])),
        "compile": (COMPILED_BY_PYTORCH, lambda f: compiled(f)(x)),
        "backward of compile": (
            COMPILED_BY_PYTORCH,
            lambda f: compiled(f)(torch.ones(3, requires_grad=True)).sum().backward(),
        ),
    }


def by_autograd() -> dict[str, tuple[int, Callable[[Any], Any]]]:
    import autograd

    from rulescore.backends.autograd import to_autograd

    return {
        "call": (EAGER, lambda f: to_autograd(f)(np.ones(3))),
        "grad": (EAGER, lambda f: autograd.elementwise_grad(to_autograd(f))(np.ones(3))),
    }


@pytest.mark.parametrize("way", ["call", "grad", "vmap", "jit", "jit of grad", "native"])
def test_jax(way: str) -> None:
    jax = pytest.importorskip("jax", reason="JAX is not installed")
    count, call = by_jax()[way]
    assert_gone(call, count, jax.clear_caches)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("way", ["call", "backward", "grad", "vmap", "compile", "backward of compile"])
def test_pytorch(way: str) -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    count, call = by_torch()[way]
    assert_gone(call, count)
    torch.compiler.reset()


@pytest.mark.parametrize("way", ["call", "grad"])
def test_autograd(way: str) -> None:
    pytest.importorskip("autograd", reason="autograd is not installed")
    count, call = by_autograd()[way]
    assert_gone(call, count)
