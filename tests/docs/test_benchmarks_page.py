"""The page of benchmarks says what the data say."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

SCRIPT = Path(__file__).parents[1] / "benchmarks" / "write_operators_page.py"


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("write_operators_page", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_page_agrees_with_the_data(script: ModuleType) -> None:
    written = script.PAGE.read_text("utf8")
    assert written == script.page(script.read(script.DATA)), (
        "`python tests/benchmarks/write_operators_page.py` writes it anew"
    )


def test_chart_and_data_are_there(script: ModuleType) -> None:
    assert script.CHART.exists()
    assert len(script.read(script.DATA).contests) == 11
