"""Rules whose number is wrong in most entries: mistakes of mathematics."""

import numpy as np

from corpora.corpus import BOTH, Differentiable, complex_normal, elementwise_jvp, elementwise_vjp, normal, positive
from corpora.wrong.entry import wrong
from corpora.wrong.functions import (
    BILINEAR_FORM,
    CONJ,
    CONVOLVE,
    COSINE,
    DET,
    DIVIDE,
    EDGE_DIFFERENCES,
    EXP,
    FROM_THE_END,
    HALF_SUM_OF_SQUARES,
    HYPOT,
    IMAGINARY_PART,
    INV,
    MATMUL,
    MEAN,
    MEAN_SQUARE,
    MODULUS,
    MULTIPLY,
    NEXT_CHANNELS,
    PHASE,
    PLACES,
    POWER,
    QUADRATIC_FORM,
    RECIPROCAL,
    REMAINING_SUM,
    ROWS,
    RUNNING_SUM,
    SEGMENT_SUM,
    SINE,
    SOFTMAX,
    SOLVE,
    SQRT,
    SQUARE,
    SQUARED_MODULUS,
    SUBTRACT,
    SUM,
    SUM_OF_SQUARES,
    TANH,
    TRACE_OF_PRODUCT,
    TRANSFORM,
    VDOT,
    WHERE,
    adjoint,
    edges_of_a_graph,
    mean_vjp,
    remaining_sum,
    repeated_places,
    repeated_rows,
    rows_vjp,
    running_sum,
    softmax,
    solve,
    solve_vjp,
    spread,
    three_segments,
)
from rulescore import NoTangent, unbroadcast

# ================================================================== kind: value
# ------------------------------------------------------------------ sign

wrong(
    "the derivative of cos without its minus sign",
    "value",
    COSINE,
    normal(6),
    jvp=elementwise_jvp(np.sin),
    vjp=elementwise_vjp(np.sin),
    mistake="sign",
)
wrong(
    "the derivative of 1/x without its minus sign",
    "value",
    RECIPROCAL,
    positive(4),
    vjp=elementwise_vjp(lambda x: 1 / x**2),
    mistake="sign",
)
wrong(
    "a difference whose second argument is added",
    "value",
    SUBTRACT,
    normal((3, 2), (3, 2)),
    vjp=elementwise_vjp(lambda a, b: 1.0, lambda a, b: 1.0),
    mistake="sign",
    argument=1,
)
wrong(
    "the derivative of the inverse without its minus sign",
    "value",
    INV,
    normal((3, 3)),
    jvp=lambda da, a: np.linalg.inv(a) @ da @ np.linalg.inv(a),
    modes=BOTH,
    mistake="sign",
)
wrong(
    "a solution that moves with the matrix instead of against it",
    "value",
    SOLVE,
    normal((4, 4), 4),
    vjp=lambda ybar, a, b: (-solve_vjp(ybar, a, b)[0], solve_vjp(ybar, a, b)[1]),
    mistake="sign",
    argument=0,
)

# ------------------------------------------------------------------ factor 2 and factor 1/2

wrong(
    "half a sum of squares differentiated without the half",
    "value",
    HALF_SUM_OF_SQUARES,
    normal(5),
    vjp=lambda ybar, x: 2 * np.conj(x) * ybar,
    mistake="factor 2",
)
wrong(
    "a quadratic form with its symmetric part counted twice",
    "value",
    QUADRATIC_FORM,
    normal((4, 4), 4),
    vjp=lambda ybar, a, x: (ybar * np.conj(np.outer(x, x)), 2 * ybar * np.conj((a + a.T) @ x)),
    mistake="factor 2",
    argument=1,
)
wrong(
    "the pushforward of a product counts the first argument twice",
    "value",
    MULTIPLY,
    normal(5, 5),
    jvp=elementwise_jvp(lambda a, b: 2 * b, lambda a, b: a),
    modes=BOTH,
    mistake="factor 2",
    argument=0,
)
wrong(
    "sqrt with 1/x in the place of 1/(2 sqrt x), times sqrt x",
    "value",
    SQRT,
    positive(5),
    jvp=elementwise_jvp(lambda x: 1 / np.sqrt(x)),
    vjp=elementwise_vjp(lambda x: 1 / np.sqrt(x)),
    mistake="factor 2",
)
wrong(
    "the square differentiated as x",
    "value",
    SQUARE,
    normal(5),
    jvp=elementwise_jvp(lambda x: x),
    vjp=elementwise_vjp(lambda x: x),
    mistake="factor 1/2",
)
wrong(
    "a sum of squares differentiated as half of it",
    "value",
    SUM_OF_SQUARES,
    normal((2, 3)),
    vjp=lambda ybar, x: np.conj(x) * ybar,
    mistake="factor 1/2",
)
wrong(
    "a mean square without the 2 of the square",
    "value",
    MEAN_SQUARE,
    normal(7),
    jvp=lambda dx, x: np.mean(x * dx),
    modes=BOTH,
    mistake="factor 1/2",
)
wrong(
    "the product rule applied to one factor only, of a symmetric quadratic form",
    "value",
    QUADRATIC_FORM,
    lambda rng: ((lambda a: (a + a.T, rng.standard_normal(4)))(rng.standard_normal((4, 4))), {}),
    vjp=lambda ybar, a, x: (ybar * np.conj(np.outer(x, x)), ybar * np.conj(a @ x)),
    mistake="factor 1/2",
    argument=1,
)

# ------------------------------------------------------------------ missing cotangent factor

wrong(
    "a pullback that returns the derivative alone",
    "value",
    EXP,
    normal(5),
    vjp=lambda ybar, x: np.conj(np.exp(x)),
    mistake="missing cotangent factor",
)
wrong(
    "the gradient of a loss, taken for the last function there is",
    "value",
    SUM_OF_SQUARES,
    normal(6),
    vjp=lambda ybar, x: 2 * np.conj(x),
    mistake="missing cotangent factor",
)
wrong(
    "a product whose second cotangent forgets the cotangent of the output",
    "value",
    MULTIPLY,
    normal((2, 4), (2, 4)),
    vjp=lambda ybar, a, b: (
        unbroadcast(np.conj(b) * ybar, np.shape(a)),
        unbroadcast(np.conj(a) * np.ones_like(ybar), np.shape(b)),
    ),
    mistake="missing cotangent factor",
    argument=1,
)
wrong(
    "a determinant whose cotangent is the cofactors",
    "value",
    DET,
    normal((3, 3)),
    vjp=lambda ybar, a: np.conj(np.linalg.det(a)) * adjoint(np.linalg.inv(a)),
    mistake="missing cotangent factor",
)

# ------------------------------------------------------------------ transposed

wrong(
    "the gradient of the determinant is the adjugate, not the cofactors",
    "value",
    DET,
    normal((3, 3)),
    vjp=lambda ybar, a: ybar * np.conj(np.linalg.det(a) * np.linalg.inv(a)),
    mistake="transposed",
)
wrong(
    "the matrix of a linear map with its outer product the wrong way round",
    "value",
    TRANSFORM,
    normal((4, 4), 4),
    vjp=lambda ybar, a, x: (np.outer(np.conj(x), ybar), adjoint(a) @ ybar),
    mistake="transposed",
    argument=0,
)
wrong(
    "trace(A B) with B in the place of its transpose",
    "value",
    TRACE_OF_PRODUCT,
    normal((3, 3), (3, 3)),
    vjp=lambda ybar, a, b: (ybar * np.conj(b), ybar * adjoint(a)),
    mistake="transposed",
    argument=0,
)
wrong(
    "a transposition whose pullback does nothing",
    "value",
    Differentiable(np.transpose, jvp=lambda dx, x: dx.T, vjp=lambda ybar, x: ybar.T),
    normal((5, 5)),
    vjp=lambda ybar, x: ybar,
    mistake="transposed",
)
wrong(
    "a matrix product whose pullback does not transpose its factors",
    "value",
    MATMUL,
    normal((3, 3), (3, 3)),
    vjp=lambda ybar, a, b: (ybar @ np.conj(b), adjoint(a) @ ybar),
    argument=0,
)
wrong(
    "a matrix product whose pullback multiplies from the wrong side",
    "value",
    MATMUL,
    normal((4, 4), (4, 4)),
    vjp=lambda ybar, a, b: (ybar @ adjoint(b), ybar @ adjoint(a)),
    argument=1,
)
wrong(
    "the inverse with its factors not transposed",
    "value",
    INV,
    normal((3, 3)),
    vjp=lambda ybar, a: -np.conj(np.linalg.inv(a)) @ ybar @ np.conj(np.linalg.inv(a)),
)
wrong(
    "a linear system whose pullback solves with the matrix itself",
    "value",
    SOLVE,
    normal((4, 4), 4),
    vjp=lambda ybar, a, b: (solve_vjp(ybar, a, b)[0], np.conj(solve(a, np.conj(ybar)))),
    argument=1,
)

# ------------------------------------------------------------------ swapped arguments, derivative of another one

wrong(
    "a product that returns its cotangents in the wrong order",
    "value",
    MULTIPLY,
    normal(6, 6),
    vjp=elementwise_vjp(lambda a, b: a, lambda a, b: b),
    mistake="swapped arguments",
)
wrong(
    "a quotient that returns its cotangents in the wrong order",
    "value",
    DIVIDE,
    positive(4, 4),
    vjp=elementwise_vjp(lambda a, b: -a / b**2, lambda a, b: 1 / b),
    mistake="swapped arguments",
)
wrong(
    "a hypotenuse whose pushforward and pullback take one leg for the other",
    "value",
    HYPOT,
    positive((2, 3), (2, 3)),
    jvp=elementwise_jvp(lambda a, b: b / np.hypot(a, b), lambda a, b: a / np.hypot(a, b)),
    vjp=elementwise_vjp(lambda a, b: b / np.hypot(a, b), lambda a, b: a / np.hypot(a, b)),
    mistake="swapped arguments",
)
wrong(
    "a difference that takes the tangents in the wrong order",
    "value",
    SUBTRACT,
    normal(4, 4),
    jvp=lambda da, db, a, b: db - da,
    mistake="swapped arguments",
)
wrong(
    "an exponent that gets the cotangent of the base",
    "value",
    POWER,
    positive(5, 5),
    vjp=elementwise_vjp(lambda x, p: p * x ** (p - 1), lambda x, p: p * x ** (p - 1)),
    mistake="derivative of another argument",
    argument=1,
)
wrong(
    "a numerator that gets the cotangent of the denominator",
    "value",
    DIVIDE,
    positive((3, 2), (3, 2)),
    vjp=elementwise_vjp(lambda a, b: -a / b**2, lambda a, b: -a / b**2),
    mistake="derivative of another argument",
    argument=0,
)
wrong(
    "a bilinear form whose left vector gets the cotangent of the right one",
    "value",
    BILINEAR_FORM,
    normal(4, (4, 4), 4),
    vjp=lambda ybar, x, a, y: (ybar * np.conj(x @ a), ybar * np.conj(np.outer(x, y)), ybar * np.conj(x @ a)),
    mistake="derivative of another argument",
    argument=0,
)
wrong(
    "a hypotenuse whose pushforward uses one leg twice",
    "value",
    HYPOT,
    positive(5, 5),
    jvp=elementwise_jvp(lambda a, b: a / np.hypot(a, b), lambda a, b: a / np.hypot(a, b)),
    modes=BOTH,
    mistake="derivative of another argument",
    argument=1,
)

# ------------------------------------------------------------------ mean instead of sum, sum instead of mean

wrong(
    "a sum differentiated as a mean",
    "value",
    SUM,
    normal((3, 4)),
    jvp=lambda dx, x, **kwargs: np.mean(dx, **kwargs),
    vjp=mean_vjp,
    mistake="mean instead of sum",
)
wrong(
    "a sum over rows differentiated as a mean",
    "value",
    SUM,
    normal((4, 5), axis=1),
    vjp=mean_vjp,
    mistake="mean instead of sum",
)
wrong(
    "a sum of squares with the gradient of the mean square",
    "value",
    SUM_OF_SQUARES,
    normal(9),
    vjp=lambda ybar, x: 2 * np.conj(x) * ybar / max(np.size(x), 1),
    mistake="mean instead of sum",
)
wrong(
    "a mean differentiated as a sum",
    "value",
    MEAN,
    normal(8),
    vjp=spread,
    mistake="sum instead of mean",
)
wrong(
    "a mean over columns differentiated as a sum",
    "value",
    MEAN,
    normal((4, 3), axis=0),
    jvp=lambda dx, x, **kwargs: np.sum(dx, **kwargs),
    vjp=spread,
    mistake="sum instead of mean",
)
wrong(
    "a mean square with the gradient of the sum of squares",
    "value",
    MEAN_SQUARE,
    normal((2, 5)),
    vjp=lambda ybar, x: 2 * np.conj(x) * ybar,
    mistake="sum instead of mean",
)

# ------------------------------------------------------------------ cumulative direction

wrong(
    "a running sum whose pullback runs in the same direction",
    "value",
    RUNNING_SUM,
    normal(7),
    vjp=lambda ybar, x, axis=0: running_sum(ybar, axis),
    mistake="cumulative direction",
)
wrong(
    "a running sum along rows whose pullback runs in the same direction",
    "value",
    RUNNING_SUM,
    normal((3, 4), axis=1),
    vjp=lambda ybar, x, axis=0: running_sum(ybar, axis),
    mistake="cumulative direction",
)
wrong(
    "a sum of what remains, pulled back from the end again",
    "value",
    REMAINING_SUM,
    normal((5, 2)),
    vjp=lambda ybar, x, axis=0: remaining_sum(ybar, axis),
    mistake="cumulative direction",
)
wrong(
    "a sum of what remains, pushed forward from the start",
    "value",
    REMAINING_SUM,
    normal(6),
    jvp=lambda dx, x, axis=0: running_sum(dx, axis),
    modes=BOTH,
    mistake="cumulative direction",
)

# ------------------------------------------------------------------ order along an axis

wrong(  # as the cotangent of a filter in NNlib.jl#518
    "a convolution whose filter gets its cotangent from the end",
    "value",
    CONVOLVE,
    normal(6, 4),
    vjp=lambda ybar, a, b: (np.correlate(ybar, b, "valid"), np.correlate(ybar, a, "valid")[::-1]),
    mistake="reversed axis",
    argument=1,
)
wrong(  # as the gradient of numpy.roll was written in apache/mxnet#15902
    "channels rolled on, whose cotangent is rolled in the same direction",
    "value",
    NEXT_CHANNELS,
    normal((4, 3)),
    vjp=lambda ybar, x: np.roll(ybar, 1, -1),
    mistake="shift",
)

for name, right, inputs in (
    ("an array from the end, whose cotangent stays in its order", FROM_THE_END, normal(5)),
    ("rows from the last one on, whose cotangents stay in their order", FROM_THE_END, normal((4, 3))),
):
    wrong(name, "value", right, inputs, vjp=lambda ybar, x: ybar, mistake="reversed axis")
wrong(
    "numbers on a ring moved on, whose cotangents stay in their places",
    "value",
    NEXT_CHANNELS,
    normal(6),
    vjp=lambda ybar, x: ybar,
    mistake="shift",
)
wrong(
    "channels rolled on, whose tangent is rolled back",
    "value",
    NEXT_CHANNELS,
    normal((4, 3)),
    jvp=lambda dx, x: np.roll(dx, -1, -1),
    modes=BOTH,
    mistake="shift",
)

# ------------------------------------------------------------------ duplicate index assigned


def assigned(target, indices, values):
    """What `np.add.at` does not do: of the values for one index, the last one stays."""
    target[indices] = values
    return target


def added_without_duplicates(target, indices, values):
    """``+=`` reads all places before it writes any, so that repeated indices add once."""
    target[indices] += values
    return target


wrong(
    "rows taken twice, whose cotangents replace each other",
    "value",
    ROWS,
    repeated_rows,
    vjp=lambda ybar, x, indices: (assigned(np.zeros(x.shape, ybar.dtype), indices, ybar), NoTangent()),
    mistake="duplicate index assigned",
    argument=0,
    wrong_entries=lambda x, indices: ("[0, 0]", "[0, 1]", "[0, 2]", "[2, 0]", "[2, 1]", "[2, 2]"),
)
wrong(
    "elements taken twice by row and column, added with +=",
    "value",
    PLACES,
    repeated_places,
    vjp=lambda ybar, x, i, j: (
        added_without_duplicates(np.zeros(x.shape, ybar.dtype), (i, j), ybar),
        NoTangent(),
        NoTangent(),
    ),
    mistake="duplicate index assigned",
    argument=0,
    wrong_entries=lambda x, i, j: ("[0, 2]", "[3, 1]"),
)
wrong(
    "a node of a graph that hears of one of its edges only",
    "value",
    EDGE_DIFFERENCES,
    edges_of_a_graph,
    vjp=lambda ybar, x, tails, heads: (
        rows_vjp(ybar, x, heads)[0] - assigned(np.zeros(x.shape, ybar.dtype), tails, ybar),
        NoTangent(),
        NoTangent(),
    ),
    mistake="duplicate index assigned",
    argument=0,
    wrong_entries=lambda x, tails, heads: ("[0]", "[3]"),
)
wrong(
    "a segment that keeps the tangent of its last element only",
    "value",
    SEGMENT_SUM,
    three_segments,
    jvp=lambda dvalues, _, __, values, segments, count: assigned(
        np.zeros((count, *values.shape[1:]), dvalues.dtype), segments, dvalues
    ),
    modes=BOTH,
    mistake="duplicate index assigned",
    argument=0,
    wrong_entries=lambda values, segments, count: ("[0, 0]", "[0, 1]", "[3, 0]", "[3, 1]", "[4, 0]", "[4, 1]"),
)


# ------------------------------------------------------------------ wrong mathematics

wrong(
    "tanh with the derivative of arctan",
    "value",
    TANH,
    normal(4),
    jvp=elementwise_jvp(lambda x: 1 / (1 + x**2)),
    vjp=elementwise_vjp(lambda x: 1 / (1 + x**2)),
)
wrong(
    "a softmax whose off-diagonal terms are missing",
    "value",
    SOFTMAX,
    normal(5),
    vjp=lambda ybar, x, axis=None: np.conj(softmax(x, axis) * (1 - softmax(x, axis))) * ybar,
)
wrong(
    "a pushforward that is right beside a pullback that is zero",
    "value",
    SINE,
    normal(5),
    vjp=lambda ybar, x: np.zeros_like(ybar),
    modes=BOTH,
)
wrong(
    "a variance that forgets that the mean moves the other way",
    "value",
    Differentiable(
        lambda x: x - np.mean(x),
        jvp=lambda dx, x: dx - np.mean(dx),
        vjp=lambda ybar, x: ybar - np.mean(ybar),
    ),
    normal(4),
    vjp=lambda ybar, x: ybar,
)
wrong(
    "a product rule that keeps one term",
    "value",
    MULTIPLY,
    normal(4, 4),
    jvp=lambda da, db, a, b: da * b,
    argument=1,
)
wrong(
    "a selection by a condition, with the branches exchanged",
    "value",
    WHERE,
    lambda rng: ((np.array([True, False, True, True, False]), rng.standard_normal(5), rng.standard_normal(5)), {}),
    vjp=lambda ybar, condition, a, b: (NoTangent(), np.where(condition, 0.0, ybar), np.where(condition, ybar, 0.0)),
)
wrong(
    "a convolution whose pullback convolves instead of correlating",
    "value",
    CONVOLVE,
    normal(6, 3),
    vjp=lambda ybar, a, b: (np.correlate(ybar, np.conj(b[::-1]).conj(), "valid"), np.correlate(ybar, a, "valid")),
    argument=0,
)

# ================================================================== kind: complex
wrong(
    "a complex product without the conjugate",
    "complex",
    MULTIPLY,
    complex_normal(5, 5),
    vjp=lambda ybar, a, b: (b * ybar, np.conj(a) * ybar),
    mistake="missing conjugate",
    argument=0,
)
wrong(
    "a complex exponential without the conjugate",
    "complex",
    EXP,
    complex_normal(4),
    vjp=lambda ybar, z: np.exp(z) * ybar,
    mistake="missing conjugate",
)
wrong(
    "a complex matrix product, transposed but not conjugated",
    "complex",
    MATMUL,
    complex_normal((3, 4), (4, 2)),
    vjp=lambda ybar, a, b: (ybar @ b.T, a.T @ ybar),
    mistake="missing conjugate",
)
wrong(
    "a complex inverse, transposed but not conjugated",
    "complex",
    INV,
    complex_normal((3, 3)),
    vjp=lambda ybar, a: -np.linalg.inv(a).T @ ybar @ np.linalg.inv(a).T,
    mistake="missing conjugate",
)
wrong(
    "the modulus with the conjugate of its gradient",
    "complex",
    MODULUS,
    complex_normal(5),
    vjp=lambda ybar, z: np.conj(np.sign(z)) * ybar,
    mistake="missing conjugate",
)
wrong(
    "the gradient of JAX's convention",
    "complex",
    SQUARED_MODULUS,
    complex_normal(5),
    vjp=lambda ybar, z: 2 * np.conj(z) * ybar,
    mistake="missing conjugate",
)
wrong(
    "a conjugation whose pullback does nothing",
    "complex",
    CONJ,
    complex_normal(4),
    vjp=lambda ybar, z: ybar,
    mistake="missing conjugate",
)
wrong(
    "the first argument of vdot, whose output is not conjugated",
    "complex",
    VDOT,
    complex_normal(4, 4),
    vjp=lambda ybar, a, b: (ybar * b, ybar * a),
    argument=0,
)
wrong(
    "the imaginary part without the imaginary unit",
    "complex",
    IMAGINARY_PART,
    complex_normal(4),
    vjp=lambda ybar, z: ybar + 0j,
)
wrong(
    "the imaginary part with the imaginary unit of the wrong sign",
    "complex",
    IMAGINARY_PART,
    complex_normal(3),
    vjp=lambda ybar, z: -1j * ybar,
)
wrong(
    "the imaginary part of a cotangent lost",
    "complex",
    SINE,
    complex_normal(4),
    vjp=lambda ybar, z: np.real(np.conj(np.cos(z)) * ybar) + 0j,
)
wrong(
    "a pushforward of a modulus that divides by nothing",
    "complex",
    MODULUS,
    complex_normal(4),
    jvp=lambda dz, z: np.real(np.conj(z) * dz),
)
wrong(
    "a pushforward of the squared modulus as if it were holomorphic",
    "complex",
    SQUARED_MODULUS,
    complex_normal(4),
    jvp=lambda dz, z: np.real(2 * z * dz),
)
wrong(
    "a real argument of a complex function, conjugated the wrong way",
    "complex",
    PHASE,
    normal(5),
    vjp=lambda ybar, x: np.real(1j * np.exp(1j * x) * ybar),
    mistake="missing conjugate",
)
for right, name, inputs, vjp in (
    (SQUARE, "a square", normal(5), lambda ybar, x: 2 * x * ybar),
    (SINE, "a sine", normal((2, 3)), lambda ybar, x: np.cos(x) * ybar),
    (MATMUL, "a matrix product", normal((3, 2), (2, 3)), lambda ybar, a, b: (ybar @ b.T, a.T @ ybar)),
):
    wrong(
        f"{name} that is right for real numbers alone",
        "complex",
        right,
        inputs,
        vjp=vjp,
        mistake="missing conjugate",
        revealed_by=lambda *args: tuple(x + 1j * x[::-1] for x in args),
    )
