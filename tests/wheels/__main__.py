"""The wheel, installed beside what other people have of the same names: ``python -m tests.wheels``.

It builds a wheel of this tree and of a package named ``rules`` (as PyPI's, a package with ``__init__.py`` and
``py.typed``), installs them into fresh environments in both orders, checks that both work, and that to uninstall one
leaves the other whole. Then it runs everything within a project that has modules of our names, and follows the links
that PyPI would show. NumPy and what else we need come from the environment that runs it.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import textwrap
import venv
import zipfile
from pathlib import Path

from tests.wheels.page_on_pypi import check_page_on_pypi

ROOT = Path(__file__).resolve().parents[2]

THEIRS = {
    "pyproject.toml": """
        [build-system]
        requires = ["setuptools>=77"]
        build-backend = "setuptools.build_meta"
        [project]
        name = "rules"
        version = "3.5"
        [tool.setuptools]
        packages = ["rules", "rules.contrib"]
        [tool.setuptools.package-data]
        rules = ["py.typed"]
    """,
    "rules/__init__.py": "PREDICATES = []",
    "rules/py.typed": "",
    "rules/contrib/__init__.py": "ADMIN = True",
}
PROJECT = {
    "rules.py": "raise SystemExit('a rules.py that runs things')",
    "testutils/__init__.py": "HELPER = 'mine'",
    "testutils/report.py": "TEXT = 'mine'",
    "mine.py": """
        from rulescore import pullback_wrt, rrule
        from rulescore.testing import sample, sample_inputs

        def cube(x):
            return x**3

        @rrule.register(cube)
        def cube_rrule(x):
            return x**3, pullback_wrt(x)(lambda ybar: 3 * x**2 * ybar)

        @sample_inputs(cube)
        def _(rng):
            yield sample(rng.standard_normal(3), _modes=("rrule",))
    """,
    "test_mine.py": """
        import numpy as np
        import testutils
        from testutils.report import TEXT
        from mine import cube

        def test_cube(rule_tester):
            rule_tester.rrule(cube, np.array([1.0, 2.0]))

        def test_theirs():
            assert (testutils.HELPER, TEXT) == ("mine", "mine")
    """,
}
PROJECT_OF_PARTS = {**PROJECT, "rules/numpy.py": "X = 'mine'"}
del PROJECT_OF_PARTS["rules.py"]

OURS_WORKS = """
    import numpy as np
    from rulescore import rrule
    from rulescore.ad import grad
    from rulescore.operators import pool_sum
    from rulescore.testing import test_rule
    assert rrule(np.sin, 0.0)[0] == 0.0 and len(rrule.records(np.sin)) == 1
    assert grad(lambda x: np.sum(np.tanh(x)))(np.zeros(2)).tolist() == [1.0, 1.0]
    assert test_rule(np.tanh, 0.5).verdict == "pass"
"""
EACH_ONCE = """
    import rulescore.operators
    rulescore.operators.pool_sum
    import rules.operators
    assert rulescore.operators.pool_sum is rules.operators.pool_sum
    assert rules.operators.pooling.pool_sum is rules.operators.pool_sum
"""
THEIRS_WORKS = "import rules, rules.contrib; assert rules.PREDICATES == [] and rules.contrib.ADMIN"


def write(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text))
    return folder


def run(*command: str | Path, cwd: Path) -> str:
    done = subprocess.run(list(map(str, command)), cwd=cwd, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, command))[:300]}\n{done.stdout}{done.stderr}")
    return done.stdout


class Environment:
    """A fresh virtual environment, in which the packages of this one can be imported too, but for ours."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        venv.create(folder, with_pip=False)
        self.bin = folder / ("Scripts" if sys.platform == "win32" else "bin")
        self.site = next((folder / "lib").glob("python*/site-packages"))
        # What is installed beside an editable install of ours would bring that along.
        outside = Path(next(p for p in sys.path if p.endswith("site-packages")))
        links = [p for p in outside.iterdir() if "rulescore" not in p.name and not (self.site / p.name).exists()]
        for path in links:
            (self.site / path.name).symlink_to(path)

    def pip(self, *arguments: str | Path) -> None:
        run(self.bin / "python", "-m", "pip", *arguments, "--quiet", "--disable-pip-version-check", cwd=self.folder)

    def install(self, wheel: Path) -> None:
        self.pip("install", "--no-deps", "--no-index", wheel)

    def uninstall(self, name: str) -> None:
        self.pip("uninstall", "--yes", name)

    def python(self, code: str, cwd: Path | None = None) -> None:
        run(self.bin / "python", "-W", "error", "-c", textwrap.dedent(code), cwd=cwd or self.folder)


def built(source: Path, folder: Path) -> Path:
    run(sys.executable, "-m", "pip", "wheel", "--no-deps", "--quiet", "--wheel-dir", folder, source, cwd=folder)
    return next(folder.glob("*.whl"))


def check_paths(ours: Path, theirs: Path) -> None:
    paths = [{name for name in zipfile.ZipFile(wheel).namelist() if not name.endswith("/")} for wheel in (ours, theirs)]
    if common := paths[0] & paths[1]:
        raise SystemExit(f"both wheels have {', '.join(sorted(common))}")
    strangers = {name.partition("/")[0] for name in paths[0]} - {
        "rulescore",
        "rules",
        "testutils",
        "pytest_rulescore.py",
    }
    if strangers := {name for name in strangers if not name.startswith("rulescore-")}:
        raise SystemExit(f"the wheel has {', '.join(sorted(strangers))}")


def check_beside_theirs(ours: Path, theirs: Path, folder: Path) -> None:
    for order in ((ours, theirs), (theirs, ours)):
        for leaving in ("rules", "rulescore"):
            environment = Environment(folder / f"{order[0].name[:9]}-{leaving}")
            for wheel in order:
                environment.install(wheel)
            environment.python(OURS_WORKS)
            environment.python(THEIRS_WORKS)
            environment.python(EACH_ONCE)
            environment.python(f"{THEIRS_WORKS}\n{textwrap.dedent(OURS_WORKS)}")
            environment.uninstall(leaving)
            environment.python(OURS_WORKS if leaving == "rules" else THEIRS_WORKS)
            print(f"  {order[0].name.partition('-')[0]} installed first, {leaving} uninstalled: the other one works")


def check_in_projects(ours: Path, folder: Path) -> None:
    environment = Environment(folder / "projects")
    environment.install(ours)
    environment.python(EACH_ONCE)
    for name, files in (("with a rules.py", PROJECT), ("with a rules/numpy.py", PROJECT_OF_PARTS)):
        project = write(folder / name.replace("/", " "), files)
        environment.python(OURS_WORKS, cwd=project)
        output = run(environment.bin / "python", "-m", "rulescore", "check", "mine.py", cwd=project)
        if "1 pass" not in output:
            raise SystemExit(output)
        run(
            environment.bin / "python",
            "-m",
            "rulescore",
            "check",
            "np.tanh",
            "rulescore.operators.softmax",
            cwd=project,
        )
        pytest = run(
            environment.bin / "python", "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rules", "mine", cwd=project
        )
        if "3 passed" not in pytest:
            raise SystemExit(pytest)
        print(f"  a project {name} and a testutils/: everything works")


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="wheels-") as name:
        folder = Path(name)
        for part in ("ours", "theirs", "environments", "pages"):
            (folder / part).mkdir()
        ours = built(ROOT, folder / "ours")
        theirs = built(write(folder / "source", THEIRS), folder / "theirs")
        check_paths(ours, theirs)
        check_beside_theirs(ours, theirs, folder / "environments")
        check_in_projects(ours, folder / "environments")
        check_page_on_pypi(ROOT, folder / "pages", built)


if __name__ == "__main__":
    main()
