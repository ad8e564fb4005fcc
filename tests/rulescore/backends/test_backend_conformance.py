"""A sample input of every shipped rule, through each backend in both modes, judged by finite differences."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from types import MethodDescriptorType
from typing import Any

import numpy as np
import pytest

from rulescore.ad import primitive
from rulescore.discovery import rule_entries
from tests.rulescore.backends.systems import SYSTEMS
from testutils import conformance
from testutils.running import TargetError, collect_targets, resolve

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning:torch")

UNSUPPORTED = {
    "numpy.fromfunction": "the parameters of a callable object are no arguments",
    "numpy.fromiter": "the items of an iterable are converted before anybody sees them",
}
"""Functions of NumPy's of which no backend differentiates the sample, and why."""

rule_entries.load_all()
MODULES = [entry for entry in rule_entries.names if entry.startswith(("numpy", "scipy")) and entry != "scipy.sparse"]


@pytest.fixture(params=SYSTEMS)
def system(request: pytest.FixtureRequest) -> Iterator[Any]:
    framework = pytest.importorskip(request.param, reason=f"{request.param} is not installed")
    with framework.enable_x64(True) if request.param == "jax" else contextlib.nullcontext():
        yield SYSTEMS[request.param]()


def twin(f: Any) -> Any:
    """What the reference AD sees of a function that is traced; NumPy's methods want to be called as methods."""
    if isinstance(f, MethodDescriptorType):
        return lambda x, *args, **kwargs: getattr(x, f.__name__)(*args, **kwargs)
    return primitive(f)


def named_targets(module: str) -> list[str]:
    """The functions that have a name by which one finds them; objects of a class have none."""
    found = []
    for target in collect_targets([module]):
        with contextlib.suppress(TargetError):
            resolve(target.name)
            found.append(target.name)
    return found[::5] if module == "scipy.stats" else found  # half a thousand methods that are made alike


@pytest.mark.parametrize("module", MODULES)
def test_a_sample_of_every_rule_is_right_in_both_modes(system: Any, module: str) -> None:
    with np.errstate(all="ignore"):
        report = conformance(
            system.vjp,
            system.jvp,
            names=named_targets(module),
            twin=twin,
            conjugate=system.conjugate,
            skip=lambda name, sample: sample.position > 0,
        )
    results = [(function.name, sample) for function in report.functions for sample in function.samples]
    assert [(name, s.sample, s.mode, s.message) for name, s in results if s.verdict == "wrong"] == []
    assert sum(sample.verdict == "right" for _, sample in results) > 5
    if module.startswith("numpy"):
        assert {name for name, sample in results if sample.verdict != "right"} == UNSUPPORTED.keys()
