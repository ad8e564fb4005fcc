"""Calls within a compiled program: the custom operator, between taking containers apart and putting them together."""

from __future__ import annotations

import ctypes
import enum
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import optree

from rulescore.backends.host.calls import HostCall
from rulescore.backends.host.extras import framework
from rulescore.backends.host.finding import Calls
from rulescore.backends.torch.custom_operator import function_of, number_of, operator
from rulescore.backends.torch.tensors import in_single_precision, is_short

torch = framework("torch", "torch")

from torch.fx.experimental.symbolic_shapes import guard_scalar  # noqa: E402


def compiled_call(calls: Calls, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The call as the compiler sees it: an operator between taking containers apart and putting them together."""
    tensors: list[Any] = []
    number = _number_of_call(calls, _form(args, tensors), _form(kwargs, tensors))
    # The operator calls the function, so that the form of its result is known.
    if any(map(is_short, tensors)):
        outputs = in_single_precision(lambda tensors: operator(tensors, number), tensors)
    else:
        outputs = operator(tensors, number)
    return _formed(_form_of_result(number), outputs)


# What the compiler may take for a constant are tuples of strings and numbers; so the structure of containers is made of
# these, in code that it can follow.


_named_tuples: list[type] = []


def _form(x: Any, tensors: list[Any]) -> Any:
    """What a container looks like around its tensors."""
    if isinstance(x, (int, float)):  # the compiler's, which may stand for any, is this one: a program for each
        return ("constant", guard_scalar(x))
    if isinstance(x, np.ndarray):  # the compiler's own, which has no value to it; so are numbers of NumPy's
        x = torch.as_tensor(x)
    if isinstance(x, torch.Tensor):
        tensors.append(x)
        return ("tensor", len(tensors) - 1)
    if isinstance(x, tuple) and hasattr(x, "_fields"):
        return ("named tuple", _number_of_class(type(x)), tuple([_form(part, tensors) for part in x]))
    if isinstance(x, (tuple, list)):
        return ("list" if isinstance(x, list) else "tuple", tuple([_form(part, tensors) for part in x]))
    if isinstance(x, dict):
        return ("dict", tuple(x.keys()), tuple([_form(part, tensors) for part in x.values()]))
    if _are_constant(type(x)):
        return ("constant", x)
    return ("object", type(x), id(x))  # for which the compiler makes a program for each object


@torch.compiler.assume_constant_result  # type: ignore[untyped-decorator]
def _are_constant(cls: type) -> bool:
    """Whether the compiler takes objects of a class for constants."""
    package = cls.__module__.partition(".")[0]
    return issubclass(cls, enum.Enum) or package in ("builtins", "functools", "numpy", "torch")


@torch.compiler.assume_constant_result  # type: ignore[untyped-decorator]
def _number_of_class(cls: type) -> int:
    if cls not in _named_tuples:
        _named_tuples.append(cls)
    return _named_tuples.index(cls)


def _formed(form: Any, tensors: Sequence[Any]) -> Any:
    """The container of a form."""
    kind = form[0]
    if kind == "tensor":
        return tensors[form[1]]
    if kind == "constant":
        return form[1]
    if kind == "object":
        return _object_of(*form[1:])
    parts = [_formed(part, tensors) for part in form[-1]]
    if kind == "dict":
        return dict(zip(form[1], parts, strict=True))
    if kind == "named tuple":
        return _named_tuples[form[1]](*parts)
    return parts if kind == "list" else tuple(parts)


def _object_of(cls: type, number: int) -> Any:
    """The object of which this is the `id`, while a program is made of a call with it."""
    x = ctypes.cast(number, ctypes.py_object).value
    if type(x) is not cls:  # but what the compiler has in its place
        raise TypeError(
            f"a function made by to_torch was called with an object of {cls.__qualname__} that was made within a "
            "compiled program: make it outside"
        )
    return x


@torch.compiler.assume_constant_result  # type: ignore[untyped-decorator]
def _number_of_call(calls: Calls, args: Any, kwargs: Any) -> int:
    places = [torch.empty(0)] * sum(1 for _ in _places(args)) + [torch.empty(0)] * sum(1 for _ in _places(kwargs))
    call, _ = calls.find(_formed(args, places), _formed(kwargs, places))
    calls.kept.add(call)
    return number_of(call, torch.compiler.is_exporting())


def _places(form: Any) -> Iterator[int]:
    if form[0] == "tensor":
        yield form[1]
    elif form[0] not in ("constant", "object"):
        for part in form[-1]:
            yield from _places(part)


@torch.compiler.assume_constant_result  # type: ignore[untyped-decorator]
def _form_of_result(number: int) -> Any:
    call = function_of(number)
    assert isinstance(call, HostCall)
    if call.structure is None:
        raise TypeError(f"{call.name} has to be called once before a program with it is compiled")
    structure = call.structure
    return _form_of_numbers(optree.tree_unflatten(structure, range(structure.num_leaves)))


def _form_of_numbers(x: Any) -> Any:
    if isinstance(x, int):
        return ("tensor", x)
    if x is None:
        return ("constant", None)
    if isinstance(x, tuple) and hasattr(x, "_fields"):
        return ("named tuple", _number_of_class(type(x)), tuple(map(_form_of_numbers, x)))
    if isinstance(x, (tuple, list)):
        return ("list" if isinstance(x, list) else "tuple", tuple(map(_form_of_numbers, x)))
    if isinstance(x, dict):
        return ("dict", tuple(x), tuple(map(_form_of_numbers, x.values())))
    raise TypeError(f"a compiled program cannot put a {type(x).__name__} together: return tuples, lists or dicts")
