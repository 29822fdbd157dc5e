"""A sweep: combinations, progress, failures, Ctrl-C, and the table and page of the result."""

import os
import re
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.commands.sweep.page import (
    Combination,
    SweepRun,
    duration,
    means_over_benchmarks,
    render_sweep,
    rule_columns,
    spread_over_seeds,
    summarise_sweep,
)
from benchwright.commands.sweep.sweep import (
    SweepResult,
    check_no_swept_parameter,
    combine,
    remaining_seconds,
    run_combinations,
    split_names,
    split_seeds,
    write_summary,
)
from benchwright.core.errors import InputError

A = Combination("arc", "smart", 0)
B = Combination("arc", "smart", 1)
C = Combination("mmlu", "smart", 0)


def test_combinations_are_unique() -> None:
    assert combine(["arc", "mmlu", "arc"], ["smart"], [0, 1]) == [A, B, C, C._replace(seed=1)]


@given(
    st.lists(st.text("ab", min_size=1), max_size=4),
    st.lists(st.text("xy", min_size=1), max_size=4),
    st.lists(st.integers(0, 3), max_size=4),
)
def test_combinations_are_the_distinct_product(
    benchmarks: list[str], variants: list[str], seeds: list[int]
) -> None:
    todo = combine(benchmarks, variants, seeds)
    assert len(todo) == len(set(todo))
    assert set(todo) == {Combination(b, v, s) for b in benchmarks for v in variants for s in seeds}


def test_names_and_seeds_are_comma_separated() -> None:
    assert split_names(" arc, ,mmlu") == ["arc", "mmlu"]
    assert split_seeds("0, 12") == [0, 12]
    with pytest.raises(InputError, match=r"--seeds '-1': expected non-negative integers"):
        split_seeds("0,-1")


def test_params_cannot_set_swept_values() -> None:
    check_no_swept_parameter({"limit": 3})
    with pytest.raises(InputError, match=r"--params seed=…: use --seeds 3 in a sweep"):
        check_no_swept_parameter({"seed": 3})


def test_remaining_time_uses_the_latest_similar_run() -> None:
    assert remaining_seconds([], [A]) == 0
    runs = [SweepRun(A, "done", 100), SweepRun(B, "done", 10)]
    todo = [Combination("arc", "smart", 2), Combination("arc", "no_similar", 0), C]
    assert remaining_seconds(runs, todo) == 10 + 10 + 55


def test_durations_use_the_largest_useful_unit() -> None:
    assert [duration(s) for s in (0.4, 59.6, 3599, 7500)] == [
        *("0 s", "1 min 00 s", "59 min 59 s", "2 h 05 min")
    ]


@pytest.fixture
def clock() -> Callable[[], float]:
    ticks: Iterator[int] = iter(range(0, 1000, 5))
    return lambda: float(next(ticks))


def test_other_combinations_run_after_a_failure(clock: Callable[[], float]) -> None:
    lines: list[str] = []
    kept: list[int] = []

    def execute(combination: Combination) -> SweepRun:
        if combination == A:
            raise InputError("items.csv, row 3: answer 'F'")
        return SweepRun(combination, "done", metrics={"n_items": 1000, "n_kept": 900})

    runs = run_combinations([A, B, C], execute, lines.append, lambda r: kept.append(len(r)), clock)
    assert [run.status for run in runs] == ["failed", "done", "done"]
    assert runs[0].error == "items.csv, row 3: answer 'F'"
    assert [run.seconds for run in runs] == [5, 5, 5]
    assert kept == [1, 2, 3]
    assert lines[1] == (
        "[1/3] arc · smart · seed 0: failed in 5 s: items.csv, row 3: answer 'F'; "
        "2 remaining, about 10 s"
    )
    assert lines[-1] == "[3/3] mmlu · smart · seed 0: done in 5 s, kept 900 of 1,000"


def test_unexpected_errors_are_one_line_in_the_summary_and_a_traceback_in_the_log(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def execute(combination: Combination) -> SweepRun:
        raise KeyError("two\nlines")

    monkeypatch.delenv("BENCHWRIGHT_TRACEBACK", raising=False)
    runs = run_combinations([A], execute, lambda _: None, lambda _: None)
    assert runs[0].error == "KeyError: 'two\\nlines'"
    assert caplog.records[0].exc_info is not None


@pytest.mark.parametrize("workers_fail_too", [False, True])
def test_ctrl_c_ends_the_current_run_and_keeps_finished_ones(workers_fail_too: bool) -> None:
    kept: list[list[str]] = []

    def execute(combination: Combination) -> SweepRun:
        if combination != B:
            return SweepRun(combination, "done")
        try:
            os.kill(os.getpid(), signal.SIGINT)
            raise AssertionError("not reached")
        except KeyboardInterrupt:
            if workers_fail_too:
                raise RuntimeError("a worker was stopped") from None
            raise

    before = signal.getsignal(signal.SIGINT)
    runs = run_combinations(
        [A, B, C], execute, lambda _: None, lambda r: kept.append([x.status for x in r])
    )
    assert [run.status for run in runs] == ["done", "interrupted", "not_run"]
    assert kept[-1] == ["done", "interrupted"]
    assert signal.getsignal(signal.SIGINT) is before


def test_ctrl_c_waits_until_the_summary_is_saved() -> None:
    written: list[int] = []

    def keep(runs: list[SweepRun]) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        written.append(len(runs))

    runs = run_combinations([A, B], lambda c: SweepRun(c, "done"), lambda _: None, keep)
    assert written == [1]
    assert [run.status for run in runs] == ["done", "not_run"]


METRICS = {
    "n_items": 395.0,
    "n_kept": 353.0,
    "share_removed": 0.106,
    "share_removed.similar": 0.04,
    "share_removed.easy": 0.08,
    "share_removed.zeal": 0.01,
    "kendall_tau_b": 0.98,
    "kendall_tau_b.low": 0.95,
    "kendall_tau_b.high": 0.99,
    "n_panel_models": 49.0,
    "ire_share_removed": 0.4,
    "coverage.easy": 1.0,
}


def sweep_runs() -> list[SweepRun]:
    done = SweepRun(A, "done", 5.0, "v1", METRICS, Path("/d/reports/a b.html"))
    other = SweepRun(B, "done", 6.0, "v2", METRICS | {"share_removed": 0.108})
    return [done, other, SweepRun(C, "failed", 1.0, error="<b>no</b> rows"), SweepRun(A, "not_run")]


def test_summary_has_a_row_per_combination_with_missing_metrics() -> None:
    summary = summarise_sweep(sweep_runs())
    assert list(summary.columns[:4]) == ["benchmark", "variant", "seed", "status"]
    assert list(summary.columns[-3:]) == ["version", "report", "error"]
    assert list(summary["n_kept"].fillna(-1)) == [353, 353, -1, -1]
    assert summary["n_kept"].dtype == "Int64"
    assert summary["share_removed.easy"].isna().tolist() == [False, False, True, True]
    assert summary["arena_pearson_full"].isna().all()
    assert set(METRICS) <= set(summary.columns)
    columns = list(summary.columns)
    assert columns.index("kendall_tau_b") < columns.index("wall_seconds")
    assert columns.index("wall_seconds") < columns.index("coverage.easy")


def test_rule_columns_follow_the_order_of_the_filters() -> None:
    assert rule_columns(list(METRICS)) == [
        f"share_removed.{rule}" for rule in ("easy", "similar", "zeal")
    ]


def test_empty_summary_has_all_columns() -> None:
    summary = summarise_sweep([])
    assert len(summary) == 0
    assert {"benchmark", "status", "kendall_tau_b", "wall_seconds"} <= set(summary.columns)


def test_spread_uses_finished_seeds() -> None:
    spread = spread_over_seeds(summarise_sweep(sweep_runs()))
    assert len(spread) == 1
    row = spread.iloc[0]
    assert (row["benchmark"], row["seeds"]) == ("arc", 2)
    assert row["share_removed_mean"] == pytest.approx(0.107)
    assert row["share_removed_sd"] == pytest.approx(0.001 * 2**0.5)
    assert row["kendall_tau_b_sd"] == 0
    assert pd.isna(row["kendall_tau_b.held_out_mean"])


def test_page_escapes_texts_and_links_reports(tmp_path: Path) -> None:
    folder = Path("/d/sweeps/now")
    write_summary(summarise_sweep(sweep_runs()), tmp_path, "smart", "now")
    page = render_sweep(summarise_sweep(sweep_runs()), "smart", "now", folder)
    assert "&lt;b&gt;no&lt;/b&gt; rows" in page
    assert "<b>no" not in page
    assert 'href="../../reports/a%20b.html"' in page
    assert "0.980" in page
    assert "[0.950, 0.990]" in page
    assert "40.0%" in page
    assert (
        "The share of items removed is between 10.6% (arc · smart · seed 0) and 10.8% (arc · "
        "smart · seed 1); Kendall tau-b with the ranking on all items is 0.980."
    ) in page
    outside_scripts = re.sub("(?s)<script>.*?</script>", "", page)
    assert "http" not in outside_scripts.replace('http-equiv="Content-Security-Policy"', "")
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        *("summary.csv", "summary.html", "summary.parquet")
    ]
    pd.testing.assert_frame_equal(
        pd.read_parquet(tmp_path / "summary.parquet"), summarise_sweep(sweep_runs())
    )


def dele_run(benchmark: str, **metrics: float) -> SweepRun:
    return SweepRun(Combination(benchmark, "dele", 0), "done", metrics=metrics)


def test_summary_of_samplers_has_no_columns_of_filters() -> None:
    summary = summarise_sweep([dele_run("arc", **{"n_items": 10.0, "spearman.random": 0.9})])
    assert not {"n_kept", "share_removed", "kendall_tau_b"} & set(summary.columns)
    assert summary["spearman.random"].tolist() == [0.9]


def test_means_over_benchmarks_need_every_run_and_count_seeds_once() -> None:
    rows: list[dict[str, Any]] = [
        {"benchmark": "arc", "variant": "dele", "seed": 0, "spearman.cpd": 0.9, "spearman.x": 1.0},
        {"benchmark": "arc", "variant": "dele", "seed": 1, "spearman.cpd": 0.7, "spearman.x": 1.0},
        {"benchmark": "mmlu", "variant": "dele", "seed": 0, "spearman.cpd": 0.4},
        {"benchmark": "mmlu", "variant": "other", "seed": 0, "spearman.cpd": 0.1},
    ]
    (mean,) = means_over_benchmarks(rows, ("spearman.",))
    assert mean["spearman.cpd"] == pytest.approx((0.8 + 0.4) / 2)
    assert "spearman.x" not in mean
    assert mean["benchmark"] == "Mean of 2"


@pytest.mark.parametrize(
    ("metrics", "title", "cells"),
    [
        (
            [
                {"spearman.random": 0.9, "wasserstein.random": 0.02},
                {"spearman.random": 0.8, "wasserstein.random": 0.04},
            ],
            "Samplers",
            ["0.850", "3.0%"],
        ),
        (
            [
                {"accuracy_mean.wicked.m": 0.5, "delta.wicked.m": -0.1},
                {"accuracy_mean.wicked.m": 0.4, "delta.wicked.m": -0.06},
            ],
            "Accuracy on perturbed copies",
            ["45.0%", "-8.0%"],
        ),
    ],
)
def test_page_has_the_first_table_of_each_paper_with_means(
    metrics: list[dict[str, float]], title: str, cells: list[str]
) -> None:
    runs = [dele_run(name, **own) for name, own in zip(("arc", "mmlu"), metrics, strict=True)]
    page = render_sweep(summarise_sweep(runs), "dele", "now", Path("/d"))
    table = page.partition(f">{title}</h2>")[2].partition("</table>")[0]
    mean = table.rpartition("Mean of 2")[2]
    assert [cell for cell in cells if cell not in mean] == []


def test_page_omits_tables_without_metrics(tmp_path: Path) -> None:
    summary = summarise_sweep([SweepRun(A, "done", 1.0)])
    write_summary(summary, tmp_path, "answers", "now")
    page = (tmp_path / "summary.html").read_text()
    assert "Share of items per filter" not in page
    assert "Rank agreement" not in page
    assert "Comparison with IRE" not in page


@pytest.mark.parametrize(
    ("states", "code"),
    [
        (["done"], 0),
        (["done", "failed"], 1),
        (["done", "interrupted", "not_run"], 130),
    ],
)
def test_exit_code_depends_on_the_statuses(states: list[str], code: int) -> None:
    runs = [SweepRun(A, state) for state in states]
    assert SweepResult(runs, summarise_sweep(runs), Path(), None).exit_code == code
