"""Nested arguments as one flat real vector and back, and the same for their tangents.

The finite differences and the comparison of tangents see vectors only; what a container, an array or a sparse matrix
is, they learn here. A complex number takes two entries, first all real parts of an array and then all imaginary ones.
What has no derivative (integers, strings, functions) takes none and is put back as it was.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from rulescore import AbstractZero, NoTangent, Tangent, Thunk, ZeroTangent, unthunk, zero_tangent
from rulescore.tangents.not_implemented import NotImplementedTangent
from rulescore.tangents.sparsity import is_sparse, pattern_of
from rulescore.tangents.structure import field_names, is_array, rebuild, structure_of
from rulescore.wrappers import FUNCTIONS

Vector: TypeAlias = np.ndarray[Any, Any]


class TangentMismatchError(ValueError):
    """A tangent that does not fit its primal: another shape, other fields, complex where the primal is real."""


class Layout:
    """Where the entries of one (part of an) argument lie in the vector, and how to put it together again.

    A layout keeps the object that it was made from: its type, its dtype and the parts without a derivative.
    """

    size: int = 0
    signature: Hashable = None
    """Equal for objects that have the same structure, shapes and realness, whatever their values and precision."""

    def write(self, out: Vector) -> None:
        """Write the entries of the object into ``out``, a vector of `size` entries."""
        raise NotImplementedError

    def rebuild(self, entries: Vector, promote: bool) -> Any:
        """A new object like the one that the layout was made from, with these entries, maybe in their memory."""
        raise NotImplementedError

    def write_tangent(self, dx: Any, out: Vector, where: str) -> None:
        """Write a tangent of the object into ``out``, which holds zeros."""
        raise NotImplementedError

    def tangent(self, entries: Vector) -> Any:
        """The tangent with these entries, in canonical form."""
        raise NotImplementedError

    def label(self, position: int) -> str:
        """Where in the object entry ``position`` lies, as one would index it."""
        raise NotImplementedError

    def leaves(self) -> Iterator[NumericLayout]:
        """The layouts of the arrays and numbers inside, in the order of the vector."""
        raise NotImplementedError


class ConstantLayout(Layout):
    """What has no derivative. Arrays are copied when they are put back, so that nobody writes into the original."""

    def __init__(self, x: Any) -> None:
        self._x = x
        self.signature = ("constant",)

    def write(self, out: Vector) -> None:
        pass

    def rebuild(self, entries: Vector, promote: bool) -> Any:
        x = self._x
        return x.copy() if isinstance(x, np.ndarray) or is_sparse(x) else x

    def write_tangent(self, dx: Any, out: Vector, where: str) -> None:
        dx = unthunk(dx)
        if not isinstance(dx, (AbstractZero, NotImplementedTangent)) and layout_of(dx).size:
            raise TangentMismatchError(
                f"a tangent of type {type(dx).__name__} was given for the primal{_at(where)}, but a "
                f"{type(self._x).__name__} has no derivative: give NoTangent()"
            )

    def tangent(self, entries: Vector) -> Any:
        return NoTangent()

    def label(self, position: int) -> str:
        raise IndexError(f"a {type(self._x).__name__} has no entries in the vector")

    def leaves(self) -> Iterator[NumericLayout]:
        return iter(())


class NumericLayout(Layout):
    """Numbers and arrays of numbers: the entries in C order, real parts before imaginary parts."""

    def __init__(self, x: Any) -> None:
        self._x = x
        is_numpy_s = isinstance(x, (np.ndarray, np.generic))
        self.shape: tuple[int, ...] = x.shape if is_numpy_s else ()
        self.dtype: np.dtype[Any] = x.dtype if is_numpy_s else np.dtype(type(x))
        self.is_complex = self.dtype.kind == "c"
        self.count: int = math.prod(self.shape)
        self.size = self.count * (2 if self.is_complex else 1)
        self.signature = ("numbers", self.shape, self.is_complex, isinstance(x, np.ndarray))

    @property
    def precision(self) -> np.dtype[Any]:
        """The real dtype of one entry."""
        return np.finfo(self.dtype).dtype

    def write(self, out: Vector) -> None:
        self._write_values(np.asarray(self._x), out)

    def rebuild(self, entries: Vector, promote: bool) -> Any:
        dtype = np.promote_types(self.dtype, entries.dtype) if promote else self.dtype
        x = self._x
        if not isinstance(x, np.ndarray):
            value = self._read_values(entries).astype(dtype)[()]
            is_python_s = not isinstance(x, np.generic) and dtype == self.dtype
            return type(x)(value) if is_python_s else value
        if type(x) is np.ndarray and entries.dtype == dtype and entries.shape == x.shape and entries.base is None:
            return entries  # an array of its own, as a function may ask
        # K order: a function may take another path for Fortran-ordered arrays, and is evaluated on the same one.
        values: Any = np.empty_like(x, dtype=dtype)
        values[...] = self._read_values(entries)
        if isinstance(x, np.ma.MaskedArray):
            values.mask = x.mask  # writing the entries has unmasked them
        return values

    def write_tangent(self, dx: Any, out: Vector, where: str) -> None:
        dx = unthunk(dx)
        if isinstance(dx, AbstractZero):
            return
        if is_sparse(dx):
            dx = dx.toarray()
        self._write_values(self._checked(dx, where), out)

    def tangent(self, entries: Vector) -> Any:
        value = self._read_values(entries).astype(self.dtype)
        x = self._x
        if isinstance(x, np.ndarray):
            return value
        return value[()] if isinstance(x, np.generic) else type(x)(value)

    def label(self, position: int) -> str:
        part = ""
        if self.is_complex:
            part = ".imag" if position >= self.count else ".real"
        if not self.shape:
            return part
        index = np.unravel_index(position % self.count, self.shape)
        return f"[{', '.join(str(int(i)) for i in index)}]{part}"

    def leaves(self) -> Iterator[NumericLayout]:
        yield self

    def _checked(self, dx: Any, where: str) -> Any:
        values = np.asarray(dx)
        if isinstance(dx, (Tangent, NotImplementedTangent)) or values.dtype.kind not in "biufc":
            raise TangentMismatchError(
                f"a tangent of type {type(dx).__name__} was given for the primal{_at(where)}, an object of another "
                f"kind ({self._described()}): give numbers of shape {self.shape}, or ZeroTangent()"
            )
        if values.shape != self.shape:
            raise TangentMismatchError(
                f"a tangent of shape {values.shape} was given for the primal{_at(where)}, which has the shape "
                f"{self.shape}: give a tangent of exactly that shape"
            )
        if values.dtype.kind == "c" and not self.is_complex:
            raise TangentMismatchError(
                f"a complex tangent was given for the primal{_at(where)}, which is real: give its real part, "
                "or make the primal complex"
            )
        return values

    def _described(self) -> str:
        return f"array of shape {self.shape}" if isinstance(self._x, np.ndarray) else type(self._x).__name__

    def _write_values(self, values: Any, out: Vector) -> None:
        flat = values.reshape(-1)
        out[: self.count] = flat.real
        if self.is_complex:
            out[self.count :] = flat.imag

    def _read_values(self, entries: Vector) -> Any:
        if not self.is_complex:
            return entries.reshape(self.shape)
        values = np.empty(self.count, np.promote_types(entries.dtype, np.complex128))
        values.real = entries[: self.count]
        values.imag = entries[self.count :]
        return values.reshape(self.shape)


class SparseLayout(Layout):
    """`scipy.sparse` arrays and matrices: the stored entries, as if they were a one-dimensional array."""

    def __init__(self, x: Any) -> None:
        self._pattern = pattern_of(x)
        self._entries = NumericLayout(self._pattern.values_of(x))
        self.size = self._entries.size
        self.signature = ("sparse", x.shape, x.format, self._entries.signature)

    def write(self, out: Vector) -> None:
        self._entries.write(out)

    def rebuild(self, entries: Vector, promote: bool) -> Any:
        return self._pattern.with_values(self._entries.rebuild(entries, promote))

    def write_tangent(self, dx: Any, out: Vector, where: str) -> None:
        dx = unthunk(dx)
        if isinstance(dx, AbstractZero):
            return
        shape = self._pattern.shape
        if np.shape(dx) != shape:
            raise TangentMismatchError(
                f"a tangent of shape {np.shape(dx)} was given for the primal{_at(where)}, a sparse array of shape "
                f"{shape}: give a sparse array of the primal's shape and pattern"
            )
        values = self._pattern.values_of(dx if is_sparse(dx) else np.asarray(dx))
        self._entries.write_tangent(values, out, where)

    def tangent(self, entries: Vector) -> Any:
        return self._pattern.with_values(self._entries.tangent(entries))

    def label(self, position: int) -> str:
        numbered = self._pattern.with_values(np.arange(1, self._entries.count + 1)).tocoo()
        stored = self._entries.label(position)
        (place,) = np.flatnonzero(numbered.data == position % self._entries.count + 1)
        coordinates = numbered.coords if hasattr(numbered, "coords") else (numbered.row, numbered.col)
        return f"[{', '.join(str(int(c[place])) for c in coordinates)}]{stored.partition(']')[2]}"

    def leaves(self) -> Iterator[NumericLayout]:
        yield self._entries


class StructureLayout(Layout):
    """Containers and objects: the entries of one field after those of another."""

    def __init__(self, x: Any, fields: Mapping[Any, Layout]) -> None:
        self._x = x
        self._fields = dict(fields)
        self._type: type = x.primal_type if isinstance(x, Tangent) else type(x)
        self._slices: dict[Any, slice[int, int, None]] = {}
        for key, child in self._fields.items():
            self._slices[key] = slice(self.size, self.size + child.size)
            self.size += child.size
        self.signature = (self._type, tuple((key, child.signature) for key, child in self._fields.items()))

    def write(self, out: Vector) -> None:
        for key, child in self._fields.items():
            child.write(out[self._slices[key]])

    def rebuild(self, entries: Vector, promote: bool) -> Any:
        fields = {k: child.rebuild(_part_of(entries, self._slices[k]), promote) for k, child in self._fields.items()}
        if isinstance(self._x, Tangent):
            return Tangent.from_fields(self._type, fields)
        return rebuild(self._x, fields)

    def write_tangent(self, dx: Any, out: Vector, where: str) -> None:
        dx = unthunk(dx)
        if isinstance(dx, AbstractZero):
            return
        given = self._fields_of_tangent(dx, where)
        for key, value in given.items():
            child = self._fields.get(key)
            if child is None:
                raise TangentMismatchError(
                    f"a tangent with the field {key!r} was given for the primal{_at(where)}, a "
                    f"{self._type.__name__} without it: its fields are {list(self._fields)}"
                )
            child.write_tangent(value, out[self._slices[key]], where + self._step(key))

    def tangent(self, entries: Vector) -> Any:
        fields = {key: child.tangent(entries[self._slices[key]]) for key, child in self._fields.items()}
        if all(value is NoTangent() for value in fields.values()):
            return NoTangent()
        return Tangent.from_fields(self._type, fields)

    def label(self, position: int) -> str:
        for key, part in self._slices.items():
            if part.start <= position < part.stop:
                return f"{self._step(key)}{self._fields[key].label(position - part.start)}"
        raise IndexError(f"the vector has {self.size} entries and no position {position}")

    def leaves(self) -> Iterator[NumericLayout]:
        for child in self._fields.values():
            yield from child.leaves()

    def _step(self, key: Any) -> str:
        """How one gets from the object to this field."""
        is_indexed = issubclass(self._type, dict) or not isinstance(key, str)
        return f"[{key!r}]" if is_indexed else f".{key}"

    def _fields_of_tangent(self, dx: Any, where: str) -> dict[Any, Any]:
        names = list(self._fields)
        if isinstance(dx, Tangent):
            fields = dx.fields
            if field_names(self._type) is None and issubclass(self._type, (tuple, list)):
                self._check_length(len(fields), where)
            return {names[k] if isinstance(k, int) and k not in self._fields else k: v for k, v in fields.items()}
        if isinstance(dx, dict) and not issubclass(self._type, (tuple, list)):
            return dict(dx)
        if isinstance(dx, (tuple, list)) and issubclass(self._type, (tuple, list)):
            self._check_length(len(dx), where)
            return dict(zip(names, dx, strict=True))
        if isinstance(dx, self._type):
            return structure_of(dx) or {}
        raise TangentMismatchError(
            f"a tangent of type {type(dx).__name__} was given for the primal{_at(where)}, which is a "
            f"{self._type.__name__}: give Tangent({self._type.__name__}, ...)"
        )

    def _check_length(self, length: int, where: str) -> None:
        if length != len(self._fields):
            raise TangentMismatchError(
                f"a tangent of {length} items was given for the primal{_at(where)}, a {self._type.__name__} of "
                f"{len(self._fields)}: give every item a tangent, NoTangent() where it has none"
            )


class ObjectArrayLayout(StructureLayout):
    """Arrays of objects: one object after another; the tangent is an array of objects too."""

    def __init__(self, x: Any, fields: Mapping[Any, Layout]) -> None:
        super().__init__(x, fields)
        self.signature = (self.signature, x.shape)

    def rebuild(self, entries: Vector, promote: bool) -> Any:
        elements = np.empty(self._x.shape, dtype=object)
        for key, child in self._fields.items():
            elements[key] = child.rebuild(_part_of(entries, self._slices[key]), promote)
        return elements

    def tangent(self, entries: Vector) -> Any:
        elements = np.empty(self._x.shape, dtype=object)
        for key, child in self._fields.items():
            elements[key] = child.tangent(entries[self._slices[key]])
        return NoTangent() if all(element is NoTangent() for element in elements.flat) else elements

    def _step(self, key: Any) -> str:
        return f"[{', '.join(map(str, key))}]"

    def _fields_of_tangent(self, dx: Any, where: str) -> dict[Any, Any]:
        if not isinstance(dx, np.ndarray) or dx.shape != self._x.shape:
            raise TangentMismatchError(
                f"a tangent of type {type(dx).__name__} and shape {np.shape(dx)} was given for the primal{_at(where)}, "
                f"an array of objects of shape {self._x.shape}: give an array of tangents of that shape"
            )
        return dict(np.ndenumerate(dx))


class ThunkLayout(Layout):
    """A delayed value: laid out as the value is, put back as a thunk of it."""

    def __init__(self, value: Layout) -> None:
        self._value = value
        self.size = value.size
        self.signature = value.signature

    def write(self, out: Vector) -> None:
        self._value.write(out)

    def rebuild(self, entries: Vector, promote: bool) -> Any:
        value = self._value.rebuild(entries, promote)
        return Thunk(lambda: value)

    def write_tangent(self, dx: Any, out: Vector, where: str) -> None:
        self._value.write_tangent(dx, out, where)

    def tangent(self, entries: Vector) -> Any:
        return self._value.tangent(entries)

    def label(self, position: int) -> str:
        return self._value.label(position)

    def leaves(self) -> Iterator[NumericLayout]:
        return self._value.leaves()


def layout_of(x: Any) -> Layout:
    """The layout of an argument, an output or a tangent.

    Raises
    ------
    TypeError
        For arrays of a library other than NumPy and SciPy, and for structured arrays with inexact fields.
    """
    return _layout_of(x, ())


def layout_of_items(items: tuple[Any, ...]) -> tuple[Layout, list[Layout]]:
    """The layout of a tuple, and those of its items."""
    layouts = [layout_of(item) for item in items]
    return StructureLayout(items, dict(enumerate(layouts))), layouts


def to_vector(x: Any) -> tuple[Vector, Callable[..., Any]]:
    """All numbers of a nested argument that have a derivative, as one real vector.

    Parameters
    ----------
    x : object
        Number, array (any dtype, shape and strides), `scipy.sparse` array (its stored entries), tangent, or any
        nesting of tuples, lists, dicts, named tuples, dataclasses and objects with attributes.

    Returns
    -------
    vector : ndarray of float64, or of longdouble where ``x`` contains one
        A complex array of n entries takes 2n: the real parts, then the imaginary parts. Integers, booleans, strings,
        functions and `None` take none.
    unravel : callable
        ``unravel(vector)`` is a new object like ``x``, of the same types and dtypes, that shares no array with it.
        ``unravel(vector, promote=True)`` has at least the vector's own precision in every part, so that a function can
        be evaluated more precisely than its argument was given; and complex numbers in every part where the vector is
        complex.

    Raises
    ------
    TypeError
        For arrays of a library other than NumPy and SciPy.

    Examples
    --------
    >>> import numpy as np
    >>> vector, unravel = to_vector({"w": np.array([1 + 2j, 3]), "b": 0.5, "name": "layer"})
    >>> vector
    array([1. , 3. , 2. , 0. , 0.5])
    >>> unravel(2 * vector)
    {'w': array([2.+4.j, 6.+0.j]), 'b': 1.0, 'name': 'layer'}
    """
    layout = layout_of(x)
    return entries_of(layout), unraveller(layout)


def tangent_to_vector(x: Any, dx: Any) -> Vector:
    """A tangent (or cotangent) of ``x`` in the layout of ``to_vector(x)``.

    Parameters
    ----------
    x : object
        The primal.
    dx : object
        A tangent of it. Zeros give zeros, thunks are forced, fields that a `Tangent` leaves out are zero, a plain
        tuple, list or dict stands for the `Tangent` of one. A real tangent of a complex primal has imaginary part 0.

    Returns
    -------
    vector : ndarray
        As long as ``to_vector(x)[0]``.

    Raises
    ------
    TangentMismatchError
        (A `ValueError`.) For another shape, another number of items, an unknown field, or a complex tangent of a real
        primal.

    Examples
    --------
    >>> tangent_to_vector((1.0, 2j, "label"), Tangent(tuple, 3.0, 4.0, NoTangent()))
    array([3., 4., 0.])
    """
    layout = layout_of(x)
    return tangent_entries(layout, dx)


def strong_zero(x: Any) -> Any:
    """The zero that AD systems give to a rule for something that does not move: of an object, one with its fields."""
    zeros = zero_tangent(x)
    if isinstance(zeros, Tangent) and not (type(x) in (tuple, list, dict) or callable(x)):
        return _with_strong_zeros(zeros)
    return zeros if isinstance(zeros, AbstractZero) else ZeroTangent()


def _with_strong_zeros(zeros: Any) -> Any:
    if isinstance(zeros, Tangent):
        return zeros.map(_with_strong_zeros)
    return zeros if isinstance(zeros, AbstractZero) else ZeroTangent()


def vector_to_tangent(x: Any, vector: Vector) -> Any:
    """The tangent of ``x`` whose entries are ``vector``: the inverse of `tangent_to_vector`.

    Parameters
    ----------
    x : object
        The primal.
    vector : ndarray
        As long as ``to_vector(x)[0]``.

    Returns
    -------
    tangent : object
        Arrays for arrays (same dtype and shape), `Tangent` for containers and objects, sparse arrays for sparse arrays,
        `NoTangent` for what has no derivative and for containers of nothing else.

    Raises
    ------
    ValueError
        When the vector has another length.

    Examples
    --------
    >>> import numpy as np
    >>> vector_to_tangent((1.0, 2j, "label"), np.array([3.0, 4.0, 5.0]))
    Tangent(tuple, 3.0, (4+5j), NoTangent())
    """
    layout = layout_of(x)
    return layout.tangent(_checked_length(layout, vector))


class Labels(Sequence[str]):
    """What each position of ``to_vector(x)`` is in ``x``; see `labels`."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout

    def __len__(self) -> int:
        return self._layout.size

    def __getitem__(self, position: Any) -> Any:
        if isinstance(position, slice):
            return [self[i] for i in range(*position.indices(len(self)))]
        index = int(position) + (len(self) if position < 0 else 0)
        if not 0 <= index < len(self):
            raise IndexError(f"the vector has {len(self)} entries and no position {position}")
        return self._layout.label(index)


def labels(x: Any) -> Labels:
    """What each position of ``to_vector(x)`` is in ``x``, written as one would index it, for messages.

    Parameters
    ----------
    x : object
        See `to_vector`.

    Returns
    -------
    labels : sequence of str
        As long as the vector; made when they are read.

    Examples
    --------
    >>> import numpy as np
    >>> labels([{"w": np.zeros((2, 2), complex)}, 1.0])[6]
    "[0]['w'][1, 0].imag"
    """
    return Labels(layout_of(x))


def entries_of(layout: Layout, room: int = 0) -> Vector:
    """The vector of the object that ``layout`` was made from, with room for as many numbers more behind it."""
    vector = np.empty(layout.size + room, _vector_dtype(layout))
    layout.write(vector[: layout.size])
    return vector


def entries_in_place(layout: Layout) -> Vector:
    """The same without a copy where all of it is one array: for reading, of what nobody else writes to."""
    (leaf, *others) = (*layout.leaves(), None)
    is_one = leaf is not None and others == [None]
    return _read_only(leaf._x) if is_one and _is_vector_already(leaf._x) else entries_of(layout)


def tangent_in_place(layout: Layout, dx: Any) -> Vector:
    """The vector of a tangent without a copy where it is one array, as of `entries_in_place`."""
    is_like = isinstance(layout, NumericLayout) and isinstance(dx, np.ndarray) and dx.shape == layout.shape
    return _read_only(dx) if is_like and _is_vector_already(dx) else tangent_entries(layout, dx)


def tangent_entries(layout: Layout, dx: Any) -> Vector:
    """The vector of a tangent of the object that ``layout`` was made from."""
    vector = np.zeros(layout.size, _vector_dtype(layout))
    layout.write_tangent(dx, vector, "")
    return vector


def unraveller(layout: Layout) -> Callable[..., Any]:
    """The function from vectors to objects like the one that ``layout`` was made from."""

    def unravel(vector: Vector, promote: bool = False) -> Any:
        return layout.rebuild(_checked_length(layout, vector).copy(), promote)

    return unravel


def unit_roundoff(layout: Layout, promote: bool = False) -> Vector:
    """The machine epsilon of every entry, in the layout of the vector; for reading."""
    leaves = list(layout.leaves())
    precisions = [np.promote_types(x.precision, np.float64) if promote else x.precision for x in leaves]
    epsilons = [float(np.finfo(precision).eps) for precision in precisions]
    if len(set(epsilons)) == 1:
        return repeated(epsilons[0], layout.size)
    return np.repeat(epsilons, [leaf.size for leaf in leaves])


def repeated(x: float, count: int) -> Vector:
    """A vector of one number throughout, in the memory of one; for reading. In a fifth of `np.broadcast_to`'s time."""
    one = np.array([x])
    vector: Vector = np.ndarray((count,), one.dtype, one, strides=(0,))
    vector.flags.writeable = False
    return vector


def _is_vector_already(x: Any) -> bool:
    """Whether its entries lie in memory as those of a vector."""
    return type(x) is np.ndarray and x.dtype == np.float64 and x.flags.c_contiguous


def _read_only(x: np.ndarray[Any, Any]) -> Vector:
    entries = x.reshape(-1)
    entries.flags.writeable = False
    return entries


def _part_of(entries: Vector, part: slice[int, int, None]) -> Vector:
    """The entries of a part, which are not a view of all where they are all."""
    return entries if part == slice(0, entries.size) else entries[part]


def _checked_length(layout: Layout, vector: Vector) -> Vector:
    vector = np.asarray(vector)
    if vector.shape != (layout.size,):
        raise ValueError(
            f"a vector of shape {vector.shape} was given for an object of {layout.size} entries: "
            f"give a vector of shape {(layout.size,)}"
        )
    return vector


def _vector_dtype(layout: Layout) -> type[np.floating[Any]]:
    for leaf in layout.leaves():
        if leaf.dtype.char in "gG":
            return np.longdouble
    return np.float64


_CONSTANTS = (*FUNCTIONS, AbstractZero, NotImplementedTangent, str, numbers.Number)


def _layout_of(x: Any, parents: tuple[int, ...]) -> Layout:
    if isinstance(x, (np.ndarray, np.generic)):
        return _array_layout(x, parents)
    if isinstance(x, (float, complex)):
        return NumericLayout(x)
    if isinstance(x, Thunk):
        return ThunkLayout(_layout_of(x.force(), parents))
    if isinstance(x, Tangent):
        return StructureLayout(x, {key: _layout_of(value, parents) for key, value in x.fields.items()})
    if isinstance(x, _CONSTANTS):
        return ConstantLayout(x)
    if is_sparse(x):
        return SparseLayout(x) if x.dtype.kind in "fc" else ConstantLayout(x)
    fields = None if is_array(x) else structure_of(x)
    # The class is asked: NumPy itself, which objects may keep, has a dtype and a shape, and an object of somebody's may
    # answer an attribute that it has not with any error.
    if fields is None and hasattr(type(x), "dtype") and hasattr(type(x), "shape"):
        raise TypeError(
            f"an array of type {type(x).__module__}.{type(x).__name__} cannot be laid out as a vector, which works "
            "for NumPy and scipy.sparse arrays: convert it with np.asarray first"
        )
    # An object that contains itself has no finite tangent; its inner occurrence counts as not differentiable.
    if fields is None or id(x) in parents:
        return ConstantLayout(x)
    parents = (*parents, id(x))
    layout = StructureLayout(x, {key: _layout_of(value, parents) for key, value in fields.items()})
    # An object without numbers may be known by its identity, as functions wrapped in objects are.
    return layout if layout.size or isinstance(x, (tuple, list, dict)) else ConstantLayout(x)


def _array_layout(x: Any, parents: tuple[int, ...]) -> Layout:
    kind = x.dtype.kind
    if kind in "fc":
        return NumericLayout(x)
    if kind == "O" and isinstance(x, np.ndarray):
        return ObjectArrayLayout(
            x, {index: _layout_of(element, (*parents, id(x))) for index, element in np.ndenumerate(x)}
        )
    if x.dtype.names is not None and any(x.dtype[name].base.kind in "fcV" for name in x.dtype.names):
        raise TypeError(
            f"a structured array with the fields {', '.join(x.dtype.names)} cannot be laid out as a vector: "
            "give its fields as a tuple or dict of arrays"
        )
    return ConstantLayout(x)


def _at(where: str) -> str:
    return f" at {where}" if where else ""
