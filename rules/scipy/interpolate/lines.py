"""Rules of `scipy.interpolate.interp1d`, of every kind, with respect to values, points, and where they are taken."""

import numpy as np
from multipledispatch import MDNotImplementedError

from rulescore import (
    Tangent,
    apply_linear,
    frule,
    instances_of,
    is_traced,
    not_implemented,
    pullback_wrt,
    pushforward,
    rrule,
)
from rulescore.typing import Array, OutputAndPullback, OutputAndTangent, Struct
from scipy import interpolate

from ...numpy.array_like import as_array
from ..linear_maps import composed
from ..ndimage.boundaries import fixed
from .bsplines import Constant, bspline_values, make_interp_spline
from .piecewise import Constructed, beside, with_points_at
from .reference_ad import with_cotangents, with_tangent
from .weighted_neighbours import gather_weighted


def neighbours(x, q):
    """The places of the points to both sides of each q."""
    high = np.clip(np.searchsorted(fixed(x), fixed(q)), 1, np.shape(x)[0] - 1)
    return high - 1, high


def two_neighbours(x, q, is_by_numpy):
    """The places of the points to both sides of each q, and their weights in the line between them.

    Of points that are equal, `np.interp` takes the last; where SciPy computes by itself, nothing is between them.
    """
    low, high = neighbours(x, q)
    if is_by_numpy and np.any(np.diff(fixed(x)) == 0):
        low = np.clip(np.searchsorted(fixed(x), fixed(q), "right") - 1, 0, np.shape(x)[0] - 2)
        high = low + 1
        is_empty = fixed(x)[high] == fixed(x)[low]
        share = np.where(is_empty, 1.0, (q - x[low]) / np.where(is_empty, 1.0, x[high] - x[low]))
    else:
        share = (q - x[low]) / (x[high] - x[low])
    return np.stack([low, high]), np.stack([1 - share, share])


def on_lines(x, y, q):
    """The values on the lines between neighbours, in the order and so in the precision in which SciPy computes them."""
    low, high = neighbours(x, q)
    slopes = (y[high] - y[low]) / beside(x[high] - x[low], y)
    return slopes * beside(q - x[low], y) + y[low]


def are_doubles(*arrays):
    return all(part.dtype == (complex if np.iscomplexobj(part) else float) for part in arrays)


def one_neighbour(plain, q):
    """The place of the point whose value is taken, as SciPy finds it."""
    n = len(plain.x)
    if plain._kind == "spline":  # of order 0
        return np.clip(np.searchsorted(plain.x, q, "right") - 1, 0, n - 1)
    if plain._kind in ("nearest", "nearest-up"):
        return np.clip(np.searchsorted(plain.x_bds, q, plain._side), 0, n - 1)
    return np.clip(np.searchsorted(plain._x_shift, q, plain._side), 1 - plain._ind, n - plain._ind) + plain._ind - 1


def line_values(x, y, q, below, above, plain):
    """What a call of an ``interp1d`` object returns; ``plain`` is such an object for numbers."""
    q = as_array(q) * 1.0
    shape, flat, y = np.shape(q), np.reshape(q, -1), np.moveaxis(as_array(y), plain.axis, 0)
    kind, order = plain._kind, plain._spline.k if plain._kind == "spline" else None
    if kind == "linear" and not are_doubles(x, y, flat):
        rows = on_lines(x, y, flat)
    elif kind == "linear":
        rows = gather_weighted(y, *two_neighbours(x, flat, plain._call.__name__ == "_call_linear_np"))
    elif kind == "spline" and order > 0:
        spline = make_interp_spline(x, y, order)
        rows = bspline_values(spline.t, spline.c, order, flat, 0, True, 0)
    else:
        rows = y[one_neighbour(plain, fixed(flat))]
        rows = rows.astype(np.result_type(rows, float)) if kind == "spline" else rows
    if not plain._extrapolate:
        is_below, is_above = plain._check_bounds(np.asarray(fixed(flat)))
        if is_below.any() and below is not None:
            rows = np.where(beside(is_below, rows), below, rows).astype(rows.dtype)
        if is_above.any() and above is not None:
            rows = np.where(beside(is_above, rows), above, rows).astype(rows.dtype)
    return with_points_at(plain.axis, rows, shape)


class interp1d(Constructed, interpolate.interp1d):  # noqa: N801 (SciPy's name)
    """An object whose calls an AD system sees, where its points, its values or the argument are differentiated.

    What is the same for numbers is asked of an object of SciPy's.
    """

    def __init__(self, *args, **kwargs):
        if not is_traced(*args, *kwargs.values()):
            plain = interpolate.interp1d(*args, **kwargs)
            self.hold(plain, plain.x, plain.y, *ends_of(plain.fill_value, plain))

    def hold(self, plain, x, y, below, above):
        self.__dict__.update({"x": x, "y": y, "below": below, "above": above, "plain": Constant(plain)})
        return self

    def __getattr__(self, name):
        plain = self.__dict__.get("plain")
        if plain is None:
            raise AttributeError(name)
        return getattr(plain.value, name)

    def __call__(self, x):
        fields = self.__dict__
        if not is_traced(x, *[fields[name] for name in ("x", "y", "below", "above")]):
            return fields["plain"].value(x)
        return line_values(self.x, self.y, x, fields["below"], fields["above"], fields["plain"].value)


def ends_of(fill_value, plain):
    """What there is below and above the points; None where the values go on."""
    if isinstance(fill_value, str):
        return {"previous": (np.nan, None), "next": (None, np.nan)}.get(plain._kind, (None, None))
    return fill_value if isinstance(fill_value, tuple) and len(fill_value) == 2 else (fill_value, fill_value)


@composed(interpolate.interp1d)
def interp1d_of(x, y, kind="linear", axis=-1, copy=True, bounds_error=None, fill_value=np.nan, assume_sorted=False):
    plain = interpolate.interp1d(
        fixed(x), fixed(y), kind, int(axis), copy, bounds_error, fixed(fill_value), assume_sorted
    )
    has_nan = np.isnan(plain.x).any() or (plain._kind == "spline" and np.isnan(plain.y).any())
    if has_nan or (plain._kind == "linear" and len(plain.x) < 2):
        raise MDNotImplementedError
    x, y = as_array(x) * 1.0, as_array(y) * 1.0
    if not assume_sorted:
        order = np.argsort(fixed(x), kind="mergesort")
        x, y = x[order], np.take(y, order, axis=int(axis))
    return object.__new__(interp1d).hold(plain, x, y, *ends_of(fill_value, plain))


OF_OBJECT = not_implemented(
    "an interp1d object of SciPy's, which holds its values several times; build the one of rules.scipy.interpolate "
    "where they are differentiated"
)
FIELDS = ("x", "y", "below", "above")


@frule.register(instances_of(interpolate.interp1d))
@pushforward
def interp1d_frule(dline: Struct, dx: Array, line: Struct, x: Array) -> OutputAndTangent:
    (a, b, *ends), plain = parts_of(line)
    if isinstance(line, interp1d):
        da, db, *dends = [dline[name] for name in FIELDS]
        args, dargs = (a, b, x, *ends), (da, db, dx, *dends)
        return with_tangent(lambda *args: line_values(*args, plain), args, dargs)
    y, dy = with_tangent(lambda x: line_values(a, b, x, *ends, plain), (x,), (dx,))
    return y, dy + apply_linear(lambda dline: OF_OBJECT, dline)


@rrule.register(instances_of(interpolate.interp1d))
def interp1d_rrule(line: Struct, x: Array) -> OutputAndPullback:
    """With respect to where the values are taken; and to what the object holds, where it is one of ours."""
    (a, b, *ends), plain = parts_of(line)
    y, cotangents = with_cotangents(lambda *args: line_values(*args, plain), a, b, x, *ends)

    @pullback_wrt(x, function=line)
    def interp1d_pullback(ybar):
        a_bar, b_bar, xbar, *ends_bars = cotangents(ybar)
        if not isinstance(line, interp1d):
            return OF_OBJECT, xbar
        return Tangent(type(line), **dict(zip(FIELDS, (a_bar, b_bar, *ends_bars), strict=True))), xbar

    return y, interp1d_pullback


def parts_of(line):
    if isinstance(line, interp1d):
        fields = line.__dict__
        return [fields[name] for name in FIELDS], fields["plain"].value
    return [line.x, line.y, *ends_of(line.fill_value, line)], line
