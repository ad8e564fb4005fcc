"""Linear algebra: singular matrices, repeated eigenvalues, what a triangle or a phase stands for."""

import numpy as np
from edge_case import case, slope

from rulescore import MissingDerivativeError

inf = np.inf
VECTORS = "the vectors have no derivative at repeated values, and an error says so"
C = np.array([[1.0, 2.0], [3.0, 4.0]])
TALL = [[1.0, 0.0], [0.0, 2.0], [1.0, 1.0]]


def rebuilt(a):
    w, v = np.linalg.eigh(a)
    return np.sum(C * ((v * w) @ v.T))


def sum_of_r(a, b, c, d):
    """The sum of R of [[a, c], [b, d]], for which LAPACK reflects the first column onto the negative first axis."""
    r = (a * a + b * b) ** 0.5
    return -r - (a * c + b * d) / r + (a * d - b * c) / r


def sum_of_cholesky_factor(a, b, c):
    """The sum of the factor of [[a, b], [b, c]]."""
    return a**0.5 + b / a**0.5 + (c - b * b / a) ** 0.5


def polar_factor(a):
    """A (AᵀA)^-½, which is the gradient of the nuclear norm; by the eigenvalues of AᵀA."""
    w, v = np.linalg.eigh(a.T @ a)
    return a @ (v / np.sqrt(w)) @ v.T


def qr_gradient(columns):
    """Of ``sum_of_r``, with the sum of the columns after the first in the place of the second."""
    (a, *others_0), (b, *others_1) = columns
    at = a, b, sum(others_0), sum(others_1)
    by_a, by_b, by_c, by_d = (slope(sum_of_r, *at, argument=i) for i in range(4))
    return [[by_a, *[by_c] * len(others_0)], [by_b, *[by_d] * len(others_1)]]


CHOLESKY = [slope(sum_of_cholesky_factor, 2.0, 1.0, 3.0, argument=i) for i in range(3)]

TITLE = "Linear algebra"
CASES = [
    case(
        "eigh(eye(3)) loss=sum(w*[1,2,3])",
        lambda a: np.sum(np.linalg.eigh(a)[0] * np.array([1.0, 2.0, 3.0])),
        np.eye(3),
        gradient=np.diag([1.0, 2.0, 3.0]),
        also=(2 * np.eye(3),),
        why="that of LAPACK's basis, of all orthonormal ones",
    ),
    case(
        "eigh(eye(2)) loss=sum(v)",
        lambda a: np.sum(np.linalg.eigh(a)[1]),
        np.eye(2),
        raises=(MissingDerivativeError, "no derivative there"),
        why=VECTORS,
    ),
    case(
        "eigh(eye(2)) loss=sum(V diag(w) V^T) (=identity map)",
        rebuilt,
        np.eye(2),
        raises=(MissingDerivativeError, "no derivative there"),
        why=VECTORS,
    ),
    case(
        "eigh convention: sum(w) at [[2,1],[1,3]] (triangle?)",
        lambda a: np.sum(np.linalg.eigh(a)[0] ** 2),
        [[2.0, 1.0], [1.0, 3.0]],
        gradient=[[4, 0], [4, 6]],
        also=([[4, 2], [2, 6]],),
        why="a² + 2b² + c², of which NumPy reads b in the lower triangle alone",
    ),
    case(
        "cholesky convention: sum(L) at [[2,1],[1,3]]",
        lambda a: np.sum(np.linalg.cholesky(a)),
        [[2.0, 1.0], [1.0, 3.0]],
        gradient=[[CHOLESKY[0], 0], [CHOLESKY[1], CHOLESKY[2]]],
        also=([[CHOLESKY[0], CHOLESKY[1] / 2], [CHOLESKY[1] / 2, CHOLESKY[2]]],),
        why="NumPy reads the lower triangle alone",
    ),
    case(
        "svd s only at diag(2,0)",
        lambda a: np.sum(np.linalg.svd(a, compute_uv=False)),
        np.diag([2.0, 0.0]),
        gradient=np.eye(2),
        also=(np.diag([1.0, 0.0]), np.diag([1.0, -1.0])),
        why="u vᵀ; the second value has a kink like |x|",
    ),
    case(
        "svd(eye(2)) loss=sum(s)",
        lambda a: np.sum(np.linalg.svd(a)[1]),
        np.eye(2),
        gradient=np.eye(2),
        why="the values alone have finite derivatives",
    ),
    case(
        "svd(eye(2)) loss=sum(U)",
        lambda a: np.sum(np.linalg.svd(a)[0]),
        np.eye(2),
        raises=(MissingDerivativeError, "no derivative there"),
        why=VECTORS,
    ),
    case(
        "svd full_matrices=True 3x2 loss=sum(s)",
        lambda a: np.sum(np.linalg.svd(a, full_matrices=True)[1]),
        TALL,
        gradient=polar_factor(np.array(TALL)),
        why="A (AᵀA)^-½",
    ),
    case(
        "nuclear norm at 0",
        lambda a: np.linalg.norm(a, ord="nuc"),
        np.zeros((2, 2)),
        gradient=np.zeros((2, 2)),
        also=(np.eye(2),),
        why="the norm at 0 gives 0",
    ),
    case("det singular [[1,2],[2,4]]", np.linalg.det, [[1.0, 2.0], [2.0, 4.0]], gradient=[[4, -2], [-2, 1]]),
    case("det zeros(3,3)", np.linalg.det, np.zeros((3, 3)), gradient=np.zeros((3, 3)), why="the adjugate"),
    case(
        "slogdet singular",
        lambda a: np.linalg.slogdet(a)[1],
        [[1.0, 2.0], [2.0, 4.0]],
        gradient=[[inf, -inf], [-inf, inf]],
        tangent=inf,
        also=([[-inf, inf], [inf, -inf]],),
        why="the adjugate over det A = ±0",
    ),
    case(
        "inv singular",
        lambda a: np.sum(np.linalg.inv(a)),
        [[1.0, 2.0], [2.0, 4.0]],
        raises=(np.linalg.LinAlgError, "Singular"),
        why="NumPy's own error: there is no inverse",
    ),
    case(
        "pinv rank-deficient",
        lambda a: np.sum(np.linalg.pinv(a)),
        [[1.0, 2.0], [2.0, 4.0]],
        gradient=[[0.0048, -0.0144], [-0.0144, -0.0768]],
        why="along the matrices of rank 1, u vᵀ: Σu Σv / ‖u‖²‖v‖²",
    ),
    case(
        "qr rank-deficient sum(R)",
        lambda a: np.sum(np.linalg.qr(a)[1]),
        [[1.0, 2.0], [2.0, 4.0]],
        gradient=qr_gradient([[1.0, 2.0], [2.0, 4.0]]),
        why="Q depends on the first column alone",
    ),
    case(
        "qr wide (2x3) sum(R)",
        lambda a: np.sum(np.linalg.qr(a)[1]),
        [[1.0, 2.0, 0.0], [2.0, 1.0, 5.0]],
        gradient=qr_gradient([[1.0, 2.0, 0.0], [2.0, 1.0, 5.0]]),
        why="Q depends on the first column alone",
    ),
    case(
        "eig complex eigenvalues: sum(real(w)**2)",
        lambda a: np.sum(np.real(np.linalg.eig(a)[0]) ** 2),
        [[0.0, 1.0], [-1.0, 0.5]],
        gradient=0.5 * np.eye(2),
        why="(tr A)² / 2",
    ),
    case(
        "eig defective [[1,1],[0,1]] sum(w)",
        lambda a: np.sum(np.real(np.linalg.eig(a)[0])),
        [[1.0, 1.0], [0.0, 1.0]],
        raises=(MissingDerivativeError, "defective"),
        why="the derivatives of the eigenvalues are infinite, and from its cotangent the sum of the squares "
        "could not be told from the sum",
    ),
]
