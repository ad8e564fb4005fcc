"""Rules that misread a keyword or a container, and rules whose output is wrong."""

import numpy as np

from corpora.corpus import BOTH, elementwise_vjp, normal, positive, unprojected
from corpora.wrong.entry import wrong
from corpora.wrong.few_entries import ONE_OF_A_THOUSAND
from corpora.wrong.functions import (
    DECAY,
    DENSE_LAYER,
    EXP,
    FROM_POLAR,
    INTEGER_POWER,
    JOIN,
    LEAKY_RELU,
    LENGTH,
    LOGSUMEXP,
    MASKED_SUM,
    MEAN,
    MODULUS,
    RUNNING_SUM,
    SOFTMAX,
    SQUARE,
    SUM,
    SUM_OF_SQUARES,
    VARIANCE,
    WAVE,
    Wave,
    a_layer,
    a_wave,
    dense_layer_vjp,
    from_polar_jvp,
    from_polar_vjp,
    join_vjp,
    length,
    remaining_sum,
    running_sum,
    softmax,
    spread,
    three_pieces,
    wave_jvp,
    wave_vjp,
)
from corpora.wrong.scales import times, with_a_negative_entry
from rulescore import Tangent, ZeroTangent

# ================================================================== kind: keyword
# ------------------------------------------------------------------ axis ignored

wrong(
    "a softmax along rows differentiated as one along columns",
    "keyword",
    SOFTMAX,
    normal((4, 4), axis=1),
    vjp=lambda ybar, x, axis: SOFTMAX.vjp(ybar, x, axis=0),
    mistake="axis ignored",
)
wrong(
    "a running sum along rows pulled back along columns",
    "keyword",
    RUNNING_SUM,
    normal((4, 4), axis=1),
    vjp=lambda ybar, x, axis: remaining_sum(ybar, axis=0),
    mistake="axis ignored",
)
wrong(
    "a mean over one axis divided by the number of all entries",
    "keyword",
    MEAN,
    normal((3, 5), axis=0),
    vjp=lambda ybar, x, axis: spread(ybar, x, axis) / np.size(x),
    mistake="axis ignored",
)
wrong(
    "a sum over one axis whose pullback copies along the other",
    "keyword",
    SUM,
    normal((5, 5), axis=1),
    vjp=lambda ybar, x, axis: spread(ybar, x, axis=0),
    mistake="axis ignored",
)
wrong(
    "the lengths of columns pushed forward as the length of all",
    "keyword",
    LENGTH,
    normal((4, 3), axis=0),
    jvp=lambda dx, x, axis: np.sum(x * dx, axis=axis) / length(x),
    modes=BOTH,
    mistake="axis ignored",
)

# ------------------------------------------------------------------ keepdims ignored

wrong(
    "a sum of a cube whose pullback expects the axis to be kept",
    "keyword",
    SUM,
    normal((3, 3, 3), axis=1),
    vjp=lambda ybar, x, axis: np.broadcast_to(ybar, np.shape(x)).copy(),
    mistake="keepdims ignored",
)
wrong(
    "the lengths of rows whose pullback expects the axis to be kept",
    "keyword",
    LENGTH,
    normal((4, 4), axis=1),
    vjp=lambda ybar, x, axis: np.conj(x / length(x, axis, keepdims=True)) * ybar,
    mistake="keepdims ignored",
)
wrong(
    "a mean with its axis kept, whose pullback inserts it once more",
    "keyword",
    MEAN,
    normal((3, 4), axis=1, keepdims=True),
    vjp=lambda ybar, x, axis, keepdims: np.expand_dims(ybar, axis) * np.ones_like(x) / x.shape[axis],
    project=unprojected,
    mistake="keepdims ignored",
)
wrong(
    "a logsumexp with its axis kept, whose pushforward drops it",
    "keyword",
    LOGSUMEXP,
    normal((3, 4), axis=1, keepdims=True),
    jvp=lambda dx, x, axis, keepdims: np.sum(softmax(x, axis) * dx, axis=axis),
    project=unprojected,
    mistake="keepdims ignored",
)

# ------------------------------------------------------------------ other keywords

wrong(
    "a rate that the derivative leaves at its default",
    "keyword",
    DECAY,
    positive(5, rate=1.7),
    jvp=lambda dx, x, rate: -np.exp(-x) * dx,
    vjp=lambda ybar, x, rate: -np.exp(-np.conj(x)) * ybar,
)
wrong(
    "a rate that the chain rule forgets",
    "keyword",
    DECAY,
    positive((2, 3), rate=0.3),
    vjp=lambda ybar, x, rate: -np.exp(-rate * np.conj(x)) * ybar,
)
wrong(
    "a slope that the derivative leaves at its default",
    "keyword",
    LEAKY_RELU,
    with_a_negative_entry(5, slope=0.3),
    vjp=elementwise_vjp(lambda x, slope: np.where(x > 0, 1.0, 0.1)),
)
wrong(
    "degrees of freedom that the derivative leaves out",
    "keyword",
    VARIANCE,
    normal(6, ddof=1),
    vjp=lambda ybar, x, ddof: VARIANCE.vjp(ybar, x),
)
wrong(
    "a sum whose derivative does not know of the mask",
    "keyword",
    MASKED_SUM,
    normal(5, where=np.array([True, True, False, True, False])),
    vjp=lambda ybar, x, where: spread(ybar, x),
    wrong_entries=lambda x: ("[2]", "[4]"),
)
wrong(
    "a power of the pushforward with its exponent one too high",
    "keyword",
    INTEGER_POWER,
    positive(4, exponent=3),
    jvp=lambda dx, x, exponent: exponent * x**exponent * dx,
)

# ================================================================== kind: container
wrong(
    "a parameter of a dict that gets no cotangent",
    "container",
    DENSE_LAYER,
    a_layer,
    vjp=lambda ybar, p, x: ({**dense_layer_vjp(ybar, p, x)[0], "bias": ZeroTangent()}, dense_layer_vjp(ybar, p, x)[1]),
    argument=0,
    wrong_entries=lambda p, x: tuple(f"['bias'][{i}]" for i in range(4)),
)
wrong(
    "a weight of a dict, transposed",
    "container",
    DENSE_LAYER,
    a_layer,
    vjp=lambda ybar, p, x: ({"weight": np.outer(ybar, np.conj(x)), "bias": ybar}, np.conj(p["weight"]) @ ybar),
    mistake="transposed",
    argument=0,
)
wrong(
    "a pushforward that holds the parameters of a dict constant",
    "container",
    DENSE_LAYER,
    a_layer,
    jvp=lambda dp, dx, p, x: dx @ p["weight"],
    argument=0,
)


def wave_vjp_with_fields_exchanged(ybar, wave, t):
    wave_bar, tbar = wave_vjp(ybar, wave, t)
    return Tangent(Wave, amplitude=wave_bar.frequency, frequency=wave_bar.amplitude), tbar


def wave_vjp_without_frequency(ybar, wave, t):
    wave_bar, tbar = wave_vjp(ybar, wave, t)
    return Tangent(Wave, amplitude=wave_bar.amplitude), tbar


wrong(
    "the fields of a dataclass exchanged",
    "container",
    WAVE,
    a_wave,
    vjp=wave_vjp_with_fields_exchanged,
    argument=0,
)
wrong(
    "a field of a dataclass left out of its tangent",
    "container",
    WAVE,
    a_wave,
    vjp=wave_vjp_without_frequency,
    argument=0,
    wrong_entries=lambda wave, t: tuple(f".frequency[{i}]" for i in range(4)),
)
wrong(
    "a pushforward that reads one field of a tangent for the other",
    "container",
    WAVE,
    a_wave,
    jvp=lambda dwave, dt, wave, t: wave_jvp(
        Tangent(Wave, amplitude=dwave.frequency, frequency=dwave.amplitude), dt, wave, t
    ),
    argument=0,
)
wrong(
    "a flat array for the cotangents of a list",
    "container",
    JOIN,
    three_pieces,
    vjp=lambda ybar, pieces: ybar,
    project=unprojected,
)
wrong(
    "the pieces of a list in the wrong order",
    "container",
    JOIN,
    three_pieces,
    vjp=lambda ybar, pieces: join_vjp(ybar, pieces)[::-1],
)
wrong(
    "the second of two outputs ignored",
    "container",
    FROM_POLAR,
    positive(4, 4),
    vjp=lambda cotangents, r, t: from_polar_vjp((cotangents[0], np.zeros_like(cotangents[1])), r, t),
)
wrong(
    "the two outputs of a pushforward exchanged",
    "container",
    FROM_POLAR,
    positive(3, 3),
    jvp=lambda dr, dt, r, t: from_polar_jvp(dr, dt, r, t)[::-1],
)
wrong(
    "the cotangents of two outputs exchanged",
    "container",
    FROM_POLAR,
    positive(4, 4),
    vjp=lambda cotangents, r, t: from_polar_vjp(cotangents[::-1], r, t),
)
wrong(
    "the pushforward of two outputs in a list instead of their tuple, one of them missing",
    "container",
    FROM_POLAR,
    positive(3, 3),
    jvp=lambda dr, dt, r, t: [from_polar_jvp(dr, dt, r, t)[0]],
    project=unprojected,
)


# ================================================================== kind: output
def with_output(right, altered):
    """The right derivative with an output that is not the function's."""

    def forward(tangents, *args, **kwargs):
        y, dy = right.frule(tangents, *args, **kwargs)
        return altered(y, *args), dy

    def reverse(*args, **kwargs):
        y, pullback = right.rrule(*args, **kwargs)
        return altered(y, *args), pullback

    return {"frule": forward, "rrule": reverse}


wrong("an output wrong by 1e-7", "output", EXP, positive(5), **with_output(EXP, lambda y, x: y * (1 + 1e-7)))
wrong(
    "one entry of the output of a thousand wrong by 1e-7",
    "output",
    SQUARE,
    positive(1000),
    **with_output(SQUARE, lambda y, x: y * (1 + 1e-7 * (np.arange(y.size) == ONE_OF_A_THOUSAND).reshape(y.shape))),
)
wrong(
    "an output with an axis too many",
    "output",
    SUM_OF_SQUARES,
    normal(5),
    **with_output(SUM_OF_SQUARES, lambda y, x: np.reshape(y, (1,))),
)
wrong(
    "an output in single precision",
    "output",
    SQUARE,
    lambda rng: ((np.round(rng.uniform(1, 2, 4), 0),), {}),
    **with_output(SQUARE, lambda y, x: np.asarray(y, np.float32)),
)
wrong(
    "the output of another keyword",
    "output",
    RUNNING_SUM,
    normal((3, 3), axis=1),
    **with_output(RUNNING_SUM, lambda y, x: running_sum(x, axis=0)),
)
wrong(
    "a list for two outputs in a tuple",
    "output",
    FROM_POLAR,
    positive(3, 3),
    **with_output(FROM_POLAR, lambda y, radius, angle: list(y)),
)
wrong(
    "an output that is right for positive numbers",
    "output",
    MODULUS,
    positive(4),
    **with_output(MODULUS, lambda y, x: np.array(x) if np.isrealobj(x) else y),
    revealed_by=times(-1),
)
