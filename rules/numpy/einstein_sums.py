"""The rules of einsum: the cotangent of each factor is again an Einstein sum, of ȳ and the other factors."""

import functools
import string
from dataclasses import dataclass

import numpy as np

from rules.numpy.array_like import as_array, as_array_tangent
from rules.numpy.indexing import scatter
from rules.numpy.reduced_axes import NOT_GIVEN, decline_out, given
from rulescore import AbstractZero, NoTangent, Thunk, ZeroTangent, frule, project_to, rrule, unthunk
from rulescore.projection import NON_DIFFERENTIABLE

NO_TANGENT = NoTangent()
ZERO_TANGENT = ZeroTangent()

LETTERS = string.ascii_uppercase + string.ascii_lowercase
"""The letter of each number in NumPy's form of the call without a string: ordered alike."""


def factors_and_subscripts(operands):
    """Where the factors stand among the arguments, their subscripts, and those of the output or None."""
    if isinstance(operands[0], str):
        inputs, arrow, output = operands[0].replace(" ", "").partition("->")
        return range(1, len(operands)), inputs.split(","), output if arrow else None
    places = range(0, len(operands) - 1, 2)
    has_output = len(operands) % 2 == 1
    return places, [letters(operands[place + 1]) for place in places], letters(operands[-1]) if has_output else None


def letters(sublist):
    return "".join("..." if number is Ellipsis else LETTERS[number] for number in sublist)


def spelled_out(inputs, output, ndims):
    """The subscripts with letters in the place of dots, and those of the output where they were left out."""
    named = "".join(inputs).replace(".", "")
    unused = [letter for letter in LETTERS if letter not in named]
    widths = [
        ndim - len(subscripts) + 3 if "..." in subscripts else 0 for subscripts, ndim in zip(inputs, ndims, strict=True)
    ]
    dots = "".join(unused[: max(widths)])
    if output is None:
        output = "..." + "".join(sorted(letter for letter in named if named.count(letter) == 1))
    # The axes behind dots are aligned at their end, as in broadcasting.
    spelled = [s.replace("...", dots[len(dots) - width :]) for s, width in zip(inputs, widths, strict=True)]
    return spelled, output.replace("...", dots)


@dataclass(frozen=True, slots=True)
class EinsteinSum:
    """An Einstein sum spelled out: the subscripts of the factors and of the output, and the factors' shapes."""

    inputs: list[str]
    output: str
    shapes: list[tuple[int, ...]]
    optimize: object

    def length(self, letter):
        """The length that the axes of a letter have, or are broadcast to."""
        lengths = [shape[s.index(letter)] for s, shape in zip(self.inputs, self.shapes, strict=True) if letter in s]
        return next((length for length in lengths if length != 1), 1)

    def factor_bar(self, i, ybar, factors):
        """The cotangent of factor i; the conjugate of each other factor takes part in the sum, ȳ in the place of y.

        A letter of this factor alone was summed over: its cotangent is copied along it, which a factor of ones does.
        An axis of length 1 may have been broadcast: its letter is left out, so that the sum goes over it.
        """
        subscripts, shape = self.inputs[i], self.shapes[i]
        lengths = dict(zip(subscripts, shape, strict=True))
        wanted = [letter for letter, length in lengths.items() if length != 1]
        others = [j for j in range(len(factors)) if j != i]
        terms = [(self.output, ybar), *[(self.inputs[j], factors[j].conjugate()) for j in others]]
        lone = [letter for letter in wanted if not self.is_full_in(letter, others)]
        if lone:
            ones = np.ones([lengths[letter] for letter in lone], getattr(ybar, "dtype", float))
            terms.append(("".join(lone), ones))
        equation = ",".join(s for s, _ in terms) + "->" + "".join(wanted)
        xbar = np.einsum(equation, *[factor for _, factor in terms], optimize=self.optimize_again())
        xbar = np.reshape(xbar, list(lengths.values()))
        return xbar if len(lengths) == len(subscripts) else spread_on_diagonal(xbar, lengths, subscripts, shape)

    def is_full_in(self, letter, others):
        """Whether ȳ or another factor has the letter's axis in full length, not to be broadcast."""
        if letter in self.output:
            return True
        length = self.length(letter)
        return any(self.shapes[j][self.inputs[j].index(letter)] == length for j in others if letter in self.inputs[j])

    def optimize_again(self):
        """How to optimize a sum of other factors: as the caller said, unless that was a path through these ones."""
        is_path = isinstance(self.optimize, (list, tuple)) and self.optimize[:1] in (["einsum_path"], ("einsum_path",))
        return True if is_path else self.optimize


def spread_on_diagonal(xbar, lengths, subscripts, shape):
    """Put ``xbar``, which has one axis for each letter, where axes of the same letter have the same place."""
    grid = dict(zip(lengths, np.ix_(*map(np.arange, lengths.values())), strict=True))
    return scatter(xbar, tuple(grid[letter] for letter in subscripts), shape, xbar.dtype)


@frule.register(np.einsum)
def einsum_frule(tangents, *operands, out=None, optimize=False, dtype=None, order=NOT_GIVEN, casting=NOT_GIVEN):
    """The sum over the factors of y with the factor's tangent in its place."""
    decline_out(out)
    f = functools.partial(np.einsum, optimize=optimize, **given(dtype=dtype, order=order, casting=casting))
    y, dy = f(*operands), ZERO_TANGENT
    places, _, _ = factors_and_subscripts(operands)
    for place in places:
        dx = as_array_tangent(tangents[1 + place], operands[place])
        if not isinstance(dx, AbstractZero):
            dy = dy + f(*operands[:place], dx, *operands[place + 1 :])
    return y, project_to(y)(dy)


@rrule.register(np.einsum)
def einsum_rrule(*operands, out=None, optimize=False, dtype=None, order=NOT_GIVEN, casting=NOT_GIVEN, needs=None):
    decline_out(out)
    y = np.einsum(*operands, optimize=optimize, **given(dtype=dtype, order=order, casting=casting))
    places, inputs, output = factors_and_subscripts(operands)
    factors = [as_array(operands[place]) for place in places]
    shapes, projects = [np.shape(factor) for factor in factors], [project_to(operands[place]) for place in places]
    summation = EinsteinSum(*spelled_out(inputs, output, [len(shape) for shape in shapes]), shapes, optimize)
    active = [
        i for i, place in enumerate(places) if projects[i] is not NON_DIFFERENTIABLE and (needs is None or needs[place])
    ]
    # A factor is read by the cotangents of the others alone.
    saved = [factor if any(j != i for j in active) else None for i, factor in enumerate(factors)]
    count = len(operands)

    def einsum_pullback(ybar):
        bars = [NO_TANGENT] * count
        for i in active:
            bars[places[i]] = projects[i](Thunk(lambda i=i: summation.factor_bar(i, unthunk(ybar), saved)))
        return NO_TANGENT, *bars

    return y, einsum_pullback
