"""The items that the report shows in full: groups, suspects, and examples of removals."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from benchwright.core.configuration import parse_configuration
from benchwright.core.response_matrix import ResponseMatrix
from benchwright.core.seeding import item_uniforms
from benchwright.methods.smart.label_errors import SUSPECT
from benchwright.methods.smart.review import describe_suspect, letter
from benchwright.reports.page.parts import Article, Folded, Question, Text
from benchwright.reports.smart.item_list import LONG_CHOICE, LONG_QUESTION, clip_text

_PER_RULE = 3  # removed items
_GROUPS = 10  # of similar items
_SHOWN_LABELS = 50
_SHOWN_MEMBERS = 12
_STRONGEST = 7
_KINDS = ("similar", "duplicate", "option_superset", "conflicting_gold")


class Examples(NamedTuple):
    """Items as blocks of the page."""

    removed: list[Any]  # some items that each rule removed
    groups: dict[str, list[Any]]  # the largest groups, by kind
    suspects: list[Folded]  # the top of the ranking of suspect items
    n_suspects: int  # length of that ranking
    flagged: int  # items that the rule flagged


def choose_report_examples(
    items: pd.DataFrame,
    verdicts: pd.DataFrame,
    groups: pd.DataFrame,
    suspect_items: pd.DataFrame,
    response_matrix: ResponseMatrix,
    rule_coverage: pd.DataFrame,
    seed: int,
) -> Examples:
    """Choose the items that the report shows in full.

    Examples of removed items are drawn by the seed and the item id, so that every run draws the
    same. The largest groups are shown.
    """
    texts = items.set_index(items["item_id"].astype(str))
    silent = {
        row["rule"]: row["reason"] or ("switched off" if row["status"] == "off" else "did not run")
        for row in rule_coverage.to_dict("records")
        if row["status"] in ("off", "not_run")
    }
    most = {"conflicting_gold": _SHOWN_LABELS}
    flagged = verdicts[(verdicts["rule"] == SUSPECT) & (verdicts["state"] == "flagged")]
    return Examples(
        _removed(verdicts, texts, _PER_RULE, seed),
        {
            kind: _groups(
                groups[groups["kind"] == kind],
                texts,
                most.get(kind, _GROUPS),
                f"Not checked: {silent[kind]}." if kind in silent else "None.",
            )
            for kind in _KINDS
        },
        _suspects(suspect_items, flagged, response_matrix, texts),
        len(suspect_items),
        len(flagged),
    )


def _question(texts: pd.DataFrame, item_id: object) -> Question:
    row = texts.loc[str(item_id)].to_dict()
    choices = [clip_text(str(choice), LONG_CHOICE) for choice in row["choices"]]
    return Question(clip_text(str(row["question"]), LONG_QUESTION), choices, int(row["answer"]))


def _suspects(
    suspect_items: pd.DataFrame,
    flagged: pd.DataFrame,
    matrix: ResponseMatrix,
    texts: pd.DataFrame,
) -> list[Folded]:
    """Return the top of the ranking, and what the strongest models chose."""
    detail: Mapping[Any, Any] = dict(zip(flagged["item_id"], flagged["detail"], strict=True))
    top = suspect_items.head(_SHOWN_LABELS)
    known = ~np.isnan(matrix.correct)
    accuracy = np.where(known, matrix.correct, 0).sum(axis=1) / np.maximum(known.sum(axis=1), 1)
    order = np.lexsort((np.array(matrix.models), -accuracy.round(12))).tolist()
    best = {parse_configuration(matrix.models[row]).model: row for row in reversed(order)}
    strongest = [row for row in order if row in best.values()][:_STRONGEST]
    chosen = matrix.select_items(top["item_id"].tolist()).prediction[strongest]
    shown = []
    for place, row in enumerate(top.itertuples()):
        said = [
            f"{matrix.models[model]} {letter(option) if option >= 0 else '–'}"
            for model, option in zip(strongest, chosen[:, place], strict=True)
        ]
        note = f" Flagged: {detail[row.item_id]}." if detail.get(row.item_id) else ""
        question = _question(texts, row.item_id)
        blocks = [
            question,
            Text(f"{describe_suspect(row)}.{note}", "quiet"),
            Text(f"Strongest models: {', '.join(said)}", "quiet"),
        ]
        shown.append(Folded(f"{question.question} · {row.item_id}", blocks))
    return shown


def _removed(verdicts: pd.DataFrame, texts: pd.DataFrame, most: int, seed: int) -> list[Any]:
    blocks: list[Any] = []
    for rule, part in verdicts[verdicts["removed"]].groupby("rule"):
        draws = item_uniforms(seed, f"report/{rule}", part["item_id"].tolist())
        chosen = part.iloc[np.argsort(draws)[:most]].sort_values("item_id").to_dict("records")
        name = str(rule).replace("_", " ")
        blocks.append(Text(f"Removed as {name} {len(chosen)} of {len(part):,}", "heading"))
        for row in chosen:
            subject = str(texts.loc[str(row["item_id"]), "subject"]).replace("_", " ")
            detail = Text(str(row["detail"]), "quiet")
            shown = [_question(texts, row["item_id"]), detail]
            blocks.append(Article(str(row["item_id"]), shown, subject))
    return blocks


def _groups(part: pd.DataFrame, texts: pd.DataFrame, most: int, none: str) -> list[Any]:
    """Return the number of groups by size, and the largest of them with their texts."""
    sizes = part.groupby("group_id")["item_id"].size()
    if sizes.empty:
        return [Text(none)]
    ranked = sorted(sizes.items(), key=lambda entry: (-entry[1], str(entry[0])))[:most]
    counts = ", ".join(f"{n:,} of {size}" for size, n in sizes.value_counts().sort_index().items())
    groups = "1 group" if len(sizes) == 1 else f"{len(sizes):,} groups"
    text = f"{groups} with {sizes.sum():,} items: {counts} items."
    if len(ranked) < len(sizes):
        text += f" {len(ranked)} of them are shown, the largest first."
    blocks: list[Any] = [Text(text)]
    for group, size in ranked:
        members = part[part["group_id"] == group].sort_values(
            ["kept", "item_id"], ascending=[False, True]
        )
        shown: list[Any] = [
            Article(
                str(row["item_id"]),
                [_question(texts, row["item_id"])],
                "kept" if row["kept"] else "removed",
            )
            for row in members.head(_SHOWN_MEMBERS).to_dict("records")
        ]
        if size > len(shown):
            more = f"… and {size - len(shown)} more, in the dataset `groups`."
            shown.append(Text(more, "quiet", code=True))
        first = _question(texts, members["item_id"].iloc[0]).question
        blocks.append(Folded(f"{first} · {size} items, {members['kept'].sum()} kept", shown))
    return blocks
