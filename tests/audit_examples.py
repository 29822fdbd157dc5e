"""Small item audits, in memory and as a run saves them."""

from pathlib import Path
from typing import Any

import pandas as pd

from benchwright.cli.diff import AUDIT
from benchwright.tables.smart import ItemAudit

RULES = (
    *("anomalous", "easy", "easy_unanimous", "answer_only", "suspect_label"),
    *("conflicting_gold", "duplicate", "option_superset", "similar"),
)


def row(item_id: str, removed_by: str = "", **given: Any) -> dict[str, Any]:
    states = dict.fromkeys(RULES, "clear") | dict.fromkeys(filter(None, removed_by.split(",")), "")
    states = {rule: state or "flagged" for rule, state in states.items()}
    return {
        "item_id": item_id,
        "subject": "s",
        "decision": "removed" if removed_by else "kept",
        "tags": "",
        "removed_by": removed_by,
        "reasons": removed_by,
        **states,
        "neighbour": None,
        "neighbour_distance": float("nan"),
        "question": f"Question {item_id}?",
        "choices": ["yes", "no"],
        "answer": 0,
        **given,
    }


def audit(*rows: dict[str, Any]) -> pd.DataFrame:
    return pd.DataFrame(list(rows), columns=ItemAudit.columns())


def save(folder: Path, version: str, *rows: dict[str, Any], status: str = "ran") -> Path:
    """What a run leaves of a benchmark and variant, as far as it is compared."""
    path = folder / AUDIT / version / AUDIT
    path.parent.mkdir(parents=True)
    audit(*rows).to_parquet(path)
    coverage = folder / "rule_coverage.parquet" / version / "rule_coverage.parquet"
    coverage.parent.mkdir(parents=True)
    table = {"rule": ["easy"], "status": [status], "reason": ["" if status == "ran" else "why"]}
    pd.DataFrame(table).to_parquet(coverage)
    return path


def save_three(data_root: Path) -> Path:
    """Three versions of an audit of arc by smart; the folder of the variant."""
    folder = data_root / "07_model_output" / "arc" / "smart"
    save(folder, "2026-01-01T00.00.00.000Z", row("a", "easy"), row("b"))
    save(folder, "2026-01-02T00.00.00.000Z", row("a"), row("b"), status="not_run")
    save(folder, "2026-02-01T00.00.00.000Z", row("a"), row("b", "similar"))
    return folder
