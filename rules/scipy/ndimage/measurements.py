"""Rules of the measurements of `scipy.ndimage`: sums, means, extrema of the elements that carry each label.

They are written in functions of NumPy's that can be differentiated. An element that is an extremum or a median together
with others of the same value shares the cotangent with them.
"""

import numpy as np
from multipledispatch import MDNotImplementedError

from rulescore import non_differentiable
from scipy import ndimage

from ...numpy.array_like import as_array, shape_of
from ...numpy.indexing import scatter
from ..linear_maps import composed
from .boundaries import fixed

# ---------------------------------------------------------------- groups


class Groups:
    """The elements that are measured together.

    Attributes
    ----------
    input_shape : tuple of int
        That of the input, broadcast with the labels.
    shape : tuple of int
        That of the results.
    count : int
        How many results there are.
    places : ndarray
        Which elements take part, by their number in the flattened input.
    group : ndarray
        The result that each of them belongs to, in the same order.
    """

    def __init__(self, input_shape, labels, index):
        if labels is None:  # SciPy then measures everything, whatever the index
            labels, index = np.ones(input_shape, int), 1
        self.input_shape = np.broadcast_shapes(input_shape, np.shape(labels))
        labels = np.broadcast_to(np.asarray(labels), self.input_shape).reshape(-1)
        if index is None:  # everything but the background
            labels, index = (labels > 0).astype(int), 1
        index = np.asarray(index)
        self.shape, flat = index.shape, index.reshape(-1)
        self.count = flat.size
        if len(np.unique(flat)) < self.count:
            raise MDNotImplementedError  # a label that is measured twice
        group = self.number_of(labels, flat)
        self.places = np.flatnonzero(group >= 0)
        self.group = group[self.places]

    @staticmethod
    def number_of(labels, index):
        """The number of each label within the index; -1 where it is not there."""
        numbers = np.arange(len(index))
        if labels.dtype.kind in "iu" and labels.size and labels.min() >= 0 and labels.max() <= labels.size:
            table = np.full(int(labels.max()) + 1, -1)
            known = (index >= 0) & (index < len(table))
            table[index[known].astype(int)] = numbers[known]
            return table[labels]
        order = np.argsort(index)
        place = np.minimum(np.searchsorted(index[order], labels), max(len(index) - 1, 0))
        return np.where(index[order][place] == labels, order[place], -1) if len(index) else np.full(labels.size, -1)

    def elements(self, x):
        """Those that take part."""
        x = as_array(x)
        if np.iscomplexobj(x):
            raise MDNotImplementedError
        x = x if np.shape(x) == self.input_shape else np.broadcast_to(x, self.input_shape)
        return np.reshape(x, -1)[self.places] * 1.0

    def sums(self, elements):
        return scatter(elements, (self.group,), (self.count,), np.result_type(elements))

    @property
    def counts(self):
        return np.bincount(self.group, minlength=self.count)

    def result(self, y):
        return np.reshape(y, self.shape)[()]


def in_doubles(elements):
    """As SciPy, which sums in double precision."""
    return elements if elements.dtype == np.float64 else elements.astype(np.float64)


def summed(input, labels, index):
    """In double precision, as SciPy sums several groups; one group it sums in the precision of the input."""
    groups = Groups(shape_of(input), labels, index)
    elements = groups.elements(input)
    sums = groups.sums(in_doubles(elements))
    return groups.result(sums if groups.shape or elements.dtype == sums.dtype else sums.astype(elements.dtype))


@composed(ndimage.sum_labels)
def sum_labels(input, labels=None, index=None):
    return summed(input, labels, index)


@composed(ndimage.sum)
def sum_of(input, labels=None, index=None):
    return summed(input, labels, index)


def means(groups, elements):
    with np.errstate(invalid="ignore", divide="ignore"):
        return groups.sums(elements) / groups.counts


def variances(groups, elements):
    centred = elements - means(groups, elements)[groups.group]
    return means(groups, centred**2)


@composed(ndimage.mean)
def mean(input, labels=None, index=None):
    groups = Groups(shape_of(input), labels, index)
    return groups.result(means(groups, in_doubles(groups.elements(input))))


@composed(ndimage.variance)
def variance(input, labels=None, index=None):
    groups = Groups(shape_of(input), labels, index)
    return groups.result(variances(groups, in_doubles(groups.elements(input))))


@composed(ndimage.standard_deviation)
def standard_deviation(input, labels=None, index=None):
    """The root of the variance, with derivative zero where all elements are equal."""
    groups = Groups(shape_of(input), labels, index)
    squares = variances(groups, in_doubles(groups.elements(input)))
    is_zero = fixed(squares) == 0
    return groups.result(np.where(is_zero, 0.0, np.sqrt(np.where(is_zero, 1.0, squares))))


@composed(ndimage.center_of_mass)
def center_of_mass(input, labels=None, index=None):
    shape = shape_of(input)
    groups = Groups(shape, labels, index)
    if groups.input_shape != shape:
        raise MDNotImplementedError
    elements = in_doubles(groups.elements(input))
    total = groups.sums(elements)
    grids = [grid.reshape(-1)[groups.places] for grid in np.indices(shape)]
    centers = [groups.sums(elements * grid) / total for grid in grids]
    if groups.shape == ():
        return tuple([center[0] for center in centers])
    if len(groups.shape) > 1:
        raise MDNotImplementedError
    return [tuple([center[i] for center in centers]) for i in range(groups.count)]


# ---------------------------------------------------------------- elements in order


def ranked(groups, elements, picks):
    """Elements by their rank in their group, where a tie is a mean of all that are tied.

    Parameters
    ----------
    picks : callable
        The ranks, from the number of elements of each group.
    """
    values = fixed(elements)
    order = np.lexsort((values, groups.group))
    in_order, group = np.asarray(values)[order], groups.group[order]
    starts_tie = np.ones(len(order), bool)
    starts_tie[1:] = (in_order[1:] != in_order[:-1]) | (group[1:] != group[:-1])
    tie = np.cumsum(starts_tie) - 1
    sizes = np.bincount(tie, minlength=1)
    sums = scatter(elements[order], (tie,), (len(sizes),), np.result_type(elements))
    firsts = np.concatenate([[0], np.cumsum(groups.counts)[:-1]])
    ranks = picks(groups.counts)
    has_some = groups.counts > 0
    here = tie[np.where(has_some, firsts + ranks, 0)] if len(order) else np.zeros(groups.count, int)
    return np.where(has_some, sums[here] / sizes[here].astype(sums.dtype), 0)


def decline_nan(elements):
    if np.isnan(fixed(elements)).any():
        raise MDNotImplementedError


def of_rank(input, labels, index, picks):
    groups = Groups(shape_of(input), labels, index)
    elements = groups.elements(input)
    decline_nan(elements)
    return groups.result(ranked(groups, elements, picks))


def least(counts):
    return np.zeros_like(counts)


def greatest(counts):
    return counts - 1


@composed(ndimage.minimum)
def minimum(input, labels=None, index=None):
    return of_rank(input, labels, index, least)


@composed(ndimage.maximum)
def maximum(input, labels=None, index=None):
    return of_rank(input, labels, index, greatest)


@composed(ndimage.median)
def median(input, labels=None, index=None):
    if not Groups(shape_of(input), labels, index).counts.all():
        raise MDNotImplementedError  # for a label that is not there, SciPy returns elements of another one
    low = of_rank(input, labels, index, lambda counts: np.maximum(counts - 1, 0) // 2)
    return (low + of_rank(input, labels, index, lambda counts: np.minimum(counts // 2, counts - 1))) / 2


@composed(ndimage.extrema)
def extrema(input, labels=None, index=None):
    """The values; where they are is an index."""
    *_, least_at, greatest_at = ndimage.extrema(fixed(input), labels, index)
    return (
        of_rank(input, labels, index, least),
        of_rank(input, labels, index, greatest),
        least_at,
        greatest_at,
    )


non_differentiable(
    ndimage.minimum_position,
    ndimage.maximum_position,
    ndimage.label,
    ndimage.find_objects,
    ndimage.histogram,
    ndimage.value_indices,
    ndimage.binary_closing,
    ndimage.binary_dilation,
    ndimage.binary_erosion,
    ndimage.binary_fill_holes,
    ndimage.binary_hit_or_miss,
    ndimage.binary_opening,
    ndimage.binary_propagation,
    ndimage.distance_transform_cdt,
    ndimage.watershed_ift,
)
