"""The pytest plugin, run on projects made in a temporary folder."""

import subprocess
import sys
import textwrap

import pytest

RULES = """
    import numpy as np
    from rulescore import NoTangent, frule, rrule
    from rulescore.testing import sample, sample_inputs

    def square(x):
        return x * x

    @rrule.register(square)
    def square_rrule(x):
        return x * x, lambda ybar: (NoTangent(), {factor} * x * ybar)

    @frule.register(square)
    def square_frule(tangents, x):
        return x * x, 2 * x * tangents[1]

    @sample_inputs(square)
    def _(rng):
        yield sample(rng.standard_normal(3))
        yield sample(1.5, _name="scalar")
"""

UNTESTED = """
    def cube(x):
        return x * x * x

    @rrule.register(cube)
    def cube_rrule(x):
        return x * x * x, lambda ybar: (NoTangent(), 3 * x * x * ybar)
"""


@pytest.fixture
def project(pytester):
    """Writes modules into the temporary project and runs pytest there in a process of its own."""

    def run(*arguments, **modules):
        for name, text in modules.items():
            path = pytester.path.joinpath(*name.split("__")).with_suffix(".py")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(textwrap.dedent(text))
        return pytester.runpytest_subprocess("-p", "no:cacheprovider", *arguments)

    pytester.makeini("[pytest]\npythonpath = .")
    return run


def with_factor(factor):
    return textwrap.dedent(RULES).replace("{factor}", str(factor))


def test_rules_option_makes_one_test_of_each_sample(project):
    result = project("--rules", "mypkg", "-v", mypkg=with_factor(2))
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(["mypkg::square[[]0-float64-3[]] PASSED*", "mypkg::square[[]1-scalar[]] PASSED*"])


def test_a_wrong_rule_fails_with_its_report_and_without_a_traceback_through_ours(project):
    result = project("--rules", "mypkg", mypkg=with_factor(3))
    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines(["*rrule, derivative, argument 0 (x)*", "*1.5*"])
    assert "testutils/" not in result.stdout.str().replace("\\", "/")


def test_a_rule_without_samples_is_reported(project):
    result = project("--rules", "mypkg", mypkg=with_factor(2) + textwrap.dedent(UNTESTED))
    result.assert_outcomes(passed=2, failed=1)
    result.stdout.fnmatch_lines(["*its rule: mypkg.py:*", "*mypkg.cube has a rule and no sample inputs*"])


def test_rule_tests_are_selected_with_k(project):
    result = project("--rules", "mypkg", "-k", "scalar", mypkg=with_factor(2))
    result.assert_outcomes(passed=1, deselected=1)


def test_rule_tests_run_under_xdist(project):
    result = project("--rules", "mypkg,numpy", "-k", "square or cbrt", "--numprocesses", "2", mypkg=with_factor(2))
    assert result.ret == 0
    assert result.parseoutcomes()["passed"] > 4


def test_several_modules_are_given_with_commas_or_again(project):
    other = with_factor(2).replace("square", "squared")
    result = project("--rules", "mypkg,mypkg", "--rules", "other", mypkg=with_factor(2), other=other)
    result.assert_outcomes(passed=4)


@pytest.mark.parametrize("name", ["mypkg", "mypkg.py", "mypkg.square", "mypkg.py:square", "mypkg:square", "./mypkg.py"])
def test_the_names_are_those_of_the_command(project, pytester, name):
    pytester.makeini("[pytest]")
    project("--rules", name, mypkg=with_factor(2)).assert_outcomes(passed=2)


def test_a_package_in_src_is_found_as_by_the_command(project, pytester):
    pytester.makeini("[pytest]")
    project("--rules", "mypkg.mod", src__mypkg__mod=with_factor(2), src__mypkg____init__="").assert_outcomes(passed=2)


def test_sample_inputs_may_be_in_another_file_and_are_run_once(project):
    rules, samples = with_factor(2).split("@sample_inputs")
    samples = "from mypkg import *\n\n@sample_inputs" + samples
    project("--rules", "mypkg.py,samples.py", mypkg=rules, samples=samples).assert_outcomes(passed=2)
    project("--rules", "samples.py,mypkg.py,mypkg.square", mypkg=rules, samples=samples).assert_outcomes(passed=2)


def test_rule_tests_stand_beside_ordinary_ones(project):
    result = project("--rules", "mypkg", mypkg=with_factor(2), test_ordinary="def test_one(): assert True")
    result.assert_outcomes(passed=3)


def test_an_unknown_module_is_a_collection_error_that_names_it(project):
    result = project("--rules", "nowhere")
    assert result.ret != 0
    result.stdout.fnmatch_lines(["*--rules nowhere: nowhere: there is no module 'nowhere'*"])


def test_a_module_without_rules_says_how_to_register_one(project):
    result = project("--rules", "empty", empty="x = 1")
    assert result.ret != 0
    result.stdout.fnmatch_lines(["*empty registers no rules*@rrule.register(f)*"])


FIXTURE_TEST = """
    import numpy as np

    def test_sine(rule_tester):
        rule_tester(np.sin, np.array([0.1, 0.2]))
        rule_tester.frule(np.sin, 0.3)
        rule_tester.rrule(np.sin, 0.3)
        rule_tester.scalar(np.sin, 0.3 + 1j)
        assert rule_tester.check(np.sin, 0.3).verdict == "pass"
"""


def test_the_fixture_tests_rules(project):
    project(test_it=FIXTURE_TEST).assert_outcomes(passed=1)


def test_the_fixture_fails_a_test_with_the_report(project):
    wrong = with_factor(-2) + textwrap.dedent("""
        def test_square(rule_tester):
            rule_tester(square, rule_tester.rng.standard_normal(3))
    """)
    result = project(test_it=wrong)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["E * fail: *square(float64[[]3[]])*", "E *ratio", "E *-1"])


STRATEGY_TEST = """
    import numpy as np
    from testutils import strategies

    def test_square(rule_tester):
        rule_tester(square, strategies.arrays(shape=1))
"""


def test_the_fixture_takes_strategies_and_leaves_no_examples_behind(project, pytester):
    project(test_it=with_factor(2) + textwrap.dedent(STRATEGY_TEST)).assert_outcomes(passed=1)
    assert not (pytester.path / ".hypothesis" / "examples").exists()


def test_the_fixture_shows_the_smallest_drawn_arguments_beside_the_report_and_no_traceback_through_ours(project):
    wrong = with_factor("np.where(x > 2, -2, 2)") + textwrap.dedent(STRATEGY_TEST)
    result = project(test_it=wrong)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "E * fail: *square(float64[[]1[]])*",
            "E *-1",
            "E * The smallest arguments found for which this happens:",
            "E * argument 0 = array([[]3.[]])",
        ]
    )
    output = result.stdout.str().replace("\\", "/")
    assert "testutils/" not in output
    assert "hypothesis/" not in output


def test_the_fixture_is_given_drawn_values_in_a_test_that_draws_itself(project):
    given = """
        import numpy as np
        from hypothesis import HealthCheck, given, settings
        from testutils import strategies

        @settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=5)
        @given(x=strategies.arrays(shape=2))
        def test_sine(rule_tester, x):
            rule_tester(np.sin, x)
    """
    project(test_it=given).assert_outcomes(passed=1)


def test_the_fixture_draws_the_same_numbers_in_every_run_and_others_in_other_tests(project):
    text = """
        def test_a(rule_tester): print("drawn", rule_tester.rng.random())
        def test_b(rule_tester): print("drawn", rule_tester.rng.random())
    """
    runs = [
        [line for line in project("-s", *options, test_it=text).outlines if "drawn" in line]
        for options in ((), (), ("--rules-seed", "1"))
    ]
    assert runs[0] == runs[1]
    assert runs[0] != runs[2]
    assert len({line.split("drawn")[1] for line in runs[0]}) == 2


OWN_MODULES = {
    "tests__testutils": "def helper(): return 'mine'",
    "tests__rules": "RULES = 'mine'",
    "tests__test_own": """
        import rules
        import testutils

        def test_own_modules_are_the_users():
            assert testutils.helper() == "mine"
            assert rules.RULES == "mine"
    """,
}


def test_a_project_with_its_own_testutils_and_rules_runs_undisturbed(project):
    project("tests", **OWN_MODULES).assert_outcomes(passed=1)


def test_the_fixture_works_beside_them(project):
    modules = {**OWN_MODULES, "tests__test_fixture": FIXTURE_TEST}
    project("tests", **modules).assert_outcomes(passed=2)


def test_rules_of_a_module_are_tested_beside_them(project):
    project("--rules", "mine", mine=with_factor(2), testutils="X = 1", rules="X = 1").assert_outcomes(passed=2)


def test_with_importlib_mode_own_modules_and_the_fixture_live_together(project):
    modules = {"tests__testutils": OWN_MODULES["tests__testutils"], "tests__rules": OWN_MODULES["tests__rules"]}
    project("--import-mode=importlib", "tests", tests__test_fixture=FIXTURE_TEST, **modules).assert_outcomes(passed=1)


def test_importing_the_plugin_imports_nothing_of_ours_and_no_scipy():
    code = (
        "import sys, pytest, pytest_rulescore\n"
        "print(sorted({'rulescore', 'rules', 'testutils', 'scipy', 'numpy'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


WRONG_FOR_COMPLEX = textwrap.dedent(RULES).replace("{factor} * x * ybar", "2 * x * ybar")


def test_what_a_rule_does_not_claim_stands_in_junit_s_file_and_fails_a_strict_run(project):
    options = ("--rules", "mypkg", "--rules-thorough")
    project(*options, "--junit-xml", "found.xml", mypkg=WRONG_FOR_COMPLEX).assert_outcomes(passed=2)
    with open("found.xml") as file:
        found = file.read()
    assert 'property name="not claimed"' in found
    assert "wrong for complex inputs, which this rule does not claim" in found
    project(*options, "--rules-strict", mypkg=WRONG_FOR_COMPLEX).assert_outcomes(failed=2)


def test_strict_goes_with_thorough(project):
    result = project("--rules", "mypkg", "--rules-strict", mypkg=with_factor(2))
    result.stderr.fnmatch_lines(["*--rules-strict is about the variants of a thorough check*"])


NOISY = """
    import numpy as np
    from rulescore import scalar_rule

    def noisy(x):
        return np.round(x, 2)

    scalar_rule(noisy, lambda y, x: 1.0)

    def test_noisy(rule_tester):
        rule_tester(noisy, 1.2345)
"""


@pytest.mark.parametrize(("chosen", "outcome"), [("raise", {"failed": 1}), ("warn", {"passed": 1, "warnings": 1})])
def test_the_configuration_says_what_inconclusive_does(project, pytester, chosen, outcome):
    pytester.makeini(f"[pytest]\npythonpath = .\nrules_inconclusive = {chosen}")
    project(test_noisy=NOISY).assert_outcomes(**outcome)


def test_the_configuration_knows_what_it_may_say(project, pytester):
    pytester.makeini("[pytest]\npythonpath = .\nrules_inconclusive = ignore")
    project(test_noisy=NOISY).stdout.fnmatch_lines(["*rules_inconclusive = ignore: write raise or warn*"])
