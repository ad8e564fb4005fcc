"""The README's Python runs as written, and the tests that it shows pass."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

README = Path(__file__).parents[2] / "README.md"
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_readme_shows_python() -> None:
    assert BLOCK.findall(README.read_text("utf8"))


def test_python_of_the_readme_runs_and_its_tests_pass(tmp_path: Path) -> None:
    # A file of its own in a process of its own: the rules that the README registers stay out of this session, and
    # pytest gives its tests the fixtures they ask for, as it does for a reader.
    code = "\n".join(BLOCK.findall(README.read_text("utf8")))
    (tmp_path / "test_of_readme.py").write_text(code, "utf8")
    command = [sys.executable, "-W", "error", "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_of_readme.py"]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    shown = len(re.findall(r"^def test_", code, re.MULTILINE))
    assert run.returncode == 0, run.stdout + run.stderr
    assert re.search(rf"^{shown} passed", run.stdout, re.MULTILINE), run.stdout


def test_readme_shows_a_test() -> None:
    assert re.search(r"^def test_\w+\(", "".join(BLOCK.findall(README.read_text("utf8"))), re.MULTILINE)
