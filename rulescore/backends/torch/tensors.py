"""PyTorch's tensors and NumPy's arrays, with the same memory where they can."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Sequence
from sys import getrefcount
from typing import Any

import numpy as np

from rulescore.backends.host.extras import framework
from rulescore.backends.host.functions import Spec

torch = framework("torch", "torch")


def array_of(tensor: Any) -> Any:
    """The array with the memory of a tensor, or of an array; a number of NumPy's where it is one, which more take."""
    if not isinstance(tensor, torch.Tensor):
        array = require_plain(tensor).view()
        array.setflags(False)
        return array if array.ndim else array[()]
    if not tensor.is_cpu:
        _warn_of_device(tensor.device)
    try:
        array = tensor.numpy(force=True)  # also of what is differentiated, elsewhere, or conjugated when it is read
        array.setflags(False)  # not writeable: PyTorch would not know what was written
        return array if array.ndim else array[()]
    except TypeError as error:
        if tensor.layout is not torch.strided:
            raise TypeError("NumPy has no sparse arrays: convert the tensor with .to_dense()") from None
        raise TypeError(
            f"NumPy has no arrays of {tensor.dtype} ({error}): convert the tensor with .to(torch.float32)"
        ) from None
    except RuntimeError as error:
        raise RuntimeError(
            f"a function made by to_torch got a tensor without numbers of its own ({error}). Where that comes from "
            "is_grads_batched=True or vectorize=True, use torch.func.vmap, jacrev or jacfwd instead"
        ) from error


@functools.cache
def _warn_of_device(device: Any) -> None:
    warnings.warn(
        f"a function made by to_torch got a tensor on {device}: it is copied to the CPU, where the function runs, and "
        "the results back, at every call",
        RuntimeWarning,
        stacklevel=2,
    )


def tensors_of(arrays: list[Any], given: Sequence[Any]) -> tuple[Any, ...]:
    """Tensors with the memory of arrays that nobody else holds, and of copies of all others; on the device of some.

    Who else holds a result may be the function, in a buffer that it fills again or in a memo; the pullback of its rule;
    the caller, of an argument that was returned; or another result. Each would see what is written into the tensor, or
    change it. The list is emptied: it may be all that holds an array for us.
    """
    found = []
    while arrays:
        found.append(tensor_of(_alone(arrays)))
    found.reverse()
    for x in given:
        # Beside what is elsewhere there may be arrays, which are constants on the CPU.
        if isinstance(x, torch.Tensor) and not x.is_cpu:
            return tuple([y.to(x.device) for y in found])
    return tuple(found)


def _alone(arrays: list[Any]) -> Any:
    """The last array, or a copy of it."""
    if type(arrays[-1]) is not np.ndarray:
        return np.array(arrays.pop())
    array, references, references_to_base = _last_of(arrays)
    base, flags = array.base, array.flags
    is_alone = references == _ALONE and (
        base is None
        or (type(base) is np.ndarray and base.base is None and references_to_base == _BASE_ALONE and flags.c_contiguous)
    )
    # Of what was broadcast, several elements have one place; NumPy warns already of its flags.
    if is_alone and 0 not in array.strides and flags.writeable:
        return array
    return array.copy()


def _last_of(arrays: list[Any]) -> tuple[Any, int, int]:
    """The last array, which is taken from the list, with the references to it and to what has its memory.

    Those that there are when nobody else has one, which versions of Python count differently, are found by itself.
    """
    array = arrays.pop()
    base = array.base
    return array, getrefcount(array), getrefcount(base)


_, _ALONE, _BASE_ALONE = _last_of([np.empty((1, 2))[0]])


def tensor_of(array: Any) -> Any:
    """A tensor with the memory of an array."""
    try:
        return torch.from_numpy(array)
    except ValueError:  # strides below zero, which an array of one element may have too
        return torch.from_numpy(np.array(array, order="C"))
    except TypeError as error:
        raise TypeError(f"PyTorch has no tensors of {array.dtype}: return another dtype") from error


def require_plain(x: Any) -> Any:
    """An array as it is, if it is no more than one."""
    if isinstance(x, (np.ma.MaskedArray, np.matrix)):
        raise TypeError(
            f"a function made by to_torch got a {type(x).__name__}, of which PyTorch knows nothing: pass a plain array"
        )
    return x


def constant_tensor(x: Any) -> Any:
    """A tensor with the memory of an array, or of a copy where PyTorch takes no such array."""
    require_plain(x)
    is_taken = x.flags.writeable and min(x.strides, default=0) >= 0 and x.dtype.isnative
    return tensor_of(x if is_taken else np.array(x, x.dtype.newbyteorder("=")))


def all_tensors(given: Sequence[Any]) -> list[Any]:
    """Tensors, and constants of the arrays beside them."""
    return [x if isinstance(x, torch.Tensor) else constant_tensor(x) for x in given]


def has_derivative(x: Any) -> bool:
    """Whether a tensor is of real or complex numbers."""
    return x.is_floating_point() or x.is_complex()  # type: ignore[no-any-return]


def numpy_dtype(dtype: Any) -> Any:
    return np.dtype(str(dtype).removeprefix("torch."))


def torch_dtype(dtype: Any) -> Any:
    return getattr(torch, np.dtype(dtype).name)


def empty_tensor(shape: tuple[int, ...], dtype: Any) -> Any:
    """A tensor without numbers."""
    return torch.empty(shape, dtype=torch_dtype(dtype), device="meta")


def spec_of(x: Any) -> Spec:
    """Shape and dtype of a tensor or array, in NumPy's words."""
    dtype = torch.float32 if is_short(x) else x.dtype
    return tuple([int(n) for n in x.shape]), numpy_dtype(dtype)


def is_short(x: Any) -> bool:
    """Whether a tensor is of the type of real numbers that NumPy does not have."""
    return isinstance(x, torch.Tensor) and x.dtype is torch.bfloat16


def in_single_precision(call: Callable[[list[Any]], Sequence[Any]], given: Sequence[Any]) -> Sequence[Any]:
    """A call with longer numbers in the place of short ones; results are short again where nothing longer was given."""
    outputs = call([x.float() if is_short(x) else x for x in given])
    if not all(is_short(x) for x in given if isinstance(x, torch.Tensor) and has_derivative(x)):
        return outputs
    return [y.bfloat16() if y.dtype is torch.float32 else y for y in outputs]


def along_first(info: Any, dims: Sequence[int | None], tensors: Sequence[Any]) -> list[Any]:
    return [
        x.expand(info.batch_size, *x.shape) if dim is None else x.movedim(dim, 0)
        for x, dim in zip(tensors, dims, strict=True)
    ]


def spread(parts: Sequence[Any], places: Sequence[bool]) -> tuple[Any, ...]:
    given = iter(parts)
    return tuple([next(given) if has_one else None for has_one in places])
