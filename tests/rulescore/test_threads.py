"""Rules, thunks and checks used by several threads at once."""

import subprocess
import sys
import threading
import types
import warnings

import numpy as np
import pytest

from rulescore import (
    InplaceableThunk,
    NoTangent,
    Thunk,
    frule,
    rrule,
    scalar_rule,
    typeof,
)
from rulescore.ad import grad, hessian, jacrev, jvp, primitive, vjp
from rulescore.tangents.masked import Selected
from tests.rulescore.at_once import PATIENCE, outcomes_at_once, run_at_once
from testutils import RuleTestError, check_rule, test_rrule, test_rule
from testutils.evidence.warnings_here import warnings_here

test_rrule.__test__ = test_rule.__test__ = False
pytestmark = pytest.mark.usefixtures("frequent_switches")


def run_in_a_process(code):
    result = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert result.returncode == 0, result.stderr
    return result.stdout.strip()


def test_first_lookups_at_once_all_find_the_rule():
    for _ in range(20):

        def f(x, y):
            raise AssertionError("no rule of this test runs its function")

        rrule.register(f, object, object)(lambda x, y: "object")
        rrule.register(f, float, object)(lambda x, y: "float")
        frule.register(f)(lambda tangents, x, y: "forward")
        assert run_at_once(lambda i, f=f: rrule(f, 1.0, "a")) == ["float"] * 8
        assert run_at_once(lambda i, f=f: frule((NoTangent(),) * 3, f, 1.0, "a")) == ["forward"] * 8


def test_the_first_lookups_of_a_process_wait_for_discovery():
    code = """
import threading, numpy as np
from rulescore import rrule
barrier, found = threading.Barrier(6), []
def look():
    barrier.wait()
    found.append(rrule(np.tanh, 1.0) is not None)
threads = [threading.Thread(target=look) for _ in range(6)]
for t in threads: t.start()
for t in threads: t.join()
print(found)
"""
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == str([True] * 6)


def test_a_rule_registered_while_others_look_it_up_is_never_lost():
    """A lookup that began before the registration must not leave its answer in the cache."""
    functions = [lambda x, i=i: i for i in range(50)]
    start = rrule.generation

    def work(i):
        for f in functions:
            if i == 0:
                rrule.register(f, float)(lambda x: "specific")
            elif i == 1:
                rrule.register(f, object)(lambda x: "general")
            else:
                rrule(f, 1.0)

    run_at_once(work)
    assert [rrule(f, 1.0) for f in functions] == ["specific"] * len(functions)
    assert rrule.generation == start + 2 * len(functions)


def test_a_lookup_in_progress_does_not_outlive_a_registration():
    """The registration comes while the table resolves the types of a call, seen through a class that notices."""
    f, resolving, registered = (lambda x: None), threading.Event(), threading.Event()

    class Meta(type):
        def __subclasscheck__(cls, subclass):
            if threading.current_thread() is looker:
                resolving.set()
                registered.wait(0.2)  # the other thread tries to register meanwhile
            return super().__subclasscheck__(subclass)

    class Slow(metaclass=Meta):
        pass

    rrule.register(f, object)(lambda x: "general")
    rrule.register(f, Slow)(lambda x: "slow")
    looker = threading.Thread(target=lambda: rrule(f, 1.0))
    looker.start()
    resolving.wait()
    rrule.register(f, float)(lambda x: "float")
    registered.set()
    looker.join()
    assert rrule(f, 1.0) == "float"


def test_numpy_rules_in_threads_give_their_results():
    xs = [np.full(3, float(i)) for i in range(8)]
    results = run_at_once(lambda i: rrule(np.sin, xs[i])[1](np.ones(3))[1])
    for x, result in zip(xs, results, strict=True):
        np.testing.assert_allclose(result, np.cos(x))


# ---------------------------------------------------------------- thunks


class Counted:
    """A computation that takes a while, and counts how often it is made."""

    def __init__(self, fails=lambda calls: False):
        self.calls = 0
        self.fails = fails

    def __call__(self):
        self.calls += 1
        number = self.calls
        for _ in range(50):
            pass
        if self.fails(number):
            raise ZeroDivisionError(number)
        return np.ones(2)


@pytest.mark.parametrize(
    "make",
    [
        Thunk,
        lambda compute: InplaceableThunk(lambda x: x, compute),
        lambda compute: InplaceableThunk(lambda x: x, Thunk(compute)),
        lambda compute: Selected(compute, np.array([True, False])),
        lambda compute: Thunk(lambda: Thunk(compute)),
    ],
    ids=["Thunk", "InplaceableThunk", "InplaceableThunk of a Thunk", "Selected", "nested"],
)
def test_a_thunk_that_threads_force_at_once_is_computed_once(make):
    for _ in range(30):
        compute = Counted()
        t = make(compute)
        results = run_at_once(lambda i, t=t: t.force())
        assert compute.calls == 1
        assert all(result is results[0] for result in results)


def test_an_error_of_a_thunk_reaches_every_thread():
    for _ in range(30):
        compute = Counted(fails=lambda calls: calls <= 8)
        t = Thunk(compute)
        assert all(isinstance(outcome, ZeroDivisionError) for outcome in outcomes_at_once(lambda i, t=t: t.force()))
        assert compute.calls == 8
        assert t.force() is t.force()
        assert compute.calls == 9


def test_threads_that_waited_for_a_computation_that_failed_make_it_once_again():
    for _ in range(30):
        compute = Counted(fails=lambda calls: calls == 1)
        t = Thunk(compute)
        outcomes = outcomes_at_once(lambda i, t=t: t.force())
        assert sum(isinstance(outcome, ZeroDivisionError) for outcome in outcomes) == 1
        assert sum(outcome is t.force() for outcome in outcomes) == 7
        assert compute.calls == 2


def test_a_thunk_that_forces_itself_is_an_error():
    thunks = [Thunk(lambda: thunks[0] + 1)]
    for _ in range(2):
        with pytest.raises(RecursionError, match="depends on itself"):
            thunks[0].force()


def test_thunks_that_force_each_other_in_several_threads_are_an_error():
    for _ in range(30):
        all_begun, begun, thunks = threading.Barrier(3), set(), []

        def compute(i, all_begun=all_begun, begun=begun, thunks=thunks):
            if i not in begun:
                begun.add(i)
                all_begun.wait(PATIENCE)
            return thunks[(i + 1) % 3] + 1

        thunks += [Thunk(lambda i=i, compute=compute: compute(i)) for i in range(3)]
        outcomes = outcomes_at_once(lambda i, thunks=thunks: thunks[i].force(), 3)
        assert all(isinstance(outcome, RecursionError) for outcome in outcomes)
        assert all("depends on itself" in str(outcome) for outcome in outcomes)


def test_a_computation_may_wait_for_a_thread_that_forces_another_thunk():
    begun, forced = threading.Event(), threading.Event()
    first, second = Thunk(lambda: begun.set() or forced.wait(PATIENCE)), Thunk(lambda: 2.0)

    def work(i):
        if i:
            begun.wait(PATIENCE)
            second.force()
            forced.set()
        return first.force()

    assert run_at_once(work, 2) == [True, True]


def test_thunks_that_share_thunks_are_computed_once_whatever_the_order():
    for _ in range(30):
        calls = [0] * 12
        thunks = []

        def compute(k, calls=calls, thunks=thunks):
            calls[k] += 1
            return 1.0 + sum(thunks[j].force() for j in range(max(0, k - 3), k))

        thunks += [Thunk(lambda k=k, compute=compute: compute(k)) for k in range(12)]
        orders = [[thunks[k] for k in np.random.default_rng(i).permutation(12)] for i in range(8)]
        results = run_at_once(lambda i, orders=orders: [t.force() for t in orders[i]])
        assert calls == [1] * 12
        assert results == [[t.force() for t in order] for order in orders]


# ---------------------------------------------------------------- tables


def test_the_rules_that_threads_register_are_all_there():
    """Each its own functions, all of them one function for different types."""
    classes = [type(f"Number{i}", (float,), {}) for i in range(8)]
    for _ in range(10):

        @primitive
        def shared(x):
            raise AssertionError("it has rules")

        def work(i, shared=shared):
            rrule.register(shared, classes[i])(lambda x: (i, None))
            frule.register(shared, classes[i])(lambda dargs, x: (i, None))
            found = []
            for k in range(5):
                f = primitive(lambda x: float(x))
                rrule.register(f)(lambda x, k=k: (float(x), lambda ybar: (NoTangent(), 10.0 * i + k)))
                frule.register(f)(lambda dargs, x, k=k: (float(x), 10.0 * i + k))
                found += [grad(f)(1.0), jvp(f, (1.0,), (1.0,))[1], float(grad(lambda x, f=f: np.sin(f(x)))(0.0))]
            own = classes[i](1.0)
            return found, rrule(shared, own)[0], frule((NoTangent(), 1.0), shared, own)[0], len(rrule.records(shared))

        for i, (found, reverse, forward, count) in enumerate(run_at_once(work)):
            assert found == [10.0 * i + k for k in range(5) for _ in range(3)]
            assert (reverse, forward) == (i, i)
            assert 1 <= count <= 8
        for table in (rrule, frule):
            assert sorted(record.signatures[0][0].__name__ for record in table.records(shared)) == [
                cls.__name__ for cls in classes
            ]


def test_aliases_that_threads_add_at_once_are_all_there():
    for _ in range(5):
        f = lambda x: x  # noqa: E731
        rrule.register(f)(lambda x: "rule")
        aliases = [[lambda x: x for _ in range(50)] for _ in range(8)]
        run_at_once(lambda i, f=f, aliases=aliases: [rrule.alias(alias, f) for alias in aliases[i]])
        assert {rrule(alias, 1.0) for own in aliases for alias in own} == {"rule"}


def test_a_chain_of_aliases_that_threads_add_at_once_leads_to_the_rule():
    for _ in range(100):
        a, b, c = (lambda x: x), (lambda x: x), (lambda x: x)
        rrule.register(c)(lambda x: "rule")
        run_at_once(lambda i, a=a, b=b, c=c: rrule.alias(a, b) if i else rrule.alias(b, c), 2)
        assert rrule(a, 1.0) == rrule(b, 1.0) == "rule"


def test_a_rule_for_what_becomes_an_alias_meanwhile_is_not_lost():
    for _ in range(100):
        f, alias = (lambda x: x), (lambda x: x)
        rrule.register(f)(lambda x: "rule of f")

        def work(i, f=f, alias=alias):
            if i:
                rrule.register(alias)(lambda x: "rule of the alias")
            else:
                rrule.alias(alias, f)

        refused, _ = outcomes_at_once(work, 2)
        assert refused is None or isinstance(refused, ValueError)
        assert rrule(alias, 1.0) == "rule of the alias"
        assert rrule(f, 1.0) == ("rule of the alias" if refused is None else "rule of f")


def test_an_alias_of_a_module_that_is_imported_later_is_found_by_every_thread(monkeypatch):
    for k in range(50):
        f, module = (lambda x: x), types.ModuleType("imported_later")
        rrule.register(f)(lambda x: "rule")
        for i in range(5):
            setattr(module, f"alias{i}", lambda x: x)
            rrule.alias(f"imported_later{k}.alias{i}", f)
        monkeypatch.setitem(sys.modules, f"imported_later{k}", module)
        assert run_at_once(lambda i, m=module: rrule(m.alias4, 1.0)) == ["rule"] * 8


def test_typeof_is_one_type_for_all_threads():
    for _ in range(100):
        f = lambda x: x  # noqa: E731
        assert len(set(run_at_once(lambda i, f=f: typeof(f)))) == 1


def test_a_class_of_callable_objects_is_one_class_for_the_rules_of_all_threads():
    """Of two rules for it, the later one replaces the earlier."""
    for _ in range(50):
        cls = type("Callable", (), {"__call__": lambda self: None})
        f = lambda g: None  # noqa: E731
        run_at_once(lambda i, f=f, cls=cls: rrule.register(f, cls)(lambda g, i=i: i))
        assert len(rrule.records(f)) == 1


def test_overrides_of_one_function_in_several_threads_leave_nothing_behind():
    for has_rule in [True, False] * 20:
        f = lambda x: x  # noqa: E731
        if has_rule:
            rrule.register(f)(lambda x: "rule")

        def work(i, f=f):
            with rrule.override(f, lambda x: "overridden"):
                return rrule(f, 1.0)

        assert run_at_once(work, 4) == ["overridden"] * 4
        assert rrule(f, 1.0) == ("rule" if has_rule else None)


# ---------------------------------------------------------------- differentiation

X = np.linspace(0.5, 1.5, 4)


def energy(x, k):
    return np.sum(np.sin(k * x) * np.cumsum(x)) + np.linalg.norm(x) ** 3


def field(x, k):
    return np.cumsum(x) ** 2 * np.exp(-k * x)


JOBS = [
    lambda k: grad(energy)(X, k),
    lambda k: vjp(field, X, k)[1](np.cos(X))[0],
    lambda k: jvp(field, (X, k), (np.cos(X), 0.0))[1],
    lambda k: hessian(lambda x: energy(x, k))(X),
    lambda k: jacrev(lambda x: field(x, k))(X),
]


@pytest.mark.parametrize("is_same", [True, False], ids=["the same", "different ones"])
def test_transformations_in_threads_give_what_they_give_in_one(is_same):
    def work(i):
        return [job(1.0 if is_same else 1.0 + i) for job in (*JOBS[i % 5 :], *JOBS[: i % 5])]

    expected = [work(i) for i in range(8)]
    for _ in range(3):
        for ours, theirs in zip(run_at_once(work), expected, strict=True):
            for a, b in zip(ours, theirs, strict=True):
                np.testing.assert_array_equal(a, b)


# ---------------------------------------------------------------- the first use in a process

THREADS = """
import faulthandler, sys, threading
faulthandler.dump_traceback_later(50, exit=True)
sys.setswitchinterval(1e-6)

def run_at_once(*functions):
    barrier, errors = threading.Barrier(len(functions)), []
    def work(function):
        barrier.wait()
        try:
            function()
        except BaseException as error:
            errors.append(error)
    threads = [threading.Thread(target=work, args=(function,)) for function in functions]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
    for error in errors: raise error
"""


@pytest.mark.parametrize("delay", [0.0, 0.01, 0.03])
def test_rules_imported_by_hand_while_another_thread_discovers_them(delay):
    """The import registers rules, and the other thread waits for the import."""
    run_in_a_process(
        f"""{THREADS}
import time
import numpy as np
from rulescore import rrule

def import_rules():
    import rules.numpy

def look():
    time.sleep({delay})
    assert rrule(np.sin, 1.0) is not None

run_at_once(import_rules, look)
"""
    )


@pytest.mark.parametrize("attempt", range(3))
def test_the_first_use_of_rules_may_be_in_several_threads(attempt):
    run_in_a_process(
        f"""{THREADS}
import numpy as np
import scipy.special, scipy.linalg

def import_ours():
    from rulescore import frule, rrule
    assert rrule(np.sin, 1.0)[1](1.0)[1] == np.cos(1.0)

def look(name, module, *args):
    def work():
        from rulescore import frule, rrule
        f = getattr(module, name)
        assert rrule(f, *args) is not None, name
        assert rrule.lookup(f, *map(type, args)) is not None, name
        assert len(rrule.records(f)) > 0
    return work

def differentiate():
    from rulescore.ad import grad, jvp
    assert grad(lambda x: np.sum(np.tanh(x) * x))(np.zeros(2)).shape == (2,)
    assert jvp(np.cumsum, (np.ones(2),), (np.ones(2),))[1][1] == 2

def check():
    from testutils import test_rule
    test_rule(np.exp, np.ones(2))

A = np.eye(2) + 1
run_at_once(import_ours, look("cos", np, 1.0), look("gamma", scipy.special, 2.0), look("solve", scipy.linalg, A, A[0]),
            look("inv", np.linalg, A), differentiate, differentiate, check)
"""
    )


# ---------------------------------------------------------------- checks


def scaled_logarithm(k, slope=1.0):
    def f(x):
        return k * np.log(x)

    scalar_rule(f, lambda y, x: slope * k / x)
    return f


@pytest.mark.parametrize("is_same", [True, False], ids=["the same", "different ones"])
def test_threads_check_rules(is_same):
    functions = [scaled_logarithm(1.0 if is_same else 1.0 + i) for i in range(1 if is_same else 4)]
    wrong = scaled_logarithm(2.0, slope=1.01)
    x = np.array([0.3, 1.0, 2.0])

    def work(i):
        test_rule(functions[i % len(functions)], x)
        assert check_rule(functions[i % len(functions)], x).verdict == "pass"
        with pytest.raises(RuleTestError):
            test_rrule(wrong, x)
        assert check_rule(wrong, x).verdict == "fail"
        return True

    assert run_at_once(work, 4) == [True] * 4


def test_checks_in_threads_leave_the_filters_of_warnings_as_they_were():
    functions = [scaled_logarithm(1.0 + i) for i in range(4)]
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message="nobody gives this warning")
        before = list(warnings.filters)
        run_at_once(lambda i: [test_rrule(functions[i], np.array([0.3, 2.0])) for _ in range(3)], 4)
        assert warnings.filters == before


def test_warnings_that_are_errors_in_the_check_of_one_thread_are_none_in_another():
    """A variant for which the function warns is left out; the same warning at the arguments themselves is no news."""

    def f(x):
        warnings.warn("not converged", RuntimeWarning, stacklevel=1)
        return np.sin(x)

    scalar_rule(f, lambda y, x: np.cos(x))
    quiet = scaled_logarithm(3.0)
    x = np.array([0.3, 2.0])

    def work(i):
        for _ in range(1 if i == 0 else 10):
            test_rrule(f if i else quiet, x, thorough=i == 0)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(3):
            run_at_once(work, 4)


def test_each_thread_decides_what_becomes_of_its_warnings():
    """One thread enters, the other enters, the first leaves, the other leaves."""
    entered = threading.Barrier(2)

    def warn():
        warnings.warn("not converged", RuntimeWarning, stacklevel=1)

    def work(i):
        if i:
            entered.wait()
            with warnings_here("ignore"):
                entered.wait()
                entered.wait()
                warn()
        else:
            with warnings_here("error", RuntimeWarning):
                entered.wait()
                entered.wait()
                with pytest.raises(RuntimeWarning):
                    warn()
                with warnings_here("ignore", UserWarning), pytest.raises(RuntimeWarning):
                    warn()
                with warnings_here("ignore", RuntimeWarning):
                    warn()
            entered.wait()

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        before = list(warnings.filters)
        run_at_once(work, 2)
        assert warnings.filters == before
        with pytest.raises(RuntimeWarning):
            warn()


def test_a_pullback_in_threads_gives_each_its_cotangent():
    x = np.array([[2.0, 1.0], [0.0, 3.0]])
    _, pullback = rrule(np.linalg.inv, x)
    expected = [pullback(np.full((2, 2), float(i)))[1] for i in range(8)]
    for ours, theirs in zip(run_at_once(lambda i: pullback(np.full((2, 2), float(i)))[1]), expected, strict=True):
        np.testing.assert_array_equal(ours, theirs)
