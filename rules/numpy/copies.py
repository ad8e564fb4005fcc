"""Rules of what copies arrays or converts them to another type or memory layout: copy, astype, array, asarray, ..."""

from multipledispatch import MDNotImplementedError

import numpy as np
from rulescore import frule, is_differentiable, no_tangent_pullback, pullback_wrt, pushforward, rrule
from rulescore.typing import Array, Choice, Count, DType, Flag, Number, OutputAndPullback, OutputAndTangent

from .array_like import as_array, as_array_tangent, shape_of, who_converts
from .reduced_axes import NOT_GIVEN, given

# A conversion is linear over the reals. Its transpose is the conversion back, which `project_to` is: a complex number
# that becomes a real one loses its imaginary part, and gets a cotangent without. What becomes an integer or a truth
# value has no derivative, as if it were rounded.


def converting_frule(f, da, a):
    """The pushforward of ``y = f(a)``, the same numbers in another array."""
    y = f(a)
    decline_unless_numbers(y, a)
    return y, np.reshape(as_array_tangent(da, a), np.shape(y))


def converting_rrule(f, a):
    """The pullback of ``y = f(a)``, the same numbers in another array."""
    y, shape = f(a), shape_of(a)
    decline_unless_numbers(y, a)
    if not is_differentiable(y):
        return y, no_tangent_pullback
    return y, pullback_wrt(a)(lambda ybar: np.reshape(ybar, shape))


def decline_unless_numbers(y, a):
    """Numbers that become objects keep their derivative in a way that is nobody's here; as text they have none."""
    if np.result_type(y).kind not in "biufc" and is_differentiable(a):
        raise MDNotImplementedError


# ---------------------------------------------------------------- copies


@frule.register(np.copy)
@pushforward
def copy_frule(da: Array, a: Array, order: Choice = "K", subok: Flag = False) -> OutputAndTangent:
    return converting_frule(lambda a: np.copy(a, order, subok), da, a)


@rrule.register(np.copy)
def copy_rrule(a: Array, order: Choice = "K", subok: Flag = False) -> OutputAndPullback:
    return converting_rrule(lambda a: np.copy(a, order, subok), a)


@frule.register(np.ndarray.copy)
@pushforward
def ndarray_copy_frule(da: Array, a: Array, /, order: Choice = "C") -> OutputAndTangent:
    return converting_frule(lambda a: a.copy(order), da, a)


@rrule.register(np.ndarray.copy)
def ndarray_copy_rrule(a: Array, /, order: Choice = "C") -> OutputAndPullback:
    return converting_rrule(lambda a: a.copy(order), a)


# ---------------------------------------------------------------- other types


@frule.register(np.ndarray.astype)
@pushforward
def ndarray_astype_frule(
    da: Array,
    a: Array,
    /,
    dtype: DType,
    order: Choice = "K",
    casting: Choice = "unsafe",
    subok: Flag = True,
    copy: Flag = True,
) -> OutputAndTangent:
    return converting_frule(lambda a: a.astype(dtype, order, casting, subok, copy), da, a)


@rrule.register(np.ndarray.astype)
def ndarray_astype_rrule(
    a: Array, /, dtype: DType, order: Choice = "K", casting: Choice = "unsafe", subok: Flag = True, copy: Flag = True
) -> OutputAndPullback:
    return converting_rrule(lambda a: a.astype(dtype, order, casting, subok, copy), a)


@frule.register(np.astype)
@pushforward
def astype_frule(dx: Array, x: Array, dtype: DType, /, *, copy: Flag = True, device: Choice = None) -> OutputAndTangent:
    return converting_frule(lambda x: np.astype(x, dtype, copy=copy, **given(device=device)), dx, x)


@rrule.register(np.astype)
def astype_rrule(x: Array, dtype: DType, /, *, copy: Flag = True, device: Choice = None) -> OutputAndPullback:
    return converting_rrule(lambda x: np.astype(x, dtype, copy=copy, **given(device=device)), x)


# ---------------------------------------------------------------- conversions to arrays


@frule.register(np.array)
@pushforward
def array_frule(
    dobject: Array,
    object: Array,
    dtype: DType = None,
    *,
    copy: Flag = True,
    order: Choice = "K",
    subok: Flag = False,
    ndmin: Count = 0,
    ndmax: Count = NOT_GIVEN,
) -> OutputAndTangent:
    options = {"copy": copy, "order": order, "subok": subok, "ndmin": ndmin, "like": who_converts(object)}
    options |= given(ndmax=ndmax)
    return converting_frule(lambda a: np.array(a, dtype, **options), dobject, object)


@rrule.register(np.array)
def array_rrule(
    object: Array,
    dtype: DType = None,
    *,
    copy: Flag = True,
    order: Choice = "K",
    subok: Flag = False,
    ndmin: Count = 0,
    ndmax: Count = NOT_GIVEN,
) -> OutputAndPullback:
    """Of a list of arrays or numbers, each gets the part of ȳ that it filled."""
    options = {"copy": copy, "order": order, "subok": subok, "ndmin": ndmin, "like": who_converts(object)}
    options |= given(ndmax=ndmax)
    return converting_rrule(lambda a: np.array(a, dtype, **options), object)


def register_asarray(f):
    """The rules of ``asarray`` and ``asanyarray``, whose output is the array that they are given where it fits."""

    @frule.register(f)
    @pushforward
    def asarray_frule(
        da: Array, a: Array, dtype: DType = None, order: Choice = None, *, device: Choice = None, copy: Flag = NOT_GIVEN
    ) -> OutputAndTangent:
        options = {"like": who_converts(a), **given(device=device, copy=copy)}
        return converting_frule(lambda a: f(a, dtype, order, **options), da, a)

    @rrule.register(f)
    def asarray_rrule(
        a: Array, dtype: DType = None, order: Choice = None, *, device: Choice = None, copy: Flag = NOT_GIVEN
    ) -> OutputAndPullback:
        options = {"like": who_converts(a), **given(device=device, copy=copy)}
        return converting_rrule(lambda a: f(a, dtype, order, **options), a)


def register_layout(f):
    """The rules of ``ascontiguousarray`` and ``asfortranarray``, which give numbers an axis."""

    @frule.register(f)
    @pushforward
    def layout_frule(da: Array, a: Array, dtype: DType = None) -> OutputAndTangent:
        return converting_frule(lambda a: f(a, dtype, like=who_converts(a)), da, a)

    @rrule.register(f)
    def layout_rrule(a: Array, dtype: DType = None) -> OutputAndPullback:
        return converting_rrule(lambda a: f(a, dtype, like=who_converts(a)), a)


def checked_finite(a, dtype, order):
    """``np.asarray_chkfinite``, also of other kinds of arrays, which NumPy hands over to nobody."""
    y = np.asarray(a, dtype, order, like=who_converts(a))
    if y.dtype.kind in "fc" and not np.all(np.isfinite(y)):
        raise ValueError("array must not contain infs or NaNs")
    return y


@frule.register(np.asarray_chkfinite)
@pushforward
def asarray_chkfinite_frule(da: Array, a: Array, dtype: DType = None, order: Choice = None) -> OutputAndTangent:
    return converting_frule(lambda a: checked_finite(a, dtype, order), da, a)


@rrule.register(np.asarray_chkfinite)
def asarray_chkfinite_rrule(a: Array, dtype: DType = None, order: Choice = None) -> OutputAndPullback:
    return converting_rrule(lambda a: checked_finite(a, dtype, order), a)


@frule.register(np.require)
@pushforward
def require_frule(da: Array, a: Array, dtype: DType = None, requirements: Choice = None) -> OutputAndTangent:
    return converting_frule(lambda a: np.require(a, dtype, requirements, like=who_converts(a)), da, a)


@rrule.register(np.require)
def require_rrule(a: Array, dtype: DType = None, requirements: Choice = None) -> OutputAndPullback:
    return converting_rrule(lambda a: np.require(a, dtype, requirements, like=who_converts(a)), a)


@frule.register(np.real_if_close)
@pushforward
def real_if_close_frule(da: Array, _dtol: Number, a: Array, tol: Number = 100) -> OutputAndTangent:
    return converting_frule(lambda a: np.real_if_close(as_array(a), tol), da, a)


@rrule.register(np.real_if_close)
def real_if_close_rrule(a: Array, tol: Number = 100) -> OutputAndPullback:
    """Complex numbers that became real ones get a cotangent without imaginary part."""
    return converting_rrule(lambda a: np.real_if_close(as_array(a), tol), a)


for conversion in (np.asarray, np.asanyarray):
    register_asarray(conversion)
for conversion in (np.ascontiguousarray, np.asfortranarray):
    register_layout(conversion)
