"""What traceable programs cannot do with differentiated values: errors that name what was called, and a way out."""

from __future__ import annotations

import array
import asyncio
import contextlib
import ctypes
import ctypes.util
import decimal
import fractions
import io
import json
import math
import pathlib
import pickle
import re
import struct
import types

import numpy as np
import pytest
from scipy import integrate, ndimage, optimize, sparse
from scipy.cluster import hierarchy
from scipy.spatial import cKDTree

from rulescore.ad import grad, ignore_derivatives, jvp, traceable
from rulescore.ad.messages.errors import NoRuleError, NoSourceError, TracerConversionError
from testutils import jacobian_fd

X = np.array([0.5, 0.8, 1.2])
REFUSED = (NoRuleError, TracerConversionError)


def in_c(name, result=ctypes.c_double):
    f = getattr(ctypes.CDLL(ctypes.util.find_library("m")), name)
    f.restype, f.argtypes = result, [ctypes.c_double]
    return f


# ---------------------------------------------------------------- compiled code without a rule


def of_cython(x):
    return cKDTree(np.eye(3)).query(x)[0]


def of_a_compiled_method(x):
    return cKDTree(np.eye(3)).query_ball_point(x, 1.0)[0]


def of_ctypes(x):
    return in_c("sin")(x[0])


def of_scipys_compiled_parts(x):
    return ndimage._nd_image.find_objects(x, 3)


def of_struct(x):
    return struct.pack("d", x[0])[0] * 1.0


def of_array_array(x):
    return array.array("d", list(x))[0]


def of_fromhex(x):
    return float.fromhex(x[0].hex())


def of_fractions(x):
    return fractions.Fraction(*x[0].as_integer_ratio()) * x[1]


def of_json(x):
    return json.loads(json.dumps([x[0]]))[0]


def of_bytes(x):
    return np.frombuffer(bytes(x))[0]


def of_a_solver_step_by_step(x):
    solver = integrate.LSODA(lambda t, y: -y, 0.0, [x[0]], 1.0)
    solver.step()
    return solver.y[0]


def of_a_tolerance(x):
    return integrate.solve_ivp(lambda t, y: -y, (0, 1), [1.0], method="LSODA", rtol=x[0] * 1e-6).y[0, -1]


COMPILED = [
    *(of_a_solver_step_by_step, of_a_tolerance),
    *(of_cython, of_a_compiled_method, of_ctypes, of_scipys_compiled_parts, of_struct),
    *(of_array_array, of_json, of_bytes, of_fromhex, of_fractions),
]


@pytest.mark.parametrize("f", COMPILED, ids=lambda f: f.__name__)
def test_compiled_code_without_a_rule_is_an_error(f):
    for differentiate in (grad(traceable(f)), lambda x: jvp(traceable(f), (x,), (x,))):
        with pytest.raises((*REFUSED, AttributeError, TypeError), match="differentiated"):
            differentiate(X)


@pytest.mark.parametrize(
    ("f", "name"),
    [(of_cython, "cKDTree"), (of_a_compiled_method, "query_ball_point"), (of_ctypes, "sin"), (of_struct, "pack")],
    ids=lambda x: getattr(x, "__name__", x),
)
def test_the_error_names_the_function_the_line_and_a_way_out(f, name):
    line = f.__code__.co_firstlineno + 1
    place = rf"called in {f.__name__} at {re.escape(__file__)}:{line}"
    with pytest.raises(NoRuleError, match=place) as caught:
        grad(traceable(f))(X)
    assert name in str(caught.value)
    assert re.search(r"register|ignore_derivatives", str(caught.value))


def test_compiled_code_of_what_is_not_differentiated_is_called():
    def f(x):
        near, index = cKDTree(np.eye(3)).query(ignore_derivatives(x))
        return math.exp(x[index]) * near * in_c("sin")(0.5)

    expected = jacobian_fd(lambda x: math.exp(x[2]) * cKDTree(np.eye(3)).query(X)[0] * math.sin(0.5), X).value.ravel()
    np.testing.assert_allclose(grad(traceable(f))(X), expected, rtol=1e-6, atol=1e-9)


def test_what_numba_has_compiled_is_followed_in_its_python_form():
    numba = pytest.importorskip("numba")

    @numba.njit
    def inner(x, n):
        total = 0.0
        for i in range(n):
            total += math.exp(x) * i
        return total

    @numba.njit
    def of_numba(x):
        y = np.zeros(3)
        for i in range(3):
            y[i] = inner(x[i], i + 1)
        return y.sum()

    np.testing.assert_allclose(grad(traceable(of_numba))(X), jacobian_fd(of_numba.py_func, X).value.ravel(), rtol=1e-6)
    np.testing.assert_allclose(
        grad(traceable(lambda x: of_numba(x) * 1.0))(X), jacobian_fd(of_numba.py_func, X).value.ravel(), rtol=1e-6
    )


def test_what_numba_has_vectorised_is_followed_for_each_element_and_what_has_axes_is_an_error():
    numba = pytest.importorskip("numba")

    @numba.vectorize(["float64(float64)"])
    def of_number(x):
        return math.exp(x)

    np.testing.assert_allclose(grad(traceable(lambda x: of_number(x).sum()))(X), np.exp(X))

    @numba.guvectorize(["(float64[:], float64[:])"], "(n)->(n)")
    def of_axis(x, y):
        for i in range(len(x)):
            y[i] = math.exp(x[i])

    with pytest.raises(REFUSED, match=r"implemented in C|compiled"):
        grad(traceable(lambda x: of_axis(x).sum()))(X)


def test_errors_of_compiled_code_that_any_array_causes_are_its_own():
    with pytest.raises(ValueError, match="x must consist of vectors of length 3"):
        grad(traceable(lambda x: cKDTree(np.eye(3)).query(np.zeros(2))[0] * x[0]))(X)


# ---------------------------------------------------------------- arrays of other kinds


def made_as_a_matrix(x):
    return np.matrix([[x[0], x[1]]]).sum()


def made_as_a_masked_array(x):
    return np.ma.masked_array(np.zeros(3), mask=x > 1).__setitem__(0, x[0])


def made_as_a_sparse_array(x):
    y = sparse.lil_array((3, 3))
    y[0, 0] = x[0]
    return y.sum()


def made_of_objects(x):
    y = np.zeros(3, dtype=[("a", float)])
    y["a"][0] = x[0]
    return y["a"].sum()


def made_as_a_record(x):
    y = np.rec.array(np.zeros(3, dtype=[("a", float)]))
    y.a = x
    return y.a.sum()


OTHERS = [
    *(made_as_a_matrix, made_as_a_masked_array, made_as_a_sparse_array, made_of_objects, made_as_a_record),
]


@pytest.mark.parametrize("f", OTHERS, ids=lambda f: f.__name__)
@pytest.mark.filterwarnings("ignore:the matrix subclass is not the recommended way")
def test_arrays_that_cannot_hold_differentiated_values_are_an_error(f):
    f(X)
    for differentiate in (grad(traceable(f)), lambda x: jvp(traceable(f), (x,), (x,))):
        with pytest.raises((TypeError, AttributeError), match="differentiated"):
            differentiate(X)


# ---------------------------------------------------------------- files


def to_a_file_of_numpy(x, path):
    np.save(path / "x.npy", x)


def to_an_archive(x, path):
    np.savez(path / "x.npz", x=x)


def to_a_text_of_numpy(x, path):
    np.savetxt(path / "x.txt", x)


def as_bytes(x, path):
    with open(path / "x.bin", "wb") as file:
        file.write(x.tobytes())


def by_itself(x, path):
    x.tofile(path / "x.bin")


def as_a_buffer(x, path):
    with open(path / "x.bin", "wb") as file:
        file.write(x)


def as_a_pickle(x, path):
    with open(path / "x.pickle", "wb") as file:
        pickle.dump(x, file)


def as_a_pickle_of_an_object(x, path):
    (path / "x.pickle").write_bytes(pickle.dumps({"x": [x[0]]}))


def as_json(x, path):
    (path / "x.json").write_text(json.dumps({"x": x[0]}))


def in_memory(x, path):
    np.save(io.BytesIO(), x)


WRITTEN = [
    *(to_a_file_of_numpy, to_a_text_of_numpy, to_an_archive, as_bytes, by_itself, as_a_buffer, as_a_pickle),
    *(as_a_pickle_of_an_object, as_json, in_memory),
]


@pytest.mark.parametrize("write", WRITTEN, ids=lambda write: write.__name__)
def test_writing_to_a_file_is_an_error(write, tmp_path):
    def f(x):
        write(x, tmp_path)
        return x.sum()

    assert f(X) == X.sum()
    with pytest.raises((*REFUSED, AttributeError, TypeError)):
        grad(traceable(f))(X)


def test_results_that_are_read_from_a_file_are_constant(tmp_path):
    np.save(tmp_path / "table.npy", X)
    (tmp_path / "numbers.txt").write_text("1.5 2.5")

    def f(x):
        table = np.load(tmp_path / "table.npy")
        a, b = map(float, pathlib.Path(tmp_path / "numbers.txt").read_text().split())
        with open(tmp_path / "numbers.txt") as file:
            c = float(file.read().split()[0])
        return math.exp(x[0]) * table[1] * a + b * c * x[1] + np.loadtxt(tmp_path / "numbers.txt")[0] * x[2]

    np.testing.assert_allclose(grad(traceable(f))(X), jacobian_fd(f, X).value.ravel(), rtol=1e-6)


# ---------------------------------------------------------------- constants between jumps, and never silently so


CONSTANTS = {
    "dict": lambda x: {x[0]: 1.0}[x[0]] * x[1],
    "set": lambda x: len({x[0], x[1]}) * x[1],
    "f-string": lambda x: float(f"{x[0]}") * x[1],
    "format": lambda x: float("%s" % x[0]) * x[1],  # noqa: UP031
    "str": lambda x: float(str(x[0])) * x[1],
    "bytes": lambda x: x[0].tobytes()[0] * x[1],
    "eval": lambda x: eval(repr(float(x[0]))) * x[1],
    "repr": lambda x: np.float64(repr(x[0].item())) * x[1],
    "precision": lambda x: math.fsum([float(f"{x[0]:.3f}")]) * x[1],
    "complex": lambda x: complex(str(x[0])).real * x[1],
    "decimal": lambda x: float(decimal.Decimal(str(x[0]))) * x[1],
    "fromstring": lambda x: np.fromstring(" ".join(map(str, x)), sep=" ").sum() * x[1],
    "array": lambda x: np.array([str(x[0])]).astype(float)[0] * x[1],
    "json": lambda x: json.loads(f"[{x[0]}]")[0] * x[1],
}


@pytest.mark.parametrize("name", CONSTANTS)
def test_the_way_through_a_text_or_a_key_is_an_error(name):
    """It would give a constant."""
    with pytest.raises((*REFUSED, AttributeError, ValueError, SyntaxError, NameError)):
        grad(traceable(CONSTANTS[name]))(X)


# ---------------------------------------------------------------- functions that cannot be converted


def without_source():
    names = {"math": math}
    exec("def nowhere(x):\n    return math.exp(x)", names)
    return names["nowhere"]


def test_a_function_without_source_is_an_error_that_names_it():
    with pytest.raises(NoSourceError, match=r"nowhere, defined in <string>:1, has no source"):
        grad(traceable(without_source()))(0.5)
    assert traceable(without_source())(0.5) == math.exp(0.5)


def test_a_function_without_source_within_one_that_has_it_is_named():
    nowhere = without_source()
    with pytest.raises(TypeError, match=r"nowhere.*has no source"):
        grad(traceable(lambda x: nowhere(x) * 2.0))(0.5)


def test_a_module_of_bytecode_alone_is_an_error_that_names_the_function(tmp_path, monkeypatch):
    import importlib
    import py_compile

    source = tmp_path / "compiled_alone.py"
    source.write_text("import math\n\ndef exponential(x):\n    return math.exp(x)\n")
    py_compile.compile(source, cfile=tmp_path / "compiled_alone.pyc")
    source.unlink()
    monkeypatch.syspath_prepend(tmp_path)
    f = importlib.import_module("compiled_alone").exponential
    with pytest.raises(NoSourceError, match="exponential"):
        grad(traceable(f))(0.5)


def test_coroutines_are_refused():
    async def later(x):
        return math.exp(x)

    async def counted(x):
        yield math.exp(x)

    for f in (later, counted):
        with pytest.raises(NoSourceError, match=rf"{f.__name__} is a coroutine.*without async"):
            grad(traceable(f))(0.5)


def test_a_coroutine_that_is_run_within():
    async def later(x):
        return math.exp(x)

    def f(x):
        return asyncio.run(later(x))

    with pytest.raises((*REFUSED, NoSourceError)):
        grad(traceable(f))(0.5)


def test_a_code_that_was_replaced_is_an_error_or_what_runs():
    def f(x):
        return math.exp(x)

    g = types.FunctionType(f.__code__.replace(co_consts=(None, 3.0)), f.__globals__)
    assert_right_or_refused(g)


def assert_right_or_refused(f):
    try:
        ours = grad(traceable(f))(0.5)
    except NoSourceError:
        return
    np.testing.assert_allclose(ours, jacobian_fd(f, 0.5).value, rtol=1e-6)


# ---------------------------------------------------------------- the way out


@pytest.mark.parametrize(
    "f",
    [
        lambda x: math.exp(x[0]),
        lambda x: np.asarray(x).sum(),
        lambda x: np.array([x[0], x[1]]).sum(),
        lambda x: float(x[0]),
        lambda x: np.zeros(3).__setitem__(0, x[0]),
    ],
    ids=["math", "asarray", "array", "float", "zeros"],
)
def test_errors_of_conversions_end_with_traceable(f):
    with pytest.raises(TracerConversionError, match=r"Pass traceable\(f\) for f") as caught:
        grad(f)(X)
    assert "traceable" in str(caught.value).rstrip().splitlines()[-1]


# ---------------------------------------------------------------- private functions of libraries


def test_of_a_private_function_the_public_one_is_named_that_called_it():
    def f(x):
        return np.sum(hierarchy.linkage(x.reshape(4, 2))[:, 2])

    with pytest.raises(NoRuleError) as error:
        grad(traceable(f))(np.arange(8.0) ** 2)
    message = str(error.value)
    assert message.startswith("scipy.cluster._hierarchy.mst_single_linkage(")
    assert "give scipy.cluster.hierarchy.linkage, which called it, a rule" in message
    assert "(@rrule.register(scipy.cluster.hierarchy.linkage))" in message


def test_of_a_private_function_that_was_called_by_nobody_else_itself_is_named():
    with pytest.raises(NoRuleError, match=r"give it one \(@rrule\.register\(find_objects\)\)"):
        grad(traceable(of_scipys_compiled_parts))(X)


def test_of_a_public_compiled_class_itself_is_named():
    with pytest.raises(NoRuleError) as error:
        grad(traceable(lambda x: cKDTree(x.reshape(3, 1)).data.sum()))(X)
    assert "@rrule.register(cKDTree)" in str(error.value)


# ---------------------------------------------------------------- errors of ours that others cover with their own


def covered_by_scipy(x):
    return optimize.differential_evolution(lambda p: (p[0] - x[0]) ** 2, [(-2.0, 2.0)], seed=1, maxiter=1).x[0]


def covered_without_a_cause(x):
    return optimize.differential_evolution(lambda p: p[0] ** 2, [(x[0], 2.0)], seed=1, maxiter=1).x[0]


def covered_by_a_cause(x):
    try:
        return math.exp(x[0])
    except TypeError as error:
        raise RuntimeError("something else is wrong") from error


@pytest.mark.parametrize("differentiated", [grad, lambda f: lambda x: jvp(f, (x,), (np.ones(3),))])
@pytest.mark.parametrize("f", [covered_by_scipy, covered_without_a_cause, covered_by_a_cause])
def test_an_error_that_others_cover_with_their_own_is_told(f, differentiated):
    with pytest.raises(REFUSED, match="lose its derivative") as error:
        differentiated(f)(X)
    if f is not covered_by_a_cause:
        assert "primitive(scipy.optimize.differential_evolution)" in str(error.value)


def test_an_error_of_a_handler_itself_is_told_as_it_is():
    def f(x):
        try:
            return math.exp(x[0])
        except TypeError:
            return {}["missing"]

    with pytest.raises(KeyError):
        grad(f)(X)


# ---------------------------------------------------------------- handlers of the program


def caught_by_name(x):
    try:
        y = cKDTree(np.eye(2)).query(np.array([x, 2.0]))[0]
    except Exception:
        y = 1.0
    return y + x


def caught_by_any(x):
    try:
        return bytes(memoryview(np.array([x])))
    except:  # noqa: E722 -- as people write
        return x


def caught_in_a_tuple(x):
    numbers = np.arange(3.0)

    def other():
        return numbers

    try:
        other()[0] = x
    except (ValueError, TypeError) as error:
        return x * len(str(error))
    return numbers.sum()


def suppressed(x):
    y = 1.0
    with contextlib.suppress(Exception):
        y = cKDTree(np.eye(2)).query(np.array([x, 2.0]))[0]
    return y * x


@pytest.mark.parametrize("f", [caught_by_name, caught_by_any, caught_in_a_tuple, suppressed])
@pytest.mark.parametrize("differentiate", [lambda f: grad(f)(1.3), lambda f: jvp(f, (1.3,), (1.0,))])
def test_no_handler_of_the_program_hides_a_refusal(f, differentiate):
    with pytest.raises((NoRuleError, TracerConversionError)):
        differentiate(traceable(f))


def test_a_handler_hears_what_the_program_asks_about():
    table = {}

    def remembered(x):
        try:
            return table[x]
        except KeyError:
            return 0.0
        except TypeError:  # what has no hash is computed
            return x**2

    def with_unit(x):
        try:
            return x * x.unit
        except AttributeError:
            return 3 * x

    assert grad(traceable(remembered))(2.0) == 4.0
    assert grad(traceable(with_unit))(2.0) == 3.0
