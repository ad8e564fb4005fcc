"""Native mode: functions of NumPy's, and their rules, run on the arrays of another system.

A `NativeArray` holds an array of the system and speaks NumPy's protocols, so that NumPy code which gets it calls the
system's functions of the same names. The rules of a function do that too. So the system sees every operation of value
and derivative as one of its own, and compiles them, on whatever device they are.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable
from typing import Any, ClassVar, Literal

import numpy as np

from rulescore.backends.host.calls import HostCall
from rulescore.backends.host.functions import Arrays, Batched, HostFunction, Needs, Pullback, Pushforward, of_some
from rulescore.definitions.declarations import ignore_derivatives
from rulescore.tables.features import HasForwardMode, HasReverseMode
from rulescore.tables.names import name_of
from rulescore.tables.registry import frule, rrule
from rulescore.tangents.thunks import unthunk
from rulescore.tangents.zero import AbstractZero, NoTangent

Native = bool | Literal["auto"]
"""Whether a function runs on the system's own arrays: yes, no, or where it can."""


class NotNativeError(TypeError):
    """What a function does has no counterpart in the system that it is to run in."""


# ---------------------------------------------------------------- arrays


class NativeArray(np.lib.mixins.NDArrayOperatorsMixin):
    """An array of another system, for NumPy code."""

    system: ClassVar[NativeSystem]
    __rule_type__: ClassVar[type] = np.ndarray
    __slots__ = ("array",)

    def __init__(self, array: Any) -> None:
        self.array = array

    @property
    def dtype(self) -> Any:
        return self.system.dtype_of(self.array)

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.array.shape)

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return int(np.prod(self.shape))

    def __repr__(self) -> str:
        return f"<array of shape {self.shape} and dtype {self.dtype}, for {self.system.name}>"

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of unsized object")
        return self.shape[0]

    def __iter__(self) -> Any:
        return (self[i] for i in range(len(self)))

    def __getitem__(self, index: Any) -> Any:
        return self.system.call(self.system.with_methods(self).__getitem__, (index,), {})

    def __setitem__(self, index: Any, value: Any) -> None:
        raise self._refused("is written into", "build the array with np.where, np.stack or np.concatenate")

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if "out" in kwargs:
            raise self._refused("is written into (out=, or x += y)", "write x = x + y")
        if method == "__call__":
            return self.system.call(self.system.counterpart(ufunc), inputs, kwargs)
        reduction = _REDUCTIONS.get(ufunc) if method == "reduce" else None
        if reduction is None:
            raise NotNativeError(f"np.{ufunc.__name__}.{method} has no counterpart in {self.system.name}")
        kwargs.setdefault("axis", 0)
        return self.system.call(self.system.counterpart(reduction), inputs, kwargs)

    def __array_function__(self, f: Any, types: Any, args: Any, kwargs: Any) -> Any:
        kept = {name: value for name, value in kwargs.items() if name not in _WITHOUT_INFLUENCE.get(f, ())}
        return self.system.call(self.system.counterpart(f), args, kept)

    def __getattr__(self, name: str) -> Any:
        if name in _ATTRIBUTES:
            return self.system.wrap(getattr(self.system.with_methods(self), name))
        if name not in _METHODS:
            raise AttributeError(f"a {type(self).__name__} has no attribute {name!r}")
        method = getattr(self.system.with_methods(self), name)

        def call(*args: Any, **kwargs: Any) -> Any:
            return self.system.call(method, args, kwargs)

        return call

    # What needs numbers, which are not there while a program is traced:

    def __bool__(self) -> Any:
        raise self._refused("decides an if", "choose by np.where")

    def __float__(self) -> Any:
        raise self._refused("is made a number", "leave it an array")

    __int__ = __complex__ = __index__ = __float__

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        raise self._refused(
            "is made an array of NumPy's", "write np.stack([a, b]) for np.array([a, b]), and leave out np.asarray"
        )

    def _refused(self, what: str, advice: str) -> NotNativeError:
        return NotNativeError(
            f"an array {what}, which cannot run in {self.system.name}: {advice}; or leave out native=True"
        )


_ATTRIBUTES = frozenset({"T", "mT", "real", "imag"})
_METHODS = frozenset(
    [
        *("all", "any", "argmax", "argmin", "argsort", "astype", "clip", "conj", "conjugate", "copy", "cumprod"),
        *("cumsum", "diagonal", "dot", "flatten", "max", "mean", "min", "nonzero", "prod", "ravel", "repeat"),
        *("reshape", "round", "searchsorted", "squeeze", "std", "sum", "swapaxes", "take", "trace", "transpose", "var"),
    ]
)
# The algorithm of a sort, where the systems' are stable; and subclasses, which there are none of.
_WITHOUT_INFLUENCE: dict[Any, tuple[str, ...]] = {
    **dict.fromkeys((np.sort, np.argsort), ("kind",)),
    **dict.fromkeys((np.zeros_like, np.ones_like, np.empty_like, np.full_like), ("subok",)),
    **dict.fromkeys((np.broadcast_to, np.broadcast_arrays), ("subok",)),
}
_REDUCTIONS: dict[Any, Any] = {
    np.add: np.sum,
    np.multiply: np.prod,
    np.maximum: np.max,
    np.minimum: np.min,
    np.logical_and: np.all,
    np.logical_or: np.any,
}


# ---------------------------------------------------------------- systems


class NativeSystem(HasReverseMode, HasForwardMode):
    """What native mode needs to know of a system; and the `RuleConfig` of rules that call back into it.

    Attributes
    ----------
    name : str
        As messages call it.
    array_type : type
        Of its arrays.
    conjugates : bool
        Whether its cotangents of complex numbers are the conjugates of ours.
    modules : dict
        Which module of the system is the counterpart of one of NumPy or SciPy.
    """

    name: str
    array_type: type | tuple[type, ...]
    conjugates: bool
    modules: ClassVar[dict[str, str]]

    def __init__(self) -> None:
        self._kind = type(f"{self.name}Array", (NativeArray,), {"system": self, "__slots__": ()})
        self._scalar_kinds: dict[Any, type] = {}
        self._entered: Any = None  # the function whose call has begun, and nothing of its code yet

    def namespace(self, name: str) -> Any:
        """The system's counterpart of a module of NumPy or SciPy; None where it has none."""
        return importlib.import_module(self.modules[name]) if name in self.modules else None

    # What subclasses say.

    def dtype_of(self, array: Any) -> Any:
        """As NumPy's dtype."""
        return np.dtype(array.dtype)

    def with_methods(self, x: NativeArray) -> Any:
        """The array as an object that has NumPy's methods."""
        return x.array

    def result(self, y: Any) -> Any:
        """The array within what a function or method of the system's returned."""
        return y

    def constant(self, x: Any) -> Any:
        """What the system takes for an array, dtype or anything else that NumPy code has beside the arrays."""
        return x

    def vjp(self, f: Callable[..., list[Any]], arrays: Arrays) -> tuple[list[Any], Callable[[Arrays], Any]]:
        """The outputs, and from cotangents of the differentiable ones those of the arrays, as the system has them."""
        raise NotImplementedError

    def jvp(self, f: Callable[..., list[Any]], arrays: Arrays, tangents: Arrays) -> tuple[list[Any], list[Any]]:
        """The outputs, and the tangents of the differentiable ones."""
        raise NotImplementedError

    def vmap(self, f: Callable[..., list[Any]]) -> Callable[..., list[Any]]:
        """The function for each item along the first axis."""
        raise NotImplementedError

    def conj(self, x: Any) -> Any:
        """The complex conjugate."""
        raise NotImplementedError

    # Arrays in and out.

    def wrap(self, y: Any) -> Any:
        """The system's arrays for NumPy code, also within containers."""
        if isinstance(y, (list, tuple)):
            parts = [self.wrap(part) for part in y]
            return type(y)(*parts) if hasattr(y, "_fields") else type(y)(parts)
        y = self.result(y)
        return self._kind_of(y)(y) if isinstance(y, self.array_type) else y

    def _kind_of(self, y: Any) -> Any:
        if len(y.shape):
            return self._kind
        scalar = self.dtype_of(y).type  # rules for numbers serve arrays without axes, as on the host
        if scalar not in self._scalar_kinds:
            self._scalar_kinds[scalar] = type(
                f"{self.name}Number", (self._kind,), {"__rule_type__": scalar, "__slots__": ()}
            )
        return self._scalar_kinds[scalar]

    def unwrap(self, x: Any) -> Any:
        """The system's arrays in the place of what NumPy code holds."""
        if isinstance(x, NativeArray):
            return x.array
        if type(x) in (list, tuple):
            return type(x)([self.unwrap(part) for part in x])
        return self.constant(x)

    def call(self, f: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        """A function of the system's, from NumPy code."""
        try:
            found = f(*self.unwrap(args), **{name: self.unwrap(value) for name, value in kwargs.items()})
        except NotNativeError:
            raise
        except (TypeError, AttributeError, NotImplementedError) as error:  # keywords and types that it does not take
            raise NotNativeError(
                f"{name_of(f)} of {self.name} does not take what NumPy's does ({error}): leave out native=True"
            ) from error
        return self.wrap(found)

    def counterpart(self, f: Any) -> Callable[..., Any]:
        """The system's function that does what one of NumPy's or SciPy's does."""
        module, name = _place(f)
        found = self.stop_gradient if f is ignore_derivatives else getattr(self.namespace(module), name, None)
        if found is None:
            if f is self._entered:  # its own code, which it has handed over on seeing our arrays
                self._entered = None
                found = inspect.unwrap(f)
            elif f in rrule or f in frule:
                found = self.with_rules(f)
        if found is None or found is f:
            raise NotNativeError(f"{module}.{name} has no counterpart in {self.name}: leave out native=True")
        return found

    def with_rules(self, f: Any) -> Callable[..., Any]:
        """A function that is not the system's, as one of its own, with the rules that it has."""
        raise NotImplementedError

    # ------------------------------------------------------------ functions

    def natively(self, function: HostFunction) -> Callable[..., list[Any]]:
        """A function, or its derivative, from arrays of the system to a list of them."""
        if isinstance(function, HostCall):
            return lambda *arrays: self._outputs(function, arrays)
        if isinstance(function, Batched):
            return self.vmap(self.natively(function.function))
        assert isinstance(function, (Pushforward, Pullback))
        inner = function.function
        if isinstance(inner, Batched):  # items have nothing to do with each other
            return self.vmap(self.natively(_derivative_like(function, inner.function)))
        count = len(function.needs)
        if isinstance(function, Pushforward):
            return lambda *arrays: self._pushed(inner, arrays[:count], function.needs, arrays[count:])
        assert function.conjugate == self.conjugates
        return lambda *arrays: list(self._pulled(inner, arrays[:count], function.needs)(arrays[count:]))

    def _outputs(self, call: HostCall, arrays: Arrays) -> list[Any]:
        self._entered = call.function
        try:
            return list(map(self._as_result, call.outputs_of(self.wrap(tuple(arrays)))))
        finally:
            self._entered = None

    def _pushed(self, inner: HostFunction, arrays: Arrays, needs: Needs, tangents: Arrays) -> list[Any]:
        if isinstance(inner, HostCall):
            found = inner.jvp_by_rule(self.wrap(arrays), needs, self.wrap(tuple(tangents)), self)
            if found is not None:
                return list(map(self._as_result, found[1]))
            by_rule = self._pulled_by_rule(inner, arrays, needs)
            if by_rule is not None:  # the transpose of the pullback
                outputs, pull = by_rule
                seeds = [self.zeros_like(y) for y in outputs if self.is_differentiable(y)]
                _, transposed = self.vjp(lambda *ybars: list(pull(ybars)), seeds)
                return list(transposed(tangents))
            self._require_reach(inner)
        of_chosen, chosen = of_some(self.natively(inner), arrays, needs)
        return self.jvp(of_chosen, chosen, tangents)[1]

    def _pulled(self, inner: HostFunction, arrays: Arrays, needs: Needs) -> Callable[[Arrays], Any]:
        if isinstance(inner, HostCall):
            by_rule = self._pulled_by_rule(inner, arrays, needs)
            if by_rule is not None:
                return by_rule[1]
            chosen = [self.zeros_like(x) for x, need in zip(arrays, needs, strict=True) if need]
            if inner.jvp_by_rule(self.wrap(arrays), needs, self.wrap(tuple(chosen)), self) is not None:
                return self.vjp(lambda *tangents: self._pushed(inner, arrays, needs, tangents), chosen)[1]
            self._require_reach(inner)
        of_chosen, chosen = of_some(self.natively(inner), arrays, needs)
        return self.vjp(of_chosen, chosen)[1]

    def _pulled_by_rule(
        self, inner: HostCall, arrays: Arrays, needs: Needs
    ) -> tuple[list[Any], Callable[[Arrays], list[Any]]] | None:
        found = inner.vjp_by_rule(self.wrap(arrays), needs, self)
        if found is None:
            return None
        outputs, pull = found

        def pull_back(ybars: Arrays) -> list[Any]:
            bars = pull(self.wrap(tuple(map(self._conjugated, ybars))))
            return [self._conjugated(self._as_result(bar)) for bar in bars]

        return [self._as_result(y) for y in outputs], pull_back

    def _conjugated(self, x: Any) -> Any:
        return self.conj(x) if self.conjugates and self.dtype_of(x).kind == "c" else x

    def _require_reach(self, call: HostCall) -> None:
        module, name = _place(call.function)
        if call.has_rules_out_of_reach and not hasattr(self.namespace(module), name):
            raise NotNativeError(
                f"{call.name} has rules, but its arguments or results are not arrays and tuples of arrays alone, which "
                f"native mode of {self.name} needs: leave out native=True"
            )

    def is_differentiable(self, x: Any) -> bool:
        """Whether an array is of real or complex numbers."""
        return self.dtype_of(x).kind in "fc"

    def stop_gradient(self, x: Any) -> Any:
        """The array as a constant."""
        raise NotImplementedError

    def zeros_like(self, x: Any) -> Any:
        """Zeros of the shape and dtype of an array."""
        raise NotImplementedError

    def as_array(self, y: Any) -> Any:
        """An array of the system, from a number or an array of NumPy's."""
        raise NotImplementedError

    def _as_result(self, y: Any) -> Any:
        return y.array if isinstance(y, NativeArray) else self.as_array(y)

    # ------------------------------------------------------------ for rules that call back into AD

    def rrule_via_ad(self, f: Any, /, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
        outputs, pull = self.vjp(self._as_function(f, kwargs), [self._as_result(x) for x in args])

        def pullback(ybar: Any) -> tuple[Any, ...]:
            ybar = unthunk(ybar)
            seed = self.zeros_like(outputs[0]) if isinstance(ybar, AbstractZero) else self._as_result(ybar)
            bars = pull([self._conjugated(seed)])
            return (NoTangent(), *self.wrap(tuple(map(self._conjugated, bars))))

        return self.wrap(outputs[0]), pullback

    def frule_via_ad(self, tangents: tuple[Any, ...], f: Any, /, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
        arrays = [self._as_result(x) for x in args]
        directions = [
            self.zeros_like(x) if isinstance(dx, AbstractZero) else self._as_result(unthunk(dx))
            for x, dx in zip(arrays, tangents[1:], strict=True)
        ]
        outputs, dys = self.jvp(self._as_function(f, kwargs), arrays, directions)
        return self.wrap(outputs[0]), self.wrap(dys[0])

    def _as_function(self, f: Any, kwargs: Any) -> Callable[..., list[Any]]:
        return lambda *arrays: [self._as_result(f(*self.wrap(arrays), **kwargs))]


def _derivative_like(derivative: Pushforward | Pullback, function: HostFunction) -> HostFunction:
    if isinstance(derivative, Pushforward):
        return function.pushforward(derivative.needs)
    return function.pullback(derivative.needs, derivative.conjugate)


def _place(f: Any) -> tuple[str, str]:
    """The public module and name of a function of NumPy's or SciPy's."""
    name = getattr(f, "__name__", type(f).__name__)
    if isinstance(f, np.ufunc):
        return ("numpy" if getattr(np, name, None) is f else "scipy.special"), name
    module = getattr(f, "__module__", None) or "?"
    return ".".join([part for part in module.split(".") if not part.startswith("_")]), name


# ---------------------------------------------------------------- messages


def require_native_mode(what: str, native: Any) -> None:
    """Raise a `ValueError` unless there is such a mode."""
    if native not in (True, False, "auto"):
        raise ValueError(f"{what}: native={native!r}: write True, False or 'auto'")


def runs_on_host(function: HostFunction, error: Exception) -> str:
    """What is said of a function that ``native="auto"`` runs on the host."""
    return f"{function.name} runs on the host: {type(error).__name__}: {error}"
