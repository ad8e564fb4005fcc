"""One of the two processes of a comparison: it times the contests of this tree on the packages of one tree.

It is started by ``comparison.py`` with the root of the tree and the name of a suite. A line of JSON on its standard
input asks for something, a line on its standard output answers:

- first, unasked: the names of the contests, and why some cannot be had;
- ``{"prepare": name, "part": seconds}``: makes the call and warms it up; how often it is called in a part of a turn,
  and how many seconds a call takes, roughly;
- ``{"time": repetitions, "parts": number}``: how many seconds a call takes, in the fastest part of a turn;
- ``{"finish": true}``: forgets what has been prepared.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import sys
import warnings
from pathlib import Path
from typing import Any, TextIO

from turns import Repeated

PACKAGES = ("rulescore", "rules", "testutils", "pytest_rulescore")


def check_packages(root: Path) -> None:
    """Raise unless all that has been imported of the packages, and the packages themselves, lie in a tree."""
    for name in PACKAGES:
        importlib.import_module(name)
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if name.partition(".")[0] in PACKAGES and file and not Path(file).resolve().is_relative_to(root):
            raise ImportError(f"{name} was imported from {file}, which is not in {root}")


class Worker:
    """What answers."""

    def __init__(self, root: Path, suite: str) -> None:
        contests = importlib.import_module("contests")
        self.root, self.described = root, contests.described
        self.suite = contests.SUITES[suite]()
        check_packages(root)
        self.repeated = Repeated()

    def names(self) -> dict[str, Any]:
        collected = [name for name, contest in self.suite.contests.items() if contest.all_collected]
        return {"contests": list(self.suite.contests), "all_collected": collected, "problems": self.suite.problems}

    def prepare(self, name: str, part: float) -> dict[str, Any]:
        contest = self.suite.contests[name]
        self.repeated = Repeated()
        try:
            call = contest.make()
            call()
        except Exception as error:
            return {"problem": self.described(error)}
        check_packages(self.root)  # rules are imported when they are needed
        gc.collect()
        if not contest.all_collected:
            gc.freeze()
        seconds = self.repeated.start(call, part)
        return {"repetitions": self.repeated.repetitions, "seconds": seconds}

    def time(self, repetitions: int, parts: int) -> dict[str, Any]:
        self.repeated.repetitions = repetitions
        self.repeated.take_turn()  # which warms up first
        found = [self.repeated.seconds[-1], *(self.repeated.time() for _ in range(parts - 1))]
        return {"seconds": min(found)}

    def finish(self) -> dict[str, Any]:
        self.repeated = Repeated()
        gc.unfreeze()
        gc.collect()
        return {}

    def answer(self, question: dict[str, Any]) -> dict[str, Any]:
        if "prepare" in question:
            return self.prepare(question["prepare"], question["part"])
        if "time" in question:
            return self.time(question["time"], question["parts"])
        return self.finish()


def own_channel() -> TextIO:
    """The standard output, for answers alone: what anybody prints goes to the standard error from now on."""
    channel = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    return channel


def main() -> None:
    root, suite = Path(sys.argv[1]).resolve(), sys.argv[2]
    sys.path.insert(0, str(root))
    warnings.simplefilter("ignore")
    channel = own_channel()

    def say(answer: dict[str, Any]) -> None:
        print(json.dumps(answer), file=channel, flush=True)

    worker = Worker(root, suite)
    say(worker.names())
    for line in sys.stdin:
        say(worker.answer(json.loads(line)))


if __name__ == "__main__":
    main()
