"""Rules that are wrong in few entries of many, or by little."""

import numpy as np

from corpora.corpus import FORWARD, REVERSE, elementwise_jvp, elementwise_vjp, normal, positive, uniform
from corpora.wrong.entry import wrong
from corpora.wrong.functions import (
    DIFFERENCES,
    DOT,
    EXP,
    INV,
    LENGTH,
    LOG10,
    MATMUL,
    RADIANS,
    SINE,
    SQUARE,
    SUM_OF_SQUARES,
    TRANSFORM,
    VARIANCE,
    differences_vjp,
    inv_vjp,
    length,
)

# ================================================================== kind: sparse
ONE_OF_A_THOUSAND = 617


def altered_entry(right, argument, alter, modes):
    """The derivative of ``right`` with the derivative of one entry of one argument altered."""

    def altered(array):
        array = np.array(array, copy=True)
        if array.size > ONE_OF_A_THOUSAND:
            array.flat[ONE_OF_A_THOUSAND] = alter(array.flat[ONE_OF_A_THOUSAND])
        return array

    def jvp(*tangents_and_args):
        return right.jvp(*(altered(t) if i == argument else t for i, t in enumerate(tangents_and_args)))

    def vjp(ybar, *args):
        cotangents = right.vjp(ybar, *args)
        cotangents = cotangents if isinstance(cotangents, tuple) else (cotangents,)
        return tuple(altered(xbar) if i == argument else xbar for i, xbar in enumerate(cotangents))

    return {"jvp": jvp if "frule" in modes else None, "vjp": vjp if "rrule" in modes else None}


SPARSE_FUNCTIONS = {
    "an elementwise function": (EXP, positive(1000), 0, "[617]"),
    "a dot product": (DOT, positive(1000, 1000), 1, "[617]"),
    "a matrix times a vector": (TRANSFORM, positive((25, 40), 40), 0, "[15, 17]"),
    "a sum of squares": (SUM_OF_SQUARES, positive(1000), 0, "[617]"),
}

SPARSE_MISTAKES = {
    "is wrong by 1e-7": (lambda entry: entry * (1 + 1e-7), 1e-7),
    "is wrong by 1e-5": (lambda entry: entry * (1 - 1e-5), 1e-5),
    "is wrong by 1e-3": (lambda entry: entry * (1 + 1e-3), 1e-3),
    "has the wrong sign": (lambda entry: -entry, 2.0),
    "is zero": (lambda entry: 0.0, 1.0),
}

for where, (right, inputs, argument, label) in SPARSE_FUNCTIONS.items():
    for what, (alter, error) in SPARSE_MISTAKES.items():
        for modes in (REVERSE, FORWARD):
            wrong(
                f"one entry of a thousand of {where} {what}, in the {modes[0]}",
                "sparse",
                right,
                inputs,
                **altered_entry(right, argument, alter, modes),
                argument=argument,
                wrong_entries=lambda *args, label=label: (label,),
                error=0.9 * error,
                mistake="sign" if what == "has the wrong sign" else None,
            )


def without_the_first_difference(ybar, x):
    xbar = differences_vjp(ybar, x)
    xbar[0] = 0
    return xbar


def with_zero_last(xbar):
    xbar = np.array(xbar, copy=True)
    xbar[-1:] = 0
    return xbar


wrong(
    "differences that forget the end of the array",
    "sparse",
    DIFFERENCES,
    normal(40),
    vjp=without_the_first_difference,
    wrong_entries=lambda x: ("[0]",),
)
wrong(
    "a loop over the entries that stops one too early",
    "sparse",
    SINE,
    uniform(-1, 1, 50),
    vjp=lambda ybar, x: with_zero_last(np.conj(np.cos(x)) * ybar),
    wrong_entries=lambda x: ("[49]",),
)
wrong(
    "a solution whose cotangent is symmetrised but for its diagonal",
    "sparse",
    INV,
    lambda rng: ((np.eye(6) * 4 + rng.uniform(-1, 1, (6, 6)),), {}),
    vjp=lambda ybar, a: inv_vjp(ybar, a) * (1 - 0.5 * np.eye(len(a))),
    wrong_entries=lambda a: tuple(f"[{i}, {i}]" for i in range(6)),
)
wrong(
    "the largest entry, whose derivative a guard makes zero",
    "sparse",
    SQUARE,
    normal(100),
    vjp=lambda ybar, x: np.where(np.abs(x) == np.max(np.abs(x), initial=0), 0.0, 2 * np.conj(x) * ybar),
    wrong_entries=lambda x: (f"[{np.argmax(np.abs(x))}]",),
)


# ================================================================== kind: small
def scaled_cotangents(cotangents, factor):
    if isinstance(cotangents, tuple):
        return tuple(factor * xbar for xbar in cotangents)
    return factor * cotangents


def forward_difference(function, step):
    """A numerical derivative in the place of the mathematical one, by Newton's quotient."""
    return lambda x: (function(x + step) - function(x)) / step


wrong(
    "degrees to radians with pi = 3.141593",
    "small",
    RADIANS,
    normal(5),
    jvp=elementwise_jvp(lambda x: 3.141593 / 180),
    vjp=elementwise_vjp(lambda x: 3.141593 / 180),
    error=1e-7,
)
wrong(
    "the decimal logarithm with ln 10 = 2.3026",
    "small",
    LOG10,
    positive(5),
    jvp=elementwise_jvp(lambda x: 1 / (2.3026 * x)),
    vjp=elementwise_vjp(lambda x: 1 / (2.3026 * x)),
    error=6e-6,
)
wrong(
    "a derivative that is a forward difference of step 1e-6",
    "small",
    EXP,
    positive(6),
    vjp=elementwise_vjp(forward_difference(np.exp, 1e-6)),
    error=4e-7,
)
for right, inputs in ((EXP, positive(10)), (SUM_OF_SQUARES, positive((4, 5))), (MATMUL, positive((3, 4), (4, 2)))):
    wrong(
        f"every entry of {right.function.__name__} wrong by 1e-7",
        "small",
        right,
        inputs,
        vjp=lambda ybar, *args, right=right: scaled_cotangents(right.vjp(ybar, *args), 1 + 1e-7),
        error=0.9e-7,
    )
    wrong(
        f"every entry of {right.function.__name__} pushed forward wrong by 1e-7",
        "small",
        right,
        inputs,
        jvp=lambda *tangents_and_args, right=right: (1 + 1e-7) * right.jvp(*tangents_and_args),
        error=0.9e-7,
    )
wrong(
    "a variance divided by n - 1 in the derivative only",
    "small",
    VARIANCE,
    normal(1001),
    vjp=lambda ybar, x, ddof=0: 2 * np.conj(x - np.mean(x)) / (np.size(x) - 1) * ybar,
    error=0.9e-3,
)
wrong(
    "a small constant that guards a division",
    "small",
    LENGTH,
    positive(4),
    vjp=lambda ybar, x, **_: np.conj(x / (length(x) + 1e-5)) * ybar,
    error=1e-6,
)
wrong(
    "a derivative computed in single precision",
    "small",
    SINE,
    uniform(0.2, 1.2, 20),
    vjp=lambda ybar, x: np.cos(np.asarray(x, np.float32)) * ybar if np.isrealobj(x) else np.conj(np.cos(x)) * ybar,
    error=1e-8,
)
