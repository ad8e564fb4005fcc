"""Calls in several threads that start together."""

import threading

PATIENCE = 60
"""Seconds after which a thread is taken to wait for ever."""


def outcomes_at_once(function, count=8):
    """Call ``function(i)`` in several threads that start together, and return what each returned or raised."""
    barrier = threading.Barrier(count)
    outcomes = [None] * count

    def work(i):
        barrier.wait()
        try:
            outcomes[i] = function(i)
        except BaseException as error:
            outcomes[i] = error

    threads = [threading.Thread(target=work, args=(i,), daemon=True) for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    assert not any(thread.is_alive() for thread in threads), "a thread hangs"
    return outcomes


def run_at_once(function, count=8):
    """Call ``function(i)`` in several threads that start together, and return the results in order."""
    outcomes = outcomes_at_once(function, count)
    for outcome in outcomes:
        if isinstance(outcome, BaseException):
            raise outcome
    return outcomes
