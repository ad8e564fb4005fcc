"""What Python does by methods of classes, of which those written in Python are routed: operators, attributes, loops."""

from __future__ import annotations

import functools
import operator
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from rulescore.ad.messages.errors import TracerConversionError
from rulescore.ad.numpy_protocols.operands import array_of
from rulescore.ad.numpy_protocols.tracer import BINARY, COMPARISONS
from rulescore.ad.programs.bisections import Bisections
from rulescore.ad.programs.buffers import Ownership, buffer, holds_tracers
from rulescore.ad.programs.own_arrays import OwnArray, as_ndarray, is_own, tracers_of, viewed, viewed_as
from rulescore.ad.programs.own_numbers import OwnNumber, is_written_in_python, plain_number
from rulescore.ad.programs.refusals import refusal_in
from rulescore.ad.programs.stand_ins.table import values_beneath
from rulescore.ad.programs.texts import is_of_tracer, text_of
from rulescore.ad.source.conversion import OPERATIONS
from rulescore.ad.tracing.tracers import OF_PYTHON_CODE, Tracer, value_beneath

_BINARY = (
    *("add", "sub", "mul", "truediv", "floordiv", "mod", "divmod", "pow", "matmul"),
    *("lshift", "rshift", "and", "or", "xor"),
)
_MIRRORED = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le", "eq": "eq", "ne": "ne"}


class _Names:
    """The names of the methods behind an operation: first the one in place, then that of either operand."""

    def __init__(self, name: str) -> None:
        name = name.removesuffix("_")
        plain = name[1:] if name.startswith("i") and name[1:] in _BINARY else name
        self.in_place = f"__{name}__" if plain != name else None
        self.of_left = f"__{plain}__"
        mirrored = f"r{plain}" if plain in _BINARY else _MIRRORED.get(plain)
        self.of_right = mirrored and f"__{mirrored}__"


_NAMES = {f: _Names(name) for name, f in OPERATIONS.items() if hasattr(operator, name)} | {divmod: _Names("divmod")}

_ARRAYS = (Tracer, np.ndarray)
_UFUNCS = {f: (BINARY | COMPARISONS).get(names.of_left.strip("_")) for f, names in _NAMES.items() if not names.in_place}


class SpecialMethods:
    """The routes of a program for whatever Python does by methods of classes."""

    callee: Callable[[Any], Any]
    offered: Callable[[Any], Any]
    of_duck_arrays: Callable[..., Any]

    def __init__(self) -> None:
        self._bisections = Bisections()

    # ------------------------------------------------------------------ operators

    def operation(self, f: Any, *operands: Any) -> Any:
        """What a function of `operator` gives."""
        if f in _SPECIAL_OPERATIONS:
            return self._special_operation(f, *operands)
        for x in operands:
            if type(x) not in _WITHOUT_OPERATORS and _may_have_operators(type(x)):
                return self._by_methods(f, operands)
        try:
            return f(*operands)
        except TracerConversionError:  # of a tracer in a list, beside an array
            arrays = [array_of(x) if type(x) in (list, tuple) and holds_tracers(x) else x for x in operands]
            if all(map(operator.is_, arrays, operands)):
                raise
        return f(*arrays)  # here, where an error of the program's is none that came of the other

    def _special_operation(self, f: Any, x: Any, y: Any) -> Any:
        """Operations in which an ordinary value may take a tracer.

        What is about texts, or looks something up, takes the numbers, and is constant between jumps. An array that is
        changed in place becomes a buffer where nobody else sees it.
        """
        if f in _IN_PLACE:
            if type(x) is np.ndarray and isinstance(y, Tracer):
                x = of_one_holder(x)
        elif f is operator.mod:
            if type(x) is bytes or isinstance(x, str):
                values = values_beneath(y)
                is_marked = is_of_tracer((x, y)) or (values is not y and holds_tracers(y))
                return text_of(x % values, is_marked)
        elif isinstance(x, Tracer) and isinstance(y, (set, frozenset, dict)) and np.ndim(value_beneath(x)) == 0:
            return f(value_beneath(x), y)
        if _may_have_operators(type(x)) or _may_have_operators(type(y)):
            return self._by_methods(f, (x, y))
        return f(x, y)

    def halved(self, f: Any, x: Any, y: Any) -> Any:
        """The same where the source halves an interval, ``(x + y) / 2``, or a step, ``x = x / 2``."""
        if f in _SUMS:
            self._bisections.note(sys._getframe(1), x, y)
        else:  # 0.5 * y, where it is not x / 2 or x * 0.5
            self._bisections.note(sys._getframe(1), y if type(x) is float and x == 0.5 and type(y) is not int else x)
        return self.operation(f, x, y)

    def _by_methods(self, f: Any, operands: tuple[Any, ...]) -> Any:
        names = _NAMES.get(f)
        if names is None:
            return self._is_within(f, *operands)
        x, *others = operands
        if not others or names.of_right is None:
            method = _python_method(type(x), names.of_left)
            return f(*operands) if method is None else self.callee(method)(*operands)
        (y,) = others
        sides = [(x, names.of_left, y), (y, names.of_right, x)]
        if _right_comes_first(x, y, names.of_right):
            sides.reverse()
        if names.in_place is not None:
            sides.insert(0, (x, names.in_place, y))
        for this, name, other in sides:
            of_class: Any = getattr(type(this), name, None)
            if of_class is not None:
                if _is_static(type(this), name):
                    found = self.callee(of_class)(other)
                elif is_written_in_python(type(this), name):
                    found = self.callee(of_class)(this, other)
                elif type(of_class) is property:
                    found = self.callee(self.attribute(this, name))(other)
                else:
                    found = self._of_array(f, operands) if isinstance(this, _ARRAYS) else NotImplemented
                    if found is NotImplemented:
                        found = self._not_followed(of_class, this, other)
                if found is not NotImplemented:
                    return found
        return f(*operands)  # compares by identity, or raises

    def _of_array(self, f: Any, operands: tuple[Any, ...]) -> Any:
        """What an array leaves to one of another library, as NumPy's arrays do; numbers leave it to the operators."""
        ufunc = _UFUNCS.get(f)
        is_left = ufunc is not None and any(isinstance(x, _ARRAYS) and x.ndim for x in operands)
        return self.of_duck_arrays(ufunc, operands, {}) if is_left else NotImplemented

    def _not_followed(self, method: Any, x: Any, other: Any) -> Any:
        """What a method in C or of a tracer gives, with what the other object offers where an array is wanted."""
        if isinstance(x, _ARRAYS):
            other = tracers_of(other)
        try:
            return method(x, other)
        except (ValueError, TracerConversionError) as error:
            offered = self.offered(other)
            is_about_it = isinstance(error, TracerConversionError) or "__array__ method" in str(error)
            if offered is other or not is_about_it:
                raise
        return method(x, offered)

    def _is_within(self, f: Any, x: Any, container: Any) -> Any:
        method = _python_method(type(container), "__contains__")
        if method is None:
            return f(x, self.iterate(container))
        found = bool(self.callee(method)(container, x))
        return found if f is OPERATIONS["is_in"] else not found

    def truth(self, x: Any) -> Any:
        """What is true where ``x`` is."""
        kind = type(x)
        if kind in PLAIN or _stands_for_numpys(kind):
            return x
        method = _python_method(kind, "__bool__")
        if method is None and not hasattr(kind, "__bool__"):
            method = _python_method(kind, "__len__")
        return x if method is None else bool(self.callee(method)(x))

    # ------------------------------------------------------------------ attributes

    def attribute(self, x: Any, name: str) -> Any:
        """``x.name``."""
        kind = type(x)
        if kind is types.ModuleType or kind in PLAIN:
            return getattr(x, name)
        if isinstance(x, Tracer) and name in _CONVERSIONS and not is_written_in_python(kind, name):
            return functools.partial(self.callee(_CONVERSIONS[name]), x)
        if _stands_for_numpys(kind):
            if name == "view":
                return functools.partial(_viewed, x)
            if name == "data" and x.ndim and issubclass(x.__class__, np.ndarray):
                return x[...]
            if name == "__array__":
                return functools.partial(self.callee(np.asarray), x)
            if name.startswith("__") and not hasattr(x.__class__, name):  # a number has no len()
                raise AttributeError(f"{x.__class__.__name__!r} object has no attribute {name!r}")
            return getattr(x, name)
        if kind is super:
            return self._attribute_of_super(x, name)
        found: Any = None  # what the class has, without calling it: most often nothing
        for cls in kind.__mro__:
            if name in cls.__dict__:
                found = cls.__dict__[name]
                break
        of_class: Any = type(found)
        if kind.__getattribute__ is not _GETATTRIBUTE and isinstance(kind.__getattribute__, types.FunctionType):
            return self._with_getattr(x, name, functools.partial(self.callee(kind.__getattribute__), x, name))
        if of_class is types.FunctionType:  # a method: most attributes are one of these two
            return getattr(x, name)
        if found is None:
            if not isinstance(getattr(kind, "__getattr__", None), types.FunctionType):
                return getattr(x, name)
            return self._with_getattr(x, name, functools.partial(kind.__getattribute__, x, name))
        if of_class is property or (issubclass(of_class, property) and of_class.__get__ is property.__get__):
            if found.fget is None:
                return getattr(x, name)
            return self._with_getattr(x, name, functools.partial(self.callee(found.fget), x))
        if of_class is functools.cached_property:
            return self._cached(found, x)
        if isinstance(getattr(of_class, "__get__", None), types.FunctionType) and (
            name not in getattr(x, "__dict__", ()) or hasattr(of_class, "__set__")
        ):
            return self.callee(of_class.__get__)(found, x, kind)
        return getattr(x, name)

    def _attribute_of_super(self, x: Any, name: str) -> Any:
        owner, mro = x.__self__, x.__self_class__.__mro__
        for cls in mro[mro.index(x.__thisclass__) + 1 :]:
            found = cls.__dict__.get(name)
            if found is not None:
                if type(found) is property and not isinstance(owner, type):
                    return self.callee(found.fget)(owner)
                if isinstance(owner, OwnArray) and cls is np.ndarray:
                    return self.of_ndarray(owner, name)
                if isinstance(owner, Tracer) and not isinstance(found, types.FunctionType):
                    return getattr(plain_number(owner), name)
                break
        return getattr(x, name)

    def of_ndarray(self, x: OwnArray, name: str) -> Any:
        """What NumPy's arrays have under a name, of an object of a class that derives from them."""
        operator_of_class = vars(np.lib.mixins.NDArrayOperatorsMixin).get(name)
        if operator_of_class is None or name == "__array_ufunc__":
            return getattr(as_ndarray(x), name)
        return functools.partial(self.callee(operator_of_class), x)  # which asks the class

    def _with_getattr(self, x: Any, name: str, get: Callable[[], Any]) -> Any:
        """What is got; or, where that raises AttributeError, what the class says that is there in its place."""
        try:
            return get()
        except AttributeError:
            method = _python_method(type(x), "__getattr__")
            if method is None:
                raise
            return self.callee(method)(x, name)

    def set_attribute(self, value: Any, x: Any, name: str) -> None:
        """``x.name = value``."""
        kind: Any = type(x)
        if is_written_in_python(kind, "__setattr__"):
            self.callee(kind.__setattr__)(x, name, value)
            return
        # As it is in the class, which may give something else where it is asked.
        found = _in_class(kind, name)
        is_property = isinstance(found, property) and type(found).__set__ is property.__set__
        if is_property and found.fset is not None and not _stands_for_numpys(kind):
            self.callee(found.fset)(x, value)
        elif isinstance(getattr(type(found), "__set__", None), types.FunctionType):
            self.callee(type(found).__set__)(found, x, value)
        else:
            setattr(x, name, value)

    def set_item(self, value: Any, x: Any, index: Any) -> None:
        """``x[index] = value``."""
        if type(x) is np.ndarray and x.dtype.kind in "fc" and holds_tracers(value):
            raise TracerConversionError(
                "a value that is being differentiated was about to be written into an array that others refer to as "
                "well (a name, an attribute, an argument), or that was there before: these would not see its "
                "derivative. Make the array where it is filled, a = np.zeros(n), or write to a copy of your own, "
                "a = a.copy()"
            )
        if type(x) is np.ndarray and x.dtype == object and type(value) in (list, tuple) and holds_tracers(value):
            objects = np.empty(len(value), object)
            for i, item in enumerate(value):
                objects[i] = item
            value = objects
        method = None if type(x) in PLAIN else _python_method(type(x), "__setitem__")
        if method is None:
            x[tracers_of(index)] = tracers_of(value)
        else:
            self.callee(method)(x, index, value)

    def _cached(self, descriptor: Any, x: Any) -> Any:
        values = x.__dict__
        if descriptor.attrname not in values:
            values[descriptor.attrname] = self.callee(descriptor.func)(x)
        return values[descriptor.attrname]

    # ------------------------------------------------------------------ loops and contexts

    def iterate(self, x: Any) -> Any:
        """What is iterated over in the place of ``x``."""
        kind = type(x)
        if kind in PLAIN or isinstance(x, (Tracer, type)):
            return x
        method = _python_method(kind, "__iter__")
        if method is OwnArray.__iter__ and kind.__getitem__ is not OwnArray.__getitem__:
            return self._items(x, kind.__getitem__)
        if method is not None:
            x = self.callee(method)(x)
            kind = type(x)
        step = _python_method(kind, "__next__")
        if step is not None:
            return self._steps(x, step)
        item = _python_method(kind, "__getitem__") if method is None and not hasattr(kind, "__iter__") else None
        return x if item is None else self._items(x, item)

    def _steps(self, x: Any, step: Any) -> Iterator[Any]:
        while True:
            try:
                y = self.callee(step)(x)
            except StopIteration:
                return
            yield y

    def _items(self, x: Any, item: Any) -> Iterator[Any]:
        i = 0
        while True:
            try:
                y = self.callee(item)(x, i)
            except IndexError:
                return
            yield y
            i += 1

    def enter(self, x: Any) -> Any:
        """The context in the place of ``x``."""
        methods = [_python_method(type(x), name) for name in ("__enter__", "__exit__")]
        return x if None in methods else _Context(*[types.MethodType(self.callee(method), x) for method in methods])


def _viewed(x: Any, *args: Any, **kwargs: Any) -> Any:
    """``x.view(*args, **kwargs)`` of a tracer."""
    kind = viewed_as(*args, **kwargs)
    return viewed(x, kind) if is_own(kind) else x.view(*args, **kwargs)


def by_operator(name: str, operands: tuple[Any, ...]) -> Any:
    """What a method by this name gives: that of the operator, or function, behind which Python has it."""
    name = name.strip("_")
    if name.startswith("r") and name[1:] in _BINARY:
        name, operands = name[1:], operands[::-1]
    operands = tuple([plain_number(x) if isinstance(x, OwnNumber) else x for x in operands])
    if name in ("float", "complex"):
        return operands[0]
    if name in ("repr", "str"):
        return text_of(repr(value_beneath(operands[0]).item()), True)
    function: Any = divmod if name == "divmod" else getattr(operator, name, None)
    return function(*operands) if function else getattr(operands[0], f"__{name}__")(*operands[1:])


_CONVERSIONS: dict[str, Any] = {"__float__": float}
_IN_PLACE = frozenset({f for f, names in _NAMES.items() if names.in_place})
_SUMS = frozenset({operator.add, operator.sub})
_SPECIAL_OPERATIONS = _IN_PLACE | {operator.mod, OPERATIONS["is_in"], OPERATIONS["is_not_in"]}


class _Context:
    def __init__(self, enter: Any, leave: Any) -> None:
        self._enter, self._leave = enter, leave

    def __enter__(self) -> Any:
        return self._enter()

    def __exit__(self, *error: Any) -> Any:
        is_handled = self._leave(*error)
        return is_handled and refusal_in(error[1]) is None


PLAIN: set[type] = {int, float, complex, bool, str, bytes, list, tuple, dict, set, slice, type(None), range}
"""Classes without operators, iterators and attributes that are written in Python; those that are met are added."""


_WITHOUT_OPERATORS: set[type] = set(PLAIN)
"""The same of operators alone: tracers too, whose operators are nothing to be routed."""


def _stands_for_numpys(kind: Any) -> bool:
    """Whether a class is that of tracers of arrays and numbers of NumPy's, not of a program's own."""
    return issubclass(kind, Tracer) and not issubclass(kind, OwnNumber)


def _may_have_operators(kind: Any) -> bool:
    """Whether a class may have operators that are written in Python; it is remembered where it cannot."""
    is_of_numpys = _stands_for_numpys(kind)
    # A sparse array leaves operations to the tracer, for which there are rules.
    if not is_of_numpys and kind.__flags__ & OF_PYTHON_CODE and not kind.__module__.startswith("scipy.sparse"):
        return True
    _WITHOUT_OPERATORS.add(kind)
    if not is_of_numpys:
        PLAIN.add(kind)
    return False


def _right_comes_first(x: Any, y: Any, name: str) -> bool:
    """Whether the method of the right operand is asked first: of a subclass; and by sequences and NumPy's numbers."""
    if not hasattr(type(y), name) or type(y) is type(x):
        return False
    if isinstance(y, OwnArray) and not isinstance(x, OwnArray):
        return True
    return issubclass(type(y), type(x)) or isinstance(x, (list, tuple, str, bytes, np.generic))


def _python_method(kind: Any, name: str) -> Any:
    """A method of a class, if it is written in Python, other than those of tracers."""
    return getattr(kind, name) if is_written_in_python(kind, name) and not _is_static(kind, name) else None


def _in_class(kind: Any, name: str) -> Any:
    """What a class has under a name, as it is there; None where it has nothing."""
    for cls in kind.__mro__:
        if name in cls.__dict__:
            return cls.__dict__[name]
    return None


def _is_static(kind: Any, name: str) -> bool:
    return type(_in_class(kind, name)) is staticmethod


_GETATTRIBUTE: Any = object.__getattribute__


# An array as `operation` sees it that one name, attribute or item refers to.
of_one_holder = Ownership()


def _measure() -> None:
    x = np.empty(1)
    _OF_METHODS.operation(operator.iadd, x, _A_TRACER)


_OF_METHODS, _A_TRACER = SpecialMethods(), buffer(np.empty(1))
of_one_holder.measure(_measure)
