"""Rules that return a member of the generalised derivative at a kink, mostly another one than the conventions name.

The generalised derivative (Clarke's) at a point is the convex hull of the limits of the derivatives nearby, where there
are some. So a rule may send the whole cotangent of a maximum to its first tie, or take either end of an interval of
slopes, and is right. Where a function composes kinks, the members are chosen together: a product of members of the
parts need not be one of the whole.
"""

import functools
import itertools

import numpy as np

from corpora import multiprecision as mp
from corpora.corpus import Differentiable, elementwise
from corpora.right.entry import fixed, right
from corpora.right.kinks import sharing_among_equals, shuffled
from rulescore import AbstractZero, NoTangent

at_kink = functools.partial(right, kind="kink", at_kink=True)


# ------------------------------------------------------------------ functions by their gradients


def gradient_jvp(gradient):
    """The pushforward of a function with one number as output, by its gradient: an array, or one an argument."""

    def jvp(*tangents_and_args, **kwargs):
        count = len(tangents_and_args) // 2
        tangents, args = tangents_and_args[:count], tangents_and_args[count:]
        gradients = gradient(*args, **kwargs)
        gradients = gradients if isinstance(gradients, tuple) else (gradients,)
        return sum(
            np.sum(xbar * dx)
            for xbar, dx in zip(gradients, tangents, strict=True)
            if not isinstance(dx, AbstractZero) and not isinstance(xbar, AbstractZero)
        )

    return jvp


def gradient_vjp(gradient):
    def vjp(ybar, *args, **kwargs):
        gradients = gradient(*args, **kwargs)
        gradients = gradients if isinstance(gradients, tuple) else (gradients,)
        return tuple(xbar if isinstance(xbar, AbstractZero) else xbar * ybar for xbar in gradients)

    return vjp


def of_gradient(function, gradient, twin=None):
    """A function with one number as output, by its gradient."""
    return Differentiable(
        function, gradient_jvp(gradient), gradient_vjp(gradient), real=True, twin=function if twin is None else twin
    )


def selection_vjp(choose):
    def vjp(ybar, x, **kwargs):
        xbar = np.zeros(np.size(x), np.asarray(ybar).dtype)
        np.add.at(xbar, choose(x, **kwargs), ybar)
        return xbar.reshape(np.shape(x))

    return vjp


def of_selection(function, choose, twin=None):
    """A function whose output consists of entries of its argument: those at the flat indices ``choose(x)``."""
    return Differentiable(
        function,
        jvp=lambda dx, x, **kwargs: np.ravel(dx)[choose(x, **kwargs)],
        vjp=selection_vjp(choose),
        real=True,
        twin=function if twin is None else twin,
    )


def one_hot(x, index):
    """An array like ``x`` with a one at a flat index, or at several."""
    e = np.zeros(np.size(x))
    e[index] = 1.0
    return e.reshape(np.shape(x))


# ------------------------------------------------------------------ of one number


def relu(x):
    return np.where(x > 0, x, 0 * x)


def leaky_relu(x, slope=0.01):
    return np.where(x > 0, x, slope * x)


def soft_threshold(x, threshold=0.5):
    """What the proximal operator of an L1 norm does to each entry."""
    return np.where(x > threshold, x - threshold, np.where(x < -threshold, x + threshold, 0 * x))


def hard_sigmoid(x):
    return np.minimum(np.maximum(x / 6 + 0.5, 0 * x), 0 * x + 1)


at_kink(
    "a ReLU with derivative 1 at 0",
    elementwise(lambda x: relu(x), lambda x: np.where(x >= 0, 1.0, 0.0), real=True, twin=relu),
    fixed(np.array([0.0, -1.5, 2.0, 0.0])),
)
at_kink(
    "a leaky ReLU with derivative 0.3 at 0",
    elementwise(
        lambda x: leaky_relu(x),
        lambda x: np.where(x > 0, 1.0, np.where(x < 0, 0.01, 0.3)),
        real=True,
        twin=leaky_relu,
    ),
    fixed(np.array([[0.0, 1.0], [-3.0, 0.0]])),
)
at_kink(
    "|x| with derivative -0.6 at 0",
    elementwise(lambda x: np.abs(x), lambda x: np.where(x == 0, -0.6, np.sign(x)), real=True, twin=abs),
    fixed(np.zeros(())),
)
SOFT_THRESHOLD = elementwise(
    lambda x: soft_threshold(x),
    lambda x: np.where(np.abs(x) >= 0.5, 1.0, 0.0),
    real=True,
    twin=soft_threshold,
)
at_kink("a soft threshold with derivative 1 at it", SOFT_THRESHOLD, fixed(np.array([0.5, -0.5, 0.1, 2.0, -0.7])))
at_kink(
    "a hard tanh with derivative 1 at both edges",
    elementwise(
        lambda x: np.clip(x, -1, 1),
        lambda x: np.where(np.abs(x) <= 1, 1.0, 0.0),
        real=True,
        twin=lambda x: np.minimum(np.maximum(x, -1), 1),
    ),
    fixed(np.array([-1.0, 0.0, 1.0, 1.5])),
)
at_kink(
    "a hard sigmoid with a quarter of its slope at both edges",
    elementwise(
        lambda x: hard_sigmoid(x),
        lambda x: np.where(np.abs(x) < 3, 1.0, np.where(np.abs(x) == 3, 0.25, 0.0)) / 6,
        real=True,
        twin=hard_sigmoid,
    ),
    fixed(np.array([3.0, -3.0, 1.0, 4.0])),
)

# ------------------------------------------------------------------ of several numbers, entry by entry


def split_evenly(a, b):
    """What the larger of two numbers takes of a cotangent, half of it at a tie."""
    return np.where(a > b, 1.0, np.where(a < b, 0.0, 0.5))


def middle_weights(share_of_lower, share_of_upper):
    """The weights of x, lo and hi in min(max(x, lo), hi), where ties take these shares of the rest."""

    def weights(x, lo, hi):
        inner = np.maximum(x, lo)
        of_hi = np.where(hi < inner, 1.0, np.where(hi > inner, 0.0, share_of_upper))
        of_lo = (1 - of_hi) * np.where(lo > x, 1.0, np.where(lo < x, 0.0, share_of_lower))
        return 1 - of_hi - of_lo, of_lo, of_hi

    return weights


def clipped(x, lo, hi):
    return np.minimum(np.maximum(x, lo), hi)


def of_middle(share_of_lower, share_of_upper):
    weights = middle_weights(share_of_lower, share_of_upper)
    return elementwise(
        lambda x, lo, hi: clipped(x, lo, hi),
        *(functools.partial(lambda k, *args: weights(*args)[k], k) for k in range(3)),
        real=True,
        twin=clipped,
    )


def excess(x, lo, hi):
    """How far a number is outside of an interval."""
    return np.maximum(np.maximum(lo - x, x - hi), 0 * x)


def excess_weights(x, lo, hi):
    """At an edge half of the slope outside."""
    below, above = (np.where(d > 0, 1.0, np.where(d < 0, 0.0, 0.5)) for d in (lo - x, x - hi))
    return above - below, below, -above


MAXIMUM_OF_THE_FIRST = elementwise(
    lambda a, b: np.maximum(a, b),
    lambda a, b: np.where(a >= b, 1.0, 0.0),
    lambda a, b: np.where(a >= b, 0.0, 1.0),
    real=True,
    twin=np.maximum,
)
at_kink(
    "a maximum of two numbers that gives ties to the first",
    MAXIMUM_OF_THE_FIRST,
    lambda rng: ((np.array([1.0, 2.0, 3.0]), np.array([1.0, 5.0, 3.0])), {}),
)
at_kink(
    "a minimum of two numbers that gives a quarter of ties to the first, beside one that broadcasts",
    elementwise(
        lambda a, b: np.minimum(a, b),
        lambda a, b: np.where(a < b, 1.0, np.where(a > b, 0.0, 0.25)),
        lambda a, b: np.where(a < b, 0.0, np.where(a > b, 1.0, 0.75)),
        real=True,
        twin=np.minimum,
    ),
    fixed(np.array([[2.0, -1.0, 2.0]]), np.array([[2.0], [0.5]])),
)
at_kink(
    "the lower of a ceiling and a maximum, all three equal",
    of_middle(0.7, 0.25),
    fixed(np.array([1.0, 1.0, 0.0]), np.array([1.0, 0.0, 2.0]), np.array([1.0, 1.0, 3.0])),
)
CLIP_BETWEEN = of_middle(0.5, 0.5)
at_kink(
    "a clip between arrays, which shares with its bounds",
    CLIP_BETWEEN,
    fixed(np.array([0.0, 2.0, 1.0, 5.0]), np.zeros(4), np.array([1.0, 2.0, 3.0, 4.0])),
)
at_kink(
    "the distance from an interval at its ends",
    elementwise(
        lambda x, lo, hi: excess(x, lo, hi),
        *(functools.partial(lambda k, *args: excess_weights(*args)[k], k) for k in range(3)),
        real=True,
        twin=excess,
    ),
    fixed(np.array([1.0, 2.0, 1.5, 3.0]), np.ones(4), 2 * np.ones(4)),
)


def interpolated(x, heights):
    """The polygon with these heights at 0, 1, 2, ..., constant beyond its ends."""
    return np.interp(x, np.arange(len(heights)), heights)


def polygon(x, heights):
    """The same for multiprecision numbers: a sum of ramps."""
    ramps = (after - before for before, after in itertools.pairwise(heights))
    return heights[0] + sum(rise * np.minimum(np.maximum(x - k, 0), 1) for k, rise in enumerate(ramps))


def left_slope(x, heights):
    rises = np.concatenate([[0.0], np.diff(heights), [0.0]])
    return rises[np.clip(np.ceil(x), 0, len(heights)).astype(int)]


def hats(x, heights):
    """The weight of each height in each value."""
    inside = np.clip(x, 0, len(heights) - 1)
    return np.maximum(1 - np.abs(inside[:, None] - np.arange(len(heights))), 0)


INTERPOLATION = Differentiable(
    interpolated,
    jvp=lambda dx, dheights, x, heights: left_slope(x, heights) * dx + hats(x, heights) @ dheights,
    vjp=lambda ybar, x, heights: (left_slope(x, heights) * ybar, ybar @ hats(x, heights)),
    real=True,
    twin=polygon,
)
at_kink(
    "a polygon at its corners, with the slope on the left",
    INTERPOLATION,
    lambda rng: ((np.array([1.0, 2.0, 0.5, 3.0, 0.0]), np.array([1.0, 3.0, 2.0, 2.5])), {}),
)

# ------------------------------------------------------------------ the largest, the middle, the order


def largest(x):
    return np.max(x)


def with_growing_shares(x):
    """Later ties of the maximum take more."""
    weights = (x == np.max(x)) * np.arange(1.0, np.size(x) + 1).reshape(np.shape(x))
    return weights / np.sum(weights)


def last_largest_of_rows(x):
    rows, columns = np.shape(x)
    return np.arange(rows) * columns + columns - 1 - np.argmax(x[:, ::-1], axis=1)


def equal_shares(x, axis):
    attains = x == np.min(x, axis=axis, keepdims=True)
    return attains / np.sum(attains, axis=axis, keepdims=True)


at_kink(
    "a maximum that gives all to its first tie",
    of_selection(lambda x: np.max(x), np.argmax),
    shuffled(2.0, 5.0, 5.0, 1.0, 5.0),
)
at_kink(
    "a maximum that gives more to later ties",
    of_gradient(lambda x: largest(x), with_growing_shares),
    fixed(np.array([[0.5, 4.0], [4.0, 4.0]])),
)
at_kink(
    "maxima of rows that give all to their last ties",
    of_selection(lambda x: np.max(x, axis=1), last_largest_of_rows),
    fixed(np.array([[1.0, 1.0, 0.0], [2.0, 3.0, 3.0], [7.0, 7.0, 7.0]])),
)
at_kink(
    "minima of columns that share equally",
    Differentiable(
        lambda x: np.min(x, axis=0),
        jvp=lambda dx, x: np.sum(equal_shares(x, 0) * dx, axis=0),
        vjp=lambda ybar, x: equal_shares(x, 0) * ybar,
        real=True,
        twin=lambda x: np.min(x, axis=0),
    ),
    fixed(np.array([[1.0, 0.0, 4.0], [1.0, 2.0, 3.0], [1.0, 2.0, 3.0]])),
)


def best_of_worst(x):
    return np.max(np.min(x, axis=1))


def saddle(x):
    """The first smallest entry of the first row whose smallest entry is largest."""
    row = np.argmax(np.min(x, axis=1))
    return row * np.shape(x)[1] + np.argmin(x[row])


at_kink(
    "the largest of the smallest entries of rows, all equal",
    of_selection(lambda x: best_of_worst(x), saddle, twin=best_of_worst),
    fixed(np.full((3, 3), 0.5)),
)


def spread(x):
    """The largest less the smallest entry."""
    return np.max(x) - np.min(x)


at_kink(
    "a range with ties at both ends",
    of_gradient(
        lambda x: spread(x), lambda x: one_hot(x, np.argmax(x)) - one_hot(x, x.size - 1 - np.argmin(np.ravel(x)[::-1]))
    ),
    shuffled(1.0, 1.0, 2.0, 4.0, 4.0, 4.0),
)


def stable_order(x):
    return np.argsort(x, kind="stable")


at_kink(
    "a sort that keeps ties in their order",
    of_selection(lambda x: np.sort(x), stable_order),
    shuffled(3.0, 1.0, 3.0, 2.0, 1.0, 1.0),
)
at_kink(
    "a descending sort that turns ties around",
    of_selection(lambda x: np.sort(x)[::-1], lambda x: stable_order(x)[::-1]),
    shuffled(0.5, 0.5, -1.0, 0.5),
)


def median(x):
    ordered = np.sort(x)
    return (ordered[(len(x) - 1) // 2] + ordered[len(x) // 2]) / 2


def median_of_the_stable_order(x):
    order = stable_order(x)
    return 0.5 * (one_hot(x, order[(len(x) - 1) // 2]) + one_hot(x, order[len(x) // 2]))


at_kink(
    "a median of six entries, of which three are equal in the middle",
    of_gradient(lambda x: median(x), median_of_the_stable_order),
    shuffled(1.0, 2.0, 2.0, 2.0, 5.0, 7.0),
)
at_kink(
    "a median of five entries that is the first of three",
    of_gradient(lambda x: np.median(x), lambda x: one_hot(x, np.argmax(x == np.median(x))), twin=median),
    shuffled(1.0, 2.0, 2.0, 2.0, 3.0),
)


def trimmed_mean(x, cut=1):
    """The mean without so many of the smallest and as many of the largest entries."""
    return np.sum(np.sort(x)[cut : len(x) - cut]) / (len(x) - 2 * cut)


def trimmed_mean_gradient(x, cut=1):
    order = stable_order(x)
    kept = np.zeros(len(x))
    kept[cut : len(x) - cut] = 1 / (len(x) - 2 * cut)
    weights = np.zeros(len(x))
    weights[order] = sharing_among_equals(x[order], kept)
    return weights


TRIMMED_MEAN = of_gradient(trimmed_mean, trimmed_mean_gradient)
at_kink("a trimmed mean whose cut divides ties", TRIMMED_MEAN, shuffled(0.0, 0.0, 1.0, 2.0, 4.0, 4.0, 4.0))


def sum_of_largest(x, k=3):
    return np.sum(np.sort(x)[len(x) - k :])


def first_largest(x, k=3):
    return one_hot(x, np.argsort(-x, kind="stable")[:k])


TOP_THREE = of_gradient(sum_of_largest, first_largest)
at_kink(
    "the sum of the three largest, of which two compete for the third place", TOP_THREE, shuffled(9.0, 8.0, 5, 5, 1)
)
at_kink("the sum of the three largest of six equal entries", TOP_THREE, fixed(np.full(6, 2.0)))


def low_quantile(x):
    return np.quantile(x, 0.3)


def low_quantile_of_six(x):
    """Halfway between the second and the third of six."""
    ordered = np.sort(x)
    return (ordered[1] + ordered[2]) / 2


def low_quantile_gradient(x):
    position = 0.3 * (len(x) - 1)
    below = int(position)
    order = stable_order(x)
    return one_hot(x, order[below]) * (1 - (position - below)) + one_hot(x, order[below + 1]) * (position - below)


at_kink(
    "a quantile between two entries that are equal, and equal to a third",
    of_gradient(low_quantile, low_quantile_gradient, twin=low_quantile_of_six),
    shuffled(1.0, 1.0, 1.0, 2.0, 3.0, 4.0),
)


def windows(length, width, stride):
    """The indices of each window, one row a window."""
    return np.arange(0, length - width + 1, stride)[:, None] + np.arange(width)


def pooled(x, width=3, stride=2):
    return np.max(x[windows(len(x), width, stride)], axis=1)


def first_of_windows(x, width=3, stride=2):
    w = windows(len(x), width, stride)
    return w[np.arange(len(w)), np.argmax(x[w], axis=1)]


POOLING = of_selection(pooled, first_of_windows)
at_kink(
    "overlapping maximum pooling with ties",
    POOLING,
    fixed(np.array([1.0, 2.0, 2.0, 0.0, 2.0, 1.0, 1.0, 1.0, 1.0])),
)


def pooled_image(x):
    """Maxima of blocks of 2 x 2."""
    rows, columns = np.shape(x)
    return np.max(x.reshape(rows // 2, 2, columns // 2, 2), axis=(1, 3))


def last_of_blocks(x):
    rows, columns = np.shape(x)
    blocks = np.arange(rows * columns).reshape(rows // 2, 2, columns // 2, 2).transpose(0, 2, 3, 1)
    flat = blocks.reshape(rows // 2, columns // 2, 4)[..., ::-1]
    return np.take_along_axis(flat, np.argmax(np.ravel(x)[flat], axis=-1)[..., None], -1)[..., 0]


at_kink(
    "maximum pooling of a picture that is all of one colour",
    of_selection(pooled_image, last_of_blocks),
    fixed(np.full((4, 6), 0.25)),
)


def running_maximum(x):
    return np.maximum.accumulate(x)


def latest_record(x):
    """The index of the last entry so far that attains the running maximum."""
    return np.maximum.accumulate(np.where(x == np.maximum.accumulate(x), np.arange(len(x)), 0))


RUNNING_MAXIMUM = of_selection(running_maximum, latest_record)
at_kink("a running maximum that follows the latest tie", RUNNING_MAXIMUM, fixed(np.array([1.0, 3.0, 3.0, 2.0, 3.0])))

# ------------------------------------------------------------------ norms and distances

at_kink(
    "an L1 norm of fifty zeros, with all ones",
    of_gradient(lambda x: np.sum(np.abs(x)), lambda x: np.where(x >= 0, 1.0, -1.0)),
    fixed(np.zeros(50)),
)
at_kink(
    "|x0| - |x1| at the origin",
    of_gradient(
        lambda x: np.abs(x[0]) - np.abs(x[1]),
        lambda x: np.array([1.0, -1.0]) * np.where(x >= 0, 1.0, -1.0),
    ),
    fixed(np.zeros(2)),
)
at_kink(
    "|x0 x1| on an axis",
    of_gradient(
        lambda x: np.abs(x[0] * x[1]),
        lambda x: x[::-1] * np.where(x[0] * x[1] == 0, 0.5, np.sign(x[0] * x[1])),
    ),
    fixed(np.array([0.0, 2.0])),
)
ABSOLUTE_DETERMINANT = of_gradient(
    lambda a: np.abs(a[0, 0] * a[1, 1] - a[0, 1] * a[1, 0]),
    lambda a: (
        np.where(a[0, 0] * a[1, 1] - a[0, 1] * a[1, 0] >= 0, 1.0, -1.0)
        * np.array([[a[1, 1], -a[1, 0]], [-a[0, 1], a[0, 0]]])
    ),
)
at_kink(
    "the modulus of the determinant of a singular matrix", ABSOLUTE_DETERMINANT, fixed(np.array([[1.0, 2], [2, 4]]))
)


def largest_modulus(x):
    return np.max(np.abs(x))


def largest_modulus_gradient(x):
    attains = np.abs(x) == np.max(np.abs(x))
    return attains * np.sign(x) / np.sum(attains)


LARGEST_MODULUS = of_gradient(largest_modulus, largest_modulus_gradient)
at_kink("a norm of the largest modulus with ties of both signs", LARGEST_MODULUS, shuffled(-3.0, 1.0, 3.0, -3.0, 2.0))


def chebyshev(a, b):
    return np.max(np.abs(a - b))


def chebyshev_gradient(a, b):
    first = one_hot(a, np.argmax(np.abs(a - b))) * np.sign(a - b)
    return first, -first


at_kink(
    "a distance by the largest difference, with ties",
    of_gradient(chebyshev, chebyshev_gradient),
    fixed(np.array([1.0, 4.0, -1.0]), np.array([3.0, 2.0, -1.0])),
)


def sum_of_row_norms(x):
    return np.sum(np.sqrt(np.sum(x * x, axis=1)))


def row_norms_gradient(x):
    """Of rows that are zero a vector shorter than 1, along the first two axes."""
    norms = np.sqrt(np.sum(x * x, axis=1, keepdims=True))
    instead = np.zeros(np.shape(x)[1])
    instead[:2] = 0.5, 0.7
    return np.where(norms == 0, instead, x / np.where(norms == 0, 1, norms))


GROUP_LASSO = of_gradient(sum_of_row_norms, row_norms_gradient, twin=lambda x: np.sum(mp.sqrt(np.sum(x * x, axis=1))))
at_kink(
    "a group lasso with a group that is zero",
    GROUP_LASSO,
    lambda rng: ((np.array([[1.0, 0, 0], [0, 0, 0], [0, 1, 1]]) * rng.uniform(1, 2, (3, 3)),), {}),
)


def elastic_net(a, w):
    residual = a @ w - 1
    return 0.5 * np.sum(residual * residual) + 0.3 * np.sum(np.abs(w))


def elastic_net_gradient(a, w):
    residual = a @ w - 1
    return np.outer(residual, w), residual @ a + 0.3 * np.where(w == 0, 0.5, np.sign(w))


ELASTIC_NET = of_gradient(elastic_net, elastic_net_gradient)


def sparse_weights(rng):
    return (rng.standard_normal((3, 4)), np.array([1.2, 0.0, -0.7, 0.0])), {}


at_kink("a quadratic and an L1 norm, of weights of which some are zero", ELASTIC_NET, sparse_weights)


def total_variation(x):
    return np.sum(np.abs(np.diff(x)))


def total_variation_gradient(x):
    signs = np.sign(np.diff(x))
    return np.concatenate([[0.0], signs]) - np.concatenate([signs, [0.0]])


TOTAL_VARIATION = of_gradient(total_variation, total_variation_gradient, twin=total_variation)


def a_staircase(rng):
    return (np.repeat([0.0, 1.0, -1.0, 2.0], 5),), {}


at_kink("the total variation of a staircase", TOTAL_VARIATION, a_staircase)


def jumps(x):
    return x[1:, :-1] - x[:-1, :-1], x[:-1, 1:] - x[:-1, :-1]


def isotropic_variation(x, root=np.sqrt):
    down, across = jumps(x)
    return np.sum(root(down * down + across * across))


def isotropic_variation_gradient(x):
    """Zero where a pixel and both its neighbours are equal."""
    down, across = jumps(x)
    size = np.sqrt(down**2 + across**2)
    down, across = (np.divide(jump, size, out=np.zeros_like(size), where=size > 0) for jump in (down, across))
    xbar = np.zeros(np.shape(x))
    xbar[1:, :-1] += down
    xbar[:-1, 1:] += across
    xbar[:-1, :-1] -= down + across
    return xbar


at_kink(
    "the isotropic variation of a picture with flat parts",
    of_gradient(
        lambda x: isotropic_variation(x),
        isotropic_variation_gradient,
        twin=functools.partial(isotropic_variation, root=mp.sqrt),
    ),
    fixed(np.array([[1.0, 1, 0], [1, 1, 2], [3, 1, 2]])),
)


def distances(a, b, root=np.sqrt):
    difference = a[:, None] - b[None]
    return root(np.sum(difference * difference, axis=-1))


def hausdorff(a, b):
    """How far a point of the first set is from the second set at most."""
    return np.max(np.min(distances(a, b), axis=1))


def hausdorff_gradient(a, b):
    """Along the first of the pairs that attain it."""
    apart = distances(a, b)
    i = np.argmax(np.min(apart, axis=1))
    j = np.argmin(apart[i])
    unit = (a[i] - b[j]) / max(apart[i, j], np.finfo(float).tiny)
    abar, bbar = np.zeros(np.shape(a)), np.zeros(np.shape(b))
    abar[i], bbar[j] = unit, -unit
    return abar, bbar


HAUSDORFF = of_gradient(
    hausdorff, hausdorff_gradient, twin=lambda a, b: np.max(np.min(distances(a, b, mp.sqrt), axis=1))
)


def points_of_a_grid(rng):
    return (np.array([[0.0, 0.0], [2.0, 0.0], [0.5, 0.0]]), np.array([[0.0, 1.0], [0.0, -1.0], [2.0, 1.0]])), {}


at_kink("a Hausdorff distance that several pairs attain", HAUSDORFF, points_of_a_grid)


def transport(a, b):
    """The distance between two samples on a line, as of equal masses that are moved."""
    return np.sum(np.abs(np.sort(a) - np.sort(b)))


def transport_gradient(a, b):
    orders = stable_order(a), stable_order(b)
    signs = np.where(np.sort(a) - np.sort(b) >= 0, 1.0, -1.0)
    abar, bbar = np.zeros(len(a)), np.zeros(len(b))
    abar[orders[0]], bbar[orders[1]] = signs, -signs
    return abar, bbar


at_kink(
    "a transport distance of samples with common points and ties",
    of_gradient(transport, transport_gradient),
    lambda rng: ((rng.permutation([1.0, 1.0, 4.0]), rng.permutation([1.0, 3.0, 3.0])), {}),
)

# ------------------------------------------------------------------ losses and networks


def hinge(scores, labels):
    return np.sum(np.maximum(1 - labels * scores, 0 * scores)) / len(scores)


def hinge_gradient(scores, labels):
    """At the margin with the slope inside."""
    return np.where(labels * scores <= 1, -labels, 0.0) / len(scores), NoTangent()


HINGE = of_gradient(hinge, hinge_gradient)
scores_at_the_margin = fixed(np.array([1.0, -1.0, 0.3, 2.0]), np.array([1, -1, -1, 1]))
at_kink("a hinge loss at its margin", HINGE, scores_at_the_margin)


def multiclass_hinge(scores, label):
    rivals = np.concatenate([scores[:label], scores[label + 1 :]])
    return np.maximum(1 + np.max(rivals) - scores[label], 0 * scores[label])


def multiclass_hinge_gradient(scores, label):
    """Half of the slope at the margin, to the first of the best rivals."""
    rival = np.argmax(np.where(np.arange(len(scores)) == label, -np.inf, scores))
    margin = 1 + scores[rival] - scores[label]
    active = np.where(margin > 0, 1.0, np.where(margin < 0, 0.0, 0.5))
    return active * (one_hot(scores, rival) - one_hot(scores, label)), NoTangent()


MULTICLASS_HINGE = of_gradient(multiclass_hinge, multiclass_hinge_gradient)
at_kink(
    "a hinge loss of several classes, at its margin from two rivals",
    MULTICLASS_HINGE,
    lambda rng: ((np.array([1.0, 2.0, 1.0, -1.0]), 1), {}),
)


def pinball(residuals, level=0.3):
    """The loss whose minimiser is a quantile."""
    return np.sum(np.maximum(level * residuals, (level - 1) * residuals))


PINBALL = of_gradient(
    pinball,
    lambda residuals, level=0.3: np.where(residuals > 0, level, np.where(residuals < 0, level - 1, -0.2)),
)
at_kink("a quantile loss of residuals that are zero", PINBALL, fixed(np.array([0.0, 1.0, 0.0, -2.0])))
at_kink(
    "a quantile loss of a level that is given",
    PINBALL,
    lambda rng: ((np.array([[0.0, 1.0], [-1.0, 0.0]]),), {"level": 0.75}),
)


def ranking_loss(positive, negative):
    """How much each positive score lacks to be larger by 1 than each negative one."""
    return np.sum(np.maximum(1 - positive[:, None] + negative[None], 0))


def ranking_loss_gradient(positive, negative):
    active = (1 - positive[:, None] + negative[None] >= 0).astype(float)
    return -np.sum(active, axis=1), np.sum(active, axis=0)


RANKING = of_gradient(ranking_loss, ranking_loss_gradient)
at_kink(
    "a ranking loss with pairs at the margin",
    RANKING,
    fixed(np.array([2.0, 1.0, 0.5]), np.array([1.0, 0.0, -2.0])),
)


def hidden_layer(w, v, x):
    before = w @ x
    return np.sum(v * np.where(before > 0, before, 0 * before))


def hidden_layer_gradient(w, v, x):
    before = w @ x
    slopes = np.where(before > 0, 1.0, np.where(before < 0, 0.0, 0.5))
    return np.outer(v * slopes, x), np.maximum(before, 0), (v * slopes) @ w


HIDDEN_LAYER = of_gradient(hidden_layer, hidden_layer_gradient)


def a_unit_on_its_edge(rng):
    w = np.array([[1.0, -1.0], [2.0, 1.0], [-1.0, -1.0]])
    return (w, rng.uniform(1, 2, 3) * [1, -1, 1], np.array([1.0, 1.0])), {}


at_kink("a hidden layer with a unit on its edge", HIDDEN_LAYER, a_unit_on_its_edge)


def upper_envelope(a, x):
    """The largest of several linear functions."""
    return np.max(a @ x)


def upper_envelope_gradient(a, x):
    weights = with_growing_shares(a @ x)
    return np.outer(weights, x), weights @ a


ENVELOPE = of_gradient(upper_envelope, upper_envelope_gradient)
at_kink(
    "the largest of linear functions at a vertex",
    ENVELOPE,
    fixed(np.array([[1.0, 0.0], [0.0, 1.0], [0.5, 0.5], [-1.0, 1.0]]), np.array([2.0, 2.0])),
)
