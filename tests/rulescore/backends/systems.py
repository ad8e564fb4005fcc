"""The backends, as a measurement of conformance asks for them: pullbacks and pushforwards that can be nested.

All cotangents are in our convention, in every system, and all functions take and return lists of arrays with a
derivative.
"""

from __future__ import annotations

import contextlib
import functools
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from rulescore import ad
from rulescore.closures.captures import is_tracer

Function = Callable[..., list[Any]]


class System:
    """An AD system.

    Attributes
    ----------
    name : str
    framework : str
        The module that it needs.
    modes : tuple of str
        The modes that it has.
    compiled_modes : tuple of str
        Those that it can compile.
    """

    name: str
    framework: str
    modes: tuple[str, ...] = ("reverse", "forward", "reverse over reverse", "forward over reverse")
    compiled_modes: tuple[str, ...] = ()

    @contextlib.contextmanager
    def active(self) -> Iterator[None]:
        """While the system is used."""
        yield

    def convert(self, f: Any) -> Any:
        """The function as one of the system's."""
        raise NotImplementedError

    def array(self, x: Any) -> Any:
        """An array of the system."""
        return x

    def is_array(self, y: Any) -> bool:
        """Whether something is an array of the system that has a derivative."""
        raise NotImplementedError

    def vjp(self, f: Function, xs: Sequence[Any], ybars: Sequence[Any]) -> list[Any]:
        """The cotangents of the arrays."""
        raise NotImplementedError

    def jvp(self, f: Function, xs: Sequence[Any], dxs: Sequence[Any]) -> list[Any]:
        """The tangents of the outputs."""
        raise NotImplementedError

    def compiled(self, f: Function) -> Function:
        """The function compiled."""
        raise NotImplementedError


class Reference(System):
    """`rulescore.ad`, which the others are compared with."""

    name, framework = "rulescore.ad", "rulescore"

    def convert(self, f: Any) -> Any:
        return ad.primitive(f)

    def is_array(self, y: Any) -> bool:
        if isinstance(y, (np.ndarray, np.generic)) or is_tracer(y):  # no sparse arrays, of which the backends know none
            return y.dtype.kind in "fc"
        return isinstance(y, (float, complex))

    def vjp(self, f: Function, xs: Sequence[Any], ybars: Sequence[Any]) -> list[Any]:
        return list(ad.vjp(f, *xs)[1](list(ybars)))

    def jvp(self, f: Function, xs: Sequence[Any], dxs: Sequence[Any]) -> list[Any]:
        return list(ad.jvp(f, tuple(xs), tuple(dxs))[1])


class Jax(System):
    """JAX, in double precision."""

    name, framework = "JAX", "jax"
    compiled_modes = System.modes

    @contextlib.contextmanager
    def active(self) -> Iterator[None]:
        import jax

        with jax.enable_x64(True):
            yield

    def convert(self, f: Any) -> Any:
        from rulescore.backends.jax import to_jax

        return to_jax(f)

    def array(self, x: Any) -> Any:
        import jax.numpy as jnp

        return jnp.asarray(x)

    def is_array(self, y: Any) -> bool:
        import jax

        return isinstance(y, jax.Array) and jax.numpy.issubdtype(y.dtype, jax.numpy.inexact)

    def vjp(self, f: Function, xs: Sequence[Any], ybars: Sequence[Any]) -> list[Any]:
        import jax
        import jax.numpy as jnp

        return [jnp.conj(xbar) for xbar in jax.vjp(f, *xs)[1]([jnp.conj(ybar) for ybar in ybars])]

    def jvp(self, f: Function, xs: Sequence[Any], dxs: Sequence[Any]) -> list[Any]:
        import jax

        return list(jax.jvp(f, tuple(xs), tuple(dxs))[1])

    def compiled(self, f: Function) -> Function:
        import jax

        return jax.jit(f)  # type: ignore[no-any-return]


class Torch(System):
    """PyTorch."""

    name, framework = "PyTorch", "torch"

    @contextlib.contextmanager
    def active(self) -> Iterator[None]:
        with warnings.catch_warnings():  # its forward mode and its compiler warn of PyTorch's own code
            warnings.simplefilter("ignore", DeprecationWarning)
            warnings.filterwarnings("ignore", module="torch")
            yield

    def convert(self, f: Any) -> Any:
        from rulescore.backends.torch import to_torch

        return to_torch(f)

    def array(self, x: Any) -> Any:
        import torch

        return torch.from_numpy(np.array(x))

    def is_array(self, y: Any) -> bool:
        import torch

        return isinstance(y, torch.Tensor) and (y.is_floating_point() or y.is_complex())

    def vjp(self, f: Function, xs: Sequence[Any], ybars: Sequence[Any]) -> list[Any]:
        import torch

        return list(torch.func.vjp(f, *xs)[1](list(ybars)))

    def jvp(self, f: Function, xs: Sequence[Any], dxs: Sequence[Any]) -> list[Any]:
        import torch

        return list(torch.func.jvp(f, tuple(xs), tuple(dxs))[1])

    def compiled(self, f: Function) -> Function:
        import torch

        torch._dynamo.reset()
        return torch.compile(f, backend="aot_eager", fullgraph=True)  # type: ignore[no-any-return]


class EagerTorch(Torch):
    """PyTorch's `backward`, which is another way through the adapter than `torch.func`, and is what is compiled."""

    name = "PyTorch, backward"
    modes = ("reverse", "reverse over reverse")
    compiled_modes = ("reverse",)

    def vjp(self, f: Function, xs: Sequence[Any], ybars: Sequence[Any]) -> list[Any]:
        import torch

        is_nested = any(x.requires_grad for x in xs)
        leaves = [x if x.requires_grad else x.clone().requires_grad_() for x in xs]
        related = [(y, ybar) for y, ybar in zip(f(*leaves), ybars, strict=True) if y.requires_grad]
        if not related:
            return [torch.zeros_like(x) for x in leaves]
        ys, seeds = zip(*related, strict=True)
        return list(torch.autograd.grad(ys, leaves, seeds, create_graph=is_nested, materialize_grads=True))


class Autograd(System):
    """HIPS autograd."""

    name, framework = "HIPS autograd", "autograd"

    def convert(self, f: Any) -> Any:
        from rulescore.backends.autograd import to_autograd

        return to_autograd(f)

    def is_array(self, y: Any) -> bool:
        from autograd.tracer import getval

        return Reference().is_array(getval(y))

    def vjp(self, f: Function, xs: Sequence[Any], ybars: Sequence[Any]) -> list[Any]:
        import autograd.numpy as anp
        from autograd.builtins import tuple as boxed
        from autograd.core import make_vjp

        pull, _ = make_vjp(self._of_tuple(f, len(xs)), boxed(xs))
        bars = pull(boxed([anp.conj(ybar) for ybar in ybars]))
        return [anp.conj(bars[i]) for i in range(len(xs))]

    def jvp(self, f: Function, xs: Sequence[Any], dxs: Sequence[Any]) -> list[Any]:
        from autograd.builtins import tuple as boxed
        from autograd.core import make_jvp

        outputs, moved = make_jvp(self._of_tuple(f, len(xs)), boxed(xs))(boxed(dxs))
        return [moved[i] for i in range(len(outputs))]

    def _of_tuple(self, f: Function, count: int) -> Callable[[Any], Any]:
        from autograd.builtins import tuple as boxed

        return lambda xs: boxed(f(*[xs[i] for i in range(count)]))


@functools.cache
def systems() -> dict[str, System]:
    """By name."""
    return {system.name: system for system in (Jax(), Torch(), EagerTorch(), Autograd())}
