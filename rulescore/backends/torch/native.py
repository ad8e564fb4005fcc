"""Native mode in PyTorch: host functions run on tensors, with NumPy's functions as `torch.compile` runs them."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np

from rulescore.backends.host.extras import framework
from rulescore.backends.host.functions import HostFunction
from rulescore.backends.host.native import NativeSystem, runs_on_host
from rulescore.backends.torch.tensors import constant_tensor, has_derivative, numpy_dtype

torch = framework("torch", "torch")


class TorchSystem(NativeSystem):
    """PyTorch, for native mode: NumPy's functions as `torch.compile` runs them, on tensors.

    Parameters
    ----------
    with_rules : callable
        Makes a function of tensors of one that is not PyTorch's, but has rules.
    """

    name = "PyTorch"
    array_type = torch.Tensor
    conjugates = False
    modules: ClassVar = {
        "numpy": "torch._numpy",
        "numpy.linalg": "torch._numpy.linalg",
        "numpy.fft": "torch._numpy.fft",
        "scipy.special": "torch.special",
    }
    conj: Any = staticmethod(torch.conj)
    zeros_like: Any = staticmethod(torch.zeros_like)
    vmap: Any = staticmethod(torch.func.vmap)

    def __init__(self, with_rules: Callable[[Any], Callable[..., Any]]) -> None:
        super().__init__()
        self._with_rules = with_rules

    def dtype_of(self, array: Any) -> np.dtype[Any]:
        return numpy_dtype(array.dtype)  # type: ignore[no-any-return]

    def with_methods(self, x: Any) -> Any:
        return torch._numpy.ndarray(x.array)

    def result(self, y: Any) -> Any:
        return y.tensor if isinstance(y, torch._numpy.ndarray) else y

    def constant(self, x: Any) -> Any:
        if isinstance(x, np.dtype) or (isinstance(x, type) and issubclass(x, np.generic)):
            return np.dtype(x).name
        return x.item() if isinstance(x, np.generic) else x

    def vjp(self, f: Callable[..., list[Any]], arrays: Sequence[Any]) -> tuple[list[Any], Callable[..., Any]]:
        _, pull, outputs = torch.func.vjp(_with_all(f), *arrays, has_aux=True)
        return outputs, lambda ybars: pull(list(ybars))

    def jvp(self, f: Any, arrays: Sequence[Any], tangents: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        _, dys, outputs = torch.func.jvp(_with_all(f), tuple(arrays), tuple(tangents), has_aux=True)
        return outputs, list(dys)

    def stop_gradient(self, x: Any) -> Any:
        return x.detach()

    def as_array(self, y: Any) -> Any:
        return constant_tensor(y) if isinstance(y, np.ndarray) else torch.as_tensor(y)

    def with_rules(self, f: Any) -> Callable[..., Any]:
        return self._with_rules(f)


def _with_all(f: Callable[..., list[Any]]) -> Callable[..., Any]:
    """The outputs that have a derivative, which is all that `torch.func` takes; and all, beside them."""

    def outputs(*tensors: Any) -> Any:
        found = f(*tensors)
        return [y for y in found if has_derivative(y)], found

    return outputs


class NativeMode:
    """What runs on tensors: everything, or, with ``tries``, what can; the rest then runs on the host.

    Parameters
    ----------
    system : TorchSystem
        Runs it.
    tries : bool
        Whether a function is tried before.
    """

    def __init__(self, system: TorchSystem, tries: bool = False) -> None:
        self.system, self._tries = system, tries

    def takes(self, function: HostFunction, tensors: Sequence[Any]) -> bool:
        """Whether a function runs on tensors such as these."""
        if not self._tries:
            return True
        specs = tuple([(x.shape, x.dtype) for x in tensors])
        return function.keep(("runs natively", specs), lambda: _can_run(self.system, function, specs))


def _can_run(system: TorchSystem, function: HostFunction, specs: tuple[Any, ...]) -> bool:
    """Whether a function can, tried without numbers; a warning says why not."""
    try:
        system.natively(function)(*[torch.empty(shape, dtype=dtype, device="meta") for shape, dtype in specs])
    except Exception as error:  # whatever it is, the host may do without
        warnings.warn(runs_on_host(function, error), RuntimeWarning, stacklevel=2)
        return False
    return True
