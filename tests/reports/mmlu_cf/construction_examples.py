"""Handmade tables of the construction of a benchmark, with and without judges."""

import json
from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd

from benchwright.params.mmlu_cf import (
    CheckingParams,
    CleaningParams,
    CollectionParams,
    DifficultyParams,
    FieldsParams,
    SamplingByDifficultyParams,
    SealingParams,
    SplittingParams,
)
from benchwright.params.perturbation import PerturbationParams
from benchwright.pipelines.construction_report import create_pipeline
from benchwright.tables.mmlu_cf import CleaningFunnel, SplitAssignment


class Columns:
    """The columns of a table that only the report reads."""

    def __init__(self, names: str) -> None:
        self.names = names.split()

    def from_rows(self, rows: Iterable[tuple[Any, ...]] = ()) -> pd.DataFrame:
        return pd.DataFrame(list(rows), columns=self.names)

    empty = from_rows


CleaningReasons = Columns("rule kind reason rows")
DifficultyCounts = Columns("pool level n share expected")
DocumentsRead = Columns("file documents unreadable first_fault skipped")
DomainCounts = Columns("domain documents raw_items clean_items")
ExtractionMeasures = Columns("measure style hits of share low high")
FieldCounts = Columns("field items domains confidence")
HalfDistances = Columns("attribute n_validation n_test total_variation chance_95")
JudgeAgreement = Columns("task criterion judge other n_items alpha low high reason")
JudgeRounds = Columns("task judge attempt asked parsed unparsed too_long parse_rate")
LeakCounts = Columns("verdict pairs")
SamplingStrata = Columns("field level target available sampled shortfall")

FIELDS = ("Math", "Law", "History")
HOSTILE = "<script>alert(1)</script>.example.org"


def making(*, judges: bool = False) -> dict[str, Any]:
    """Return inputs: 60 questions extracted, 48 clean, 30 sampled, 24 checked with judges."""
    checked = 24 if judges else 30
    return {
        "params:variant": "mmlu_cf",
        "params:seed": 7,
        "params:collection": CollectionParams(),
        "params:cleaning": CleaningParams(),
        "params:fields": FieldsParams(),
        "params:difficulty": DifficultyParams(judges=("able", "baker") if judges else ()),
        "params:sampling_by_difficulty": SamplingByDifficultyParams(size=30),
        "params:checking": CheckingParams(judges=("able", "baker") if judges else ()),
        "params:perturbation": PerturbationParams(),
        "params:splitting": SplittingParams(),
        "params:sealing": SealingParams(name="made", key_file="/secret/place/of.key"),
        "documents_read": DocumentsRead.from_rows(
            [
                ("/somebody/home/documents.jsonl", 9, 0, "", 4),
                ("/x/more.warc.gz", 11, 1, "record 3", 0),
            ]
        ),
        "domain_counts": DomainCounts.from_rows(
            [("a.example.org", 5, 20, 20), (HOSTILE, 9, 25, 18), ("", 6, 15, 10)]
        ),
        "extraction_measures": _extraction(),
        "cleaning_funnel": CleaningFunnel.from_rows(
            [
                (1, "n_choices", "reject", 60, 0, 10, 50),
                (2, "labels", "rewrite", 50, 12, 0, 50),
                (3, "exact_duplicate", "reject", 50, 0, 2, 48),
            ]
        ),
        "cleaning_reasons": CleaningReasons.from_rows(
            [
                ("n_choices", "reject", "5 choices", 10),
                ("labels", "rewrite", "labels", 12),
                ("exact_duplicate", "reject", "same as", 2),
            ]
        ),
        "field_counts": FieldCounts.from_rows(
            [(name, 16, 3, 0.5) for name in FIELDS] + [("", 0, 0, np.nan)]
        ),
        "field_rounds": JudgeRounds.empty(),
        "difficulty_rounds": _rounds("difficulty", 48, 36, 6) if judges else JudgeRounds.empty(),
        "difficulty_counts": _levels(checked, judges=judges),
        "sampling_strata": _strata(judges=judges),
        "final_difficulty_rounds": _rounds("final difficulty", 24, 24, 0)
        if judges
        else JudgeRounds.empty(),
        "checking_rounds": _rounds("checking", 30, 30, 0) if judges else JudgeRounds.empty(),
        "judge_agreement": _agreement() if judges else JudgeAgreement.empty(),
        "checking_counts": {
            "sampled": 30,
            "checked": checked,
            "final": checked,
            "reasons": {"good": 24, "low_rating": 5, "harmful": 1} if judges else {"unjudged": 30},
            "harms": {"violence": 1} if judges else {},
            "sources": {"judges": 42, "not_judged": 6} if judges else {"not_judged": 48},
            "domains": {"sampled": 2, "final": 1},
            "explained": {"sampled": 9, "final": 7},
        },
        "rule_counts": {
            "rules": {
                "shuffle_choices": {"altered": checked - 2, "same_order": 2},
                "replace_choice": {"altered": 9, "not_drawn": checked - 9},
            },
            "rephrase_checks": {},
        },
        "half_distances": HalfDistances.from_rows(
            [
                ("field", checked // 2, checked // 2, 0.08, 0.23),
                ("difficulty", checked // 2, checked // 2, 0.05, 0.2),
            ]
        ),
        "public_split_assignment": _assignment(checked),
        "leak_counts": LeakCounts.empty(),
        "sealed_benchmark": {"validation.jsonl": _public_lines(), "test.sealed": b"\xff"},
    }


def run(inputs: dict[str, Any]) -> dict[str, Any]:
    """Return inputs and outputs of all nodes of the stage, by name."""
    data = dict(inputs)
    for node in create_pipeline().nodes:  # in an order in which each finds its inputs
        data |= node.run({name: data[name] for name in node.inputs})
    return data


def _extraction() -> pd.DataFrame:
    return ExtractionMeasures.from_rows(
        [
            ("recall", "", 45, 50, 0.9, 0.79, 0.96),
            ("precision", "", 45, 48, 0.9375, 0.83, 0.98),
            ("recall", "pdf_dump", 5, 9, 0.56, 0.27, 0.81),
        ]
    )


def _rounds(task: str, asked: int, first: int, second: int) -> pd.DataFrame:
    left = asked - first
    rows = [(task, judge, 1, asked, first, left, 0, first / asked) for judge in ("able", "baker")]
    if left:
        rows += [
            (task, judge, 2, left, second, left - second, 0, second / left)
            for judge in ("able", "baker")
        ]
    return JudgeRounds.from_rows(sorted(rows, key=lambda row: row[1:3]))


def _levels(checked: int, *, judges: bool) -> pd.DataFrame:
    if not judges:
        rows = [("rated", -1, 48, 1.0, np.nan), ("sampled", -1, 30, 1.0, np.nan)]
        return DifficultyCounts.from_rows([*rows, ("checked", -1, checked, 1.0, np.nan)])
    pools = {
        "rated": {5: 12, 6: 20, 7: 10, -1: 6},
        "sampled": {5: 6, 6: 15, 7: 9},
        "checked": {5: 5, 6: 11, 7: 8},
        "final": {5: 3, 6: 11, 7: 10},
    }
    target = {5: 0.3, 6: 0.4, 7: 0.3}
    return DifficultyCounts.from_rows(
        [
            (pool, level, n, n / sum(counts.values()), _target(pool, level, target))
            for pool, counts in pools.items()
            for level, n in sorted(counts.items())
        ]
    )


def _target(pool: str, level: int, target: dict[int, float]) -> float:
    return target.get(level, np.nan) if pool == "sampled" else np.nan


def _strata(*, judges: bool) -> pd.DataFrame:
    """Return strata with targets 3, 4 and 3 of levels 5–7; level 6 for all without judges."""
    rows = []
    for field in FIELDS:
        for level, target in ((5, 3), (6, 4), (7, 3)):
            sampled = target + {5: -1, 6: 1, 7: 0}[level] if judges else 10 if level == 6 else 0
            rows.append((field, level, target, sampled + 1, sampled, max(target - sampled, 0)))
    return SamplingStrata.from_rows(rows)


def _agreement() -> pd.DataFrame:
    undefined = (np.nan,) * 3
    return JudgeAgreement.from_rows(
        [
            ("difficulty", "difficulty", "", "", 42, 0.71, 0.55, 0.83, ""),
            ("difficulty", "difficulty", "able", "baker", 42, 0.71, 0.55, 0.83, ""),
            ("quality", "clarity", "", "", 30, 0.31, 0.05, 0.5, ""),
            ("harms", "self_harm", "", "", 30, *undefined, "all ratings are equal"),
        ]
    )


def _public_lines() -> bytes:
    """Return five law questions of two domains, and one of mathematics."""
    rows = [
        {
            "item_id": f"doc-{place}#1",
            "field": "Math" if place == 5 else "Law",
            "question": f"What is <i>{place}</i>?",
            "choices": ["this", "that"],
            "answer": 0,
            "domain": ("a.example.org", None)[place % 2],
        }
        for place in range(6)
    ]
    return "\n".join(map(json.dumps, rows)).encode()


def _assignment(n: int) -> pd.DataFrame:
    """Return two equal halves: one more history question in the public, one more of law closed."""
    rows = []
    for place in range(n):
        half = "validation" if place < n // 2 else "test"
        field = FIELDS[place % 3]
        if place == 1:
            field = "History"
        item = f"doc-{place:03d}#1" if half == "validation" else f"sealed-{place:032x}"
        rows.append((item, half, field, 6.0, f"{field} · 6"))
    return SplitAssignment.from_rows(rows)
