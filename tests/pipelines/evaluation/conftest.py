"""A small benchmark with all that the evaluation stage reads, put together by hand."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from benchwright import tables
from benchwright.params.benchmark import BenchmarkParams
from benchwright.params.evaluation import EvaluationParams, RatingsParams
from benchwright.params.filtering import FilteringParams
from benchwright.response_matrix import ResponseMatrix

FILTER = ("acme/alpha@cloze-3", "acme/beta@cloze-3")
KIN = ("acme/alpha-chat",)
OTHERS = ("zen/gamma", "zen/delta", "org/epsilon", "org/zeta")
MODELS = (*FILTER, *KIN, *OTHERS)

NASTY = "<script>alert(1)</script> & </script><img src=x onerror=alert(2)> {{ 7 * 7 }}"
"""A question that must only ever be shown as text."""

Inputs = dict[str, Any]


def items_table(n: int = 60, subjects: int = 3) -> pd.DataFrame:
    """The first of n items has a question that looks like HTML."""
    rows = []
    for i in range(n):
        choices = [f"option {i}-{letter}" for letter in "abcd"]
        question = NASTY if i == 0 else f"Question {i}: which one?"
        row = (f"demo/{i:03d}", "test", f"subject_{i % subjects}", question, choices, i % 4)
        rows.append((*row, choices[i % 4], [i % 4], *[None] * 5, f"hash-{i}"))
    return tables.Items.from_rows(rows)


def matrix_of(
    item_ids: list[str],
    models: tuple[str, ...] = MODELS,
    *,
    seed: int = 3,
    predictions: bool = True,
) -> ResponseMatrix:
    """Answers of models of rising skill; the first ten items are answered rightly by all."""
    rng = np.random.default_rng(seed)
    shape = (len(models), len(item_ids))
    skill = np.linspace(0.45, 0.9, len(models))[:, None]
    right = rng.random(shape) < skill
    right[:, :10] = True
    gold = np.arange(len(item_ids)) % 4
    wrong = (gold + rng.integers(1, 4, shape)) % 4
    prediction = np.where(right, gold, wrong) if predictions else np.full(shape, -1)
    p_answer = np.where(right, 0.9, 0.05).astype(np.float32)
    return ResponseMatrix(
        models,
        tuple(item_ids),
        right.astype(np.float32),
        p_answer,
        np.full(shape, 0.9, dtype=np.float32),
        prediction.astype(np.int16),
    )


def verdicts_table(items: pd.DataFrame) -> pd.DataFrame:
    """Items 0–9 are easy (9 retained), 20 is like 21, 30 has a suspect label."""
    rows = []
    for i, item in enumerate(items["item_id"]):
        easy, like, suspect = i < 10, i in (20, 21), i == 30
        rows += [
            (item, "easy", "flagged" if easy else "clear", easy and i != 9, 0.9, "all sure"),
            (item, "suspect_label", "flagged" if suspect else "clear", False, None, "all wrong"),
            (item, "similar", "flagged" if like else "clear", i == 20, 0.1, "like demo/021"),
        ]
    return tables.Verdicts.from_rows(rows)


def audit_table(items: pd.DataFrame, removed: set[str]) -> pd.DataFrame:
    """One row per item, as the filtering stage would write it."""
    rows = []
    for i, row in enumerate(items.to_dict("records")):
        gone = row["item_id"] in removed
        by = ("easy" if i < 10 else "similar") if gone else ""
        rows.append(
            {
                **dict.fromkeys(tables.ItemAudit.columns(), "clear"),  # the state of every rule
                **{name: row[name] for name in ("item_id", "subject", "question", "choices")},
                "answer": row["answer"],
                "decision": "removed" if gone else "kept",
                "tags": "retained_easy" if i == 9 else "suspect_label" if i == 30 else "",
                "removed_by": by,
                "reasons": f"{by}: a reason" if gone else "",
                "neighbour": "demo/021" if i == 20 else None,
                "neighbour_distance": 0.1 if i == 20 else None,
            }
        )
    return tables.ItemAudit.from_rows(rows)


def coverage_table(n: int) -> pd.DataFrame:
    return tables.RuleCoverage.from_rows(
        [
            ("anomalous", "off", 0, n, 0, 0, 0, None, ""),
            ("easy", "ran", n, 0, 10, 1, 9, 9 / n, ""),
            ("answer_only", "not_run", 0, n, 0, 0, 0, None, "no answers without the question"),
            ("suspect_label", "partial", n - 5, 5, 1, 1, 0, 0.0, "5 items lack probabilities"),
            ("similar", "ran", n, 0, 2, 1, 1, 1 / n, ""),
        ]
    )


def benchmark_params() -> BenchmarkParams:
    fields = {
        "question": "question",
        "choices": {"column": "choices"},
        "gold": {"form": "index", "column": "answer"},
    }
    return BenchmarkParams.model_validate(
        {
            "name": "demo",
            "title": "Demo <b>benchmark</b>",
            "licence": "CC0",
            "citation": "Nobody (2024), Nothing.",
            "url": "https://example.org/demo",
            "sources": {"hub": {"id": "nobody/demo", "fields": fields}},
            "splits": {"evaluation": ["test"]},
            "filter_models": list(FILTER),
        }
    )


def make_inputs(**changed: Any) -> Inputs:
    """Everything the evaluation pipeline reads; keyword arguments (dataset names) replace parts."""
    items = changed.get("items", items_table())
    n, ids = len(items), items["item_id"].tolist()
    removed = {*ids[:9], *ids[20:21]}
    kept = changed.get("kept_items", items[~items["item_id"].isin(removed)])
    matrix = changed.get("response_matrix", matrix_of(ids))
    inputs: Inputs = {
        "items": items,
        "kept_items": kept,
        "rejected_items": tables.RejectedItems.from_rows(
            [(7, "choices", "3 options, 4 wanted", '{"question": "<i>raw</i>"}')]
        ),
        "item_audit": audit_table(items, set(ids) - set(kept["item_id"])),
        "verdicts": verdicts_table(items),
        "rule_coverage": coverage_table(n),
        "overlaps": tables.Overlaps.from_rows([("easy", "similar", 1, 1 / n)]),
        "groups": tables.Groups.from_rows(
            [("g1", ids[20], "similar", False), ("g1", ids[21], "similar", True)]
        )
        if n > 21
        else tables.Groups.empty(),
        "distance_density": tables.DistanceDensity.from_rows(
            [(x / 20, float(np.exp(-((x - 10) ** 2) / 9)), x == 10) for x in range(21)]
        ),
        "similarity_threshold": {
            "threshold": 0.25,
            "branch": "halved",
            "peaks": [0.5],
            "bandwidth": 0.15,
            "k": 100,
            "items_within": 2,
            "share_within": 2 / n,
            "warning": "two bandwidths differ a lot",
        },
        "threshold_sensitivity": tables.ThresholdSensitivity.from_rows(
            [(0.1, 2, "first_peak", 0.07, 1, 1 / n), (0.15, 1, "halved", 0.25, 2, 2 / n)]
        ),
        "response_matrix": matrix,
        "choices_only_matrix": matrix_of(ids, FILTER, seed=5),
        "import_report": tables.ImportReport.from_rows(
            [("log.parquet", "tidy", 7, 420, 400, 10, 10, 0, 3, 0, "a detail")]
        ),
        "calibration": tables.Calibration.from_rows([(FILTER[0], 200, 1.7, 1.4, 1.1, 0.5)]),
        "models_table": tables.Models.from_rows(
            [
                ("acme/alpha", "alpha", "acme", 1.0, False, None),
                ("acme/alpha-chat", "alpha", "acme", 1.0, True, None),
                ("acme/beta", "beta", "acme", 1.0, False, None),
            ]
        ),
        "user_ratings": pd.DataFrame({"model": [], "rating": []}),
        "params:ingestion": benchmark_params(),
        "params:variant": "smart",
        "params:filter_models": list(FILTER),
        "params:evaluation_models": "all",
        "params:filtering": FilteringParams(),
        "params:evaluation": EvaluationParams(),
        "params:ratings": RatingsParams(
            source="Ratings of a test",
            date="2024-01-01",
            values={"gamma": 1000, "delta": 1050, "epsilon": 1100, "Zeta": 1200},
        ),
        "params:seed": 0,
    }
    return {**inputs, **changed}


@pytest.fixture
def small() -> SimpleNamespace:
    """The builders above, for tests that change a part."""
    return SimpleNamespace(
        filter=FILTER,
        models=MODELS,
        nasty=NASTY,
        items=items_table,
        matrix=matrix_of,
        inputs=make_inputs,
    )


@pytest.fixture(scope="session")
def run() -> Callable[..., Inputs]:
    """Runs the stage's nodes on the small benchmark, with parts replaced; gives all outputs."""
    from benchwright.pipelines.evaluation import create_pipeline

    pipeline = create_pipeline()
    unchanged: Inputs = {}

    def run_stage(**changed: Any) -> Inputs:
        if not changed and unchanged:
            return unchanged
        known = make_inputs(**changed)
        for node in pipeline.nodes:  # in an order in which each finds its inputs
            known |= node.run({name: known[name] for name in node.inputs})
        outputs = {name: known[name] for name in pipeline.all_outputs()}
        if not changed:
            unchanged.update(outputs)
        return outputs

    return run_stage
