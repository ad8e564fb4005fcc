"""The package that a recipe shows offers its rules and samples by its entry points alone, and finds its mistakes."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "docs" / "examples" / "package"


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """A folder with the package as pip installs it: its modules, and what its entry points are."""
    project = tomllib.loads((PACKAGE / "pyproject.toml").read_text("utf8"))["project"]
    shutil.copytree(PACKAGE / "springs", tmp_path / "springs", ignore=shutil.ignore_patterns("__pycache__"))
    described = tmp_path / f"springs-{project['version']}.dist-info"
    described.mkdir()
    (described / "METADATA").write_text(f"Name: springs\nVersion: {project['version']}\n")
    groups = project["entry-points"].items()
    lines = [f"[{group}]\n" + "\n".join(f"{k} = {v}" for k, v in entries.items()) for group, entries in groups]
    (described / "entry_points.txt").write_text("\n\n".join(lines) + "\n")
    return tmp_path


def run(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([str(folder), *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = {**os.environ, "PYTHONPATH": path}
    return subprocess.run([sys.executable, "-m", *command], cwd=folder, env=environment, capture_output=True, text=True)


def test_rules_of_the_package_are_found_and_right(installed: Path) -> None:
    done = run(installed, "rulescore", "check", "springs")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 function, 2 sample inputs: 1 pass" in done.stdout


def test_each_sample_is_a_test_of_pytest(installed: Path) -> None:
    done = run(installed, "pytest", "-q", "-p", "no:cacheprovider", "--rules", "springs", "springs")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2 passed" in done.stdout


def test_no_function_of_the_package_is_missing(installed: Path) -> None:
    done = run(installed, "rulescore", "list", "--missing", "springs")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "springs: 1 function" in done.stdout
    assert "missing" not in done.stdout


def test_a_mistake_fails(installed: Path) -> None:
    rules = installed / "springs" / "rules.py"
    source = rules.read_text("utf8")
    assert source.count("ybar * x**2 / 2") == 1
    rules.write_text(source.replace("ybar * x**2 / 2", "ybar * x**2"), "utf8")
    done = run(installed, "rulescore", "check", "springs")
    assert done.returncode == 1, done.stdout + done.stderr
