"""Write docs/backend_conformance.md: the sample inputs of every rule through every backend.

Run it with ``python -m tests.rulescore.backends.write_page``; it takes about half an hour. ``--samples N`` asks for N
samples of each function alone, spread evenly. Names of modules measure these alone, and print the page.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np

from rulescore.tables.discovery import rule_entries
from tests.rulescore.backends.comparison import problems
from tests.rulescore.backends.exceptions import reason_for
from tests.rulescore.backends.systems import systems
from testutils.runs.running import collect_targets

PAGE = Path(__file__).parents[3] / "docs" / "backend_conformance.md"

HEAD = """# Conformance of the backends

{samples} go through each backend, in reverse and forward
mode and with second derivatives in two combinations of modes, and are compared with
[the reference AD](automatic_differentiation.md), whose own derivatives are proved by finite differences. The first
sample of each function is compiled too (`jax.jit` in every mode; `torch.compile` with `fullgraph=True` in reverse mode,
which is what PyTorch compiles).
`tests/rulescore/backends/write_page.py` writes this page; the test suite runs a part of it. What becomes of the
functions in other libraries is [below](#client-libraries).

In the tables, *right / asked* counts sample inputs. Not asked is where there is nothing to differentiate, or the
reference AD has no derivative of that order.
"""

CLIENTS = """
## Client libraries

```{include} client_libraries.txt
```
"""

Key = tuple[str, str, str]
"""Module, system, mode."""


class Measurement:
    """What was found, by module, system and mode."""

    def __init__(self, samples: int | None) -> None:
        self._samples = samples
        self.counts: dict[Key, Counter[str]] = defaultdict(Counter)
        self.failures: dict[Key, dict[str, str]] = defaultdict(dict)

    def measure(self, module: str) -> None:
        """Ask every backend about every sample of a module."""
        for target in collect_targets([module]):
            count = min(self._samples or len(target.samples), len(target.samples))
            places = np.linspace(0, len(target.samples) - 1, count)
            chosen = [target.samples[round(place)] for place in places]
            for number, (sample, problem) in enumerate(problems(target.function, chosen)):
                for system in systems().values():
                    with system.active():
                        for mode in system.modes:
                            self._note(
                                (module, system.name, mode), target.name, sample.id, problem.outcome(system, mode)
                            )
                        for mode in system.compiled_modes if number == 0 else ():
                            outcome = problem.outcome(system, mode, is_compiled=True)
                            self._note((module, system.name, f"compiled, {mode}"), target.name, sample.id, outcome)

    def _note(self, key: Key, function: str, sample: str, outcome: tuple[str, str]) -> None:
        verdict, message = outcome
        self.counts[key][verdict] += 1
        if verdict in ("wrong", "raises"):
            self.failures[key][function] = (
                reason_for(f"{sample}: {message}") or f"**{verdict}**, sample {sample}: {_first_line(message)}"
            )

    def page(self) -> str:
        """The page in Markdown."""
        samples = "All sample inputs of every rule"
        if self._samples is not None:
            samples = f"Sample inputs of every rule, {self._samples} of each function spread evenly,"
        parts = [HEAD.format(samples=samples)]
        for system in systems().values():
            modes = [*system.modes, *(f"compiled, {mode}" for mode in system.compiled_modes)]
            parts += [f"\n## {system.name}\n", f"| module | {' | '.join(modes)} |", "|---" * (len(modes) + 1) + "|"]
            for module in dict.fromkeys(key[0] for key in self.counts):
                cells = [self._cell((module, system.name, mode)) for mode in modes]
                parts.append(f"| `{module}` | {' | '.join(cells)} |")
            parts += self._reasons(system.name)
        return "\n".join([*parts, CLIENTS])

    def _cell(self, key: Key) -> str:
        counts = self.counts[key]
        return f"{counts['right']} / {counts['right'] + counts['wrong'] + counts['raises']}"

    def _reasons(self, system: str) -> list[str]:
        functions: dict[str, dict[str, None]] = defaultdict(dict)
        for (_, name, mode), failures in self.failures.items():
            if name == system:
                for function, reason in failures.items():
                    functions[f"{reason} ({'compiled' if mode.startswith('compiled') else 'eager'})"][function] = None
        return [""] + [
            f"- {reason}: {', '.join(f'`{f}`' for f in sorted(found))}" for reason, found in sorted(functions.items())
        ]


def _first_line(message: str) -> str:
    return message.strip().splitlines()[0][:200].replace("|", "\\|") if message.strip() else ""


def main(arguments: list[str]) -> None:
    """Measure, and write the page; or print what was found in some modules."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("modules", nargs="*")
    parser.add_argument("--samples", type=int)
    options = parser.parse_args(arguments)
    rule_entries.load_all()
    measurement = Measurement(options.samples)
    for module in options.modules or [entry for entry in rule_entries.names if entry != "scipy.sparse"]:
        measurement.measure(module)
        print(module, flush=True)
    if options.modules:
        print(measurement.page())
    else:
        PAGE.write_text(measurement.page())


if __name__ == "__main__":
    main(sys.argv[1:])
