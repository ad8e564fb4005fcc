"""JAX: functions of NumPy arrays with rules as functions of JAX, under all its transformations, and the other way.

A function runs on the host. To JAX it is one primitive, "call this `HostFunction`", whose derivative along a direction
is a call of another one, which is transposed to a third: so every order of differentiation, in every nesting, is a call
of the same primitive.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar

import numpy as np

from rulescore.backends.host.calls import Declared, HostCall
from rulescore.backends.host.captured import of_captured
from rulescore.backends.host.extras import framework
from rulescore.backends.host.finding import Calls
from rulescore.backends.host.foreign_functions import ForeignFunction, as_function_of_arrays
from rulescore.backends.host.functions import HostFunction, Spec, is_differentiable, of_some
from rulescore.backends.host.native import Native, NativeSystem, require_native_mode, runs_on_host
from rulescore.tables.features import HasForwardMode, HasReverseMode
from rulescore.tangents.thunks import unthunk
from rulescore.tangents.zero import AbstractZero, NoTangent
from rulescore.wrappers import Wrapper

jax = framework("jax", "jax")

import jax.numpy as jnp  # noqa: E402
from jax.extend.core import Primitive  # noqa: E402
from jax.interpreters import ad, batching, mlir  # noqa: E402

Results = tuple[tuple[tuple[int, ...], Any], ...]
"""Shape and dtype of each result."""

_NO_TANGENT = NoTangent()

# ---------------------------------------------------------------- the primitive

host_call = Primitive("rulescore_host_call")
host_call.multiple_results = True


def _run(function: HostFunction, results: Results, *arrays: Any) -> list[Any]:
    """The results as NumPy arrays of the shapes and dtypes that JAX was told."""
    given = list(map(_on_host, arrays))
    if function.maps and len(given[0]) == 0:
        return [np.zeros(shape, dtype) for shape, dtype in results]
    found = function(given)
    if len(found) != len(results):
        raise TypeError(f"{function.name} returned {len(found)} arrays here, and {len(results)} when it was traced")
    return [_as_told(function, y, *spec) for y, spec in zip(found, results, strict=True)]


def _as_told(function: HostFunction, y: Any, shape: tuple[int, ...], dtype: Any) -> Any:
    if type(y) is np.ndarray and y.shape == shape and y.dtype == dtype:  # the most frequent case
        return y
    if np.shape(y) != shape:
        raise ValueError(
            f"{function.name} returned an array of the shape {np.shape(y)} where JAX was told {shape}: shapes may "
            "not depend on values. Say which one it is, with result_shapes="
        )
    if not np.can_cast(np.result_type(y), dtype, "same_kind"):
        raise TypeError(
            f"{function.name} returned {np.result_type(y)} where JAX was told {np.dtype(dtype)}: types may not "
            "depend on values. Say which one it is, with result_shapes="
        )
    return np.asarray(y, dtype)


def _on_host(x: Any) -> Any:
    """The array with the memory of JAX's; a number of NumPy's where it is one, which more functions take."""
    return np.asarray(x)[()]


@host_call.def_impl  # type: ignore[untyped-decorator]
def _host_call_impl(*args: Any, function: HostFunction, results: Results, native: Native) -> list[Any]:
    if _runs_natively(native, function, args):
        return _compiled(function, results)(*args)  # type: ignore[no-any-return]
    return _where_given(_run(function, results, *args), args)


def _where_given(outputs: Sequence[Any], given: Sequence[Any]) -> list[Any]:
    """JAX's arrays of the host's, on the devices of what was given, where that is bound to any.

    Beside one array that is cut into parts, a result of its shape is cut alike, and any other is whole on each device.
    """
    found = list(map(jnp.asarray, outputs))
    arrays = [x for x in given if getattr(x, "committed", False)]
    cuts = [x.sharding for x in arrays]
    if all(cut == y.sharding for cut in cuts for y in found):
        return found
    parted = next((cut for cut in cuts if isinstance(cut, jax.sharding.NamedSharding)), None)
    if parted is None:
        return [jax.device_put(y, cuts[0]) for y in found]
    whole = jax.sharding.NamedSharding(parted.mesh, jax.sharding.PartitionSpec())
    by_shape = {x.shape: cut for x, cut in zip(arrays, cuts, strict=True) if cut.device_set == parted.device_set}
    return [jax.device_put(y, by_shape.get(y.shape, whole)) for y in found]


@host_call.def_abstract_eval  # type: ignore[untyped-decorator]
def _host_call_abstract_eval(*args: Any, function: HostFunction, results: Results, native: Native) -> list[Any]:
    like = next(filter(_varying, args), None)
    if like is None:
        return [_type_of(shape, dtype) for shape, dtype in results]
    return [_laid_out_like(like, shape, dtype) for shape, dtype in results]


_type_of = functools.lru_cache(maxsize=4096)(jax.core.ShapedArray)
"""That of an array of some shape and dtype, which takes JAX 2.5 µs to make, of an eager gradient's 300."""


def _laid_out_like(aval: Any, shape: tuple[int, ...], dtype: Any) -> Any:
    """A type that differs from device to device as another does."""
    whole = jax.sharding.NamedSharding(aval.sharding.mesh, jax.sharding.PartitionSpec(*[None] * len(shape)))
    return aval.update(shape=shape, dtype=dtype, weak_type=False, sharding=whole)


def _varying(aval: Any) -> frozenset[Any]:
    """Along which axes of devices, within `jax.shard_map`, an array of this type differs."""
    # The name that JAX has for it is not public yet, and has changed.
    kind = getattr(aval, "manual_axis_type", None)
    return getattr(aval, "vma", frozenset()) if kind is None else kind.varying


def _alike(arrays: Sequence[Any]) -> Sequence[Any]:
    """Arrays that all differ from device to device where one does.

    Of those that did not, JAX then sums the cotangents, of which each device has its own. What is derived of a call has
    its arrays, and tangents and cotangents that differ as they do.
    """
    varying = [_varying(getattr(x, "aval", None)) for x in arrays]
    if not any(varying):
        return arrays
    names = frozenset().union(*varying)
    return [_varied(x, names - of_x) for x, of_x in zip(arrays, varying, strict=True)]


def _varied(x: Any, names: frozenset[Any]) -> Any:
    if not names:
        return x
    if hasattr(jax.lax, "pcast"):
        return jax.lax.pcast(x, tuple(names), to="varying")
    return jax.lax.pvary(x, tuple(names))


def _callback(function: HostFunction, results: Results) -> Callable[..., list[Any]]:
    """One object for each function and results: JAX compiles anew for another one."""
    return function.keep(("jax", results), lambda: functools.partial(_run, function, results))


def _lowered(*args: Any, function: HostFunction, results: Results, native: Native) -> Any:
    if _runs_natively(native, function, args):
        return _run_natively(function, results, *args)
    specs = [jax.ShapeDtypeStruct(shape, dtype) for shape, dtype in results]
    return jax.pure_callback(_callback(function, results), specs, *args)


_lowered_generally = mlir.lower_fun(_lowered, multiple_results=True)


_EMITS_DIRECTLY = jax.__version_info__ >= (0, 10) and hasattr(mlir, "emit_python_callback")
"""Older versions want the callback kept alive by whoever emits it."""


def _host_call_lowering(ctx: Any, *args: Any, function: HostFunction, results: Results, native: Native) -> Any:
    """On one CPU, where arrays are in reach, without `jax.pure_callback`, which takes 30 µs to place each there."""
    module = ctx.module_context
    is_on_one_cpu = tuple(module.platforms) == ("cpu",) and getattr(module.axis_context, "num_devices", None) == 1
    if native is not False or not is_on_one_cpu or not _EMITS_DIRECTLY:
        return _lowered_generally(ctx, *args, function=function, results=results, native=native)
    callback = _callback(function, results)
    found, _, _ = mlir.emit_python_callback(
        ctx, callback, None, list(args), ctx.avals_in, ctx.avals_out, has_side_effect=False, returns_token=False
    )
    return found


mlir.register_lowering(host_call, _host_call_lowering)


def _is_inexact(dtype: Any) -> bool:
    return bool(jnp.issubdtype(dtype, jnp.inexact))


def _moves(tangent: Any) -> bool:
    return type(tangent) is not ad.Zero and getattr(tangent, "dtype", float) != jax.dtypes.float0


def _host_call_jvp(
    primals: Sequence[Any], tangents: Sequence[Any], *, function: HostFunction, results: Results, native: Native
) -> tuple[list[Any], list[Any]]:
    outputs = host_call.bind(*primals, function=function, results=results, native=native)
    needs = tuple([_moves(tangent) for tangent in tangents])
    return outputs, _moved(primals, tangents, needs, function, results, native)


def _moving(needs: tuple[bool, ...], results: Results) -> list[bool]:
    """Which results have a tangent, where the arrays in ``needs`` have one."""
    return [any(needs) and _is_inexact(dtype) for _, dtype in results]


def _moved(
    primals: Sequence[Any],
    tangents: Sequence[Any],
    needs: tuple[bool, ...],
    function: HostFunction,
    results: Results,
    native: Native,
) -> list[Any]:
    """The tangent of each result."""
    bind = functools.partial(host_call.bind, native=native)
    moving = _moving(needs, results)
    fixed = function.fixed
    if not any(moving):
        found: list[Any] = []
    elif fixed is not None and not any(needs[:fixed]):  # a linear function is its own derivative
        directions = [ad.instantiate_zeros(tangent) for tangent in tangents[fixed:]]
        found = bind(*primals[:fixed], *directions, function=function, results=results)
    else:
        directions = [tangent for tangent, need in zip(tangents, needs, strict=True) if need]
        inexact = tuple([spec for spec, moves in zip(results, moving, strict=True) if moves])
        found = bind(*primals, *directions, function=function.pushforward(needs), results=inexact)
    parts = iter(found)
    return [
        next(parts) if moves else ad.Zero(_type_of(shape, dtype).to_tangent_aval())
        for moves, (shape, dtype) in zip(moving, results, strict=True)
    ]


ad.primitive_jvps[host_call] = _host_call_jvp


def _host_call_linearization(
    is_vjp: bool, nonzeros: Sequence[bool], *primals: Any, function: HostFunction, results: Results, native: Native
) -> tuple[list[Any], list[bool], tuple[Any, ...], Callable[..., list[Any]]]:
    """What `_host_call_jvp` says: the outputs, which of them move, what that needs, and the linear function."""
    outputs = host_call.bind(*primals, function=function, results=results, native=native)
    needs = tuple(
        [need and _is_inexact(getattr(x, "dtype", type(x))) for need, x in zip(nonzeros, primals, strict=True)]
    )

    def linear(primals: Sequence[Any], *tangents: Any) -> list[Any]:
        return _moved(primals, tangents, needs, function, results, native)

    return outputs, _moving(needs, results), primals, linear


def _structured_linearization(*args: Any, **params: Any) -> tuple[Any, ...]:
    """The same, for a JAX that lets linearizations keep more than arrays, of which this one keeps none."""
    outputs, moving, residuals, linear = _host_call_linearization(*args, **params)
    return outputs, moving, residuals, None, lambda residuals, structured, *tangents: linear(residuals, *tangents)


def _linearization_for(version: tuple[int, ...]) -> Callable[..., tuple[Any, ...]] | None:
    """How a JAX of this version linearizes a call without tracing its derivative, which is half of the time of an
    eager gradient. JAX has no public name for that yet, so that of a version that was not looked at traces.
    """
    if (0, 9, 2) <= version < (0, 11, 1):
        return _host_call_linearization
    if (0, 11, 1) <= version < (0, 13):
        return _structured_linearization
    return None


if (_linearization := _linearization_for(jax.__version_info__)) is not None:
    from jax._src.interpreters.ad import primitive_linearizations

    primitive_linearizations[host_call] = _linearization


def _host_call_transpose(
    cotangents: Sequence[Any], *args: Any, function: HostFunction, results: Results, native: Native
) -> list[Any]:
    fixed = function.fixed
    if fixed is None or any(map(ad.is_undefined_primal, args[:fixed])):
        raise TypeError(f"{function.name} is not linear in what JAX transposes it for")
    linear = args[fixed:]
    specs = tuple([(x.aval.shape, x.aval.dtype) if ad.is_undefined_primal(x) else (x.shape, x.dtype) for x in linear])
    transposed = function.transposed(conjugate=True)
    seeds = [ad.instantiate_zeros(ybar) for ybar in cotangents]
    bars = host_call.bind(*args[:fixed], *seeds, function=transposed, results=specs, native=native)
    found = [bar if ad.is_undefined_primal(x) else None for x, bar in zip(linear, bars, strict=True)]
    return [None] * fixed + found


ad.primitive_transposes[host_call] = _host_call_transpose


def _host_call_batch(
    args: Sequence[Any], dims: Sequence[Any], *, function: HostFunction, results: Results, native: Native
) -> tuple[list[Any], list[int]]:
    (size,) = {x.shape[d] for x, d in zip(args, dims, strict=True) if d is not None}
    along_first = [
        jnp.broadcast_to(x, (size, *x.shape)) if d is None else jnp.moveaxis(x, d, 0)
        for x, d in zip(args, dims, strict=True)
    ]
    batched = tuple([((size, *shape), dtype) for shape, dtype in results])
    outputs = host_call.bind(*along_first, function=function.batched(), results=batched, native=native)
    return outputs, [0] * len(outputs)


batching.primitive_batchers[host_call] = _host_call_batch


# ---------------------------------------------------------------- native mode


class _JaxSystem(NativeSystem):
    """JAX, for native mode."""

    name = "JAX"
    array_type = jax.Array
    conjugates = True
    modules: ClassVar = {
        "numpy": "jax.numpy",
        "numpy.linalg": "jax.numpy.linalg",
        "numpy.fft": "jax.numpy.fft",
        "scipy.special": "jax.scipy.special",
        "scipy.linalg": "jax.scipy.linalg",
        "scipy.fft": "jax.scipy.fft",
        "scipy.signal": "jax.scipy.signal",
    }
    conj: Any = staticmethod(jnp.conj)
    stop_gradient: Any = staticmethod(jax.lax.stop_gradient)
    zeros_like: Any = staticmethod(jnp.zeros_like)
    as_array: Any = staticmethod(jnp.asarray)
    vmap: Any = staticmethod(jax.vmap)

    def vjp(self, f: Callable[..., list[Any]], arrays: Sequence[Any]) -> tuple[list[Any], Callable[..., Any]]:
        outputs, pull = jax.vjp(f, *arrays)
        return outputs, lambda ybars: pull(_seeds(outputs, ybars))

    def jvp(self, f: Any, arrays: Sequence[Any], tangents: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        return _pushed(f, list(arrays), tangents)

    def with_rules(self, f: Any) -> Callable[..., Any]:
        return _native_functions(f)


_native_functions = functools.lru_cache(maxsize=4096)(lambda f: to_jax(f, native=True))
_system = _JaxSystem()


def _run_natively(function: HostFunction, results: Results, *arrays: Any) -> list[Any]:
    return [_of_spec(function, y, *spec) for y, spec in zip(_system.natively(function)(*arrays), results, strict=True)]


def _of_spec(function: HostFunction, y: Any, shape: tuple[int, ...], dtype: Any) -> Any:
    if y.shape != shape:
        raise ValueError(f"{function.name} returned an array of the shape {y.shape} in place of {shape}")
    return y.astype(dtype)


def _compiled(function: HostFunction, results: Results) -> Any:
    return function.keep(("compiled", results), lambda: jax.jit(functools.partial(_run_natively, function, results)))


def _runs_natively(native: Native, function: HostFunction, arrays: Sequence[Any]) -> bool:
    if native != "auto":
        return native
    specs = tuple([(x.shape, x.dtype) for x in arrays])
    return function.keep(("runs natively", specs), lambda: _can_run_natively(function, specs))


def _can_run_natively(function: HostFunction, specs: Results) -> bool:
    """Whether a function can; a warning says why not."""
    try:
        jax.eval_shape(_system.natively(function), *[jax.ShapeDtypeStruct(*spec) for spec in specs])
    except Exception as error:  # whatever it is, the host may do without
        warnings.warn(runs_on_host(function, error), RuntimeWarning, stacklevel=2)
        return False
    return True


# ---------------------------------------------------------------- functions for JAX


def to_jax(
    f: Callable[..., Any],
    *,
    vmap_method: str = "sequential",
    result_shapes: Any = None,
    native: Native = False,
) -> Callable[..., Any]:
    """A JAX function from a Python function of NumPy arrays.

    Parameters
    ----------
    f : callable
        With rules, or of NumPy code that `rulescore.ad` differentiates. It runs on the host and gets NumPy arrays; it
        may not write into them. Its arguments and results may be any pytrees.
    vmap_method : {"sequential", "broadcast_all"}
        What `jax.vmap` does: ``"sequential"`` calls ``f`` for one item after the other; ``"broadcast_all"`` calls it
        once with a further axis in front of every array, for functions that take such axes.
    result_shapes : pytree or callable, optional
        What ``f`` returns, as `jax.ShapeDtypeStruct` in the place of arrays; or a function that returns it, called with
        the arguments of ``f`` that have them in the place of arrays. By default ``f`` is called once for every shape of
        its arguments, with their values where they are known, else with numbers around one (and where that fails with
        zeros); of what takes long, a warning says so.
    native : bool or "auto", optional
        Whether to run ``f`` and its rules on JAX's own arrays, whose functions stand in for NumPy's of the same name:
        then they are compiled and fused with everything around them, on any device, and nothing runs on the host. Only
        code that calls NumPy's functions, operators and methods can: it may not write into arrays, nor decide by their
        values. With ``"auto"``, what cannot (the function, its pullback, its pushforward, each by itself) runs on the
        host, and a warning says why. Functions without rules are differentiated by JAX.

    Returns
    -------
    callable
        With the arguments of ``f``, of which JAX's and NumPy's arrays are differentiated and traced, and everything
        else (Python's numbers, strings, functions, dtypes) is fixed and has to be hashable. It works under ``jit``,
        ``grad``, ``jvp``, ``vjp``, ``linearize``, ``jacfwd``, ``jacrev``, ``hessian``, ``vmap``, ``checkpoint``,
        ``scan``, ``cond``, in any nesting. Called outside of all of them it runs as plain NumPy.

    Raises
    ------
    TypeError
        When ``f`` cannot be called; from the returned function, when an argument is neither an array nor hashable.
    NotNativeError
        (A `TypeError`.) From the returned function, with ``native=True``, when JAX has nothing that does what ``f`` or
        its rule does.
    ValueError
        When ``native`` or ``vmap_method`` is none of these.

    Notes
    -----
    Cotangents of complex numbers are the conjugates of those of rules, as everywhere in JAX.

    Examples
    --------
    >>> import jax, numpy as np
    >>> from rulescore.backends.jax import to_jax
    >>> det = to_jax(np.linalg.det)
    >>> jax.grad(jax.jit(det))(jax.numpy.diag(jax.numpy.array([2.0, 3.0])))
    Array([[ 3., -0.],
           [-0.,  2.]], dtype=float32)
    """
    require_native_mode("to_jax", native)
    return _Function(f, vmap_method, result_shapes, native)


class _Function(Wrapper):
    def __init__(self, f: Callable[..., Any], vmap_method: str, result_shapes: Any, native: Native) -> None:
        flatten, unflatten = jax.tree_util.tree_flatten, jax.tree_util.tree_unflatten
        declared = None if result_shapes is None else Declared(result_shapes, jax.ShapeDtypeStruct, _spec_of)
        self._calls = Calls("to_jax", f, _ARRAYS, flatten, unflatten, vmap_method, declared)
        self._native = native
        options = {"vmap_method": vmap_method, "result_shapes": result_shapes, "native": native}
        super().__init__(f, functools.partial(to_jax, **options))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        call, arrays = self._calls.find(args, kwargs)
        if any(map(_is_short, arrays)) and self._native is not True:
            return _in_single_precision(self, args, kwargs, arrays)
        try:
            return self._called(call, arrays)
        except Exception as error:
            told = of_captured("to_jax", self.__wrapped__, lambda x: isinstance(x, jax.core.Tracer), error)
            if told is None:
                raise
            raise told from error

    def _called(self, call: HostCall, arrays: Sequence[Any]) -> Any:
        outputs: Any
        runs_natively = _runs_natively(self._native, call, arrays)
        if not runs_natively and not any(isinstance(x, jax.core.Tracer) for x in arrays):
            outputs = call(list(map(_on_host, arrays)))
            return jax.tree_util.tree_unflatten(call.structure, _where_given(outputs, arrays))
        is_found_natively = runs_natively and call.declared is None
        results, structure = (_native_results if is_found_natively else _found_results)(call, arrays)
        outputs = host_call.bind(*_alike(arrays), function=call, results=results, native=self._native)
        return jax.tree_util.tree_unflatten(structure, outputs)


_ARRAYS = (jax.Array, np.ndarray, np.generic)  # JAX's tracers are instances of its arrays


def _is_short(x: Any) -> bool:
    """Whether an array is of a type of real numbers that NumPy itself does not have, as bfloat16."""
    return x.dtype.kind == "V" and bool(jnp.issubdtype(x.dtype, jnp.floating))


def _in_single_precision(f: Callable[..., Any], args: Any, kwargs: Any, arrays: Sequence[Any]) -> Any:
    """A call with longer numbers in the place of short ones, which NumPy takes for no numbers at all.

    Results are of the short type again, where nothing longer was given.
    """

    def long(x: Any) -> Any:
        return x.astype(np.float32) if isinstance(x, _ARRAYS) and _is_short(x) else x

    y = f(*jax.tree_util.tree_map(long, args), **jax.tree_util.tree_map(long, kwargs))
    together = jnp.result_type(*[x.dtype for x in arrays if _is_inexact(x.dtype)])
    return jax.tree_util.tree_map(lambda y: y.astype(together) if y.dtype == np.float32 else y, y)


# ---------------------------------------------------------------- shapes of results


def _found_results(call: HostCall, arrays: Sequence[Any]) -> tuple[Results, Any]:
    """Shape and dtype of each result, and their structure, as they were declared or by calling the function."""
    values = [_value_beneath(x) for x in arrays]
    are_known = all(x is not None for x in values)
    specs = [(x.shape, np.dtype(x.dtype)) for x in arrays]
    found = call.known(specs)
    if found is None:
        with jax.ensure_compile_time_eval():  # what a function computes with JAX itself is no part of the program
            found = call.results(specs, list(map(_on_host, values)) if are_known else None)
    if not are_known and call.declared is None and _are_empty(found) and not _are_empty(specs):
        # JAX would not call the function, for whose result it has no room, and nobody would know that it has another.
        raise ValueError(
            f"{call.name} returned an empty array when it was called with made-up numbers to find the shapes of what "
            "it returns: say what it returns with result_shapes="
        )
    return tuple([(shape, jax.dtypes.canonicalize_dtype(dtype)) for shape, dtype in found]), call.structure


def _are_empty(specs: Sequence[Any]) -> bool:
    return any(0 in shape for shape, _ in specs)


def _native_results(call: HostCall, arrays: Sequence[Any]) -> tuple[Results, Any]:
    """Shape and dtype of each result, and their structure, by tracing the function."""
    found = jax.eval_shape(_system.natively(call), *arrays)
    return tuple([(y.shape, y.dtype) for y in found]), call.structure


def _spec_of(y: Any) -> Spec:
    return tuple(y.shape), np.float32 if _is_short(y) else y.dtype


def _value_beneath(x: Any) -> Any:
    """The array that a tracer of a differentiation holds; None where there is only a shape."""
    while isinstance(x, jax.core.Tracer):
        x = getattr(x, "primal", None)
    return x


# ---------------------------------------------------------------- functions from JAX


class _JaxFunction(ForeignFunction):
    """A function of JAX."""

    def _of_chosen(self, arrays: Sequence[Any]) -> tuple[Callable[..., list[Any]], list[Any]]:
        of_chosen, chosen = of_some(self.function, arrays, list(map(is_differentiable, arrays)), self.name)
        return of_chosen, list(map(jnp.asarray, chosen))

    def value(self, arrays: Sequence[Any]) -> list[Any]:
        return _as_numpy(self.function(*map(jnp.asarray, arrays)))

    def vjp(self, arrays: Sequence[Any]) -> tuple[list[Any], Callable[[Sequence[Any]], list[Any]]]:
        of_chosen, chosen = self._of_chosen(arrays)
        outputs, pull = jax.vjp(of_chosen, *chosen)
        return _as_numpy(outputs), lambda ybars: _as_numpy(_pulled(outputs, pull, ybars))

    def jvp(self, arrays: Sequence[Any], tangents: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        outputs, dys = _pushed(*self._of_chosen(arrays), tangents)
        return _as_numpy(outputs), _as_numpy(dys)

    def pullback(self, count: int) -> _JaxFunction:
        def pullback(*arrays: Any) -> list[Any]:
            of_chosen, chosen = self._of_chosen(arrays[:count])
            outputs, pull = jax.vjp(of_chosen, *chosen)
            return _pulled(outputs, pull, arrays[count:])

        return _JaxFunction(pullback, f"the pullback of {self.name}")

    def pushforward(self, count: int) -> _JaxFunction:
        def pushforward(*arrays: Any) -> list[Any]:
            return _pushed(*self._of_chosen(arrays[:count]), arrays[count:])[1]

        return _JaxFunction(pushforward, f"the pushforward of {self.name}")


def _as_numpy(outputs: Sequence[Any]) -> list[Any]:
    return [np.asarray(y)[()] for y in outputs]


def _pulled(outputs: Sequence[Any], pull: Any, ybars: Sequence[Any]) -> list[Any]:
    """The cotangents of the arrays, in our convention."""
    return [jnp.conj(xbar) for xbar in pull(_seeds(outputs, map(jnp.conj, ybars)))]


def _seeds(outputs: Sequence[Any], ybars: Iterable[Any]) -> list[Any]:
    """The cotangents as JAX wants them, of which the outputs that are differentiable have one each."""
    given = iter(ybars)
    return [
        jnp.asarray(next(given), y.dtype) if _is_inexact(y.dtype) else np.zeros(y.shape, jax.dtypes.float0)
        for y in outputs
    ]


def _pushed(function: Any, chosen: list[Any], tangents: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    directions = [jnp.asarray(dx, x.dtype) for x, dx in zip(chosen, tangents, strict=True)]
    outputs, dys = jax.jvp(function, chosen, directions)
    return outputs, [dy for y, dy in zip(outputs, dys, strict=True) if _is_inexact(y.dtype)]


def from_jax(g: Callable[..., Any]) -> Callable[..., Any]:
    """A function of NumPy arrays, with rules, from one of JAX.

    Parameters
    ----------
    g : callable
        Of JAX code. Its arguments and results are arrays and nested containers of them.

    Returns
    -------
    callable
        With the arguments of ``g``, which JAX differentiates, to any order. It takes and returns NumPy arrays, and is a
        `rulescore.ad.primitive` with an ``frule`` and an ``rrule``, so that the testers and all other systems take it.
        JAX computes in single precision unless ``jax_enable_x64`` is set.

    Raises
    ------
    TypeError
        When ``g`` cannot be called.

    Examples
    --------
    >>> import jax, numpy as np
    >>> from rulescore.ad import grad
    >>> from rulescore.backends.jax import from_jax
    >>> softplus = from_jax(jax.nn.softplus)
    >>> grad(softplus)(np.float32(0.0))
    np.float32(0.5)
    """
    return as_function_of_arrays(g, from_jax, _JaxFunction)


# ---------------------------------------------------------------- for rules that call back into AD


class JaxConfig(HasReverseMode, HasForwardMode):
    """JAX for rules of higher-order functions: they hand it functions of JAX's arrays."""

    def rrule_via_ad(self, f: Any, /, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
        y, pull = jax.vjp(functools.partial(f, **kwargs), *args)

        def pullback(ybar: Any) -> tuple[Any, ...]:
            ybar = unthunk(ybar)
            seed = jax.tree_util.tree_map(jnp.zeros_like, y) if isinstance(ybar, AbstractZero) else ybar
            return (_NO_TANGENT, *jax.tree_util.tree_map(jnp.conj, pull(jax.tree_util.tree_map(jnp.conj, seed))))

        return y, pullback

    def frule_via_ad(self, tangents: tuple[Any, ...], f: Any, /, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
        directions = [
            jax.tree_util.tree_map(jnp.zeros_like, x) if isinstance(dx, AbstractZero) else unthunk(dx)
            for x, dx in zip(args, tangents[1:], strict=True)
        ]
        return jax.jvp(functools.partial(f, **kwargs), args, tuple(directions))  # type: ignore[no-any-return]
