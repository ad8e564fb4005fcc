"""MyGrad: functions of NumPy arrays with rules as operations of its tensors."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import optree

from rulescore.backends.host.extras import framework
from rulescore.backends.host.finding import Calls
from rulescore.backends.host.functions import is_differentiable
from rulescore.wrappers import Wrapper

framework("mygrad", "mygrad")

from mygrad import Tensor, execute_op, tensor  # noqa: E402
from mygrad.operation_base import Operation  # noqa: E402

_ARRAYS = (Tensor, np.ndarray, np.generic, float, complex)


class _Output(Operation):  # type: ignore[misc]
    """One output of a call that has been made; MyGrad has no operations with several."""

    def __call__(self, *tensors: Any, y: Any, pull: Callable[[Any], dict[int, Any]]) -> Any:
        self.variables, self._pull, self._ybar = tensors, pull, None
        return y

    def backward_var(self, grad: Any, index: int, **kwargs: Any) -> Any:
        if grad is not self._ybar:  # MyGrad asks for one tensor after the other
            self._ybar, self._bars = grad, self._pull(grad)
        return np.array(self._bars[index])  # MyGrad adds to it, and rules may return one array for two arguments


def to_mygrad(f: Callable[..., Any]) -> Callable[..., Any]:
    """A function of MyGrad's tensors, from a Python function of NumPy arrays.

    Parameters
    ----------
    f : callable
        With rules, or of NumPy code that `rulescore.ad` differentiates. Arguments and results may be nested containers.

    Returns
    -------
    callable
        With the arguments of ``f``. Tensors that are not constant are differentiated, once and in reverse mode as
        everywhere in MyGrad; arrays and numbers are constants, and all else is fixed. What it returns are tensors.

    Raises
    ------
    TypeError
        When ``f`` cannot be called, what is fixed is not hashable, or a result is complex.

    Examples
    --------
    >>> import mygrad as mg, numpy as np
    >>> from rulescore.backends.mygrad import to_mygrad
    >>> x = mg.tensor([[2.0, 1.0], [0.0, 3.0]])
    >>> to_mygrad(np.linalg.det)(x).backward()
    >>> x.grad
    array([[ 3., -0.],
           [-1.,  2.]])
    """
    return _Function(f)


class _Function(Wrapper):
    def __init__(self, f: Callable[..., Any]) -> None:
        self._calls = Calls("to_mygrad", f, _ARRAYS, optree.tree_flatten, optree.tree_unflatten)
        super().__init__(f, to_mygrad)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        call, arrays = self._calls.find(args, kwargs)
        values = [x.data if isinstance(x, Tensor) else x for x in arrays]
        needs = tuple([isinstance(x, Tensor) and not x.constant for x in arrays])
        tensors = [x for x in arrays if isinstance(x, Tensor)]
        pull: Any
        outputs, pull = call.vjp(values, needs) if True in needs else (call(values), None)

        def pull_one(i: int, ybar: Any) -> dict[int, Any]:
            seeds = [ybar if i == j else np.zeros_like(y) for j, y in enumerate(outputs) if is_differentiable(y)]
            return dict(zip([i for i, x in enumerate(tensors) if not x.constant], pull(seeds), strict=True))

        def result(i: int, y: Any) -> Any:
            if pull is None or not is_differentiable(y):
                return tensor(y, constant=True)
            y = np.array(y) if any(np.may_share_memory(y, x) for x in values) else np.asarray(y)
            return execute_op(_Output, *tensors, op_kwargs={"y": y, "pull": functools.partial(pull_one, i)})

        return optree.tree_unflatten(call.structure, [result(i, y) for i, y in enumerate(outputs)])
