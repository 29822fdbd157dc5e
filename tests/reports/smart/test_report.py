"""The report: a single page that agrees with the tables and escapes data."""

import json
import re
from base64 import b64encode
from hashlib import sha256
from typing import Any

import numpy as np
import pandas as pd
import pytest
from selectolax.lexbor import LexborHTMLParser

from benchwright.core.response_matrix import ResponseMatrix
from benchwright.params.evaluation import EvaluationParams
from benchwright.tables.evidence import RandomComparison
from benchwright.tables.items import RejectedItems
from benchwright.tables.responses import (
    AnswerCoverage,
    Calibration,
    ImportReport,
    Models,
)
from benchwright.tables.similarity import DistanceDensity
from benchwright.tables.smart import (
    Groups,
    LabelErrorRates,
    ReviewAgreement,
    Verdicts,
)
from reports.page_text import text


class Page:
    """A page with its text, its elements and its items."""

    def __init__(self, html: str) -> None:
        self.tree, self.text = LexborHTMLParser(html), text(html)

    def all(self, selector: str, name: str = "") -> list[Any]:
        """Return the elements of a selector, or an attribute of each."""
        found = self.tree.css(selector)
        return [node.attributes[name] for node in found] if name else found

    def listed(self) -> list[dict[str, Any]]:
        columns = json.loads(self.all("#item-data")[0].text())["items"]
        return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


@pytest.fixture
def page(report) -> Any:
    """The report of the small benchmark with some inputs replaced."""
    return lambda **changed: Page(report(**changed)["report"])


def test_page_agrees_with_the_tables_of_every_section(page) -> None:
    seen = page(ire_fit={"in_sample": True})
    for fragment in (
        "Do not rank models by these 50 of 60 items: they change the order of 6 of 12 clearly ",
        "6 of 12 (50.0%) clearly different pairs",
        "10 of 60 (17%) items saved",
        "Found on the way: 10 easy (9 removed), 1 suspect label (none removed) and 2 similar",
        "answer only All filter models find the answer from the options alone, without the "
        "question. Such an item is a poor test; this does not prove that it was memorised. not run "
        "no answers without the question — — — — —",
        "55 91.7% 1 1 0 0.00%",  # of the rule that judged only some items
        "Kendall tau-b of the rankings of 4 held-out models on all and on the kept items: 0.928 "
        "[0.891, 0.953]. 1,000 random subsets of the same size have a mean of 0.975 and a middle "
        "95% of [0.950, 0.990]; this subset is at percentile 2 of them (ties count half).",
        "0.928 [0.891, 0.953] over models [0.800, 0.990]",
        "2 models, at least 3 are needed",
        "Clearly different pairs in the same order 50.0% — 2 models, at least 3 are needed 50.0% "
        "Clearly different pairs 12 12 12",
        "Metric of tomorrow",
        "p of their difference (Williams)",
        "Comparison with random subsets of the same size: 22 held-out models",
        "Kendall tau-b This run 50 items 0.928 — 0.975 [0.950, 0.990] 2",
        "Range of the best models, points This run 50 items 11.8 7.5",
        "IRE is fitted on all models, so its row is in-sample",
        "δ = 0.250: the only peak of the density, halved.",
        "have a neighbour closer than δ.",
        "1 group with 2 items.",
        "Question 30: which one?",  # the suspect label
        "50 of 60 are shown, by the lower bound of the share of wrong answers",
        "kept 44 4 9.1% [3.6%, 21.0%]",
        "easy 9 7 1 1 77.8% [45.0%, 94.0%]",
        "All 60 items with the reason",
        "7: 3 options, 4 wanted",  # the rejected row
        "3 imported responses whose correctness",
        "2 imported responses that cannot be read, counted as wrong.",
        "Not used: bad.csv: not UTF-8",
        "Responses: 1 of 2 configurations have missing ones",
        "zen/gamma question recorded 56 0 3 1",
        "Filter models acme/alpha@cloze-3, acme/beta@cloze-3 ",
        *("CC0", "Nobody (2024), Nothing.", "Seed 0", "nobody/demo", "numpy", "similar.k"),
    ):
        assert fragment in seen.text, fragment
    assert [item["decision"] for item in seen.listed()] == ["removed"] * 10 + ["kept"] * 50
    levels = [int(node.tag[1]) for node in seen.all("h1, h2, h3, h4")]
    assert levels.count(1) == 1
    assert max(np.diff(levels)) == 1  # no heading level is skipped


def test_settings_change_the_description_of_the_method(page, small) -> None:
    found = small.inputs()["similarity_threshold"]
    found |= {"branch": "fixed", "limit": 0.2, "items_within": 0, "share_within": 0.0}
    rule = {"choose": "forward", "count": 2, "distinct": "family"}
    changed = {"params:filter_models": rule}
    coverage = small.inputs()["rule_coverage"]
    why = "3 are too few; reported, not removed: name them"
    coverage.loc[coverage["rule"] == "easy", ["removed", "reason"]] = 0, why
    changed["rule_coverage"] = coverage
    text = page(similarity_threshold=found, **changed, **{"params:limit": 60}).text
    assert f"The rule “easy” removed nothing: {why}." in text
    assert "The run is limited to 60 items." in text
    assert "imported responses that match no item of this run" in text
    assert "δ = 0.250: set by hand." in text
    assert "0 items have a neighbour closer than 0.2 ( similar.max_distance )." in text


def test_report_does_not_depend_on_row_order(report, small) -> None:
    inputs = small.inputs()
    shuffled = dict(inputs)
    for name in ("items", "item_audit", "verdicts", "kept_items", "groups", "models_table"):
        shuffled[name] = inputs[name].iloc[::-1].reset_index(drop=True)
    matrix = inputs["response_matrix"]
    shuffled["response_matrix"] = matrix.select_models(matrix.models[::-1]).select_items(
        matrix.item_ids[::-1]
    )
    first = report()["report"]
    assert report(**inputs)["report"] == first
    assert report(**shuffled)["report"] == first


def test_page_is_small_loads_nothing_and_runs_its_script_only(report) -> None:
    html = report()["report"]
    assert len(html) < 500_000
    page = Page(html)
    assert page.all("[src], [srcset], [action]") == []
    assert page.all("link", "href") == ["data:,"]
    anchors, ids = page.all("a", "href"), page.all("[id]", "id")
    assert [link for link in anchors if link.split("?")[0][1:] not in ids] == []
    assert "#items?rule=easy" in anchors
    assert "#items?rule=answer_only" not in anchors  # it flagged nothing
    assert len(page.all("svg")) == 4
    allowed = re.findall(r"sha256-([A-Za-z0-9+/=]+)", html[: html.index("</head>")])
    scripts = re.findall(r"<script>(.*?)</script>", html, re.DOTALL)
    digests = [b64encode(sha256(script.encode()).digest()).decode() for script in scripts]
    assert (digests, len(digests)) == (allowed, 1)


def test_items_with_markup_are_plain_text(page, small) -> None:
    items = small.items()
    items["subject"] = small.nasty
    items["choices"] = [[small.nasty, "b", "c", "d"]] * len(items)
    groups = Groups.from_rows(
        [("g", "demo/000", "similar", True), ("g", "demo/001", "similar", False)]
    )
    seen = page(items=items, groups=groups)
    assert "<script>alert(1)</script> & </script><img src=x" in seen.text
    assert "{{ 7 * 7 }}" in seen.text  # data is never a template
    assert seen.all("img") == []
    assert len(seen.all("script")) == 2
    assert {item["question"] for item in seen.listed()} >= {small.nasty}


def test_verdict_says_that_nothing_was_removed_or_few_models_are_held_out(page, small) -> None:
    text = page(kept_items=small.items()).text
    assert "Use all 60 items: none was removed." in text
    text = page(**{"params:evaluation_models": [*small.models[:3], "zen/gamma"]}).text
    assert "pairs of 4 models (in-sample), worse than random" in text
    assert "Not held out: 1 model of the same family" in text


def test_larger_loss_of_filter_models_is_mentioned(report, small) -> None:
    out = report()
    lost = out["scores"].eval("accuracy_full - accuracy_kept").groupby(out["scores"]["role"]).mean()
    chosen, others = 100 * lost["filter"], 100 * lost["held_out"]
    assert chosen > others + 1
    said = f"{chosen:.1f} points lower on average, that of held-out models {others:.1f}"
    assert said in out["report"]
    # The strongest models as filter models lose less, so nothing is mentioned.
    strong = report(chosen_filter_models=list(small.models[-2:]))
    assert "lower on average" not in strong["report"]


def test_findings_of_skipped_rules_are_not_shown_as_none(page, small) -> None:
    none = {"groups": Groups.empty(), "verdicts": Verdicts.empty()}
    coverage = small.inputs()["rule_coverage"]
    silent = coverage["rule"].isin(["suspect_label", "similar"])
    coverage.loc[silent, ["status", "reason"]] = [("not_run", "no probabilities"), ("off", "")]
    seen = page(rule_coverage=coverage, **none).text
    assert "The rule was not checked: no probabilities." in seen
    assert "Groups of similar items Not checked: switched off." in seen


def test_columns_without_values_are_omitted_from_the_list(page, small) -> None:
    matrix = small.matrix(small.items()["item_id"].tolist())
    matrix.correct[:] = np.nan
    audit = small.inputs()["item_audit"]
    audit["neighbour_distance"] = np.nan
    known = ["id", "subject", "decision"]
    shown = page(response_matrix=matrix, item_audit=audit).all("[data-sort]", "data-sort")
    assert [key for key in shown if key] == known
    shown = page().all("[data-sort]", "data-sort")
    assert [key for key in shown if key] == [*known, "distance", "share"]


def test_missing_metrics_and_sets_of_models_are_omitted(page, report) -> None:
    table = report()["rank_agreement"]
    unrated = table.assign(value=table["value"].where(table["metric"] != "arena_williams_p"))
    assert "(Williams)" not in page(rank_agreement=unrated).text
    stronger = table[table["models"] == "held_out"].assign(models="stronger")
    both = page(rank_agreement=pd.concat([table, stronger])).text
    assert "Held-out models stronger than every filter model n = 4 × 60" in both
    empty = pd.concat([table, stronger.assign(n_models=0)])
    assert "stronger than every" not in page(rank_agreement=empty).text


def test_largest_subjects_are_shown_by_share_removed(page) -> None:
    items = pd.DataFrame({"n_full": [5, *range(20, 31)], "n_kept": 4})
    items["subject"] = [f"subject {chr(97 + i)}" for i in range(12)]
    items["share_removed"] = 1 - items["n_kept"] / items["n_full"]
    text = page(subject_shares=items).text
    shown = re.findall(r"subject ([a-l]) \d", text[text.index("SMART, Table 9") :])
    assert shown == list("lkjihgfedc")


def test_empty_tables_are_omitted_or_have_a_reason(page) -> None:
    tables = {
        "random_comparison": RandomComparison,
        "label_error_rates": LabelErrorRates,
        "review_agreement": ReviewAgreement,
        "answer_coverage": AnswerCoverage,
    }
    seen = page(**{name: table.empty() for name, table in tables.items()})
    assert "No verdict on these 50 of 60 items" in seen.text
    assert "All metrics, and IRE" not in seen.text
    gone = (
        "Evidence",
        "Wrong labels among",
        "Agreement of reviewers",
        "have missing ones",
    )
    assert [title for title in gone if title in seen.text] == []
    assert len(seen.all("svg")) == 3


def test_items_show_reasons_neighbour_and_share_of_right_answers(page, small) -> None:
    matrix = small.matrix(small.items()["item_id"].tolist())
    matrix.correct[2:, 40] = [np.nan, 0.5, 0, 0, 0]
    coverage = EvaluationParams(min_coverage=0.5)
    seen = page(**{"response_matrix": matrix, "params:evaluation": coverage})
    listed = {row["id"]: row for row in seen.listed()}
    item = listed["demo/020"]
    assert (item["neighbour"], item["distance"]) == ("demo/021", 0.1)
    assert (item["marks"], item["reasons"]) == (["similar"], "similar: a reason")
    assert item["share"] == pytest.approx(matrix.correct[:, 20].mean(), abs=5e-4)
    assert listed["demo/040"]["share"] == pytest.approx(np.nanmean(matrix.correct[:, 40]), abs=5e-4)
    assert listed["demo/009"]["marks"] == ["retained_easy"]


def test_long_list_is_cut_after_the_removed_items(page, small, monkeypatch) -> None:
    monkeypatch.setattr("benchwright.reports.smart.item_list.MOST_LISTED", 11)
    seen = page(item_audit=small.inputs()["item_audit"])
    assert [row["decision"] for row in seen.listed()] == ["removed"] * 10 + ["kept"]
    assert "The first 11 of 60 items, removed ones first" in seen.text


@pytest.mark.parametrize(
    ("case", "sentence"),
    [
        ("no_models", "No verdict on these 50 of 60 items: no models."),
        ("similar_off", "The rule for similar items was off or could not run."),
        ("nothing", "Use all 60 items: none was removed."),
        ("all", "none of the panel's items was kept"),
        ("one", "Use all 1 items: none was removed."),
        ("no_answers", "No verdict: no item was removed, but no answers of models were given."),
    ],
)
def test_corner_cases_give_a_report(page, small, case: str, sentence: str) -> None:
    items, one = small.items(), small.items(1)
    nobody = ResponseMatrix.empty(tuple(items["item_id"]))
    changed: dict[str, dict[str, Any]] = {
        "no_models": {
            "response_matrix": nobody,
            "choices_only_matrix": nobody,
            "chosen_filter_models": [],
            "calibration": Calibration.empty(),
            "import_report": ImportReport.empty(),
            "models_table": Models.empty(),
            "random_comparison": RandomComparison.empty(),
        },
        "similar_off": {
            "similarity_threshold": {"branch": "none"},
            "distance_density": DistanceDensity.empty(),
            "groups": Groups.empty(),
        },
        "nothing": {
            "kept_items": items,
            "verdicts": Verdicts.empty(),
            "rejected_items": RejectedItems.empty(),
        },
        "all": {"kept_items": items.head(0)},
        "one": {
            "items": one,
            "kept_items": one,
            "response_matrix": small.matrix(one["item_id"].tolist()),
            "verdicts": Verdicts.empty(),
        },
    }
    changed["no_answers"] = changed["no_models"] | changed["nothing"]
    text = page(**changed[case]).text
    assert sentence in text
    unranked = case in ("no_models", "no_answers")
    assert ("Evidence" not in text, "Ranking of models" not in text) == (unranked, unranked)
    assert "nan" not in re.findall(r"[a-z]+", text.lower())
    assert re.findall(r"None(?!\.|: every|: no)", text) == []
