"""Blocks of a matrix (the rows of one segment, the columns of another), and linear maps between them and elements.

Each map is an operator of its own, since the rules of `pool` are made of them.
"""

from rulescore import frule, pullback_wrt, pushforward, rrule
from rulescore.typing import Array, OutputAndPullback, OutputAndTangent, Struct

from .operator import operator
from .segments import cut_of


class Blocks:
    """The blocks that segments of rows and of columns cut the last two axes of an array into.

    Attributes
    ----------
    rows, cols : Cut
        How each axis is cut.
    """

    __slots__ = ("cols", "rows")

    def __init__(self, rows, cols):
        self.rows, self.cols = rows, cols

    @classmethod
    def of(cls, rows, cols, shape):
        """From what a user gives for segments of the last two axes."""
        return cls(cut_of(rows, shape[-2]), cut_of(cols, shape[-1]))

    @property
    def gathered(self):
        """The same blocks of what `gather` returns, where each is a contiguous part."""
        rows, cols = self.rows.gathered, self.cols.gathered
        return self if rows is self.rows and cols is self.cols else Blocks(rows, cols)

    @property
    def sizes(self):
        """How many elements each block has."""
        return self.rows.lengths[:, None] * self.cols.lengths

    def reduce(self, ufunc, g, empty=0):
        """A ufunc over each block of what has been gathered; ``empty`` where a block has no elements."""
        return self.cols.reduce(ufunc, self.rows.reduce(ufunc, g, -2, empty), -1, empty)


def linear_maps(f, transpose):
    """Make two operators of the linear maps ``f(x, blocks)`` and ``transpose(y, blocks)``, each with its rules."""
    f, transpose = operator()(f), operator()(transpose)
    register_linear_map(f, transpose)
    register_linear_map(transpose, f)
    return f, transpose


def register_linear_map(f, transpose):
    @frule.register(f, object, Blocks, tags=("linear",))
    @pushforward
    def linear_frule(dx: Array, x: Array, blocks: Struct) -> OutputAndTangent:
        return f(x, blocks), f(dx, blocks)

    @rrule.register(f, object, Blocks, tags=("linear",))
    def linear_rrule(x: Array, blocks: Struct) -> OutputAndPullback:
        return f(x, blocks), pullback_wrt(x)(lambda ybar: transpose(ybar, blocks))


def block_sums(x, blocks):
    """The sum of each block."""
    return blocks.cols.sum(blocks.rows.sum(x, -2), -1)


def spread(y, blocks):
    """To each element the sum of what its blocks have: the transpose of `block_sums`."""
    return blocks.rows.spread(blocks.cols.spread(y, -1), -2)


def gather(x, blocks):
    """An array in which each block is a contiguous part: that of the first rows and columns first."""
    return blocks.cols.gather(blocks.rows.gather(x, -2), -1)


def accumulate(g, blocks):
    """To each element the sum of what its copies have: the transpose of `gather`."""
    return blocks.cols.accumulate(blocks.rows.accumulate(g, -2), -1)


block_sums, spread = linear_maps(block_sums, spread)
gather, accumulate = linear_maps(gather, accumulate)
