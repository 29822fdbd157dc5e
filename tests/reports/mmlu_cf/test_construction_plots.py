"""The plots of the construction report show the numbers of the tables."""

import json
from typing import Any

import numpy as np
import pytest

from benchwright.reports.mmlu_cf.plots import (
    plot_cleaning_funnel,
    plot_difficulty_levels,
    plot_domains,
    plot_field_halves,
    plot_strata,
)
from benchwright.tables.mmlu_cf import CleaningFunnel, SplitAssignment
from reports.mmlu_cf.construction_examples import (
    DifficultyCounts,
    DomainCounts,
    LeakCounts,
    SamplingStrata,
    making,
    run,
)


def as_json(plot: Any) -> dict[str, Any]:
    return dict(json.loads(plot.to_json()))


def bars(plot: Any, trace: int = 0, what: str = "x") -> dict[str, Any]:
    """Return the lengths of bars, or their notes, by the name of the row."""
    chart = as_json(plot)
    return dict(zip(chart["layout"]["yaxis"]["ticktext"], chart["data"][trace][what], strict=True))


def note(plot: Any) -> str:
    return str(as_json(plot)["layout"]["annotations"][0]["text"])


def test_the_funnel_goes_from_documents_to_halves(judged: dict[str, Any]) -> None:
    plot = judged["construction_funnel_plot"]
    assert bars(plot) == {
        "documents": 0,
        "questions extracted": 60,
        "clean": 48,
        "sampled": 30,
        "checked": 24,
        "after the rules": 24,
        "public half": 12,
        "closed half": 12,
    }
    removed = bars(plot, 1)
    assert (removed["clean"], removed["sampled"], removed["checked"]) == (12, 18, 6)
    notes = bars(plot, 1, "text")
    assert notes["documents"] == "20 of 2 domains"
    assert notes["clean"] == "48 · 80.0%"
    assert notes["after the rules"] == "at least 22 altered"


def test_the_funnel_shows_the_final_sample_and_leaks() -> None:
    inputs = making(judges=True)
    inputs["checking_counts"]["final"] = 20
    inputs["leak_counts"] = LeakCounts.from_rows([("certain", 1, 0, 1, 0)])
    plot = run(inputs)["construction_funnel_plot"]
    assert bars(plot)["final sample"] == 20
    assert bars(plot, 1)["final sample"] == 4
    assert "1 removed as leaks" in " ".join(as_json(plot)["data"][1]["text"])


def test_the_funnel_names_a_check_without_judges(unjudged: dict[str, Any]) -> None:
    texts = as_json(unjudged["construction_funnel_plot"])["data"][1]["text"]
    assert "30, no judge" in texts


def test_levels_of_each_step_are_shown_with_the_target(judged: dict[str, Any]) -> None:
    target, *pools = as_json(judged["difficulty_levels_plot"])["data"]
    assert dict(zip(target["x"], target["y"], strict=True)) == {5: 0.3, 6: 0.4, 7: 0.3}
    assert [pool["name"] for pool in pools] == [
        "rated (n = 48)",
        "sampled (n = 30)",
        "checked (n = 24)",
        "final (n = 24)",
    ]
    rated = pools[0]
    assert rated["y"][6] == pytest.approx(20 / 48, abs=1e-6)
    assert rated["hovertext"][5] == "rated (n = 48), level 5: 25.0%, n = 12"
    assert rated["x"][10:] == [None, 10]  # no line from 9 to "unknown"
    assert rated["y"][10:] == [None, pytest.approx(6 / 48)]
    assert pools[3]["y"][7] == pytest.approx(10 / 24, abs=1e-6)


def test_level_0_is_a_level_and_not_unknown() -> None:
    counts = DifficultyCounts.from_rows(
        [("rated", -1, 0, 0.0, np.nan), ("rated", 0, 2, 0.4, np.nan), ("rated", 4, 3, 0.6, np.nan)]
    )
    plot = as_json(plot_difficulty_levels(counts))
    (rated,) = plot["data"]
    assert rated["x"] == list(range(10))
    assert rated["y"][0] == 0.4
    assert "?" not in plot["layout"]["meta"]["caption"]
    assert plot["layout"]["xaxis"]["ticktext"] == [str(level) for level in range(10)]


def test_fields_of_both_halves_are_counted(judged: dict[str, Any]) -> None:
    plot = as_json(judged["field_halves_plot"])
    public, closed = plot["data"]
    names = plot["layout"]["yaxis"]["ticktext"]
    assert dict(zip(names, public["x"], strict=True)) == {"History": 5, "Math": 4, "Law": 3}
    assert dict(zip(names, closed["x"], strict=True)) == {"History": 4, "Math": 4, "Law": 4}
    assert (public["name"], closed["name"]) == ("public half", "closed half")


@pytest.mark.parametrize(("n", "rest"), [(20, 8), (14, 2), (13, 0), (12, 0)])
def test_the_largest_domains_are_shown_and_the_others_summarised(n: int, rest: int) -> None:
    counts = DomainCounts.from_rows([(f"d{i}.org", 1, 30 - i, 20 - i) for i in range(n)])
    plot = plot_domains(counts)
    clean, rejected, notes = bars(plot), bars(plot, 1), bars(plot, 1, "text")
    assert (clean["d1.org"], rejected["d1.org"]) == (19, 10)
    assert notes["d1.org"] == "19 of 29 · 1 document"
    assert len(clean) == (13 if rest else n)  # a single further domain has its own row
    if rest:
        name = f"{rest} other domains"
        assert clean[name] == rejected[name] == 0
        sums = [sum(start - i for i in range(12, n)) for start in (20, 30)]
        assert notes[name] == f"{sums[0]} of {sums[1]} · {rest} documents"


def test_the_cleaning_funnel_counts_what_each_rule_did() -> None:
    rows = [
        (1, "n_choices", "reject", 60, 0, 10, 50),
        (2, "labels", "rewrite", 50, 12, 0, 50),
        (3, "too_long", "reject", 50, 0, 0, 50),
    ]
    plot = plot_cleaning_funnel(CleaningFunnel.from_rows(rows))
    assert bars(plot) == {"raw items": 60, "n choices": 50, "labels": 50, "too long": 50}
    assert bars(plot, 1) == {"raw items": 0, "n choices": 10, "labels": 0, "too long": 0}
    assert list(bars(plot, 1, "text").values()) == [
        *("60", "−10 → 50", "12 rewritten", "50 · 83.3%")
    ]


def test_a_domain_that_looks_like_html_stays_text(judged: dict[str, Any]) -> None:
    labels = as_json(judged["domains_plot"])["layout"]["yaxis"]["ticktext"]
    assert labels == [
        "a.example.org",
        "&lt;script&gt;alert(1)&lt;/script&gt;.example.org",
        "unknown",
    ]


def test_strata_show_sampled_and_target(judged: dict[str, Any], unjudged: dict[str, Any]) -> None:
    (cells,) = as_json(judged["strata_plot"])["data"]
    assert as_json(judged["strata_plot"])["layout"]["xaxis"]["ticktext"] == ["5", "6", "7"]
    assert cells["text"] == [["2/3", "5/4", "3/3"]] * 3
    assert cells["z"] == [[-1, 1, 0]] * 3
    plot = as_json(unjudged["strata_plot"])
    assert plot["data"][0]["text"] == [["10/10"]] * 3
    assert plot["layout"]["xaxis"]["ticktext"] == ["unknown"]


def test_an_absent_stratum_is_not_shown_as_zero() -> None:
    strata = SamplingStrata.from_rows(
        [("Law", 5, 2, 2, 2, 0), ("Math", 5, 0, 9, 0, 0), ("Math", 6, 3, 1, 1, 2)]
    )
    (cells,) = as_json(plot_strata(strata, making(judges=True)["difficulty_counts"]))["data"]
    assert cells["text"] == [["2/2", ""], ["", "1/3"]]
    assert cells["z"] == [[0, None], [None, -2]]


@pytest.mark.parametrize(
    ("plot", "why"),
    [
        (plot_difficulty_levels(DifficultyCounts.empty()), "No question has a difficulty level"),
        (plot_domains(DomainCounts.empty()), "No question was extracted"),
        (plot_field_halves(SplitAssignment.empty()), "no questions"),
        (plot_cleaning_funnel(CleaningFunnel.empty()), "No rule ran"),
        (
            plot_cleaning_funnel(CleaningFunnel.from_rows([(1, "labels", "reject", 0, 0, 0, 0)])),
            "no question was extracted",
        ),
        (
            plot_strata(SamplingStrata.empty(), DifficultyCounts.empty()),
            "Nothing was sampled",
        ),
    ],
)
def test_an_empty_table_gives_a_plot_with_the_reason(plot: Any, why: str) -> None:
    assert why in note(plot)
