"""The construction page: headline and warnings of several kinds of runs, nothing closed."""

import re
from typing import Any

import numpy as np
import pytest

from benchwright.methods.mmlu_cf.public_half import read_public_half
from benchwright.params.mmlu_cf import CheckingParams, SamplingByDifficultyParams
from benchwright.reports.mmlu_cf.plots import plot_difficulty_levels
from reports.mmlu_cf.construction_examples import (
    HOSTILE,
    DifficultyCounts,
    DomainCounts,
    ExtractionMeasures,
    HalfDistances,
    LeakCounts,
    making,
    run,
)
from reports.page_text import text


@pytest.fixture(scope="module")
def unjudged() -> dict[str, Any]:
    """Inputs and outputs where no judge was named."""
    return run(making())


@pytest.fixture(scope="module")
def judged() -> dict[str, Any]:
    """The same where two judges rated and checked."""
    return run(making(judges=True))


def page_of(**changed: Any) -> str:
    judges = changed.pop("judges", False)
    inputs = {**making(judges=judges), **changed}
    return text(run(inputs)["construction_report"])


def test_the_headline_reports_missing_judges(unjudged: dict[str, Any]) -> None:
    shown = text(unjudged["construction_report"])
    assert (
        "A draft: no judge has checked the 15 public and 15 closed questions from 20 documents of "
        "2 domains. 80.0% of the 60 questions extracted are clean 0.0% of the clean questions have "
        "a known difficulty none of the sampled questions passed a check"
    ) in shown
    assert "No judge rated difficulty, so the sample treats all questions as" in shown
    assert "No judge checked the questions, so wrong" in shown
    assert shown.index("No judge rated difficulty, so") < shown.index("The clean questions")
    assert "No judge was asked." in shown
    assert "The number of domains is 2 in the sample and 1 in the 30 final questions" in shown
    assert "of which 7 have an explanation" in shown


def test_the_headline_reports_the_results_of_judges(judged: dict[str, Any]) -> None:
    shown = text(judged["construction_report"])
    assert (
        "12 public and 12 closed questions from 20 documents of 2 domains; 24 of 30 passed the "
        "check by 2 judges. "
    ) in shown
    assert "No judge" not in shown
    assert "Only 87.5% of 48 prompts to able (difficulty) got a readable reply" in shown
    assert "all ratings are equal" in shown
    assert "(alpha below 0.667) on clarity (0.31)." in shown
    assert "12.5% of the clean questions have no difficulty level" in shown


def test_unreadable_replies_and_rephrased_questions_are_counted() -> None:
    inputs = making(judges=True)
    inputs["checking_counts"]["reasons"] = {"good": 4, "unjudged": 20, "low_rating": 6}
    for altered, warned in ((0, True), (1, False)):
        inputs["rule_counts"]["rules"]["rephrase"] = {"altered": altered}
        shown = page_of(**inputs)
        assert ("Every question keeps the wording of its document" in shown) == warned
    assert "4 of 30 passed the check by 2 judges, 20 remain unjudged." in shown


def test_a_shortfall_of_the_sample_is_a_warning(judged: dict[str, Any]) -> None:
    shown = text(judged["construction_report"])
    assert "30 of 30 requested questions were sampled. The number of domains" in shown
    assert "questions requested (" not in shown
    shown = page_of(**{"params:sampling_by_difficulty": SamplingByDifficultyParams(size=40)})
    assert "The sample has only 30 of the 40 questions requested" in shown
    shown = page_of(judges=True, **{"params:checking": CheckingParams(judges=("able",), size=33)})
    assert "The benchmark has only 24 of the 33 questions requested ( checking.size )" in shown


def test_pairs_that_ask_the_same_are_counted() -> None:
    pairs = [("certain", 2), ("judged_same", 1), ("other_words", 1), ("same_words", 1)]
    result = run({**making(), "leak_counts": LeakCounts.from_rows(pairs)})
    shown = text(result["construction_report"])
    assert "No judge compared 2 pairs of similar questions" in shown
    assert result["construction_metrics"]["same_pairs"] == 4
    assert "same question (similarity) 2" in shown


def test_halves_domains_documents_and_labels_have_warnings(unjudged: dict[str, Any]) -> None:
    usual = text(unjudged["construction_report"])
    assert "come from 2 known domains; the paper uses more than 3,000" in usual
    assert "1 document could not be read; the dataset" in usual
    assert "more than chance" not in usual
    shown = page_of(
        half_distances=HalfDistances.from_rows([("field", 15, 15, 0.4, 0.23)]),
        domain_counts=DomainCounts.from_rows([(f"d{n:03d}.org", 1, 3, 2) for n in range(100)]),
        extraction_measures=ExtractionMeasures.empty(),
    )
    assert "The halves differ in field more than chance explains: the total variation of" in shown
    assert "known domain" not in shown
    assert "The accuracy of extraction is unknown: no document" in shown


def test_data_is_escaped_and_ids_and_paths_are_hidden(judged: dict[str, Any]) -> None:
    page = judged["construction_report"]
    assert HOSTILE not in page
    assert re.findall(r"<script[^>]*>", page) == ["<script>"]
    ids = making(judges=True)["public_split_assignment"]["item_id"]
    assert [secret for secret in ("/somebody/home", "/secret/place", *ids) if secret in page] == []
    assert run(making(judges=True))["construction_report"] == page


def test_three_public_questions_of_each_field_are_shown_with_the_answer(
    unjudged: dict[str, Any],
) -> None:
    page = unjudged["construction_report"]
    shown = text(page).split("Questions of the public half")[-1].split("Provenance")[0]
    assert shown.count("What is <i>") + shown.count("What is &lt;i&gt;") == 4
    assert shown.index("Law") < shown.index("Math")
    assert shown.count("this (key) that") == 4
    assert "<i>" not in page.split('id="examples"')[1]
    files = {"validation.jsonl": making()["sealed_benchmark"]["validation.jsonl"]}
    half = read_public_half(files, seed=0)
    assert {field: len(questions) for field, questions in half.items()} == {"Law": 3, "Math": 1}
    reverse = {"validation.jsonl": b"\n".join(files["validation.jsonl"].split(b"\n")[::-1])}
    assert read_public_half(reverse, seed=0) == half


def test_empty_tables_give_a_page() -> None:
    tables = ("documents_read", "domain_counts", "extraction_measures", "cleaning_funnel")
    tables += ("cleaning_reasons", "field_counts", "difficulty_counts", "sampling_strata")
    tables += ("half_distances", "public_split_assignment", "leak_counts")
    none = {"sampled": 0, "final": 0}
    nothing = {**none, "checked": 0, "reasons": {}, "harms": {}, "sources": {}}
    nothing |= {"domains": none, "explained": none}
    result = run(
        {
            **making(),
            **{name: making()[name].iloc[:0] for name in tables},
            "checking_counts": nothing,
            "rule_counts": {"rules": {}, "rephrase_checks": {}},
            "sealed_benchmark": {"validation.jsonl": b""},
        }
    )
    shown = text(result["construction_report"])
    assert "No benchmark was made: 0 questions extracted from 0 documents of 0 domains" in shown
    assert "No rule was applied." in shown
    assert "There are no halves to compare." in shown
    assert result["construction_metrics"]["clean_items"] == 0
    assert "share_clean" not in result["construction_metrics"]


def test_tables_have_fields_and_rules(judged: dict[str, Any]) -> None:
    shown = text(judged["construction_report"])
    assert "n choices reject 60 10 0 50" in shown
    assert "History 16 3 5 4 0.500" in shown


def bars(plot: Any, trace: int = 0, what: str = "x") -> dict[str, Any]:
    """Return the lengths of bars, or their notes, by the name of the row."""
    chart = plot
    return dict(zip(chart["layout"]["yaxis"]["ticktext"], chart["data"][trace][what], strict=True))


def test_the_funnel_goes_from_documents_to_halves(
    judged: dict[str, Any], unjudged: dict[str, Any]
) -> None:
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
    inputs = making(judges=True)
    inputs["checking_counts"]["final"] = 20
    plot = run(inputs)["construction_funnel_plot"]
    assert (bars(plot)["final sample"], bars(plot, 1)["final sample"]) == (20, 4)
    assert "30, no judge" in bars(unjudged["construction_funnel_plot"], 1, "text").values()


def test_levels_of_each_step_are_shown_with_the_target(judged: dict[str, Any]) -> None:
    target, *pools = judged["difficulty_levels_plot"]["data"]
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
    assert pools[3]["y"][7] == pytest.approx(10 / 24, abs=1e-6)


def test_level_0_is_a_level_and_unknown_ones_are_not_drawn() -> None:
    rows = [("rated", -1, 5, 0.5, np.nan), ("rated", 0, 2, 0.2, np.nan), ("rated", 4, 3, 0.3, 0.1)]
    plot = plot_difficulty_levels(DifficultyCounts.from_rows(rows))
    (rated,) = plot["data"]
    assert rated["x"] == list(range(10))
    assert rated["y"] == [0.2, 0, 0, 0, 0.3, 0, 0, 0, 0, 0]
    none = plot_difficulty_levels(DifficultyCounts.from_rows(rows[:1]))
    assert none["layout"]["annotations"][0]["text"] == "No question has a difficulty level."
