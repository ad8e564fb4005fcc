"""The gallery runs, and what it claims of its gradients holds: its scripts check them by finite differences."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

GALLERY = Path(__file__).parents[2] / "docs" / "gallery"


THROUGH_SOLVERS = {"fit_an_ode", "choose_weights", "seen_through_a_blur"}
"""Those that show what their gradient costs beside finite differences."""


@pytest.mark.parametrize("script", sorted(GALLERY.glob("*.py")), ids=lambda script: script.stem)
def test_a_script_of_the_gallery_runs(script: Path) -> None:
    environment = {**os.environ, "MPLBACKEND": "Agg"}
    run = subprocess.run([sys.executable, "-W", "error", script], capture_output=True, text=True, env=environment)
    assert run.returncode == 0, run.stdout + run.stderr
    assert run.stdout.strip(), "it says what it found"
    assert script.stem not in THROUGH_SOLVERS or "central differences would take" in run.stdout
