"""An environment with the libraries of the list, as they are on PyPI, and the systems."""

from __future__ import annotations

import subprocess
import venv
from pathlib import Path

from tests.processes import ROOT
from tests.wild.entries import REQUIREMENTS


def install(folder: Path) -> None:
    """Make a virtual environment; of the project it has the working tree."""
    venv.create(folder, with_pip=True, clear=False)
    python = folder / "bin" / "python"
    subprocess.run(
        [
            python,
            "-m",
            "pip",
            "install",
            "--quiet",
            "--requirement",
            REQUIREMENTS,
            "--editable",
            f"{ROOT}[jax,autograd]",
        ],
        check=True,
    )
    if found := list(folder.glob("lib/*/site-packages/tests")):
        raise RuntimeError(
            f"{found[0]} would be imported in the place of ours: a library of the list installs its tests"
        )
