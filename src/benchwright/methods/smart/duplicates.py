"""Copies of items: exact, with other options, or with another gold answer (SMART, 3.1 and A.3)."""

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Sequence
from math import nan

import pandas as pd

from benchwright.core.cells import cells
from benchwright.core.text_folding import folded
from benchwright.methods.smart.finding import CopyGroups, Grouping, Kind
from benchwright.params.filtering import FilteringParams

_SHARED_OPTIONS = 0.75  # of the smaller item's, the answer counted


def find_copies(items: pd.DataFrame, filtering: FilteringParams) -> CopyGroups:
    """Find the items that ask the same question: by one rule each, as `CopyGroups` names them."""
    questions = pd.Series(map(folded, cells(items["question"])), dtype="str")
    asked_again = items[questions.duplicated(keep=False).to_numpy()]
    # Whatever the key: questions that are equal in lower case are also equal folded.
    return CopyGroups(
        find_conflicting_gold(asked_again, filtering),
        find_duplicates(asked_again, filtering),
        find_option_supersets(asked_again, filtering),
    )


def find_duplicates(items: pd.DataFrame, filtering: FilteringParams) -> Grouping:
    """Group items with the same question, set of choices and answer (SMART, A.3).

    Case, white space and the order of the choices are ignored. Punctuation is not: "x+1" is not
    "x-1". With `key: question` only the question is compared, and only case is ignored, as in the
    released code.
    """
    if not filtering.duplicates.enabled:
        return Grouping("duplicate", "off")
    if filtering.duplicates.key == "question":
        keys: list[Hashable] = [question.lower() for question in items["question"]]
    else:
        keys = [
            (text, folded(answer))
            for text, answer in zip(_texts(items), items["answer_text"], strict=True)
        ]
    return _grouping("duplicate", _equal(items["item_id"].tolist(), keys))


def find_conflicting_gold(items: pd.DataFrame, filtering: FilteringParams) -> Grouping:
    """Group items with the same question and choices but different answers.

    At least one of them has a wrong label. All are reported, none is removed.
    """
    if not filtering.duplicates.enabled:
        return Grouping("conflicting_gold", "off")
    ids = items["item_id"].tolist()
    answer_of = dict(zip(ids, map(folded, items["answer_text"]), strict=True))
    groups = _equal(ids, _texts(items))
    differing = (group for group in groups if len({answer_of[member] for member in group}) > 1)
    return _grouping("conflicting_gold", tuple(differing))


def find_option_supersets(items: pd.DataFrame, filtering: FilteringParams) -> Grouping:
    """Group items with the same question and answer whose options contain the other's, or most.

    The item with the most options comes first in a group (then the first by id). The other members
    share with it at least three in four options of the smaller item, and an option besides the
    answer. Case and white space are ignored. A group has items with different options: exact copies
    alone are left to `find_duplicates`. Only items with the same question and answer are compared.
    """
    if not filtering.option_superset.enabled:
        return Grouping("option_superset", "off")
    same: defaultdict[tuple[str, str], list[tuple[str, frozenset[str]]]] = defaultdict(list)
    answers = map(folded, items["answer_text"])
    for item_id, (question, options), answer in zip(
        items["item_id"], _texts(items), answers, strict=True
    ):
        same[question, answer].append((item_id, options))
    groups: list[dict[str, float]] = []
    for (_, answer), members in same.items():
        groups += _supersets(members, answer)
    shares = {member: share for group in groups for member, share in group.items()}
    return Grouping("option_superset", "ran", "", tuple(map(tuple, groups)), shares)


def _supersets(members: list[tuple[str, frozenset[str]]], answer: str) -> list[dict[str, float]]:
    """Group items of one question and answer around those with the most options.

    Returns the members of each group with the share of the smaller item's options that they have in
    common with the first one, which has NaN. A group has at least two different sets of options.
    """
    groups: list[dict[str, float]] = []
    options_of: list[list[frozenset[str]]] = []
    having: defaultdict[str, list[int]] = defaultdict(list)  # groups by option of their first item
    for item_id, options in sorted(members, key=lambda member: -len(member[1])):
        wrong = options - {answer}
        shared = Counter(group for option in wrong for group in having[option])
        for group, count in sorted(shared.items()):
            part = (count + 1) / min(len(options), len(options_of[group][0]))
            if part >= _SHARED_OPTIONS:
                groups[group][item_id] = part
                options_of[group].append(options)
                break
        else:
            for option in wrong:
                having[option].append(len(groups))
            groups.append({item_id: nan})
            options_of.append([options])
    return [group for group, sets in zip(groups, options_of, strict=True) if len(set(sets)) > 1]


def _grouping(rule: Kind, groups: tuple[tuple[str, ...], ...]) -> Grouping:
    sizes = {member: float(len(group)) for group in groups for member in group}
    return Grouping(rule, "ran", "", groups, sizes)


def _texts(items: pd.DataFrame) -> list[tuple[str, frozenset[str]]]:
    """Return question and set of choices of each item, folded."""
    return [
        (folded(question), frozenset(map(folded, choices)))
        for question, choices in zip(cells(items["question"]), cells(items["choices"]), strict=True)
    ]


def _equal(item_ids: Sequence[str], keys: Iterable[Hashable]) -> tuple[tuple[str, ...], ...]:
    """Return the groups of two or more ids with equal keys, in order."""
    members: defaultdict[Hashable, list[str]] = defaultdict(list)
    for item_id, key in zip(item_ids, keys, strict=True):
        members[key].append(item_id)
    return tuple(tuple(group) for group in members.values() if len(group) > 1)
