"""The plots of the construction report show the numbers of the tables."""

import json
from typing import Any

import numpy as np
import pytest

from benchwright.reports.mmlu_cf.plots.difficulty import plot_difficulty_levels, plot_strata
from benchwright.reports.mmlu_cf.plots.domains_and_fields import (
    plot_domains,
    plot_field_halves,
    top_domains,
)
from benchwright.reports.mmlu_cf.plots.judges import plot_judge_agreement, plot_parse_rates
from benchwright.tables.mmlu_cf import (
    DifficultyCounts,
    DomainCounts,
    JudgeAgreement,
    LeakCounts,
    SamplingStrata,
    SplitAssignment,
)
from reports.mmlu_cf.construction_examples import making, run


def as_json(plot: Any) -> dict[str, Any]:
    return dict(json.loads(plot.to_json()))


def bars(plot: Any, trace: int = 0) -> dict[str, float]:
    data = as_json(plot)["data"][trace]
    return dict(zip(data["y"], data["x"], strict=True))


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
    notes = dict(zip(removed, as_json(plot)["data"][1]["text"], strict=True))
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
    assert dict(zip(target["x"], target["y"], strict=True)) == {"5": 0.3, "6": 0.4, "7": 0.3}
    assert [pool["name"] for pool in pools] == [
        "rated (n = 48)",
        "sampled (n = 30)",
        "checked (n = 24)",
        "final (n = 24)",
    ]
    rated = pools[0]
    assert rated["x"][:10] == [str(level) for level in range(10)]
    assert rated["y"][6] == pytest.approx(20 / 48)
    assert rated["customdata"][5:8] == [12, 20, 10]
    assert rated["x"][-2:] == ["?", "?"]
    assert rated["y"][-2:] == [None, pytest.approx(6 / 48)]  # no line from 9 to "unknown"
    assert pools[3]["y"][7] == pytest.approx(10 / 24)


def test_unknown_levels_are_not_shown_if_all_are_known() -> None:
    counts = DifficultyCounts.from_rows(
        [("rated", -1, 0, 0.0, np.nan), ("rated", 4, 5, 1.0, np.nan)]
    )
    plot = as_json(plot_difficulty_levels(counts))
    assert [trace["name"] for trace in plot["data"]] == ["rated (n = 5)"]
    assert "?" not in plot["data"][0]["x"]
    assert "?" not in plot["layout"]["meta"]["caption"]


def test_without_levels_the_plot_gives_the_reason(unjudged: dict[str, Any]) -> None:
    assert "No question has a difficulty level" in note(unjudged["difficulty_levels_plot"])


def test_fields_of_both_halves_are_counted(judged: dict[str, Any]) -> None:
    plot = as_json(judged["field_halves_plot"])
    public, closed = plot["data"]
    names = plot["layout"]["yaxis"]["ticktext"]
    assert dict(zip(names, public["x"], strict=True)) == {"History": 5, "Math": 4, "Law": 3}
    assert dict(zip(names, closed["x"], strict=True)) == {"History": 4, "Math": 4, "Law": 4}


def test_the_largest_domains_are_shown_and_the_others_summarised() -> None:
    counts = DomainCounts.from_rows([(f"d{n}.org", 1, 30 - n, 20 - n) for n in range(20)])
    top = top_domains(counts, 3)
    assert top["domain"].tolist() == ["d0.org", "d1.org", "d2.org", "17 other domains"]
    assert top.iloc[3][["documents", "raw_items", "clean_items"]].tolist() == [17, 323, 153]
    assert len(top_domains(counts, 19)) == 20  # a single further domain has its own row
    plot = as_json(plot_domains(counts))
    clean, rejected = plot["data"]
    assert clean["x"][:2] == [20, 19]
    assert rejected["x"][:2] == [10, 10]
    assert clean["x"][12] == rejected["x"][12] == 0
    assert rejected["text"][12] == f"{sum(range(1, 9))} of {sum(range(11, 19))} · 8 documents"
    assert plot["layout"]["xaxis"]["range"][1] < 50


def test_a_domain_that_looks_like_html_stays_text(judged: dict[str, Any]) -> None:
    labels = as_json(judged["domains_plot"])["layout"]["yaxis"]["ticktext"]
    assert labels == [
        "a.example.org",
        "&lt;script&gt;alert(1)&lt;/script&gt;.example.org",
        "unknown",
    ]


def test_agreement_has_intervals_and_marks_undefined_alphas(judged: dict[str, Any]) -> None:
    plot = as_json(judged["judge_agreement_plot"])
    (points,) = plot["data"]
    assert points["x"] == [0.71, 0.31, None]
    assert points["error_x"]["array"][:2] == pytest.approx([0.12, 0.19])
    assert points["error_x"]["arrayminus"][:2] == pytest.approx([0.16, 0.26])
    assert plot["layout"]["yaxis"]["ticktext"][2] == "harms: self harm"
    assert [(note["y"], note["text"]) for note in plot["layout"]["annotations"]] == [
        (2, "no alpha")
    ]
    assert "all ratings are equal" in points["customdata"][2][1]


def test_parse_rates_are_shares_of_the_first_prompts(judged: dict[str, Any]) -> None:
    plot = as_json(judged["parse_rates_plot"])
    at_once, later, never = (trace["x"] for trace in plot["data"])
    names = plot["layout"]["yaxis"]["ticktext"]
    assert names[:2] == ["difficulty: able", "difficulty: baker"]
    assert names[-1] == "final: baker"
    assert (at_once[0], later[0], never[0]) == pytest.approx((36 / 48, 6 / 48, 6 / 48))
    assert (at_once[2], later[2], never[2]) == pytest.approx((1, 0, 0))


def test_strata_show_sampled_and_target(judged: dict[str, Any], unjudged: dict[str, Any]) -> None:
    (cells,) = as_json(judged["strata_plot"])["data"]
    assert cells["x"] == ["5", "6", "7"]
    assert cells["text"] == [["2/3", "5/4", "3/3"]] * 3
    assert cells["z"] == [[-1, 1, 0]] * 3
    sampled, target = as_json(unjudged["strata_plot"])["data"]
    assert sampled["x"] == target["x"] == [10, 10, 10]
    assert as_json(unjudged["strata_plot"])["layout"]["yaxis"]["ticktext"] == [
        "History",
        "Law",
        "Math",
    ]


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
        (plot_judge_agreement(JudgeAgreement.empty()), "Fewer than two judges"),
        (plot_parse_rates([]), "No judge was asked"),
        (
            plot_strata(SamplingStrata.empty(), DifficultyCounts.empty()),
            "Nothing was sampled",
        ),
    ],
)
def test_an_empty_table_gives_a_plot_with_the_reason(plot: Any, why: str) -> None:
    assert why in note(plot)
