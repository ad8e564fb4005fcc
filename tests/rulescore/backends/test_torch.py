"""Functions with rules as functions of tensors: what they answer is compared with PyTorch's own, and with gradcheck."""

import collections
import dataclasses
import functools
import gc
import itertools
import os
import shutil
import subprocess
import sys

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

from scipy.special import eval_genlaguerre  # noqa: E402
from torch.autograd import gradcheck, gradgradcheck  # noqa: E402
from torch.func import grad, hessian, jacfwd, jacrev, jvp, vjp, vmap  # noqa: E402
from torch.utils._pytree import tree_map  # noqa: E402

from rulescore import NoTangent, Thunk, rrule  # noqa: E402
from rulescore.ad import grad as our_grad  # noqa: E402
from rulescore.ad import hessian as our_hessian  # noqa: E402
from rulescore.ad import jvp as our_jvp  # noqa: E402
from rulescore.ad import primitive  # noqa: E402
from rulescore.backends.torch import TorchConfig, from_torch, to_torch  # noqa: E402
from rulescore.config import rrule_via_ad  # noqa: E402
from rulescore.operators import pool_sum, segment_sum, segments  # noqa: E402
from testutils import check_rule  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning:torch")


def by_numpy(x, y):
    return np.sin(x) * np.exp(y) + x**3


def by_torch(x, y):
    return torch.sin(x) * torch.exp(y) + x**3


OURS = to_torch(by_numpy)
NX, NY = np.array([0.3, 0.7, 1.1]), np.array([0.2, -0.4, 0.5])
X, Y = torch.tensor(NX), torch.tensor(NY)


def loss(f):
    return lambda x, y: (f(x, y) ** 2).sum()


TRANSFORMATIONS = {
    "call": lambda f: f,
    "grad": lambda f: grad(loss(f), (0, 1)),
    "vjp": lambda f: lambda x, y: vjp(f, x, y)[1](x),
    "jvp": lambda f: lambda x, y: jvp(f, (x, y), (y, x)),
    "jacfwd": lambda f: jacfwd(f, (0, 1)),
    "jacrev": lambda f: jacrev(f, (0, 1)),
    "hessian": lambda f: hessian(loss(f), (0, 1)),
    "reverse of reverse": lambda f: jacrev(jacrev(f, (0, 1)), (0, 1)),
    "reverse of forward": lambda f: jacrev(jacfwd(f, (0, 1)), (0, 1)),
    "forward of forward": lambda f: jacfwd(jacfwd(f, (0, 1)), (0, 1)),
    "third order": lambda f: jacfwd(jacrev(jacfwd(f))),
    "Hessian-vector product": lambda f: lambda x, y: jvp(grad(loss(f)), (x, y), (y, x)),
    "vmap": vmap,
    "vmap of grad": lambda f: vmap(grad(f)),
    "vmap of hessian": lambda f: vmap(hessian(f)),
    "grad of vmap with one argument mapped": lambda f: grad(lambda x, y: vmap(f, (None, 0))(x, y).sum(), (0, 1)),
    "vmap of vmap": lambda f: lambda x, y: vmap(vmap(f, (0, None)), (None, 0))(x, y),
    "linearize": lambda f: lambda x, y: torch.func.linearize(f, x, y)[1](y, x),
}


def assert_same(found, expected):
    found, expected = torch.utils._pytree.tree_leaves(found), torch.utils._pytree.tree_leaves(expected)
    assert len(found) == len(expected)
    for a, b in zip(found, expected, strict=True):
        torch.testing.assert_close(a, b, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("name", TRANSFORMATIONS)
def test_all_transformations_work(name):
    transform = TRANSFORMATIONS[name]
    assert_same(transform(OURS)(X, Y), transform(by_torch)(X, Y))


def leaf(array):
    return torch.tensor(array, requires_grad=True)


CHECKED = {
    "two arguments": (by_numpy, (NX, NY)),
    "of complex": (lambda z: np.sin(z) * np.conj(z), (np.array([0.3 + 0.2j, 1 - 0.5j]),)),
    "to real": (lambda z: np.real(z) ** 2 * np.abs(z), (np.array([0.3 + 0.2j, 1 - 0.5j]),)),
    "several results": (lambda x: (x**2, np.sum(x**3)), (NX,)),
    "a matrix": (np.linalg.inv, (np.array([[2.0, 1.0], [0.3, 3.0]]),)),
}


@pytest.mark.parametrize("case", CHECKED)
def test_gradcheck_and_gradgradcheck(case):
    f, arrays = CHECKED[case]
    inputs = tuple(map(leaf, arrays))
    assert gradcheck(to_torch(f), inputs, check_forward_ad=True)
    assert gradgradcheck(to_torch(f), inputs, check_fwd_over_rev=True, check_rev_over_rev=True)


def test_batched_gradients_of_the_old_kind_say_what_to_use():
    with pytest.raises(RuntimeError, match=r"use torch\.func\.vmap, jacrev or jacfwd"):
        torch.autograd.functional.jacobian(lambda x: OURS(x, Y), X, vectorize=True)


def test_gradients_of_gradients_of_gradients():
    x = leaf(NX)
    y = OURS(x, Y).sum()
    for _ in range(3):
        (g,) = torch.autograd.grad(y, x, create_graph=True)
        y = g.sum()
    torch.testing.assert_close(g, -torch.cos(X) * torch.exp(Y) + 6)


def test_backward_keeps_to_the_rules_of_pytorch():
    x = leaf(NX)
    y = OURS(x, Y)
    y.sum().backward(retain_graph=True)
    y.sum().backward()
    torch.testing.assert_close(x.grad, 2 * (torch.cos(X) * torch.exp(Y) + 3 * X**2))
    with pytest.raises(RuntimeError, match="second time"):
        y.sum().backward()
    x = leaf(NX)
    copy = x * 1.0
    y = OURS(copy, Y)
    with torch.no_grad():
        copy.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_only_what_is_needed_is_computed():
    computed = []

    def scaled(x, y):
        return x * y

    @rrule.register(scaled)
    def scaled_rrule(x, y):
        def bar(which, value):
            return Thunk(lambda: computed.append(which) or value)

        return x * y, lambda zbar: (NoTangent(), bar("x", zbar * y), bar("y", zbar * x))

    to_torch(scaled)(leaf(NX), Y).sum().backward()
    assert computed == ["x"]


def test_the_rule_computes_the_primal_and_only_once():
    runs = []

    def costly(x):
        raise AssertionError("the rule computes it")

    @rrule.register(costly)
    def costly_rrule(x):
        runs.append(1)
        return x**2, lambda ybar: (NoTangent(), 20 * ybar * x)

    x = leaf(NX)
    to_torch(costly)(x).sum().backward()
    assert runs == [1]
    torch.testing.assert_close(x.grad, 20 * X)


def test_tensors_and_arrays_share_memory():
    seen = []

    def f(x):
        seen.append(x)
        return x * 2

    big = torch.ones(1000, dtype=torch.float64)
    to_torch(f)(big)
    assert np.shares_memory(seen[0], big.numpy())


def test_functions_cannot_write_into_tensors():
    def f(x):
        x[0] = 7.0
        return x

    x = torch.ones(3)
    with pytest.raises(ValueError, match="read-only"):
        to_torch(f)(x)
    assert x[0] == 1


def test_results_never_share_memory_with_arguments_or_each_other():
    x = torch.ones(3, dtype=torch.float64)
    for f in (np.asarray, np.ravel, lambda x: x[1:], np.flip):
        y = to_torch(f)(x)
        y.zero_()
    assert x.sum() == 3
    a, b = leaf(NX), leaf(NY)
    to_torch(np.add)(a, b).sum().backward()
    a.grad.zero_()
    assert b.grad.sum() == 3
    c, d = to_torch(lambda x: (x, x))(torch.ones(2))
    c.zero_()
    assert d.sum() == 2


def test_dtypes_are_kept():
    x = torch.tensor(NX, dtype=torch.float32, requires_grad=True)
    y = to_torch(np.sin)(x)
    y.sum().backward()
    assert y.dtype == x.grad.dtype == torch.float32
    with pytest.raises(TypeError, match=r"\.to\(torch\.float32\)"):
        to_torch(np.sin)(torch.ones(2).to(torch.float8_e4m3fn))
    with pytest.raises(TypeError, match="no tensors of"):
        to_torch(lambda x: np.asarray(x, np.longdouble))(X)


def test_containers_settings_and_constant_results():
    def f(tree, scale=1.0):
        return {"y": scale * tree["a"] * np.sum(tree["b"][0]), "best": np.argmax(tree["a"])}

    a, b = leaf(NX), leaf(NY)
    result = to_torch(f)({"a": a, "b": (b,)}, scale=2.0)
    assert result["best"] == 2
    assert not result["best"].requires_grad
    result["y"].sum().backward()
    torch.testing.assert_close(a.grad, torch.full_like(X, 2 * NY.sum()))
    torch.testing.assert_close(b.grad, torch.full_like(X, 2 * NX.sum()))
    assert to_torch(np.linalg.eigh)(torch.eye(2)).eigenvalues.shape == (2,)
    torch.testing.assert_close(to_torch(np.add)(X, NY), X + Y)


def test_batches_are_taken_item_by_item_or_at_once():
    shapes = []

    def f(x):
        shapes.append(x.shape)
        return np.sum(x**2, axis=-1)

    a = torch.arange(6.0, dtype=torch.float64).reshape(3, 2)
    assert_same(vmap(to_torch(f))(a), (a**2).sum(-1))
    assert (3, 2) not in shapes
    assert_same(vmap(grad(to_torch(f, vmap_method="broadcast_all")))(a), 2 * a)
    assert (3, 2) in shapes


# ---------------------------------------------------------------- torch.compile


def compiled(f):
    torch._dynamo.reset()
    return torch.compile(f, fullgraph=True, backend="aot_eager")


def test_compiled_programs_without_graph_breaks():
    assert_same(compiled(lambda x, y: 2 * OURS(x, y))(X, Y), 2 * by_torch(X, Y))
    ours = to_torch(np.sum)
    assert_same(compiled(lambda x: ours(x, axis=0, keepdims=True))(X), X.sum(0, keepdim=True))
    eigh = to_torch(np.linalg.eigh)
    a = torch.diag(X)
    assert_same(compiled(lambda a: eigh(a).eigenvalues)(a), X)
    several = to_torch(lambda tree: {"s": (tree["x"] * 2, [tree["x"][0]])})
    assert_same(compiled(lambda x: several({"x": x})["s"][1][0])(X), X[0])


def test_gradients_of_compiled_programs():
    found, expected = (leaf(NX), leaf(NY)), (leaf(NX), leaf(NY))
    compiled(loss(OURS))(*found).backward()
    loss(by_torch)(*expected).backward()
    assert_same([x.grad for x in found], [x.grad for x in expected])


COMPILED_GRADIENT = """
import sys
import numpy as np
import torch
from rulescore.backends.torch import to_torch

f, x = to_torch(getattr(np, sys.argv[1])), torch.tensor([0.3, 0.7], dtype=torch.float64, requires_grad=True)
f(x)
print(torch.autograd.grad(torch.compile(lambda x: f(x), fullgraph=True)(x).sum(), x)[0].tolist())
"""


def test_programs_that_pytorch_keeps_for_later_processes_are_those_of_other_functions(tmp_path):
    def gradient(name):
        return subprocess.run(
            [sys.executable, "-W", "ignore", "-c", COMPILED_GRADIENT, name],
            capture_output=True,
            text=True,
            check=True,
            env=os.environ | {"TORCHINDUCTOR_CACHE_DIR": str(tmp_path)},
        ).stdout

    first = torch.tensor([0.3, 0.7], dtype=torch.float64)
    assert gradient("sin") == f"{first.cos().tolist()}\n"
    assert gradient("exp") == f"{first.exp().tolist()}\n"


@pytest.mark.parametrize("calls", [1, 3])
def test_what_autograd_does_may_be_compiled(calls):
    ours, x = to_torch(np.exp), leaf(NX)
    for _ in range(calls):
        ours(x)
    torch._dynamo.reset()
    with torch._dynamo.compiled_autograd._enable(torch.compile(backend="aot_eager")):
        ours(ours(x)).sum().backward()
    assert_same(x.grad, (X.exp() + X).exp())


@pytest.mark.parametrize(
    "transform",
    [
        lambda f: grad(lambda x: f(x).sum())(X),
        lambda f: vmap(f)(X),
        lambda f: jvp(f, (X,), (Y,)),
        lambda f: vjp(f, X)[1](Y),
        lambda f: hessian(lambda x: f(x).sum())(X),
        lambda f: vmap(grad(lambda x: f(x).sum()))(X),
    ],
    ids=["grad", "vmap", "jvp", "vjp", "hessian", "vmap of grad"],
)
def test_transforms_of_compiled_functions(transform):
    ours = to_torch(np.sinh)
    torch._dynamo.reset()
    assert_same(transform(torch.compile(ours, backend="aot_eager")), transform(torch.sinh))
    assert_same(transform(torch.compile(lambda x: ours(x) * 2, backend="aot_eager")), transform(lambda x: 2 * x.sinh()))


def test_a_pullback_may_be_called_within_a_compiled_program():
    pull = vjp(to_torch(np.sinh), X)[1]
    torch._dynamo.reset()
    assert_same(torch.compile(lambda ybar: 2 * pull(ybar)[0], backend="aot_eager")(Y), 2 * Y * X.cosh())


Scale = collections.namedtuple("Scale", "factor power")


@dataclasses.dataclass(frozen=True)
class Shift:
    by: float = 2.0


ROWS, COLUMNS = segments(3, 2), segments(4, 2)


@pytest.mark.parametrize(
    ("f", "arguments"),
    [
        (pool_sum, (ROWS, COLUMNS)),
        (lambda x, shift: x + shift.by, (Shift(),)),
        (lambda x, scale: scale.factor * x**scale.power, (Scale(3.0, 2),)),
        (lambda x, scale: scale.factor * x**scale.power, (Scale(torch.ones(4), 2),)),
        (lambda x, w: x * w, (np.arange(4.0),)),
        (lambda x, w: x * w[0] + w[1], ([np.arange(4.0), 2.0],)),
        (np.multiply, (np.float64(2.0),)),
        (np.sum, (np.int64(1),)),
        (lambda x, f: f(x), (np.sinh,)),
        (lambda x, f: f(x), (functools.partial(np.power, 2.0),)),
        (lambda x, at: x[at] * 2, ((slice(1, 3), ...),)),
        (segment_sum, (np.array([0, 0, 1]), 2)),
        (lambda x, n, alpha: primitive(eval_genlaguerre)(n, alpha, x), (2, np.arange(4.0))),  # none by alpha
    ],
)
def test_arguments_of_compiled_programs_that_are_no_tensors(f, arguments):
    ours = to_torch(f)
    found, expected = (torch.arange(12.0, dtype=torch.float64).reshape(3, 4).requires_grad_() for _ in range(2))
    y, z = compiled(lambda x: ours(x, *arguments))(found), ours(expected, *arguments)
    assert_same(y, z)
    y.sum().backward()
    z.sum().backward()
    assert_same(found.grad, expected.grad)


@pytest.mark.parametrize("numbers", [(2, 3, 4, -1), (2.0, 3.0, 4.5), (True, False), ((2, 1.5), (3, 2.5))])
def test_a_compiled_program_is_made_for_each_number(numbers):
    ours = to_torch(lambda x, number: x * np.sum(number))
    program = compiled(lambda x, number: ours(x, number))
    for number in numbers:
        assert_same(program(X, number), X * np.sum(number))
    axes = compiled(lambda x, axis: OF_AXIS(x, axis=axis))
    for axis in (0, 1, -1, (0,), (1,)):
        assert_same(axes(torch.outer(X, Y), axis), torch.outer(X, Y).sum(axis))


OF_AXIS = to_torch(np.sum)


def test_objects_are_made_outside_of_compiled_programs():
    ours = to_torch(pool_sum)
    with pytest.raises(Exception, match=r"Segments that was made within a compiled program: make it outside"):
        compiled(lambda x: ours(x, segments(3, 2), segments(4, 2)))(torch.ones(3, 4))


@pytest.mark.parametrize(
    "result_shapes",
    [
        lambda x, y, *, scale: {"product": torch.empty(len(x), len(y), dtype=x.dtype, device="meta"), "sum": (x[0],)},
        {"product": np.empty((3, 3)), "sum": (np.float64(0.0),)},
    ],
    ids=["of the arguments", "known"],
)
def test_a_function_is_not_called_to_find_shapes_that_are_declared(result_shapes):
    given = []

    def f(x, y, *, scale):
        given.append(x)
        return {"product": scale * np.outer(x, y), "sum": (np.sum(x),)}

    ours = to_torch(f, result_shapes=result_shapes)
    y = compiled(lambda x, y: ours(x, y, scale=2.0))(X, Y)
    assert len(given) == 1
    assert_same(y["product"], 2 * torch.outer(X, Y))
    assert_same(y["sum"][0], X.sum())


def test_a_result_that_is_not_as_declared_is_told():
    ours = to_torch(np.sinh, result_shapes=torch.empty(2, device="meta"))
    with pytest.raises(Exception, match=r"sinh returned float64\[3\] where .* float32\[2\] with result_shapes="):
        compiled(lambda x: ours(x))(X)
    ours = to_torch(np.sinh, result_shapes=torch.empty(3, device="meta"))
    with pytest.raises(Exception, match=r"sinh returned float64\[3\] where .* float32\[3\] with result_shapes="):
        compiled(lambda x: ours(x))(X)


def test_a_shape_that_depends_on_values_is_told_where_a_program_is_compiled():
    ours = to_torch(lambda x: x[x > 0.5])
    x = leaf(NX)
    ours(x).sum().backward()
    assert_same(x.grad, (X > 0.5).double())
    with pytest.raises(Exception, match=r"float64\[2\] where .* told float64\[3\]: these depend on values"):
        compiled(lambda x: ours(x))(X)


def test_vmap_within_a_compiled_program():
    assert_same(compiled(lambda x, y: vmap(OURS)(x, y))(X, Y), by_torch(X, Y))


def test_forward_mode_within_a_compiled_program_is_an_error_and_never_zero():
    with pytest.raises(Exception, match="no derivative in forward mode"):
        compiled(lambda x: jvp(lambda x: OURS(x, Y), (x,), (Y,))[1])(X)


def test_programs_that_are_written_down_hold_no_results():
    from torch.fx.experimental.proxy_tensor import make_fx

    program = make_fx(OURS)(X, Y)
    assert_same(program(Y, X), by_torch(Y, X))


def test_programs_that_are_written_down_hold_no_results_of_calls_after_the_first():
    from torch.fx.experimental.proxy_tensor import make_fx

    ours = to_torch(np.sin)
    for _ in range(3):
        program = make_fx(lambda x: ours(x) * 1.0)(leaf(NX))
        assert_same(program(Y), Y.sin())
        ours(leaf(NX)).sum().backward()


def exported(f):
    class Module(torch.nn.Module):
        def forward(self, x):
            return f(x)

    return torch.export.export(Module(), (X,)).module()


def made_into_graph(f):
    from torch.fx.experimental.proxy_tensor import make_fx

    return make_fx(f)(X)


@pytest.mark.parametrize("write_down", [exported, made_into_graph, lambda f: torch.jit.trace(f, X, check_trace=False)])
@pytest.mark.filterwarnings("ignore::torch.jit.TracerWarning")
def test_programs_that_are_written_down_live_longer_than_the_function(write_down):
    program = write_down(to_torch(lambda x: 2 * np.sinh(x)))
    gc.collect()
    assert_same(program(Y), 2 * Y.sinh())


def test_dual_tensors():
    with torch.autograd.forward_ad.dual_level():
        x = torch.autograd.forward_ad.make_dual(X, Y)
        found = torch.autograd.forward_ad.unpack_dual(OURS(x, Y)).tangent
        expected = torch.autograd.forward_ad.unpack_dual(by_torch(x, Y)).tangent
    assert_same(found, expected)


def test_what_is_constant_within_a_gradient_is_no_more_than_computed():
    def without_rules(x):
        return 2 * np.sinh(x)

    assert_same(torch.func.grad(lambda y: (to_torch(without_rules)(X) * y).sum())(Y), 2 * X.sinh())


@pytest.mark.parametrize("create_graph", [False, True])
@pytest.mark.parametrize("moves", ["argument", "seed"])
def test_gradients_of_dual_tensors_have_tangents(moves, create_graph):
    dual = torch.autograd.forward_ad.make_dual

    def moved_gradient(f):
        with torch.autograd.forward_ad.dual_level():
            x = dual(leaf(NX), Y) if moves == "argument" else leaf(NX)
            seed = dual(torch.ones_like(X), Y) if moves == "seed" else torch.ones_like(X)
            (xbar,) = torch.autograd.grad(f(x, Y), x, seed, create_graph=create_graph)
            return torch.autograd.forward_ad.unpack_dual(xbar).tangent.detach()

    assert_same(moved_gradient(OURS), moved_gradient(by_torch))


@pytest.mark.parametrize("create_graph", [False, True])
def test_a_gradient_has_a_tangent_where_forward_mode_begins_after_the_call(create_graph):
    def moved_gradient(f):
        x = leaf(NX)
        y = f(x, Y)
        with torch.autograd.forward_ad.dual_level():
            seed = torch.autograd.forward_ad.make_dual(torch.ones_like(X), Y)
            (xbar,) = torch.autograd.grad(y, x, seed, create_graph=create_graph)
            return torch.autograd.forward_ad.unpack_dual(xbar).tangent.detach()

    assert_same(moved_gradient(OURS), moved_gradient(by_torch))


def test_a_program_from_another_process_is_an_error():
    with pytest.raises(RuntimeError, match="Compile the program again"):
        torch.ops.rulescore.host_call([X], 0)


def test_opcheck():
    compiled(lambda x, y: OURS(x, y))(X, Y)
    from rulescore.backends.torch.custom_operator import _numbers

    number = next(number for function, number in _numbers.items() if function.name.endswith("by_numpy"))
    results = torch.library.opcheck(torch.ops.rulescore.host_call.default, ([leaf(NX), leaf(NY)], number))
    assert set(results.values()) == {"SUCCESS"}


# ---------------------------------------------------------------- errors


@pytest.mark.parametrize(
    "others", [(), (Y,), (NY,), (leaf(NY),), (2.0,)], ids=["alone", "a constant", "an array", "two", "a number"]
)
@pytest.mark.parametrize(
    "wrong",
    [lambda x: x[:-1], lambda x: x[None], np.sum, lambda x: np.append(x, x)],
    ids=["cut", "an axis more", "a number", "twice as long"],
)
def test_a_cotangent_of_a_wrong_shape_is_an_error_that_names_the_function(wrong, others):
    def rule(x, *others):
        return 2 * x, lambda ybar: (NoTangent(), wrong(2 * ybar), *map(np.zeros_like, others))

    constants = [Y if isinstance(x, torch.Tensor) else x for x in others]
    with rrule.override(doubled_exp, rule):
        ours = to_torch(doubled_exp)
        for _ in range(3):
            with pytest.raises(ValueError, match=r"the rrule of .*doubled_exp returned a cotangent of shape"):
                ours(leaf(NX), *others).sum().backward()
            with pytest.raises(ValueError, match="for an argument of shape"):
                grad(lambda x: ours(x, *constants).sum())(X)


def test_bad_calls_say_what_to_write():
    with pytest.raises(TypeError, match="got no function"):
        to_torch(X)
    with pytest.raises(ValueError, match="'sequential' or 'broadcast_all'"):
        to_torch(np.sin, vmap_method="batched")
    with pytest.raises(TypeError, match="neither an array nor hashable"):
        to_torch(np.sum)(X, {1})


def test_a_function_is_made_outside_of_compiled_programs():
    with pytest.raises(Exception, match=r"write g = to_torch\(f\) outside"):
        compiled(lambda x: to_torch(np.sin)(x))(X)
    torch._dynamo.reset()
    assert_same(torch.compile(lambda x: to_torch(np.sin)(x) * 2, backend="aot_eager")(X), 2 * X.sin())


def test_without_pytorch_the_error_names_the_extra():
    program = "import sys; sys.modules['torch'] = None; import rulescore.backends.torch"
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert result.returncode != 0
    assert "pip install 'rulescore[torch]'" in result.stderr


WRITTEN_INTO = {
    "backward": lambda f, x: torch.autograd.grad(f(x.requires_grad_()), x)[0],
    "double backward": lambda f, x: torch.autograd.functional.hessian(f, x),
    "torch.func.grad": lambda f, x: torch.func.grad(f)(x),
    "torch.func.vjp": lambda f, x: torch.func.vjp(f, x)[1](torch.ones((), dtype=x.dtype))[0],
    "torch.func.hessian": lambda f, x: torch.func.hessian(f)(x),
    "torch.compile, by aot_eager": lambda f, x: torch.autograd.grad(compiled(f)(x.requires_grad_()), x)[0],
}
if shutil.which(os.environ.get("CXX", "g++")):  # which PyTorch compiles with
    WRITTEN_INTO["torch.compile"] = lambda f, x: torch.autograd.grad(
        torch.compile(f, fullgraph=True)(x.requires_grad_()), x
    )[0]


@pytest.mark.parametrize("transform", WRITTEN_INTO)
@pytest.mark.parametrize("name", ["exp", "tanh", "sqrt"])
def test_a_result_may_be_written_into_whose_pullback_holds_it(transform, name):
    ours = to_torch(getattr(np, name))

    def loss(f):
        def of(x):
            y = f(x)
            y.mul_(3.0)
            return (y * y).sum()

        return of

    x = torch.tensor([0.1, 0.7], dtype=torch.float64)
    for _ in range(3):  # the first calls ask more than those after them
        found = WRITTEN_INTO[transform](loss(ours), x.clone())
    expected = WRITTEN_INTO[transform](loss(lambda x: getattr(torch, name)(x) * 1.0), x.clone())
    torch.testing.assert_close(found, expected)


# ---------------------------------------------------------------- calls after the first, which ask less


def doubled_exp(x, *others):
    return 2 * np.exp(x)


def held(pullback_holds):
    """A rule of `doubled_exp` whose pullback holds the result in some way."""

    def rule(x, *others):
        y = 2 * np.exp(x)
        if pullback_holds == "a view of it":
            kept = y[:]
        elif pullback_holds == "what it is a view of":
            kept = y
            y = y.reshape(-1, 1)[:, 0]
        elif pullback_holds == "another view":
            both = y.reshape(-1, 1)
            kept, y = both[:, 0], both.T[0]
        elif pullback_holds == "what it has the buffer of":
            kept = y
            y = np.frombuffer(y)
        elif pullback_holds == "what it is a part of strides over":
            kept = y
            y = np.lib.stride_tricks.as_strided(y)[:]
        elif pullback_holds == "what it strides over":
            kept = y
            y = np.lib.stride_tricks.as_strided(y)
        else:
            kept = y
        return y, lambda ybar: (NoTangent(), ybar * kept, *map(np.zeros_like, others))

    return rule


@pytest.mark.parametrize(
    "others",
    [(), (Y,), (NY,), (leaf(NY),), (2.0,)],
    ids=["alone", "a constant", "an array", "two", "a number"],
)
@pytest.mark.parametrize(
    "holds",
    [
        "itself",
        "a view of it",
        "what it is a view of",
        "another view",
        "what it has the buffer of",
        "what it is a part of strides over",
        "what it strides over",
    ],
)
def test_a_result_that_is_written_into_is_noticed_however_the_pullback_holds_it(holds, others):
    with rrule.override(doubled_exp, held(holds)):
        ours = to_torch(doubled_exp)
        for _ in range(3):
            x = leaf(NX)
            ours(x, *others).mul_(3.0).sum().backward()
            assert_same(x.grad, 6 * X.exp())


def place_of(y):
    return y.__array_interface__["data"][0]


@pytest.mark.parametrize("others", [(), (Y,), (NY,), (leaf(NY),), (2.0,)])
@pytest.mark.parametrize("part", [lambda y: y, lambda y: y.reshape(-1, 1)[:, 0]], ids=["itself", "a view"])
@pytest.mark.parametrize("of_what", [leaf, torch.tensor], ids=["differentiated", "a value"])
def test_a_result_that_nobody_else_holds_is_not_copied(of_what, part, others):
    places = []

    def value(x, *others):
        y = part(2 * np.exp(x))
        places.append(place_of(y))
        return y

    def rule(x, *others):
        return value(x), lambda ybar: (NoTangent(), 2 * np.exp(x) * ybar, *map(np.zeros_like, others))

    rrule.register(value)(rule)
    ours = to_torch(value)
    for _ in range(3):
        y = ours(of_what(NX), *others)
        assert y.data_ptr() == places[-1]


def own_buffer():
    buffer = np.zeros((2, 3))

    def f(x):
        np.multiply(x, 2.0, out=buffer)
        return buffer

    return f


def part_of_own_buffer():
    buffer = np.zeros((2, 2, 3))

    def f(x):
        np.multiply(x, 2.0, out=buffer[1])
        return buffer[1]

    return f


def memoised():
    memo = {}

    def f(x):
        if x.tobytes() not in memo:
            memo[x.tobytes()] = x * 2.0
        return memo[x.tobytes()]

    return f


def argument():
    return lambda x: x


@pytest.mark.parametrize("make", [own_buffer, part_of_own_buffer, memoised, argument])
@pytest.mark.parametrize("transform", [lambda f: f, lambda f: lambda x: torch.func.vjp(f, x)[0]], ids=["eager", "vjp"])
@pytest.mark.parametrize("of_what", [leaf, torch.tensor], ids=["differentiated", "a value"])
def test_what_the_function_may_still_hold_is_copied(of_what, transform, make):
    f = make()
    factor = 1.0 if make is argument else 2.0
    rrule.register(f)(lambda x: (f(x), lambda ybar: (NoTangent(), factor * ybar)))
    ours = transform(to_torch(f))
    x, other = of_what(np.ones((2, 3))), of_what(np.full((2, 3), 5.0))
    for _ in range(2):
        y, z = ours(x), ours(other)
        assert_same(y.detach(), torch.full((2, 3), factor, dtype=torch.float64))
        assert_same(z.detach(), torch.full((2, 3), 5.0 * factor, dtype=torch.float64))
        y.detach().zero_()  # nor does the function see what becomes of its result
    assert_same(ours(x).detach(), torch.full((2, 3), factor, dtype=torch.float64))


def test_a_program_that_is_traced_holds_the_call_and_not_its_result():
    ours = to_torch(np.sinh)
    for x in (X, leaf(NX)):
        traced = torch.jit.trace(lambda x: ours(x) + 1.0, x, check_trace=False)
        assert_same(traced(2 * X), torch.sinh(2 * X) + 1.0)
    x = leaf(2 * NX)
    traced(x).sum().backward()
    assert_same(x.grad, torch.cosh(2 * X))


def test_a_masked_result_is_refused():
    def f(x):
        return np.ma.masked_array(2 * x, mask=x > 0.5)

    with pytest.raises(TypeError, match=r"masked array.*filled"):
        to_torch(f)(X)
    with pytest.raises(TypeError, match="ordinary array"):  # of which the reference AD knows nothing
        to_torch(f)(leaf(NX))
    rrule.register(f)(lambda x: (f(x), lambda ybar: (NoTangent(), 2 * ybar)))
    with pytest.raises(TypeError, match=r"masked array.*filled"):
        to_torch(f)(leaf(NX))


def test_one_of_an_argument_is_copied():
    x, halves = X.clone(), to_torch(lambda x: x[:2])
    for _ in range(2):
        halves(x).zero_()
        assert_same(x, X)


def kept(x):
    return FROZEN


FROZEN = np.array([1.0, 2.0, 3.0])
FROZEN.flags.writeable = False


def of_memory_in_common(x, places):
    y = np.exp(x)
    strided = np.lib.stride_tricks.as_strided(y)
    one = np.broadcast_arrays(y[:1], np.ones((1, 1)))[0]
    broadcast = [np.broadcast_to(y[0], (2, 2)), np.broadcast_arrays(y, np.ones((2, 1)))[0], one]
    every = [y, y[::-1], y[:2], strided, strided[:], *broadcast, np.frombuffer(y), np.frombuffer(x), x]
    return tuple([every[place] for place in places])


def test_no_two_results_share_memory_nor_one_with_what_is_read_only():
    with rrule.override(kept, lambda x: (FROZEN, lambda ybar: (NoTangent(), FROZEN))):
        ours = to_torch(kept)
        for _ in range(3):
            x = leaf(NX)
            y = ours(x)
            y.zero_()
            y.sum().backward()
            x.grad.zero_()
            assert FROZEN.tolist() == [1.0, 2.0, 3.0]


@pytest.mark.parametrize("others", [(), (5,)], ids=["two", "after another"])
def test_no_two_of_several_results_share_memory(others):
    def rule(x, places):
        return of_memory_in_common(x, places), lambda ybars: (NoTangent(), ybars[0])

    with rrule.override(of_memory_in_common, rule):
        ours = to_torch(of_memory_in_common)
        for pair in itertools.product(range(11), range(11)):
            for x in (X.clone(), leaf(NX)):
                expected = of_memory_in_common(NX, (*others, *pair))
                found = ours(x, (*others, *pair))
                found[-2].detach().zero_()
                assert_same(found[-1], torch.tensor(np.array(expected[-1])))
                assert_same(x, X)
                found[-1].detach().zero_()
                assert_same(x, X)


@pytest.mark.parametrize(
    ("f", "given", "of_x"),
    [
        (np.sin, lambda x: (x,), lambda x: x.cos()),
        (np.power, lambda x: (x, 3.0), lambda x: 3 * x**2),
        (np.power, lambda x: (2.0, x), lambda x: 2.0**x * np.log(2.0)),
        (np.where, lambda x: (True, x, 1.0), torch.ones_like),
        (np.copy, lambda x: (x,), torch.ones_like),
        (np.sum, lambda x: (x,), torch.ones_like),
        (np.sum, lambda x: (x, 0), torch.ones_like),
        (np.floor, lambda x: (x,), torch.zeros_like),
        (np.reshape, lambda x: (x, (3, 1)), torch.ones_like),
        (np.flip, lambda x: (x, 0), torch.ones_like),
    ],
)
def test_a_function_of_one_array_answers_the_same_at_every_call(f, given, of_x):
    ours = to_torch(f)
    for _ in range(3):
        x = leaf(NX)
        y = ours(*given(x))
        assert_same(y, torch.from_numpy(np.array(f(*given(NX)))))
        y.sum().backward(retain_graph=True)
        assert_same(x.grad, of_x(X))
        x.grad.zero_()  # may have the memory of what the pullback returned
        y.sum().backward()
        assert_same(x.grad, of_x(X))
        assert_same(torch.func.grad(lambda x: ours(*given(x)).sum())(X), of_x(X))


def multiplied(x, y):
    return x * y


RULES_OF_MULTIPLIED = {
    "arrays": lambda x, y: (x * y, lambda ybar: (NoTangent(), ybar * y, ybar * x)),
    "thunks": lambda x, y: (
        x * y,
        lambda ybar: (NoTangent(), Thunk(lambda: ybar * y), Thunk(lambda: Thunk(lambda: ybar * x))),
    ),
    "needs": lambda x, y, *, needs=(True, True): (
        x * y,
        lambda ybar: (NoTangent(), ybar * y if needs[0] else NoTangent(), ybar * x if needs[1] else NoTangent()),
    ),
    "views": lambda x, y: (
        np.stack([x * y])[0],
        lambda ybar: (NoTangent(), np.stack([y * ybar])[0], np.flip(np.flip(x) * np.flip(ybar))),
    ),
}
KINDS = {
    "differentiated": leaf,
    "a constant": torch.tensor,
    "an array": np.array,
    "an array without writing": lambda x: np.broadcast_to(x, (1, 3))[0],
    "an array of bytes in the other order": lambda x: x.astype(x.dtype.newbyteorder()),
}


@pytest.mark.parametrize("rule", RULES_OF_MULTIPLIED)
@pytest.mark.parametrize("names", [names for names in itertools.product(KINDS, KINDS) if "differentiated" in names])
def test_a_function_of_two_arrays_answers_the_same_at_every_call(rule, names):
    with rrule.override(multiplied, RULES_OF_MULTIPLIED[rule]):
        ours = to_torch(multiplied)
        for _ in range(4):
            x, y = (KINDS[name](value) for name, value in zip(names, (NX, NY), strict=True))
            z = ours(x, y)
            assert_same(z, X * Y)
            z.sum().backward(retain_graph=True)
            for argument, expected in ((x, Y), (y, X)):
                if isinstance(argument, torch.Tensor) and argument.requires_grad:
                    assert_same(argument.grad, expected)
                    argument.grad.zero_()  # may have the memory of what the pullback returned
            z.sum().backward()
            for argument, expected in ((x, Y), (y, X)):
                if isinstance(argument, torch.Tensor) and argument.requires_grad:
                    assert_same(argument.grad, expected)
            x, y = (x.detach() if isinstance(x, torch.Tensor) else x for x in (x, y))
            if names[0] == "differentiated":
                z, pull = vjp(lambda x: ours(x, y), x)  # noqa: B023 - called at once
                assert_same((z, pull(X)[0], pull(Y)[0]), (X * Y, X * Y, Y * Y))
                assert_same(grad(lambda x: ours(x, y).sum())(x), Y)  # noqa: B023
            if names == ("differentiated", "differentiated"):
                assert_same(grad(lambda x, y: ours(x, y).sum(), (0, 1))(x, y), (Y, X))
            if names[1] == "differentiated":
                assert_same(vjp(lambda y: ours(x, y), y)[1](X)[0], X * X)  # noqa: B023


@pytest.mark.parametrize("names", [("differentiated", "an array"), ("a constant", "differentiated")])
def test_derivatives_of_every_order_beside_constants_at_every_call(names):
    with rrule.override(multiplied, lambda x, y: (x * y, lambda ybar: (NoTangent(), ybar * y, ybar * x))):
        ours = to_torch(multiplied)
        for _ in range(3):
            x, y = (KINDS[name](value) for name, value in zip(names, (NX, NY), strict=True))
            (argument,) = [x for x in (x, y) if isinstance(x, torch.Tensor) and x.requires_grad]
            cube = ours(x, y) * ours(x, y) * ours(x, y)
            expected = (X * Y / argument.detach()) ** 3
            (first,) = torch.autograd.grad(cube.sum(), argument, create_graph=True)
            assert_same(first.detach(), 3 * expected * argument.detach() ** 2)
            (second,) = torch.autograd.grad(first.sum(), argument)
            assert_same(second, 6 * expected * argument.detach())
            with torch.autograd.forward_ad.dual_level():
                moved = torch.autograd.forward_ad.make_dual(argument, torch.ones_like(X))
                z = ours(*[moved if given is argument else given for given in (x, y)])
                assert_same(torch.autograd.forward_ad.unpack_dual(z).tangent, X * Y / argument.detach())
            with torch.no_grad():
                assert not ours(x, y).requires_grad

            def cubed(moved):
                z = ours(*[moved if given is argument else given for given in (x, y)])  # noqa: B023
                return (z * z * z).sum()

            assert_same(grad(cubed)(argument.detach()), 3 * expected * argument.detach() ** 2)
            assert_same(hessian(cubed)(argument.detach()), torch.diag(6 * expected * argument.detach()))
            assert_same(jacrev(grad(cubed))(argument.detach()), torch.diag(6 * expected * argument.detach()))


def test_transformations_within_differentiated_programs_at_every_call():
    with rrule.override(multiplied, RULES_OF_MULTIPLIED["arrays"]):
        ours = to_torch(multiplied)
        for _ in range(4):
            x, sine = leaf(NX), to_torch(np.sin)
            ours(x, leaf(NY))
            grad(lambda y: (ours(x, y) ** 2).sum())(Y).sum().backward()  # noqa: B023 - called at once
            assert_same(x.grad, 4 * X * Y)
            for _ in range(4):
                x = leaf(NX)
                grad(lambda y: (sine(x) * y).sum())(Y).sum().backward()  # noqa: B023
                assert_same(x.grad, X.cos())
            for others in ((Y,), (NY,)):
                _, pull = vjp(lambda x: ours(x, *others), X)  # noqa: B023
                seed = leaf(NX)
                (pull(seed)[0] ** 2).sum().backward()
                assert_same(seed.grad, 2 * X * Y**2)
                assert_same(grad(lambda seed: (pull(seed)[0] ** 2).sum())(X), 2 * X * Y**2)  # noqa: B023


def test_what_is_an_array_in_one_call_may_be_a_tensor_in_the_next():
    with rrule.override(multiplied, RULES_OF_MULTIPLIED["arrays"]):
        ours = to_torch(multiplied)
        for kind in [*KINDS, *reversed(KINDS)] * 3:
            x, y = leaf(NX), KINDS[kind](NY)
            ours(x, y).sum().backward()
            assert_same(x.grad, Y)
            y = y.detach() if kind == "differentiated" else y
            assert_same(grad(lambda x: (ours(x, y) ** 2).sum())(X), 2 * X * Y**2)  # noqa: B023 - called at once
            assert_same(hessian(lambda x: (ours(x, y) ** 2).sum())(X), torch.diag(2 * Y**2))  # noqa: B023


def of_its_arguments(x, y):
    return y


@pytest.mark.parametrize("value", [lambda y: y, lambda y: y[:], lambda y: y[::-1][::-1]], ids=["it", "a view", "two"])
@pytest.mark.parametrize("kind", ["an array", "a constant"])
def test_nothing_that_comes_back_has_the_memory_of_a_constant(kind, value):
    with rrule.override(of_its_arguments, lambda x, y: (value(y), lambda ybar: (NoTangent(), value(y)))):
        ours = to_torch(of_its_arguments)
        for _ in range(4):
            x, y = leaf(NX), KINDS[kind](NY)
            z = ours(x, y)
            z.mul_(0.0)
            z.sum().backward()
            x.grad.zero_()
            assert_same(torch.as_tensor(y), Y)
            z, pull = vjp(lambda x: ours(x, y), X)  # noqa: B023 - called at once
            z.mul_(0.0)
            pull(X)[0].zero_()
            assert_same(torch.as_tensor(y), Y)


@pytest.mark.parametrize("part", [lambda both: both, lambda both: both[:]], ids=["it", "a view"])
def test_two_cotangents_in_one_array_are_two_tensors(part):
    def rule(x, y):
        def pullback(ybar):
            both = 2 * ybar
            return NoTangent(), part(both), part(both)

        return 2 * (x + y), pullback

    with rrule.override(multiplied, rule):
        ours = to_torch(multiplied)
        for _ in range(4):
            x, y = leaf(NX), leaf(NY)
            ours(x, y).sum().backward()
            x.grad.zero_()
            assert_same(y.grad, torch.full_like(Y, 2.0))


def test_a_pullback_of_two_may_stop_early_at_every_call():
    with rrule.override(multiplied, lambda x, y: (3 * x, lambda ybar: (NoTangent(), 3 * ybar))):
        ours = to_torch(multiplied)
        for _ in range(4):
            x, y = leaf(NX), leaf(NY)
            ours(x, y).sum().backward()
            assert_same((x.grad, y.grad), (torch.full_like(X, 3.0), torch.zeros_like(Y)))


@pytest.mark.parametrize("kind", ["an array", "a constant"])
def test_a_constant_cannot_be_written_into_by_a_function_at_any_call(kind):
    def rule(x, y):
        y[0] = 1.0 if len(calls) > 2 else y[0]
        return x, lambda ybar: (NoTangent(), ybar)

    calls = []
    with rrule.override(multiplied, rule):
        for _ in range(4):
            with pytest.raises(ValueError, match="read-only"):
                to_torch(multiplied)(leaf(NX), KINDS[kind](NY))
            calls.append(1)


def test_a_constant_that_was_written_into_is_an_error_at_every_call():
    with rrule.override(multiplied, RULES_OF_MULTIPLIED["arrays"]):
        ours = to_torch(multiplied)
        for _ in range(4):
            x, y = leaf(NX), Y.clone()
            z = ours(x, y)
            _, pull = vjp(lambda x: ours(x, y), X)  # noqa: B023 - called at once
            y.mul_(2.0)
            with pytest.raises(RuntimeError, match="modified by an inplace operation"):
                z.sum().backward()
            with pytest.raises(RuntimeError, match="modified by an inplace operation"):
                pull(X)


def test_what_a_rule_is_given_is_the_same_at_every_call():
    given = []

    def rule(x, y):
        given.append(type(y))
        return np.asarray(x * y), lambda ybar: (NoTangent(), np.asarray(ybar * y))

    with rrule.override(multiplied, rule):
        ours = to_torch(multiplied)
        for _ in range(4):
            ours(leaf(NX), np.array(2.0)).sum().backward()
        assert set(given) == {np.float64}
        for _ in range(4):
            with pytest.raises(TypeError, match=r"got a MaskedArray, .* pass a plain array"):
                ours(leaf(NX), np.ma.masked_array(NY, [True, False, False]))


def outlived(x):
    """A tensor of a transformation that has ended."""
    found = []
    grad(lambda y: found.append(x + y) or y.sum())(Y)
    return found[0]


def test_a_tensor_that_outlived_its_transformation_is_what_it_stands_for():
    with rrule.override(multiplied, RULES_OF_MULTIPLIED["arrays"]):
        of_two, of_one = to_torch(multiplied), to_torch(np.exp)
        for _ in range(4):
            x = leaf(NX)
            (of_two(outlived(x), NY) + of_one(outlived(x))).sum().backward()
            assert_same(x.grad, Y + (X + Y).exp())
            assert_same(grad(lambda y: of_two(outlived(X), y).sum())(Y), X + Y)
            assert_same(grad(lambda y: (of_one(outlived(X)) * y).sum())(Y), (X + Y).exp())


def shifted(a, x):
    return a + x


@pytest.mark.parametrize("stops_early", [True, False])
def test_the_cotangent_of_a_number_is_not_that_of_the_array_after_it(stops_early):
    def rule(a, x):
        return a + x, lambda ybar: (NoTangent(), 7 * ybar) if stops_early else (NoTangent(), 7 * ybar, 3 * ybar)

    with rrule.override(shifted, rule):
        ours = to_torch(shifted)
        for _ in range(3):
            x = leaf(NX)
            ours(2.0, x).sum().backward()
            assert_same(x.grad, torch.full_like(X, 0.0 if stops_early else 3.0))


def number(x):
    return x * 2


def test_a_tensor_without_axes_is_a_number_at_every_call():
    given = []

    def rule(x):
        given.append(x)
        return x * 2, lambda ybar: given.append(ybar) or (NoTangent(), 2 * ybar)

    with rrule.override(number, rule):
        ours = to_torch(number)
        for _ in range(3):
            x = leaf(np.array(0.3))
            ours(x).backward()
            assert_same(x.grad, torch.tensor(2.0, dtype=torch.float64))
    assert len(given) == 6
    assert {type(x) for x in given} == {np.float64}


def first_or_all(x):
    return x[0] * 2 if x[0] > 0 else (x * 3, x * 4) if x[0] > -1 else x * 5


def first_or_all_rrule(x):
    scale = np.zeros(3)
    if x[0] > 0:
        scale[0] = 2
        return x[0] * 2, lambda ybar: (NoTangent(), ybar * scale)
    if x[0] > -1:
        return (x * 3, x * 4), lambda ybars: (NoTangent(), 3 * ybars[0] + 4 * ybars[1])
    return x * 5, lambda ybar: (NoTangent(), 5 * ybar)


def test_the_form_of_a_result_may_depend_on_values():
    with rrule.override(first_or_all, first_or_all_rrule):
        ours = to_torch(first_or_all)
        for first, expected in (
            (1.0, [2, 0, 0]),
            (-0.5, [7, 7, 7]),
            (1.0, [2, 0, 0]),
            (-2.0, [5, 5, 5]),
            (-0.5, [7] * 3),
        ):
            x = leaf(np.array([first, 1.0, 2.0]))
            y = ours(x)
            assert isinstance(y, tuple) == (first == -0.5)
            (y[0] + y[1] if isinstance(y, tuple) else y).sum().backward()
            assert_same(x.grad, torch.tensor(expected, dtype=torch.float64))


def test_numbers_that_numpy_has_not_are_an_error_at_every_call():
    ours = to_torch(np.sin)
    for x in (leaf(NX), leaf(NX), X.to(torch.float8_e5m2)):
        if x.dtype == torch.float8_e5m2:
            with pytest.raises(TypeError, match=r"convert the tensor with \.to\(torch\.float32\)"):
                ours(x)
        else:
            ours(x)


def test_the_old_batched_gradients_are_an_error_at_every_call():
    ours = to_torch(np.sin)
    for _ in range(3):
        x = leaf(NX)
        with pytest.raises(RuntimeError, match=r"use torch\.func\.vmap, jacrev or jacfwd instead"):
            torch.autograd.grad(ours(x), x, torch.eye(3, dtype=x.dtype), is_grads_batched=True)


class Elsewhere(torch.Tensor):
    """Stands for a tensor on a GPU, which no test here has: its numbers are elsewhere."""

    @staticmethod
    def __new__(cls, held):
        return torch.Tensor._make_wrapper_subclass(cls, held.shape, dtype=held.dtype, device="meta")

    def __init__(self, held):
        self.held = held

    @classmethod
    def __torch_dispatch__(cls, f, types, args=(), kwargs=None):
        args, kwargs = tree_map(lambda x: x.held if isinstance(x, Elsewhere) else x, (args, kwargs or {}))
        return tree_map(lambda y: Elsewhere(y) if isinstance(y, torch.Tensor) else y, f(*args, **kwargs))


class Transfers(torch.overrides.TorchFunctionMode):
    """There and back."""

    def __torch_function__(self, f, types, args=(), kwargs=None):
        if f is torch.Tensor.to and args[1] == torch.device("meta"):
            return Elsewhere(args[0])
        if f is torch.Tensor.numpy and isinstance(args[0], Elsewhere):
            return args[0].held.numpy(**kwargs)
        return f(*args, **(kwargs or {}))


@pytest.mark.filterwarnings("ignore:a function made by to_torch got a tensor on meta:RuntimeWarning")
def test_results_and_gradients_are_where_the_tensor_is_at_every_call():
    ours, backward = to_torch(np.sin), torch.autograd.graph._engine_run_backward
    for _ in range(3):
        assert ours(leaf(NX)).is_cpu
        with Transfers():
            x = Elsewhere(X.clone()).requires_grad_()
            y = ours(x)
            (xbar,) = backward((y,), (Elsewhere(Y),), False, False, (x,), allow_unreachable=True)
        assert {type(y), type(xbar)} == {Elsewhere}
        assert_same((y.held, xbar.held), (X.sin(), Y * X.cos()))


@pytest.mark.filterwarnings("ignore:a function made by to_torch got a tensor on meta:RuntimeWarning")
def test_an_array_before_a_tensor_does_not_say_where_results_are():
    ours, backward = to_torch(np.multiply), torch.autograd.graph._engine_run_backward
    for _ in range(3):
        with Transfers():
            x = Elsewhere(X.clone()).requires_grad_()
            y = ours(NY, x)
            (xbar,) = backward((y,), (Elsewhere(X),), False, False, (x,), allow_unreachable=True)
        assert {type(y), type(xbar)} == {Elsewhere}
        assert_same((y.held, xbar.held), (X * Y, X * Y))


def test_sparse_tensors_are_an_error():
    with pytest.raises(TypeError, match="to_dense"):
        to_torch(np.sin)(X.to_sparse())


def test_a_cotangent_may_be_differentiable_conjugated_or_expanded():
    ours = to_torch(np.sin)
    z = torch.tensor([0.3 + 0.2j, 1 - 0.5j])
    for _ in range(3):
        x, ybar = leaf(NX), leaf(NY)
        assert_same(torch.autograd.grad(ours(x), x, ybar)[0], Y * X.cos())
        assert_same(torch.autograd.grad(ours(x), x, torch.ones((), dtype=x.dtype).expand(3))[0], X.cos())
        w = z.clone().requires_grad_()
        found, expected = (torch.autograd.grad(f(w), w, z.conj())[0] for f in (ours, torch.sin))
        torch.testing.assert_close(found, expected)


# ---------------------------------------------------------------- the other direction


def test_functions_and_modules_of_pytorch_pass_the_tester():
    assert check_rule(from_torch(by_torch), NX, NY).verdict == "pass"
    z = np.array([0.3 + 0.2j, 1 - 0.5j])
    assert check_rule(from_torch(lambda z: torch.sin(z) * torch.conj(z)), z).verdict == "pass"
    assert check_rule(from_torch(torch.nn.Linear(3, 2, dtype=torch.float64)), NX).verdict == "pass"


def test_a_function_of_pytorch_has_derivatives_of_every_order():
    f = from_torch(by_torch)
    expected = np.asarray(hessian(lambda x: by_torch(x, Y).sum())(X))
    np.testing.assert_allclose(our_hessian(lambda x: f(x, NY).sum())(NX), expected)
    _, moved = our_jvp(our_grad(lambda x: f(x, NY).sum()), (NX,), (NY,))
    np.testing.assert_allclose(moved, expected @ NY)


def test_rules_that_call_back_into_ad_can_use_pytorch():
    y, pullback = rrule_via_ad(TorchConfig(), lambda x: (x**3).sum(), X)
    assert_same(y, (X**3).sum())
    assert_same(pullback(torch.tensor(1.0, dtype=torch.float64))[1], 3 * X**2)
    assert_same(TorchConfig().frule_via_ad((NoTangent(), Y), lambda x: x**2, X)[1], 2 * X * Y)


def test_a_captured_tensor_is_told():
    scale = leaf(NX)
    for x in (X, leaf(NX)):
        with pytest.raises(TypeError, match=r"captured scale from around it.*pass it as an argument"):
            to_torch(lambda x: np.sin(x * scale))(x)


@pytest.mark.parametrize(
    "compiled", [lambda f: f, lambda f: torch.compile(f, backend="aot_eager")], ids=["eager", "compiled"]
)
def test_bfloat16_is_computed_in_single_precision(compiled):
    ours = to_torch(np.sinh)
    call = compiled(lambda x: ours(x))
    found, wanted = (torch.tensor([0.3, 0.7], dtype=torch.bfloat16, requires_grad=True) for _ in range(2))
    y = call(found)
    assert y.dtype is torch.bfloat16
    torch.testing.assert_close(y, torch.sinh(wanted), rtol=2**-7, atol=0)
    y.sum().backward()
    torch.sinh(wanted).sum().backward()
    torch.testing.assert_close(found.grad, wanted.grad, rtol=2**-7, atol=0)
    both = to_torch(np.add)
    assert compiled(lambda x, y: both(x, y))(found, torch.ones(2)).dtype is torch.float32
