"""Rules of tiny and huge functions, and rules that are wrong in a part of the domain."""

import numpy as np

from corpora.corpus import elementwise, elementwise_jvp, elementwise_vjp, positive, uniform
from corpora.wrong.entry import wrong
from corpora.wrong.functions import (
    CUBED_MAGNITUDE,
    EXP,
    EXPM1,
    HYPOT,
    LEAKY_RELU,
    LOG,
    MODULUS,
    SINE,
    SOFTPLUS,
    SQRT,
    SQUARE,
    logistic,
    scaled_sine,
)

# ================================================================== kind: scale
for scale in (1e-8, 1e-30, 1e8, 1e-150):
    right = scaled_sine(scale)
    wrong(
        f"a function of scale {scale:g} with the wrong sign",
        "scale",
        right,
        uniform(-1, 1, 5),
        jvp=elementwise_jvp(lambda x, scale=scale: -scale * np.cos(x)),
        vjp=elementwise_vjp(lambda x, scale=scale: -scale * np.cos(x)),
        mistake="sign",
    )
TINY_SINE = scaled_sine(1e-8)
wrong(
    "a function of scale 1e-8 with twice its derivative",
    "scale",
    TINY_SINE,
    uniform(-1, 1, (2, 3)),
    vjp=elementwise_vjp(lambda x: 2e-8 * np.cos(x)),
    mistake="factor 2",
)
wrong(
    "a function of scale 1e-12 whose derivative is zero",
    "scale",
    scaled_sine(1e-12),
    uniform(-1, 1, 4),
    jvp=elementwise_jvp(lambda x: 0.0 * x),
    vjp=elementwise_vjp(lambda x: 0.0 * x),
)
MIXED_SCALES = scaled_sine(np.array([1e-8, 1.0, 1e3]))
wrong(
    "the component of scale 1e-8 with the wrong sign, beside one of scale 1e3",
    "scale",
    MIXED_SCALES,
    uniform(-1, 1, 3),
    vjp=lambda ybar, x: np.array([-1, 1, 1]) * MIXED_SCALES.vjp(ybar, x)[0],
    wrong_entries=lambda x: ("[0]",),
)
VERY_MIXED_SCALES = scaled_sine(np.array([1e-8, 1.0, 1e8]))
wrong(
    "the component of scale 1e-8 pushed forward with the wrong sign, beside one of scale 1e8",
    "scale",
    VERY_MIXED_SCALES,
    uniform(-1, 1, 3),
    jvp=lambda dx, x: np.array([-1, 1, 1]) * VERY_MIXED_SCALES.jvp(dx, x),
    wrong_entries=lambda x: ("[0]",),
)
wrong(
    "a tiny argument whose cotangent is one percent off",
    "scale",
    SQUARE,
    lambda rng: ((1e-9 * rng.uniform(1, 2, 4),), {}),
    vjp=elementwise_vjp(lambda x: 2.02 * x),
    error=9e-3,
)
wrong(
    "a large argument whose cotangent is one percent off",
    "scale",
    LOG,
    lambda rng: ((1e9 * rng.uniform(1, 2, 4),), {}),
    vjp=elementwise_vjp(lambda x: 1.01 / x),
    error=9e-3,
)
wrong(
    "a small change of a large number, with the wrong sign",
    "scale",
    elementwise(lambda x: 1e6 + np.cos(x), lambda x: -np.sin(x)),
    uniform(0.5, 1.5, 4),
    vjp=elementwise_vjp(np.sin),
    mistake="sign",
)


# ================================================================== kind: domain
def with_a_negative_entry(*shape, **fkwargs):
    """Entries between -2 and 2, of which the first is below -1 and the second above 1."""

    def inputs(rng):
        x = rng.uniform(-2, 2, shape)
        x.flat[0], x.flat[1] = rng.uniform(-2, -1), rng.uniform(1, 2)
        return (x,), fkwargs

    return inputs


def times(factor):
    """The arguments scaled, as a variant of the input."""
    return lambda *args: tuple(factor * x for x in args)


for name, right, inputs, partial, factor in (
    (
        "exp that overflows to nothing above 10",
        EXP,
        with_a_negative_entry(6),
        lambda x: np.where(np.real(x) > 10, 0, np.exp(x)),
        20,
    ),
    (
        "a sine wrong below -2.5",
        SINE,
        with_a_negative_entry(6),
        lambda x: np.where(np.real(x) < -2.5, -np.cos(x), np.cos(x)),
        20,
    ),
    ("a square wrong above 10", SQUARE, positive(5), lambda x: np.where(np.real(x) > 10, 20.0, 2 * x), 20),
    (
        "a softplus whose guard against overflow answers zero",
        SOFTPLUS,
        with_a_negative_entry(5),
        lambda x: np.where(x > 10, 0, logistic(x)),
        20,
    ),
    ("a logarithm clipped at 10", LOG, positive(4), lambda x: np.where(np.real(x) > 10, 0.1, 1 / x), 20),
    (
        "a series for small arguments with a wrong coefficient",
        EXPM1,
        positive(5),
        lambda x: np.where(np.abs(x) < 1e-2, 1 + x / 2, np.exp(x)),
        1e-3,
    ),
    (
        "a square root whose guard against zero begins too early",
        SQRT,
        positive((2, 2)),
        lambda x: 0.5 / np.sqrt(np.where(np.abs(x) < 0.01, 0.01, x)),
        1e-3,
    ),
    ("a leaky ReLU that does not leak", LEAKY_RELU, positive(5), lambda x: np.where(x > 0, 1.0, 0.0), -1),
    ("the cube of a magnitude, as if it had no sign", CUBED_MAGNITUDE, positive(4), lambda x: 3 * x**2, -1),
    (
        "an absolute value whose derivative is 1",
        MODULUS,
        positive((3, 2)),
        lambda x: np.ones_like(x) if np.isrealobj(x) else np.conj(np.sign(x)),
        -1,
    ),
):
    wrong(name, "domain", right, inputs, vjp=elementwise_vjp(partial), error=1e-6, revealed_by=times(factor))

wrong(
    "a hypotenuse whose pushforward takes its legs for positive",
    "domain",
    HYPOT,
    positive(4, 4),
    jvp=elementwise_jvp(
        lambda a, b: np.sqrt(1 - (b / np.hypot(a, b)) ** 2), lambda a, b: np.sqrt(1 - (a / np.hypot(a, b)) ** 2)
    ),
    revealed_by=times(-1),
)
wrong(
    "a pushforward that saturates above 10",
    "domain",
    SQUARE,
    positive((2, 3)),
    jvp=elementwise_jvp(lambda x: 2 * np.where(np.real(x) > 10, 10.0, x)),
    revealed_by=times(20),
)
