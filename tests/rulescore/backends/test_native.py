"""Native mode: functions and their rules on the arrays of JAX and PyTorch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rulescore import HasReverseMode, NoTangent, frule, rrule, rrule_via_ad, scalar_rule, seen_by_tracers

# PyTorch's forward mode loads code of its own that it warns about.
pytestmark = pytest.mark.filterwarnings("ignore:.torch.jit.script:DeprecationWarning")

SYSTEMS = ["jax", "torch"]
X = np.array([0.5, 1.5, -1.0])


class JaxKit:
    """JAX's transformations, under the names that both systems have."""

    def __init__(self) -> None:
        import jax

        from rulescore.backends.jax import to_jax

        self.convert, self.array = to_jax, jax.numpy.asarray
        self.grad, self.jacfwd, self.jacrev, self.vmap, self.hessian = (
            jax.grad,
            jax.jacfwd,
            jax.jacrev,
            jax.vmap,
            jax.hessian,
        )
        self.compiled = jax.jit


class TorchKit:
    """PyTorch's."""

    def __init__(self) -> None:
        import torch

        from rulescore.backends.torch import to_torch

        self.convert, self.array = to_torch, torch.as_tensor
        self.grad, self.jacfwd, self.jacrev, self.vmap, self.hessian = (
            torch.func.grad,
            torch.func.jacfwd,
            torch.func.jacrev,
            torch.func.vmap,
            torch.func.hessian,
        )
        self.compiled = lambda f: f


@pytest.fixture(params=SYSTEMS)
def kit(request: pytest.FixtureRequest) -> Any:
    framework = pytest.importorskip(request.param, reason=f"{request.param} is not installed")
    if request.param == "jax":
        with framework.enable_x64(True):
            yield JaxKit()
    else:
        yield TorchKit()


def swish_with_a_telltale(kinds: list[Any], tables: Any = ("rrule", "frule")) -> Any:
    """A function whose derivative is twice the true one, so that it shows who computes it."""

    def swish(x: Any) -> Any:
        return x / (1 + np.exp(-x))

    def slope(x: Any) -> Any:
        kinds.append(type(x))
        s = 1 / (1 + np.exp(-x))
        return 2 * (s + x * s * (1 - s))

    if "rrule" in tables:

        @rrule.register(swish)
        def swish_rrule(x: Any) -> Any:
            return swish(x), lambda ybar: (NoTangent(), ybar * slope(x))

    if "frule" in tables:

        @frule.register(swish)
        def swish_frule(tangents: Any, x: Any) -> Any:
            return swish(x), tangents[1] * slope(x)

    return swish


@pytest.mark.parametrize("tables", [("rrule", "frule"), ("rrule",), ("frule",)])
@pytest.mark.parametrize(
    "transform",
    [
        pytest.param(lambda k, f: k.grad(lambda x: f(x).sum()), id="grad"),
        pytest.param(lambda k, f: k.jacfwd(f), id="jacfwd"),
        pytest.param(lambda k, f: k.jacrev(f), id="jacrev"),
        pytest.param(lambda k, f: k.vmap(k.grad(f)), id="vmap of grad"),
        pytest.param(lambda k, f: k.grad(lambda x: k.vmap(f)(x).sum()), id="grad of vmap"),
        pytest.param(lambda k, f: k.jacfwd(k.jacrev(f)), id="forward over reverse"),
        pytest.param(lambda k, f: k.jacrev(k.jacfwd(f)), id="reverse over forward"),
        pytest.param(lambda k, f: k.compiled(k.vmap(k.hessian(f))), id="compiled vmap of hessian"),
    ],
)
def test_rules_run_on_the_system_s_arrays_as_they_do_on_the_host(kit: Any, tables: Any, transform: Any) -> None:
    kinds: list[Any] = []
    f = swish_with_a_telltale(kinds, tables)
    native = transform(kit, kit.convert(f, native=True))(kit.array(X))
    assert np.ndarray not in kinds
    assert kinds
    on_host = transform(kit, kit.convert(f))(kit.array(X))
    np.testing.assert_allclose(np.asarray(native), np.asarray(on_host), rtol=1e-12)


def test_functions_without_rules_are_differentiated_by_the_system(kit: Any) -> None:
    def f(x: Any) -> Any:
        total = np.sum(x[1:] * np.tanh(x)[:2], axis=0) + x.T.mean() - (2.0 - x).max()
        return total, {"norm": np.linalg.norm(x), "stacked": np.stack([x, 2 * x])}

    def norm(g: Any) -> Any:
        return lambda x: g(x)[0] + g(x)[1]["norm"] + g(x)[1]["stacked"].sum()

    native = kit.grad(norm(kit.convert(f, native=True)))(kit.array(X))
    np.testing.assert_allclose(native, kit.grad(norm(kit.convert(f)))(kit.array(X)), rtol=1e-12)


def test_a_function_with_a_rule_within_another_one_keeps_it(kit: Any) -> None:

    kinds: list[Any] = []
    swish = swish_with_a_telltale(kinds)

    def f(x: Any) -> Any:
        return np.sum(3 * seen_by_tracers(swish, x))

    native = kit.grad(kit.convert(f, native=True))(kit.array(X))
    np.testing.assert_allclose(native, 3 * np.diag(kit.jacrev(kit.convert(swish))(kit.array(X))), rtol=1e-12)


def test_keywords_of_other_functions_are_not_left_out(kit: Any) -> None:

    def scaled(x: Any, kind: str = "once") -> Any:
        return x * {"once": 1, "thrice": 3}[kind]

    scalar_rule(scaled, lambda y, x: y / x)
    native = kit.convert(lambda x: np.sort(seen_by_tracers(scaled, x, kind="thrice"), kind="stable"), native=True)
    np.testing.assert_allclose(native(kit.array(X)), np.sort(3 * X))


def test_complex_cotangents_follow_the_system(kit: Any) -> None:
    def twice(z: Any) -> Any:
        return (2 + 1j) * z

    scalar_rule(twice, lambda y, z: 2 + 1j)
    z = kit.array(np.array([1.0 + 2.0j, -1.0j]))

    def loss(f: Any) -> Any:
        return lambda z: (f(z).real ** 2).sum() + f(z).imag.sum()

    native = kit.grad(loss(kit.convert(twice, native=True)))(z)
    on_host = kit.grad(loss(kit.convert(twice)))(z)
    np.testing.assert_allclose(np.asarray(native), np.asarray(on_host), rtol=1e-12)


def test_rules_that_call_back_into_ad_call_the_system(kit: Any) -> None:
    def applied(f: Any, x: Any) -> Any:
        return f(x)

    @rrule.register(applied, config=HasReverseMode)
    def applied_rrule(config: Any, f: Any, x: Any) -> Any:
        y, pullback = rrule_via_ad(config, f, x)
        return y, lambda ybar: (NoTangent(), NoTangent(), 5 * pullback(ybar)[1])

    def of_sine(x: Any) -> Any:
        return np.sum(np.sin(x))

    native = kit.grad(lambda x: kit.convert(applied, native=True)(of_sine, x))(kit.array(X))
    np.testing.assert_allclose(native, 5 * np.cos(X), rtol=1e-12)


def branches(x: Any) -> Any:
    return x if x[0] > 0 else -x


def assigns(x: Any) -> Any:
    x[0] = 1.0
    return x


def accumulates(x: Any) -> Any:
    y = 2 * x
    y += x
    return y


def converts(x: Any) -> Any:
    return np.array([x[0], x[1]])


def needs_a_number(x: Any) -> Any:
    return float(x[0]) * x


def scatters(x: Any) -> Any:
    return np.add.at(x, 0, 1.0)


@pytest.mark.parametrize(
    ("f", "message"),
    [
        (branches, "decides an if.*np.where"),
        (assigns, "is written into.*np.where"),
        (accumulates, r"is written into.*x = x \+ y"),
        (converts, "np.stack"),
        (needs_a_number, "is made a number"),
        (scatters, "np.add.at has no counterpart"),
    ],
)
def test_what_cannot_run_natively_says_what_to_write(kit: Any, f: Any, message: str) -> None:
    from rulescore.backends.native import NotNativeError

    with pytest.raises(NotNativeError, match=message):
        kit.convert(f, native=True)(kit.array(X))


def test_auto_runs_on_the_host_what_cannot_and_says_why(kit: Any) -> None:
    f = kit.convert(lambda x: branches(x) * np.sum(x), native="auto")
    with pytest.warns(RuntimeWarning, match="runs on the host: NotNativeError: an array decides an if"):
        y = f(kit.array(X))
    np.testing.assert_allclose(y, X * X.sum())


def test_auto_decides_for_value_and_derivative_by_themselves(kit: Any) -> None:
    kinds: list[Any] = []

    def square(x: Any) -> Any:
        kinds.append(type(x))
        return x**2

    @rrule.register(square)
    def square_rrule(x: Any) -> Any:
        def square_pullback(ybar: Any) -> Any:
            return NoTangent(), 2 * x * ybar if np.all(ybar > 0) else 2 * ybar * x

        return x**2, square_pullback

    with pytest.warns(RuntimeWarning, match="the pullback of .*square runs on the host"):
        gradient = kit.grad(lambda x: kit.convert(square, native="auto")(x).sum())(kit.array(X))
    np.testing.assert_allclose(gradient, 2 * X)
    assert np.ndarray not in kinds


def test_another_mode_is_an_error(kit: Any) -> None:
    with pytest.raises(ValueError, match="native='yes': write True, False or 'auto'"):
        kit.convert(np.sin, native="yes")


def test_native_functions_of_jax_have_no_callback() -> None:
    jax = pytest.importorskip("jax", reason="jax is not installed")
    from rulescore.backends.jax import to_jax

    f = swish_with_a_telltale([])

    def program(g: Any) -> str:
        return str(jax.jit(jax.grad(lambda x: g(x).sum())).lower(jax.numpy.ones(3)).as_text())

    assert "callback" in program(to_jax(f))
    assert "callback" not in program(to_jax(f, native=True))


def test_native_functions_of_pytorch_pass_its_checks() -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    from rulescore.backends.torch import to_torch

    def swish(x: Any) -> Any:
        return x / (1 + np.exp(-x))

    scalar_rule(swish, lambda y, x: y + (1 - y) / (1 + np.exp(-x)))
    f = to_torch(swish, native=True)
    x = torch.as_tensor(X).requires_grad_()
    assert torch.autograd.gradcheck(f, x, check_forward_ad=True)
    assert torch.autograd.gradgradcheck(f, x)
    with pytest.raises(torch._dynamo.exc.Unsupported, match=r"native mode does not go together with torch\.compile"):
        torch.compile(f, backend="eager", fullgraph=True)(x)
