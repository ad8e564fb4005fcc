"""The examples in docstrings run, and give what they show."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BACKENDS = {"jax": "jax", "torch": "torch", "autograd": "autograd", "mygrad": "mygrad"}

# In a process of its own for each package, since examples register rules.
RUN = """
import doctest, functools, importlib, random, sys
try:
    import hypothesis
except ImportError:
    pass
else:  # which looks for examples at random, and now and then stops before the simplest one
    hypothesis.find = functools.partial(hypothesis.find, random=random.Random(0))
attempted = failed = 0
options = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
for name in sys.argv[1:]:
    module = importlib.import_module(name)
    for test in doctest.DocTestFinder().find(module, name):
        if test.lineno is not None:  # a class of another package that was made anew, with its docstring, has no line
            result = doctest.DocTestRunner(optionflags=options).run(test)
            attempted, failed = attempted + result.attempted, failed + result.failed
print(f"attempted {attempted}")
sys.exit(bool(failed))
"""


def modules_of(package: str) -> list[str]:
    files = sorted((ROOT / package).rglob("*.py"))
    names = [".".join(file.relative_to(ROOT).with_suffix("").parts) for file in files]
    return [name.removesuffix(".__init__") for name in names if not name.endswith("__main__")]


RUNS = {
    "rulescore": [name for name in modules_of("rulescore") if not name.startswith("rulescore.backends")],
    "testutils": [name for name in modules_of("testutils") if "samples" not in name],
    "rules": modules_of("rules"),
    **{
        framework: [name for name in modules_of("rulescore/backends") if name.split(".")[2:3] == [framework]]
        for framework in BACKENDS
    },
}


@pytest.mark.parametrize("run", RUNS)
def test_examples_of_docstrings_run(run: str) -> None:
    if run in BACKENDS:
        pytest.importorskip(run)
    command = [sys.executable, "-X", "utf8", "-c", RUN, *RUNS[run]]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "attempted 0" not in done.stdout
