"""Four checkers of handwritten derivatives behind one interface: ours, PyTorch's, JAX's and HIPS autograd's.

Each is given the same function with the same two rules, written once in what NumPy, PyTorch and JAX have in common and
handed over in the way the system's users write rules, and checks first derivatives in the modes it is asked for. Each
keeps its own steps and tolerances.
"""

from __future__ import annotations

import importlib.util
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from rulescore import NoTangent, frule, rrule
from testutils import check_rule

PASS, FAIL = "pass", "fail"
BOTH = ("frule", "rrule")
DIRECTIONS = {"frule": "fwd", "rrule": "rev"}
"""What JAX and autograd call the modes."""


@dataclass(frozen=True)
class Rule:
    """A function of arrays with its derivative in both modes, in the functions of a namespace `xp`.

    Attributes
    ----------
    function : callable
        ``(xp, *args) -> y``.
    pushforward : callable
        ``(xp, args, y, tangents) -> dy``.
    pullback : callable
        ``(xp, args, y, ybar) -> cotangents``, a tuple with one for every argument.
    """

    function: Callable[..., Any]
    pushforward: Callable[..., Any]
    pullback: Callable[..., Any]


class Checker(ABC):
    """A checker with one rule to check.

    Attributes
    ----------
    evaluations : int
        How often it called the function so far. To the peers some calls of the function are calls of its rule.
    rule_runs : int
        How often it ran a rule without calling the function, as only ours does.
    """

    name: str
    configuration: str

    def __init__(self, rule: Rule) -> None:
        self.rule = rule
        self.evaluations = 0
        self.rule_runs = 0

    def counted(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*args: Any) -> Any:
            self.evaluations += 1
            return function(*args)

        return counted

    @abstractmethod
    def check(self, args: tuple[np.ndarray, ...], modes: tuple[str, ...] = BOTH, seed: int = 0) -> str:
        """The verdict on the rules at `args`. The seed is for those that can be given one."""


class Ours(Checker):
    name = "testutils"
    configuration = "check_rule(f, *args)"

    def __init__(self, rule: Rule) -> None:
        super().__init__(rule)
        self.function = self.counted(lambda *args: rule.function(np, *args))
        frule.register(self.function)(self._frule)
        rrule.register(self.function)(self._rrule)

    def _frule(self, tangents: Any, *args: Any) -> Any:
        self.rule_runs += 1
        y = self.rule.function(np, *args)
        return y, self.rule.pushforward(np, args, y, tangents[1:])

    def _rrule(self, *args: Any) -> Any:
        self.rule_runs += 1
        y = self.rule.function(np, *args)
        return y, lambda ybar: (NoTangent(), *self.rule.pullback(np, args, y, ybar))

    def check(self, args: tuple[np.ndarray, ...], modes: tuple[str, ...] = BOTH, seed: int = 0) -> str:
        return check_rule(self.function, *args, modes=modes, rng=seed).verdict


class Torch(Checker):
    """Random directions are drawn by `gradcheck` itself, the same ones every time."""

    name = "torch"
    configuration = "gradcheck(f, args, fast_mode=True, check_forward_ad=True)"

    def __init__(self, rule: Rule) -> None:
        super().__init__(rule)
        self.function = self.counted(self.function_of(rule))

    @staticmethod
    def function_of(rule: Rule) -> Callable[..., Any]:
        return _torch_function(rule)

    def check(self, args: tuple[np.ndarray, ...], modes: tuple[str, ...] = BOTH, seed: int = 0) -> str:
        import torch
        from torch.autograd.gradcheck import GradcheckError, gradcheck

        tensors = tuple(torch.tensor(x, requires_grad=True) for x in args)
        forward, backward = "frule" in modes, "rrule" in modes
        try:
            gradcheck(self.function, tensors, fast_mode=True, check_forward_ad=forward, check_backward_ad=backward)
        except GradcheckError:
            return FAIL
        return PASS


def _torch_function(rule: Rule) -> Callable[..., Any]:
    import torch

    class Function(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, *args: Any) -> Any:
            y = rule.function(torch, *args)
            ctx.save_for_backward(*args, y)
            ctx.save_for_forward(*args, y)
            return y

        @staticmethod
        def backward(ctx: Any, ybar: Any) -> Any:
            *args, y = ctx.saved_tensors
            return rule.pullback(torch, args, y, ybar)

        @staticmethod
        def jvp(ctx: Any, *tangents: Any) -> Any:
            *args, y = ctx.saved_tensors
            return rule.pushforward(torch, args, y, tangents)

    return Function.apply


class TorchOfNumPy(Torch):
    """`gradcheck` of the very NumPy function and rules that ours checks, as people write them for PyTorch today."""

    configuration = "gradcheck(f, args, fast_mode=True) of an autograd.Function that calls NumPy"

    @staticmethod
    def function_of(rule: Rule) -> Callable[..., Any]:
        return _torch_function_of_numpy(rule)


def _torch_function_of_numpy(rule: Rule) -> Callable[..., Any]:
    import torch

    def arrays(tensors: Any) -> tuple[np.ndarray, ...]:
        return tuple(tensor.detach().numpy() for tensor in tensors)

    def tensor(array: Any) -> Any:
        return torch.as_tensor(np.ascontiguousarray(array))

    class Function(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, *args: Any) -> Any:
            y = tensor(rule.function(np, *arrays(args)))
            ctx.save_for_backward(*args, y)
            ctx.save_for_forward(*args, y)
            return y

        @staticmethod
        def backward(ctx: Any, ybar: Any) -> Any:
            *args, y = arrays(ctx.saved_tensors)
            return tuple(map(tensor, rule.pullback(np, args, y, ybar.numpy())))

        @staticmethod
        def jvp(ctx: Any, *tangents: Any) -> Any:
            *args, y = arrays(ctx.saved_tensors)
            return tensor(rule.pushforward(np, args, y, arrays(tangents)))

    return Function.apply


class Jax(Checker):
    """A function of JAX's has one rule of its own, so that each mode is checked of a function of its own.

    Random directions are drawn by `check_grads` itself, the same ones every time.
    """

    name = "jax"
    configuration = 'check_grads(f, args, order=1, modes=["fwd"]), then (g, args, order=1, modes=["rev"]), in float64'

    def __init__(self, rule: Rule) -> None:
        super().__init__(rule)
        with_jvp, with_vjp = _jax_functions(rule)
        self.functions = {"frule": self.counted(with_jvp), "rrule": self.counted(with_vjp)}

    def check(self, args: tuple[np.ndarray, ...], modes: tuple[str, ...] = BOTH, seed: int = 0) -> str:
        import jax
        from jax.test_util import check_grads

        arrays = tuple(jax.numpy.asarray(x) for x in args)
        try:
            for mode in modes:
                check_grads(self.functions[mode], arrays, order=1, modes=[DIRECTIONS[mode]])
        except AssertionError:
            return FAIL
        return PASS


def _jax_functions(rule: Rule) -> tuple[Callable[..., Any], Callable[..., Any]]:
    import jax

    jax.config.update("jax_enable_x64", True)

    def primal(*args: Any) -> Any:
        return rule.function(jax.numpy, *args)

    def jvp(args: Any, tangents: Any) -> Any:
        y = primal(*args)
        return y, rule.pushforward(jax.numpy, args, y, tangents)

    def forward(*args: Any) -> Any:
        y = primal(*args)
        return y, (args, y)

    def backward(residuals: Any, ybar: Any) -> Any:
        return rule.pullback(jax.numpy, *residuals, ybar)

    with_jvp, with_vjp = jax.custom_jvp(primal), jax.custom_vjp(primal)
    with_jvp.defjvp(jvp)
    with_vjp.defvjp(forward, backward)
    return with_jvp, with_vjp


class Autograd(Checker):
    """Its random directions come from NumPy's global generator."""

    name = "autograd"
    configuration = 'check_grads(f, argnums, modes=["fwd", "rev"], order=1)(*args)'

    def __init__(self, rule: Rule) -> None:
        super().__init__(rule)
        self.function = self.counted(_autograd_function(rule))

    def check(self, args: tuple[np.ndarray, ...], modes: tuple[str, ...] = BOTH, seed: int = 0) -> str:
        from autograd.test_util import check_grads

        np.random.seed(seed)  # noqa: NPY002  # it draws from nowhere else
        argnums = tuple(range(len(args))) if len(args) > 1 else 0
        check = check_grads(self.function, argnums, modes=[DIRECTIONS[mode] for mode in modes], order=1)
        try:
            with np.errstate(all="ignore"):  # its step may leave the domain
                check(*args)
        except AssertionError:
            return FAIL
        return PASS


def _autograd_function(rule: Rule) -> Callable[..., Any]:
    from autograd.extend import defjvp_argnums, defvjp_argnums, primitive

    def jvp(argnums: Any, given: Any, y: Any, args: Any, kwargs: Any) -> Any:
        tangents = [np.zeros_like(x) for x in args]
        for argnum, dx in zip(argnums, given, strict=True):
            tangents[argnum] = dx
        return rule.pushforward(np, args, y, tangents)

    def vjp(argnums: Any, y: Any, args: Any, kwargs: Any) -> Any:
        def pullback(ybar: Any) -> Any:
            cotangents = rule.pullback(np, args, y, ybar)
            return [cotangents[argnum] for argnum in argnums]

        return pullback

    function = primitive(lambda *args: rule.function(np, *args))
    defjvp_argnums(function, jvp)
    defvjp_argnums(function, vjp)
    return function


PEERS: tuple[type[Checker], ...] = (Torch, Jax, Autograd)
MISSING = [peer.name for peer in PEERS if not importlib.util.find_spec(peer.name)]
CHECKERS: tuple[type[Checker], ...] = (Ours, *(peer for peer in PEERS if peer.name not in MISSING))
