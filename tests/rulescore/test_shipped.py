"""`rules` and `testutils` beside packages, modules and folders of other people that have the same names."""

import subprocess
import sys
import textwrap

import pytest

from rulescore.shipped import import_shipped, public_name

THEIRS = {
    "nothing": {},
    "a module that must not be imported": {"rules.py": "raise SystemExit", "testutils.py": "raise SystemExit"},
    "packages": {"rules/__init__.py": "X = 1", "testutils/__init__.py": "X = 1", "testutils/report.py": "X = 1"},
    "a namespace with a part of one of our names": {"rules/numpy.py": "X = 1"},
    "a namespace of their own": {"rules/mine.py": "X = 1"},
}
"""Files in the folder that comes first on the path."""

EVERYTHING = """
    import numpy as np
    from rulescore import rrule
    from rulescore.operators import pool_sum
    from rulescore.testing import check_rule, strategies, test_rule
    from rulescore.shipped import import_shipped

    assert rrule(np.sin, 0.0)[0] == 0.0
    assert test_rule(np.tanh, 0.5).verdict == "pass"
    record = rrule.lookup(np.sin, float)
    assert record.module.startswith("rules.numpy.") and record.entry == "numpy", record
    assert len(rrule.records(np.sin)) == 1
    assert pool_sum is import_shipped("rules.operators").pool_sum
    running = import_shipped("testutils.runs.running")
    for name in ("rulescore.operators.pool_sum", "rules.operators.pool_sum"):
        (target,) = running.collect_targets([name])
        assert target.name == "rules.operators.pooling.pool_sum" and target.samples, target
    assert len(running.collect_targets(["rulescore.operators"])) > 30
"""


@pytest.fixture(params=list(THEIRS))
def theirs(request, tmp_path):
    for name, text in THEIRS[request.param].items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    return tmp_path


def run(folder, code):
    code = f"import sys; sys.path.insert(0, {str(folder)!r})\n{textwrap.dedent(code)}"
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_everything_works_beside_theirs(theirs):
    run(theirs, EVERYTHING)


@pytest.mark.parametrize("order", ["theirs first", "ours first"])
def test_theirs_works_beside_ours(theirs, order):
    names = [path.relative_to(theirs).with_suffix("").as_posix().replace("/", ".") for path in theirs.rglob("*.py")]
    if "rules" in names:
        return  # it says that it must not be imported
    imports = "".join([f"import {name.removesuffix('.__init__')} as m; assert m.X == 1\n" for name in names])
    ours = textwrap.dedent(EVERYTHING)
    run(theirs, imports + ours if order == "theirs first" else ours + imports)


BOTH = """
    import rules.operators, rules.operators.pooling
    import rulescore.operators
    assert rulescore.operators.pool_sum is rules.operators.pool_sum
    assert rules.operators.pooling.pool_sum is rules.operators.pool_sum
    from rulescore import rrule
    import numpy as np
    assert len(rrule.records(rules.operators.pool_sum)) == 1
    assert rrule(np.sin, 0.0)[0] == 0.0
    assert rules.operators.__spec__.name.endswith("rules.operators")
"""


@pytest.mark.parametrize("order", ["ours by its own name first", "the other one first"])
def test_each_operator_is_there_once(tmp_path, order):
    before = "" if order.startswith("ours") else "import rulescore.operators; rulescore.operators.pool_sum\n"
    run(tmp_path, before + textwrap.dedent(BOTH))


def test_a_package_that_has_our_folder_within_it_gives_ours(tmp_path):
    """As where PyPI's ``rules`` is installed into the same folder."""
    import rules.operators

    ours = rules.operators.__path__[0].rpartition("/")[0]
    folder = tmp_path / "rules"
    folder.mkdir()
    (folder / "__init__.py").write_text(f"__path__.append({ours!r})")
    run(tmp_path, f"import rulescore.operators; rulescore.operators.pool_sum\n{textwrap.dedent(BOTH)}")


def test_names_are_those_that_everybody_knows():
    assert import_shipped("testutils") is sys.modules["testutils"]
    assert public_name("rulescore.beside.rules.numpy") == "rules.numpy"
    assert public_name("mine.rules") == "mine.rules"


@pytest.mark.parametrize("door", ["testing", "operators"])
def test_a_door_has_the_names_of_what_is_behind_it(door):
    module = __import__(f"rulescore.{door}", fromlist=[door])
    behind = import_shipped("testutils" if door == "testing" else "rules.operators")
    assert dir(module) == sorted(behind.__all__)
    assert all(getattr(module, name) is getattr(behind, name) for name in behind.__all__)
    with pytest.raises(AttributeError, match=f"module 'rulescore.{door}' has no attribute 'nothing'"):
        getattr(module, "nothing")  # noqa: B009
