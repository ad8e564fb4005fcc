"""Putting a cotangent back into the tangent space of its primal: real, of its shape, precision and sparsity.

A projection never sums; what broadcasting did is taken back in `broadcasting`.
"""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np

from rulescore.tangents.arithmetic import AbstractTangent, MissingDerivativeError
from rulescore.tangents.blueprints import Blueprint
from rulescore.tangents.foreign_arrays import foreign_kind, refuse_masked_cotangent
from rulescore.tangents.kinds import is_a
from rulescore.tangents.masked import Selected
from rulescore.tangents.not_implemented import NotImplementedTangent
from rulescore.tangents.sparsity import is_sparse, pattern_of
from rulescore.tangents.structural import Tangent, as_structural
from rulescore.tangents.structure import field_names, is_array, structure_of
from rulescore.tangents.thunks import Thunk
from rulescore.tangents.zero import AbstractZero, NoTangent

_NO_TANGENT = NoTangent()


class Projector:
    """Maps a cotangent into the tangent space of the primal it was made for.

    Keeps the primal's shape and type alive, never its values. Zeros and missing derivatives pass through, thunks
    are projected when they are forced.

    Attributes
    ----------
    has_tangent_space : bool
        Whether anything but `NoTangent` comes out of it.
    """

    __slots__ = ()

    has_tangent_space = True

    def __call__(self, dx: Any) -> Any:
        """Project ``dx``."""
        if issubclass(type(dx), AbstractTangent):
            if isinstance(dx, (AbstractZero, NotImplementedTangent)):
                return dx
            if isinstance(dx, Thunk):
                return dx.restored(self) if isinstance(dx, Selected) else dx.map(self)
        return self._project(dx)

    def _project(self, dx: Any) -> Any:
        raise NotImplementedError


class NonDifferentiableProjector(Projector):
    """For what has no tangent space: every cotangent becomes `NoTangent`."""

    __slots__ = ()

    has_tangent_space = False

    def __call__(self, dx: Any) -> Any:
        return _NO_TANGENT


class IdentityProjector(Projector):
    """For number types this module does not know, such as `fractions.Fraction` or `mpmath.mpf`."""

    __slots__ = ()

    def _project(self, dx: Any) -> Any:
        return dx


class ScalarProjector(Projector):
    """For Python and NumPy scalars."""

    __slots__ = ("_fitting", "_is_real", "_type")

    def __init__(self, scalar_type: type, is_real: bool) -> None:
        self._type = scalar_type
        # np.float64 is a float and np.complex128 a complex: they need no conversion.
        self._fitting = {float: (float, np.float64), complex: (complex, np.complex128)}.get(scalar_type, (scalar_type,))
        self._is_real = is_real

    def __call__(self, dx: Any) -> Any:
        return dx if type(dx) in self._fitting else super().__call__(dx)

    def _project(self, dx: Any) -> Any:
        if not is_array(dx) and not is_a(dx, numbers.Number):
            raise TypeError(
                f"a cotangent of type {type(dx).__name__} does not fit a primal of type {self._type.__name__}: "
                "return a number"
            )
        if np.shape(dx) != ():
            raise _shape_error(dx, ())
        if is_a(dx, np.ndarray):
            dx = dx[()]
        if self._is_real and np.iscomplexobj(dx):
            dx = dx.real
        if type(dx) in self._fitting or not is_a(dx, numbers.Number):
            return dx  # another library's 0-d array keeps its own type
        return self._type(dx)


class ArrayProjector(Projector):
    """For arrays of inexact numbers, of NumPy or of any library that speaks its protocols."""

    __slots__ = ("dtype", "shape")

    def __init__(self, shape: tuple[int, ...], dtype: Any) -> None:
        self.shape = shape
        self.dtype = dtype

    def __call__(self, dx: Any) -> Any:
        if type(dx) is np.ndarray and dx.dtype is self.dtype and dx.shape == self.shape:
            return dx
        return super().__call__(dx)

    def _project(self, dx: Any) -> Any:
        refuse_masked_cotangent(dx)
        if is_sparse(dx):
            dx = dx.toarray()
        if is_a(dx, (numbers.Number, np.generic)):
            dx = np.asarray(dx)
        elif not is_array(dx):
            raise TypeError(
                f"a cotangent of type {type(dx).__name__} does not fit an array of shape {self.shape}: return an array"
            )
        if dx.shape != self.shape:
            raise _shape_error(dx, self.shape)
        if dx.dtype == self.dtype:
            return dx
        if dx.dtype.kind == "c" and self.dtype.kind == "f":
            dx = dx.real
        return dx.astype(self.dtype)


class MaskedArrayProjector(Projector):
    """For masked arrays within lists and objects: an error, as soon as one would be differentiated."""

    __slots__ = ()

    def _project(self, dx: Any) -> Any:
        raise TypeError(
            "a masked array was about to get a cotangent, which would not know of the mask: write np.where(a.mask, 0, "
            "a.data)"
        )


class ObjectArrayProjector(Projector):
    """For arrays of objects: one projector an element."""

    __slots__ = ("_projectors",)

    def __init__(self, projectors: Any) -> None:
        self._projectors = projectors

    def _project(self, dx: Any) -> Any:
        if not is_a(dx, np.ndarray):
            raise TypeError(
                f"a cotangent of type {type(dx).__name__} does not fit an array of objects of shape "
                f"{self._projectors.shape}: return an array of objects, with a tangent in each place"
            )
        if dx.shape != self._projectors.shape:
            raise _shape_error(dx, self._projectors.shape)
        projected = np.empty(self._projectors.shape, dtype=object)
        for index, projector in np.ndenumerate(self._projectors):
            projected[index] = projector(dx[index])
        return projected


class SparseProjector(Projector):
    """For `scipy.sparse` arrays: only the entries the primal stores have a tangent."""

    __slots__ = ("_dtype", "_pattern", "_type")

    def __init__(self, x: Any) -> None:
        self._dtype, self._type = x.dtype, type(x)
        self._pattern = pattern_of(x)

    def _project(self, dx: Any) -> Any:
        if not is_array(dx):
            raise TypeError(
                f"a cotangent of type {type(dx).__name__} does not fit a sparse array of shape {self._pattern.shape}: "
                "return a sparse or dense array"
            )
        if dx.shape != self._pattern.shape:
            raise _shape_error(dx, self._pattern.shape)
        if type(dx) is self._type and dx.dtype == self._dtype and self._pattern.is_of(dx):
            return dx  # as a rule made it that builds it by `of_entries`
        return self.of_entries(self.entries_of(dx))

    @property
    def coordinates(self) -> Any:
        """For each axis, the indices of the entries that have a tangent."""
        return self._pattern.coords

    def entries_of(self, x: Any) -> Any:
        """The elements of a dense or sparse array of the primal's shape at `coordinates`, as a vector."""
        return self._pattern.values_of(self._of_ordinary_numbers(x))

    def of_entries(self, values: Any) -> Any:
        """The sparse array with these values at `coordinates`, in the precision of the primal, real where that is."""
        self._of_ordinary_numbers(values)
        if values.dtype.kind == "c" and self._dtype.kind == "f":
            values = values.real
        return self._pattern.with_values(values.astype(self._dtype, copy=False))

    def _of_ordinary_numbers(self, x: Any) -> Any:
        if hasattr(type(x), "__rule_type__"):
            raise MissingDerivativeError(
                f"second derivatives and `linearize` do not go through a sparse array ({self._type.__name__}) made of "
                "values that are being differentiated, since it holds ordinary numbers: make a dense array by NumPy's "
                "functions, and pass S.toarray() where S is an argument of the function that is differentiated"
            )
        return x


class StructureProjector(Projector):
    """For containers and objects: one projector a field; the result is a `Tangent`."""

    __slots__ = ("_projectors", "_type")

    def __init__(self, primal_type: type, projectors: dict[Any, Projector]) -> None:
        self._type = primal_type
        self._projectors = projectors

    def _project(self, dx: Any) -> Any:
        if type(dx) is not Tangent:
            dx = as_structural(self._type, dx)
        if not isinstance(dx, Tangent):
            raise TypeError(
                f"a cotangent of type {type(dx).__name__} does not fit a {self._type.__name__}: "
                f"return Tangent({self._type.__name__}, ...)"
            )
        if dx.primal_type is not self._type and not issubclass(self._type, dx.primal_type):
            raise TypeError(
                f"the tangent of a {dx.primal_type.__name__} does not fit a {self._type.__name__}: "
                f"return Tangent({self._type.__name__}, ...)"
            )
        if dx.primal_type is self._type and dx.fields.keys() == self._projectors.keys():  # as most rules make it
            fields = {key: project(dx.fields[key]) for key, project in self._projectors.items()}
            return Tangent.from_fields(self._type, fields)
        unknown = [key for key in dx.fields if key not in self._projectors]
        is_sequence = field_names(self._type) is None and issubclass(self._type, (tuple, list))
        if unknown or (is_sequence and len(dx.fields) != len(self._projectors)):
            raise ValueError(
                f"a cotangent with the fields {list(dx.fields)} does not fit a {self._type.__name__} with the fields "
                f"{list(self._projectors)}"
            )
        fields = {key: project(dx.fields[key]) for key, project in self._projectors.items() if key in dx.fields}
        return Tangent.from_fields(self._type, fields)


NON_DIFFERENTIABLE = NonDifferentiableProjector()
_IDENTITY = IdentityProjector()
_MASKED = MaskedArrayProjector()
_FLOAT = ScalarProjector(float, is_real=True)
_COMPLEX = ScalarProjector(complex, is_real=False)


def project_to(x: Any) -> Projector:
    """A callable that puts a cotangent into the tangent space of ``x``.

    Parameters
    ----------
    x : object
        The primal. Its shape and type are kept, its values are not. Its projector itself stands for it, where somebody
        has made that before.

    Returns
    -------
    project : Projector
        ``project(dx)`` has the shape of ``x`` and its precision, is real where ``x`` is real (the real part of a
        complex cotangent is its orthogonal projection), has entries only where a sparse ``x`` stores one, and is
        a `Tangent` for containers and objects. Integers, booleans, strings, functions, and containers of nothing
        else have no tangent space: every cotangent becomes `NoTangent`.

    Raises
    ------
    ValueError
        (From the callable.) When the cotangent has another shape. A projection never sums or broadcasts; see
        `unbroadcast`.
    TypeError
        (From the callable.) When the cotangent belongs to another type of primal.

    Examples
    --------
    >>> import numpy as np
    >>> project_to(np.ones(2, np.float32))(np.array([1.0 + 2j, 3.0]))
    array([1., 3.], dtype=float32)
    """
    kind = type(x)
    if kind is np.ndarray and x.dtype.kind in "fc":  # the most frequent ones
        return ArrayProjector(x.shape, x.dtype)
    if kind is float:
        return _FLOAT
    return _projector_of(x, ())


ProjectTo = project_to


def is_differentiable(x: Any) -> bool:
    """Whether ``x`` has a tangent space: whether it can have another derivative than none.

    Parameters
    ----------
    x : object
        A primal.

    Returns
    -------
    bool
        False for integers, booleans, strings, functions, None, and containers of nothing else.

    Examples
    --------
    >>> is_differentiable(2.0), is_differentiable(2), is_differentiable([1, 2.0])
    (True, False, True)
    """
    return project_to(x) is not NON_DIFFERENTIABLE


def _array_projector(x: Any, parents: tuple[int, ...]) -> Projector:
    kind = getattr(x.dtype, "kind", None)
    if kind is None:  # a dtype of another kind of array than NumPy's
        return _IDENTITY
    if kind in "fc":
        return ArrayProjector(x.shape, x.dtype)
    if kind == "O":
        if id(x) in parents:
            return NON_DIFFERENTIABLE
        parents = (*parents, id(x))
        projectors = np.empty(x.shape, dtype=object)
        for index, element in np.ndenumerate(x):
            projectors[index] = _projector_of(element, parents)
        if all(projector is NON_DIFFERENTIABLE for projector in projectors.flat):
            return NON_DIFFERENTIABLE
        return ObjectArrayProjector(projectors)
    return NON_DIFFERENTIABLE


def _projector_of(x: Any, parents: tuple[int, ...]) -> Projector:
    kind = type(x)
    if kind is np.ndarray:  # the most frequent ones first
        return _array_projector(x, parents)
    if kind is tuple or kind is list:
        return _structure_projector(x, parents)
    if issubclass(kind, np.ndarray):
        return _MASKED if foreign_kind(kind) == "masked" else _array_projector(x, parents)
    if issubclass(kind, np.generic):
        if x.dtype.kind not in "fc":
            return NON_DIFFERENTIABLE
        return ScalarProjector(kind, is_real=x.dtype.kind == "f")
    if issubclass(kind, complex):
        return _COMPLEX
    if issubclass(kind, float):
        return _FLOAT
    if issubclass(kind, AbstractTangent):
        return _projector_of_tangent(x, parents)
    if is_array(x):
        if not is_sparse(x):
            return _array_projector(x, parents)
        return SparseProjector(x) if x.dtype.kind in "fc" else NON_DIFFERENTIABLE
    if issubclass(kind, numbers.Number):
        return NON_DIFFERENTIABLE if issubclass(kind, numbers.Integral) else _IDENTITY
    if issubclass(kind, Blueprint):
        return ArrayProjector(x.shape, x.dtype)
    if isinstance(x, Projector):
        return x
    return _structure_projector(x, parents)


def _projector_of_tangent(x: Any, parents: tuple[int, ...]) -> Projector:
    """For a tangent that stands in the place of a primal."""
    if isinstance(x, Tangent):
        return StructureProjector(x.primal_type, {k: _projector_of(v, parents) for k, v in x.fields.items()})
    return _projector_of(x.force(), parents) if isinstance(x, Thunk) else NON_DIFFERENTIABLE


def _structure_projector(x: Any, parents: tuple[int, ...]) -> Projector:
    fields = structure_of(x)
    # An object that contains itself has no finite tangent; its inner occurrence counts as not differentiable.
    if fields is None or id(x) in parents:
        return NON_DIFFERENTIABLE
    parents = (*parents, id(x))
    projectors = {key: _projector_of(value, parents) for key, value in fields.items()}
    for projector in projectors.values():
        if projector is not NON_DIFFERENTIABLE:
            return StructureProjector(type(x), projectors)
    return NON_DIFFERENTIABLE


def _shape_error(dx: Any, shape: tuple[int, ...]) -> ValueError:
    return ValueError(
        f"a cotangent of shape {np.shape(dx)} does not fit a primal of shape {shape}: a cotangent has exactly the "
        f"shape of its primal; {_to_put_right(np.shape(dx), shape)}"
    )


def _to_put_right(given: tuple[int, ...], shape: tuple[int, ...]) -> str:
    """What makes a cotangent of one shape one of another, as far as the shapes tell."""
    if _broadcasts(shape, given):
        return "sum over the broadcast axes first: unbroadcast(dx, np.shape(x))"
    if _broadcasts(given, shape):
        return "what is the same for all its entries is written out: np.broadcast_to(dx, np.shape(x))"
    if [n for n in given if n != 1] == [n for n in shape if n != 1]:
        return "axes of length 1 are all that differs: dx.reshape(np.shape(x))"
    if sorted(given) == sorted(shape):
        return "its axes are in another order: " + ("dx.T" if len(shape) == 2 else "np.transpose(dx, axes)")
    if np.prod(given) == np.prod(shape):
        return "it has as many entries: dx.reshape(np.shape(x)), where they are in the order of x"
    return "return an array with an entry for each of the primal's, at the same place"


def _broadcasts(shape: tuple[int, ...], other: tuple[int, ...]) -> bool:
    """Whether NumPy broadcasts an array of one shape to the other."""
    trailing = other[len(other) - len(shape) :]
    return len(shape) <= len(other) and all(n in (1, m) for n, m in zip(shape, trailing, strict=True))
