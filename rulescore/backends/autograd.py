"""HIPS autograd: functions of NumPy arrays with rules as its primitives, and the rules that its own functions lack.

All functions are one primitive, "call this `HostFunction`", whose derivatives are calls of it again.
"""

from __future__ import annotations

import functools
import importlib
import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import optree

from rulescore.backends.host.calls import HostCall
from rulescore.backends.host.extras import framework
from rulescore.backends.host.finding import Calls
from rulescore.backends.host.foreign_functions import ForeignFunction, as_function_of_arrays
from rulescore.backends.host.functions import HostFunction, conjugate, is_differentiable
from rulescore.tables.features import HasReverseMode
from rulescore.tables.registry import frule, rrule
from rulescore.tangents.thunks import unthunk
from rulescore.tangents.zero import AbstractZero, NoTangent
from rulescore.wrappers import Wrapper

framework("autograd", "autograd")

import autograd.numpy as autograd_numpy  # noqa: E402
from autograd.builtins import DictBox, SequenceBox  # noqa: E402
from autograd.builtins import tuple as boxed_tuple  # noqa: E402
from autograd.core import (  # noqa: E402
    JVPNode,
    VJPNode,
    make_vjp,
    primitive_jvps,
    primitive_vjps,
    vspace,
)
from autograd.extend import Box, defjvp_argnums, defvjp_argnums, primitive  # noqa: E402
from autograd.numpy.numpy_boxes import ArrayBox  # noqa: E402
from autograd.tracer import isbox, notrace_primitives  # noqa: E402

# ---------------------------------------------------------------- the primitive


class _Last(threading.local):
    """The call made last, for its pullback: autograd asks for the derivative of a call after it has made it."""

    value: Any = None
    needs: Any = None
    pull: Any = None


_last = _Last()


def host_call(function: HostFunction, arrays: Sequence[Any]) -> tuple[Any, ...]:
    """The outputs of a function, as boxes that know how to be differentiated."""
    needs = tuple([isbox(x) for x in arrays])
    if True not in needs:
        return tuple(function(arrays))
    return tuple([y if is_differentiable(y) else _value(y) for y in _parts(_host_call(function, needs, *arrays))])


def _parts(y: Any) -> list[Any]:
    """The outputs; autograd's box of a tuple is no tuple."""
    return [y[i] for i in range(len(y))] if isinstance(y, (tuple, SequenceBox)) else [y]


def _value(x: Any) -> Any:
    while isbox(x):
        x = x._value
    return x


@primitive  # type: ignore[untyped-decorator]
def _host_call(function: HostFunction, needs: tuple[bool, ...], *arrays: Any) -> Any:
    """The value, whose pullback is kept for `_vjps`; several outputs are a tuple.

    One primitive serves all functions, since autograd keeps each that it has seen.
    """
    needs = tuple([need and is_differentiable(x) for need, x in zip(needs, arrays, strict=True)])
    if True in needs:
        outputs, _last.pull = function.vjp(arrays, needs)
    else:
        outputs, _last.pull = function(arrays), None
    # Autograd has no boxes for integers of NumPy, but for arrays of them.
    outputs = tuple([y if is_differentiable(y) else np.asarray(y) for y in outputs])
    _last.value, _last.needs = outputs[0] if len(outputs) == 1 else outputs, needs
    return _last.value


_BEFORE = 2
"""Arguments of `_host_call` before the arrays."""


def _vjps(argnums: Sequence[int], ans: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Callable[[Any], Any]:
    function, arrays = args[0], args[_BEFORE:]
    argnums = [i - _BEFORE for i in argnums]
    asked, pull = _needs(argnums, arrays), None
    if ans is _last.value:
        pull = _last.pull if _last.needs == asked else None
        _last.value = _last.pull = None
    return _pullback(function, arrays, asked, argnums, ans, pull)


def _needs(argnums: Sequence[int], arrays: Sequence[Any]) -> tuple[bool, ...]:
    return tuple([i in argnums and is_differentiable(x) for i, x in enumerate(arrays)])


def _pullback(
    function: HostFunction, arrays: Sequence[Any], needs: tuple[bool, ...], asked: Sequence[int], ans: Any, pull: Any
) -> Callable[[Any], Any]:
    has_one = [is_differentiable(y) for y in _parts(ans)]

    def vjp(ybar: Any) -> list[Any]:
        seeds = [seed for seed, has in zip(_parts(ybar), has_one, strict=True) if has]
        if pull is not None and not any(map(isbox, seeds)):
            bars = [conjugate(bar) for bar in pull([conjugate(seed) for seed in seeds])]
        else:
            bars = list(host_call(function.pullback(needs, conjugate=True), [*arrays, *seeds])) if any(needs) else []
        found = iter(bars)
        by_array = [next(found) if need else None for need in needs]
        return [vspace(arrays[i]).zeros() if by_array[i] is None else by_array[i] for i in asked]

    return vjp


def _jvps(argnums: Sequence[int], tangents: Any, ans: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return _pushed(args[0], args[_BEFORE:], [i - _BEFORE for i in argnums], list(tangents), ans)


defvjp_argnums(_host_call, _vjps)
defjvp_argnums(_host_call, _jvps)


def _pushed(function: HostFunction, arrays: Sequence[Any], moved: Sequence[int], tangents: list[Any], ans: Any) -> Any:
    needs = tuple([i in moved and is_differentiable(x) for i, x in enumerate(arrays)])
    by_array = dict(zip(moved, tangents, strict=True))
    directions = [by_array[i] for i, need in enumerate(needs) if need]
    outputs = _parts(ans)
    found = iter(host_call(function.pushforward(needs), [*arrays, *directions]) if directions else ())
    dys = [next(found) if directions and is_differentiable(y) else vspace(y).zeros() for y in outputs]
    return boxed_tuple(dys) if isinstance(ans, (tuple, SequenceBox)) else dys[0]


# ---------------------------------------------------------------- functions for autograd

_ARRAYS = (np.ndarray, np.generic, float, complex, Box)


def to_autograd(f: Callable[..., Any]) -> Callable[..., Any]:
    """A function that HIPS autograd differentiates, from a Python function of NumPy arrays.

    Parameters
    ----------
    f : callable
        With rules, or of NumPy code that `rulescore.ad` differentiates. Arguments and results may be nested tuples,
        lists and dicts.

    Returns
    -------
    callable
        With the arguments of ``f``; arrays and floats are differentiated, everything else is fixed and has to be
        hashable. It works with all of autograd, in both modes and to any order.

    Raises
    ------
    TypeError
        When ``f`` cannot be called; from the returned function, when an argument is neither an array nor hashable.

    Notes
    -----
    Cotangents of complex numbers are the conjugates of those of rules, as everywhere in autograd.

    Examples
    --------
    >>> import numpy as np
    >>> from autograd import grad
    >>> from rulescore.backends.autograd import to_autograd
    >>> grad(to_autograd(np.linalg.det))(np.array([[2.0, 1.0], [0.0, 3.0]]))
    array([[ 3., -0.],
           [-1.,  2.]])
    """
    return _Function(f)


class _Function(Wrapper):
    def __init__(self, f: Callable[..., Any]) -> None:
        self._calls = Calls("to_autograd", f, _ARRAYS, optree.tree_flatten, optree.tree_unflatten)
        super().__init__(f, to_autograd)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        y = None if kwargs else _traced_once(self._calls, args)
        if y is not None:
            return y
        call, arrays = self._calls.find(_opened(args), _opened(kwargs) if kwargs else kwargs)
        outputs = host_call(call, arrays)
        return optree.tree_unflatten(call.structure, outputs)


def _traced_once(calls: Calls, args: tuple[Any, ...]) -> Any:
    """The box of what the function returns, in the most frequent calls, which need not be autograd's primitives.

    These are: real arrays as arguments, some of them differentiated in reverse mode and nothing else, and constants of
    a call before; a real array as the result, as the last time. All others are None.
    """
    found = calls.find_known(args)
    if found is None:
        return None
    call, arrays = found
    trace: Any = None
    values, needs = [], []
    parents: list[Any] = []
    for x in arrays:
        if type(x) is ArrayBox:
            if type(x._node) is not VJPNode or (parents and x._trace != trace):
                return None
            trace = x._trace
            parents.append(x._node)
            needs.append(True)
            x = x._value
        else:
            needs.append(False)
        if type(x) is not np.ndarray or x.dtype.kind != "f":
            return None
        values.append(x)
    if not parents or not call.returns_one_array:
        return None
    (y, *others), pull = call.vjp(values, tuple(needs))
    if others or type(y) is not np.ndarray or y.dtype.kind != "f" or not call.returns_one_array:
        return None

    def vjp(ybar: Any) -> Any:
        if type(ybar) is np.ndarray and ybar.dtype.kind == "f":
            return pull((ybar,))
        return _pullback(call, values, tuple(needs), [i for i, need in enumerate(needs) if need], y, pull)(ybar)

    node = VJPNode.__new__(VJPNode)
    node.parents, node.vjp = parents, vjp
    return ArrayBox(y, trace, node)


def _opened(x: Any) -> Any:
    """Containers in the place of autograd's boxes of containers."""
    if isinstance(x, SequenceBox):
        return type(x._value)([_opened(x[i]) for i in range(len(x))])
    if isinstance(x, DictBox):
        return {key: _opened(x[key]) for key in x._value}
    if type(x) in (tuple, list):
        return type(x)(map(_opened, x))
    if type(x) is dict:
        return {key: _opened(part) for key, part in x.items()}
    return x


# ---------------------------------------------------------------- what autograd lacks

_NAMESPACES = ("numpy", "numpy.linalg", "numpy.fft", "scipy.special", "scipy.linalg", "scipy.signal")


def extend_autograd() -> dict[str, str]:
    """Give HIPS autograd the rules that its functions of NumPy and SciPy lack.

    A function of ``autograd.numpy`` and its like that has no derivative there is replaced by that of `to_autograd`; one
    that has one mode only gets the other. Functions that autograd differentiates stay as they are. Calling it again
    changes nothing.

    Returns
    -------
    dict
        What was added, by name: ``"both"``, ``"reverse"`` or ``"forward"``.

    Examples
    --------
    >>> import autograd.numpy as anp, numpy as np
    >>> from autograd import grad
    >>> from rulescore.backends.autograd import extend_autograd
    >>> added = extend_autograd()
    >>> grad(lambda x: anp.median(x))(np.array([1.0, 5.0, 2.0]))
    array([0., 0., 1.])
    """
    added: dict[str, str] = {}
    for name in _NAMESPACES:
        namespace = _module(f"autograd.{name}")
        if namespace is None:
            continue
        for attribute, wrapped in list(vars(namespace).items()):
            f = getattr(wrapped, "fun", None)
            if f is None or not getattr(wrapped, "_is_autograd_primitive", False) or not _has_rules(f):
                continue
            missing = _extend(namespace, attribute, wrapped, f)
            if missing:
                added[f"{name}.{attribute}"] = missing
    return added


def _module(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:  # the namespace exists with the part of SciPy that is installed
        return None


def _has_rules(f: Any) -> bool:
    records = [record for table in (rrule, frule) for record in table.records(f) if not record.opted_out]
    return any("non-differentiable" not in record.tags for record in records)


def _extend(namespace: Any, attribute: str, wrapped: Any, f: Any) -> str:
    has_reverse = wrapped in primitive_vjps or wrapped in notrace_primitives[VJPNode]
    has_forward = wrapped in primitive_jvps or wrapped in notrace_primitives[JVPNode]
    if has_reverse and has_forward:
        return ""
    if not has_reverse and not has_forward:
        setattr(namespace, attribute, to_autograd(f))
    calls = Calls("extend_autograd", f, _ARRAYS, optree.tree_flatten, optree.tree_unflatten)
    if not has_reverse:
        defvjp_argnums(wrapped, functools.partial(_vjps_of_call, calls))
    if not has_forward:
        defjvp_argnums(wrapped, functools.partial(_jvps_of_call, calls))
    return "both" if not has_reverse and not has_forward else "reverse" if not has_reverse else "forward"


def _vjps_of_call(calls: Calls, argnums: Any, ans: Any, args: Any, kwargs: Any) -> Callable[[Any], Any]:
    call, arrays, places = _places(calls, argnums, args, kwargs)
    needs = tuple([i in places and is_differentiable(x) for i, x in enumerate(arrays)])
    return _pullback(call, arrays, needs, places, ans, None)


def _jvps_of_call(calls: Calls, argnums: Any, tangents: Any, ans: Any, args: Any, kwargs: Any) -> Any:
    call, arrays, places = _places(calls, argnums, args, kwargs)
    return _pushed(call, arrays, places, list(tangents), ans)


def _places(
    calls: Calls, argnums: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[HostCall, Any, list[int]]:
    """The call, its arrays, and which of them the arguments are that autograd asks for."""
    call, arrays = calls.find(args, kwargs)
    positions = [i for i, x in enumerate(args) if isinstance(x, _ARRAYS)]
    return call, arrays, [positions.index(i) for i in argnums]


# ---------------------------------------------------------------- functions from autograd


class _AutogradFunction(ForeignFunction):
    """A function of autograd's arrays."""

    def value(self, arrays: Sequence[Any]) -> list[Any]:
        return self.function(*arrays)

    def vjp(self, arrays: Sequence[Any]) -> tuple[list[Any], Callable[[Sequence[Any]], list[Any]]]:
        outputs, pull = self._vjp(arrays)
        return [_value(y) for y in outputs], pull

    def _vjp(self, arrays: Sequence[Any]) -> tuple[list[Any], Callable[[Sequence[Any]], list[Any]]]:
        chosen = boxed_tuple([x for x in arrays if is_differentiable(x)])
        constant: dict[int, Any] = {}

        def of_chosen(given: Any) -> Any:
            parts = iter([given[i] for i in range(len(given))])
            outputs = self.function(*[next(parts) if is_differentiable(x) else x for x in arrays])
            constant.update({i: y for i, y in enumerate(outputs) if not is_differentiable(y)})
            return boxed_tuple([y for y in outputs if is_differentiable(y)])

        pull, moving = make_vjp(of_chosen, chosen)
        parts = iter([moving[i] for i in range(len(moving))])
        outputs = [constant[i] if i in constant else next(parts) for i in range(len(moving) + len(constant))]

        def pull_back(ybars: Sequence[Any]) -> list[Any]:
            bars = pull(boxed_tuple([_conjugated(ybar) for ybar in ybars]))
            return [_conjugated(bars[i]) for i in range(len(chosen))]

        return outputs, pull_back

    def jvp(self, arrays: Sequence[Any], tangents: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        outputs, dys = self._jvp(arrays, tangents)
        return [_value(y) for y in outputs], dys

    def _jvp(self, arrays: Sequence[Any], tangents: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        outputs, _ = self._vjp(arrays)

        # The pullback is linear in the cotangent; its own vjp in that is the pushforward, which not every function of
        # autograd's has.
        def of_cotangents(ybars: Any) -> Any:
            return boxed_tuple(self._vjp(arrays)[1]([ybars[i] for i in range(len(ybars))]))

        zeros = boxed_tuple([np.zeros_like(_value(y)) for y in outputs if is_differentiable(y)])
        pull, _ = make_vjp(of_cotangents, zeros)
        dys = pull(boxed_tuple([_conjugated(dx) for dx in tangents]))
        return outputs, [_conjugated(dys[i]) for i in range(len(zeros))]

    def pullback(self, count: int) -> _AutogradFunction:
        def pullback(*arrays: Any) -> list[Any]:
            return self._vjp(arrays[:count])[1](arrays[count:])

        return _AutogradFunction(pullback, f"the pullback of {self.name}")

    def pushforward(self, count: int) -> _AutogradFunction:
        def pushforward(*arrays: Any) -> list[Any]:
            return self._jvp(arrays[:count], arrays[count:])[1]

        return _AutogradFunction(pushforward, f"the pushforward of {self.name}")


def _conjugated(x: Any) -> Any:
    return autograd_numpy.conj(x) if np.iscomplexobj(_value(x)) else x


def from_autograd(g: Callable[..., Any]) -> Callable[..., Any]:
    """A function of NumPy arrays, with rules, from one of HIPS autograd's.

    Parameters
    ----------
    g : callable
        Of ``autograd.numpy`` code. Its arguments and results are arrays and nested containers of them.

    Returns
    -------
    callable
        With the arguments of ``g``, which autograd differentiates, to any order (forward mode by two pullbacks). It is
        a `rulescore.ad.primitive` with an ``frule`` and an ``rrule``, so that the testers and all other systems take
        it.

    Raises
    ------
    TypeError
        When ``g`` cannot be called.

    Examples
    --------
    >>> import autograd.numpy as anp, numpy as np
    >>> from rulescore.ad import grad
    >>> from rulescore.backends.autograd import from_autograd
    >>> swish = from_autograd(lambda x: x / (1 + anp.exp(-x)))
    >>> grad(swish)(np.float64(0.0))
    np.float64(0.5)
    """
    return as_function_of_arrays(g, from_autograd, _AutogradFunction)


# ---------------------------------------------------------------- for rules that call back into AD


class AutogradConfig(HasReverseMode):
    """HIPS autograd for rules of higher-order functions: they hand it functions of ``autograd.numpy``."""

    def rrule_via_ad(self, f: Any, /, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
        pull, y = make_vjp(lambda boxed: f(*[boxed[i] for i in range(len(args))], **kwargs), boxed_tuple(args))

        def pullback(ybar: Any) -> tuple[Any, ...]:
            ybar = unthunk(ybar)
            bars = pull(vspace(y).zeros() if isinstance(ybar, AbstractZero) else _conjugated(ybar))
            return (NoTangent(), *[_conjugated(bars[i]) for i in range(len(args))])

        return y, pullback
