"""What is installed: metadata, entry points, what importing costs, and that the documents speak of what stands."""

import importlib.metadata
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[1]


def imported_by(code):
    """The top-level modules that a fresh process has after running some code."""
    report = f"{code}\nimport json, sys\nprint(json.dumps(sorted({{name.partition('.')[0] for name in sys.modules}})))"
    done = subprocess.run([sys.executable, "-c", report], capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout.splitlines()[-1]))


def test_importing_rulescore_imports_neither_scipy_nor_rules_nor_testutils():
    assert not imported_by("import rulescore") & {"scipy", "rules", "testutils", "rich", "pytest"}


def test_a_lookup_loads_the_rules_and_no_scipy():
    modules = imported_by("import numpy, rulescore; assert rulescore.rrule(numpy.sin, 1.0)")
    assert "rules" in modules
    assert not modules & {"scipy", "testutils", "rich", "pytest"}


def test_importing_testutils_imports_no_terminal_library_and_no_scipy():
    assert not imported_by("import testutils") & {"scipy", "rules", "rich", "pytest"}


@pytest.mark.parametrize("group", ["rulescore.rules", "rulescore.samples", "pytest11", "console_scripts"])
def test_entry_points_can_be_loaded(group):
    entries = [e for e in importlib.metadata.entry_points(group=group) if e.dist and e.dist.name == "rulescore"]
    assert entries
    for entry in entries:
        entry.load()


def test_the_distribution_says_what_it_needs():
    required = importlib.metadata.requires("rulescore")
    runtime = {line.partition(">")[0] for line in required if "extra ==" not in line}
    assert runtime == {"numpy", "scipy", "multipledispatch", "rich", "optree"}
    extras = set(importlib.metadata.metadata("rulescore").get_all("Provides-Extra"))
    assert {"test", "docs", "jax", "torch", "autograd", "backends"} <= extras


@pytest.mark.parametrize("package", ["rulescore", "rules/numpy", "rules/scipy", "rules/operators", "testutils"])
def test_packages_are_typed(package):
    assert (ROOT / package / "py.typed").exists()


@pytest.mark.parametrize("package", ["rulescore", "testutils"])
def test_the_architecture_tells_of_every_module(package):
    text = (ROOT / "docs" / "architecture.md").read_text()
    modules = [p.stem for p in (ROOT / package).glob("*.py") if p.stem not in ("__init__", "__main__")]
    assert [name for name in modules if f"`{name}`" not in text] == []


def test_the_version_is_told_once():
    assert importlib.metadata.version("rulescore") == __import__("rulescore").__version__


@pytest.mark.skipif(np.lib.NumpyVersion(np.__version__) < "2.3.0", reason="the rule of unique knows sorted= already")
def test_every_rule_has_samples_and_the_tables_are_sound():
    from testutils import test_rule_tables

    test_rule_tables("numpy", samples=True)
