"""Rules of NumPy's ufuncs, a chapter a file; `matmul` and its kin are products and live elsewhere.

The conventions of all chapters:

- An entry of the tables is ``scalar_rule(f, ∂f/∂x, ...)``, each partial derivative a function of the output ``y`` and
  the arguments. It reads ``y`` where that saves work, keeps the precision of its arguments, neither overflows nor
  cancels where the derivative is an ordinary number, and stays right when it is differentiated again.
- What is constant almost everywhere (``floor``, ``rint``, ``sign`` of real numbers, the quotient of ``divmod``, the
  sign argument of ``copysign``) is declared `non_differentiable`, or has None for its partial: `NoTangent`, whatever
  the type of the output. A `ZeroTangent` would say that a derivative exists, and at the steps none does.
- At a kink a rule returns one member of the generalised derivative and its chapter says which. Where a derivative is
  infinite the result is, with NumPy's own warning.
- Ufunc keywords (``out``, ``where``, ``dtype``, ``casting``, ...) are not supported: a call with one has no rule.
"""

from . import (
    arithmetic,
    complex_numbers,
    exponential,
    extrema,
    floating_point,
    integers_and_truth,
    powers,
    trigonometric,
)

__all__ = [
    "arithmetic",
    "complex_numbers",
    "exponential",
    "extrema",
    "floating_point",
    "integers_and_truth",
    "powers",
    "trigonometric",
]
