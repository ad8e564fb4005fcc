"""Rules that write where they must not, and rules that are wrong for some layouts of the memory."""

import numpy as np

from corpora.corpus import Differentiable, normal
from corpora.wrong.entry import wrong
from corpora.wrong.functions import EXP, SINE, SQUARE, SUM_OF_SQUARES, TRANSFORM, sum_of_squares
from rulescore import AbstractZero, NoTangent, ZeroTangent, project_to, unthunk


# ================================================================== kind: purity
def rrule_that_writes_into_its_argument(x):
    """Sorts in the place of a copy, as ``x.sort()`` does."""

    def pullback(ybar):
        x.sort()
        return SUM_OF_SQUARES.rrule(x)[1](ybar)

    return sum_of_squares(x), pullback


def rrule_that_uses_its_argument_for_the_result(x):
    y = np.exp(x)

    def pullback(ybar):
        np.multiply(y, unthunk(ybar) + np.zeros_like(y), out=x)
        return NoTangent(), x

    return y, pullback


def rrule_that_writes_into_the_argument_before_the_pullback(x):
    y, pullback = SQUARE.rrule(x.copy())
    x *= 2
    return y, pullback


def rrule_that_writes_into_the_cotangent(x):
    y = np.exp(x)

    def pullback(ybar):
        ybar = unthunk(ybar)
        if isinstance(ybar, AbstractZero):
            return NoTangent(), ybar
        ybar *= y
        return NoTangent(), project_to(x)(ybar)

    return y, pullback


def rrule_that_writes_through_a_view_of_the_cotangent(x):
    y = np.sin(x)

    def pullback(ybar):
        ybar = unthunk(ybar)
        if isinstance(ybar, AbstractZero):
            return NoTangent(), ybar
        view = ybar[::-1]
        view *= np.cos(x)[::-1]
        return NoTangent(), project_to(x)(np.array(ybar))

    return y, pullback


def rrule_that_writes_through_a_view_of_the_argument(a, x):
    """The matrix is transposed (a view) and scaled in place."""
    y = a @ x

    def pullback(ybar):
        _, abar, xbar = TRANSFORM.rrule(a, x)[1](ybar)
        transposed = a.T
        transposed *= 0.5
        return NoTangent(), abar, xbar

    return y, pullback


def frule_that_writes_into_the_tangent(tangents, x):
    _, dx = tangents
    y, dy = EXP.frule(tangents, x)
    if isinstance(dx, np.ndarray):
        dx[...] = dy
    return y, dy


def frule_that_writes_into_the_argument(tangents, x):
    result = SQUARE.frule(tangents, x)
    x += 1e-12 * np.abs(x) + 1e-12
    return result


def rrule_with_one_buffer_for_all_results(x):
    """Every call of the pullback answers with the same array."""
    y = np.exp(x)
    buffer = np.empty_like(y)

    def pullback(ybar):
        ybar = unthunk(ybar)
        if isinstance(ybar, AbstractZero):
            return NoTangent(), ybar
        np.multiply(np.conj(y), ybar, out=buffer)
        return NoTangent(), project_to(x)(buffer)

    return y, pullback


_SHARED_BUFFERS: dict[tuple, np.ndarray] = {}


def frule_with_one_buffer_for_all_calls(tangents, x):
    y, dy = SINE.frule(tangents, x)
    if isinstance(dy, AbstractZero):
        return y, dy
    buffer = _SHARED_BUFFERS.setdefault((np.shape(dy), np.asarray(dy).dtype), np.empty_like(dy))
    buffer[...] = dy
    return y, buffer


def rrule_that_overwrites_the_output(x):
    """The output is kept for the pullback, which uses it up."""
    y = np.exp(x)

    def pullback(ybar):
        ybar = unthunk(ybar)
        if isinstance(ybar, AbstractZero):
            return NoTangent(), ybar
        xbar = np.conj(y) * ybar
        y[...] = 0
        return NoTangent(), project_to(x)(xbar)

    return y, pullback


def rrule_that_accumulates_its_cotangents(x):
    """Adds to what the last call returned, as if the caller wanted the sum."""
    y, pullback = SINE.rrule(x)
    total = ZeroTangent()

    def accumulating_pullback(ybar):
        nonlocal total
        total = total + pullback(ybar)[1]
        return NoTangent(), total

    return y, accumulating_pullback


def rrule_that_forgets_what_it_saved(x):
    """Frees its memory after the first call, and answers zero from then on."""
    y, pullback = SQUARE.rrule(x)
    saved = [pullback]

    def forgetting_pullback(ybar):
        return saved.pop()(ybar) if saved else (NoTangent(), ZeroTangent())

    return y, forgetting_pullback


def deep_copy(x):
    return np.array(x, copy=True)


COPY = Differentiable(deep_copy, jvp=lambda dx, x: np.array(dx), vjp=lambda ybar, x: np.array(ybar))


def rrule_whose_output_is_the_argument(x):
    """The function copies, and the rule's output is the argument itself: who writes to one writes to the other."""
    _, pullback = COPY.rrule(x)
    return x, pullback


def flattened(x):
    return x.flatten()


FLATTEN = Differentiable(
    flattened, jvp=lambda dx, x: dx.flatten(), vjp=lambda ybar, x: np.array(ybar).reshape(np.shape(x))
)


def frule_whose_output_is_a_view_of_the_argument(tangents, x):
    _, dy = FLATTEN.frule(tangents, x)
    return x.reshape(-1), dy


for name, right, inputs, rule in (
    ("a pullback sorts the argument in place", SUM_OF_SQUARES, normal(6), rrule_that_writes_into_its_argument),
    ("a cotangent that is the argument's own memory", EXP, normal(5), rrule_that_uses_its_argument_for_the_result),
    (
        "a rule that scales its argument when it is called",
        SQUARE,
        normal((2, 3)),
        rrule_that_writes_into_the_argument_before_the_pullback,
    ),
    ("a cotangent multiplied in place", EXP, normal(5), rrule_that_writes_into_the_cotangent),
    (
        "a cotangent multiplied in place through a view of it",
        SINE,
        normal((3, 2)),
        rrule_that_writes_through_a_view_of_the_cotangent,
    ),
    (
        "an argument scaled in place through its transpose",
        TRANSFORM,
        normal((3, 4), 4),
        rrule_that_writes_through_a_view_of_the_argument,
    ),
    ("one buffer for the results of all calls of a pullback", EXP, normal(6), rrule_with_one_buffer_for_all_results),
    ("an output that the pullback uses up", EXP, normal(5), rrule_that_overwrites_the_output),
    ("a pullback that adds up what it returns", SINE, normal(4), rrule_that_accumulates_its_cotangents),
    ("a pullback that works once", SQUARE, normal(4), rrule_that_forgets_what_it_saved),
    ("the argument itself for an output that is a copy", COPY, normal(5), rrule_whose_output_is_the_argument),
):
    wrong(name, "purity", right, inputs, rrule=rule)

for name, right, inputs, rule in (
    ("a tangent overwritten by the pushforward", EXP, normal(5), frule_that_writes_into_the_tangent),
    ("a pushforward that moves its argument a little", SQUARE, normal(5), frule_that_writes_into_the_argument),
    ("one buffer for the pushforwards of all calls", SINE, normal(7), frule_with_one_buffer_for_all_calls),
    (
        "a view of the argument for an output that is a copy",
        FLATTEN,
        normal((2, 3)),
        frule_whose_output_is_a_view_of_the_argument,
    ),
):
    wrong(name, "purity", right, inputs, frule=rule)


# ================================================================== kind: layout
def in_fortran_order(*args):
    return tuple(map(np.asfortranarray, args))


def backwards(*args):
    """The same values, laid out from the end of the memory to its beginning."""
    return tuple(np.flip(np.flip(x).copy()) for x in args)


def not_contiguous(*args):
    """The same values, in every second place of the memory."""
    return tuple(np.repeat(x, 2, axis=-1)[..., ::2] for x in args)


def read_only(*args):
    copies = tuple(x.copy() for x in args)
    for x in copies:
        x.setflags(write=False)
    return copies


def in_the_order_of_memory(x):
    """The entries in the order in which they lie in memory, reshaped as if that were C order."""
    return np.ravel(x, order="K").reshape(np.shape(x))


def square_vjp_filling_a_view(ybar, x):
    """``ravel`` is a view of arrays in C order, and a copy of all others: what is written to it is lost."""
    xbar = np.zeros_like(x, np.result_type(x, ybar))
    xbar.ravel()[:] = (2 * np.conj(x) * ybar).ravel()
    return xbar


def unflipped(x):
    """For a library that knows no negative strides: flips them away, and forgets to flip back."""
    is_backwards = np.ndim(x) > 0 and np.size(x) > 1 and all(stride < 0 for stride in x.strides)
    return np.flip(x) if is_backwards else x


def square_vjp_of_a_buffer(ybar, x):
    """Hands the memory over to another library, which wants it contiguous."""
    values = np.frombuffer(x, x.dtype).reshape(x.shape) if np.size(x) else x
    return 2 * np.conj(values) * ybar


def square_vjp_by_moving_the_argument(ybar, x):
    """2x from the squares of x + 1 and x - 1, whose points are made in place; afterwards the argument is restored."""
    if x.dtype.kind not in "fc":
        return 2 * x * ybar
    original = x.copy()
    x += 1
    above = x**2
    x[...] = original
    x -= 1
    below = x**2
    x[...] = original
    return np.conj((above - below) / 2) * ybar


def sine_vjp_in_the_memory_of_the_cotangent(ybar, x):
    """Doubles the cotangent in place and halves it again: nothing is left to see, unless it may not be written to."""
    if not isinstance(ybar, np.ndarray):
        return np.conj(np.cos(x)) * ybar
    ybar *= 2
    xbar = 0.5 * np.conj(np.cos(x)) * ybar
    ybar *= 0.5
    return xbar


def matrix_for_lapack(x):
    """The matrix as LAPACK would see it: an array in Fortran order is taken for a transposed one."""
    return x.T if x.ndim == 2 and x.flags.f_contiguous and not x.flags.c_contiguous else x


SQUARE_MATRIX = normal((4, 4))
for name, right, vjp, variant in (
    (
        "an argument read in the order of its memory",
        EXP,
        lambda ybar, x: np.conj(np.exp(in_the_order_of_memory(x))) * ybar,
        in_fortran_order,
    ),
    (
        "a cotangent read in the order of its memory",
        EXP,
        lambda ybar, x: np.conj(np.exp(x)) * in_the_order_of_memory(ybar),
        in_fortran_order,
    ),
    ("a result filled through a view that may be a copy", SQUARE, square_vjp_filling_a_view, in_fortran_order),
    (
        "a matrix transposed for LAPACK when it is in Fortran order",
        SQUARE,
        lambda ybar, x: 2 * np.conj(matrix_for_lapack(x)) * ybar,
        in_fortran_order,
    ),
    (
        "an argument with negative strides flipped for a library",
        EXP,
        lambda ybar, x: np.conj(np.exp(unflipped(x))) * ybar,
        backwards,
    ),
    (
        "a cotangent with negative strides flipped for a library",
        SINE,
        lambda ybar, x: np.conj(np.cos(x)) * unflipped(ybar),
        backwards,
    ),
    ("an argument that has to be contiguous", SQUARE, square_vjp_of_a_buffer, not_contiguous),
    ("an argument moved and put back", SQUARE, square_vjp_by_moving_the_argument, read_only),
    ("a cotangent used as working memory", SINE, sine_vjp_in_the_memory_of_the_cotangent, read_only),
):
    wrong(name, "layout", right, SQUARE_MATRIX, vjp=vjp, revealed_by=variant)

for name, right, jvp, variant in (
    (
        "a tangent read in the order of its memory",
        SINE,
        lambda dx, x: np.cos(x) * in_the_order_of_memory(dx),
        in_fortran_order,
    ),
    (
        "an argument read in the order of its memory by the pushforward",
        SQUARE,
        lambda dx, x: 2 * in_the_order_of_memory(x) * dx,
        in_fortran_order,
    ),
):
    wrong(name, "layout", right, SQUARE_MATRIX, jvp=jvp, revealed_by=variant)
