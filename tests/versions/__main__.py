"""The suite with the lowest and the newest versions of what it needs: ``python -m tests.versions [lowest] [newest]``.

Each row is a fresh environment of the Python that runs this, with wheels alone: *lowest* takes of every requirement in
``pyproject.toml`` the lowest version that has one for this Python and satisfies it, *newest* the newest. `uv` chooses
them. PyTorch is left out, of which only the version in the README was tested. Python 3.13 and 3.14 come with Debian::

    debootstrap --variant=minbase --include=python3,python3-venv,git,ca-certificates trixie trixie
    git clone . trixie/rulescore
    chroot trixie sh -c "cd rulescore && python3 -m tests.versions"

and so ``sid``.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
RESOLUTIONS = {"lowest": "lowest-direct", "newest": "highest"}
EXTRAS = ("test", "jax", "autograd", "mygrad")
TESTERS = ("comparison", "finite_differences", "report", "rule_tables", "sampling", "taylor", "testers", "wrong_rules")
CORE = ("tests/rulescore/test_*.py", "tests/rules/numpy", *[f"tests/testutils/test_{name}.py" for name in TESTERS])
"""Two minutes of the suite: the registry, the rules for NumPy, and what the testers rest on."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.versions", description=__doc__)
    parser.add_argument("rows", nargs="*", metavar="ROW", help="lowest, newest; by default both")
    parser.add_argument("--core", action="store_true", help="the registry, the rules for NumPy and the testers")
    options = parser.parse_args()
    rows = options.rows or list(RESOLUTIONS)
    unknown = [row for row in rows if row not in RESOLUTIONS]
    if unknown:
        parser.error(f"{unknown[0]} is no row: {', '.join(RESOLUTIONS)}")
    with tempfile.TemporaryDirectory() as folder:
        results = {row: _passes(row, Path(folder) / row, options.core) for row in rows}
    for row, passes in results.items():
        print(f"Python {sys.version.split()[0]}, {row}: {'pass' if passes else 'FAIL'}", flush=True)
    return 0 if all(results.values()) else 1


def _passes(row: str, folder: Path, is_core: bool) -> bool:
    venv.create(folder, with_pip=True)
    python, uv, versions = folder / "bin" / "python", folder / "bin" / "uv", folder / "versions.txt"
    _run(python, "-m", "pip", "install", "--quiet", "uv")
    extras = [part for extra in (EXTRAS[:1] if is_core else EXTRAS) for part in ("--extra", extra)]
    choice = "--resolution", RESOLUTIONS[row], "--only-binary", ":all:", "--python", python
    _run(uv, "pip", "compile", "--quiet", *choice, *extras, "pyproject.toml", "--output-file", versions)
    _run(python, "-m", "pip", "install", "--quiet", "--only-binary", ":all:", "--requirement", versions)
    _run(python, "-m", "pip", "install", "--quiet", "--no-deps", "--editable", ROOT)
    print(f"\n== Python {sys.version.split()[0]}, {row}", flush=True)
    print("\n".join(line for line in versions.read_text().splitlines() if line[:1].isalpha()), flush=True)
    tests = [path for pattern in CORE for path in sorted(ROOT.glob(pattern))] if is_core else []
    pytest = folder / "bin" / "pytest"
    return _run(pytest, "--quiet", "--numprocesses", "auto", *tests, is_allowed_to_fail=True) == 0


def _run(*command: object, is_allowed_to_fail: bool = False) -> int:
    return subprocess.run([str(part) for part in command], cwd=ROOT, check=not is_allowed_to_fail).returncode


if __name__ == "__main__":
    sys.exit(main())
