"""Runs tests that import autograd where the shim is found under that name, and says how each came out."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parents[2]
SHIM = Path(__file__).parent / "shim"
VERSION = "1.9.1"


class Outcome(NamedTuple):
    """How a test came out: ``passed``, ``failed`` or ``skipped``, and what it said then."""

    kind: str
    message: str = ""


def downloaded(folder: Path) -> Path:
    """The release of autograd, its tests among it, as PyPI has it."""
    requirement = "--no-deps", "--no-binary", "autograd", f"autograd=={VERSION}"
    subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", *requirement, "--dest", folder], check=True)
    with tarfile.open(folder / f"autograd-{VERSION}.tar.gz") as archive:
        archive.extractall(folder, filter="data")
    return folder / f"autograd-{VERSION}"


def outcomes(
    tests: Sequence[str], folder: Path, release: Path | None = None, is_verbose: bool = False
) -> dict[str, Outcome]:
    """The outcome of every test, by its name in pytest.

    Parameters
    ----------
    tests : sequence of str
        Files, or names within them; everything in the folder if there are none.
    folder : Path
        Where they are.
    release : Path, optional
        What the shim does not have is taken from there; by default from the autograd that is installed.
    is_verbose : bool
        Whether pytest's report is printed.
    """
    path = os.pathsep.join(map(str, filter(None, (SHIM, ROOT, release))))
    with tempfile.TemporaryDirectory() as scratch:
        report = Path(scratch) / "report.xml"
        settings = "-p", "no:cacheprovider", "-c", os.devnull, "--rootdir", folder, "--junit-xml", report
        process = subprocess.run(
            [sys.executable, "-m", "pytest", "--quiet", *settings, *(tests or [folder])],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": path},
            stdout=None if is_verbose else subprocess.PIPE,
            text=True,
        )
        if process.returncode not in (0, 1):  # all passed, some failed
            raise RuntimeError(f"pytest could not run the tests in {folder}:\n{process.stdout or ''}")
        cases = ElementTree.parse(report).iter("testcase")
        return {f"{case.get('classname')}.py::{case.get('name')}": _outcome(case) for case in cases}


def _outcome(case: ElementTree.Element) -> Outcome:
    for told in case:
        if told.tag in ("failure", "error", "skipped"):
            return Outcome("skipped" if told.tag == "skipped" else "failed", told.get("message", ""))
    return Outcome("passed")
