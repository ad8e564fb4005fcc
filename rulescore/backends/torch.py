"""PyTorch: functions of NumPy arrays with rules as functions of tensors, under autograd, torch.func and torch.compile.

A function runs on the CPU, on arrays that share the tensors' memory. How it is called is in `torch_calls`.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import optree

from rulescore.backends.extras import framework
from rulescore.backends.foreign_functions import ForeignFunction, as_function_of_arrays
from rulescore.backends.host_functions import Calls, is_differentiable, of_some
from rulescore.backends.native import Native, NotNativeError, require_native_mode
from rulescore.backends.torch_arrays import all_tensors, has_derivative
from rulescore.backends.torch_calls import (
    ONE,
    called,
    called_natively,
    count_modes,
    has_transforms,
    is_grad_enabled,
    kinds_of,
    unwrap,
)
from rulescore.backends.torch_operator import compiled_call
from rulescore.tables.features import HasForwardMode, HasReverseMode
from rulescore.tangents.thunks import unthunk
from rulescore.tangents.zero import AbstractZero, NoTangent

torch = framework("torch", "torch")

from torch import Tensor  # noqa: E402
from torch.autograd import forward_ad  # noqa: E402
from torch.compiler import is_compiling  # noqa: E402

# ---------------------------------------------------------------- functions for PyTorch


def to_torch(f: Callable[..., Any], *, vmap_method: str = "sequential", native: Native = False) -> Callable[..., Any]:
    """A function of PyTorch tensors from a Python function of NumPy arrays.

    Parameters
    ----------
    f : callable
        With rules, or of NumPy code that `rulescore.ad` differentiates. It runs on the CPU and gets NumPy arrays that
        share the tensors' memory; it may not write into them. Arguments and results may be nested tuples, lists and
        dicts.
    vmap_method : {"sequential", "broadcast_all"}
        What `torch.vmap` does: ``"sequential"`` calls ``f`` for one item after the other; ``"broadcast_all"`` calls it
        once with a further axis in front of every array, for functions that take such axes.
    native : bool or "auto", optional
        Whether to run ``f`` and its rules on the tensors themselves, on any device, with PyTorch's functions in the
        place of NumPy's of the same name. Only code that calls NumPy's functions, operators and methods can: it may not
        write into arrays, nor decide by their values. With ``"auto"``, what cannot (the function, its pullback, its
        pushforward, each by itself) runs on the host, and a warning says why. Functions without rules are
        differentiated by PyTorch. Under ``torch.compile`` use the default.

    Returns
    -------
    callable
        With the arguments of ``f``, of which tensors are differentiated, NumPy arrays are constants, and everything
        else (numbers, strings, functions) is fixed and has to be hashable. It works with ``backward`` to any order,
        ``gradcheck`` and ``gradgradcheck`` (forward mode too), all of `torch.func`, and under ``torch.compile``.

    Raises
    ------
    TypeError
        When ``f`` cannot be called; from the returned function, when an argument is neither an array nor hashable.
    NotNativeError
        (A `TypeError`.) From the returned function, with ``native=True``, when PyTorch has nothing that does what ``f``
        or its rule does.
    ValueError
        When ``native`` or ``vmap_method`` is none of these.
    RuntimeError
        Within a program that is compiled with ``fullgraph=True``. Call `to_torch` outside, and its function within.

    Examples
    --------
    >>> import numpy as np, torch
    >>> from rulescore.backends.torch import to_torch
    >>> det = to_torch(np.linalg.det)
    >>> a = torch.tensor([[2.0, 1.0], [0.0, 3.0]], dtype=torch.float64, requires_grad=True)
    >>> det(a).backward()
    >>> a.grad
    tensor([[ 3., -0.],
            [-1.,  2.]], dtype=torch.float64)
    """
    if is_compiling():  # what has been raised, PyTorch runs without compiling
        raise RuntimeError("to_torch(f) within a compiled program: write g = to_torch(f) outside, and call g within")
    require_native_mode("to_torch", native)
    calls = Calls("to_torch", f, _ARRAYS, optree.tree_flatten, optree.tree_unflatten, vmap_method)

    @functools.wraps(f, updated=())
    def torch_function(*args: Any, **kwargs: Any) -> Any:
        if is_compiling():
            if native is True:
                raise NotNativeError("native mode does not go together with torch.compile: leave out native=True")
            return compiled_call(calls, args, kwargs)
        call, given = calls.find_known(args, kwargs) or calls.find(args, kwargs)
        outputs = None
        if call.kept and is_grad_enabled() and not has_transforms() and not count_modes():  # the most frequent case
            if len(given) == 1:
                (x,) = given
                known = call.kept.get(ONE)
                if known is not None and isinstance(x, Tensor) and x.requires_grad:
                    outputs = known(unwrap(x))
            else:
                known = call.kept.get(kinds_of(given))
                if known is not None:
                    outputs = known(*[unwrap(x) if isinstance(x, Tensor) else x for x in given])
        if outputs is None:
            outputs = called_natively(call, all_tensors(given), native) if native else called(call, given)
        return outputs[0] if call.returns_one_array else optree.tree_unflatten(call.structure, outputs)

    return torch_function


_ARRAYS = (Tensor, np.ndarray)


# ---------------------------------------------------------------- functions from PyTorch


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
    return as_function_of_arrays(g, "from_torch", _TorchFunction)


@functools.cache
def _load_forward_mode() -> None:
    """Have PyTorch load what its forward mode needs, which warns about PyTorch's own code."""
    with warnings.catch_warnings(), forward_ad.dual_level():
        warnings.simplefilter("ignore", DeprecationWarning)
        forward_ad.make_dual(torch.zeros(()), torch.zeros(()))


# ---------------------------------------------------------------- for rules that call back into AD


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
