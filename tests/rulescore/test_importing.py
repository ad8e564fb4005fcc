"""What importing the package brings in, and what it does not."""

import subprocess
import sys
import types

import pytest

import rulescore
import rulescore.__main__


def modules_after(statement):
    code = f"{statement}\nimport sys; print('\\n'.join(sys.modules))"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(result.stdout.split())


@pytest.fixture(scope="module")
def modules():
    return modules_after("import rulescore")


@pytest.mark.parametrize(
    "absent",
    ["scipy", "rules", "testutils", "rich", "pytest", "jax", "torch", "autograd", "mygrad", "concurrent", "asyncio"],
)
def test_importing_rulescore_does_not_import(modules, absent):
    assert absent not in modules


def test_importing_rulescore_imports_numpy_alone(modules):
    packages = {name.partition(".")[0] for name in modules} - set(sys.stdlib_module_names)
    ours = {"rulescore", "numpy", "multipledispatch", "__main__"}
    assert packages - ours == modules_after("import sys") & packages - ours


def test_a_rule_of_numpy_costs_no_scipy():
    modules = modules_after("import numpy as np, rulescore; rulescore.rrule(np.sin, 1.0)")
    assert "rules.numpy" in modules
    assert "scipy" not in modules
    assert "testutils" not in modules


def test_the_command_starts_our_testutils(monkeypatch):
    cli = types.SimpleNamespace(main=lambda: 1)
    monkeypatch.setattr(rulescore.__main__, "import_shipped", {"testutils.runs.command_line": cli}.get)
    assert rulescore.__main__.main() == 1


def test_all_names_are_there_and_documented():
    for name in rulescore.__all__:
        assert getattr(rulescore, name).__doc__, name
    assert sorted(rulescore.__all__) == rulescore.__all__
