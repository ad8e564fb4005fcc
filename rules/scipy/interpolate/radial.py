"""Rules of `RBFInterpolator`: with respect to points, values, smoothing, scale of the kernel, and where it is.

The interpolant Σⱼ cⱼ φ(ε|x - yⱼ|) + Σₖ bₖ pₖ(x), with monomials pₖ, solves [K + λ, P; Pᵀ, 0] [c; b] = [d; 0]. That
SciPy shifts and scales the monomials changes none of its values.
"""

import numpy as np
from multipledispatch import MDNotImplementedError

from scipy import interpolate

from ...numpy.array_like import as_array
from ..ndimage.boundaries import fixed
from ..working_precision import in_working_precision
from .interpolants import interpolant
from .piecewise import as_doubles, beside

# φ as a function of s = (ε r)², so that it is smooth where two points coincide.
KERNELS = {
    "linear": lambda s: -root(s),
    "thin_plate_spline": lambda s: 0.5 * s * np.log(positive(s)),
    "cubic": lambda s: s * root(s),
    "quintic": lambda s: -(s**2) * root(s),
    "multiquadric": lambda s: -np.sqrt(1 + s),
    "inverse_multiquadric": lambda s: 1 / np.sqrt(1 + s),
    "inverse_quadratic": lambda s: 1 / (1 + s),
    "gaussian": lambda s: np.exp(-s),
}


def positive(s):
    return np.where(fixed(s) > 0, s, 1.0)


def root(s):
    return np.where(fixed(s) > 0, np.sqrt(positive(s)), 0.0)


def kernel_matrix(x, y, kernel, epsilon):
    difference = (x[:, None, :] - y[None, :, :]) * epsilon
    return KERNELS[kernel](np.sum(difference**2, axis=-1))


def monomials(x, powers, shift, scale):
    """The monomials at points, one column for each; that of degree 0 has no derivative."""
    x, columns = (x - shift) / scale, []
    for exponents in powers:
        factors = [x[:, i] ** int(e) for i, e in enumerate(exponents) if e]
        columns.append(np.prod(np.stack(factors), axis=0) if factors else np.ones(np.shape(x)[0]))
    return np.stack(columns, axis=-1)


def rbf_parts(y, d, neighbors=None, smoothing=0.0, kernel="thin_plate_spline", epsilon=None, degree=None):
    if neighbors is not None:
        raise MDNotImplementedError  # which points are near jumps
    plain = interpolate.RBFInterpolator(fixed(y), fixed(d), None, fixed(smoothing), kernel, fixed(epsilon), degree)
    epsilon = plain.epsilon if epsilon is None else epsilon
    return plain, as_doubles(y), as_doubles(d), as_array(smoothing), epsilon


def rbf_values(plain, y, d, smoothing, epsilon, x):
    x = as_doubles(x)
    powers, n = np.asarray(plain.powers), np.shape(y)[0]
    shift, scale = np.asarray(plain._shift), np.asarray(plain._scale)
    rows = np.reshape(d, (n, -1))
    k = kernel_matrix(y, y, plain.kernel, epsilon) + beside(smoothing, np.eye(n)) * np.eye(n)
    at_x = kernel_matrix(x, y, plain.kernel, epsilon)
    if len(powers):
        p = monomials(y, powers, shift, scale)
        none = np.zeros((len(powers), len(powers)))
        k = np.concatenate([np.concatenate([k, p], axis=1), np.concatenate([np.transpose(p), none], axis=1)])
        rows = np.concatenate([rows, np.zeros((len(powers), np.shape(rows)[1]))])
        at_x = np.concatenate([at_x, monomials(x, powers, shift, scale)], axis=1)
    values = at_x @ np.linalg.solve(in_working_precision(k), in_working_precision(rows))
    return np.reshape(values, (np.shape(x)[0], *np.shape(d)[1:]))


def parts_of_plain(plain):
    if plain.neighbors is not None:
        raise MDNotImplementedError
    d = np.ascontiguousarray(plain.d).view(plain.d_dtype)
    return plain.y, np.reshape(d, (-1, *plain.d_shape)), plain.smoothing, plain.epsilon


RBFInterpolator = interpolant(
    *(interpolate.RBFInterpolator, ("points", "given", "smoothness", "scale_of_kernel")),
    *(rbf_parts, rbf_values, parts_of_plain),
)
