"""Tables used and changed by several threads at once."""

import subprocess
import sys
import threading

import numpy as np

from rulescore import NoTangent, frule, rrule


def run_at_once(function, count=8):
    """Call ``function(i)`` in several threads that start together, and return the results in order."""
    barrier = threading.Barrier(count)
    results = [None] * count
    errors = []

    def work(i):
        barrier.wait()
        try:
            results[i] = function(i)
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors, errors
    return results


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
