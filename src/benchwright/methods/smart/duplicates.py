"""Duplicate items, and copies with different gold answers (SMART, section 3.1 and A.3)."""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence

import pandas as pd

from benchwright.core.natural_order import sort_items
from benchwright.methods.smart.finding import Grouping, Kind
from benchwright.params.filtering import FilteringParams


def find_duplicates(items: pd.DataFrame, filtering: FilteringParams) -> Grouping:
    """Group items with the same question, set of choices and answer (SMART, A.3).

    Case, white space and the order of the choices are ignored. Punctuation is not: "x+1" is not
    "x-1". With `key: question` only the question is compared.
    """
    if not filtering.duplicates.enabled:
        return Grouping("duplicate", "off")
    items = sort_items(items)
    if filtering.duplicates.key == "question":
        keys: list[Hashable] = [question.lower() for question in items["question"]]
    else:
        keys = [
            (text, fold(answer))
            for text, answer in zip(_texts(items), items["answer_text"], strict=True)
        ]
    return _grouping("duplicate", _equal(items["item_id"].tolist(), keys))


def find_conflicting_gold(items: pd.DataFrame, filtering: FilteringParams) -> Grouping:
    """Group items with the same question and choices but different answers.

    At least one of them has a wrong label. All are reported, none is removed.
    """
    if not filtering.duplicates.enabled:
        return Grouping("conflicting_gold", "off")
    items = sort_items(items)
    ids = items["item_id"].tolist()
    answer_of = dict(zip(ids, map(fold, items["answer_text"]), strict=True))
    groups = _equal(ids, _texts(items))
    differing = (group for group in groups if len({answer_of[member] for member in group}) > 1)
    return _grouping("conflicting_gold", tuple(differing))


def _grouping(rule: Kind, groups: tuple[tuple[str, ...], ...]) -> Grouping:
    sizes = {member: float(len(group)) for group in groups for member in group}
    return Grouping(rule, "ran", "", groups, sizes)


def fold(text: str) -> str:
    """Return the text without differences of case and white space."""
    return " ".join(text.casefold().split())


def _texts(items: pd.DataFrame) -> list[tuple[str, frozenset[str]]]:
    """Return question and set of choices of each item, folded."""
    return [
        (fold(question), frozenset(map(fold, choices)))
        for question, choices in zip(items["question"], items["choices"], strict=True)
    ]


def _equal(item_ids: Sequence[str], keys: Iterable[Hashable]) -> tuple[tuple[str, ...], ...]:
    """Return the groups of two or more ids with equal keys, in order."""
    members: defaultdict[Hashable, list[str]] = defaultdict(list)
    for item_id, key in zip(item_ids, keys, strict=True):
        members[key].append(item_id)
    return tuple(tuple(group) for group in members.values() if len(group) > 1)
