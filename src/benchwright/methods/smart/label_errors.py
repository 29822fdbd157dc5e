"""Suspect labels (SMART, A.2), and rates of wrong labels among checked items."""

from dataclasses import replace

import numpy as np
import pandas as pd

from benchwright.core.errors import InputError
from benchwright.core.response_matrix import ResponseMatrix
from benchwright.datasets.review_csv import cell_text
from benchwright.methods.smart.filter_models import flag_unanimous
from benchwright.methods.smart.finding import Finding, in_rule_order
from benchwright.params.filtering import FilteringParams
from benchwright.statistics.proportion import share_with_bounds
from benchwright.tables.smart import LabelErrorRates


def flag_suspect_labels(
    items: pd.DataFrame,
    response_matrix: ResponseMatrix,
    chosen_filter_models: list[str],
    filtering: FilteringParams,
) -> Finding:
    """Flag items that all filter models answer wrong with more than 0.8 probability.

    No item is removed: in the paper about half of such items have a correct label (SMART, A.2). The
    rule needs the probability of the chosen option.
    """
    finding = flag_unanimous(
        SUSPECT,
        items,
        response_matrix,
        filter_models=chosen_filter_models,
        params=filtering.suspect_label,
        doing="wrong",
    )
    return replace(finding, removed=np.zeros(len(items), dtype=bool))


FILE = "label_errors.csv"
SUSPECT = "suspect_label"
NOT_SUSPECT = "not suspect_label"

_WRONG = {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False}
_TOP = (50, 100)


def rate_label_errors(
    suspect_items: pd.DataFrame,
    item_audit: pd.DataFrame,
    verdicts: pd.DataFrame,
    label_errors: pd.DataFrame,
    known_label_errors: pd.DataFrame,
) -> pd.DataFrame:
    """Compare the error rate of kept items with that of removed ones.

    Filtering can concentrate wrong labels: models disagree with a wrong label, so the item is not
    easy and is kept.

    `label_errors` is a user's file: item_id, and `wrong` (0/1, true/false) or `kind` (`ok`, or what
    is wrong, as in MMLU-Redux), or both; `wrong` takes precedence, and the file over
    `known_label_errors`, what the benchmark's own source says. Return a `LabelErrorRates` table of
    all, kept and removed items, of those that each rule removed or suspects, and of the most
    suspect ones; empty without checked items.

    Raises:
        InputError: a row has no id or no readable value, or two rows of one id contradict.
    """
    ids = known_label_errors["item_id"]
    wrong = dict(zip(ids, map(_is_wrong, known_label_errors["kind"]), strict=True))
    wrong |= _checked(label_errors)
    if not wrong:
        return LabelErrorRates.empty()
    groups = _groups(item_audit, verdicts)
    ranked = suspect_items["item_id"]
    for k in _TOP:
        if k < len(ranked):
            groups[f"{k} most suspect"] = set(ranked[:k])
    rows = []
    for name, members in groups.items():
        checked = [wrong[item] for item in members if item in wrong]
        rate = share_with_bounds("rate", sum(checked), len(checked))
        rows.append((name, len(checked), sum(checked), *rate.values()))
    return LabelErrorRates.from_rows(rows)


def _checked(label_errors: pd.DataFrame) -> dict[str, bool]:
    checked: dict[str, bool] = {}
    for number, row in enumerate(label_errors.to_dict("records"), start=2):
        item = cell_text(row.get("item_id"))
        wrong = cell_text(row.get("wrong"))
        kind = cell_text(row.get("kind"))
        if not (item or wrong or kind):
            continue
        value = _WRONG.get(wrong.casefold())
        if not wrong and kind:
            value = _is_wrong(kind)
        where = f"{FILE}, row {number}"
        if not item or value is None:
            raise InputError(
                f"{where}: item_id {item!r}, wrong {wrong!r}, kind {kind!r}; a row needs the id of "
                "an item, and wrong (0, 1, true or false) or kind"
            )
        if checked.setdefault(item, value) != value:
            raise InputError(f"{where}: {item!r} contradicts an earlier row; keep one of them")
    return checked


def _is_wrong(kind: str) -> bool:
    return kind.strip().casefold() != "ok"


def _groups(item_audit: pd.DataFrame, verdicts: pd.DataFrame) -> dict[str, set[str]]:
    ids = item_audit["item_id"]
    removed_by = item_audit["removed_by"].str.split(",")
    gone = set(ids[item_audit["decision"] == "removed"])
    groups = {"all": set(ids), "kept": set(ids) - gone, "removed": gone}
    for rule in in_rule_order(verdicts["rule"]):
        by_rule = set(ids[[rule in rules for rules in removed_by]])
        if by_rule:
            groups[f"removed by {rule}"] = by_rule
    suspect = verdicts[verdicts["rule"] == SUSPECT].astype({"item_id": str})
    if len(suspect):
        groups[SUSPECT] = set(suspect.loc[suspect["state"] == "flagged", "item_id"])
        groups[NOT_SUSPECT] = set(suspect.loc[suspect["state"] == "clear", "item_id"])
    return groups
