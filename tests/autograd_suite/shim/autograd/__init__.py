"""HIPS autograd's names on top of `rulescore.ad`.

What is not here (its tester, its optimisers, the convolution of its `scipy.signal`) is autograd's own, from the release
that lies behind this package on the path, and rests on what is here.
"""

import pkgutil

__path__ = pkgutil.extend_path(__path__, __name__)

from .builtins import dict, isinstance, list, tuple, type
from .core import primitive
from .differential_operators import (
    checkpoint,
    deriv,
    elementwise_grad,
    grad,
    grad_and_aux,
    grad_named,
    hessian,
    hessian_tensor_product,
    hessian_vector_product,
    holomorphic_grad,
    jacobian,
    make_ggnvp,
    make_hvp,
    make_jvp,
    make_vjp,
    multigrad_dict,
    tensor_jacobian_product,
    value_and_grad,
    vector_jacobian_product,
)
