"""Rules whose answer at a kink is no member of the generalised derivative, or which are wrong beside the kink.

The functions stand in `right.generalised` with members that are right. Every answer is off by 1e-2 at least from the
convex hull of the derivatives nearby.
"""

import functools

import numpy as np

from corpora import multiprecision as mp
from corpora.corpus import BOTH, Differentiable, elementwise, elementwise_jvp, elementwise_vjp
from corpora.right.entry import fixed
from corpora.right.generalised import (
    ABSOLUTE_DETERMINANT,
    CLIP_BETWEEN,
    ELASTIC_NET,
    ENVELOPE,
    GROUP_LASSO,
    HAUSDORFF,
    HIDDEN_LAYER,
    HINGE,
    INTERPOLATION,
    LARGEST_MODULUS,
    MAXIMUM_OF_THE_FIRST,
    MULTICLASS_HINGE,
    PINBALL,
    POOLING,
    RANKING,
    RUNNING_MAXIMUM,
    TOP_THREE,
    TOTAL_VARIATION,
    TRIMMED_MEAN,
    a_staircase,
    a_unit_on_its_edge,
    clipped,
    distances,
    equal_shares,
    first_of_windows,
    gradient_jvp,
    gradient_vjp,
    hats,
    hidden_layer_gradient,
    largest,
    middle_weights,
    of_gradient,
    one_hot,
    points_of_a_grid,
    relu,
    scores_at_the_margin,
    sparse_weights,
    spread,
    stable_order,
    total_variation_gradient,
    with_growing_shares,
)
from corpora.right.kinks import SORT, shuffled
from corpora.wrong.entry import wrong
from rulescore import NoTangent


def no_member(name, right, inputs, **facts):
    wrong(name, "kink", right, inputs, **{"error": 1e-2, **facts})


# ------------------------------------------------------------------ the largest and the smallest

MAXIMA_OF_COLUMNS = Differentiable(
    lambda x: np.max(x, axis=0),
    jvp=lambda dx, x: np.sum(equal_shares(-x, 0) * dx, axis=0),
    vjp=lambda ybar, x: equal_shares(-x, 0) * ybar,
    real=True,
    twin=lambda x: np.max(x, axis=0),
)
LARGEST = of_gradient(lambda x: largest(x), lambda x: one_hot(x, np.argmax(x)))


def ties(x):
    return (x == np.max(x)).astype(float)


no_member(
    "maxima of columns of equal entries, of which each takes everything",
    MAXIMA_OF_COLUMNS,
    fixed(np.ones((4, 3))),
    vjp=lambda ybar, x: (x == np.max(x, axis=0)) * ybar,
    source="https://github.com/apache/mxnet/issues/18563",
)
no_member(
    "a maximum of a vector with the gradient (1, 1)",
    LARGEST,
    fixed(np.array([1.0, 1.0])),
    jvp=gradient_jvp(ties),
    vjp=gradient_vjp(ties),
    source="https://github.com/Theano/Theano/issues/4568",
)


def maxout(w, x):
    """The largest of three linear pieces, of each of two units."""
    return np.max(np.einsum("uki,i->uk", w, x) if w.dtype != object else (w * x).sum(axis=-1), axis=-1)


def maxout_vjp(share):
    def vjp(ybar, w, x):
        pieces = np.einsum("uki,i->uk", w, x)
        pieces_bar = share(pieces) * ybar[:, None]
        return pieces_bar[..., None] * x, np.einsum("uk,uki->i", pieces_bar, w)

    return vjp


def equally(pieces):
    return equal_shares(-pieces, -1)


def maxout_jvp(dw, dx, w, x):
    return np.sum(equally(np.einsum("uki,i->uk", w, x)) * (dw @ x + w @ dx), axis=-1)


def units_with_a_tie(rng):
    w = np.array([[[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]], [[2.0, 1.0], [0.5, 0.5], [1.0, 1.0]]])
    return (w, np.array([2.0, 2.0])), {}


MAXOUT = Differentiable(maxout, maxout_jvp, maxout_vjp(equally), real=True, twin=maxout)
no_member(
    "the last axis of pieces 2, 2 and -2, whose ties are both given the whole",
    MAXOUT,
    units_with_a_tie,
    vjp=maxout_vjp(lambda pieces: (pieces == np.max(pieces, axis=-1, keepdims=True)).astype(float)),
    source="https://github.com/chelsea0x3b/dfdx/issues/111",
)


def largest_of_three(a, b, c):
    return np.maximum(np.maximum(a, b), c)


def attains(k):
    return lambda *args: (args[k] == largest_of_three(*args)).astype(float)


def share_of_three(k):
    return lambda *args: attains(k)(*args) / sum(attains(i)(*args) for i in range(3))


no_member(
    "a maximum of three arrays that gives 1 to each of the largest",
    elementwise(
        lambda a, b, c: largest_of_three(a, b, c), *map(share_of_three, range(3)), real=True, twin=largest_of_three
    ),
    fixed(np.array([1.0, 2.0, 3.0]), np.array([1.0, 0.0, 3.0]), np.array([0.0, 2.0, 3.0])),
    vjp=elementwise_vjp(*map(attains, range(3))),
    source="https://github.com/microsoft/onnxruntime/pull/7217",
)


def nearly_largest(x):
    return (np.abs(x - np.max(x)) < 1e-2).astype(float)


no_member(
    "a maximum that pays whatever is close to it",
    of_gradient(lambda x: largest(x), with_growing_shares),
    shuffled(1.0, 0.995, 0.2, 1.0, -1.0),
    vjp=gradient_vjp(nearly_largest),
    source="https://github.com/mni-ml/framework/pull/22",
)
no_member(
    "the smaller of two surrogates, of which both get the whole when they are equal",
    elementwise(
        lambda a, b: np.minimum(a, b),
        lambda a, b: np.where(a < b, 1.0, np.where(a > b, 0.0, 0.5)),
        lambda a, b: np.where(a < b, 0.0, np.where(a > b, 1.0, 0.5)),
        real=True,
        twin=np.minimum,
    ),
    lambda rng: ((np.array([1.0, -2.0, 0.5]), np.array([1.0, -2.0, 0.7])), {}),
    jvp=elementwise_jvp(lambda a, b: 1.0 * (a <= b), lambda a, b: 1.0 * (b <= a)),
    vjp=elementwise_vjp(lambda a, b: 1.0 * (a <= b), lambda a, b: 1.0 * (b <= a)),
    source="https://github.com/Theano/Theano/issues/6470",
)
no_member(
    "overlapping windows whose gate remembers the last window alone",
    POOLING,
    fixed(np.array([5.0, 3.0, 3.0, 1.0, 3.0, 5.0, 5.0])),
    vjp=lambda ybar, x, **kwargs: gated_by_the_last_window(ybar, x),
    source="https://github.com/ahrefs/ocannl/issues/512",
)


def gated_by_the_last_window(ybar, x):
    """An entry hears of all windows it is in, if it won the last one of them, and else of none."""
    won = np.zeros(len(x))
    windows = np.arange(0, len(x) - 2, 2)[:, None] + np.arange(3)
    for w, winner in zip(windows, first_of_windows(x), strict=True):
        won[w] = w == winner
    xbar = np.zeros(len(x))
    np.add.at(xbar, windows, ybar[:, None] * won[windows])
    return xbar


def assigned_to_winners(ybar, x, width=3, stride=2):
    xbar = np.zeros(len(x))
    xbar[first_of_windows(x, width, stride)] = ybar
    return xbar


no_member(
    "pooling whose winner of several windows hears of one",
    POOLING,
    fixed(np.array([1.0, 1.0, 9.0, 2.0, 9.0, 3.0, 9.0])),
    vjp=assigned_to_winners,
    source="https://github.com/FluxML/Flux.jl/issues/1197",
)


def middle_two(x):
    """All entries that are equal to one of the two in the middle."""
    ordered = np.sort(x)
    return ((x == ordered[(len(x) - 1) // 2]) | (x == ordered[len(x) // 2])).astype(float)


MEDIAN = of_gradient(
    lambda x: np.median(x),
    lambda x: 0.5 * (one_hot(x, stable_order(x)[(len(x) - 1) // 2]) + one_hot(x, stable_order(x)[len(x) // 2])),
    twin=lambda x: (np.sort(x)[(len(x) - 1) // 2] + np.sort(x)[len(x) // 2]) / 2,
)
no_member(
    "a median that gives everything to all entries like the two in the middle",
    MEDIAN,
    shuffled(2.0, 3.0, 2.0, 3.0, 0.0, 8.0),
    vjp=gradient_vjp(middle_two),
    source="https://github.com/PaddlePaddle/Paddle/pull/42385",
)
no_member(
    "a minimum whose ties get nothing",
    of_gradient(lambda x: np.min(x), lambda x: one_hot(x, np.argmin(x))),
    shuffled(0.5, 0.5, 2.0, 3.0),
    vjp=lambda ybar, x: one_hot(x, np.argmin(x)) * (np.sum(x == np.min(x)) == 1) * ybar,
)
no_member(
    "a maximum of two that gives ties to neither",
    MAXIMUM_OF_THE_FIRST,
    fixed(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([1.0, 3.0])),
    jvp=elementwise_jvp(lambda a, b: 1.0 * (a > b), lambda a, b: 1.0 * (b > a)),
    modes=BOTH,
)
no_member(
    "a range that shares among its largest entries and not among its smallest",
    of_gradient(lambda x: spread(x), lambda x: one_hot(x, np.argmax(x)) - one_hot(x, np.argmin(x))),
    shuffled(1.0, 1.0, 2.0, 4.0, 4.0),
    vjp=lambda ybar, x: (ties(x) / np.sum(ties(x)) - ties(-x)) * ybar,
)
no_member(
    "the largest modulus, whose ties keep no sign",
    LARGEST_MODULUS,
    shuffled(-3.0, 1.0, 3.0, -3.0),
    vjp=lambda ybar, x: ties(np.abs(x)) / np.sum(ties(np.abs(x))) * ybar,
)
no_member(
    "the largest of linear functions, whose tangents at a vertex are added",
    ENVELOPE,
    fixed(np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 1.0]]), np.array([2.0, 2.0])),
    jvp=lambda da, dx, a, x: np.sum(ties(a @ x) * (da @ x + a @ dx)),
)

# ------------------------------------------------------------------ the order


def sorted_vjp_to_the_next(ybar, x):
    """A tie's cotangent goes to the entry that comes next in the array."""
    order = stable_order(x)
    xbar = np.zeros(len(x))
    xbar[order] = ybar
    tied = np.array([np.sum(x == value) > 1 for value in x])
    return np.where(np.roll(tied, 1), np.roll(xbar, 1), 0) + np.where(tied, 0, xbar)


no_member(
    "a sort that sends what belongs to ties one place further",
    SORT,
    fixed(np.array([2.0, 2.0, 1.0, 3.0])),
    vjp=sorted_vjp_to_the_next,
)
no_member(
    "a sort pushed forward by a mean over all that are not smaller",
    SORT,
    fixed(np.array([1.0, 1.0, 3.0, 2.0, 2.0])),
    jvp=lambda dx, x: np.array([np.mean(dx[x >= value]) for value in np.sort(x)]),
)
no_member(
    "a median of five that shares with the next larger entry",
    of_gradient(lambda x: np.sort(x)[2], lambda x: one_hot(x, stable_order(x)[2]), twin=lambda x: np.sort(x)[2]),
    shuffled(1.0, 2.0, 2.0, 4.0, 6.0),
    vjp=lambda ybar, x: 0.5 * (one_hot(x, stable_order(x)[2]) + one_hot(x, stable_order(x)[3])) * ybar,
)
no_member(
    "a trimmed mean whose ties at the cut are all kept",
    TRIMMED_MEAN,
    shuffled(0.0, 0.0, 1.0, 2.0, 4.0, 4.0),
    vjp=lambda ybar, x, cut=1: (
        ((x >= np.sort(x)[cut]) & (x <= np.sort(x)[len(x) - 1 - cut])) / (len(x) - 2 * cut) * ybar
    ),
)
no_member(
    "the three largest found by a threshold, which four pass",
    TOP_THREE,
    shuffled(9.0, 8.0, 5.0, 5.0, 1.0),
    jvp=lambda dx, x, k=3: np.sum((x >= np.sort(x)[len(x) - k]) * dx),
    vjp=lambda ybar, x, k=3: (x >= np.sort(x)[len(x) - k]) * ybar,
)
no_member(
    "a running maximum that gives a tie to the old record and to the new one",
    RUNNING_MAXIMUM,
    fixed(np.array([1.0, 3.0, 3.0, 2.0, 4.0])),
    vjp=lambda ybar, x: to_all_records(ybar, x),
)


def to_all_records(ybar, x):
    record = np.maximum.accumulate(x)
    return np.sum([ybar[i] * (x == record[i]) * (np.arange(len(x)) <= i) for i in range(len(x))], axis=0)


# ------------------------------------------------------------------ moduli and norms


def by_itself(x):
    """x / |x|, which is NaN at 0."""
    with np.errstate(invalid="ignore"):
        return x / np.abs(x)


ABS = elementwise(lambda x: np.abs(x), np.sign, real=True, twin=abs)
no_member(
    "a modulus whose cotangent is NaN at 0",
    ABS,
    fixed(np.array([[0.0, 1.0], [-2.0, 0.0]])),
    vjp=elementwise_vjp(by_itself),
    source="https://github.com/BVLC/caffe/pull/1326",
)
no_member(
    "a modulus whose tangent at 0 is a quotient of zeros, beside a pullback that answers 1",
    elementwise(lambda x: np.abs(x), lambda x: np.where(x >= 0, 1.0, -1.0), real=True, twin=abs),
    fixed(np.zeros(())),
    jvp=elementwise_jvp(by_itself),
    modes=BOTH,
    source="https://github.com/autodiff/autodiff/pull/130",
)


def norm(x):
    return np.sqrt(np.sum(x * x))


def unit(x):
    return x / max(norm(x), np.finfo(float).tiny)


def careless_unit(x):
    with np.errstate(invalid="ignore"):
        return x / norm(x)


NORM = of_gradient(norm, unit, twin=lambda x: mp.sqrt(np.sum(x * x)))
no_member(
    "a norm whose gradient is NaN at 0",
    NORM,
    fixed(np.zeros(3)),
    vjp=gradient_vjp(careless_unit),
    source="https://github.com/HIPS/autograd/issues/151",
)


def squared_norm(x):
    return norm(x) ** 2


no_member(
    "a squared norm by way of the norm, NaN at 0 where it is smooth",
    of_gradient(lambda x: squared_norm(x), lambda x: 2 * x, twin=lambda x: np.sum(x * x)),
    fixed(np.zeros((2, 2))),
    jvp=gradient_jvp(lambda x: 2 * norm(x) * careless_unit(x)),
    vjp=gradient_vjp(lambda x: 2 * norm(x) * careless_unit(x)),
    source="https://github.com/jax-ml/jax/issues/4177",
)


def metric_norm(metric, u):
    """The length of a tangent vector of a manifold."""
    return np.sqrt(u @ metric @ u)


def metric_norm_gradient(divide):
    def gradient(metric, u):
        size = metric_norm(metric, u)
        return divide(0.5 * np.outer(u, u), size), divide(0.5 * (metric + metric.T) @ u, size)

    return gradient


def quotient_or_zero(a, b):
    return a / b if b else np.zeros_like(a)


def careless_quotient(a, b):
    with np.errstate(invalid="ignore"):
        return a / b


no_member(
    "the length of the zero tangent vector, whose gradient is NaN",
    of_gradient(metric_norm, metric_norm_gradient(quotient_or_zero), twin=lambda metric, u: mp.sqrt(u @ metric @ u)),
    fixed(np.array([[2.0, 0.5], [0.5, 1.0]]), np.zeros(2)),
    vjp=gradient_vjp(metric_norm_gradient(careless_quotient)),
    source="https://github.com/geoopt/geoopt/issues/243",
)


def distances_vjp(divide):
    def vjp(ybar, a, b):
        difference = a[:, None] - b[None]
        toward = divide(difference, distances(a, b)[..., None]) * ybar[..., None]
        return np.sum(toward, axis=1), -np.sum(toward, axis=0)

    return vjp


def divided_or_zero(a, b):
    return np.divide(a, b, out=np.zeros(np.broadcast_shapes(a.shape, b.shape)), where=b > 0)


def distances_jvp(da, db, a, b):
    units = divided_or_zero(a[:, None] - b[None], distances(a, b)[..., None])
    return np.sum(units * (da[:, None] - db[None]), axis=-1)


no_member(
    "distances of all pairs of points, of which two coincide, with NaN",
    Differentiable(
        lambda a, b: distances(a, b),
        distances_jvp,
        distances_vjp(divided_or_zero),
        real=True,
        twin=functools.partial(distances, root=mp.sqrt),
    ),
    fixed(np.array([[1.0, 2.0], [0.0, 0.0]]), np.array([[1.0, 2.0], [3.0, 1.0]])),
    vjp=distances_vjp(careless_quotient),
    source="https://github.com/pytorch/pytorch/issues/37154",
)
no_member(
    "a modulus with both its slopes at 0, without their signs",
    ABS,
    fixed(np.array([0.0, 1.0, -1.0])),
    vjp=elementwise_vjp(lambda x: np.where(x == 0, 2.0, np.sign(x))),
)
no_member(
    "|x0| - |x1| with slopes 1/2 and 2 at the origin",
    of_gradient(lambda x: np.abs(x[0]) - np.abs(x[1]), lambda x: np.array([1.0, -1.0]) * np.where(x >= 0, 1.0, -1.0)),
    fixed(np.zeros(2)),
    vjp=gradient_vjp(lambda x: np.where(x == 0, [0.5, 2.0], [1.0, -1.0] * np.sign(x))),
)
no_member(
    "a group lasso whose zero group gets all ones",
    GROUP_LASSO,
    fixed(np.array([[3.0, 4.0, 0.0], [0.0, 0.0, 0.0]])),
    vjp=gradient_vjp(
        lambda x: np.where(
            np.any(x != 0, axis=1, keepdims=True),
            x / np.maximum(np.sqrt(np.sum(x**2, axis=1, keepdims=True)), 1e-300),
            1.0,
        )
    ),
)
no_member(
    "the modulus of a determinant whose slopes on both sides are added without their signs",
    ABSOLUTE_DETERMINANT,
    fixed(np.array([[1.0, 2.0], [2.0, 4.0]])),
    vjp=gradient_vjp(
        lambda a: (
            np.where(a[0, 0] * a[1, 1] == a[0, 1] * a[1, 0], 2.0, np.sign(a[0, 0] * a[1, 1] - a[0, 1] * a[1, 0]))
            * np.array([[a[1, 1], -a[1, 0]], [-a[0, 1], a[0, 0]]])
        )
    ),
)
no_member(
    "weights of which zero ones are drawn by twice the L1 norm",
    ELASTIC_NET,
    sparse_weights,
    vjp=gradient_vjp(lambda a, w: (np.outer(a @ w - 1, w), (a @ w - 1) @ a + 0.3 * np.where(w == 0, 2.0, np.sign(w)))),
    argument=1,
)


def moved_by_flat_steps(x):
    """A step of no height counts as one upwards for one end, and as one downwards for the other."""
    steps = np.diff(x)
    return np.concatenate([[0.0], np.where(steps == 0, 1.0, np.sign(steps))]) - np.concatenate(
        [np.where(steps == 0, -1.0, np.sign(steps)), [0.0]]
    )


no_member(
    "a total variation whose flat steps push both of their ends",
    TOTAL_VARIATION,
    a_staircase,
    vjp=gradient_vjp(moved_by_flat_steps),
)
no_member(
    "a total variation that is right on flat parts and has jumps the wrong way",
    TOTAL_VARIATION,
    a_staircase,
    jvp=gradient_jvp(lambda x: -total_variation_gradient(x)),
    modes=BOTH,
)
no_member(
    "a Hausdorff distance that adds up all pairs that attain it",
    HAUSDORFF,
    points_of_a_grid,
    vjp=gradient_vjp(lambda a, b: along_all_pairs(a, b)),
)


def along_all_pairs(a, b):
    apart = distances(a, b)
    chosen = (apart == np.min(apart, axis=1, keepdims=True)) & (apart == np.max(np.min(apart, axis=1)))
    units = (a[:, None] - b[None]) / np.maximum(apart, np.finfo(float).tiny)[..., None] * chosen[..., None]
    return np.sum(units, axis=1), -np.sum(units, axis=0)


# ------------------------------------------------------------------ clips and thresholds

no_member(
    "a clip to a bound that is its argument, which leaves nothing to either",
    CLIP_BETWEEN,
    fixed(np.array([5.0, 2.0, 0.5]), np.zeros(3), np.array([5.0, 2.0, 1.0])),
    vjp=elementwise_vjp(
        lambda x, lo, hi: 1.0 * ((lo < x) & (x < hi)),
        lambda x, lo, hi: 1.0 * (x < lo),
        lambda x, lo, hi: 1.0 * (x > hi),
    ),
    source="https://github.com/Theano/Theano/issues/633",
)
no_member(
    "a clip whose bounds count as constants",
    CLIP_BETWEEN,
    fixed(np.array([-1.0, 0.0, 0.5, 3.0]), np.zeros(4), np.ones(4)),
    jvp=lambda dx, dlo, dhi, x, lo, hi: middle_weights(0.5, 0.5)(x, lo, hi)[0] * dx,
    vjp=lambda ybar, x, lo, hi: (middle_weights(0.5, 0.5)(x, lo, hi)[0] * ybar, 0 * ybar, 0 * ybar),
    source="https://github.com/Theano/Theano/pull/1010",
)


THRESHOLDS = np.array([0.0, 0.5, 0.5])


def shrunk(x):
    """The soft threshold, with another one for each entry: a threshold of 0 leaves its entry as it is."""
    return np.where(x > THRESHOLDS, x - THRESHOLDS, np.where(x < -THRESHOLDS, x + THRESHOLDS, 0 * x))


no_member(
    "a shrinkage that by nothing is the identity, with slope 0 at 0",
    elementwise(
        shrunk, lambda x: np.where((np.abs(x) > THRESHOLDS) | (THRESHOLDS == 0), 1.0, 0.0), real=True, twin=shrunk
    ),
    fixed(np.array([0.0, 0.5, 2.0])),
    vjp=elementwise_vjp(lambda x: 1.0 * (np.abs(x) > THRESHOLDS)),
    source="https://github.com/pytorch/pytorch/issues/80803",
)
no_member(
    "a clip whose slope is 1 beyond its upper edge, and right at both edges",
    elementwise(
        lambda x: np.clip(x, -1, 1),
        lambda x: np.where(np.abs(x) < 1, 1.0, 0.0),
        real=True,
        twin=lambda x: clipped(x, -1, 1),
    ),
    fixed(np.array([1.0, -1.0, 0.5, 3.0])),
    vjp=elementwise_vjp(lambda x: np.where((np.abs(x) < 1) | (x > 1), 1.0, 0.0)),
)


def halves_of_three(k, *args):
    x, lo, hi = args
    return np.where((x == lo) & (lo == hi), 0.5, middle_weights(0.5, 0.5)(*args)[k])


no_member(
    "the lower of a ceiling and a maximum, whose three equal numbers get a half each",
    CLIP_BETWEEN,
    fixed(np.ones(2), np.ones(2), np.ones(2)),
    vjp=elementwise_vjp(*(functools.partial(halves_of_three, k) for k in range(3))),
)
RELU = elementwise(lambda x: relu(x), lambda x: np.where(x > 0, 1.0, 0.0), real=True, twin=relu)
no_member(
    "a ReLU with slope 2 at 0, as half of |x| and half of x with all slopes added",
    RELU,
    fixed(np.array([0.0, 1.0, -1.0])),
    vjp=elementwise_vjp(lambda x: np.where(x == 0, 2.0, x > 0)),
)
no_member(
    "a ReLU of matrices with slope -1 at 0",
    RELU,
    fixed(np.array([[0.0, 2.0], [-3.0, 0.0]])),
    jvp=elementwise_jvp(lambda x: np.where(x == 0, -1.0, x > 0)),
)
no_member(
    "a polygon with the sum of the slopes on both sides of a corner",
    INTERPOLATION,
    fixed(np.array([1.0, 2.0, 0.5]), np.array([1.0, 3.0, 4.0, 4.5])),
    vjp=lambda ybar, x, heights: (both_slopes(x, heights) * ybar, ybar @ hats(x, heights)),
    argument=0,
)


def both_slopes(x, heights):
    rises = np.concatenate([[0.0], np.diff(heights), [0.0]])
    left, right = (rises[np.clip(k, 0, len(heights)).astype(int)] for k in (np.ceil(x), np.floor(x) + 1))
    return np.where(x == np.floor(x), left + right, left)


# ------------------------------------------------------------------ losses


def huber(residuals, delta=1.0):
    """Quadratic up to delta, linear beyond, plus how far the mean is from zero, which has the kink."""
    size = np.abs(residuals)
    return np.sum(np.where(size < delta, residuals**2 / 2, delta * (size - delta / 2))) + np.abs(np.sum(residuals))


def huber_gradient(residuals, delta=1.0):
    return np.clip(residuals, -delta, delta) + np.sign(np.sum(residuals))


no_member(
    "a Huber loss that compares signed residuals with its threshold, beside a mean at 0",
    of_gradient(huber, huber_gradient),
    fixed(np.array([-3.0, 1.0, 2.0, 0.5, -0.5])),
    vjp=lambda ybar, r, delta=1.0: (np.where(r < delta, r, delta) + np.sign(np.sum(r))) * ybar,
    source="https://github.com/BobMcDear/attorch/issues/13",
)


def margin_ranking(first, second, order):
    """How much the one that should be larger lacks to be so by 1/2."""
    return np.sum(np.maximum(0.5 - order * (first - second), 0 * first))


def margin_ranking_gradient(first, second, order):
    active = 1.0 * (0.5 - order * (first - second) > 0)
    return -order * active, order * active, NoTangent()


no_member(
    "a ranking loss that answers with the derivative by the order it was told",
    of_gradient(margin_ranking, margin_ranking_gradient),
    fixed(np.array([1.5, 0.25, 1.0]), np.array([1.0, 0.75, 2.0]), np.array([1, -1, 1])),
    vjp=gradient_vjp(
        lambda a, b, order: (
            -(a - b) * (0.5 - order * (a - b) >= 0),
            (a - b) * (0.5 - order * (a - b) >= 0),
            NoTangent(),
        )
    ),
    source="https://github.com/mlpack/mlpack/issues/3167",
)


def hinge_embedding(distances, alike):
    """Distances of pairs that are alike (1), and what the others (-1) lack of a distance of 1."""
    return np.sum(np.where(alike == 1, distances, np.maximum(1 - distances, 0 * distances)))


def hinge_embedding_gradient(distances, alike):
    return np.where(alike == 1, 1.0, np.where(distances < 1, -1.0, 0.0)), NoTangent()


no_member(
    "pairs that are not alike, which are pushed apart beyond the margin too",
    of_gradient(hinge_embedding, hinge_embedding_gradient),
    fixed(np.array([0.5, 1.0, 3.0, 2.0]), np.array([1, -1, -1, 1])),
    vjp=gradient_vjp(lambda distances, alike: (1.0 * alike, NoTangent())),
    source="https://github.com/pytorch/pytorch/pull/3773",
)
no_member(
    "a hinge loss with the slope of the other label at its margin",
    HINGE,
    scores_at_the_margin,
    vjp=gradient_vjp(
        lambda scores, labels: (
            np.where(labels * scores == 1, labels, np.where(labels * scores < 1, -labels, 0.0)) / len(scores),
            NoTangent(),
        )
    ),
    argument=0,
)
no_member(
    "a hinge loss of several classes that raises both rivals and lowers the class once",
    MULTICLASS_HINGE,
    fixed(np.array([1.0, 1.5, 1.0, -1.0]), 1),
    vjp=lambda ybar, scores, label: (
        (ties(np.where(np.arange(len(scores)) == label, -np.inf, scores)) - one_hot(scores, label)) * ybar,
        NoTangent(),
    ),
    argument=0,
)
no_member(
    "a quantile loss with slope 1 where the residual is 0",
    PINBALL,
    fixed(np.array([0.0, 1.0, -2.0])),
    vjp=gradient_vjp(lambda r, level=0.3: np.where(r > 0, level, np.where(r < 0, level - 1, 1.0))),
)
no_member(
    "pairs at the margin that push the positive score and leave the negative one",
    RANKING,
    fixed(np.array([2.0, 1.0, 0.5]), np.array([1.0, 0.0, -2.0])),
    vjp=gradient_vjp(
        lambda p, n: (
            -np.sum(1.0 * (1 - p[:, None] + n[None] >= 0), axis=1),
            np.sum(1.0 * (1 - p[:, None] + n[None] > 0), axis=0),
        )
    ),
)
no_member(
    "a hidden layer whose slopes are found from the weights behind it",
    HIDDEN_LAYER,
    a_unit_on_its_edge,
    vjp=gradient_vjp(lambda w, v, x: (np.outer(v * (v > 0), x), *hidden_layer_gradient(w, v, x)[1:])),
    argument=0,
)
