"""One call of each function of NumPy that has rules, large enough that its numbers and not its overhead take the time.

Arrays have 100 000 elements, matrices 200 x 200 elements where a factorisation takes their third power.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

COUNT = 100_000
ROWS, COLUMNS = 400, 250
SIZE = 200


@dataclass(frozen=True)
class Call:
    """Arguments for a function; arrays of real or complex numbers among them are differentiated.

    Attributes
    ----------
    args, kwargs
        The arguments, arrays also within lists.
    constants : tuple of int
        Positions of arguments that are held constant though they are floats.
    """

    args: tuple[Any, ...]
    kwargs: dict[str, Any] = field(default_factory=dict)
    constants: tuple[int, ...] = ()


def call(*args: Any, constants: tuple[int, ...] = (), **kwargs: Any) -> Call:
    return Call(args, kwargs, constants)


def between(low: float, high: float, *shape: int) -> Any:
    return _rng.uniform(low, high, shape or (COUNT,))


_rng = np.random.default_rng(0)

ELEMENTWISE = {
    (0.1, 0.9): (
        "abs absolute acos angle arccos arcsin arctanh asin atanh cbrt conj conjugate copy cos cosh deg2rad degrees "
        "exp exp2 expm1 fabs imag log log10 log1p log2 modf nan_to_num negative positive rad2deg radians real "
        "real_if_close reciprocal sign sin sinc sinh sqrt square tan tanh arctan atan arcsinh asinh i0 frexp"
    ),
    (1.1, 3.0): "acosh arccosh",
}
"""Functions of one argument, by the interval that it is taken from."""

OF_TWO = (
    "add arctan2 atan2 copysign divide divmod float_power fmax fmin fmod heaviside hypot logaddexp logaddexp2 maximum "
    "minimum mod multiply nextafter pow power remainder subtract true_divide"
)

REDUCTIONS = (
    "sum mean prod var std max min amax amin ptp median average nansum nanprod nanmean nanvar nanstd nanmax nanmin "
    "nanmedian cumsum cumprod cumulative_sum cumulative_prod nancumsum nancumprod sort sort_complex diff gradient "
    "ediff1d flip fliplr flipud rot90 ravel unwrap trapezoid unique unique_all unique_counts unique_inverse "
    "unique_values array asarray asanyarray asarray_chkfinite ascontiguousarray asfortranarray require atleast_1d "
    "atleast_2d atleast_3d squeeze transpose permute_dims matrix_transpose tril triu trim_zeros"
)
"""Functions of one array that need no other argument."""


def matrices() -> dict[str, Call]:
    """Calls of `numpy.linalg`, and of what multiplies matrices."""
    normal = _rng.standard_normal
    regular = normal((SIZE, SIZE)) + 4 * np.sqrt(SIZE) * np.eye(SIZE)
    symmetric = regular + regular.T
    positive = normal((SIZE, SIZE))
    positive = positive @ positive.T + SIZE * np.eye(SIZE)
    tall, square = normal((2 * SIZE, SIZE)), normal((SIZE, SIZE))
    calls = {f"linalg.{name}": call(regular) for name in ("inv", "slogdet", "eig", "eigvals", "cond")}
    calls |= {f"linalg.{name}": call(symmetric) for name in ("eigh", "eigvalsh")}
    calls |= {f"linalg.{name}": call(tall) for name in ("qr", "svdvals", "pinv", "matrix_norm", "norm", "vector_norm")}
    calls |= {f"linalg.{name}": call(square) for name in ("trace", "diagonal", "matrix_transpose")}
    products = ("matmul", "dot", "inner", "vdot", "linalg.matmul", "vecdot", "linalg.vecdot", "kron", "outer")
    small = {"kron": (normal((20, 20)), normal((20, 20))), "outer": (normal(SIZE), normal(SIZE))}
    calls |= {name: call(*small.get(name, (square, square))) for name in products}
    vector, vectors = normal(SIZE), normal((COUNT // 3, 3))
    return calls | {
        "linalg.det": call(regular / np.sqrt(SIZE)),  # that of the regular one itself overflows
        "linalg.cholesky": call(positive),
        "linalg.svd": call(tall, full_matrices=False),
        "linalg.solve": call(regular, normal((SIZE, 10))),
        "linalg.lstsq": call(tall, normal((2 * SIZE, 10))),
        "linalg.matrix_power": call(square / SIZE, 5),
        "linalg.multi_dot": call([square, square, square]),
        "linalg.tensorinv": call(regular.reshape(SIZE, 10, SIZE // 10), ind=1),
        "linalg.tensorsolve": call(regular.reshape(SIZE, 10, SIZE // 10), vector),
        "linalg.outer": call(vector, vector),
        "linalg.cross": call(vectors, vectors),
        "linalg.tensordot": call(square, square, axes=1),
        "cross": call(vectors, vectors),
        "tensordot": call(square, square, axes=1),
        "einsum": call("ij,jk->ik", square, square),
        "matvec": call(square, vector),
        "vecmat": call(vector, square),
        "trace": call(square),
        "diagonal": call(square),
        "diag": call(square),
        "diagflat": call(vector),
    }


def transforms() -> dict[str, Call]:
    """Calls of `numpy.fft`."""
    real, image = between(-1, 1), between(-1, 1, ROWS, COLUMNS)
    names_1d, names_nd = "rfft ihfft fftshift ifftshift", "rfft2 rfftn fftshift"
    calls = {f"fft.{name}": call(real) for name in names_1d.split()}
    calls |= {f"fft.{name}": call(image) for name in names_nd.split()}
    calls |= {f"fft.{name}": call(real + 1j * real) for name in ("fft", "ifft", "irfft", "hfft")}
    calls |= {
        f"fft.{name}": call(image + 1j * image) for name in ("fft2", "ifft2", "fftn", "ifftn", "irfft2", "irfftn")
    }
    return calls | {"fft.fftfreq": call(COUNT, 0.1), "fft.rfftfreq": call(COUNT, 0.1)}


def assemblies() -> dict[str, Call]:
    """Calls of what takes arrays apart and puts them together."""
    x, image, index = between(-1, 1), between(-1, 1, ROWS, COLUMNS), _rng.integers(0, COUNT, COUNT)
    joined = ("concatenate", "concat", "stack", "hstack", "vstack", "dstack", "column_stack", "row_stack", "block")
    calls = {name: call([x, x, x]) for name in joined}
    calls |= {name: call(image, 5) for name in ("split", "array_split", "vsplit", "hsplit")}
    calls |= {name: call(x, between(-1, 1)) for name in ("append", "union1d", "setdiff1d", "setxor1d", "intersect1d")}
    return calls | {
        "dsplit": call(image.reshape(ROWS, 10, COLUMNS // 10), 5),
        "unstack": call(image.reshape(10, -1)),  # of a thousand rows JAX takes minutes to compile it
        "astype": call(x, np.float32),
        "broadcast_to": call(between(-1, 1, COLUMNS), (ROWS, COLUMNS)),
        "broadcast_arrays": call(image, between(-1, 1, COLUMNS)),
        "choose": call(index % 2, [x, x]),
        "clip": call(x, -0.5, 0.5),
        "compress": call(x > 0, x),
        "extract": call(x > 0, x),
        "select": call([x > 0, x > -0.5], [x, x]),
        "where": call(x > 0, x, between(-1, 1)),
        "delete": call(x, 5),
        "insert": call(x, 5, between(-1, 1, 10)),
        "expand_dims": call(x, 0),
        "moveaxis": call(image, 0, 1),
        "rollaxis": call(image, 1),
        "swapaxes": call(image, 0, 1),
        "reshape": call(x, (COLUMNS, ROWS)),
        "resize": call(x, (2 * COUNT,)),
        "repeat": call(x, 3),
        "tile": call(x, 3),
        "roll": call(x, 7),
        "pad": call(image, 3, mode="reflect"),
        "partition": call(x, COUNT // 2),
        "take": call(x, index),
        "take_along_axis": call(x, index, 0),
        "meshgrid": call(between(-1, 1, ROWS), between(-1, 1, COLUMNS)),
        "ix_": call(between(-1, 1, ROWS), between(-1, 1, COLUMNS)),
        "vander": call(between(-1, 1, COUNT // 10), 10),
        "full": call((COUNT,), between(1, 2, 1)),
        "full_like": call(x, between(1, 2, 1), constants=(0,)),
        "ldexp": call(x, 3),
    }


def analyses() -> dict[str, Call]:
    """Calls of what interpolates, smooths, counts and evaluates polynomials."""
    x, image, knots = between(0, 1), between(-1, 1, ROWS, COLUMNS), np.linspace(0, 1, 1000)
    kernel, few = between(-1, 1, 100), np.sort(between(0, 1, 1000))
    quantiles = ("quantile", "percentile", "nanquantile", "nanpercentile")
    calls = {name: call(x, 0.3, constants=(1,)) for name in quantiles}
    return calls | {
        "interp": call(x, knots, np.sin(knots)),
        "convolve": call(x, kernel),
        "correlate": call(x, kernel),
        "cov": call(image[:50]),
        "corrcoef": call(image[:50]),
        "bincount": call(_rng.integers(0, 1000, COUNT), x),
        "histogram": call(x, 50, (0.0, 1.0), weights=between(0, 1)),
        "histogram2d": call(x, between(0, 1), 10, weights=between(0, 1), constants=(0, 1)),
        "histogramdd": call(between(0, 1, COUNT, 2), 10, weights=between(0, 1), constants=(0,)),
        "histogram_bin_edges": call(x, 50),
        "linspace": call(0.0, 1.0, COUNT),
        "logspace": call(0.0, 1.0, COUNT),
        "geomspace": call(1.0, 2.0, COUNT),
        "arange": call(0.0, 1.0, 1 / COUNT),
        "kaiser": call(COUNT, 3.0),
        "polyval": call(between(-1, 1, 10), x),
        "polyfit": call(few, np.sin(few), 3),
        "polyadd": call(x, x),
        "polysub": call(x, x),
        "polymul": call(x, kernel),
        "polydiv": call(between(1, 2, 200), between(1, 2, 100)),
        "polyder": call(x),
        "polyint": call(x),
        "poly": call(between(-1, 1, 50)),
        "roots": call(between(1, 2, 50)),
    }


def calls() -> dict[str, Call]:
    """One call by the name of its function, as it is written after ``np.``."""
    found = {name: call(between(*ends)) for ends, names in ELEMENTWISE.items() for name in names.split()}
    found |= {name: call(between(0.5, 2.0), between(0.5, 2.0)) for name in OF_TWO.split()}
    for name in REDUCTIONS.split():
        found[name] = call(between(0.5, 1.5, ROWS, COLUMNS) if name not in _ONE_AXIS else between(0.5, 1.5))
    return found | matrices() | transforms() | assemblies() | analyses()


_ONE_AXIS = frozenset({"trim_zeros", "ediff1d", "sort_complex", "cumulative_sum", "cumulative_prod"})
