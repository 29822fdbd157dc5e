"""The items that the report shows in full: groups and suspects."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from benchwright.core.wording import clip_text, count
from benchwright.methods.smart.review import describe_suspect
from benchwright.reports.page.parts import Article, Folded, Question, Text
from benchwright.reports.smart.item_list import LONG_QUESTION, clip_choices

_SUSPECTS = 50
_GROUPS = 10
_MEMBERS = 12


def _question(items: pd.DataFrame, item_id: object) -> Question:
    row = items.loc[str(item_id)].to_dict()
    question = clip_text(str(row["question"]), LONG_QUESTION)
    return Question(question, clip_choices(row["choices"]), int(row["answer"]))


def show_suspects(suspect_items: pd.DataFrame, items: pd.DataFrame) -> list[Folded]:
    """Return the top of the ranking of suspect items."""
    items = items.set_index("item_id")
    shown = []
    for row in suspect_items.head(_SUSPECTS).itertuples():
        question = _question(items, row.item_id)
        blocks = [question, Text(f"{describe_suspect(row)}.", "quiet")]
        shown.append(Folded(f"{question.question} · {row.item_id}", blocks))
    return shown


def show_groups(
    groups: pd.DataFrame, items: pd.DataFrame, kind: str, silent: Mapping[str, str]
) -> list[Any]:
    """Return the number of groups of a kind, and the largest of them with their texts.

    `silent` has the reasons why rules did not run.
    """
    part = groups[groups["kind"] == kind].sort_values(["kept", "item_id"], ascending=[False, True])
    if part.empty:
        return [Text(f"Not checked: {silent[kind]}." if kind in silent else "None.")]
    items = items.set_index("item_id")
    of_group = sorted(part.groupby("group_id"), key=lambda each: (-len(each[1]), str(each[0])))
    text = f"{count(len(of_group), 'group')} with {len(part):,} items."
    if len(of_group) > _GROUPS:
        text += f" The {_GROUPS} largest are shown."
    blocks: list[Any] = [Text(text)]
    for _, members in of_group[:_GROUPS]:
        shown: list[Any] = [
            Article(
                str(row["item_id"]),
                [_question(items, row["item_id"])],
                "kept" if row["kept"] else "removed",
            )
            for row in members.head(_MEMBERS).to_dict("records")
        ]
        if len(members) > _MEMBERS:
            more = f"… and {len(members) - _MEMBERS} more, in the dataset `groups`."
            shown.append(Text(more, "quiet"))
        first = shown[0].blocks[0].question
        blocks.append(
            Folded(f"{first} · {len(members)} items, {members['kept'].sum()} kept", shown)
        )
    return blocks
