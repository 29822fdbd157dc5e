"""Removed items for a person to judge, and how often the person agrees (SMART, section 5.3)."""

from collections import Counter
from collections.abc import Mapping, Sequence
from math import nan
from typing import Any

import pandas as pd

from benchwright.core.errors import InputError
from benchwright.core.seeding import item_uniforms
from benchwright.datasets.review_csv import cell_text
from benchwright.methods.smart.finding import in_rule_order
from benchwright.params.evaluation import EvaluationParams
from benchwright.statistics.proportion import wilson_interval
from benchwright.tables.smart import ReviewAgreement, ReviewSheet

FILE = "review_sheet.csv"
STALE = "stale"
"""The row of `ReviewAgreement` that counts judgements of items this run does not remove."""

_VERDICTS = {
    **dict.fromkeys(("agree", "y", "yes", "1"), "agree"),
    "borderline": "borderline",
    **dict.fromkeys(("disagree", "n", "no", "0"), "disagree"),
}


def make_review_sheet(
    items: pd.DataFrame,
    item_audit: pd.DataFrame,
    verdicts: pd.DataFrame,
    groups: pd.DataFrame,
    evaluation: EvaluationParams,
    seed: int,
) -> pd.DataFrame:
    """Draw removed items of each rule for a person to judge.

    Of each rule at most `review_items` of the items that it removed, by a hash of seed, rule and
    item id. They stand in the order drawn, so whoever stops early has judged a random sample too.
    An item that two rules removed may be drawn for both: each row is about one rule.

    Returns:
        A `ReviewSheet` with empty `verdict` and `note`, rules in the order of `ItemAudit`.
    """
    partner = _partners(item_audit, groups)
    removed = verdicts[verdicts["removed"]]
    drawn = []
    for rule in in_rule_order(removed["rule"]):
        own = removed[removed["rule"] == rule]
        reason = dict(zip(own["item_id"].astype(str), own["detail"], strict=True))
        ids = sorted(reason)
        lot = dict(zip(ids, item_uniforms(seed, f"review_{rule}", ids).tolist(), strict=True))
        first = sorted(ids, key=lambda item: (lot[item], item))[: evaluation.review_items]
        drawn += [(item, rule, reason[item], partner.get((rule, item))) for item in first]
    shown = {name for item, _, _, like in drawn for name in (item, like) if name is not None}
    some = items[items["item_id"].isin(shown)].to_dict("records")
    texts = {str(row["item_id"]): row for row in some}
    rows = [
        (
            *(item, rule, texts[item]["subject"], texts[item]["question"]),
            *("\n".join(_lettered(texts[item]["choices"])), _answer(texts[item]), why),
            "" if like is None else _whole(texts[like]),
            *("", ""),
        )
        for item, rule, why, like in drawn
    ]
    return ReviewSheet.from_rows(rows)


def read_reviews(review_sheet_filled: pd.DataFrame, verdicts: pd.DataFrame) -> pd.DataFrame:
    """Count how often the reviewer agreed with each rule.

    Args:
        review_sheet_filled: the sheet with verdicts: columns item_id, rule and verdict. A verdict
            is agree (y, yes, 1), borderline, or disagree (n, no, 0) in any case; a row without
            one is not judged yet.
        verdicts: which rule removed which item in this run.

    Returns:
        A `ReviewAgreement` table, a row per rule that was judged, in the order of `ItemAudit`;
        `low` and `high` bound `share_agree` (Wilson, 95%). Judgements of items that the rule does
        not remove in this run (a sheet of another run) are counted in the row `stale`, which has
        no share. No judgements give an empty table.

    Raises:
        InputError: a verdict is not understood, an id or rule is missing, or two rows about the
            same item and rule contradict each other.
    """
    judged = _judged(review_sheet_filled)
    removed = verdicts[verdicts["removed"]]
    current = set(zip(removed["rule"].astype(str), removed["item_id"].astype(str), strict=True))
    counts: dict[str, Counter[str]] = {rule: Counter() for rule in in_rule_order(removed["rule"])}
    stale: Counter[str] = Counter()
    for (rule, item), said in judged.items():
        (counts[rule] if (rule, item) in current else stale)[said] += 1
    rows = [_agreement_row(rule, said) for rule, said in counts.items() if said]
    if stale:
        rows.append((*_agreement_row(STALE, stale)[:5], nan, nan, nan))
    return ReviewAgreement.from_rows(rows)


def stale_reviews(review_agreement: pd.DataFrame) -> str:
    """What to tell of judgements that do not belong to this run, or ""."""
    stale = review_agreement.loc[review_agreement["rule"] == STALE, "reviewed"]
    if stale.empty:
        return ""
    n = int(stale.iloc[0])
    return (
        f"{n} judgement{'' if n == 1 else 's'} in {FILE} {'is' if n == 1 else 'are'} of items that "
        "this run does not remove by that rule (another run's sheet), and not counted."
    )


def _partners(item_audit: pd.DataFrame, groups: pd.DataFrame) -> dict[tuple[str, str], str]:
    """The item that a duplicate or similar item is held against, by rule and item.

    The nearest neighbour, where it is in the same group; else the first member that is kept, else
    the first other member.
    """
    nearest = dict(zip(item_audit["item_id"].astype(str), item_audit["neighbour"], strict=True))
    found: dict[tuple[str, str], str] = {}
    for _, group in groups.groupby("group_id", sort=False):
        rule = str(group["kind"].iloc[0])
        members = group["item_id"].astype(str).tolist()
        kept = [m for m, stays in zip(members, group["kept"], strict=True) if stays]
        for member in members:
            others = [m for m in (*kept, *members) if m != member]
            near = nearest.get(member)
            found[rule, member] = near if isinstance(near, str) and near in others else others[0]
    return found


def _lettered(choices: Sequence[str]) -> list[str]:
    return [f"{chr(ord('A') + i)}. {choice}" for i, choice in enumerate(choices)]


def _answer(item: Mapping[Any, Any]) -> str:
    """The right option with its letter, or the text of an open-ended answer."""
    answer, lettered = int(item["answer"]), _lettered(item["choices"])
    return lettered[answer] if 0 <= answer < len(lettered) else str(item["answer_text"])


def _whole(item: Mapping[Any, Any]) -> str:
    return "\n".join([item["question"], *_lettered(item["choices"])])


def _judged(filled: pd.DataFrame) -> dict[tuple[str, str], str]:
    """What was said of each rule and item, each once."""
    columns = [filled[name] for name in ("item_id", "rule", "verdict")]
    said: dict[tuple[str, str], str] = {}
    first: dict[tuple[str, str], int] = {}
    for number, cells in enumerate(zip(*columns, strict=True), start=2):
        item, rule, word = (cell_text(cell) for cell in cells)
        if not word:
            continue
        where = f"{FILE}, row {number}"
        if not item or not rule:
            missing = "rule" if item else "item_id"
            raise InputError(f"{where}, {missing}: is empty, but there is a verdict ({word})")
        verdict = _VERDICTS.get(word.casefold())
        if verdict is None:
            raise InputError(
                f"{where}, verdict: {word!r} is not agree, borderline or disagree (or y, n)"
            )
        key = (rule.casefold(), item)
        if said.setdefault(key, verdict) != verdict:
            raise InputError(
                f"{where}: {item!r} under {rule} is {verdict} here and {said[key]} in row "
                f"{first[key]}; leave one"
            )
        first.setdefault(key, number)
    return said


def _agreement_row(
    rule: str, said: Counter[str]
) -> tuple[str, int, int, int, int, float, float, float]:
    n = sum(said.values())
    interval = wilson_interval(said["agree"], n)
    share = said["agree"] / n if n else nan
    counts = (said["agree"], said["borderline"], said["disagree"])
    return (rule, n, *counts, share, interval.low, interval.high)
