"""The command line, called in this process and as the installed script."""

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from rulescore import rrule
from testutils import sample
from testutils.runs import command_line, running
from testutils.runs.command_line import main
from testutils.runs.running import TargetError, collect_targets, default_jobs, resolve, run_targets

RULES = """
import numpy as np
from rulescore import NoTangent, frule, rrule
from rulescore.testing import sample, sample_inputs

def scaled(x, a):
    return a * x

@rrule.register(scaled)
def scaled_rrule(x, a):
    def scaled_pullback(ybar):
        {body}
        return NoTangent(), {xbar}, {abar}
    return a * x, scaled_pullback

@frule.register(scaled)
def scaled_frule(tangents, x, a):
    _, dx, da = tangents
    return a * x, a * dx + da * x

@sample_inputs(scaled)
def _(rng):
    yield sample(rng.standard_normal(3) + {imaginary} * rng.standard_normal(3), {scale})
"""

RIGHT = {"body": "pass", "xbar": "np.conj(a) * ybar", "abar": "np.vdot(x, ybar)", "imaginary": "0", "scale": "1.5"}


@pytest.fixture
def rules_file(tmp_path, request):
    """Writes a file of rules, right but for what is given, under a name no other test uses."""

    def write(**changes):
        path = tmp_path / f"rules_{abs(hash(request.node.name))}_{len(list(tmp_path.iterdir()))}.py"
        path.write_text(RULES.format(**{**RIGHT, **changes}))
        return str(path)

    return write


def test_right_rules_pass_with_status_0(rules_file, capsys):
    assert main(["check", rules_file()]) == 0
    assert "1 function, 1 sample input: 1 pass" in capsys.readouterr().out


WRONG = {
    "sign": ({"xbar": "-a * ybar"}, "argument 0 (x)", "-1"),
    "factor": ({"xbar": "2 * a * ybar"}, "argument 0 (x)", "ratio"),
    "shape": ({"abar": "x * ybar"}, "argument 1 (a)", "shape (3,)"),
    "conjugate": (
        {"imaginary": "1j", "scale": "1.5 + 2j", "xbar": "a * ybar"},
        "argument 0 (x)",
        "derivative",
    ),
    "mutated input": ({"body": "np.multiply(x, 2, out=x)"}, "argument 0 (x)", "writes"),
}


@pytest.mark.parametrize("mistake", WRONG)
def test_a_wrong_rule_exits_1_and_names_function_argument_and_difference(mistake, rules_file, capsys):
    changes, argument, difference = WRONG[mistake]
    assert main(["check", rules_file(**changes)]) == 1
    output = capsys.readouterr().out
    assert "scaled(" in output
    assert argument in output
    assert difference in output


def test_a_rule_without_samples_is_untested_and_exits_1(tmp_path, capsys):
    path = tmp_path / "untested_rule.py"
    path.write_text(RULES.format(**RIGHT).split("@sample_inputs")[0])
    assert main(["check", str(path)]) == 1
    output = capsys.readouterr().out
    assert "untested_rule.scaled has a rule" in output
    assert "1 untested" in output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["check", "nowhere_to_be_found"], "there is no module 'nowhere_to_be_found'"),
        (["check", "missing_file.py"], "there is no such file"),
        (["check", __file__.removesuffix(".py")], f"there is no such file; write {__file__}"),
        (["check", "nowhere_to_be_found"], "write the name as you would import it, or a file as my_rules.py"),
        (["check", "numpy.sine"], "numpy has no 'sine'"),
        (["check", "--jobs", "0"], "1 or more"),
        (["check", "--seed", "-1"], "a seed is a whole number, 0 or more"),
        (["check", "--json", "no/such/folder/report.json", "np.sin"], "there is no folder"),
        (
            ["check", "--html", "no/such/folder/page.html", "np.sin"],
            "--html no/such/folder/page.html: there is no folder",
        ),
        (["check", "--html", ".", "np.sin"], "--html .: this is a folder"),
        (["list", "numpy.sin"], "not a module"),
        (["frobnicate"], "invalid choice"),
        ([], "required"),
    ],
)
def test_a_wrong_command_exits_4_and_says_why(arguments, message, capsys):
    assert main(arguments) == 4
    assert message in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["json"], "json registers no rules"),
        (["json.dumps"], "json.dumps has no rule"),
        (["np.sin", "--only", "nothing"], "no sample input has 'nothing' in its name"),
    ],
)
def test_where_there_is_nothing_to_check_it_exits_5(arguments, message, capsys):
    assert main(["check", *arguments]) == 5
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("source", "error", "line"),
    [
        ("x = 0\n1 / x\n", "ZeroDivisionError: division by zero", "2: 1 / x"),
        ("import json\njson.loads('{')\n", "JSONDecodeError", "2: json.loads('{')"),
        ("x = 0\ndef f(:\n", "SyntaxError", "2: def f(:"),
    ],
)
def test_a_file_that_raises_exits_4_with_the_error_and_its_line(tmp_path, capsys, source, error, line):
    path = tmp_path / "raising_rules.py"
    path.write_text(source)
    assert main(["check", str(path)]) == 4
    told = capsys.readouterr().err
    assert error in told
    assert f"({path}:{line})" in told


def test_a_failure_is_told_with_its_rule_and_the_command_that_repeats_it(rules_file, capsys):
    path = rules_file(xbar="2 * a * ybar")
    assert main(["check", path, "np.tanh", "--seed", "7"]) == 1
    output = capsys.readouterr().out
    text = Path(path).read_text().splitlines()
    for mode in ("frule", "rrule"):  # both concern "frule against rrule"
        place = next(line for line in output.splitlines() if f"its {mode}: " in line)
        assert place.startswith(f"  its {mode}: {path}:")
        assert f"@{mode}.register(scaled)" in text[int(place.rpartition(":")[2]) - 1]
    assert output.count(str(path)) == 3  # there, and in the command
    command = shlex.split(next(line for line in output.splitlines() if line.startswith("once more: ")))[2:]
    assert command[:2] == ["rulescore", "check"]
    assert main(command[1:]) == 1
    assert "1 function, 1 sample input: 1 fail" in capsys.readouterr().out


def test_names_with_brackets_are_no_markup(tmp_path, capsys):
    folder = tmp_path / "r["
    folder.mkdir()
    path = folder / "a].py"
    path.write_text(RULES.format(**{**RIGHT, "xbar": "-a * ybar"}))
    assert main(["check", str(path)]) == 1
    assert str(path) in capsys.readouterr().out


def test_lines_tell_how_far_a_check_is_where_no_terminal_shows_a_bar(rules_file, capsys, monkeypatch):
    seconds = iter(range(0, 1000, 6))
    monkeypatch.setattr(command_line.time, "perf_counter", lambda: float(next(seconds)))
    tell = command_line._lines_of_progress(2, 4)
    for name in ("np.sin", "np.sin", "np.cos", "np.cos"):
        tell(description=name)
    assert capsys.readouterr().err.splitlines() == [
        "checking 2 functions, 4 samples",
        "checking np.sin: 2 of 4 samples, still 12 s",
        "checking np.cos: 4 of 4 samples, still 0 s",
    ]
    monkeypatch.undo()
    assert main(["check", rules_file()]) == 0
    assert capsys.readouterr().err == "checking 1 function, 1 sample\n"


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_ctrl_c_keeps_what_was_found(rules_file, tmp_path, jobs):
    slow, begun, found = tmp_path / "slow_rules.py", tmp_path / "begun", tmp_path / "found.json"
    first_lines = (
        f"def scaled(x, a):\n    import pathlib, time\n    pathlib.Path({str(begun)!r}).touch()\n    time.sleep(60)"
    )
    slow.write_text(Path(rules_file()).read_text().replace("def scaled(x, a):", first_lines))
    # A shell's "&" makes the tests, and what they start, deaf to Ctrl-C.
    listening = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
    program = f"{listening}; from rulescore.__main__ import main; raise SystemExit(main())"
    arguments = ["check", "np.sum", str(slow), "--jobs", jobs, "--json", str(found)]
    command = [sys.executable, "-c", program, *arguments]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True)
    while not begun.exists():
        assert process.poll() is None
        time.sleep(0.1)
    os.killpg(process.pid, signal.SIGINT)
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 2
    last = output.splitlines()[-1]
    assert re.fullmatch(r"(1 of 2 functions checked, all pass|0 of 2 functions checked); interrupted", last), last
    assert last.startswith("1") or jobs != "1"  # other processes may be at what came first
    document = json.loads(found.read_text())
    assert document["interrupted"]
    assert [function["function"] for function in document["functions"]] == ["numpy.sum"] * last.startswith("1")


def test_a_generator_of_samples_that_raises_exits_4_and_is_named(tmp_path, capsys):
    path = tmp_path / "raising_samples.py"
    path.write_text(RULES.format(**RIGHT).replace("yield sample", "raise KeyError('x'); yield sample"))
    assert main(["check", str(path)]) == 4
    assert "the sample inputs of raising_samples.scaled" in capsys.readouterr().err


def test_json_holds_every_report(rules_file, tmp_path):
    target = tmp_path / "report.json"
    assert main(["check", rules_file(xbar="-a * ybar"), "--json", str(target), "--seed", "3"]) == 1
    document = json.loads(target.read_text())
    assert document["seed"] == 3
    assert document["verdicts"] == {"fail": 1}
    (function,) = document["functions"]
    (sample,) = function["samples"]
    assert sample["verdict"] == "fail"
    failing = [result for result in sample["results"] if result["verdict"] == "fail"]
    assert any(entry["rule"] == -entry["finite_difference"] or entry["rule"] for entry in failing[0]["details"])


def test_html_is_a_page_about_the_whole_run(rules_file, tmp_path):
    target = tmp_path / "page.html"
    assert main(["check", rules_file(xbar="-a * ybar"), "np.add", "--html", str(target), "--seed", "3"]) == 1
    page = target.read_text(encoding="utf-8")
    assert page.startswith("<!DOCTYPE html>")
    assert "seed 3" in page
    assert "<b>1</b>" in page
    assert ".scaled</code>" in page
    assert "<code>numpy.add</code>" in page
    assert "argument 0 (x)" in page
    assert "<h2>Wrong</h2>" in page
    assert "<svg" in page
    assert "looks like a flipped sign" in page


def test_a_wrong_place_for_a_file_is_told_before_any_rule_is_checked(rules_file, capsys):
    assert main(["check", "a_file_that_is_not_there.py", "--html", "no/such/folder/page.html"]) == 4
    assert "there is no folder" in capsys.readouterr().err


def test_html_of_several_processes_is_that_of_one(rules_file, tmp_path):
    path = rules_file(xbar="-a * ybar")
    pages = []
    for jobs in ("1", "2"):
        target = tmp_path / f"{jobs}.html"
        main(["check", path, "np.negative", "--html", str(target), "--jobs", jobs])
        pages.append(re.sub(r"in [\d.]+ s", "", target.read_text(encoding="utf-8")))
    assert pages[0] == pages[1]


def test_html_without_matplotlib_is_written_without_pictures(rules_file, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    target = tmp_path / "page.html"
    assert main(["check", rules_file(xbar="-a * ybar"), "--html", str(target)]) == 1
    page = target.read_text(encoding="utf-8")
    assert "<svg" not in page
    assert "argument 0 (x)" in page


def test_a_single_function_is_checked_by_its_name(capsys):
    assert main(["check", "np.add"]) == 0
    assert "1 function," in capsys.readouterr().out


def test_output_is_plain_without_a_terminal(rules_file, capsys):
    main(["check", rules_file(xbar="-a * ybar")])
    output = capsys.readouterr().out
    assert "\x1b" not in output
    assert "\r" not in output


def rows_of(output):
    """The cells of a printed table, by the first of each row."""
    rows = [[cell.strip() for cell in line.split("│")[1:-1]] for line in output.splitlines() if "│" in line]
    return {name: cells for name, *cells in rows}


def test_list_shows_kind_rules_and_samples_of_a_module(capsys):
    assert main(["list", "numpy"]) == 0
    rows = rows_of(capsys.readouterr().out)
    assert rows["add"][:3] == ["rules", "yes", "yes"]
    assert int(rows["add"][3]) > 0
    assert rows["isnan"][:3] == ["constant", "zero", "zero"]
    assert rows["put"][:3] == ["looked into", "", ""]
    assert int(rows["put"][3]) > 0
    assert rows["savetxt"] == ["not numerical", "", "", ""]


def test_list_shows_the_methods_of_a_class(capsys):
    assert main(["list", "numpy.ndarray"]) == 0
    output = capsys.readouterr().out
    rows = rows_of(output)
    assert rows["sum"][:3] == ["rules", "yes", "yes"]
    assert rows["sort"][0] == "looked into"
    assert "shape" not in rows
    assert "with rules" in output


MODULE = """
def forgotten(x): return x
def greet(name): return name
def chained(x): return 2 * x
def unproved(x): return 2 * x
def hard(x): return 2 * x

from rulescore import frule, missing_rules, not_numerical, opt_out, rrule
from rulescore.testing import sample, sample_inputs

not_numerical(greet)
missing_rules(hard, because="it is hard: write x[k]")
for f in (chained, unproved):
    opt_out(rrule, f)
    opt_out(frule, f)
sample_inputs(chained)(lambda rng: [sample(rng.standard_normal(3))])
__all__ = ["forgotten", "greet", "chained", "unproved", "hard"]
"""


@pytest.fixture
def new_module(tmp_path, monkeypatch):
    (tmp_path / "a_new_module.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    return "a_new_module"


IMPORTING = """
from math import hypot, pi

import {elsewhere}
import numpy as np
from {elsewhere} import far, unruled
from numpy import cos, matmul, sin

from rulescore import rrule, scalar_rule
from rulescore.testing import sample, sample_inputs, test_rule

def twice(x): return 2 * x
def forgotten(x): return x
def _inner(x): return 3 * x

scalar_rule(twice, lambda y, x: 2)
scalar_rule(_inner, lambda y, x: 3)
scalar_rule(far, lambda y, x: 4)
scalar_rule({elsewhere}.farther, lambda y, x: 5)

class Shape:
    pass
"""


@pytest.mark.parametrize("as_file", [True, False])
def test_list_counts_what_a_module_defines_or_has_rules_for_and_not_what_it_imports(
    as_file, tmp_path, monkeypatch, capsys
):
    name = f"a_module_that_imports_{as_file}"
    elsewhere = f"elsewhere_{as_file}"
    (tmp_path / f"{name}.py").write_text(IMPORTING.format(elsewhere=elsewhere))
    (tmp_path / f"{elsewhere}.py").write_text(
        "def far(x): return 4 * x\ndef farther(x): return 5 * x\ndef unruled(x): return x\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    assert main(["list", str(tmp_path / f"{name}.py") if as_file else name]) == 0
    output = capsys.readouterr().out
    rows = rows_of(output)
    inner = [row for row in rows if row.endswith("._inner")]
    assert len(inner) == 1
    assert set(rows) == {"far", f"{elsewhere}.farther", "forgotten", "twice", *inner}
    assert "5 functions: 4 with rules, 1 missing" in output


def test_list_missing_names_what_nothing_is_known_of_and_what_nothing_proves(new_module, capsys):
    main(["list", "--missing", new_module])
    output = capsys.readouterr().out
    rows = rows_of(output)
    assert set(rows) == {"forgotten", "unproved", "hard"}
    assert rows["hard"] == ["", "", "", "", "it is hard: write x[k]"]
    assert rows["forgotten"] == ["", "", "", "", ""]
    assert "5 functions: 2 looked into, 1 not numerical, 2 missing" in output


def test_check_asks_for_no_samples_of_what_has_no_rules_and_says_why(new_module, capsys):
    main(["check", new_module, "--jobs", "1"])
    output = capsys.readouterr().out
    assert "unproved" in output
    assert "hard" not in output


def test_list_missing_leaves_out_what_is_complete(capsys):
    main(["list", "--missing", "numpy"])
    assert not {"add", "isnan", "put", "savetxt"} & set(rows_of(capsys.readouterr().out))


OBJECTS = """
from rulescore import rrule, scalar_rule
from rulescore.testing import sample, sample_inputs

class Family:
    def __call__(self, x): return self
    def logpdf(self, x): return -x * x / 2
    def fit(self, x): return x

normal, unknown = Family(), Family()
def logpdf(x): return normal.logpdf(x)
rrule.alias(normal.logpdf, logpdf)
scalar_rule(logpdf, lambda y, x: -x)
__all__ = ["Family", "normal", "unknown"]
"""


def test_list_shows_the_methods_with_rules_of_an_object(tmp_path, monkeypatch, capsys):
    (tmp_path / "a_module_of_objects.py").write_text(OBJECTS)
    monkeypatch.syspath_prepend(tmp_path)
    main(["list", "a_module_of_objects"])
    output = capsys.readouterr().out
    rows = rows_of(output)
    assert set(rows) == {"normal.logpdf", "unknown"}
    assert rows["normal.logpdf"][:3] == ["rules", "yes", "yes"]
    assert "2 functions: 1 with rules, 1 missing" in output


def test_a_name_without_functions_stands_for_the_modules_with_rules_below_it(capsys):
    main(["list", "scipy"])
    assert "scipy.sparse: " in capsys.readouterr().out


def test_list_onnx_shows_what_functions_are_called_elsewhere(capsys):
    assert main(["list", "--onnx"]) == 0
    rows = rows_of(capsys.readouterr().out)
    assert rows["conv2d"] == ["Conv", "tf.nn.conv2d"]
    assert rows["dilation2d"] == ["", "tf.nn.dilation2d"]
    assert rows["matmul"] == ["MatMul", "tf.linalg.matmul"]
    assert rows["abs"] == rows["absolute"] == ["Abs", "tf.math.abs"]
    assert not {"soft_sort", "sinc"} & set(rows)


def test_list_onnx_of_a_module_counts_its_functions(new_module, capsys):
    assert main(["list", "--onnx", new_module]) == 0
    assert capsys.readouterr().out == "a_new_module: 5 functions: 0 in ONNX, 0 in TensorFlow\n"


def test_show_prints_signature_place_and_source(capsys):
    assert main(["show", "np.exp"]) == 0
    output = capsys.readouterr().out
    assert "frule  exp(" in output
    assert "rrule  exp(" in output
    assert "rules" in output
    assert "np.exp" in output
    assert "sample inputs:" in output


def test_show_follows_an_alias(capsys):
    main(["show", "operator.add"])
    assert "operator.add is served by the rules of add" in capsys.readouterr().out


def test_show_of_a_function_without_rule_exits_1(capsys):
    assert main(["show", "json.dumps"]) == 1
    assert "json.dumps has no rule: register one" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "reason"),
    [("np.savetxt", "it computes nothing that could be differentiated"), ("np.put", "AD systems differentiate what")],
)
def test_show_says_why_there_is_no_rule_on_purpose(name, reason, capsys):
    assert main(["show", name]) == 1
    output = capsys.readouterr().out
    assert f"{name} has no rule, on purpose: {reason}" in output
    assert "rules" in output


LOOKED_INTO = """
import numpy as np
from rulescore import frule, opt_out, rrule
from rulescore.testing import sample, sample_inputs

def chained({chained}

opt_out(rrule, chained)
opt_out(frule, chained)

@sample_inputs(chained)
def _(rng):
    yield sample(rng.standard_normal(3))
"""


@pytest.mark.parametrize(
    ("chained", "status", "said"),
    [
        ("x): return np.sin(x) ** 2", 0, "1 function, 1 sample input: 1 pass"),
        ("x): return np.array([v for v in x])", 1, "makes ordinary numbers or arrays"),
    ],
)
def test_what_is_looked_into_is_checked_through_the_ad(chained, status, said, tmp_path, capsys):
    path = tmp_path / f"looked_into_{status}.py"
    path.write_text(LOOKED_INTO.format(chained=chained))
    assert main(["check", str(path)]) == status
    assert said in capsys.readouterr().out


def test_what_is_looked_into_needs_samples(tmp_path, capsys):
    path = tmp_path / "looked_into_untested.py"
    path.write_text(LOOKED_INTO.format(chained="x): return x").split("@sample_inputs")[0])
    assert main(["check", str(path)]) == 1
    assert "1 untested" in capsys.readouterr().out


SECOND = """
import numpy as np
from rulescore import scalar_rule
from rulescore.testing import sample, sample_inputs

def cubed(x):
    return x ** 3

scalar_rule(cubed, lambda y, x: {slope})

@sample_inputs(cubed)
def _(rng):
    yield sample(rng.uniform(1.0, 2.0, 3){options})
"""

# Right at first order. Of the one the AD makes a constant, of the other nothing.
FROZEN = "3 * getattr(x, '_value', x) ** 2"
CONVERTED = "3 * np.asarray(x.tolist(), x.dtype) ** 2"


def checked_thoroughly(tmp_path, name, **changes):
    path = tmp_path / f"second_order_{name}.py"
    path.write_text(SECOND.format(**{"slope": "3 * x**2", "options": "", **changes}))
    report = tmp_path / "report.json"
    status = main(["check", "--thorough", "--json", str(report), str(path)])
    (function,) = json.loads(report.read_text())["functions"]
    results = function["samples"][0]["results"]
    return status, {(r["mode"], r["verdict"]) for r in results if r["name"].startswith("second order")}, results


COMBINATIONS = {"vjp of vjp", "jvp of vjp", "vjp of jvp", "jvp of jvp"}


def test_thorough_checks_second_order_in_all_combinations_of_modes(tmp_path):
    status, found, _ = checked_thoroughly(tmp_path, "right")
    assert status == 0
    assert found == {(mode, "pass") for mode in COMBINATIONS}


def test_a_rule_whose_derivative_is_a_constant_for_the_ad_fails_at_second_order_alone(tmp_path):
    status, found, results = checked_thoroughly(tmp_path, "frozen", slope=FROZEN)
    assert status == 1
    assert ("vjp of vjp", "fail") in found
    assert {r["name"].partition(":")[0] for r in results if r["verdict"] == "fail"} == {"second order"}


def test_a_person_s_own_rule_may_do_what_nothing_is_traced_through(tmp_path):
    status, found, results = checked_thoroughly(tmp_path, "converted", slope=CONVERTED)
    assert status == 0
    assert found == {(mode, "not run") for mode in COMBINATIONS}
    assert any("was about to become" in r["message"] for r in results)


def test_a_sample_may_say_why_it_has_no_second_derivative(tmp_path):
    options = ", _skip={'second order': 'a kink'}"
    status, found, results = checked_thoroughly(tmp_path, "skipped", slope=FROZEN, options=options)
    assert status == 0
    assert found == {("", "not run")}
    assert any(r["message"] == "left out: a kink" for r in results)


def test_rules_that_packages_offer_have_to_be_traced_through():
    (target,) = collect_targets(["np.sinc"])
    with rrule.override(np.sinc, lambda x: (np.sinc(x), lambda ybar: (None, float(x) * ybar))):
        report = target.check(sample(0.5), thorough=True)
    second = [r for r in report.failures if r.name == "second order"]
    assert {r.mode for r in second} >= {"vjp of vjp", "jvp of vjp"}


def test_processes_find_the_same_results_as_one(rules_file):
    path = rules_file(xbar="-a * ybar")
    targets = collect_targets([path, "numpy.add"])
    here = run_targets([path, "numpy.add"], targets)
    there = run_targets([path, "numpy.add"], targets, jobs=2)
    assert [outcome.to_dict() for outcome in here] == [outcome.to_dict() for outcome in there]
    assert [outcome.verdict for outcome in here] == ["fail", "pass"]


def test_processes_use_one_thread_of_blas_each_unless_told_otherwise(rules_file, monkeypatch):
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    told = "os.getenv('OPENBLAS_NUM_THREADS'), 'and', os.getenv('OMP_NUM_THREADS'), 'threads'"
    path = rules_file(body=f"import os; raise RuntimeError(' '.join([{told}]))")
    outcome, _ = run_targets([path, "numpy.add"], collect_targets([path, "numpy.add"]), jobs=2)
    assert "1 and 2 threads" in str(outcome.reports[0][1])
    assert "OPENBLAS_NUM_THREADS" not in os.environ


def test_progress_is_reported_for_every_sample():
    targets = collect_targets(["numpy.add"])
    seen = []
    run_targets(["numpy.add"], targets, on_report=lambda target, sample, report: seen.append(sample.id))
    assert seen == [sample.id for sample in targets[0].samples]


def test_an_error_of_the_checks_fails_its_sample_and_stops_nothing(rules_file, monkeypatch):
    path = rules_file()
    targets = collect_targets([path])

    def broken(*args, **kwargs):
        raise IndexError("out of the tester's own bounds")

    monkeypatch.setattr(running, "check_sample", broken)
    outcome, *_ = run_targets([path], targets)
    assert outcome.verdict == "fail"
    assert "checking raised IndexError" in str(outcome.reports[0][1])


def test_few_samples_are_checked_in_this_process():
    assert default_jobs(10) == 1


def test_a_file_named_like_a_module_hides_neither(tmp_path):
    path = tmp_path / "json.py"
    path.write_text(RULES.format(**RIGHT))
    (target,) = collect_targets([str(path)])
    assert target.name.endswith(".scaled")
    assert sys.modules["json"] is json


def test_resolve_finds_submodules_and_methods():
    assert resolve("np.linalg.inv") is np.linalg.inv
    assert resolve("numpy.ndarray.sum") is np.ndarray.sum
    with pytest.raises(TargetError, match=r"numpy\.linalg has no 'invert'"):
        resolve("np.linalg.invert")


def test_an_overridden_rule_is_what_is_checked(rules_file):
    targets = collect_targets(["np.negative"])
    with rrule.override(np.negative, lambda x: (-x, lambda ybar: (None, ybar))):
        (outcome,) = run_targets(["np.negative"], targets)
    assert outcome.verdict == "fail"


def test_the_installed_script_checks_a_file(rules_file, tmp_path):
    script = shutil.which("rulescore", path=str(sys.prefix + "/bin")) or shutil.which("rulescore")
    done = subprocess.run([script, "check", rules_file()], capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 pass" in done.stdout


def test_a_module_named_testutils_is_neither_run_nor_in_the_way(rules_file, tmp_path):
    (tmp_path / "testutils.py").write_text("raise SystemExit('it was run')")
    command = [sys.executable, "-m", "rulescore", "check", rules_file()]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 pass" in done.stdout


def test_a_part_of_a_package_is_a_target_although_the_rules_come_with_the_whole():
    targets = {target.name: target.module for target in collect_targets(["numpy.fft"])}
    assert targets["numpy.fft.rfftfreq"] == "numpy.fft"
    assert all(name.startswith("numpy.fft.") for name in targets)


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A project with a package in ``src``, whose rules import a neighbour by a relative name, and a module."""
    package = tmp_path / "src" / f"pkg_{tmp_path.name}"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "constants.py").write_text("TWO = 2\n")
    (package / "mod.py").write_text(RULES.format(**RIGHT) + "\nfrom .constants import TWO\n")
    (package / "test_mod.py").write_text("raise SystemExit('a test is no rule')\n")
    (tmp_path / f"beside_{tmp_path.name}.py").write_text(RULES.format(**RIGHT))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    return package.name


@pytest.mark.parametrize("target", ["{}.mod", "src/{}/mod.py", "src/{}", "src", "{}.mod.scaled"])
def test_a_module_file_or_folder_of_a_project_is_a_target(project, target, capsys):
    target = target.format(project)
    assert main(["check", target]) == 0, capsys.readouterr()
    assert "1 function, 1 sample input: 1 pass" in capsys.readouterr().out
    assert main(["show", target]) == 0
    assert "scaled_rrule(x, a)" in capsys.readouterr().out
    if not target.endswith("scaled"):
        assert main(["list", target]) == 0


TWO_RULES = (
    RULES
    + """
def doubled(x):
    return 2 * x

@rrule.register(doubled)
def doubled_rrule(x):
    return 2 * x, lambda ybar: (NoTangent(), 3 * ybar)

@sample_inputs(doubled)
def _(rng):
    yield sample(1.5)

class Gain:
    def __call__(self, x):
        return 2 * x

    @staticmethod
    def halved(x):
        return x / 2

@rrule.register(Gain.halved)
def halved_rrule(x):
    return x / 2, lambda ybar: (NoTangent(), ybar / 2)

@sample_inputs(Gain.halved)
def _(rng):
    yield sample(1.5)
"""
)


@pytest.fixture
def two_rules(tmp_path, monkeypatch):
    """A file of several rules, of which that of ``doubled`` is wrong; its name is that of its module."""
    name = f"two_rules_{tmp_path.name}"
    (tmp_path / f"{name}.py").write_text(TWO_RULES.format(**RIGHT))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    return name


@pytest.mark.parametrize("target", ["{}.py:scaled", "./{}.py:scaled", "{}:scaled", "{}.scaled", "{}.py:Gain.halved"])
def test_a_function_of_a_file_is_checked_alone(two_rules, target, capsys):
    target = target.format(two_rules)
    assert main(["check", target]) == 0, capsys.readouterr()
    assert "1 function, 1 sample input: 1 pass" in capsys.readouterr().out
    assert main(["show", target]) == 0
    assert "doubled" not in capsys.readouterr().out


def test_the_functions_of_a_file_are_checked_in_several_processes(two_rules, capsys):
    assert main(["check", f"{two_rules}.py:scaled", f"{two_rules}.py:doubled", "--jobs", "2"]) == 1
    assert "2 functions, 2 sample inputs: 1 pass, 1 fail" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "status", "message"),
    [
        ("scale", 4, "has no 'scale'; it registers rules for {0}.scaled, {0}.doubled, {0}.Gain.halved"),
        ("sample", 5, ".py:sample has no rule: register one with @rrule.register(sample), or check a derivative that"),
    ],
)
def test_what_is_no_function_with_rules_in_a_file_is_told(two_rules, name, status, message, capsys):
    assert main(["check", f"{two_rules}.py:{name}"]) == status
    assert message.format(two_rules) in capsys.readouterr().err


def test_of_samples_that_fail_alike_one_is_shown(tmp_path, monkeypatch, capsys):
    (tmp_path / "alike.py").write_text(
        """
import numpy as np
from rulescore import pullback_wrt, rrule
from rulescore.testing import sample, sample_inputs


def square(x):
    return x**2


@rrule.register(square)
def square_rrule(x):
    return x**2, pullback_wrt(x)(lambda ybar: -2 * x * ybar)


@sample_inputs(square)
def square_samples(rng):
    for size in (2, 3, 4):
        yield sample(rng.standard_normal(size))
"""
    )
    monkeypatch.chdir(tmp_path)
    assert main(["check", "alike.py"]) == 1
    output = capsys.readouterr().out
    assert output.count("looks like a flipped sign") == 1
    assert "2 further samples of alike.square with findings like these:" in output
    (*_, last) = [line for line in output.splitlines() if line.startswith("  rulescore check alike.py --only")]
    assert main(shlex.split(last)[1:]) == 1
    assert "float64[4]" in capsys.readouterr().out


def test_arguments_may_be_given_by_keyword(capsys):
    assert main(["check", "np.sum", "--at", "np.ones((2, 3)), axis=0"]) == 0
    assert "numpy.sum(float64[2, 3], axis=0)" in capsys.readouterr().out


def test_registered_rules_are_checked_at_given_arguments(two_rules, capsys):
    assert main(["check", f"{two_rules}.py:scaled", "--at", "np.ones(3), 2.0"]) == 0, capsys.readouterr()
    assert "pass: " in capsys.readouterr().out
    assert main(["check", f"{two_rules}.py:doubled", "--at", "2.0"]) == 1
    assert "rule / finite difference = 1.5" in capsys.readouterr().out.replace("\n", " ")


@pytest.mark.parametrize(
    ("target", "status", "message"),
    [
        ("{}.py", 4, "{}.py: --at is about one function: write {}.py:f"),
        ("{}", 4, "{}: --at is about one function: write {}:f"),
        ("{}.py:sample", 5, "has no rule: register one with @rrule.register("),
    ],
)
def test_given_arguments_are_for_one_function_with_rules(two_rules, target, status, message, capsys):
    assert main(["check", target.format(two_rules), "--at", "2.0"]) == status
    assert message.format(two_rules, two_rules) in capsys.readouterr().err


@pytest.fixture
def in_three_files(tmp_path, monkeypatch):
    """Functions in one file, the (wrong) rules of one of them in another, sample inputs of both in a third."""
    names = [f"{part}_{tmp_path.name}" for part in ("functions", "rules", "samples")]
    texts = (
        "def tripled(x):\n    return 3 * x\n\ndef other(x):\n    return x\n",
        f"from rulescore import scalar_rule\nfrom {names[0]} import tripled\nscalar_rule(tripled, lambda y, x: 4.0)\n",
        f"from rulescore.testing import sample, sample_inputs\nfrom {names[0]} import other, tripled\n"
        "@sample_inputs(tripled, other)\ndef _(rng):\n    yield sample(1.5)\n",
    )
    for name, text in zip(names, texts, strict=True):
        (tmp_path / f"{name}.py").write_text(text)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    return [f"{name}.py" for name in names]


def test_rules_are_checked_on_the_sample_inputs_of_another_file(in_three_files, capsys):
    _, rules, samples = in_three_files
    assert main(["check", rules]) == 1
    assert "has a rule and no sample inputs" in (told := capsys.readouterr().out)
    assert "where another file does that name it too" in told
    assert main(["check", samples, rules]) == 1
    output = capsys.readouterr().out
    assert "1 function, 1 sample input: 1 fail" in output
    command = shlex.split(next(line for line in output.splitlines() if line.startswith("once more: ")))[3:]
    assert main(command) == 1
    assert "1 function, 1 sample input: 1 fail" in capsys.readouterr().out
    assert main(["check", samples]) == 1  # once the rules are there


def test_sample_inputs_without_rules_are_told(in_three_files, capsys):
    assert main(["check", in_three_files[2]]) == 5
    told = capsys.readouterr().err
    assert re.search(r"there are sample inputs for \S+tripled, \S+other and no rules: name the file of the rules", told)


def test_all_of_a_project_and_what_is_beside_its_packages(project, capsys):
    assert main(["check", "."]) == 0
    assert "2 functions, 2 sample inputs: 2 pass" in capsys.readouterr().out


def test_a_folder_without_rules_has_nothing_to_check(tmp_path, capsys):
    (tmp_path / "module_without_rules.py").write_text("X = 1\n")
    assert main(["check", f"{tmp_path}/"]) == 5
    assert f"no module in {tmp_path}/ registers rules" in capsys.readouterr().err


UNCLAIMED = """
import numpy as np
from rulescore import pullback_wrt, rrule
from rulescore.testing import sample, sample_inputs

def doubled(x):
    return 2.0 * x * x

@rrule.register(doubled)
def doubled_rrule(x):
    return doubled(x), pullback_wrt(x)(lambda ybar: 4.0 * x * ybar)

@sample_inputs(doubled)
def _(rng):
    yield sample(rng.uniform(1.0, 2.0, 3))
    yield sample(rng.uniform(1.0, 2.0, (2, 3)))
"""


def test_what_a_rule_does_not_claim_is_a_line_and_fails_a_strict_check(tmp_path, capsys):
    path = tmp_path / "unclaimed_rules.py"
    path.write_text(UNCLAIMED)
    assert main(["check", "--thorough", str(path)]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert printed.count("doubled is wrong for complex inputs, which this rule does not claim") == 1
    assert main(["check", "--thorough", "--strict", str(path)]) == 1
    assert main(["check", "--strict", str(path)]) == 4
