"""Suspect labels (SMART, A.2), and rates of wrong labels among checked items."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pandas as pd

from benchwright.core.errors import InputError
from benchwright.core.response_matrix import ResponseMatrix
from benchwright.datasets.review_csv import cell_text
from benchwright.methods.smart.filter_models import flag_unanimous
from benchwright.methods.smart.finding import Finding, in_rule_order
from benchwright.params.filtering import FilteringParams
from benchwright.statistics.proportion import ShareDifference, two_proportions, wilson_interval
from benchwright.tables.items import KnownLabelErrors
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

    Raises:
        InputError: a filter model is not among the answers.
    """
    params = filtering.suspect_label
    finding = flag_unanimous(SUSPECT, items, response_matrix, chosen_filter_models, params, "wrong")
    return replace(finding, removed=np.zeros(len(items), dtype=bool))


FILE = "label_errors.csv"
SUSPECT = "suspect_label"
NOT_SUSPECT = "not suspect_label"
ELSEWHERE = "not among the items"

_WRONG = {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False}
_RIGHT_KIND = "ok"
_TOP = (50, 100)


def rate_label_errors(
    suspect_items: pd.DataFrame,
    item_audit: pd.DataFrame,
    verdicts: pd.DataFrame,
    label_errors: pd.DataFrame,
    known_label_errors: pd.DataFrame | None = None,
    demonstrations: pd.DataFrame | None = None,
    calibration_items: pd.DataFrame | None = None,
    limit: int | None = None,
) -> pd.DataFrame:
    """Compare the error rate of kept items with that of removed ones.

    Filtering can concentrate wrong labels: models disagree with a wrong label, so the item is not
    easy and is kept.

    Args:
        suspect_items: items as ranked for review.
        item_audit: decision and rules of each item.
        verdicts: the verdict of suspect_label on each item.
        label_errors: a user's file: item_id, and `wrong` (0/1, true/false) or `kind` (`ok`, or what
            is wrong, as in MMLU-Redux), or both; `wrong` takes precedence.
        known_label_errors: what the benchmark's own source says; the file takes precedence.
        demonstrations: items of other splits; their ids are counted separately.
        calibration_items: the same.
        limit: if set, unknown ids are counted separately and not refused.

    Returns:
        A `LabelErrorRates` table with the rows all, kept, removed, `removed by <rule>`,
        suspect_label (its rate is the precision of that rule), not suspect_label (items that it
        cleared), `50 most suspect`, `100 most suspect` (the precision of the ranking's top), and
        `not among the items` where there are such ids. Without checked items it is empty.

    Raises:
        InputError: a value cannot be read, an id is unknown, or two rows of one id contradict.
    """
    checked = _checked(label_errors)
    known = set(item_audit["item_id"].astype(str))
    elsewhere = {row: item for row, (item, _) in checked.items() if item not in known}
    if limit is None:
        others = [table for table in (demonstrations, calibration_items) if table is not None]
        _refuse_unknown(elsewhere, {str(item) for table in others for item in table["item_id"]})
    of_source = known_label_errors if known_label_errors is not None else KnownLabelErrors.empty()
    wrong = {
        item: _is_wrong(kind)
        for item, kind in zip(of_source["item_id"], of_source["kind"], strict=True)
    } | _by_item(checked)
    if not wrong:
        return LabelErrorRates.empty()
    here = {item: value for item, value in wrong.items() if item in known}
    rows = [_row(name, members, here) for name, members in _groups(item_audit, verdicts)]
    ranked = suspect_items["item_id"].astype(str)
    rows += [_row(f"{k} most suspect", set(ranked[:k]), here) for k in _TOP if k < len(ranked)]
    if elsewhere:
        rows.append(_row(ELSEWHERE, set(elsewhere.values()), wrong))
    return LabelErrorRates.from_rows(rows)


def kept_minus_removed(label_error_rates: pd.DataFrame) -> ShareDifference:
    """Return the error rate of kept items minus that of removed ones, with interval and p-value."""
    columns = (label_error_rates[name] for name in ("items", "checked", "wrong"))
    counts = {str(name): (int(n), int(k)) for name, n, k in zip(*columns, strict=True)}
    kept, removed = counts.get("kept", (0, 0)), counts.get("removed", (0, 0))
    return two_proportions(kept[1], kept[0], removed[1], removed[0])


def _checked(label_errors: pd.DataFrame) -> dict[int, tuple[str, bool]]:
    """Return the item and whether its label is wrong, by row of the file (the header is row 1)."""
    columns = [name for name in ("item_id", "wrong", "kind") if name in label_errors]
    if len(label_errors) and ("item_id" not in columns or len(columns) < 2):
        raise InputError(
            f"{FILE}: columns {', '.join(map(str, label_errors.columns))}; required are item_id, "
            "and wrong (0 or 1) or kind"
        )
    rows: dict[int, tuple[str, bool]] = {}
    for number, row in enumerate(label_errors[columns].to_dict("records"), start=2):
        cells = {str(name): cell_text(value) for name, value in row.items()}
        if any(cells.values()):
            rows[number] = _row_of(number, cells)
    return rows


def _row_of(number: int, cells: Mapping[str, str]) -> tuple[str, bool]:
    item, wrong, kind = (cells.get(name, "") for name in ("item_id", "wrong", "kind"))
    where = f"{FILE}, row {number}"
    if not item:
        raise InputError(f"{where}, item_id: is empty; give the id of an item")
    if not wrong and not kind:
        raise InputError(f"{where} ({item}): neither wrong nor kind is given; wrong is 0 or 1")
    if not wrong:
        return item, _is_wrong(kind)
    value = _WRONG.get(wrong.casefold())
    if value is None:
        raise InputError(f"{where}, wrong: {wrong!r} is not 0, 1, true or false")
    if value and kind and not _is_wrong(kind):
        raise InputError(f"{where} ({item}): wrong is {wrong}, but kind is ok; remove one of them")
    return item, value


def _is_wrong(kind: str) -> bool:
    return kind.strip().casefold() != _RIGHT_KIND


def _refuse_unknown(elsewhere: Mapping[int, str], known: set[str]) -> None:
    unknown = [(row, item) for row, item in elsewhere.items() if item not in known]
    if unknown:
        row, item = unknown[0]
        more = f" ({len(unknown)} such rows)" if len(unknown) > 1 else ""
        raise InputError(
            f"{FILE}, row {row}, item_id: {item!r} is no item of this benchmark{more}; use ids "
            "of the dataset items"
        )


def _by_item(checked: Mapping[int, tuple[str, bool]]) -> dict[str, bool]:
    """Return each item once; refuse rows that contradict each other."""
    first: dict[str, int] = {}
    for row, (item, wrong) in checked.items():
        earlier = first.setdefault(item, row)
        if checked[earlier][1] != wrong:
            raise InputError(
                f"{FILE}, row {row}: {item!r} contradicts row {earlier}; keep one of them"
            )
    return {item: checked[row][1] for item, row in first.items()}


def _groups(item_audit: pd.DataFrame, verdicts: pd.DataFrame) -> list[tuple[str, set[str]]]:
    """Return the sets of items to compare, by name."""
    ids = item_audit["item_id"].astype(str)
    removed_by = dict(zip(ids, item_audit["removed_by"].str.split(","), strict=True))
    gone = set(ids[item_audit["decision"] == "removed"])
    groups = [("all", set(ids)), ("kept", set(ids) - gone), ("removed", gone)]
    for rule in in_rule_order(verdicts["rule"]):
        by_rule = {item for item in gone if rule in removed_by[item]}
        groups += [(f"removed by {rule}", by_rule)] if by_rule else []
    suspect = verdicts[verdicts["rule"] == SUSPECT]
    for name, state in ((SUSPECT, "flagged"), (NOT_SUSPECT, "clear")) if len(suspect) else ():
        groups.append((name, set(suspect.loc[suspect["state"] == state, "item_id"].astype(str))))
    return groups


def _row(
    name: str, members: set[str], wrong: Mapping[str, bool]
) -> tuple[str, int, int, float, float, float]:
    checked = [wrong[item] for item in members if item in wrong]
    interval = wilson_interval(sum(checked), len(checked))
    rate = sum(checked) / len(checked) if checked else float("nan")
    return name, len(checked), sum(checked), rate, interval.low, interval.high
