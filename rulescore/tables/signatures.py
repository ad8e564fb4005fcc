"""What a rule's Python signature says: which types it dispatches on, and which keywords it takes."""

from __future__ import annotations

import dataclasses
import functools
import inspect
import itertools
import types
import typing
from collections.abc import Callable, Mapping
from typing import Any

from multipledispatch.variadic import Variadic, isvariadic

_POSITIONAL_KINDS = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


class _IdentityMeta(type):
    """Metaclass of `typeof` types."""

    value: Any


class _StandInMeta(type):
    """Metaclass of stand-ins for classes of callable objects: the `typeof` types of their objects are subclasses."""

    stands_for: type

    def __subclasscheck__(cls, subclass: type) -> bool:
        if isinstance(subclass, _IdentityMeta):
            return isinstance(subclass.value, cls.stands_for)
        return issubclass(plain_type(subclass), cls.stands_for)


_identity_types: dict[Any, _IdentityMeta] = {}
_stand_ins: dict[type, _StandInMeta] = {}


def typeof(g: Any) -> type:
    """The type with ``g`` as its only instance, to dispatch on a function passed as an argument.

    It is more specific than the class of ``g``, than `collections.abc.Callable` and than `object`; Julia writes it
    ``::typeof(g)``.

    Parameters
    ----------
    g : callable
        A function, ufunc or class. It must be hashable.

    Examples
    --------
    >>> import numpy as np
    >>> from rulescore import pullback_wrt, rrule
    >>> def pool(x, f): return f(x)
    >>> @rrule.register(pool, object, typeof(np.sum))
    ... def pool_sum_rrule(x, f):
    ...     shape = x.shape
    ...     return np.sum(x), pullback_wrt(x)(lambda ybar: np.full(shape, ybar))
    >>> rrule(pool, np.ones(2), np.sum)[1](3.0)
    (NoTangent(), array([3., 3.]))
    >>> rrule(pool, np.ones(2), np.mean) is None
    True
    """
    if not callable(g):
        raise TypeError(f"typeof({g!r}): only functions are dispatched on by identity; register the class of the value")
    if g not in _identity_types:
        identity_type = _IdentityMeta(f"typeof({getattr(g, '__name__', repr(g))})", (), {})
        identity_type.value = g
        return _identity_types.setdefault(g, identity_type)  # that of the first thread
    return _identity_types[g]


@dataclasses.dataclass(frozen=True)
class InstancesOf:
    """See `instances_of`."""

    cls: type


def instances_of(cls: type) -> InstancesOf:
    """Every object of a class, as the function that a rule is for: ``rrule.register(instances_of(Dense))``.

    The rule's first argument is the object, and its first cotangent the object's structural tangent.
    """
    if not isinstance(cls, type):
        raise TypeError(f"instances_of({cls!r}): expected a class; a single function is registered by itself")
    return InstancesOf(cls)


def value_of(identity_type: type) -> Any:
    """The function that a `typeof` type stands for, or None for any other type."""
    return identity_type.value if isinstance(identity_type, _IdentityMeta) else None


def plain_type(t: type) -> type:
    """The class as its author wrote it, where a signature holds a stand-in for it."""
    return t.stands_for if isinstance(t, _StandInMeta) else t


def rule_type(t: type) -> type:
    """The type that a wrapper stands in for, such as a tracer for the array it holds; else the type itself."""
    return getattr(t, "__rule_type__", t)


class Omitted:
    """In the place of a type: the caller left the argument out, and its default suits every signature of the rule."""


class Parameters:
    """The parameters of a rule that are the function's own: those after tangents, config and object."""

    __slots__ = (
        "accepts_any_keyword",
        "annotations",
        "defaults",
        "keyword_only",
        "labels",
        "maximum",
        "minimum",
        "names",
        "required_keywords",
        "variadic",
        "wants_needs",
    )

    def __init__(self, implementation: Callable[..., Any], leading: int) -> None:
        parameters = list(inspect.signature(implementation).parameters.values())
        # A rule written as `def rule(*args)` takes the leading parameters in its star.
        own = [p for i, p in enumerate(parameters) if i >= leading or p.kind not in _POSITIONAL_KINDS]
        positional = [p for p in own if p.kind in _POSITIONAL_KINDS]
        star = next((p for p in parameters if p.kind is inspect.Parameter.VAR_POSITIONAL), None)
        self.labels = [p.name for p in positional]
        self.names: tuple[str | None, ...] = tuple(
            p.name if p.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD else None for p in positional
        )
        self.minimum = sum(p.default is inspect.Parameter.empty for p in positional)
        self.maximum: int | None = None if star is not None else len(positional)
        self.defaults = [p.default for p in positional]
        self.annotations = [p.annotation for p in positional]
        self.variadic = None if star is None else star.annotation
        keyword_only = [p.name for p in own if p.kind is inspect.Parameter.KEYWORD_ONLY]
        self.wants_needs = "needs" in keyword_only
        self.keyword_only = frozenset(keyword_only) - {"needs"}
        self.required_keywords = frozenset(
            p.name for p in own if p.kind is inspect.Parameter.KEYWORD_ONLY and p.default is inspect.Parameter.empty
        )
        if "needs" in self.required_keywords:
            raise TypeError(
                f"the rule {_name(implementation)} takes needs without a default, but most callers do not pass it: "
                "write needs=None, which stands for every argument"
            )
        self.accepts_any_keyword = any(p.kind is inspect.Parameter.VAR_KEYWORD for p in own)

    def bind_keywords(self, count: int, keywords: Mapping[str, Any]) -> tuple[dict[int, Any], dict[str, Any]] | None:
        """Split keywords into those bound to a position after the first ``count`` and those that stay keywords.

        None when the rule does not take one of them, takes it by position already, or misses one that it requires.
        """
        if not self.required_keywords <= keywords.keys():
            return None
        by_position: dict[int, Any] = {}
        rest: dict[str, Any] = {}
        for name, value in keywords.items():
            if name in self.names:
                position = self.names.index(name)
                if position < count:
                    return None
                by_position[position] = value
            elif name in self.keyword_only or self.accepts_any_keyword:
                rest[name] = value
            else:
                return None
        return by_position, rest


def signatures_of(
    implementation: Callable[..., Any],
    parameters: Parameters,
    given: tuple[Any, ...],
    leading: int,
    namespace: Mapping[str, Any],
) -> list[tuple[type, ...]]:
    """Every tuple of types that a rule serves: one for each number of positional arguments and choice in a union.

    Parameters
    ----------
    given : tuple
        The types given at registration; empty to read the annotations.
    namespace : mapping
        Local names, for string annotations.

    Raises
    ------
    TypeError
        When more types are given than the rule has positional parameters, or one is not a type.
    """
    if given:
        declared, star = _split_variadic(given)
        if parameters.maximum is not None and len(declared) > parameters.maximum:
            raise TypeError(
                f"{_name(implementation)} was registered for {len(declared)} argument types but takes "
                f"{parameters.maximum} positional arguments: give one type for each leading argument at most"
            )
        if star is not None and parameters.maximum is not None:
            raise TypeError(f"{_name(implementation)} was registered with a variadic type but has no *args")
    else:
        hints = _evaluated_annotations(implementation, parameters, namespace)
        declared, star = tuple(hints[:-1]), hints[-1]
    choices = [_types_of(t, implementation) for t in declared]
    tail = _types_of(star if star is not None else object, implementation)
    shortest = max(parameters.minimum, len(declared) if given else 0)
    signatures: list[tuple[type, ...]] = []
    if parameters.maximum is None:
        for length in range(shortest, len(declared)):
            signatures += itertools.product(*choices[:length])
        signatures += itertools.product(*_pad(choices, shortest), (Variadic[tail],))
    else:
        for length in range(shortest, parameters.maximum + 1):
            signatures += itertools.product(*_pad(choices[:length], length))
    return signatures


def matches(types_: tuple[type, ...], signature: tuple[type, ...]) -> bool:
    """Whether a call with these argument types is served by a rule with this signature."""
    stretched = stretch(signature, len(types_))
    return stretched is not None and all(
        t is Omitted or issubclass(t, s) for t, s in zip(types_, stretched, strict=True)
    )


def stretch(signature: tuple[type, ...], length: int) -> tuple[type, ...] | None:
    """The signature for a number of arguments: its variadic type repeated as often as needed; None if it has none."""
    if not signature or not isvariadic(signature[-1]):
        return signature if len(signature) == length else None
    *fixed, star = signature
    return None if length < len(fixed) else (*fixed, *[star] * (length - len(fixed)))


def type_name(t: Any) -> str:
    """A type as a person would write it in a registration."""
    if isvariadic(t):
        return f"*{'|'.join(type_name(v) for v in t.variadic_type)}"
    return str(getattr(plain_type(t), "__name__", t))


def _pad(choices: list[tuple[type, ...]], length: int) -> list[tuple[type, ...]]:
    return [*choices, *([(object,)] * (length - len(choices)))]


def _split_variadic(given: tuple[Any, ...]) -> tuple[tuple[Any, ...], Any]:
    last = given[-1]
    if isinstance(last, list):
        if len(last) != 1:
            raise TypeError(f"a variadic type holds exactly one type or one tuple of types, got {last!r}")
        return given[:-1], last[0]
    if isinstance(last, type) and isvariadic(last):
        return given[:-1], last.variadic_type  # type: ignore[attr-defined]
    return given, None


def _evaluated_annotations(
    implementation: Callable[..., Any], parameters: Parameters, namespace: Mapping[str, Any]
) -> list[Any]:
    annotations = [*parameters.annotations, parameters.variadic]
    function = inspect.unwrap(implementation)
    while isinstance(function, functools.partial):
        function = function.func
    scope = {**getattr(function, "__globals__", {}), **namespace}
    evaluated: list[Any] = []
    for annotation in annotations:
        if isinstance(annotation, str):
            try:
                annotation = eval(annotation, scope)
            except Exception as error:
                raise TypeError(
                    f"the annotation {annotation!r} of {_name(implementation)} cannot be evaluated ({error}): import "
                    "the name at run time, or give the types to register()"
                ) from None
        evaluated.append(annotation)
    # Parameters after the last annotated one are passed through; so is a star without annotation.
    star = evaluated.pop()
    star = None if star is inspect.Parameter.empty else star
    while evaluated and evaluated[-1] is inspect.Parameter.empty:
        evaluated.pop()
    return [*evaluated, star]


def _types_of(annotation: Any, implementation: Callable[..., Any]) -> tuple[type, ...]:
    """The classes that an annotation stands for: several for a union."""
    if annotation is inspect.Parameter.empty or annotation is typing.Any:
        return (object,)
    if annotation is None:
        return (type(None),)
    if isinstance(annotation, tuple):
        return tuple(itertools.chain.from_iterable(_types_of(a, implementation) for a in annotation))
    if isinstance(annotation, typing.NewType):
        return _types_of(annotation.__supertype__, implementation)
    alias_type: Any = getattr(typing, "TypeAliasType", ())  # `type X = ...`, from Python 3.12
    if isinstance(annotation, alias_type):
        return _types_of(annotation.__value__, implementation)
    origin = typing.get_origin(annotation)
    if origin in (typing.Union, types.UnionType):
        return tuple(itertools.chain.from_iterable(_types_of(a, implementation) for a in typing.get_args(annotation)))
    if origin is typing.Annotated:
        return _types_of(typing.get_args(annotation)[0], implementation)
    if origin is typing.Literal:
        return tuple(dict.fromkeys(type(value) for value in typing.get_args(annotation)))
    if isinstance(annotation, typing.TypeVar):
        if annotation.__constraints__:
            return _types_of(annotation.__constraints__, implementation)
        return _types_of(annotation.__bound__ or object, implementation)
    if origin is not None:
        return _types_of(origin, implementation)
    if isinstance(annotation, type):
        return (_with_typeof_types(annotation),)
    hint = f": write typeof({_name(annotation)}) to dispatch on a function" if callable(annotation) else ""
    raise TypeError(f"{annotation!r} in the registration of {_name(implementation)} is not a type{hint}")


def _with_typeof_types(cls: type) -> type:
    """The class itself, or for a class of callable objects its stand-in, which has their `typeof` types below it."""
    if isinstance(cls, (_IdentityMeta, _StandInMeta)) or not any("__call__" in vars(base) for base in cls.__mro__):
        return cls
    if cls not in _stand_ins:
        stand_in = _StandInMeta(cls.__name__, (), {})
        stand_in.stands_for = cls
        return _stand_ins.setdefault(cls, stand_in)  # that of the first thread
    return _stand_ins[cls]


def _name(x: Any) -> str:
    return str(getattr(x, "__qualname__", getattr(x, "__name__", repr(x))))
