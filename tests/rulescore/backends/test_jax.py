"""Functions with rules as functions of JAX: what they answer is compared with `jax.numpy`."""

import os
import subprocess
import sys
import time

import numpy as np
import pytest

jax = pytest.importorskip("jax", reason="JAX is not installed")

import jax.numpy as jnp  # noqa: E402

from rulescore import NoTangent, frule, ignore_derivatives, rrule  # noqa: E402
from rulescore.ad import grad, hessian, jvp  # noqa: E402
from rulescore.backends import jax as backend  # noqa: E402
from rulescore.backends.jax import JaxConfig, from_jax, to_jax  # noqa: E402
from rulescore.config import rrule_via_ad  # noqa: E402
from testutils import check_rule  # noqa: E402


@pytest.fixture(autouse=True)
def _double_precision():
    with jax.enable_x64(True):
        yield


def by_numpy(x, y):
    return np.sin(x) * np.exp(y) + x**3


def by_jax(x, y):
    return jnp.sin(x) * jnp.exp(y) + x**3


OURS = to_jax(by_numpy)
X, Y = np.array([0.3, 0.7, 1.1]), np.array([0.2, -0.4, 0.5])


def loss(f):
    return lambda x, y: jnp.sum(f(x, y) ** 2)


TRANSFORMATIONS = {
    "call": lambda f: f,
    "jit": jax.jit,
    "grad": lambda f: jax.grad(loss(f), (0, 1)),
    "value and grad": lambda f: jax.value_and_grad(loss(f)),
    "jit of grad": lambda f: jax.jit(jax.grad(loss(f), (0, 1))),
    "grad of jit": lambda f: jax.grad(loss(jax.jit(f)), (0, 1)),
    "jvp": lambda f: lambda x, y: jax.jvp(f, (x, y), (y, x)),
    "vjp": lambda f: lambda x, y: jax.vjp(f, x, y)[1](x),
    "linearize": lambda f: lambda x, y: jax.linearize(f, x, y)[1](x, y),
    "transpose of linearize": lambda f: lambda x, y: jax.linear_transpose(jax.linearize(f, x, y)[1], x, y)(x),
    "transpose of vjp": lambda f: lambda x, y: jax.linear_transpose(jax.vjp(f, x, y)[1], x)((x, y)),
    "jacfwd": lambda f: jax.jacfwd(f, (0, 1)),
    "jacrev": lambda f: jax.jacrev(f, (0, 1)),
    "jit of jacrev": lambda f: jax.jit(jax.jacrev(f, (0, 1))),
    "hessian": lambda f: jax.hessian(loss(f), (0, 1)),
    "jit of hessian": lambda f: jax.jit(jax.hessian(loss(f), (0, 1))),
    "reverse of reverse": lambda f: jax.jacrev(jax.jacrev(f, (0, 1)), (0, 1)),
    "reverse of forward": lambda f: jax.jacrev(jax.jacfwd(f, (0, 1)), (0, 1)),
    "forward of forward": lambda f: jax.jacfwd(jax.jacfwd(f, (0, 1)), (0, 1)),
    "third order": lambda f: jax.jacfwd(jax.jacrev(jax.jacfwd(f))),
    "Hessian-vector product, forward over reverse": lambda f: lambda x, y: jax.jvp(jax.grad(loss(f)), (x, y), (y, x)),
    "Hessian-vector product, reverse over reverse": lambda f: jax.grad(lambda x, y: jax.grad(loss(f))(x, y) @ y),
    "vmap": jax.vmap,
    "vmap of grad": lambda f: jax.vmap(jax.grad(f)),
    "vmap of hessian": lambda f: jax.vmap(jax.hessian(f)),
    "grad of vmap with one argument mapped": lambda f: jax.grad(
        lambda x, y: jax.vmap(f, (None, 0))(x, y).sum(), (0, 1)
    ),
    "vmap of vmap": lambda f: lambda x, y: jax.vmap(jax.vmap(f, (0, None)), (None, 0))(x, y),
    "jit of vmap": lambda f: jax.jit(jax.vmap(f)),
    "checkpoint": lambda f: jax.grad(loss(jax.checkpoint(f)), (0, 1)),
    "scan": lambda f: jax.grad(
        lambda x, y: jax.lax.scan(lambda c, _: (0.1 * f(c, y), c), x, None, length=4)[1].sum(), (0, 1)
    ),
    "cond": lambda f: jax.grad(lambda x, y: jax.lax.cond(x[0] > 0, f, lambda x, y: x, x, y).sum(), (0, 1)),
}


def assert_same(found, expected):
    found, expected = jax.tree_util.tree_leaves(found), jax.tree_util.tree_leaves(expected)
    assert len(found) == len(expected)
    for a, b in zip(found, expected, strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("name", TRANSFORMATIONS)
def test_all_transformations_work(name):
    transform = TRANSFORMATIONS[name]
    assert_same(transform(OURS)(jnp.asarray(X), jnp.asarray(Y)), transform(by_jax)(jnp.asarray(X), jnp.asarray(Y)))


@pytest.mark.parametrize(
    "name", ["grad", "vjp", "linearize", "jacrev", "reverse of reverse", "vmap of hessian", "scan"]
)
def test_all_works_where_jax_takes_no_linearizations(name, monkeypatch):
    private = pytest.importorskip("jax._src.interpreters.ad", reason="private")
    is_taken = backend._linearization_for(jax.__version_info__) is not None
    monkeypatch.delitem(private.primitive_linearizations, backend.host_call, raising=is_taken)
    test_all_transformations_work(name)


@pytest.mark.parametrize("name", ["jit", "jit of grad", "jit of hessian", "scan"])
def test_all_works_where_jax_has_no_direct_call_of_the_host(name, monkeypatch):
    monkeypatch.setattr(backend, "_EMITS_DIRECTLY", False)
    monkeypatch.setattr(backend.mlir, "emit_python_callback", None)
    jax.clear_caches()
    test_all_transformations_work(name)


@pytest.mark.parametrize("version", [(0, 8, 0), (0, 9, 1), (0, 13, 0), (1, 0, 0)])
def test_versions_of_jax_whose_linearizations_were_not_looked_at_trace(version):
    assert backend._linearization_for(version) is None


def test_programs_on_several_devices_work():
    program = """if True:
        import numpy as np, jax, jax.numpy as jnp
        from jax.sharding import Mesh, NamedSharding, PartitionSpec
        from rulescore.backends.jax import to_jax
        devices = jax.devices()
        x = jax.device_put(jnp.arange(8.0), NamedSharding(Mesh(np.array(devices), ("i",)), PartitionSpec("i")))
        gradient = jax.jit(jax.grad(lambda x: to_jax(np.sin)(x).sum()))(x)
        np.testing.assert_allclose(np.asarray(gradient), np.cos(np.arange(8.0)), rtol=1e-6)
        print(len(devices))
    """
    two = {**os.environ, "XLA_FLAGS": "--xla_force_host_platform_device_count=2", "JAX_PLATFORMS": "cpu"}
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, env=two)
    assert result.stdout == "2\n", result.stderr


@pytest.mark.parametrize("name", ["grad", "jit of grad", "hessian", "vmap of grad"])
def test_single_precision_stays_single(name):
    x, y = jnp.asarray(X, "float32"), jnp.asarray(Y, "float32")
    found = jax.tree_util.tree_leaves(TRANSFORMATIONS[name](OURS)(x, y))
    expected = jax.tree_util.tree_leaves(TRANSFORMATIONS[name](by_jax)(x, y))
    for a, b in zip(found, expected, strict=True):
        assert a.dtype == b.dtype == jnp.float32
        np.testing.assert_allclose(a, b, rtol=1e-5)


def test_the_rule_is_what_is_used():
    def cube(x):
        return x**3

    rrule.register(cube)(lambda x: (x**3, lambda ybar: (NoTangent(), 300 * ybar * x**2)))
    frule.register(cube)(lambda tangents, x: (x**3, 300 * x**2 * tangents[1]))
    f = to_jax(cube)
    assert jax.grad(f)(2.0) == 1200
    assert jax.jit(jax.grad(f))(2.0) == 1200
    assert jax.jvp(f, (2.0,), (1.0,))[1] == 1200
    assert jax.grad(jax.grad(f))(2.0) == 1200


COMPLEX = {
    "of complex": (lambda z: np.sin(z) * np.conj(z), lambda z: jnp.sin(z) * jnp.conj(z)),
    "to real": (lambda z: np.real(z) ** 2 * np.abs(z), lambda z: jnp.real(z) ** 2 * jnp.abs(z)),
}


@pytest.mark.parametrize("case", COMPLEX)
def test_complex_derivatives_follow_jax(case):
    f, expected = COMPLEX[case]
    z = jnp.array([0.3 + 0.2j, 1 - 0.5j])
    ours = to_jax(f)

    def pulled(f):
        return lambda z: jax.vjp(f, z)[1](jnp.ones_like(f(z)))[0]

    assert_same(jax.jvp(ours, (z,), (1j * z,)), jax.jvp(expected, (z,), (1j * z,)))
    assert_same(pulled(ours)(z), pulled(expected)(z))
    assert_same(jax.jvp(pulled(ours), (z,), (1j * z,)), jax.jvp(pulled(expected), (z,), (1j * z,)))
    assert_same(
        jax.grad(lambda z: jnp.abs(pulled(ours)(z)).sum())(z), jax.grad(lambda z: jnp.abs(pulled(expected)(z)).sum())(z)
    )


def test_containers_go_in_and_out():
    def f(tree, scale=1.0):
        return {"y": scale * tree["a"] * tree["b"][0].sum(), "best": np.argmax(tree["a"])}

    ours = to_jax(f)
    tree = {"a": jnp.asarray(X), "b": (jnp.asarray(Y),)}
    value, gradient = jax.value_and_grad(lambda tree: ours(tree, scale=2.0)["y"].sum())(tree)
    assert_same(value, 2 * X.sum() * Y.sum())
    assert_same(gradient, {"a": jnp.full(3, 2 * Y.sum()), "b": (jnp.full(3, 2 * X.sum()),)})
    assert jax.jit(ours)(tree)["best"] == 2
    eigh = to_jax(np.linalg.eigh)
    a = jnp.diag(jnp.asarray(X))
    assert_same(jax.jacrev(lambda a: eigh(a).eigenvalues)(a), jax.jacrev(lambda a: jnp.linalg.eigh(a)[0])(a))


def test_python_values_are_fixed():
    ours = to_jax(np.sum)
    a = jnp.ones((2, 3))
    assert_same(jax.jit(lambda a: ours(a, 0))(a), jnp.full(3, 2.0))
    assert_same(jax.grad(lambda a: ours(a, axis=(0, 1), keepdims=True)[0, 0])(a), jnp.ones((2, 3)))


def test_outside_of_transformations_it_is_plain_numpy():
    seen = []

    def f(x):
        seen.append(type(x))
        return x + 1

    assert isinstance(to_jax(f)(jnp.asarray(X)), jax.Array)
    assert seen == [np.ndarray]


def test_compiled_programs_are_kept():
    traced = []

    def f(x):
        return x * 2

    ours = to_jax(f)

    @jax.jit
    def program(x):
        traced.append(1)
        return ours(x)

    for scale in (1.0, 2.0, 3.0):
        assert_same(program(scale * X), 2 * scale * X)
    assert len(traced) == 1


def test_batches_are_taken_item_by_item_or_at_once():
    shapes = []

    def f(x):
        shapes.append(x.shape)
        return np.sum(x**2, axis=-1)

    a = jnp.arange(6.0).reshape(3, 2)
    assert_same(jax.vmap(to_jax(f))(a), jnp.sum(a**2, -1))
    assert (3, 2) not in shapes
    shapes.clear()
    at_once = to_jax(f, vmap_method="broadcast_all")
    assert_same(jax.vmap(jax.grad(at_once))(a), 2 * a)
    assert (3, 2) in shapes
    assert jax.vmap(to_jax(f))(jnp.zeros((0, 2))).shape == (0,)


def test_shapes_of_results_may_be_given():
    def picky(x):
        if x[0] != X[0]:
            raise ValueError("something else")
        return x * 2.0

    with pytest.raises(ValueError, match="result_shapes="):
        jax.jit(to_jax(picky))(X)
    for given in (jax.ShapeDtypeStruct((3,), "float64"), lambda x: x):
        ours = to_jax(picky, result_shapes=given)
        assert_same(jax.jit(jax.jacrev(ours))(X), 2 * jnp.eye(3))
    wrong = to_jax(picky, result_shapes=jax.ShapeDtypeStruct((2,), "float64"))
    with pytest.raises(Exception, match=r"returned an array of the shape \(3,\) where JAX was told \(2,\)"):
        jax.block_until_ready(jax.jit(wrong)(X))


def test_types_of_results_may_not_depend_on_values():
    ours = jax.jit(to_jax(lambda x: np.emath.sqrt(x)))
    assert_same(ours(jnp.asarray(X)), jnp.sqrt(X))
    with pytest.raises(Exception, match="returned complex128 where JAX was told float64"):
        jax.block_until_ready(ours(-jnp.asarray(X)))


def test_known_values_find_the_shapes_of_results():
    seen = []

    def f(x):
        seen.append(ignore_derivatives(x))
        return x * 2

    jax.grad(lambda x: to_jax(f)(x).sum())(X)
    assert len(seen) > 1
    assert all(np.all(x == X) for x in seen)


def test_bad_calls_say_what_to_write():
    with pytest.raises(TypeError, match="got no function"):
        to_jax(X)
    with pytest.raises(ValueError, match="'sequential' or 'broadcast_all'"):
        to_jax(np.sin, vmap_method="batched")
    with pytest.raises(TypeError, match="neither an array nor hashable"):
        to_jax(np.sum)(X, {1})


def test_without_jax_the_error_names_the_extra():
    program = "import sys; sys.modules['jax'] = None; import rulescore.backends.jax"
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert result.returncode != 0
    assert "pip install 'rulescore[jax]'" in result.stderr


# ---------------------------------------------------------------- the other direction


def test_a_function_of_jax_passes_the_tester():
    assert check_rule(from_jax(by_jax), X, Y).verdict == "pass"
    z = np.array([0.3 + 0.2j, 1 - 0.5j])
    assert check_rule(from_jax(COMPLEX["of complex"][1]), z).verdict == "pass"


def test_a_function_of_jax_has_derivatives_of_every_order():
    f = from_jax(by_jax)
    expected = jax.hessian(lambda x: by_jax(x, Y).sum())(X)
    np.testing.assert_allclose(hessian(lambda x: f(x, Y).sum())(X), expected)
    _, moved = jvp(grad(lambda x: f(x, Y).sum()), (X,), (Y,))
    np.testing.assert_allclose(moved, expected @ Y)


def test_a_function_of_jax_takes_containers_and_settings():
    f = from_jax(lambda tree, n, *, scale: {"y": scale * tree["x"][n], "n": jnp.argmax(tree["x"])})
    gradient = grad(lambda tree: f(tree, 1, scale=3.0)["y"])({"x": X})
    np.testing.assert_array_equal(gradient["x"], [0, 3, 0])
    assert f({"x": X}, 1, scale=2.0)["n"] == 2


def test_there_and_back():
    assert_same(jax.grad(lambda x: to_jax(from_jax(by_jax))(x, Y).sum())(X), jax.grad(lambda x: by_jax(x, Y).sum())(X))


def test_rules_that_call_back_into_ad_can_use_jax():
    y, pullback = rrule_via_ad(JaxConfig(), lambda x: jnp.sum(x**3), jnp.asarray(X))
    assert_same(y, jnp.sum(X**3))
    assert_same(pullback(1.0)[1], 3 * jnp.asarray(X) ** 2)
    y, dy = JaxConfig().frule_via_ad((NoTangent(), jnp.asarray(Y)), lambda x: x**2, jnp.asarray(X))
    assert_same(dy, 2 * jnp.asarray(X) * Y)


@pytest.mark.parametrize("x", [0.5, np.float64(0.5), np.array(0.5), 0.5 + 1j])
def test_numbers_are_differentiated_as_arrays_are(x):
    f = to_jax(np.sinh)
    y, move = jax.linearize(f, x)
    assert_same(y, np.sinh(x))
    assert_same(move(x), np.cosh(x) * x)
    assert_same(jax.vjp(f, x)[1](y)[0], jax.vjp(jnp.sinh, x)[1](y)[0])


# ---------------------------------------------------------------- several devices

OF_TWO_DEVICES = """
import jax, jax.numpy as jnp, numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
from rulescore import NoTangent, frule, rrule
from rulescore.backends.jax import to_jax

jax.config.update("jax_enable_x64", True)
mesh = Mesh(np.array(jax.devices()), ("d",))


def scaled(w, x):
    return w * x, np.sum(w) * x


@rrule.register(scaled)
def scaled_rrule(w, x):
    def pullback(ybars):
        first, second = ybars
        wbar = np.sum(first * x) + np.sum(second * x)
        return NoTangent(), wbar * np.ones(w.shape), w * first + np.sum(w) * second

    return scaled(w, x), pullback


@frule.register(scaled)
def scaled_frule(tangents, w, x):
    _, dw, dx = tangents
    return scaled(w, x), (dw * x + w * dx, np.sum(dw) * x + np.sum(w) * dx)


w, x = jnp.array([3.0]), jnp.arange(4.0) + 1
"""

SHARDED_MAP = """
def loss(f, check):
    def of_device(w, x):
        first, second = f(w, x)
        return jax.lax.psum(jnp.sum(jnp.sin(first) + second**2), "d")

    options = {"check_vma": check} if hasattr(jax, "typeof") else {"check_rep": check}
    return jax.shard_map(of_device, mesh=mesh, in_specs=(P(), P("d")), out_specs=P(), **options)


for check in (True, False):
    ours, theirs = loss(to_jax(scaled), check), loss(lambda w, x: (w * x, jnp.sum(w) * x), check)
    for mode in (
        lambda f: f(w, x),
        lambda f: jax.grad(f, (0, 1))(w, x),
        lambda f: jax.jit(jax.grad(f, (0, 1)))(w, x),
        lambda f: jax.jvp(f, (w, x), (w, x)),
        lambda f: jax.hessian(f)(w, x),
    ):
        jax.tree_util.tree_map(np.testing.assert_allclose, mode(ours), mode(theirs))
"""

PLACES = """
second = jax.devices()[1]
alone = jax.device_put(x, second)
cut = jax.device_put(x, NamedSharding(mesh, P("d")))
sinh, total = to_jax(np.sinh), to_jax(np.sum)
for f in (lambda f: f, lambda f: lambda x: jax.grad(lambda x: jnp.sum(f(x)))(x)):
    assert f(sinh)(alone).devices() == {second}
    assert f(sinh)(cut).sharding == cut.sharding
    np.testing.assert_array_equal(f(sinh)(cut), f(sinh)(x))
assert total(cut).sharding.device_set == set(jax.devices())
assert sinh(np.ones(3)).devices() == {jax.devices()[0]}
with jax.default_device(second):  # where JAX computes with what is bound to no device
    assert not x.committed
    assert sinh(x).devices() == jnp.sinh(x).devices() == {second}
"""


@pytest.mark.parametrize("program", [SHARDED_MAP, PLACES], ids=["shard_map", "where results are"])
def test_of_two_devices(program):
    if program is SHARDED_MAP and not hasattr(jax, "shard_map"):
        pytest.skip("this JAX has no jax.shard_map")
    two = {**os.environ, "XLA_FLAGS": "--xla_force_host_platform_device_count=2"}
    run = subprocess.run(
        [sys.executable, "-c", OF_TWO_DEVICES + program], capture_output=True, text=True, check=False, env=two
    )
    assert run.returncode == 0, run.stderr


# ---------------------------------------------------------------- what else clients met


@pytest.mark.parametrize("transform", [lambda f: f, jax.jit], ids=["eager", "jit"])
def test_bfloat16_is_computed_in_single_precision(transform):
    x = jnp.array([0.3, 0.7], jnp.bfloat16)
    ours, theirs = transform(to_jax(np.sinh)), transform(jnp.sinh)
    for mode in (
        lambda f: f,
        lambda f: jax.grad(lambda x: jnp.sum(f(x))),
        lambda f: lambda x: jax.jvp(f, (x,), (x,))[1],
    ):
        found, wanted = mode(ours)(x), mode(theirs)(x)
        assert found.dtype == wanted.dtype == jnp.bfloat16
        np.testing.assert_allclose(found.astype(float), wanted.astype(float), rtol=2**-7)
    assert to_jax(np.add)(x, jnp.ones(2, np.float32)).dtype == np.float32


def test_shapes_are_found_by_one_call():
    calls = []

    def f(x):
        calls.append(x)
        return 2 * x

    jax.jit(to_jax(f)).lower(X)
    assert len(calls) == 1

    def of_zeros(x):
        calls.append(x)
        if np.any(x):
            raise ValueError(f"not of {x[0]}")
        return 2 * x

    calls.clear()
    jax.jit(to_jax(of_zeros)).lower(X)
    assert len(calls) == 2


def test_an_empty_result_of_made_up_numbers_is_refused():
    positive = to_jax(lambda x: x[x > 5.0])
    x = np.array([1.0, 7.0, 8.0])
    np.testing.assert_array_equal(positive(x), [7.0, 8.0])
    with pytest.raises(ValueError, match=r"returned an empty array .* result_shapes="):
        jax.jit(lambda x: jax.jvp(positive, (x,), (x,))[1])(x)
    declared = to_jax(lambda x: x[x > 5.0], result_shapes=jax.ShapeDtypeStruct((2,), float))
    np.testing.assert_array_equal(jax.jit(lambda x: jax.jvp(declared, (x,), (x,))[1])(x), [7.0, 8.0])
    assert jax.jit(to_jax(np.sinh))(np.zeros((0, 3))).shape == (0, 3)
    none = to_jax(lambda x: x[x > 9.0], result_shapes=jax.ShapeDtypeStruct((0,), float))
    assert jax.jit(none)(x).shape == (0,)


def test_a_long_search_for_shapes_is_told(monkeypatch):
    from rulescore.backends.host import calls

    monkeypatch.setattr(calls, "_LONG", 0.05)

    def slow(x):
        time.sleep(0.5)
        return 2 * x

    with pytest.warns(RuntimeWarning, match=r"slow.*result_shapes="):
        jax.jit(to_jax(slow)).lower(X)


def test_what_a_function_has_against_a_call_is_raised_as_it_is():
    with pytest.raises(TypeError, match="unexpected keyword argument 'base'"):
        jax.jit(lambda x: to_jax(by_numpy)(x, base=2.0))(X)


def test_a_captured_tracer_is_told():
    def of(scale):
        return jnp.sum(to_jax(lambda x: np.sin(x * scale))(X))

    for transform in (jax.jit, jax.grad):
        with pytest.raises(TypeError, match=r"captured scale from around it.*pass it as an argument"):
            transform(of)(2.0)


COMPUTES_WITH_JAX = """
import os
import jax
import jax.numpy as jnp
import numpy as np
from rulescore.backends.jax import from_jax, to_jax

os.sched_setaffinity(0, list(os.sched_getaffinity(0))[:1])
jax.config.update("jax_cpu_enable_async_dispatch", False)
rows = to_jax(from_jax(lambda x: jnp.sin(x) @ jnp.ones(x.shape[-1])))
x = jnp.ones((1500, 1500))
print(float(jax.jit(lambda x: sum(rows(k * x).sum() for k in range(4)))(x)))
"""


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="processes cannot be kept on one core here")
def test_a_function_may_compute_with_jax_where_jax_waits_for_its_programs():
    found = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", COMPUTES_WITH_JAX],
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
        env=os.environ | {"JAX_PLATFORMS": "cpu"},
    )
    assert float(found.stdout) == pytest.approx(1500**2 * np.sin([0.0, 1.0, 2.0, 3.0]).sum(), rel=1e-4)
