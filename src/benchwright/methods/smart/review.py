"""Review of removed items, and the agreement of reviewers (SMART, section 5.3)."""

import logging
from collections import Counter, defaultdict
from typing import Any

import pandas as pd

from benchwright.core.errors import InputError
from benchwright.core.option_letters import LETTERS, lettered
from benchwright.core.seeding import item_uniforms
from benchwright.datasets.review_csv import cell_text
from benchwright.methods.smart.finding import in_rule_order
from benchwright.statistics.proportion import wilson_interval
from benchwright.tables.smart import ReviewAgreement, ReviewSheet

logger = logging.getLogger(__name__)

FILE = "review_sheet.csv"
SUSPECT_ITEMS = "suspect_items"
"""Stands for a rule in rows about suspect items, on which `agree` means a wrong or unclear item."""

_ITEMS_PER_RULE = 100
_VERDICTS = {
    "agree": "agree",
    "y": "agree",
    "yes": "agree",
    "1": "agree",
    "borderline": "borderline",
    "disagree": "disagree",
    "n": "disagree",
    "no": "disagree",
    "0": "disagree",
}


def make_review_sheet(
    items: pd.DataFrame,
    verdicts: pd.DataFrame,
    groups: pd.DataFrame,
    suspect_items: pd.DataFrame,
    seed: int,
) -> pd.DataFrame:
    """Draw removed items of each rule and list suspect items for review, as a `ReviewSheet`.

    At most 100 of the items that a rule removed are drawn, by a hash of seed, rule and
    item id. They are in the order drawn, so a reviewer who stops early has still judged a random
    sample. An item that two rules removed can be drawn for both: each row is about one rule.
    As many suspect items follow, in the order of their ranking.
    """
    rows = []
    removed = verdicts[verdicts["removed"]]
    for rule in in_rule_order(removed["rule"]):
        of_rule = removed[removed["rule"] == rule]
        reason = dict(zip(of_rule["item_id"], of_rule["detail"], strict=True))
        ids = sorted(reason)
        lots = sorted(zip(item_uniforms(seed, f"review_{rule}", ids).tolist(), ids, strict=True))
        for _, item in lots[:_ITEMS_PER_RULE]:
            rows.append({"item_id": item, "rule": rule, "reason": reason[item]})
    for suspect in suspect_items.head(_ITEMS_PER_RULE).itertuples():
        why = describe_suspect(suspect)
        rows.append({"item_id": str(suspect.item_id), "rule": SUSPECT_ITEMS, "reason": why})
    partner = _partners(groups)
    shown = {row["item_id"] for row in rows} | set(partner.values())
    texts = items[items["item_id"].isin(shown)].set_index("item_id").to_dict("index")
    for row in rows:
        text = texts[row["item_id"]]
        gold = text["answer"]
        answer = str(text["answer_text"])
        if 0 <= gold < len(text["choices"]):
            answer = f"{LETTERS[gold]}. {text['choices'][gold]}"
        neighbour = ""
        if like := partner.get((row["rule"], row["item_id"])):
            parts = [texts[like]["question"], lettered(texts[like]["choices"])]
            neighbour = "\n".join(filter(None, parts))
        row |= {
            "subject": text["subject"],
            "question": text["question"],
            "choices": lettered(text["choices"]),
            "answer": answer,
            "neighbour": neighbour,
            "verdict": "",
            "note": "",
        }
    return ReviewSheet.from_rows(rows)


def describe_suspect(row: Any) -> str:
    """Describe a row of `SuspectItems`: who is wrong, and what most chose."""
    answers = "1 answer" if row.n_models == 1 else f"{row.n_models:,} answers"
    most = "" if row.alternative < 0 else f", most often {LETTERS[row.alternative]}"
    return f"{row.share_wrong:.0%} wrong{most} ({answers}, each family once)"


def read_reviews(
    review_sheet_filled: pd.DataFrame, verdicts: pd.DataFrame, suspect_items: pd.DataFrame
) -> pd.DataFrame:
    """Count how often the reviewer agreed with each rule, and found suspect items wrong.

    A verdict is agree (y, yes, 1), borderline, or disagree (n, no, 0) in any case; a row without
    one is not judged yet.

    Returns:
        A `ReviewAgreement` table, a row per rule that was judged, in the order of `ItemAudit`, and
        one of `suspect_items`, whose share of agreement is the precision of the ranking's top.
        Judgements of items that the rule does not remove in this run are ignored, with a warning.

    Raises:
        InputError: a verdict is invalid, an id or rule is missing, or two rows about the same item
            and rule contradict each other.
    """
    judged = judgements(review_sheet_filled)
    removed = verdicts[verdicts["removed"]]
    current = set(zip(removed["rule"].astype(str), removed["item_id"], strict=True))
    current |= {(SUSPECT_ITEMS, item) for item in suspect_items["item_id"]}
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for key in current & judged.keys():
        counts[key[0]][judged[key]] += 1
    if elsewhere := len(judged.keys() - current):
        logger.warning("%s: %d judgements are about items not removed here", FILE, elsewhere)
    rows = []
    for rule in (*in_rule_order(removed["rule"]), SUSPECT_ITEMS):
        count = counts[rule]
        n = count.total()
        if n:
            bounds = wilson_interval(count["agree"], n)
            rows.append(
                {
                    "rule": rule,
                    "reviewed": n,
                    "agree": count["agree"],
                    "borderline": count["borderline"],
                    "disagree": count["disagree"],
                    "share_agree": count["agree"] / n,
                    "low": bounds.low,
                    "high": bounds.high,
                }
            )
    return ReviewAgreement.from_rows(rows)


def _partners(groups: pd.DataFrame) -> dict[tuple[str, str], str]:
    """Return the item to compare a duplicate or similar item with, by rule and item."""
    partner: dict[tuple[str, str], str] = {}
    for key, rows in groups.groupby(["group_id", "kind"], sort=False):
        first = [*rows.loc[rows["kept"], "item_id"], *rows["item_id"]]
        for member in rows["item_id"]:
            partner[str(key[1]), member] = next(other for other in first if other != member)
    return partner


def judgements(filled: pd.DataFrame) -> dict[tuple[str, str], str]:
    """Return the verdict on each rule and item of a filled-in sheet, each once."""
    columns = [filled[name].map(cell_text) for name in ("item_id", "rule", "verdict")]
    verdicts: dict[tuple[str, str], str] = {}
    for number, (item, rule, word) in enumerate(zip(*columns, strict=True), start=2):
        if not word:
            continue
        where = f"{FILE}, row {number}"
        verdict = _VERDICTS.get(word.casefold())
        if not item or not rule or verdict is None:
            raise InputError(
                f"{where}: item_id {item!r}, rule {rule!r}, verdict {word!r}; a verdict is agree, "
                "borderline or disagree (or y, n) on an item and a rule"
            )
        if verdicts.setdefault((rule.casefold(), item), verdict) != verdict:
            raise InputError(
                f"{where}: {item!r} under {rule} contradicts an earlier row; keep one of them"
            )
    return verdicts
