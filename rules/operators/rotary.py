"""Rotary embedding: pairs of coordinates are turned by angles that grow with the position.

A pair is a complex number, and turning it a multiplication: where the coordinates of a pair stand side by side, an
array of them is seen as one of complex numbers without being copied.
"""

import functools

import numpy as np

from rulescore import apply_linear, frule, ignore_derivatives, is_traced, pullback_wrt, pushforward, rrule, unbroadcast
from rulescore.typing import Array, Choice, OutputAndPullback, OutputAndTangent

from ..numpy.array_like import as_array, as_array_tangent, shape_of
from .operator import operator

IN_CACHE = 2**15
"""How many numbers are turned at a time."""


@operator(onnx="RotaryEmbedding")
def rotary_embedding(x, theta, positions=None, layout="interleaved"):
    """Turn each pair of coordinates by its position times the frequency of the pair.

    Parameters
    ----------
    x : array_like, shape (..., n, d)
        Vectors of an even length d.
    theta : array_like, shape (d/2,)
        The angle between one position and the next, for each pair; usually ``10000.0 ** -(2 * np.arange(d/2) / d)``.
    positions : array_like, optional
        The position of each vector, in a shape that broadcasts to that of ``x`` without its last axis. By default
        0, 1, ..., n - 1.
    layout : {"interleaved", "half"}
        Whether the coordinates of a pair are 2i and 2i + 1, or i and d/2 + i.

    Returns
    -------
    y : ndarray, shape (..., n, d)
        In the precision of ``x``.

    Raises
    ------
    ValueError
        For shapes that do not fit, and unknown layouts.
    TypeError
        For complex numbers.

    Notes
    -----
    yₘ,ᵢ = exp(ι pₘ θᵢ) xₘ,ᵢ of pairs as complex numbers (Su et al. 2021). Positions that are floats have a derivative.
    That of the angle is the right angle turn of y, so θ̄ᵢ = Σₘ pₘ Im(conj(yₘ,ᵢ) ȳₘ,ᵢ), and x̄ is ȳ turned back.

    Examples
    --------
    >>> import numpy as np
    >>> rotary_embedding(np.array([[1.0, 0.0], [1.0, 0.0]]), np.array([np.pi / 2])).round(6)
    array([[1., 0.],
           [0., 1.]])
    """
    x, theta, positions = checked(x, theta, positions, layout)
    return turned(x, Turns(x, theta, positions), layout)


def checked(x, theta, positions, layout):
    """The arguments as arrays; or an error."""
    shape, shape_of_theta = shape_of(x), shape_of(theta)
    if len(shape) < 2 or shape[-1] % 2:
        raise ValueError(
            f"rotary_embedding(x, theta) turns pairs of coordinates, and x of shape {shape} cannot be cut into pairs: "
            "give x the shape (..., n, d) with an even d"
        )
    if shape_of_theta != (shape[-1] // 2,):
        raise ValueError(
            f"rotary_embedding(x, theta) turns each pair of coordinates by an angle of its own, and theta of shape "
            f"{shape_of_theta} does not fit x of shape {shape}: give theta the shape ({shape[-1] // 2},)"
        )
    if layout not in ("interleaved", "half"):
        raise ValueError(f"rotary_embedding(layout={layout!r}): write 'interleaved' or 'half'")
    x, theta = as_array(x), as_array(theta)
    if positions is not None:
        positions = as_array(positions)
        positions = np.asarray(positions) if type(positions) in (int, float) else positions
        try:
            fits = np.broadcast_shapes(np.shape(positions), shape[:-1]) == shape[:-1]
        except ValueError:
            fits = False
        if not fits:
            raise ValueError(
                f"rotary_embedding(x, theta, positions) got positions of shape {np.shape(positions)} for x of shape "
                f"{shape}: give them a shape that broadcasts to {shape[:-1]}, such as ({shape[-2]},)"
            )
    if "c" in [z.dtype.kind for z in (x, theta, positions) if hasattr(z, "dtype")]:
        raise TypeError(
            "rotary_embedding turns pairs of real numbers by real angles, and got complex ones: for complex vectors "
            "write x * np.exp(1j * angles)"
        )
    return x if x.dtype.kind == "f" else x.astype(np.float64), theta, positions


# ---------------------------------------------------------------- turning plain arrays


@functools.lru_cache(maxsize=16)
def consecutive(theta, length, height, dtype):
    """exp(ι m θ) of the rows m < height, what turns them into those of each block of rows after it; and both back.

    Of the same angles again and again, as in training: sines and cosines cost more than all that is done with them.
    """
    theta = np.frombuffer(theta)
    first = powers(theta, height).astype(dtype)
    further = powers(height * theta, -(-length // height)).astype(dtype)
    return (first, further), (first.conj(), further.conj())


def powers(theta, length):
    """exp(ι m θ) for m = 0, 1, ..., most of them as products, which need neither sine nor cosine."""
    width = max(1, round(length**0.5))
    small = unit(np.arange(width)[:, None] * theta)
    large = unit(np.arange(0, length, width)[:, None] * theta)
    return np.reshape(large[:, None] * small, (-1, len(theta)))[:length]


def unit(angles):
    """exp(ι angle)."""
    z = np.empty(angles.shape, np.complex128)
    np.cos(angles, out=z.real)
    np.sin(angles, out=z.imag)
    return z


class Turns:
    """The complex numbers that pairs are multiplied with, for some rows at a time.

    They are computed in double precision. Of positions 0, 1, ... only those of the first rows are kept, and what turns
    them into those of the rows that follow.

    Attributes
    ----------
    height : int
        How many rows are turned at a time, so that intermediate results stay in the cache.
    """

    def __init__(self, x, theta, positions):
        length = x.shape[-2]
        self.dtype = COMPLEX_SINGLE if x.dtype.itemsize <= 4 else COMPLEX_DOUBLE
        self.height = min(max(1, IN_CACHE * length // max(x.size, 1)), max(length, 1))
        theta = np.asarray(theta, np.float64)
        if positions is None:
            self.given, self.consecutive = None, consecutive(theta.tobytes(), length, self.height, self.dtype)
        else:
            self.given = unit(np.asarray(positions, np.float64)[..., None] * theta).astype(self.dtype)

    def blocks(self, length, back):
        """Slices of rows, and what turns them, or turns them back."""
        height = self.height
        if self.given is None:
            first, further = self.consecutive[back]
            part = np.empty_like(first) if length > height else first
        for number, top in enumerate(range(0, length, height)):
            rows = slice(top, min(top + height, length))
            if self.given is None:
                if number:
                    np.multiply(first, further[number], out=part)
                yield rows, (part if number else first)[: rows.stop - top]
                continue
            is_of_all = self.given.ndim < 2 or self.given.shape[-2] == 1
            part = self.given if is_of_all else self.given[..., rows, :]
            yield rows, part.conj() if back else part


COMPLEX_SINGLE, COMPLEX_DOUBLE = np.dtype(np.complex64), np.dtype(np.complex128)


def turned(x, turns, layout, back=False):
    """Pairs times complex numbers, or times their conjugates."""
    if x.dtype == np.float16:  # of which there are no complex numbers
        return turned(x.astype(np.float32), turns, layout, back).astype(x.dtype)
    y = np.empty(x.shape, x.dtype)
    if layout == "interleaved":
        z, w = np.ascontiguousarray(x).view(turns.dtype), y.view(turns.dtype)
        for rows, part in turns.blocks(x.shape[-2], back):
            np.multiply(z[..., rows, :], part, out=w[..., rows, :])
        return y
    (a, b), (c, d) = pairs(x, layout), pairs(y, layout)
    for rows, part in turns.blocks(x.shape[-2], back):
        z = np.empty(a[..., rows, :].shape, turns.dtype)
        z.real, z.imag = a[..., rows, :], b[..., rows, :]
        z *= part
        c[..., rows, :], d[..., rows, :] = z.real, z.imag
    return y


# ---------------------------------------------------------------- rules


def pairs(x, layout):
    """The first and the second coordinate of each pair."""
    if layout == "interleaved":
        return x[..., 0::2], x[..., 1::2]
    half = x.shape[-1] // 2
    return x[..., :half], x[..., half:]


def joined(a, b, layout):
    """The array whose `pairs` these are."""
    if layout == "half":
        return np.concatenate([a, b], axis=-1)
    return np.reshape(np.stack([a, b], axis=-1), (*a.shape[:-1], 2 * a.shape[-1]))


def column_of(positions, x):
    """The positions as they are multiplied with theta."""
    return np.arange(x.shape[-2], dtype=x.dtype)[:, None] if positions is None else positions[..., None]


def embedded(x, theta, positions, layout):
    """The arguments as arrays, the value, and what turns other vectors by the same angles, or back."""
    given = x
    x, theta, positions = checked(x, theta, positions, layout)
    has_turns = not is_traced(theta) and not is_traced(positions)
    turns = Turns(ignore_derivatives(x), theta, positions) if has_turns else None

    def turn(z, back=False):
        if turns is None or is_traced(z):
            return rotary_embedding(z, -theta if back else theta, positions, layout)
        return turned(z, turns, layout, back)

    y = rotary_embedding(given, theta, positions, layout) if is_traced(x) else turn(x)
    return x, theta, positions, y, turn


@frule.register(rotary_embedding, tags=rotary_embedding.tags)
@pushforward
def rotary_embedding_frule(
    dx: Array,
    dtheta: Array,
    dpositions: Array,
    x: Array,
    theta: Array,
    positions: Array = None,
    layout: Choice = "interleaved",
) -> OutputAndTangent:
    """dy is dx turned, plus y turned by a right angle times p dθ + θ dp."""
    dx, dtheta = as_array_tangent(dx, x), as_array_tangent(dtheta, theta)
    dpositions = as_array_tangent(dpositions, positions)
    x, theta, positions, y, turn = embedded(x, theta, positions, layout)
    dangle = column_of(positions, x) * dtheta + np.reshape(dpositions, (*np.shape(dpositions), 1)) * theta

    def turned_by(dangle):
        a, b = pairs(y, layout)
        return joined(-dangle * b, dangle * a, layout)

    return y, apply_linear(turn, dx) + apply_linear(turned_by, dangle)


@rrule.register(rotary_embedding, tags=rotary_embedding.tags)
def rotary_embedding_rrule(
    x: Array, theta: Array, positions: Array = None, layout: Choice = "interleaved"
) -> OutputAndPullback:
    """x̄ is ȳ turned back; the cotangent of an angle is Im(conj(y) ȳ) of its pair, which is Im(conj(x) x̄)."""
    vectors, frequencies, places, y, turn = embedded(x, theta, positions, layout)

    @pullback_wrt(x, theta, positions)
    def rotary_embedding_pullback(ybar):
        xbar = turn(ybar, back=True)

        def angle_bar():
            (a, b), (abar, bbar) = pairs(vectors, layout), pairs(xbar, layout)
            return a * bbar - b * abar

        return (
            xbar,
            lambda: np.sum(column_of(places, vectors) * angle_bar(), axis=tuple(range(len(vectors.shape) - 1))),
            lambda: unbroadcast(np.sum(angle_bar() * frequencies, axis=-1), shape_of(positions)),
        )

    return y, rotary_embedding_pullback
