"""The tables of the making as rows of words, ready for the page."""

from collections.abc import Mapping
from pathlib import PurePath
from typing import Any

import pandas as pd

from benchwright.reports.mmlu_cf.plots.domains_and_fields import count_field_halves
from benchwright.reports.mmlu_cf.wording import (
    MEASURES,
    POOLS,
    REASONS,
    SOURCES,
    VERDICTS,
    bounds,
    figure,
    percent,
    words_of,
)
from benchwright.reports.page.table_rows import is_missing, rows_of


def shard_rows(documents_read: pd.DataFrame) -> list[dict[Any, Any]]:
    """Each shard by its name alone, with what was left out of it."""
    return [{**row, "file": PurePath(row["file"]).name} for row in rows_of(documents_read)]


def measure_rows(extraction_measures: pd.DataFrame) -> list[dict[Any, Any]]:
    """The measures of all styles, then recall of each style."""
    return [
        {
            **row,
            "said": f"recall of {row['style'].replace('_', ' ')}"
            if row["style"]
            else words_of(MEASURES, row["measure"]),
            "bounds": _interval(row["low"], row["high"]),
        }
        for row in rows_of(extraction_measures)
    ]


def cleaning_rows(
    cleaning_funnel: pd.DataFrame, cleaning_reasons: pd.DataFrame
) -> list[dict[Any, Any]]:
    """Each rule with what it rewrote or rejected, and why."""
    found: dict[str, list[str]] = {}
    for row in cleaning_reasons.to_dict("records"):
        found.setdefault(str(row["rule"]), []).append(f"{row['reason']} {row['rows']:,}")
    return [
        {**row, "reasons": "; ".join(found.get(row["rule"], []))}
        for row in rows_of(cleaning_funnel)
    ]


def field_rows(
    field_counts: pd.DataFrame, field_accuracy: pd.DataFrame, assignment: pd.DataFrame
) -> list[dict[str, Any]]:
    """Each field: clean questions, domains, how often it is found, questions of the halves."""
    halves = count_field_halves(assignment)
    labelled = field_accuracy[field_accuracy["field"] != ""].drop_duplicates("field")
    accuracy = {row["field"]: row for row in rows_of(labelled)}
    counted = {row["field"]: row for row in rows_of(field_counts)}
    names = [*counted, *(name for name in halves.index if name not in counted)]
    return [
        {
            "field": name or "none named",
            "items": counted.get(name, {}).get("items", 0),
            "domains": counted.get(name, {}).get("domains", 0),
            "confidence": counted.get(name, {}).get("confidence"),
            "recall": accuracy.get(name, {}).get("recall"),
            "bounds": _interval(
                accuracy.get(name, {}).get("low"), accuracy.get(name, {}).get("high")
            ),
            "precision": accuracy.get(name, {}).get("precision"),
            "public": int(halves["validation"].get(name, 0)),
            "closed": int(halves["test"].get(name, 0)),
        }
        for name in names
        if name or counted.get(name, {}).get("items")
    ]


def level_rows(difficulty_counts: pd.DataFrame) -> dict[str, Any]:
    """Questions and shares by level (rows) and pool (columns), with the sample's target.

    Returns:
        `pools`, each with name and n, and `rows`: level, share of each pool, expected.
    """
    told: dict[str, dict[int, dict[Any, Any]]] = {pool: {} for pool in POOLS}
    for row in rows_of(difficulty_counts):
        told[row["pool"]][int(row["level"])] = row
    pools = {pool: levels for pool, levels in told.items() if levels}
    order = [*range(10), -1]
    used = {
        level
        for levels in pools.values()
        for level, row in levels.items()
        if row["n"] or level >= 0
    }
    nothing = {"n": 0, "share": 0.0, "expected": None}
    rows = [
        {
            "level": "not known" if level < 0 else str(level),
            "cells": [levels.get(level, nothing) for levels in pools.values()],
            "expected": told["sampled"].get(level, nothing)["expected"],
        }
        for level in order
        if level in used
    ]
    sizes = [
        {"name": POOLS[pool], "n": sum(int(row["n"]) for row in levels.values())}
        for pool, levels in pools.items()
    ]
    return {"pools": sizes, "rows": rows}


def agreement_rows(judge_agreement: pd.DataFrame) -> list[dict[Any, Any]]:
    """Alpha and plain agreement of all judges and of each pair."""
    return [
        {
            **row,
            "who": f"{row['judge']} and {row['other']}" if row["judge"] else "all judges",
            "what": f"{row['task']}: {row['criterion'].replace('_', ' ')}",
            "alpha_said": "—" if row["alpha"] is None else figure(row["alpha"]),
            "bounds": _interval(row["low"], row["high"], share=False),
            "lenient": "—" if row["difference"] is None else _signed(row["difference"]),
        }
        for row in rows_of(judge_agreement)
    ]


def decision_rows(checking_counts: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What the check decided, and the harms that were seen."""
    reasons = [
        {"said": words_of(REASONS, name), "n": n} for name, n in checking_counts["reasons"].items()
    ]
    harms = [
        {"said": f"harm seen: {name.replace('_', ' ')}", "n": n}
        for name, n in checking_counts["harms"].items()
    ]
    return [*reasons, *harms]


def source_rows(checking_counts: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Clean questions by where their level of difficulty is from."""
    return [
        {"said": words_of(SOURCES, name), "n": n} for name, n in checking_counts["sources"].items()
    ]


def rule_rows(rule_counts: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Each rule: questions altered, their share, and why the others were copied."""
    rows = []
    for rule, counts in rule_counts["rules"].items():
        total = sum(counts.values())
        others = {name: n for name, n in counts.items() if name != "altered"}
        altered = int(counts.get("altered", 0))
        rows.append(
            {
                "rule": rule,
                "altered": altered,
                "share": altered / total if total else None,
                "copied": "; ".join(
                    f"{name.replace('_', ' ')} {n:,}"
                    for name, n in sorted(others.items(), key=lambda one: (-one[1], one[0]))
                ),
            }
        )
    return rows


def distance_rows(half_distances: pd.DataFrame) -> list[dict[Any, Any]]:
    """How far the halves are apart in each attribute, beside chance."""
    return [
        {
            **row,
            "more": row["total_variation"] is not None
            and row["total_variation"] > (row["chance_95"] or 0),
            "p": "—"
            if row["p_value"] is None
            else "< 0.001"
            if row["p_value"] < 0.001
            else f"{row['p_value']:.3f}",
        }
        for row in rows_of(half_distances)
    ]


def leak_rows(leak_pairs: pd.DataFrame) -> list[dict[str, Any]]:
    """Pairs by verdict, most alike first: how many, how alike, what became of them. No ids."""
    rows = []
    for verdict, own in leak_pairs.groupby("verdict", sort=True):
        rows.append(
            {
                "verdict": words_of(VERDICTS, str(verdict)),
                "n": len(own),
                "lowest": float(own["similarity"].min()),
                "highest": float(own["similarity"].max()),
                "overlap": float(own["overlap"].mean()),
                "moved": int(own["moved"].astype(bool).sum()),
                "dropped": int((own["removed"] != "").sum()),
            }
        )
    return sorted(rows, key=lambda row: (-row["highest"], row["verdict"]))


def _interval(low: Any, high: Any, *, share: bool = True) -> str:
    if is_missing(low) or is_missing(high):
        return ""
    return f"[{percent(low)}, {percent(high)}]" if share else bounds(low, high)


def _signed(value: float) -> str:
    return f"{value:+.2f}".replace("-", "−")
