"""Finding out which result of a call is a view of an argument.

It is not known from functions but seen in memory: a result is one of the argument whose memory it shares. The arguments
of a differentiated function are separate, also where they were views of one array outside of it.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import Any

import numpy as np

from rulescore.ad.in_place.memory import copy_of, is_writeable, may_overlap_itself, owner_of, read_only
from rulescore.ad.in_place.views import View, is_simple, root_of, view_call
from rulescore.ad.tracing.calls import Call
from rulescore.ad.tracing.tracers import Tracer, plain_class, special_class, value_beneath
from rulescore.ad.values.trees import leaves_of, map_containers
from rulescore.tangents.kinds import is_a
from rulescore.tangents.structure import rebuild, structure_of

_ndarray, _float64 = np.ndarray, np.float64


def settled(y: Any, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The result of a call as the user gets it: a view of the argument whose memory it shares, or a read-only array."""
    if isinstance(y, Tracer):
        if y.__rule_type__ is _float64:  # a number is a view of nothing
            return y
        return y if _is_settled(y, args) else as_view(y, Call(f, args, kwargs))
    if type(y) is np.ndarray:
        return released(y, args)
    if isinstance(y, tuple) and _are_settled(y, args):
        return y
    fields = structure_of(y)
    if not fields or _are_settled(fields.values(), args):
        return y
    call = Call(f, args, kwargs)
    return rebuild(y, {key: _settled_part(part, call, key) for key, part in fields.items()})


def _are_settled(parts: Iterable[Any], args: tuple[Any, ...]) -> bool:
    for part in parts:  # noqa: SIM110 (a generator takes twice as long)
        if not _is_settled(part, args):
            return False
    return True


def _is_settled(part: Any, args: tuple[Any, ...]) -> bool:
    """Whether an output of a call shares memory with no argument, as most do; containers are to be looked into."""
    if not isinstance(part, Tracer):
        return not isinstance(part, (tuple, list, dict))
    bottom = part._value
    if type(bottom) is not _ndarray:
        bottom = value_beneath(bottom)
        if type(bottom) is not _ndarray:
            return isinstance(bottom, np.generic)
    if bottom.base is not None:
        return False
    for x in args:
        if isinstance(x, Tracer):
            x = x._value
            if x is bottom or (type(x) is not _ndarray and value_beneath(x) is bottom):
                return False
    return True


def _settled_part(part: Any, call: Call, key: Any) -> Any:
    if isinstance(part, Tracer):
        return as_view(part, call, key)
    # Views within containers are not kept track of.
    return map_containers(_copied, part) if isinstance(part, (tuple, list, dict)) else part


def _copied(x: Any) -> Any:
    if isinstance(x, Tracer) and getattr(x._value, "base", None) is not None:
        x._value = x._value.copy()
    return x


def as_view(tracer: Tracer, call: Any, key: Any = None) -> Any:
    """The result of a call, or the item ``key`` of it, as a view of the argument whose memory it shares, if of any."""
    bottom = value_beneath(tracer)
    if not isinstance(bottom, np.ndarray) or not tracer.may_be_view(call):
        return tracer
    base = _base_of(bottom, call, key)
    if base is None:
        return tracer
    if not isinstance(base, Tracer):  # an ordinary array, which would have to be written to when the view is
        tracer._value = read_only(tracer._value)
        return tracer
    if tracer._value is base._value and tracer._trace is base._trace and is_numpys(call.f):
        return base  # np.asarray and the like: not a view, but the array itself
    if bottom.size == 0:
        return tracer
    view: Any = object.__new__(special_class(View, plain_class(type(tracer))))
    view._base = base
    view._root = root = root_of(base)
    only_looks = is_simple(call) and call.f not in _BY_NUMBERS and not _module_of(call.f).startswith("scipy.")
    view._origin = view_call(call, key, base, None if only_looks else bottom)
    view._shape = tracer.shape
    flags = bottom.flags
    view._flags = flags.num if is_numpys(call.f) else 0
    view._overlaps = (issubclass(type(base), View) and base._overlaps) or (
        not (call.f is operator.getitem or flags.c_contiguous or flags.f_contiguous)
        and may_overlap_itself(bottom.shape, bottom.strides, bottom.itemsize)
    )
    tracer._value = root.held_by_view(tracer)
    view.show(tracer)
    return view


_BY_NUMBERS = (np.trim_zeros, np.real_if_close)
"""Functions that look at the numbers of an array to find out which view to return."""


def is_numpys(f: Any) -> bool:
    """Whether a function is one of NumPy's own, or SciPy's, whose rule holds for any view of its result.

    A function of a user may do the same and have a rule of its own all the same, to reverse a gradient for instance.
    """
    return (
        f is operator.getitem
        or getattr(f, "__objclass__", None) is np.ndarray
        or _module_of(f).split(".")[0] in ("numpy", "scipy")
    )


def _module_of(f: Any) -> str:
    return getattr(f, "__module__", None) or ""


def _base_of(bottom: Any, call: Any, key: Any) -> Any:
    """The array or tracer among the arguments that a result is a view of; None where there is none."""
    if is_simple(call):
        return call.args[0] if _is_in_memory_of(bottom, call.args[0]) else None
    leaves = leaves_of((call.args, call.kwargs))
    found = list({id(x): x for x in leaves if _is_in_memory_of(bottom, x)}.values())
    if len(found) < 2:
        return found[0] if found else None
    # Views of one array: the result is one of that argument without whose memory it would lie elsewhere.
    return next((x for x in found if _lies_in_copy(x, call, key)), found[0])


def _is_in_memory_of(array: Any, x: Any) -> bool:
    """Whether an array lies in memory that belongs to what is beneath a tracer or array."""
    beneath = value_beneath(x)
    return isinstance(beneath, np.ndarray) and owner_of(beneath) is owner_of(array)


def _lies_in_copy(base: Any, call: Any, key: Any) -> bool:
    """Whether the result is a view of a copy of one argument, when that takes the place of the argument."""
    copy = copy_of(value_beneath(base))
    y = view_call(call, key, base).of(copy)
    return is_a(y, np.ndarray) and owner_of(y) is owner_of(copy)


def released(y: Any, args: Any) -> Any:
    """A result without a derivative, as it is handed to the user: read-only where it is the array within a tracer.

    ``ignore_derivatives(x)`` hands out that array, which the caller may own and a tape may have saved.
    """
    if type(y) is not np.ndarray or not y.size or y.dtype.kind not in "fc" or not is_writeable(y.flags.num):
        return y
    is_within_tracer = any(isinstance(x, Tracer) and _is_in_memory_of(y, x) for x in leaves_of(args))
    return read_only(y) if is_within_tracer else y
