"""Rules whose answer has the wrong shape, the wrong precision or the wrong type."""

import numpy as np

from corpora.corpus import complex_normal, elementwise_vjp, normal, positive, uniform, unprojected
from corpora.wrong.entry import wrong
from corpora.wrong.functions import (
    ADD,
    DIVIDE,
    EXP,
    LOG,
    MULTIPLY,
    PHASE,
    ROWS,
    SINE,
    SQRT,
    SQUARE,
    SQUARED_MODULUS,
    SUM,
    SUM_OF_SQUARES,
    TANH,
    TRANSFORM,
    adjoint,
    repeated_rows,
    spread,
)
from rulescore import NoTangent, project_to, unthunk

# ================================================================== kind: shape
BIAS = normal((4, 5), 5)

wrong(
    "a bias whose cotangent is not summed over the rows",
    "shape",
    ADD,
    BIAS,
    vjp=lambda ybar, a, b: (ybar, ybar),
    project=unprojected,
    mistake="missing sum over a broadcast axis",
    argument=1,
)
wrong(
    "a scalar whose cotangent is an array",
    "shape",
    MULTIPLY,
    normal((), 6),
    vjp=lambda ybar, a, b: (np.conj(b) * ybar, np.conj(a) * ybar),
    project=unprojected,
    mistake="missing sum over a broadcast axis",
    argument=0,
)
wrong(
    "a column whose cotangent is not summed over the columns",
    "shape",
    DIVIDE,
    positive((4, 5), (4, 1)),
    vjp=lambda ybar, a, b: (ybar / np.conj(b), -np.conj(a / b**2) * ybar),
    project=unprojected,
    mistake="missing sum over a broadcast axis",
    argument=1,
)
wrong(
    "a bias that gets the cotangent of the first row",
    "shape",
    ADD,
    BIAS,
    vjp=lambda ybar, a, b: (ybar, ybar[0]),
    argument=1,
)
wrong(
    "a bias that gets the mean of the cotangents of the rows",
    "shape",
    ADD,
    BIAS,
    vjp=lambda ybar, a, b: (ybar, np.mean(ybar, axis=0)),
    mistake="mean instead of sum",
    argument=1,
)
wrong(
    "a bias whose cotangent keeps an axis of length 1",
    "shape",
    ADD,
    BIAS,
    vjp=lambda ybar, a, b: (ybar, np.sum(ybar, axis=0, keepdims=True)),
    project=unprojected,
    argument=1,
)
wrong(
    "a product of equal shapes that knows nothing of broadcasting",
    "shape",
    MULTIPLY,
    normal((3, 4), (3, 4)),
    vjp=lambda ybar, a, b: (np.conj(b) * ybar, np.conj(a) * ybar),
    project=unprojected,
    mistake="missing sum over a broadcast axis",
    revealed_by=lambda a, b: (a, b[:1]),
)
wrong(
    "a row (1, 5) for a vector (5,)",
    "shape",
    SINE,
    normal(5),
    vjp=lambda ybar, x: (np.conj(np.cos(x)) * ybar)[None],
    project=unprojected,
)
wrong(
    "a column (5, 1) for a vector (5,)",
    "shape",
    SINE,
    normal(5),
    vjp=lambda ybar, x: (np.conj(np.cos(x)) * ybar)[..., None],
    project=unprojected,
)
wrong(
    "a vector (1,) for an array of no dimensions",
    "shape",
    EXP,
    normal(()),
    vjp=lambda ybar, x: np.reshape(np.conj(np.exp(x)) * ybar, (1,)),
    project=unprojected,
)
wrong(
    "a number for a vector (1,)",
    "shape",
    SUM_OF_SQUARES,
    normal(1),
    vjp=lambda ybar, x: np.sum(2 * np.conj(x) * ybar),
    project=unprojected,
)
wrong(
    "a number for a vector: the entries are all equal and broadcast",
    "shape",
    SUM,
    normal(6),
    vjp=lambda ybar, x: ybar,
    project=unprojected,
)
wrong(
    "a flat cotangent of a matrix",
    "shape",
    EXP,
    normal((3, 4)),
    vjp=lambda ybar, x: np.ravel(np.conj(np.exp(x)) * ybar),
    project=unprojected,
)
wrong(
    "the transpose of the cotangent, of a matrix that is not square",
    "shape",
    TRANSFORM,
    normal((3, 5), 5),
    vjp=lambda ybar, a, x: (np.outer(np.conj(x), ybar), adjoint(a) @ ybar),
    project=unprojected,
    mistake="transposed",
    argument=0,
)
wrong(
    "a pushforward of shape (1,) for a number",
    "shape",
    SUM_OF_SQUARES,
    normal(5),
    jvp=lambda dx, x: np.reshape(2 * np.sum(x * dx), (1,)),
    project=unprojected,
)
wrong(
    "a pushforward of shape (4, 1) for a vector",
    "shape",
    EXP,
    normal(4),
    jvp=lambda dx, x: (np.exp(x) * dx)[..., None],
    project=unprojected,
)


def rrule_without_the_function(x):
    """The cotangent of the function itself is missing in the first place."""
    return np.exp(x), lambda ybar: (project_to(x)(np.conj(np.exp(x)) * unthunk(ybar)),)


def rrule_with_a_bare_cotangent(x):
    return np.exp(x), lambda ybar: project_to(x)(np.conj(np.exp(x)) * unthunk(ybar))


def rrule_with_one_cotangent_too_many(x):
    _, pullback = EXP.rrule(x)
    return np.exp(x), lambda ybar: (*pullback(ybar), NoTangent())


def rrule_without_the_last_argument(a, b):
    y, pullback = MULTIPLY.rrule(a, b)
    return y, lambda ybar: pullback(ybar)[:2]


wrong(
    "the cotangent of the function itself left out",
    "shape",
    EXP,
    normal(4),
    rrule=rrule_without_the_function,
)
wrong("a cotangent that is not in a tuple", "shape", EXP, normal(4), rrule=rrule_with_a_bare_cotangent)
wrong("one cotangent too many", "shape", EXP, normal(4), rrule=rrule_with_one_cotangent_too_many)
wrong(
    "the last argument treated as a constant",
    "shape",
    MULTIPLY,
    normal(4, 4),
    rrule=rrule_without_the_last_argument,
    argument=1,
)
wrong(
    "a cotangent squeezed, of an array without axes of length 1",
    "shape",
    SQUARE,
    normal((3, 4)),
    vjp=lambda ybar, x: np.squeeze(2 * np.conj(x) * ybar),
    project=unprojected,
    revealed_by=lambda x: (x[:1],),
)
wrong(
    "a sum over an axis whose cotangent is squeezed",
    "shape",
    SUM,
    normal((4, 3), axis=1, keepdims=True),
    vjp=lambda ybar, x, axis, keepdims: np.squeeze(ybar)[:, None] * np.ones_like(x),
    revealed_by=lambda x: (x[:1],),
)
wrong(
    "a vector (1,) where the argument has no dimensions, and right elsewhere",
    "shape",
    SINE,
    normal(4),
    vjp=lambda ybar, x: np.atleast_1d(np.conj(np.cos(x)) * ybar),
    project=unprojected,
    revealed_by=lambda x: (x.reshape(-1)[0].reshape(()),),
)
wrong(
    "a rule that asks for the length of its argument",
    "shape",
    EXP,
    normal(4),
    vjp=lambda ybar, x: np.conj(np.exp(x)) * ybar * (len(x) > 0),
    revealed_by=lambda x: (x.reshape(-1)[0].reshape(()),),
)
wrong(
    "a rule that scales by the largest entry, of which an empty array has none",
    "shape",
    SQUARE,
    normal(4),
    vjp=lambda ybar, x: 2 * np.conj(x / np.max(np.abs(x))) * np.max(np.abs(x)) * ybar,
    revealed_by=lambda x: (x[:0],),
)


# ================================================================== kind: dtype
def as_if_a_float(x):
    """In the place of `project_to`: integers are given a cotangent too."""
    return project_to(x if np.asarray(x).dtype.kind in "fc" else np.asarray(x, float))


def single(*shapes):
    """Arguments in single precision."""
    return positive(*shapes, dtype=np.float32)


wrong(
    "a double cotangent for a single argument",
    "dtype",
    SINE,
    single(5),
    vjp=lambda ybar, x: np.cos(np.asarray(x, np.float64)) * ybar,
    project=unprojected,
)
wrong(
    "a double pushforward of a single function",
    "dtype",
    EXP,
    single(5),
    jvp=lambda dx, x: np.exp(np.asarray(x, np.float64)) * dx,
    project=unprojected,
)
wrong(
    "a double cotangent for the single argument of two",
    "dtype",
    MULTIPLY,
    lambda rng: ((rng.uniform(1, 2, 4), np.float32(rng.uniform(1, 2, 4))), {}),
    vjp=lambda ybar, a, b: (np.conj(b) * ybar, np.conj(a) * ybar),
    project=unprojected,
    argument=1,
)
wrong(
    "a single cotangent for a double argument",
    "dtype",
    SQUARE,
    lambda rng: ((np.round(rng.uniform(1, 2, 6), 1),), {}),
    vjp=lambda ybar, x: np.asarray(2 * x * ybar, np.float32),
    project=unprojected,
)
wrong(
    "half precision for a single argument",
    "dtype",
    EXP,
    single((2, 3)),
    vjp=lambda ybar, x: np.asarray(np.exp(x) * ybar, np.float16),
    project=unprojected,
)
wrong(
    "an array of objects for an array of numbers",
    "dtype",
    SQUARE,
    normal(3),
    vjp=lambda ybar, x: np.asarray(2 * x * ybar, object),
    project=unprojected,
)
wrong(
    "a complex cotangent for a real argument",
    "dtype",
    PHASE,
    normal(5),
    vjp=lambda ybar, x: np.conj(1j * np.exp(1j * x)) * ybar,
    project=unprojected,
)
wrong(
    "a complex pushforward of a real function",
    "dtype",
    SQUARED_MODULUS,
    complex_normal(4),
    jvp=lambda dz, z: 2 * np.real(np.conj(z) * dz) + 0j,
    project=unprojected,
)
wrong(
    "whole numbers for a cotangent, of a sum of which nothing is asked but counting",
    "dtype",
    SUM,
    normal(5),
    vjp=lambda ybar, x: spread(np.rint(ybar).astype(int), x),
    project=unprojected,
)
wrong(
    "a list for an array",
    "dtype",
    SQUARE,
    normal(3),
    vjp=lambda ybar, x: np.ravel(2 * x * ybar).tolist(),
    project=unprojected,
)
wrong(
    "a cotangent for an integer argument",
    "dtype",
    ROWS,
    repeated_rows,
    rrule=lambda x, indices: (
        x[indices],
        lambda ybar: (*ROWS.rrule(x, indices)[1](ybar)[:2], np.zeros(np.shape(indices))),
    ),
    argument=1,
)
wrong(
    "double precision whatever the argument's is",
    "dtype",
    LOG,
    positive(5),
    vjp=lambda ybar, x: ybar / np.conj(x).astype(np.result_type(x, np.float64)),
    project=unprojected,
    revealed_by=lambda x: (x.astype(np.float32),),
)
wrong(
    "a pushforward in double precision whatever the argument's is",
    "dtype",
    TANH,
    normal((2, 2)),
    jvp=lambda dx, x: dx.astype(np.result_type(dx, np.float64)) / np.cosh(x) ** 2,
    project=unprojected,
    revealed_by=lambda x: (x.astype(np.float32),),
)
wrong(
    "a cotangent written into an array like the other argument, which may hold integers",
    "dtype",
    MULTIPLY,
    uniform(2, 9, 5, 5),
    vjp=lambda ybar, a, b: (
        np.multiply(np.conj(b), ybar, out=np.empty_like(b), casting="unsafe"),
        np.conj(a) * ybar,
    ),
    argument=0,
    revealed_by=lambda a, b: (a, np.rint(b).astype(int)),
)
wrong(
    "a float cotangent where the argument turns out an integer",
    "dtype",
    SQRT,
    uniform(2, 9, 5),
    vjp=elementwise_vjp(lambda x: 0.5 / np.sqrt(x)),
    project=as_if_a_float,
    revealed_by=lambda x: (np.rint(x).astype(int),),
)
