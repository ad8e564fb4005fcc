"""AD systems behind one interface: ours, HIPS autograd, MyGrad, PyTorch and JAX, and NumPy's forward pass alone.

Each is given a loss in the functions of a namespace, with constants and parameters as its own kind of array, and hands
out a call that computes the loss and its gradient in the way the system's users do. All compute with one thread, which
has to be said before NumPy and JAX are imported.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

ONE_THREAD = "numpy" not in sys.modules or os.environ.get("OPENBLAS_NUM_THREADS") == "1"
"""Whether NumPy's BLAS has been told to use one thread: it is not told when NumPy is there already."""
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")
os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1")

import numpy as np  # noqa: E402

from rulescore.ad import hvp, value_and_grad, variable  # noqa: E402

Gradient = Callable[[], tuple[Any, Sequence[Any]]]
"""A call that returns a loss and its gradient."""


class System(ABC):
    """An AD system.

    Attributes
    ----------
    xp : module
        The functions that losses are written with: those of NumPy's names.
    """

    name: str
    module: str
    xp: Any

    @abstractmethod
    def constant(self, x: Any) -> Any:
        """An array or a number as the system's kind of array."""

    def parameter(self, x: Any) -> Any:
        """The same, for what is differentiated."""
        return self.constant(x)

    @abstractmethod
    def gradient_of(self, loss: Callable[..., Any], params: Sequence[Any]) -> Gradient:
        """A call that returns ``loss(params)`` and its gradient."""

    def gradient(self, loss: Callable[..., Any], params: Sequence[Any], data: Sequence[Any]) -> Gradient:
        """A call that returns ``loss(system, params, *data)`` and its gradient with respect to ``params``."""
        data = [self.constant(x) for x in data]
        return self.gradient_of(lambda params: loss(self, params, *data), tuple(self.parameter(x) for x in params))

    def forget(self) -> None:  # noqa: B027  # most keep nothing
        """Free what was kept of former workloads."""

    def sigmoid(self, x: Any) -> Any:
        return 1 / (1 + self.xp.exp(-x))

    def logsumexp(self, x: Any) -> Any:
        """Of each row."""
        m = self.xp.max(x, axis=1, keepdims=True)
        return self.xp.log(self.xp.sum(self.xp.exp(x - m), axis=1)) + m[:, 0]


class Forward(System):
    """NumPy alone, which computes the loss without its gradient."""

    name = "NumPy, forward"
    module = "numpy"
    xp = np

    def constant(self, x: Any) -> Any:
        return x

    def gradient_of(self, loss: Callable[..., Any], params: Sequence[Any]) -> Gradient:
        return lambda: (loss(params), ())


class Ours(System):
    name = "rulescore.ad"
    module = "rulescore.ad"
    xp = np

    def constant(self, x: Any) -> Any:
        return x

    def gradient_of(self, loss: Callable[..., Any], params: Sequence[Any]) -> Gradient:
        gradient = value_and_grad(loss)
        return lambda: gradient(params)

    def hessian_product(
        self, loss: Callable[..., Any], params: Sequence[Any], data: Sequence[Any], directions: Sequence[Any]
    ) -> Callable[[], Any]:
        """A call that returns the product of the Hessian with a vector, which has the form of ``params``."""
        return lambda: hvp(lambda *params: loss(self, params, *data), params, directions)


class Variables(Ours):
    """Ours too, by variables, which keep a graph and not a tape."""

    name = "by variables"

    def gradient_of(self, loss: Callable[..., Any], params: Sequence[Any]) -> Gradient:
        leaves = tuple(variable(x) for x in params)

        def gradient() -> tuple[Any, Sequence[Any]]:
            for leaf in leaves:
                leaf.grad = None
            value = loss(leaves)
            value.backward()
            return value.value, [leaf.grad for leaf in leaves]

        return gradient


class Autograd(System):
    name = "HIPS autograd"
    module = "autograd"

    def __init__(self) -> None:
        import autograd.numpy

        self.xp = autograd.numpy

    def constant(self, x: Any) -> Any:
        return x

    def gradient_of(self, loss: Callable[..., Any], params: Sequence[Any]) -> Gradient:
        from autograd import value_and_grad

        gradient = value_and_grad(loss)
        return lambda: gradient(params)


class MyGrad(System):
    """As it comes, with a guard against writing to the arrays of a graph."""

    name = "MyGrad"
    module = "mygrad"

    def __init__(self) -> None:
        import mygrad

        self.xp = mygrad

    def constant(self, x: Any) -> Any:
        return x

    def parameter(self, x: Any) -> Any:
        return self.xp.tensor(x)

    def gradient_of(self, loss: Callable[..., Any], params: Sequence[Any]) -> Gradient:
        def gradient() -> tuple[Any, Sequence[Any]]:
            value = loss(params)
            value.backward()
            return value.data, [x.grad for x in params]

        return gradient

    def sigmoid(self, x: Any) -> Any:
        from mygrad.nnet.activations import sigmoid

        return sigmoid(x)


class UnguardedMyGrad(MyGrad):
    """Without the guard, which takes as long as all the rest."""

    name = "MyGrad, no guard"

    def gradient_of(self, loss: Callable[..., Any], params: Sequence[Any]) -> Gradient:
        from mygrad import mem_guard_off

        return mem_guard_off(super().gradient_of(loss, params))  # type: ignore[no-any-return]


class Torch(System):
    name = "PyTorch"
    module = "torch"

    def __init__(self) -> None:
        import torch

        torch.set_num_threads(1)
        self.xp = torch

    def constant(self, x: Any) -> Any:
        return self.xp.as_tensor(x) if isinstance(x, (np.ndarray, np.generic)) else x

    def parameter(self, x: Any) -> Any:
        return self.xp.tensor(x, requires_grad=True)

    def gradient_of(self, loss: Callable[..., Any], params: Sequence[Any]) -> Gradient:
        def gradient() -> tuple[Any, Sequence[Any]]:
            value = loss(params)
            return value.detach(), self.xp.autograd.grad(value, params)

        return gradient

    def sigmoid(self, x: Any) -> Any:
        return self.xp.sigmoid(x)

    def logsumexp(self, x: Any) -> Any:
        return self.xp.logsumexp(x, 1)


class Jax(System):
    """Without compiling."""

    name = "JAX, eager"
    module = "jax"

    def __init__(self) -> None:
        import jax

        jax.config.update("jax_enable_x64", True)
        self.xp = jax.numpy

    def constant(self, x: Any) -> Any:
        return self.xp.asarray(x) if isinstance(x, (np.ndarray, np.generic)) else x

    def gradient_of(self, loss: Callable[..., Any], params: Sequence[Any]) -> Gradient:
        import jax

        gradient = jax.value_and_grad(loss)
        return lambda: jax.block_until_ready(gradient(params))

    def forget(self) -> None:
        import jax

        jax.clear_caches()

    def sigmoid(self, x: Any) -> Any:
        import jax

        return jax.nn.sigmoid(x)

    def logsumexp(self, x: Any) -> Any:
        import jax

        return jax.nn.logsumexp(x, axis=1)


class JaxCompiled(Jax):
    """Compiled, with the loops of the loss unrolled."""

    name = "JAX, jit"

    def gradient_of(self, loss: Callable[..., Any], params: Sequence[Any]) -> Gradient:
        import jax

        gradient = jax.jit(jax.value_and_grad(loss))
        return lambda: jax.block_until_ready(gradient(params))


KINDS: tuple[type[System], ...] = (
    Forward,
    Ours,
    Variables,
    Autograd,
    MyGrad,
    UnguardedMyGrad,
    Torch,
    Jax,
    JaxCompiled,
)
MISSING = [kind.name for kind in KINDS if not importlib.util.find_spec(kind.module.partition(".")[0])]


def installed_systems() -> list[System]:
    """All that there are, which imports their libraries."""
    return [kind() for kind in KINDS if kind.name not in MISSING]
