"""``python -m tests.benchmarks.operators`` on its smallest workload, without the peers."""

from __future__ import annotations

import gc
import io
import json
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from tests.benchmarks.operators import __main__ as command
from tests.benchmarks.operators import measuring, report
from tests.benchmarks.operators.measuring import COPY, RULE, RULE_IN_AD, Contest, Contestant, Measurement, Run
from tests.benchmarks.operators.systems import KINDS, Ours, is_installed
from tests.benchmarks.operators.workloads import LOOP, Grid, sum_pooling, workloads

PEERS = ("autograd", "mygrad", "torch", "jax")
WITHOUT_PEERS = [f"--without={module}" for module in PEERS]


@pytest.fixture(scope="module")
def small() -> Run:
    return measuring.run([workloads()["rotary-small"]], without=PEERS)


def measured(**changes: object) -> Contest:
    """A contest as it might have been."""
    given = {
        "loop": Measurement("PyTorch", LOOP, 2e-3, 1e-3, 0.1),
        "slow": Measurement("PyTorch", "matmul", 4e-5, None, 0.1),
        "fast": Measurement("PyTorch", "index_add", 2e-5, None, 0.1),
        **changes,
    }
    ours = [Measurement(RULE, seconds=1e-5), Measurement(RULE_IN_AD, seconds=2e-5), Measurement(COPY, seconds=1e-6)]
    return Contest("sum-100", "Sum pooling", "1700 blocks", (*ours, *given.values()))  # type: ignore[arg-type]


def test_the_command_prints_a_table_and_writes_what_it_measured(tmp_path: Path, capfd: pytest.CaptureFixture) -> None:
    data = tmp_path / "bench.json"
    assert command.main(["rotary-small", "--json", str(data), *WITHOUT_PEERS]) == 0
    printed = capfd.readouterr().out
    assert "Rotary embedding, 8 x 8 (32 pairs)" in printed
    assert "rulescore.ad" in printed
    assert "PyTorch, JAX, eager, JAX, jit" in printed  # left out
    run = Run.from_dict(json.loads(data.read_text()))
    assert run.has_one_thread
    assert run.contests[0].rule_seconds > 0


def test_the_command_draws_a_chart(small: Run, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    for name in ("chart.png", "chart.svg"):
        report.draw(small, tmp_path / name)
        assert (tmp_path / name).stat().st_size > 1000


def test_without_matplotlib_the_command_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "has_matplotlib", lambda: False)
    console = Console(record=True, width=150, file=io.StringIO())
    command.bench(["rotary-small"], console, tmp_path / "chart.png", None, PEERS)
    assert "chart.png was not drawn: matplotlib is missing" in console.export_text()
    assert not (tmp_path / "chart.png").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nonsense"], "there is no workload 'nonsense': name one of sum-small, sum-100"),
        (["--chart", "nowhere/chart.png"], "--chart nowhere/chart.png: there is no folder"),
    ],
)
def test_what_cannot_be_done_is_an_error_before_anything_is_measured(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture
) -> None:
    with pytest.raises(SystemExit) as exit_:
        command.main(arguments)
    assert exit_.value.code == 2
    assert message in capsys.readouterr().err


def test_a_workload_is_named_alone_or_with_its_operator() -> None:
    assert [w.name for w in command.chosen(["rotary"])] == ["rotary-small", "rotary-100", "rotary-1000"]
    assert [w.name for w in command.chosen(["sum-few", "sum-few"])] == ["sum-few"]
    assert [w.name for w in command.chosen(["sum-1000-fine"])] == ["sum-1000-fine"]
    assert not [w.name for w in command.chosen([]) if w.only_by_name]


def test_every_formulation_of_a_small_workload_has_the_gradient_of_the_rule() -> None:
    kinds = [kind for kind in KINDS if kind.module in ("rulescore", "autograd", "torch") and is_installed(kind)]
    systems = [kind() for kind in kinds]
    for name in ("sum-small", "hausdorff-small", "rotary-small"):
        contestants, _ = measuring.contestants_of(workloads()[name], systems)
        assert [c.formulation for c in contestants if not c.is_right or c.problem] == []


def test_blocks_that_do_not_fill_the_matrix_are_pooled_too() -> None:
    workload = sum_pooling("sum-uneven", Grid((5, 7), 2, 3))
    contestants, _ = measuring.contestants_of(workload, [Ours()])
    assert all(c.is_right and not c.problem for c in contestants)
    assert workload.ybar.shape == (3, 3)


def test_a_wrong_gradient_is_found_and_marked() -> None:
    right = np.ones(3), np.array([1.0, 2.0, 3.0])
    contestant = Contestant("MyGrad", LOOP, lambda: (right[0], right[1] * [1, 1, 0]), right)
    assert not contestant.is_right
    held = measured(loop=Measurement("PyTorch", LOOP, 1e-3, is_right=False))
    assert [cells[2] for cells in report.rows(held)] == ["100 ✗"]
    assert list(report.notes(held)) == ["✗ PyTorch: another gradient than the rule's"]


def test_a_contestant_that_raises_is_left_out_with_the_reason() -> None:
    def fails() -> tuple[None, None]:
        raise RuntimeError("no memory\nat all")

    found = Contestant("JAX, jit", LOOP, fails).measurement
    assert (found.seconds, found.problem) == (None, "it raised RuntimeError: no memory")


def test_a_table_has_ratios_and_the_fastest_formulation_on_arrays() -> None:
    ((system, *cells),) = report.rows(measured())
    assert (system, cells) == ("PyTorch", ["2 ms", "200", "100", "20 µs", "2.0", "index_add"])
    assert "the rule takes 10 µs, through rulescore.ad 20 µs, copying the array 1 µs" in report.summary(measured())


def test_a_wrong_formulation_is_never_the_fastest() -> None:
    wrong = Measurement("PyTorch", "complex", 1e-6, is_right=False)
    found = measured(wrong=wrong).on_arrays("PyTorch")
    assert found is not None
    assert found.formulation == "index_add"


@pytest.mark.parametrize(
    ("seconds", "text"), [(2.5, "2.5 s"), (0.01234, "12.3 ms"), (4e-6, "4 µs"), (3e-7, "300 ns"), (1234.0, "1234 s")]
)
def test_durations_have_three_figures(seconds: float, text: str) -> None:
    assert report.duration(seconds) == text


def test_the_garbage_collector_is_on_again(small: Run) -> None:
    assert gc.isenabled()
    assert small.contests[0].of(Ours.name, LOOP).seconds_without_gc > 0  # type: ignore[union-attr, operator]


def test_memory_is_measured_where_it_is_asked_for() -> None:
    from dataclasses import replace

    workload = replace(workloads()["rotary-small"], measures_memory=True)
    held = measuring.contest(workload, [Ours()], memory=True)
    peaks = {(m.system, m.formulation): m.peak_bytes for m in held.measurements if m.peak_bytes}
    assert set(peaks) == {(RULE, ""), (Ours.name, LOOP)}
    assert peaks[Ours.name, LOOP] > peaks[RULE, ""]


def test_a_run_survives_json(small: Run) -> None:
    assert Run.from_dict(json.loads(json.dumps(small.to_dict()))) == small


def test_the_run_of_all_workloads_ends_in_the_picture_of_the_documentation(monkeypatch: pytest.MonkeyPatch) -> None:
    charts: list[Path | None] = []
    monkeypatch.setattr(command, "bench", lambda names, console, chart, *_: charts.append(chart))
    monkeypatch.setattr(command, "has_one_thread", lambda: True)
    for options in ([], ["sum"], ["--without=jax"], ["--chart=mine.svg"]):
        assert command.main(options) == 0
    assert charts == [command.CHART, None, None, Path("mine.svg")]
