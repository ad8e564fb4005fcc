"""The rules of einsum: the cotangent of each factor is again an Einstein sum, of ȳ and the other factors."""

import functools
import string
from dataclasses import dataclass

import numpy as np
from rulescore import ZeroTangent, apply_linear, frule, pullback_wrt, pushforward, rrule
from rulescore.typing import Array, Arrays, Choice, DType, Needs, OutputAndPullback, OutputAndTangent

from .array_like import as_array, as_array_tangent, conj
from .indexing import scatter
from .reduced_axes import NOT_GIVEN, decline_out, given

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


@dataclass(frozen=True, slots=True)
class EinsteinSum:
    """An Einstein sum spelled out: the subscripts of the factors and of the output, and the factors' shapes."""

    inputs: tuple[str, ...]
    output: str
    shapes: tuple[tuple[int, ...], ...]

    def length(self, letter):
        """The length that the axes of a letter have, or are broadcast to."""
        lengths = [shape[s.index(letter)] for s, shape in zip(self.inputs, self.shapes, strict=True) if letter in s]
        return next((length for length in lengths if length != 1), 1)

    def is_full_in(self, letter, others):
        """Whether ȳ or another factor has the letter's axis in full length, not to be broadcast."""
        if letter in self.output:
            return True
        length = self.length(letter)
        return any(self.shapes[j][self.inputs[j].index(letter)] == length for j in others if letter in self.inputs[j])


@functools.lru_cache(maxsize=1024)
def spelled_out(inputs, output, shapes):
    """The `EinsteinSum` with letters in the place of dots, and the output's subscripts where they were left out."""
    named = "".join(inputs).replace(".", "")
    unused = [letter for letter in LETTERS if letter not in named]
    widths = [len(shape) - len(s) + 3 if "..." in s else 0 for s, shape in zip(inputs, shapes, strict=True)]
    dots = "".join(unused[: max(widths)])
    if output is None:
        output = "..." + "".join(sorted(letter for letter in named if named.count(letter) == 1))
    # The axes behind dots are aligned at their end, as in broadcasting.
    spelled = [s.replace("...", dots[len(dots) - width :]) for s, width in zip(inputs, widths, strict=True)]
    return EinsteinSum(tuple(spelled), output.replace("...", dots), shapes)


@dataclass(frozen=True, slots=True)
class FactorCotangent:
    """How the cotangent of one factor is computed: as a sum of ȳ, the other factors and a factor of ones.

    ``lengths`` has the length of each letter of the factor. A letter of this factor alone was summed over: its
    cotangent is copied along it, which the factor of ones does. An axis of length 1 may have been broadcast: its letter
    is left out, so that the sum goes over it.
    """

    equation: str
    others: tuple[int, ...]
    shape_of_ones: tuple[int, ...]
    subscripts: str
    lengths: dict[str, int]
    shape: tuple[int, ...]

    def __call__(self, ybar, factors, optimize):
        """The cotangent; the conjugates of the other factors stand where they did, ȳ in the place of y."""
        terms = [ybar, *[conj(factors[j]) for j in self.others]]
        if self.shape_of_ones:
            terms.append(np.ones(self.shape_of_ones, getattr(ybar, "dtype", float)))
        xbar = np.reshape(np.einsum(self.equation, *terms, optimize=optimize), list(self.lengths.values()))
        if len(self.lengths) == len(self.subscripts):
            return xbar
        # Axes of the same letter have the same place; everywhere else the cotangent is zero.
        places = dict(zip(self.lengths, np.ix_(*map(np.arange, self.lengths.values())), strict=True))
        return scatter(xbar, tuple(places[letter] for letter in self.subscripts), self.shape, xbar.dtype)


@functools.lru_cache(maxsize=1024)
def factor_cotangent(summation, i):
    """The `FactorCotangent` of factor ``i``."""
    subscripts, shape = summation.inputs[i], summation.shapes[i]
    others = tuple(j for j in range(len(summation.inputs)) if j != i)
    lengths = dict(zip(subscripts, shape, strict=True))
    wanted = [letter for letter, length in lengths.items() if length != 1]
    lone = [letter for letter in wanted if not summation.is_full_in(letter, others)]
    terms = [summation.output, *[summation.inputs[j] for j in others], *["".join(lone)] * bool(lone)]
    equation = ",".join(terms) + "->" + "".join(wanted)
    return FactorCotangent(equation, others, tuple(lengths[letter] for letter in lone), subscripts, lengths, shape)


def optimization_of_other_sums(optimize):
    """As the caller said, unless that was a path, which fits none but the caller's own sum."""
    is_path = isinstance(optimize, (list, tuple)) and len(optimize) > 0 and optimize[0] == "einsum_path"
    return True if is_path else optimize


def with_array_factors(operands, places):
    """The operands with arrays in the place of factors that are lists."""
    return [as_array(operand) if i in places else operand for i, operand in enumerate(operands)]


@frule.register(np.einsum)
@pushforward
def einsum_frule(
    doperands: Arrays,
    *operands: Arrays,
    out: Array = None,
    optimize: Choice = False,
    dtype: DType = None,
    order: Choice = NOT_GIVEN,
    casting: Choice = NOT_GIVEN,
) -> OutputAndTangent:
    """The sum over the factors of y with the factor's tangent in its place."""
    decline_out(out)
    f = functools.partial(np.einsum, optimize=optimize, **given(dtype=dtype, order=order, casting=casting))
    places, _, _ = factors_and_subscripts(operands)
    arrays = with_array_factors(operands, places)

    def along(place):
        dx = as_array_tangent(doperands[place], operands[place])
        return apply_linear(lambda dx: f(*arrays[:place], dx, *arrays[place + 1 :]), dx)

    return f(*arrays), sum(map(along, places), ZeroTangent())


@rrule.register(np.einsum)
def einsum_rrule(
    *operands: Arrays,
    out: Array = None,
    optimize: Choice = False,
    dtype: DType = None,
    order: Choice = NOT_GIVEN,
    casting: Choice = NOT_GIVEN,
    needs: Needs = None,
) -> OutputAndPullback:
    decline_out(out)
    places, inputs, output = factors_and_subscripts(operands)
    arrays = with_array_factors(operands, places)
    y = np.einsum(*arrays, optimize=optimize, **given(dtype=dtype, order=order, casting=casting))
    factors = [arrays[place] for place in places]
    summation = spelled_out(tuple(inputs), output, tuple(map(np.shape, factors)))
    optimize = optimization_of_other_sums(optimize)

    def bar_of(place):
        if place not in places:
            return None  # which is not called
        i = places.index(place)
        others = [*factors[:i], None, *factors[i + 1 :]]  # so a factor is kept for the cotangents of the others alone
        return lambda ybar: factor_cotangent(summation, i)(ybar, others, optimize)

    return y, pullback_wrt(*operands, needs=needs)(*map(bar_of, range(len(operands))))
