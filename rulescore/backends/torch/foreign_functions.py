"""`from_torch`: functions of NumPy arrays with rules, from functions of tensors, whose derivatives are PyTorch's."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from rulescore.backends.host.extras import framework
from rulescore.backends.host.foreign_functions import ForeignFunction, as_function_of_arrays
from rulescore.backends.host.functions import is_differentiable, of_some
from rulescore.backends.torch.tensors import has_derivative

torch = framework("torch", "torch")

from torch.autograd import forward_ad  # noqa: E402


class _TorchFunction(ForeignFunction):
    """A function of tensors."""

    def value(self, arrays: Sequence[Any]) -> list[Any]:
        with torch.no_grad():
            return _as_numpy(self.function(*map(_as_tensor, arrays)))

    def vjp(self, arrays: Sequence[Any]) -> tuple[list[Any], Callable[[Sequence[Any]], list[Any]]]:
        tensors = [_as_tensor(x).requires_grad_(is_differentiable(x)) for x in arrays]
        with torch.enable_grad():
            outputs = self.function(*tensors)

        def pull(ybars: Sequence[Any]) -> list[Any]:
            return _as_numpy(_pulled(outputs, tensors, ybars))

        return _as_numpy(outputs), pull

    def jvp(self, arrays: Sequence[Any], tangents: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        outputs, dys = _pushed_forward(self.function, [*map(_as_tensor, arrays)], [*map(_as_tensor, tangents)])
        return _as_numpy(outputs), _as_numpy(dys)

    def pullback(self, count: int) -> _TorchFunction:
        def pullback(*tensors: Any) -> list[Any]:
            primals = tensors[:count]
            of_chosen, chosen = of_some(self.function, primals, list(map(has_derivative, primals)))
            outputs, pull = torch.func.vjp(lambda *xs: [y for y in of_chosen(*xs) if has_derivative(y)], *chosen)
            seeds = [ybar.to(y.dtype) for y, ybar in zip(outputs, tensors[count:], strict=True)]
            return list(pull(seeds))

        return _TorchFunction(pullback, f"the pullback of {self.name}")

    def pushforward(self, count: int) -> _TorchFunction:
        def pushforward(*tensors: Any) -> list[Any]:
            return _pushed_forward(self.function, list(tensors[:count]), list(tensors[count:]))[1]

        return _TorchFunction(pushforward, f"the pushforward of {self.name}")


def _as_tensor(x: Any) -> Any:
    return torch.from_numpy(np.array(x))  # a copy: the function may write into it


def _as_numpy(outputs: Sequence[Any]) -> list[Any]:
    return [y.numpy(force=True)[()] for y in outputs]


def _pulled(outputs: Sequence[Any], tensors: Sequence[Any], ybars: Sequence[Any]) -> list[Any]:
    """The cotangents of the tensors that have one."""
    given = iter(ybars)
    seeds = [(y, _as_tensor(next(given)).to(y.dtype)) for y in outputs if has_derivative(y)]
    related = [(y, seed) for y, seed in seeds if y.requires_grad]
    asked = [x for x in tensors if has_derivative(x)]
    if not related or not asked:
        return [torch.zeros_like(x) for x in asked]
    ys, seeds_of = zip(*related, strict=True)
    return list(torch.autograd.grad(ys, asked, seeds_of, allow_unused=True, materialize_grads=True, retain_graph=True))


def _pushed_forward(function: Any, tensors: Sequence[Any], tangents: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    of_chosen, chosen = of_some(function, tensors, list(map(has_derivative, tensors)))
    directions = tuple([dx.to(x.dtype) for x, dx in zip(chosen, tangents, strict=True)])
    outputs, dys = torch.func.jvp(of_chosen, tuple(chosen), directions)
    return list(outputs), [dy for y, dy in zip(outputs, dys, strict=True) if has_derivative(y)]


def from_torch(g: Callable[..., Any]) -> Callable[..., Any]:
    """A function of NumPy arrays, with rules, from one of PyTorch tensors.

    Parameters
    ----------
    g : callable
        A function or a module. Its arguments and results are tensors and nested containers of them; its parameters are
        constants.

    Returns
    -------
    callable
        With the arguments of ``g``, which PyTorch differentiates, to any order. It takes and returns NumPy arrays, and
        is a `rulescore.ad.primitive` with an ``frule`` and an ``rrule``, so that the testers and all other systems take
        it.

    Raises
    ------
    TypeError
        When ``g`` cannot be called.

    Examples
    --------
    >>> import numpy as np, torch
    >>> from rulescore.ad import grad
    >>> from rulescore.backends.torch import from_torch
    >>> softplus = from_torch(torch.nn.functional.softplus)
    >>> grad(softplus)(np.float64(0.0))
    np.float64(0.5)
    """
    _load_forward_mode()
    return as_function_of_arrays(g, from_torch, _TorchFunction)


@functools.cache
def _load_forward_mode() -> None:
    """Have PyTorch load what its forward mode needs, which warns about PyTorch's own code."""
    with warnings.catch_warnings(), forward_ad.dual_level():
        warnings.simplefilter("ignore", DeprecationWarning)
        forward_ad.make_dual(torch.zeros(()), torch.zeros(()))
