"""What has no derivative: numbers that tell how a matrix looks, and matrices of which only the size is given."""

import scipy.linalg
from rulescore import non_differentiable

non_differentiable(scipy.linalg.bandwidth, scipy.linalg.ishermitian, scipy.linalg.issymmetric)
non_differentiable(
    scipy.linalg.dft,
    scipy.linalg.hadamard,
    scipy.linalg.helmert,
    scipy.linalg.hilbert,
    scipy.linalg.invhilbert,
    scipy.linalg.pascal,
    scipy.linalg.invpascal,
)
