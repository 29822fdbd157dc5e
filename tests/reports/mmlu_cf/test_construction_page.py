"""What the page says: headline and warnings of several kinds of runs, nothing that is closed."""

import re
from typing import Any

import numpy as np
import pytest

from benchwright.params.mmlu_cf import CheckingParams, SamplingByDifficultyParams
from benchwright.reports.mmlu_cf.page import level_rows
from benchwright.tables.mmlu_cf import (
    CleaningFunnel,
    CleaningReasons,
    DifficultyCounts,
    DocumentsRead,
    DomainCounts,
    ExtractionMeasures,
    FieldAccuracy,
    FieldCounts,
    HalfDistances,
    LeakPairs,
    SamplingStrata,
    SplitAssignment,
)
from reports.mmlu_cf.construction_examples import HOSTILE, leak, making, run, told


def text(page: str) -> str:
    """The page's words between its tags, scripts and styles left out."""
    body = re.sub(r"<(script|style)[^>]*>.*?</\1>", "", page, flags=re.DOTALL)
    return " ".join(re.sub(r"<[^>]+>", " ", body).split()).replace("&#39;", "'")


def page_of(**changed: Any) -> str:
    judges = changed.pop("judges", False)
    inputs = {**making(judges=judges), **changed}
    return text(told(inputs)["construction_report"])


def test_without_judges_the_headline_says_so(unjudged: dict[str, Any]) -> None:
    said = text(unjudged["construction_report"])
    assert (
        "15 public and 15 closed questions from 20 documents of 2 domains; 80.0% of the 60 "
        "questions extracted are clean, 30 were sampled; nobody judged difficulty or quality."
    ) in said
    assert "Nobody judged difficulty: the questions may be of any" in said
    assert "Nobody checked the questions" in said
    assert said.index("Nobody judged difficulty:") < said.index("The field is right for")
    assert "No judge was asked." in said
    assert "No judge checked the questions, so all of them stayed." in said
    assert "strata (field" not in said  # one level for all is no shortfall of levels


def test_with_judges_the_headline_says_what_they_did(judged: dict[str, Any]) -> None:
    said = text(judged["construction_report"])
    assert (
        "30 were sampled; 2 judges rated the difficulty of 87.5% of the clean ones; 24 of "
        "30 passed the check of 2 judges."
    ) in said
    assert "Nobody" not in said.split("Step by step")[2]
    assert "Only 87.5% of 48 messages to able (difficulty) got a reply" in said
    assert "does not exist for harms, self harm: all ratings are equal." in said
    assert "(alpha below 0.667) in quality, clarity 0.31 [0.05, 0.50]." in said
    assert "difficulty, difficulty 0.71" not in said
    assert "12.5% of the clean questions have no level of difficulty" in said
    assert "went from 6.10 to 6.30 (0.20 [−0.05, 0.45], 24 questions rated both times)" in said


def test_what_nobody_could_read_is_not_told_as_judged() -> None:
    inputs = making(judges=True)
    counts = dict(inputs["checking_counts"])
    counts["reasons"] = {"good": 4, "unjudged": 20, "low_rating": 6}
    counts["sources"] = {"judges": 6, "responses": 36, "not_judged": 6}
    inputs["checking_counts"] = counts
    inputs["params:difficulty"] = inputs["params:difficulty"].model_copy(update={"at_most": 42})
    inputs["rating_shift"] = {**inputs["rating_shift"], "n": 1}
    said = page_of(**inputs)
    assert (
        "2 judges rated the difficulty of 12.5% of the clean ones, models' answers tell it of "
        "another 75.0%; 4 of 30 passed the check of 2 judges, 20 stay unjudged."
    ) in said
    assert "could not be sampled. `difficulty.at_most` asked about 42." in said.replace(
        "difficulty.at_most asked", "`difficulty.at_most` asked"
    )
    assert "1 question rated both times" in said


def test_judges_of_one_kind_alone() -> None:
    inputs = making(judges=True)
    without = making()
    inputs["checking_rounds"] = without["checking_rounds"]
    assert "rated the difficulty of 87.5% of the clean ones; nobody judged quality" in page_of(
        **inputs
    )
    inputs = making(judges=True)
    for name in ("difficulty_rounds", "difficulty_counts", "final_difficulty_rounds"):
        inputs[name] = without[name]
    assert "nobody judged difficulty; 24 of 30 passed" in page_of(**inputs)
    inputs["difficulty_counts"] = making(judges=True)["difficulty_counts"]
    assert "87.5% of the clean ones have a difficulty from models' answers" in page_of(**inputs)


def test_what_the_sample_lacks_is_said(judged: dict[str, Any]) -> None:
    said = text(judged["construction_report"])
    assert "The sample: 3 strata (field and level) have too few questions, 3 short" in said
    assert "questions asked for (" not in said
    said = page_of(**{"params:sampling_by_difficulty": SamplingByDifficultyParams(size=40)})
    assert "The sample has 30 of the 40 questions asked for" in said
    assert "10 questions short" in said
    said = page_of(judges=True, **{"params:checking": CheckingParams(judges=("able",), size=33)})
    assert "The benchmark has 30 of the 33 questions asked for ( checking.size ): 3 q" in said
    assert "30 of 33 asked for were taken of the 24 that passed" in said


def test_leaks_are_counted_and_those_that_stay_come_first() -> None:
    pairs = LeakPairs.from_rows(
        [
            leak("doc-1#1", "doc-2#1", moved=True),
            leak("doc-3#1", "sealed-a", "judged_same", removed="sealed-a"),
            leak("doc-4#1", "sealed-a", "same_words", similarity=0.9),
            leak("doc-5#1", "sealed-b", "certain", similarity=0.99),
            leak("doc-6#1", "sealed-c", "other_words", similarity=0.81),
        ]
    )
    inputs = {**making(), "public_leak_pairs": pairs}
    found = told(inputs)
    said = text(found["construction_report"])
    assert (
        "4 pairs of questions stood on both sides in other words: 1 moved into one half, 1 "
        "question dropped, 1 still there."
    ) in said
    notes = said.split("Know this first")[1]
    assert notes.strip().startswith("1 pair of questions that are one still stands on both sides")
    assert "No judge looked at 2 pairs of similar questions" in said
    metrics = found["construction_metrics"]
    names = ("leaks_found", "leaks_moved", "leaks_left", "items_removed_as_leaks")
    assert [metrics[name] for name in names] == [4, 1, 1, 1]
    for hidden in ("sealed-a", "sealed-b", "doc-1#1", "doc-5#1"):
        assert hidden not in found["construction_report"]


def test_no_leak_is_said_too(unjudged: dict[str, Any]) -> None:
    said = text(unjudged["construction_report"])
    assert "No question was found on both sides in other words." in said


def test_halves_further_apart_than_chance_are_a_warning(unjudged: dict[str, Any]) -> None:
    assert "more than 19 of 20" not in text(unjudged["construction_report"])
    row = ("field", 15, 15, 0.4, 0.17, 0.23, np.nan, 9.0, 2, 0.0001, "")
    said = page_of(half_distances=HalfDistances.from_rows([row]))
    assert "total variation of 0.400, more than 19 of 20 pairs of random halves (0.230)" in said
    assert "The halves differ in field more than 19 of 20 pairs of random halves do" in said
    assert "more than chance" in said
    assert "< 0.001" in said.replace("&lt;", "<")


def test_few_domains_one_that_gives_much_and_lost_documents(unjudged: dict[str, Any]) -> None:
    said = text(unjudged["construction_report"])
    assert "are of 2 known domains; the paper's are of more than 3,000" in said
    assert "One domain gave 41.7% of the clean questions." in said
    assert "1 document could not be read and was left out." in said
    assert "an accuracy near 50% is known to ±25.3 points" in said
    many = DomainCounts.from_rows([(f"d{n:03d}.org", 1, 3, 2) for n in range(100)])
    said = page_of(domain_counts=many)
    assert "known domain" not in said
    assert "One domain gave" not in said


def test_labels_that_are_not_there_are_said_to_be_missing() -> None:
    said = page_of(
        extraction_measures=ExtractionMeasures.empty(),
        field_accuracy=FieldAccuracy.empty(),
    )
    assert "precision and recall of extraction are not known" in said
    assert "Nobody knows how often the fields are right" in said


def test_data_is_shown_as_text_and_places_on_disk_are_not(judged: dict[str, Any]) -> None:
    page = judged["construction_report"]
    assert HOSTILE not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;.example.org" in page
    scripts = re.findall(r"<script[^>]*>", page)
    assert len([tag for tag in scripts if tag != "<script>"]) == page.count('class="plot" id=')
    assert "/somebody/home" not in page
    assert "documents.jsonl 9 4 0" in text(page)
    assert "/secret/place" not in page


def test_the_page_shows_no_id_of_a_question(
    judged: dict[str, Any], unjudged: dict[str, Any]
) -> None:
    for found in (judged, unjudged):
        for item_id in making(judges=found is judged)["public_split_assignment"]["item_id"]:
            assert item_id not in found["construction_report"]


def test_the_same_inputs_give_the_same_bytes(judged: dict[str, Any]) -> None:
    again = run(making(judges=True))
    assert again["construction_report"] == judged["construction_report"]


def test_tables_without_rows_still_make_a_page() -> None:
    empty = {
        "documents_read": DocumentsRead,
        "domain_counts": DomainCounts,
        "extraction_measures": ExtractionMeasures,
        "cleaning_funnel": CleaningFunnel,
        "cleaning_reasons": CleaningReasons,
        "field_counts": FieldCounts,
        "field_accuracy": FieldAccuracy,
        "difficulty_counts": DifficultyCounts,
        "sampling_strata": SamplingStrata,
        "final_strata": SamplingStrata,
        "half_distances": HalfDistances,
        "public_split_assignment": SplitAssignment,
        "public_leak_pairs": LeakPairs,
    }
    nothing = {"sampled": 0, "checked": 0, "final": 0, "reasons": {}, "harms": {}, "sources": {}}
    found = run(
        {
            **making(),
            **{name: model.empty() for name, model in empty.items()},
            "checking_counts": nothing,
            "rule_counts": {"rules": {}, "rephrase_checks": {}},
        }
    )
    said = text(found["construction_report"])
    assert "No benchmark was made: 0 questions found in 0 documents of 0 domains" in said
    assert "No rule was applied." in said
    assert "There are no halves to compare." in said
    assert found["construction_metrics"]["clean_items"] == 0
    assert "share_clean" not in found["construction_metrics"]


def test_metrics_are_flat_numbers(judged: dict[str, Any], unjudged: dict[str, Any]) -> None:
    metrics = judged["construction_metrics"]
    expected = {
        "documents": 20,
        "raw_items": 60,
        "share_clean": 0.8,
        "final_items": 24,
        "public_items": 12,
        "strata_missing": 3,
        "shortfall": 0,
        "share_rated": 0.875,
        "extraction.recall": 0.9,
        "extraction.precision": 0.9375,
        "field_accuracy.documents": 0.7,
        "parse_rate.difficulty.able": 0.875,
        "parse_rate.final_difficulty.baker": 1.0,
        "alpha.difficulty.difficulty": 0.71,
        "total_variation.field": 0.08,
        "chance_95.field": 0.23,
        "share_altered.shuffle_choices": 22 / 24,
        "share_altered.replace_choice": 9 / 24,
        "difficulty_shift_by_rules": 0.2,
    }
    assert {name: metrics[name] for name in expected} == pytest.approx(expected)
    assert "alpha.harms.self_harm" not in metrics  # it does not exist
    assert all(isinstance(value, float) for value in metrics.values())
    assert not [name for name in unjudged["construction_metrics"] if name.startswith("alpha")]
    assert unjudged["construction_metrics"]["strata_missing"] == 0


def test_the_table_of_levels_has_those_known_and_the_others_last() -> None:
    found = level_rows(making(judges=True)["difficulty_counts"])
    assert [pool["n"] for pool in found["pools"]] == [48, 30, 24, 24]
    assert [row["level"] for row in found["rows"]] == ["5", "6", "7", "not known"]
    assert [cell["n"] for cell in found["rows"][2]["cells"]] == [10, 9, 8, 10]
    assert [row["expected"] for row in found["rows"]] == [0.3, 0.4, 0.3, None]
    assert [cell["n"] for cell in found["rows"][3]["cells"]] == [6, 0, 0, 0]
