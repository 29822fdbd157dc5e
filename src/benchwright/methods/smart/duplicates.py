"""Copies of items: exact, with other options, or with another gold answer (SMART, 3.1 and A.3)."""

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator
from math import nan

import pandas as pd

from benchwright.core.cells import cells
from benchwright.methods.smart.finding import CopyGroups, Grouping, Kind
from benchwright.params.filtering import FilteringParams

Options = frozenset[str]

_SHARED_OPTIONS = 0.75  # of the smaller item's, the answer counted


def find_copies(items: pd.DataFrame, filtering: FilteringParams) -> CopyGroups:
    """Find the items that ask the same question: by one rule each, as `CopyGroups` names them."""
    folded = pd.Series(map(fold, cells(items["question"])), dtype="str")
    asked_again = items[folded.duplicated(keep=False).to_numpy()]
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
    keys: Iterable[Hashable]
    if filtering.duplicates.key == "question":
        keys = map(str.lower, cells(items["question"]))
    else:
        keys = zip(_texts(items), map(fold, items["answer_text"]), strict=True)
    return _grouping("duplicate", _equal(items["item_id"], keys))


def find_conflicting_gold(items: pd.DataFrame, filtering: FilteringParams) -> Grouping:
    """Group items with the same question and choices but different answers.

    At least one of them has a wrong label. All are reported, none is removed.
    """
    if not filtering.duplicates.enabled:
        return Grouping("conflicting_gold", "off")
    answer_of = dict(zip(items["item_id"], map(fold, items["answer_text"]), strict=True))
    groups = _equal(items["item_id"], _texts(items))
    differing = [group for group in groups if len(set(map(answer_of.get, group))) > 1]
    return _grouping("conflicting_gold", differing)


def find_option_supersets(items: pd.DataFrame, filtering: FilteringParams) -> Grouping:
    """Group items with the same question and answer whose options contain the other's, or most.

    The item with the most options comes first in a group (then the first by id). The other members
    share with it at least three in four options of the smaller item, and an option besides the
    answer. Case and white space are ignored. A group has items with different options: exact copies
    alone are left to `find_duplicates`. Only items with the same question and answer are compared.
    """
    if not filtering.option_superset.enabled:
        return Grouping("option_superset", "off")
    same: defaultdict[tuple[str, str], dict[str, Options]] = defaultdict(dict)
    answers = map(fold, items["answer_text"])
    rows = zip(items["item_id"], _texts(items), answers, strict=True)
    for item_id, (question, options), answer in rows:
        same[question, answer][item_id] = options
    groups = []
    shares: dict[str, float] = {}
    for (_, answer), options_of in same.items():
        for group in _supersets(options_of, answer):
            groups.append(tuple(group))
            shares |= group
    return Grouping("option_superset", "ran", groups=tuple(groups), value=shares)


def _supersets(options_of: dict[str, Options], answer: str) -> Iterator[dict[str, float]]:
    """Group items of one question and answer around those with the most options.

    Yields the members of each group with the share of the smaller item's options that they have in
    common with the first one, which has NaN. A group has at least two different sets of options.
    """
    groups: list[dict[str, float]] = []
    largest: list[Options] = []  # of each group
    having: defaultdict[str, list[int]] = defaultdict(list)  # groups by option of their first item
    for item_id in sorted(options_of, key=lambda item_id: -len(options_of[item_id])):
        options = options_of[item_id]
        wrong = options - {answer}
        shared: Counter[int] = Counter()
        for option in wrong:
            shared.update(having[option])
        for group, count in sorted(shared.items()):
            part = (count + 1) / min(len(options), len(largest[group]))
            if part >= _SHARED_OPTIONS:
                groups[group][item_id] = part
                break
        else:
            for option in wrong:
                having[option].append(len(groups))
            groups.append({item_id: nan})
            largest.append(options)
    for members in groups:
        if len(set(map(options_of.get, members))) > 1:
            yield members


def _grouping(rule: Kind, groups: list[tuple[str, ...]]) -> Grouping:
    sizes: dict[str, float] = {}
    for group in groups:
        sizes |= dict.fromkeys(group, float(len(group)))
    return Grouping(rule, "ran", groups=tuple(groups), value=sizes)


def fold(text: str) -> str:
    """Return the text without differences of case and white space."""
    return " ".join(text.casefold().split())


def _texts(items: pd.DataFrame) -> Iterator[tuple[str, Options]]:
    """Yield question and set of choices of each item, folded."""
    for question, choices in zip(cells(items["question"]), cells(items["choices"]), strict=True):
        yield fold(question), frozenset(map(fold, choices))


def _equal(item_ids: Iterable[str], keys: Iterable[Hashable]) -> list[tuple[str, ...]]:
    """Return the groups of two or more ids with equal keys, in order."""
    members: defaultdict[Hashable, list[str]] = defaultdict(list)
    for item_id, key in zip(item_ids, keys, strict=True):
        members[key].append(item_id)
    return [tuple(group) for group in members.values() if len(group) > 1]
