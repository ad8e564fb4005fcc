"""Why some pullbacks cost more than `MUCH` times the primal."""

from __future__ import annotations

OF_A_VIEW = "the primal only makes a view, in less than some microseconds; the pullback has to make an array"
OF_NOTHING = "the primal returns its argument; the microseconds are those of finding the rule and of calling it"
OF_ONE_PASS = "the primal is one pass of vector instructions; the pullback compares, shares ties and multiplies"
OF_PRODUCTS = "exact with zeros and without overflow: the products of all others, from the left and from the right"
OF_SORTING = "NumPy sorts numbers by vector instructions; the pullback needs the order, and argsort has none"
OF_ROOTS = "a square root and a quotient, which vector instructions are slow at, against polynomials in the primal"
OF_FEW_ELEMENTS = "the primal reads few elements of the matrix; the cotangent has all of them"
OF_TWO_MATRICES = "the primal reads its arguments once and writes little; the pullback writes as much as it read"

REASONS: dict[str, str] = {
    **dict.fromkeys(("asarray", "asanyarray", "ascontiguousarray", "require", "real", "real_if_close"), OF_NOTHING),
    **dict.fromkeys(
        (
            *("flip", "fliplr", "flipud", "ravel", "atleast_1d", "atleast_2d", "atleast_3d", "squeeze", "transpose"),
            *("permute_dims", "matrix_transpose", "linalg.matrix_transpose", "linalg.diagonal", "diagonal", "diag"),
            *("array_split", "split", "vsplit", "hsplit", "dsplit", "unstack", "broadcast_to", "broadcast_arrays"),
            *("rollaxis", "moveaxis", "swapaxes", "reshape", "ix_", "expand_dims", "imag", "rot90"),
        ),
        OF_A_VIEW,
    ),
    **dict.fromkeys(
        ("abs", "absolute", "fmax", "fmin", "maximum", "minimum", "clip", "nanmax", "nanmin", "max", "min"), OF_ONE_PASS
    ),
    **dict.fromkeys(("prod", "nanprod", "cumprod", "cumulative_prod", "nancumprod"), OF_PRODUCTS),
    **dict.fromkeys(("sort", "partition"), OF_SORTING),
    **dict.fromkeys(("trace", "linalg.trace"), OF_FEW_ELEMENTS),
    **dict.fromkeys(("vdot", "vecdot", "linalg.vecdot", "matvec", "vecmat"), OF_TWO_MATRICES),
    **dict.fromkeys(("acos", "arccos", "acosh", "arccosh", "asin", "arcsin"), OF_ROOTS),
    **dict.fromkeys(("divide", "true_divide"), "two cotangents: two quotients and a product, where the primal is one"),
    **dict.fromkeys(("pow", "power"), "two cotangents: a power, a logarithm and what is right at 0"),
    "frexp": "the primal takes the bits of a number apart; the pullback scales by powers of 2, and ldexp is slow",
    "linalg.cholesky": "two triangular solves and a product of matrices, for a third of such a product in the primal",
    "delete": "the primal copies what is left; the pullback puts it back by index",
    "insert": "the primal copies; the pullback takes out by index",
    "repeat": "the primal copies; the pullback sums what is repeated",
    "pad": "the primal copies; the pullback adds what the border repeats",
    "histogram_bin_edges": "the primal needs the smallest and the largest number; the pullback shares among ties",
    "linspace": "the pullback sums with weights, twice; the primal makes the points",
    "poly": "the pullback multiplies all roots but one, for each of them",
}
