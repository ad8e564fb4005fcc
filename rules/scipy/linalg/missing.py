"""What has no rules: decompositions that nothing but a convention determines, and functions that ask about LAPACK."""

import scipy.linalg
from scipy.linalg import blas, lapack

from rulescore import missing_rules, not_numerical

not_numerical(blas.get_blas_funcs, blas.find_best_blas_type, lapack.get_lapack_funcs)

missing_rules(
    scipy.linalg.rsf2csf,
    scipy.linalg.qz,
    scipy.linalg.ordqz,
    because="generalised Schur vectors are determined up to rotations that LAPACK chooses, and rsf2csf turns blocks by "
    "rotations of its own: use schur, with output='complex' where that is wanted, or eig(a, b), which have rules",
)
missing_rules(
    scipy.linalg.hessenberg,
    because="what it is wanted for depends on the matrix alone: use that, as eigvals, det or solve",
)
missing_rules(
    scipy.linalg.ldl,
    because="its blocks and exchanges jump with the pivots: use solve(a, b, assume_a='sym'), or cholesky or lu, which "
    "have rules",
)
missing_rules(
    scipy.linalg.cossin,
    because="it takes orthogonal matrices alone, and on no straight line do matrices stay orthogonal: use svd of the "
    "blocks, which has rules",
)
missing_rules(
    scipy.linalg.cdf2rdf,
    because="it only rearranges what eig returns: use the complex eigenvalues and vectors themselves",
)
missing_rules(
    scipy.linalg.funm,
    because="it needs the derivative of a function of numbers that may be any Python code: use expm, logm, sqrtm, "
    "cosm, sinm and the others of their kind, or (v * f(w)) @ inv(v) with w, v = eig(a)",
)
missing_rules(
    scipy.linalg.expm_cond,
    because="a maximum over directions, whose derivative needs second derivatives: use expm_frechet in a direction",
)
missing_rules(
    scipy.linalg.matrix_balance,
    because="its scaling is piecewise constant: compute it outside of what is differentiated, and apply it as "
    "solve(t, a @ t)",
)
missing_rules(
    scipy.linalg.subspace_angles,
    because="use arccos(svdvals(orth(a).T @ orth(b))), which has rules, and arcsin for small angles",
)
missing_rules(
    scipy.linalg.qr_multiply,
    scipy.linalg.qr_insert,
    scipy.linalg.qr_delete,
    scipy.linalg.qr_update,
    because="they save work beside qr, which has rules: use qr of the whole matrix, and products with its factors",
)
missing_rules(
    scipy.linalg.clarkson_woodruff_transform,
    because="a product with a random matrix: s = clarkson_woodruff_transform(np.eye(n), size, rng=seed), made once, "
    "and s @ a",
)
