"""A sweep: combinations, failures, Ctrl-C, and the table and page of the result."""

from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from benchwright.cli.sweep import (
    Combination,
    SweepResult,
    SweepRun,
    run_combinations,
    split_names,
    split_seeds,
    summarise_sweep,
    table_of_runs,
    write_summary,
)
from benchwright.core.errors import InputError

A = Combination("arc", "smart", 0)
B = Combination("arc", "smart", 1)
C = Combination("mmlu", "smart", 0)


def test_names_and_seeds_are_comma_separated() -> None:
    assert split_names(" arc, ,mmlu") == ["arc", "mmlu"]
    assert split_seeds("0, 12") == [0, 12]
    with pytest.raises(InputError, match=r"--seeds '-1': expected non-negative integers"):
        split_seeds("0,-1")


def executes(errors: dict[Combination, BaseException]) -> Callable[[Combination], SweepRun]:
    """Return what runs a combination, or raises its error."""

    def execute(combination: Combination) -> SweepRun:
        if combination in errors:
            raise errors[combination]
        return SweepRun(combination, "done")

    return execute


def test_other_combinations_run_after_a_failure() -> None:
    lines: list[str] = []
    kept: list[int] = []
    failing = executes({A: InputError("items.csv, row 3: answer 'F'")})
    runs = run_combinations([A, B, C], failing, lines.append, lambda r: kept.append(len(r)))
    assert [run.status for run in runs] == ["failed", "done", "done"]
    assert runs[0].error == "items.csv, row 3: answer 'F'"
    assert kept == [1, 2, 3]
    assert lines[0] == "[1/3] arc · smart · seed 0: failed, 0 s: items.csv, row 3: answer 'F'"
    assert lines[2] == "[3/3] mmlu · smart · seed 0: done, 0 s"


def test_unexpected_errors_are_one_line_in_the_summary_and_a_traceback_in_the_log(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("BENCHWRIGHT_TRACEBACK", raising=False)
    failing = executes({A: KeyError("two\nlines")})
    runs = run_combinations([A], failing, lambda _: None, lambda _: None)
    assert runs[0].error == "KeyError: 'two\\nlines'"
    assert caplog.records[0].exc_info is not None


def stopped_worker() -> RuntimeError:
    error = RuntimeError("a worker was stopped")
    error.__context__ = KeyboardInterrupt()
    return error


@pytest.mark.parametrize("error", [KeyboardInterrupt(), stopped_worker()])
def test_ctrl_c_ends_the_sweep_and_keeps_finished_runs(error: BaseException) -> None:
    kept: list[list[str]] = []
    runs = run_combinations(
        [A, B, C],
        executes({B: error}),
        lambda _: None,
        lambda r: kept.append([run.status for run in r]),
    )
    assert [run.status for run in runs] == kept[-1] == ["done", "interrupted"]


METRICS = {
    "n_items": 395.0,
    "kendall_tau_b_all": 0.98,
    "kendall_tau_b_all.low": 0.95,
    "kendall_tau_b_all.high": 0.99,
    "share_removed": 0.106,
    "coverage.easy": 1.0,
}
MAIN = (
    "share_removed",
    "kendall_tau_b_all",
    "kendall_tau_b_all.low",
    "kendall_tau_b_all.high",
    "n_items",
)


def sweep_runs() -> list[SweepRun]:
    done = SweepRun(A, "done", 5.0, "v1", METRICS, main=MAIN)
    other = SweepRun(B, "done", 6.0, "v2", METRICS | {"share_removed": 0.108}, main=MAIN)
    return [
        done,
        other,
        SweepRun(C, "failed", 1.0, error="<b>no</b> rows"),
        SweepRun(A, "interrupted"),
    ]


def test_summary_has_a_row_per_combination_with_main_metrics_first() -> None:
    summary = summarise_sweep(sweep_runs())
    assert list(summary.columns) == [
        *("benchmark", "variant", "seed", "status", *MAIN, "coverage.easy"),
        *("wall_seconds", "version", "error"),
    ]
    assert summary["status"].tolist() == ["done", "done", "failed", "interrupted"]
    assert summary["n_items"].isna().tolist() == [False, False, True, True]
    assert str(summary["n_items"].dtype) == "Int64"
    assert summary["wall_seconds"].tolist() == [5, 6, 1, 0]


def test_runs_are_lines_of_the_terminal() -> None:
    lines = [line.split() for line in table_of_runs(sweep_runs())]
    assert lines[0][4:] == list(MAIN)
    assert lines[1] == ["arc", "smart", "0", "done", "0.106", "0.980", "0.950", "0.990", "395"]
    assert lines[3] == ["mmlu", "smart", "0", "failed", *"–––––"]


def test_summary_is_saved_with_all_metrics(tmp_path: Path) -> None:
    write_summary(sweep_runs(), tmp_path)
    saved = pd.read_csv(tmp_path / "summary.csv")
    assert saved["kendall_tau_b_all"].tolist()[:2] == [0.98, 0.98]
    assert saved["error"].tolist()[2] == "<b>no</b> rows"


@pytest.mark.parametrize(
    ("states", "code"),
    [(["done"], 0), (["done", "failed"], 1), (["done", "interrupted"], 130)],
)
def test_exit_code_depends_on_the_statuses(states: list[str], code: int) -> None:
    assert SweepResult([SweepRun(A, state) for state in states], Path(), None).exit_code == code
