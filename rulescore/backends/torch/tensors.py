"""PyTorch's tensors and NumPy's arrays, with the same memory where they can."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from rulescore.backends.host.extras import framework

torch = framework("torch", "torch")


def array_of(tensor: Any) -> Any:
    """The array with a tensor's memory; a number of NumPy's where it is one, which more functions take."""
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


def tensors_of(arrays: Sequence[Any], given: Sequence[Any], tensors: Sequence[Any]) -> tuple[Any, ...]:
    """Tensors with the memory of arrays, or of copies of those that share it with what was given or with each other.

    What was given comes from `array_of`.
    """
    found: list[Any] = []
    owners: list[Any] = []
    are_own = True
    for array in arrays:
        if type(array) is not np.ndarray:
            array = np.asarray(array)
        owner = owner_of(array) if are_own else None
        if owner is None:  # what comes after it may have its memory too
            are_own = False
            array = owner = _separate(array, [*given, *owners])
        elif any(owner is other for other in owners):
            array = owner = array.copy()
        owners.append(owner)
        found.append(tensor_of(array))
    for x in tensors:
        if not x.is_cpu:  # beside it there may be arrays, which are constants on the CPU
            return tuple([y.to(x.device) for y in found])
    return tuple(found)


def owner_of(array: Any) -> Any:
    """The array that has the memory of an array, where a tensor may have it; None where others may have it too."""
    # What was given has no memory of its own, or is not writeable. Of an array that was broadcast, NumPy warns already
    # when somebody looks at its flags.
    if type(array) is not np.ndarray:
        return None
    base = array.base
    if base is None:
        return array if array.flags.writeable else None
    if type(base) is not np.ndarray or base.base is not None or 0 in array.strides:
        return None
    return base if array.flags.c_contiguous and array.flags.writeable else None


def _separate(array: Any, others: Sequence[Any]) -> Any:
    """An array that may be written into without changing others."""
    if 0 in array.strides or not array.flags.writeable or any(np.may_share_memory(array, x) for x in others):
        return array.copy()
    return np.ascontiguousarray(array) if min(array.strides, default=0) < 0 else array


def tensor_of(array: Any) -> Any:
    """A tensor with the memory of an array."""
    try:
        return torch.from_numpy(array)
    except ValueError:  # strides below zero, which an array of one element may have too
        return torch.from_numpy(np.array(array, order="C"))
    except TypeError as error:
        raise TypeError(f"PyTorch has no tensors of {array.dtype}: return another dtype") from error


def constant_tensor(x: Any) -> Any:
    """A tensor with the memory of an array, or of a copy where PyTorch takes no such array."""
    if isinstance(x, (np.ma.MaskedArray, np.matrix)):
        raise TypeError(
            f"a function made by to_torch got a {type(x).__name__}, of which PyTorch knows nothing: pass a plain array"
        )
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


def along_first(info: Any, dims: Sequence[int | None], tensors: Sequence[Any]) -> list[Any]:
    return [
        x.expand(info.batch_size, *x.shape) if dim is None else x.movedim(dim, 0)
        for x, dim in zip(tensors, dims, strict=True)
    ]


def spread(parts: Sequence[Any], places: Sequence[bool]) -> tuple[Any, ...]:
    given = iter(parts)
    return tuple([next(given) if has_one else None for has_one in places])
