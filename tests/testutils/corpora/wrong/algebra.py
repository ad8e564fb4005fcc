"""Rules that are not linear, or remember what was, or are wrong for zero and delayed tangents."""

import dataclasses

import numpy as np

from corpora.corpus import normal
from corpora.wrong.entry import wrong
from corpora.wrong.functions import EXP, MULTIPLY, SINE, SQUARE, SUM_OF_SQUARES
from rulescore import AbstractZero, InplaceableThunk, NoTangent, Thunk, ZeroTangent, project_to, unthunk


# ================================================================== kind: algebra
def unit_of(ybar):
    """A vector scaled to the length 1."""
    norm = np.sqrt(np.sum(np.abs(ybar) ** 2))
    return ybar / norm if norm else ybar


for name, right, inputs, vjp in (
    ("a cotangent clipped to [-1, 1]", EXP, normal(50), lambda ybar, x: np.exp(x) * np.clip(ybar, -1, 1)),
    (
        "a cotangent that a guided backpropagation cuts at zero",
        SINE,
        normal((4, 5)),
        lambda ybar, x: np.cos(x) * np.maximum(ybar, 0),
    ),
    ("a cotangent scaled to unit length", SQUARE, normal(5), lambda ybar, x: 2 * x * unit_of(ybar)),
    ("a cotangent squared", SQUARE, normal(5), lambda ybar, x: 2 * x * ybar**2),
    ("the magnitude of a cotangent", EXP, normal(6), lambda ybar, x: np.exp(x) * np.abs(ybar)),
    ("a penalty added to the gradient", SINE, normal(4), lambda ybar, x: np.cos(x) * ybar + 0.01 * x),
    (
        "a cotangent rounded to single precision",
        SQUARE,
        normal(8),
        lambda ybar, x: 2 * x * np.asarray(ybar, np.float32),
    ),
):
    right = dataclasses.replace(right, real=True)
    wrong(name, "algebra", right, inputs, vjp=vjp, error=1e-8)

wrong(
    "the magnitude of a tangent",
    "algebra",
    dataclasses.replace(SINE, real=True),
    normal(6),
    jvp=lambda dx, x: np.cos(x) * np.abs(dx),
)
wrong(
    "a pushforward with a term that the tangent does not scale",
    "algebra",
    dataclasses.replace(EXP, real=True),
    normal(5),
    jvp=lambda dx, x: np.exp(x) * dx + 1e-3 * np.exp(x),
    error=1e-5,
)


def rrule_with_noise(x):
    """Draws the mask of a dropout anew in each pullback."""
    y, pullback = EXP.rrule(x)
    rng = np.random.default_rng()

    def noisy_pullback(ybar):
        mask = rng.uniform(0, 2, np.shape(y))
        return pullback(mask * unthunk(ybar))

    return y, noisy_pullback


def counting_rrule(factor_of_call):
    """A rule of `SQUARE` that counts the calls of its pullbacks."""

    def rule(x):
        y, pullback = SQUARE.rrule(x)
        calls = 0

        def counting_pullback(ybar):
            nonlocal calls
            calls += 1
            return pullback(factor_of_call(calls) * unthunk(ybar))

        return y, counting_pullback

    return rule


def frule_with_noise(tangents, x):
    y, dy = EXP.frule(tangents, x)
    return y, dy * np.random.default_rng().uniform(0, 2)


wrong("a mask drawn anew in each pullback", "algebra", EXP, normal(6), rrule=rrule_with_noise)
wrong(
    "a pullback that is right once and twice as large the second time",
    "algebra",
    SQUARE,
    normal(4),
    rrule=counting_rrule(lambda call: call),
)
wrong(
    "a pullback that decays from call to call",
    "algebra",
    SQUARE,
    normal(4),
    rrule=counting_rrule(lambda call: 0.99 ** (call - 1)),
)
wrong("a pushforward with noise", "algebra", EXP, normal(5), frule=frule_with_noise)


# ================================================================== kind: zero
def rrule_that_knows_arrays_only(x):
    """A thunk is no array, so it is taken for a zero."""
    y, pullback = EXP.rrule(x)
    return y, lambda ybar: pullback(ybar) if isinstance(ybar, np.ndarray | np.generic) else (NoTangent(), ZeroTangent())


def rrule_that_asks_for_the_type_of_a_thunk(x):
    y, pullback = SQUARE.rrule(x)

    def asking_pullback(ybar):
        if not isinstance(ybar, np.ndarray | np.generic | float | AbstractZero):
            raise TypeError(f"a cotangent of type {type(ybar).__name__}")
        return pullback(ybar)

    return y, asking_pullback


def rrule_with_ones_for_zero(x):
    """As if no cotangent meant the last function of all, whose cotangent is 1."""
    y, pullback = SUM_OF_SQUARES.rrule(x)
    return y, lambda ybar: pullback(1.0 if isinstance(ybar, AbstractZero) else ybar)


def rrule_that_divides_by_the_cotangent(x):
    y = np.exp(x)

    def pullback(ybar):
        ybar = unthunk(ybar)
        if isinstance(ybar, AbstractZero):
            return NoTangent(), ybar
        with np.errstate(invalid="ignore", divide="ignore"):
            return NoTangent(), project_to(x)(np.exp(np.conj(x)) * ybar**2 / ybar)

    return y, pullback


def rrule_whose_thunk_adds_twice(x):
    """Delays its work; what the thunk adds to an accumulator is not what it is worth."""
    y, pullback = SQUARE.rrule(x)

    def delayed_pullback(ybar):
        def add_to(accumulator):
            accumulator += 2 * pullback(ybar)[1]
            return accumulator

        return NoTangent(), InplaceableThunk(add_to, lambda: pullback(ybar)[1])

    return y, delayed_pullback


def rrule_whose_thunk_fails(a, b):
    """The second cotangent is delayed, and nobody has ever asked for it."""
    y, pullback = MULTIPLY.rrule(a, b)
    return y, lambda ybar: (*pullback(ybar)[:2], Thunk(lambda: pullback(ybar)[3]))


def frule_that_asks_for_the_shape_of_a_zero(tangents, a, b):
    _, da, db = tangents
    y = np.multiply(a, b)
    if da.shape != np.shape(a) or db.shape != np.shape(b):
        raise ValueError("a tangent of another shape")
    return y, da * b + a * db


def frule_with_ones_for_zero(tangents, a, b):
    """The tangent of an argument that does not move is taken to be 1."""
    tangents = [1.0 if isinstance(unthunk(tangent), AbstractZero) else tangent for tangent in tangents[1:]]
    return MULTIPLY.frule(
        (NoTangent(), *(t + np.zeros(np.shape(x)) for t, x in zip(tangents, (a, b), strict=True))), a, b
    )


for name, right, inputs, rule in (
    ("a thunk taken for a zero", EXP, normal(5), rrule_that_knows_arrays_only),
    ("a thunk refused", SQUARE, normal((2, 2)), rrule_that_asks_for_the_type_of_a_thunk),
    ("a zero cotangent taken for 1", SUM_OF_SQUARES, normal(4), rrule_with_ones_for_zero),
    ("a cotangent that cancels unless it is zero", EXP, normal(4), rrule_that_divides_by_the_cotangent),
    ("a thunk that adds itself twice", SQUARE, normal(5), rrule_whose_thunk_adds_twice),
    ("a thunk that fails when it is forced", MULTIPLY, normal(3, 3), rrule_whose_thunk_fails),
):
    wrong(name, "zero", right, inputs, rrule=rule)

for name, rule in (
    ("a zero tangent asked for its shape", frule_that_asks_for_the_shape_of_a_zero),
    ("a zero tangent taken for 1", frule_with_ones_for_zero),
):
    wrong(name, "zero", MULTIPLY, normal(4, 4), frule=rule)
