"""Declarations of the functions without derivative: indices, truth values, facts about arrays, rounding, new arrays.

The ufuncs among such functions are declared beside the other ufuncs.
"""

import numpy as np
from rulescore import non_differentiable

# Where something is: constant but for jumps.
non_differentiable(
    np.argmax,
    np.argmin,
    np.nanargmax,
    np.nanargmin,
    np.argsort,
    np.argpartition,
    np.lexsort,
    np.argwhere,
    np.nonzero,
    np.flatnonzero,
    np.searchsorted,
    np.digitize,
    np.ndarray.argmax,
    np.ndarray.argmin,
    np.ndarray.argsort,
    np.ndarray.argpartition,
    np.ndarray.nonzero,
    np.ndarray.searchsorted,
)

# Whether something holds, and how often.
non_differentiable(
    np.any,
    np.all,
    np.ndarray.any,
    np.ndarray.all,
    np.count_nonzero,
    np.isclose,
    np.allclose,
    np.array_equal,
    np.array_equiv,
    np.isin,
    np.iscomplex,
    np.isreal,
    np.isposinf,
    np.isneginf,
    np.linalg.matrix_rank,
)

# What an array is, whatever its values.
non_differentiable(
    np.shape,
    np.ndim,
    np.size,
    np.iscomplexobj,
    np.isrealobj,
    np.isscalar,
    np.isfortran,
    np.iterable,
    np.result_type,
    np.can_cast,
    np.min_scalar_type,
    np.common_type,
    np.shares_memory,
    np.may_share_memory,
    np.tril_indices_from,
    np.triu_indices_from,
    np.diag_indices_from,
    np.einsum_path,
)

# Other values in the same shape.
non_differentiable(np.zeros_like, np.ones_like, np.empty_like)

# New arrays, and places in arrays, made of whole numbers alone.
non_differentiable(
    np.zeros,
    np.ones,
    np.empty,
    np.eye,
    np.identity,
    np.tri,
    np.indices,
    np.diag_indices,
    np.tril_indices,
    np.triu_indices,
    np.mask_indices,
    np.ravel_multi_index,
    np.unravel_index,
)

# Rounding: constant but for jumps.
non_differentiable(np.round, np.around, np.fix, np.ndarray.round)
