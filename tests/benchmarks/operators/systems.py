"""AD systems behind one interface: ours, HIPS autograd, MyGrad, PyTorch and JAX.

Each is given a function of one array, written in what their namespaces have in common under NumPy's names, and hands
out a call that computes its value and pulls one cotangent back, in the way the system's users do. Where names differ,
a method here has the common one.
"""

from __future__ import annotations

import importlib.util
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from rulescore.ad import vjp

ValueAndPullback = Callable[[], tuple[Any, Any]]
"""A call that returns the value of a function, and what its pullback makes of one cotangent."""

Function = Callable[["System", Any], Any]
"""Of a system and one of its arrays."""


class System(ABC):
    """An AD system.

    Attributes
    ----------
    name : str
        As tables show it.
    module : str
        What has to be installed.
    xp : module
        The functions that workloads are written with.
    has_numpy_arrays : bool
        Whether it computes in NumPy's arrays, whose memory Python can measure.
    compiles : bool
        Whether a first call takes longer than those that follow.
    """

    name: str
    module: str
    xp: Any
    has_numpy_arrays = True
    compiles = False

    def array(self, x: np.ndarray) -> Any:
        """A constant as the system's kind of array."""
        return x

    @abstractmethod
    def value_and_pullback(self, f: Function, x: np.ndarray, ybar: np.ndarray) -> ValueAndPullback:
        """The call to be measured."""

    def stack(self, values: Sequence[Any]) -> Any:
        """Scalars as a vector."""
        return self.xp.stack(values)

    def max(self, x: Any, axis: int) -> Any:
        return self.xp.max(x, axis=axis)

    def min(self, x: Any, axis: int) -> Any:
        return self.xp.min(x, axis=axis)

    def forget(self) -> None:  # noqa: B027  # most keep nothing
        """Free what was kept of former workloads."""


class Ours(System):
    name = "rulescore.ad"
    module = "rulescore"
    xp = np

    def value_and_pullback(self, f: Function, x: np.ndarray, ybar: np.ndarray) -> ValueAndPullback:
        def run() -> tuple[Any, Any]:
            y, pull = vjp(lambda x: f(self, x), x)
            return y, pull(ybar)[0]

        return run


class Autograd(System):
    name = "HIPS autograd"
    module = "autograd"

    def __init__(self) -> None:
        import autograd.numpy

        self.xp = autograd.numpy

    def value_and_pullback(self, f: Function, x: np.ndarray, ybar: np.ndarray) -> ValueAndPullback:
        from autograd.core import make_vjp

        def run() -> tuple[Any, Any]:
            pull, y = make_vjp(lambda x: f(self, x), x)
            return y, pull(ybar)

        return run

    def stack(self, values: Sequence[Any]) -> Any:
        return self.xp.array(values)  # one operation; its `stack` takes two for each value


class MyGrad(System):
    """Without its guard against writing to the arrays of a graph, which takes as long as all the rest."""

    name = "MyGrad"
    module = "mygrad"

    def __init__(self) -> None:
        import mygrad

        self.xp = mygrad

    def value_and_pullback(self, f: Function, x: np.ndarray, ybar: np.ndarray) -> ValueAndPullback:
        def run() -> tuple[Any, Any]:
            leaf = self.xp.tensor(x, copy=False)
            y = f(self, leaf)
            y.backward(ybar)
            return y.data, leaf.grad

        return self.xp.mem_guard_off(run)  # type: ignore[no-any-return]


class Torch(System):
    """Not compiled."""

    name = "PyTorch"
    module = "torch"
    has_numpy_arrays = False

    def __init__(self) -> None:
        import torch

        torch.set_num_threads(1)
        self.xp = torch

    def array(self, x: np.ndarray) -> Any:
        return self.xp.tensor(x)

    def value_and_pullback(self, f: Function, x: np.ndarray, ybar: np.ndarray) -> ValueAndPullback:
        leaf, seed = self.xp.tensor(x, requires_grad=True), self.xp.tensor(ybar)

        def run() -> tuple[Any, Any]:
            y = f(self, leaf)
            (xbar,) = self.xp.autograd.grad(y, leaf, seed)
            return y.detach(), xbar

        return run

    def max(self, x: Any, axis: int) -> Any:
        return self.xp.amax(x, axis)

    def min(self, x: Any, axis: int) -> Any:
        return self.xp.amin(x, axis)


class Jax(System):
    """Not compiled as a whole, but operation by operation."""

    name = "JAX, eager"
    module = "jax"
    has_numpy_arrays = False
    compiles = True

    def __init__(self) -> None:
        import jax

        jax.config.update("jax_enable_x64", True)
        self.xp = jax.numpy

    def array(self, x: np.ndarray) -> Any:
        return self.xp.asarray(x)

    def value_and_pullback(self, f: Function, x: np.ndarray, ybar: np.ndarray) -> ValueAndPullback:
        import jax

        call, given, seed = self.transformed(f), self.array(x), self.array(ybar)
        return lambda: jax.block_until_ready(call(given, seed))

    def transformed(self, f: Function) -> Callable[[Any, Any], tuple[Any, Any]]:
        import jax

        def call(x: Any, ybar: Any) -> tuple[Any, Any]:
            y, pull = jax.vjp(lambda x: f(self, x), x)
            return y, pull(ybar)[0]

        return call

    def forget(self) -> None:
        import jax

        jax.clear_caches()


class JaxCompiled(Jax):
    """Compiled, with loops unrolled."""

    name = "JAX, jit"

    def transformed(self, f: Function) -> Callable[[Any, Any], tuple[Any, Any]]:
        import jax

        return jax.jit(super().transformed(f))  # type: ignore[no-any-return]


KINDS: tuple[type[System], ...] = (Ours, Autograd, MyGrad, Torch, Jax, JaxCompiled)


def is_installed(kind: type[System]) -> bool:
    return importlib.util.find_spec(kind.module) is not None
