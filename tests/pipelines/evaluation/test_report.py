"""The report: one page, true to the tables, safe to open."""

import json
import re
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pandas as pd
import pytest

from benchwright import tables
from benchwright.params.evaluation import EvaluationParams
from benchwright.params.filtering import FilteringParams
from benchwright.pipelines.evaluation.report.evidence import select_items_to_show
from benchwright.response_matrix import ResponseMatrix


class Page(HTMLParser):
    """The tags, visible text and scripts of a page."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: dict[str, str] = {}
        self.words: list[str] = []
        self._within = ""
        self._script = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._within = tag
        self._script = dict(attrs).get("id") or ""

    def handle_endtag(self, tag: str) -> None:
        self._within = ""

    def handle_data(self, data: str) -> None:
        if self._within == "script":
            self.scripts[self._script] = self.scripts.get(self._script, "") + data
        elif self._within != "style":
            self.words.append(data)

    @property
    def text(self) -> str:
        return re.sub(r"\s+", " ", " ".join(self.words))

    def listed(self) -> list[dict[str, Any]]:
        return json.loads(self.scripts["item-data"])


@pytest.fixture(scope="module")
def without_plotly() -> Any:
    """A report without the library, which is 4 MB that no parser needs to read again."""
    from plotly.offline import get_plotlyjs

    return lambda html: html.replace(get_plotlyjs(), "")


@pytest.fixture
def page(run, without_plotly) -> Any:
    """Renders the small benchmark with parts replaced."""
    return lambda **changed: Page(without_plotly(run(**changed)["report"]))


def test_the_same_inputs_give_the_same_bytes_in_any_order_of_rows(run, small) -> None:
    inputs = small.inputs()
    shuffled = dict(inputs)
    for name in ("items", "item_audit", "verdicts", "kept_items", "groups", "models_table"):
        shuffled[name] = inputs[name].iloc[::-1].reset_index(drop=True)
    matrix = inputs["response_matrix"]
    shuffled["response_matrix"] = matrix.select_models(matrix.models[::-1]).select_items(
        matrix.item_ids[::-1]
    )
    first = run()["report"]
    assert run(**inputs)["report"] == first
    assert run(**shuffled)["report"] == first


def test_the_page_carries_the_library_once_and_loads_nothing(run, without_plotly) -> None:
    from plotly.offline import get_plotlyjs

    html = run()["report"]
    assert html.count(get_plotlyjs()) == 1
    page = Page(without_plotly(html))
    loading = [(tag, a) for tag, a in page.tags for key in a if key in ("src", "srcset", "action")]
    assert loading == []
    links = [a["href"] for tag, a in page.tags if tag == "link"]
    assert links == ["data:,"]
    anchors = [a["href"] or "" for tag, a in page.tags if tag == "a"]
    ids = {a["id"] for _, a in page.tags if "id" in a}
    assert [link for link in anchors if link[1:] not in ids] == []


def test_an_item_that_looks_like_html_is_only_ever_text(page, small) -> None:
    items = small.items()
    items["subject"] = small.nasty
    items["choices"] = [[small.nasty, "b", "c", "d"]] * len(items)
    groups = tables.Groups.from_rows(
        [("g", "demo/000", "similar", True), ("g", "demo/001", "similar", False)]
    )
    seen = page(items=items, groups=groups)
    assert "<script>alert(1)</script> & </script><img src=x" in seen.text
    assert "49" not in seen.text[seen.text.index("<script>alert(1)") :][:200]  # no template in data
    assert [tag for tag, _ in seen.tags if tag == "img"] == []
    assert len([tag for tag, _ in seen.tags if tag == "script"]) == 2 + 6 + 1
    assert {item["question"] for item in seen.listed()} >= {small.nasty}


def test_only_the_two_scripts_of_the_page_may_run(run) -> None:
    import base64
    import hashlib

    html = run()["report"]
    allowed = re.findall(r"sha256-([A-Za-z0-9+/=]+)", html[: html.index("</head>")])
    scripts = re.findall(r"<script>(.*?)</script>", html, re.DOTALL)
    digests = [base64.b64encode(hashlib.sha256(s.encode()).digest()).decode() for s in scripts]
    assert digests == allowed
    assert len(allowed) == 2


def test_the_headline_judges_by_held_out_models(run) -> None:
    out = run()
    held_out = out["rank_agreement"].query("models == 'held_out' and metric == 'kendall_tau_b'")
    value = held_out["value"].iloc[0]
    assert "60 → 50 items (16.7% removed)." in out["report"]
    wanted = f"Ranking of 4 held-out models: Kendall tau-b {value:.3f} (n = 4 models × 60 items)."
    assert wanted in out["report"]


def test_with_too_few_held_out_models_the_same_line_says_in_sample(page, small) -> None:
    seen = page(**{"params:evaluation_models": [*small.models[:3], "zen/gamma"]})
    line = next(line for line in seen.text.split(" Items ") if "Kendall tau-b" in line)
    assert "in-sample: only 1 model held out" in line
    assert "1 model shares its family" in seen.text


def test_models_that_answer_alike_are_named_as_hardly_two(page, small) -> None:
    matrix = small.matrix(small.items()["item_id"].tolist())
    for values in (matrix.correct, matrix.prediction):
        values[3] = values[4]
    text = page(response_matrix=matrix).text
    assert "zen/delta and zen/gamma have the same answers on 100.0% of the items" in text
    assert "have the same answers" not in page().text


def test_filter_models_that_lose_more_than_others_are_pointed_out(run, small) -> None:
    out = run()
    lost = out["scores"].eval("accuracy_full - accuracy_kept").groupby(out["scores"]["role"]).mean()
    own, others = 100 * lost["filter"], 100 * lost["held_out"]
    wanted = f"lose {own:.1f} points on average, the held-out ones {others:.1f}"
    assert own > others + 1
    assert wanted in out["report"]
    # The strongest models as filter models lose less: nothing to say.
    strong = run(**{"params:filter_models": list(small.models[-2:])})
    assert "points on average" not in strong["report"]


def test_rules_that_did_not_run_say_why_and_have_no_share(page) -> None:
    seen = page()
    assert "no answers without the question" in seen.text
    row = re.search(r"answer only (.*?) suspect label", seen.text[seen.text.index("Table 1") :])
    assert row
    assert "0.00%" not in row[1]
    assert "91.7%" in seen.text  # coverage of the rule that judged some items only


def test_every_section_has_its_heading(page) -> None:
    seen = page()
    for heading in (
        "What each rule took",
        "Ranking of models",
        "Agreement between models",
        "Subjects",
        "Similar items",
        "Labels to check",
        "Examples",
        "All items",
        "Data and models",
        "Provenance",
    ):
        assert seen.text.count(heading) >= 2, heading  # in the contents and above its section
    assert [tag for tag, _ in seen.tags].count("h1") == 1
    levels = [int(tag[1]) for tag, _ in seen.tags if re.fullmatch(r"h[1-4]", tag)]
    assert max(np.diff(levels)) == 1  # no level is skipped on the way down


def test_provenance_names_licence_citation_seed_and_versions(page) -> None:
    text = page().text
    for said in ("CC0", "Nobody (2024), Nothing.", "Seed 0", "nobody/demo", "numpy", "similar.k"):
        assert said in text


def test_suspect_labels_examples_and_groups_show_their_items(page) -> None:
    text = page().text
    assert "Question 30: which one?" in text  # the suspect label
    assert "Removed as similar 1 of 1" in text
    assert "Removed as easy 3 of 9" in text
    assert "1 group with 2 items" in text
    assert "7: 3 options, 4 wanted" in text  # the rejected row
    assert "3 imported answers claim" in text


def test_the_list_of_items_is_capped_with_removed_ones_first_and_says_so(page) -> None:
    seen = page(**{"params:evaluation": EvaluationParams(report_items=12)})
    assert "12 of 60 items are listed here" in seen.text
    assert "item_audit" in seen.text
    decisions = [item["decision"] for item in seen.listed()]
    assert decisions == ["removed"] * 10 + ["kept"] * 2


def test_examples_do_not_depend_on_the_order_of_verdicts_but_on_the_seed(small) -> None:
    inputs = small.inputs()

    def shown(verdicts: pd.DataFrame, seed: int) -> list[str]:
        out = select_items_to_show(
            *(inputs["items"], inputs["item_audit"], verdicts, inputs["groups"]),
            *(inputs["rejected_items"], EvaluationParams(), seed),
        )
        return [item["item_id"] for item in out["examples"][0]["shown"]]

    verdicts = inputs["verdicts"]
    assert shown(verdicts.sample(frac=1, random_state=1), 0) == shown(verdicts, 0)
    assert len({tuple(shown(verdicts, seed)) for seed in range(5)}) > 1


def test_paper_and_default_order_of_rules_are_explained(page) -> None:
    assert "never loses its last item" in page().text
    independent = page(**{"params:filtering": FilteringParams(independent=True)}).text
    assert "The rules are independent" in independent


@pytest.mark.parametrize(
    "case", ["no_models", "one_subject", "similar_off", "nothing", "all", "one"]
)
def test_a_report_comes_out_of_every_corner_case(page, small, case: str) -> None:
    items = small.items(subjects=1) if case == "one_subject" else small.items()
    nobody = ResponseMatrix.empty(tuple(items["item_id"]))
    changed: dict[str, dict[str, Any]] = {
        "no_models": {
            "response_matrix": nobody,
            "choices_only_matrix": nobody,
            "params:filter_models": [],
            "calibration": tables.Calibration.empty(),
            "import_report": tables.ImportReport.empty(),
            "models_table": tables.Models.empty(),
        },
        "one_subject": {"items": items},
        "similar_off": {
            "similarity_threshold": {"branch": "none"},
            "distance_density": tables.DistanceDensity.empty(),
            "threshold_sensitivity": tables.ThresholdSensitivity.empty(),
            "groups": tables.Groups.empty(),
        },
        "nothing": {
            "kept_items": items,
            "verdicts": tables.Verdicts.empty(),
            "overlaps": tables.Overlaps.empty(),
            "rejected_items": tables.RejectedItems.empty(),
        },
        "all": {"kept_items": items.head(0)},
        "one": {
            "items": small.items(1),
            "kept_items": small.items(1),
            "overlaps": tables.Overlaps.empty(),
        },
    }
    said = {
        "no_models": "Ranking of models: not compared, no models.",
        "one_subject": "Table of 1 subject",
        "similar_off": "Similar items",
        "nothing": "No item was removed.",
        "all": "none of the panel's items was kept",
        "one": "1 → 1 items (0.0% removed).",
    }
    if case == "one":
        one = small.items(1)
        ids = one["item_id"].tolist()
        changed["one"] |= {
            "response_matrix": small.matrix(ids),
            "verdicts": tables.Verdicts.empty(),
        }
    seen = page(**changed[case])
    assert said[case] in seen.text
    assert "nan" not in re.findall(r"[a-z]+", seen.text.lower())
    assert "None" not in seen.text.replace("None.", "").replace("None: every", "").replace(
        "None: no", ""
    )
