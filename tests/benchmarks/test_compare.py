"""The comparison with a commit sees a slow tree, a broken tree, and a tree that is not there; it tidies up."""

import shutil
import subprocess
from pathlib import Path

import compare
import pytest
from comparison import compare_imports, compare_suite

ROOT = Path(__file__).resolve().parents[2]

SLOW_LOOKUPS = """
_call = type(rrule).__call__


def _slow_call(self, *args, **kwargs):
    sum(range(200))
    return _call(self, *args, **kwargs)


type(rrule).__call__ = _slow_call
"""


@pytest.fixture
def copy(tmp_path):
    """Copies the packages, with something added to `rulescore`."""

    def copy(addition):
        for name in ("rulescore", "rules", "testutils"):
            shutil.copytree(ROOT / name, tmp_path / name)
        shutil.copy(ROOT / "pytest_rulescore.py", tmp_path)
        with open(tmp_path / "rulescore" / "__init__.py", "a") as file:
            file.write(addition)
        return tmp_path

    return copy


def only(outcomes):
    (outcome,) = outcomes
    return outcome


def test_a_slow_tree_is_slow_on_either_side(copy):
    slow = copy(SLOW_LOOKUPS)
    few = {"only": "rrule, arity 1", "rounds": 2, "pairs": 1}
    outcome = only(compare_suite(ROOT, slow, "lookup", **few))
    assert outcome.ratio > 2
    assert outcome.is_slower
    assert only(compare_suite(slow, ROOT, "lookup", **few)).ratio < 0.5
    assert 0.5 < only(compare_suite(ROOT, ROOT, "lookup", **few)).ratio < 2


def test_what_a_tree_lacks_is_told(copy):
    broken = copy("\nimport rulescore.ad\ndel rulescore.ad.hvp\n")
    old = only(compare_suite(broken, ROOT, "ad", "one np.sin", 1, 1))
    assert "the old packages do not load: " in old.problem
    assert "hvp" in old.problem
    assert not old.is_slower
    assert only(compare_suite(ROOT, broken, "ad", "one np.sin", 1, 1)).is_slower


def test_a_contest_that_raises_leaves_the_others(copy):
    raising = copy(SLOW_LOOKUPS.replace("sum(range(200))", "assert len(args) < 3, 'too many'"))
    two, one = sorted(compare_suite(raising, ROOT, "lookup", "rrule, arity", 1, 1), key=lambda o: bool(o.new))[1:]
    assert "the old packages cannot run it: AssertionError: too many" in two.problem
    assert one.new


def test_a_tree_without_packages_is_not_taken_for_another(tmp_path):
    assert "which is not in" in only(compare_suite(tmp_path, ROOT, "lookup", "", 1, 1)).problem
    assert "cannot run it" in compare_imports(tmp_path, ROOT, "rulescore.ad")[0].problem


def test_the_command_prints_a_table_and_leaves_no_worktree(capsys):
    def worktrees():
        return subprocess.run(["git", "worktree", "list"], cwd=ROOT, capture_output=True, text=True).stdout

    before = worktrees()
    compare.main(["HEAD", "--suite", "lookup", "--only", "rrule, sin", "--rounds", "1"])
    out = capsys.readouterr().out
    assert "rrule, sin" in out
    assert "of 1 contests" in out
    assert worktrees() == before
