"""`to_torch`: functions of tensors, from Python functions of NumPy arrays.

A function runs on the CPU, on arrays that share the tensors' memory. How it is called is in `calls`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import optree

from rulescore.backends.host.calls import Declared
from rulescore.backends.host.captured import of_captured
from rulescore.backends.host.extras import framework
from rulescore.backends.host.finding import Calls
from rulescore.backends.host.native import Native, NotNativeError, require_native_mode
from rulescore.backends.torch.calls import host_call, native_or_host_call
from rulescore.backends.torch.calls.modes import uncompiled
from rulescore.backends.torch.compiled import compiled_call
from rulescore.backends.torch.native import NativeMode, TorchSystem
from rulescore.backends.torch.tensors import all_tensors, empty_tensor, in_single_precision, is_short, spec_of
from rulescore.wrappers import Wrapper

framework("torch", "torch")

from torch import Tensor  # noqa: E402
from torch.compiler import is_compiling  # noqa: E402


def to_torch(
    f: Callable[..., Any],
    *,
    vmap_method: str = "sequential",
    result_shapes: Any = None,
    native: Native = False,
) -> Callable[..., Any]:
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
    result_shapes : tensor, container or callable, optional
        What ``f`` returns, as tensors without numbers (``torch.empty(3, device="meta")``); or a function that returns
        it, called with the arguments of ``f`` that have them in the place of tensors. Only compiled programs want to
        know. By default they call ``f`` once for every shape of its arguments, with numbers around one (and where that
        fails with zeros); of what takes long, a warning says so.
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
    return _Function(f, vmap_method, result_shapes, native)


class _Function(Wrapper):
    def __init__(self, f: Callable[..., Any], vmap_method: str, result_shapes: Any, native: Native) -> None:
        declared = None if result_shapes is None else Declared(result_shapes, empty_tensor, spec_of)
        self._calls = Calls("to_torch", f, _ARRAYS, optree.tree_flatten, optree.tree_unflatten, vmap_method, declared)
        self._native, self._mode = native, _MODES[native]
        options = {"vmap_method": vmap_method, "result_shapes": result_shapes, "native": native}
        super().__init__(f, functools.partial(to_torch, **options))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if is_compiling():
            if self._native is True:
                raise NotNativeError("native mode does not go together with torch.compile: leave out native=True")
            return compiled_call(self._calls, args, kwargs)
        return self._called(args, kwargs)

    @uncompiled
    def _called(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        outputs: Any
        call, given = self._calls.find_known(args, kwargs) or self._calls.find(args, kwargs)
        try:
            if self._mode is not None:
                outputs = native_or_host_call(call, all_tensors(given), self._mode)
            elif any(map(is_short, given)):
                outputs = in_single_precision(functools.partial(host_call, call), given)
            else:
                outputs = host_call(call, given)
        except Exception as error:
            told = of_captured("to_torch", self.__wrapped__, lambda x: isinstance(x, Tensor), error)
            if told is None:
                raise
            raise told from error
        return outputs[0] if call.returns_one_array else optree.tree_unflatten(call.structure, outputs)


_ARRAYS = (Tensor, np.ndarray)

# Functions with rules that native code calls are native functions in turn.
_system = TorchSystem(functools.lru_cache(maxsize=4096)(lambda f: to_torch(f, native=True)))
_MODES = {False: None, True: NativeMode(_system), "auto": NativeMode(_system, tries=True)}
