"""A small benchmark with all that the evaluation stage reads, put together by hand."""

from collections.abc import Callable
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from benchwright.core.response_matrix import ResponseMatrix
from benchwright.evidence.panel import Panel
from benchwright.evidence.suspect_items import rank_suspect_items
from benchwright.params.benchmark import BenchmarkParams
from benchwright.params.evaluation import EvaluationParams, RatingsParams
from benchwright.params.filtering import FilteringParams
from benchwright.pipelines.evaluation import create_pipeline
from benchwright.tables.evidence import (
    ItemParameters,
    RandomComparison,
    RandomSubsets,
    RankAgreementTable,
)
from benchwright.tables.items import Demonstrations, Items, KnownLabelErrors, RejectedItems
from benchwright.tables.responses import (
    AnswerCoverage,
    Calibration,
    ImportReport,
    Models,
)
from benchwright.tables.similarity import DistanceDensity
from benchwright.tables.smart import (
    Groups,
    ItemAudit,
    LabelErrorRates,
    ReviewAgreement,
    ReviewSheet,
    RuleCoverage,
    Verdicts,
)

FILTER = ("acme/alpha@cloze-3", "acme/beta@cloze-3")
KIN = ("acme/alpha-chat",)
OTHERS = ("zen/gamma", "zen/delta", "org/epsilon", "org/zeta")
MODELS = (*FILTER, *KIN, *OTHERS)

NASTY = "<script>alert(1)</script> & </script><img src=x onerror=alert(2)> {{ 7 * 7 }}"
"""A question that must only ever be shown as text."""

Inputs = dict[str, Any]
MODELS_TABLE = Models.from_rows(
    [
        ("acme/alpha", "alpha", "acme", 1.0, False, None),
        ("acme/alpha-chat", "alpha", "acme", 1.0, True, None),
        ("acme/beta", "beta", "acme", 1.0, False, None),
    ]
)


def items_table(n: int = 60, subjects: int = 3) -> pd.DataFrame:
    """The first of n items has a question that looks like HTML."""
    rows = []
    for i in range(n):
        choices = [f"option {i}-{letter}" for letter in "abcd"]
        question = NASTY if i == 0 else f"Question {i}: which one?"
        row = (f"demo/{i:03d}", "test", f"subject_{i % subjects}", question, choices, i % 4)
        rows.append((*row, choices[i % 4], [i % 4], *[None] * 5, f"hash-{i}"))
    return Items.from_rows(rows)


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
    return Verdicts.from_rows(rows)


def audit_table(items: pd.DataFrame, removed: set[str]) -> pd.DataFrame:
    """One row per item, as the filtering stage would write it."""
    rows = []
    for i, row in enumerate(items.to_dict("records")):
        gone = row["item_id"] in removed
        by = ("easy" if i < 10 else "similar") if gone else ""
        rows.append(
            {
                **dict.fromkeys(ItemAudit.columns(), "clear"),  # the state of every rule
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
    return ItemAudit.from_rows(rows)


def coverage_table(n: int) -> pd.DataFrame:
    return RuleCoverage.from_rows(
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
    kept = changed.get("kept_items", items[~items["item_id"].isin(removed)].assign(tags=""))
    matrix = changed.get("response_matrix", matrix_of(ids))
    inputs: Inputs = {
        "items": items,
        "kept_items": kept,
        "rejected_items": RejectedItems.from_rows(
            [(7, "choices", "3 options, 4 wanted", '{"question": "<i>raw</i>"}')]
        ),
        "item_audit": audit_table(items, set(ids) - set(kept["item_id"])),
        "verdicts": verdicts_table(items),
        "rule_coverage": coverage_table(n),
        "groups": Groups.from_rows(
            [("g1", ids[20], "similar", False), ("g1", ids[21], "similar", True)]
        )
        if n > 21
        else Groups.empty(),
        "distance_density": DistanceDensity.from_rows(
            [(x / 20, float(np.exp(-((x - 10) ** 2) / 9)), x == 10) for x in range(21)]
        ),
        "similarity_threshold": {
            "threshold": 0.25,
            "limit": 0.25,
            "branch": "halved",
            "peaks": [0.5],
            "bandwidth": 0.15,
            "k": 100,
            "items_within": 2,
            "share_within": 2 / n,
        },
        "response_matrix": matrix,
        "choices_only_matrix": matrix_of(ids, FILTER, seed=5),
        "import_report": ImportReport.from_rows(
            [
                (
                    "log.parquet",
                    "tidy",
                    7,
                    420,
                    400,
                    10,
                    10,
                    0,
                    3,
                    0,
                    0,
                    2,
                    0,
                    None,
                    None,
                    "detail",
                ),
                ("bad.csv", "unusable", *[0] * 11, None, None, "bad.csv: not UTF-8"),
            ]
        ),
        "calibration": Calibration.from_rows([(FILTER[0], 200, 1.7)]),
        "models_table": MODELS_TABLE,
        "user_ratings": pd.DataFrame({"model": [], "rating": []}),
        "params:ingestion": benchmark_params(),
        "params:variant": "smart",
        "chosen_filter_models": list(FILTER),
        "params:filter_models": list(FILTER),
        "params:evaluation_models": "all",
        "params:filtering": FilteringParams(),
        "params:evaluation": EvaluationParams(),
        "params:ratings": RatingsParams(
            source="Ratings of a test",
            history={"2024-01-01": {"gamma": 1000, "delta": 1050, "epsilon": 1100, "Zeta": 1200}},
        ),
        "params:seed": 0,
        "params:limit": None,
        "demonstrations": Demonstrations.empty(),
        "calibration_items": Demonstrations.empty(),
        "known_label_errors": KnownLabelErrors.empty(),
        "label_errors": pd.DataFrame({"item_id": ids[:5], "wrong": [1, 0, 0, 0, 0]})
        if n >= 5
        else pd.DataFrame(),
        "review_sheet_filled": ReviewSheet.empty(),
        "answer_coverage": AnswerCoverage.from_rows(
            [
                (FILTER[0], "question", "live", n, 0, 0, 0),
                ("zen/gamma", "question", "recorded", n - 4, 0, 3, 1),
            ]
        ),
        "label_error_rates": LabelErrorRates.from_rows(
            [
                ("kept", 44, 4, 4 / 44, 0.036, 0.21),
                ("removed", 9, 0, 0.0, 0.0, 0.3),
                ("removed by easy", 9, 0, 0.0, 0.0, 0.34),
            ]
        ),
        "suspect_items": rank_suspect_items(matrix, items, MODELS_TABLE),
        "review_agreement": ReviewAgreement.from_rows(
            [
                ("easy", 9, 7, 1, 1, 7 / 9, 0.45, 0.94),
            ]
        ),
    }
    return {**inputs, **changed}


def rank_agreement_table(panel: Panel, n_kept: int) -> pd.DataFrame:
    """Metrics made up for the report; without models or kept items they say why there are none."""
    rows: list[tuple[Any, ...]] = []
    for group, words in (("all", "models"), ("filter", "filter models"), ("held_out", "others")):
        n, n_items = len(panel.select(group)), len(panel.item_ids)
        reason = (
            f"no {words}"
            if not n
            else "none of the panel's items was kept"
            if not n_kept
            else "2 models, at least 3 are needed"
            if n < 3
            else ""
        )
        value, none = (None, (None,) * 4) if reason else (0.928, (0.891, 0.953, 0.8, 0.99))
        places = None if reason else 1.5
        p_value, three = (None if reason else number for number in (0.4321, 0.5))
        rows += [
            (group, "kendall_tau_b", value, *none, n, n_items, reason),
            (group, "mean_rank_shift", places, *(None,) * 4, n, n_items, reason),
            (group, "pairwise_agreement", three, *(None,) * 4, n, n_items, reason or "12 pairs"),
            (group, "clear_pairs", 12, *(None,) * 4, n, n_items, reason),
            (group, "arena_williams_p", p_value, *(None,) * 4, min(n, 3), n_items, reason),
            (group, "metric_of_tomorrow", three, *(None,) * 4, n, n_items, reason),
        ]
    return RankAgreementTable.from_rows(rows)


def random_comparison_row(**changed: Any) -> tuple[Any, ...]:
    """A row of the comparison with random subsets: tau-b .928 below a band of .95 to .99."""
    row: dict[str, Any] = {
        "method": "kept",
        "models": "held_out",
        "metric": "kendall_tau_b",
        "random": "plain",
        "value": 0.928,
        "full": None,
        "random_mean": 0.975,
        "random_low": 0.95,
        "random_high": 0.99,
        "percentile": 2.05,
        "p_value": 0.04,
        "p_holm": 0.08,
        "draws": 1000,
        "n_models": 22,
        "n_items": 50,
        "n_full": 60,
        "reason": "",
    }
    return tuple({**row, **changed}.values())


SPREAD = {
    "metric": "spread_top",
    "value": 11.8,
    "full": 7.5,
    "random_mean": 7.6,
    "random_low": 6.9,
    "random_high": 8.2,
    "percentile": 100.0,
}
"""The range of the best models' scores: wider than in random subsets, in points."""


PAIRS = {
    "metric": "pairwise_agreement",
    "value": 0.5,
    "full": 1.0,
    "random_mean": 0.95,
    "random_low": 0.9,
    "random_high": 1.0,
    "percentile": 0.0,
    "p_value": 0.002,
}
"""Six of twelve clearly different pairs in another order; in random subsets hardly any."""


def random_comparison_table() -> pd.DataFrame:
    """Rows of the kept items and of IRE, for held-out and for all models."""
    return RandomComparison.from_rows(
        [
            random_comparison_row(method=method, models=models, random=random, **metric)
            for method in ("kept", "ire")
            for models in ("held_out", "all")
            for metric in ({}, PAIRS, SPREAD, {"metric": "tau_b_complement", "value": 0.8})
            for random in ("plain", "stratified")
        ]
    )


def random_subsets_table(draws: int = 100) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    rows = []
    for method in ("kept", "ire"):
        for random in ("plain", "stratified"):
            for metric, mean, sd in (("kendall_tau_b", 0.975, 0.01), ("spread_top", 7.6, 0.4)):
                values = rng.normal(mean, sd, draws).clip(max=1 if mean < 1 else None)
                rows += [(method, random, "held_out", metric, i, v) for i, v in enumerate(values)]
    return RandomSubsets.from_rows(rows)


MAKE_INPUTS = {"items", "kept_items", "response_matrix"}
"""Inputs that others are made from."""


@cache
def made_up() -> Inputs:
    """Metrics that other tests check."""
    return {
        "item_parameters": ItemParameters.empty(),
        "ire_fit": {},
        "random_comparison": random_comparison_table(),
        "random_subsets": random_subsets_table(),
        "review_sheet": None,
        "metrics": {},
    }


@cache
def unchanged_inputs() -> Inputs:
    return make_inputs()


@cache
def unchanged_report() -> Inputs:
    return report_of()


def report_of(**changed: Any) -> Inputs:
    """The report with parts replaced by name; what does not depend on them is made once."""
    everything = not changed or not MAKE_INPUTS.isdisjoint(changed)
    before = {} if everything else unchanged_report()
    known = make_inputs(**changed) if everything else unchanged_inputs() | changed
    known |= {name: changed.get(name, value) for name, value in made_up().items()}
    new = set(changed)
    for node in create_pipeline().nodes:  # in an order in which each finds its inputs
        if node.name == "compare_ranks" and "rank_agreement" not in known:
            among = set(known["panel"].item_ids) & set(known["kept_items"]["item_id"])
            known["rank_agreement"] = rank_agreement_table(known["panel"], len(among))
            new |= {"rank_agreement"} if "panel" in new else set()
        if set(node.outputs) <= known.keys():
            continue
        if everything or not new.isdisjoint(node.inputs):
            known |= node.run({name: known[name] for name in node.inputs})
            new |= {*node.outputs}
        else:
            known |= {name: before[name] for name in node.outputs}
    return known


@pytest.fixture(scope="session")
def report() -> Callable[..., Inputs]:
    """Makes the report from tables put together by hand; the unchanged one is made once."""
    return lambda **changed: report_of(**changed) if changed else unchanged_report()


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
        random_comparison_row=random_comparison_row,
        spread=SPREAD,
        random_comparison=random_comparison_table,
        random_subsets=random_subsets_table,
    )


@pytest.fixture(scope="session")
def run() -> Callable[..., Inputs]:
    """Runs the stage's nodes on the small benchmark, with parts replaced; gives all outputs."""
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
