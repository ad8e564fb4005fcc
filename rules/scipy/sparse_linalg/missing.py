"""What has no rules, or no derivative, in `scipy.sparse.linalg`."""

from scipy.sparse import linalg

from rulescore import missing_rules, non_differentiable, not_numerical

not_numerical(linalg.use_solver, linalg.aslinearoperator)


def of_this_version(*names):
    """Those of some functions that the installed SciPy has."""
    return [getattr(linalg, name) for name in names if hasattr(linalg, name)]


non_differentiable(*of_this_version("is_sptriangular", "spbandwidth"))

missing_rules(
    linalg.spilu,
    because="what it leaves out jumps: compute it where nothing is differentiated, as a preconditioner of cg or gmres",
)
missing_rules(
    linalg.lobpcg,
    because="use eigsh, which finds the same eigenvalues and has rules",
)
missing_rules(
    linalg.onenormest,
    because="an estimate that jumps with the vectors it tries: use norm(A, 1)",
)
missing_rules(
    *of_this_version("funm_multiply_krylov"),
    because="it needs the derivative of a function of matrices that may be any Python code: use expm_multiply",
)
