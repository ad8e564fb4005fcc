"""A traceable program is at the lines of its source, under its own names, to whoever asks."""

from __future__ import annotations

import doctest
import functools
import importlib
import inspect
import json
import linecache
import logging
import math
import subprocess
import sys
import textwrap
import traceback
import types
import warnings

import numpy as np
import pytest

from rulescore.ad import grad, traceable
from rulescore.ad.messages.errors import NoSourceError
from testutils import jacobian_fd

X = np.array([0.5, 0.8, 1.2])


def frames_of(error):
    """Name, line and text of the frames in this file, innermost last."""
    frames = traceback.extract_tb(error.__traceback__)
    return [(frame.name, frame.lineno, frame.line) for frame in frames if frame.filename == __file__]


def raised(call):
    """The frames of an error that a call makes."""
    with pytest.raises(ZeroDivisionError) as caught:
        call()
    return frames_of(caught.value)[2:]


# ---------------------------------------------------------------- errors


class Solver:
    def __init__(self, x):
        self.x = x

    def solve(self, n):
        values = [
            math.exp(self.x),
            self.step(
                n,
            ),
        ]
        return values[0]

    def step(self, n):
        if n == 0:
            return math.fsum(
                [
                    self.x,
                    1 // n,  # fails here
                ]
            )
        return (lambda k: self.step(k))(n - 1)

    @property
    def value(self):
        return self.solve(2)

    def __call__(self):
        with np.errstate(all="ignore"):
            for _ in range(2):
                yield self.value


def fails(x):
    return sum(Solver(x)())


def test_tracebacks_are_those_of_the_function():
    ours = raised(lambda: grad(traceable(fails))(0.5))
    assert ours == raised(lambda: fails(0.5))
    assert [name for name, *_ in ours] == ["fails", "__call__", "value", "solve", *["step", "<lambda>"] * 2, "step"]
    assert "fails here" in ours[-1][2]


def test_columns_of_errors_are_within_the_line():
    def f(x):
        y = math.exp(x)
        return y + 1 // int(y * 0.0)

    with pytest.raises(ZeroDivisionError) as caught:
        grad(traceable(f))(0.5)
    innermost = [frame for frame in traceback.extract_tb(caught.value.__traceback__) if frame.filename == __file__][-1]
    assert innermost.lineno == f.__code__.co_firstlineno + 2
    assert innermost.line[innermost.colno - 8 : innermost.end_colno - 8] == "1 // int(y * 0.0)"


def test_the_error_of_a_generator_that_is_thrown_into():
    def f(x):
        def steps():
            try:
                yield math.exp(x)
            except KeyError:
                yield 1 // 0

        g = steps()
        next(g)
        return g.throw(KeyError())

    ours = raised(lambda: grad(traceable(f))(0.5))
    assert ours[-1][0] == "steps"
    assert ours[-1][1] == f.__code__.co_firstlineno + 5


def test_variables_of_frames_have_their_names():
    def f(x):
        factor = 3.0
        kept = math.exp(x) * factor
        return [kept, 1 // 0]

    with pytest.raises(ZeroDivisionError) as caught:
        grad(traceable(f))(0.5)
    (frame,) = [frame for frame, _ in traceback.walk_tb(caught.value.__traceback__) if frame.f_code.co_name == "f"]
    assert list(frame.f_locals) == ["x", "factor", "kept"]


# ---------------------------------------------------------------- who asks


def test_warnings_are_at_the_line_that_is_told():
    def noisy():
        warnings.warn("mine", stacklevel=2)

    def f(x):
        y = math.exp(x)
        noisy()  # here
        warnings.warn("here too", stacklevel=1)
        return y

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        grad(traceable(f))(0.5)
    first = f.__code__.co_firstlineno
    assert [(w.filename, w.lineno) for w in caught] == [(__file__, first + 2), (__file__, first + 3)]


def test_warnings_of_numpy_are_at_the_line_of_the_program():
    def f(x):
        y = math.exp(x)
        return y * np.log(np.zeros(1))[0] * 0.0 + y

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        f(0.5)
        grad(traceable(f))(0.5)
    places = {(w.filename, w.lineno) for w in caught if "divide by zero" in str(w.message)}
    assert (__file__, f.__code__.co_firstlineno + 2) in places


def test_frames_are_those_of_the_program():
    seen = []

    def inner(x):
        frame = sys._getframe()
        seen.append((frame.f_code.co_name, frame.f_lineno, frame.f_back.f_code.co_name, frame.f_back.f_lineno))
        seen.append([info.function for info in inspect.stack()[:2]])
        return math.exp(x)

    def outer(x):
        return inner(x) * 2.0

    grad(traceable(outer))(0.5)
    first, last = inner.__code__.co_firstlineno, outer.__code__.co_firstlineno
    assert seen == [("inner", first + 2, "outer", last + 1), ["inner", "outer"]]
    assert sys._getframe().f_code.co_name == "test_frames_are_those_of_the_program"


def test_log_records_tell_the_function_and_the_line(caplog):
    log = logging.getLogger("of the program")

    def logs(x):
        y = math.exp(x)
        log.warning("y is computed")
        return y

    grad(traceable(logs))(0.5)
    (record,) = [record for record in caplog.records if record.name == "of the program"]
    assert (record.funcName, record.lineno) == ("logs", logs.__code__.co_firstlineno + 2)


def test_lines_are_traced_as_those_of_the_function():
    def f(x):
        total = 0.0
        for i in range(3):
            if i == 1:
                continue
            total += math.exp(
                x * i,
            )
        return total

    def lines_of(call):
        seen = []

        def trace(frame, event, _):
            if frame.f_code.co_filename != __file__ or frame.f_code.co_name != "f":
                return None if event == "call" and frame.f_code.co_filename != __file__ else trace
            if event == "line" and (not seen or seen[-1] != frame.f_lineno):
                seen.append(frame.f_lineno)
            return trace

        previous = sys.gettrace()
        sys.settrace(trace)
        try:
            call()
        finally:
            sys.settrace(previous)
        return seen

    assert set(lines_of(lambda: grad(traceable(f))(0.5))) == set(lines_of(lambda: f(0.5)))


def test_coverage_counts_the_lines_of_the_program(tmp_path):
    pytest.importorskip("coverage")
    (tmp_path / "program.py").write_text(
        textwrap.dedent(
            """
            import math

            def f(x, kind):
                if kind == "exp":
                    return math.exp(x)
                if kind == "sin":
                    return math.sin(x)
                return math.cos(x)
            """
        ).lstrip()
    )
    (tmp_path / "main.py").write_text(
        "from program import f\nfrom rulescore.ad import grad, traceable\ngrad(traceable(f))(0.5, 'sin')\n"
    )
    command = [sys.executable, "-m", "coverage"]
    options = {"cwd": tmp_path, "check": True, "capture_output": True}
    subprocess.run([*command, "run", "--include=program.py", "main.py"], **options)
    subprocess.run([*command, "json", "-o", "found.json"], **options)
    found = json.loads((tmp_path / "found.json").read_text())["files"]["program.py"]
    assert (found["executed_lines"], found["missing_lines"]) == ([1, 3, 4, 6, 7], [5, 8])


PROGRAM = """
import math
from rulescore.ad import grad, traceable

def f(x):
    \'\'\'Its documentation.\'\'\'
    assert x > 0
    y = math.exp(x) if __debug__ else math.sin(x)
    return y

print(float(grad(traceable(f))(0.5)))
"""


@pytest.mark.parametrize(("option", "g"), [("-B", math.exp), ("-O", math.sin), ("-OO", math.sin)])
def test_what_runs_is_what_python_was_asked_for(option, g, tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    command = [sys.executable, option, tmp_path / "program.py"]
    found = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert float(found) == pytest.approx(float(jacobian_fd(g, 0.5).value.item()), rel=1e-6)


def test_debuggers_stop_at_lines_of_the_program(tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    command = [sys.executable, "-m", "pdb", "-c", "break program.py:9", "-c", "continue", "program.py"]
    answers = "print('y is', float(y.shape == ()), 'in', __name__)\nwhere\nquit\n"
    found = subprocess.run(command, cwd=tmp_path, input=answers, capture_output=True, text=True, check=False).stdout
    assert "y is 1.0 in __main__" in found
    assert "program.py(9)f()" in found
    assert "-> return y" in found


def test_profiles_name_the_functions_of_the_program(tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    command = [sys.executable, "-m", "cProfile", "program.py"]
    found = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    assert "program.py:5(f)" in found


def test_assertions_that_pytest_has_rewritten():
    def f(x):
        y = np.zeros(2)
        assert x > 0, f"{x} is not positive"
        y[0] = math.exp(x)
        return y.sum()

    np.testing.assert_allclose(grad(traceable(f))(0.5), jacobian_fd(f, 0.5).value.item(), rtol=1e-6)
    with pytest.raises(AssertionError, match="is not positive"):
        grad(traceable(f))(-0.5)


def test_names_are_those_of_the_function():
    seen = []

    def f(x):
        """What it says."""

        def inner(y: float, *, k=2) -> float:
            """And this."""
            return math.exp(y) * k

        class Within:
            def method(self):
                return math.exp(x)

        seen.append((inner.__name__, inner.__qualname__, inner.__doc__, inner.__module__, inner.__kwdefaults__))
        seen.append((Within.__name__, Within.method.__qualname__, str(inspect.signature(inner))))
        return inner(x) + Within().method()

    f(0.5)
    grad(traceable(f))(0.5)
    assert seen[:2] == seen[2:]


# ---------------------------------------------------------------- where sources are


def test_cells_of_notebooks_have_a_source():
    """As IPython keeps it: under a name that is no file's."""
    cell = "import math\ndef f(x):\n    return math.exp(x) * 2.0\n"
    name = "<ipython-input-1-traceable>"
    linecache.cache[name] = (len(cell), None, cell.splitlines(True), name)
    names = {"__name__": "__main__"}
    exec(compile(cell, name, "exec"), names)
    try:
        np.testing.assert_allclose(grad(traceable(names["f"]))(0.5), jacobian_fd(names["f"], 0.5).value, rtol=1e-6)
    finally:
        del linecache.cache[name]


def test_cells_that_are_run_again_are_what_runs():
    results = []
    for k, body in enumerate(["math.exp(x)", "math.sin(x)"]):
        cell, name = f"import math\ndef f(x):\n    return {body}\n", f"<ipython-input-{k}-again>"
        linecache.cache[name] = (len(cell), None, cell.splitlines(True), name)
        names = {"__name__": "__main__"}
        exec(compile(cell, name, "exec"), names)
        results.append((grad(traceable(names["f"]))(0.5), jacobian_fd(names["f"], 0.5).value))
        del linecache.cache[name]
    for ours, expected in results:
        np.testing.assert_allclose(ours, expected, rtol=1e-6)


def test_doctests_have_a_source():
    text = """
    >>> import math
    >>> from rulescore.ad import grad, traceable
    >>> def f(x):
    ...     return math.pow(x, 2)
    >>> float(grad(traceable(f))(0.5))
    1.0
    >>> float(grad(traceable(lambda x: math.pow(x, 2) * 3))(0.5))
    3.0
    """
    test = doctest.DocTestParser().get_doctest(text, {}, "of a program", None, 0)
    runner = doctest.DocTestRunner(verbose=False)
    report = []
    runner.run(test, out=report.append)
    assert report == []
    assert runner.summarize(verbose=False).failed == 0


def test_modules_of_archives_have_a_source(tmp_path, monkeypatch):
    import zipfile

    with zipfile.ZipFile(tmp_path / "archive.zip", "w") as archive:
        archive.writestr("of_an_archive.py", "import math\n\ndef f(x):\n    return math.exp(x)\n")
    monkeypatch.syspath_prepend(tmp_path / "archive.zip")
    f = importlib.import_module("of_an_archive").f
    np.testing.assert_allclose(grad(traceable(f))(0.5), jacobian_fd(f, 0.5).value, rtol=1e-6)


def test_scripts_that_are_read_from_the_command_line_are_an_error_that_names_the_function():
    code = textwrap.dedent(
        """
        import math
        from rulescore.ad import grad, traceable
        def typed(x):
            return math.exp(x)
        try:
            print(float(grad(traceable(typed))(0.5)))
        except Exception as error:
            print(type(error).__name__, error)
        """
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    if sys.version_info < (3, 13):  # later ones keep the source
        assert result.stdout.startswith("NoSourceError typed")
    else:
        assert float(result.stdout) == pytest.approx(math.exp(0.5))


def test_a_script_is_followed(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import math\nfrom rulescore.ad import grad, traceable\n\ndef f(x):\n    return math.exp(x)\n\n"
        "if __name__ == '__main__':\n    print(float(grad(traceable(f))(0.5)))\n"
    )
    result = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True)
    assert float(result.stdout) == pytest.approx(math.exp(0.5))


def test_files_in_other_encodings(tmp_path, monkeypatch):
    lines = [
        "# -*- coding: latin-1 -*-",
        "import math",
        "def größe(x):",
        "    ä = 'é'",
        "    return math.exp(x) * len(ä)",
    ]
    source = "\n".join(lines)
    (tmp_path / "in_latin.py").write_bytes(source.encode("latin-1"))
    monkeypatch.syspath_prepend(tmp_path)
    f = importlib.import_module("in_latin").größe
    np.testing.assert_allclose(grad(traceable(f))(0.5), jacobian_fd(f, 0.5).value, rtol=1e-6)


def test_definitions_wherever_they_stand(tmp_path, monkeypatch):
    (tmp_path / "wherever.py").write_text(
        textwrap.dedent(
            '''
            from __future__ import annotations
            import functools, math
            if True:
                try:
                    def f(x): return math.exp(x)
                except ImportError:
                    pass
            else:
                def f(x): return math.sin(x)
            g = lambda x: math.exp(x) + 1; h = lambda x: math.sin(x) + 1
            table = {"a": lambda x: math.exp(x), "b": (lambda x: math.cos(x), lambda y: math.sin(y))}
            def outer():
            \tdef tabbed(x):
            \t\treturn math.exp(x)
            \treturn tabbed
            def long(
                x,
                k = 2,
            ) -> float: return (
                math.exp(x)
                * k)
            def text(x):
                s = """
            def f(x): return 0
            """
                return math.exp(x) * len(s)
            def continued(x): \\
                return math.exp(x)
            @functools.lru_cache(maxsize=None)
            def decorated(x):
                return math.exp(x)
            decorated = decorated.__wrapped__
            def same(x): return math.exp(x)
            first = same
            def same(x): return math.sin(x)
            '''
        )
    )
    monkeypatch.syspath_prepend(tmp_path)
    module = importlib.import_module("wherever")
    functions = [module.f, module.g, module.h, module.table["a"], *module.table["b"], module.outer(), module.long]
    functions += [module.text, module.continued, module.decorated, module.first, module.same]
    for f in functions:
        np.testing.assert_allclose(grad(traceable(f))(0.5), jacobian_fd(f, 0.5).value, rtol=1e-6)


def test_lambdas_that_cannot_be_told_apart_are_right_or_refused():
    first, second = (lambda x: math.exp(x)), (lambda x: math.exp(x))
    made = [lambda x, k=k: math.exp(x) * k for k in (1.0, 2.0)]
    for f in (first, second, *made):
        try:
            ours = grad(traceable(f))(0.5)
        except NoSourceError:
            continue
        np.testing.assert_allclose(ours, jacobian_fd(f, 0.5).value, rtol=1e-6)


def test_functions_that_were_given_another_name_or_code():
    def f(x):
        return math.exp(x)

    renamed = types.FunctionType(f.__code__, {"math": math, "__name__": "elsewhere"}, "renamed")
    np.testing.assert_allclose(grad(traceable(renamed))(0.5), jacobian_fd(math.exp, 0.5).value, rtol=1e-6)
    wrapped = functools.wraps(f)(lambda x: f(x) * 2)
    np.testing.assert_allclose(grad(traceable(wrapped))(0.5), 2 * jacobian_fd(math.exp, 0.5).value, rtol=1e-6)
