"""The combination of the rules: rules about single items, then rules about groups."""

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pandas as pd

from benchwright.core.cells import in_one_part
from benchwright.core.seeding import item_uniforms
from benchwright.methods.smart.filter_models import listed
from benchwright.methods.smart.finding import CopyGroups, Finding, Grouping
from benchwright.params.filtering import FilteringParams
from benchwright.tables.smart import Groups

Draw = Mapping[str, float]


def combine_rules(
    items: pd.DataFrame,
    copy_groups: CopyGroups,
    similar_groups: Grouping,
    filtering: FilteringParams,
    seed: int,
    *single: Finding,
) -> tuple[list[Finding], pd.DataFrame]:
    """Choose the members of each group to remove and gather the findings of every rule.

    The rules about `single` items come first. Then one copy of each group of duplicates, the item
    with the most options of each group of copies with other options, and half of each group of
    similar items are kept. Members that other rules remove are counted first, so that a group never
    loses its last acceptable member to redundancy alone; if rules are `independent`, it may.
    """
    ids = pd.Index(items["item_id"])
    alone = np.zeros(len(ids), dtype=bool)
    for finding in single:
        alone |= finding.removed
    gone = set(items["item_id"][alone])
    found = choose_redundant(gone, copy_groups, similar_groups, filtering, seed)
    findings = [
        *single,
        _finding(copy_groups.conflicting_gold, ids, set()),
        _finding(copy_groups.duplicate, ids, found.copies),
        _finding(found.supersets, ids, found.fewer),
        _finding(found.similar_groups, ids, found.close),
    ]
    removed = np.logical_or.reduce([finding.removed for finding in findings])
    kept = set(items["item_id"][~removed])
    rows = []
    for grouping in (
        copy_groups.duplicate,
        found.supersets,
        copy_groups.conflicting_gold,
        found.similar_groups,
    ):
        for group in grouping.groups:
            name = f"{grouping.rule}:{group[0]}"
            rows += [(name, member, grouping.rule, member in kept) for member in group]
    return findings, Groups.from_rows(rows)


class Redundant(NamedTuple):
    """The members of groups to remove, and the groups that are then left."""

    copies: set[str]
    fewer: set[str]  # members of supersets
    close: set[str]  # members of similar groups
    supersets: Grouping
    similar_groups: Grouping


def choose_redundant(
    gone: Set[str],
    copy_groups: CopyGroups,
    similar_groups: Grouping,
    filtering: FilteringParams,
    seed: int,
) -> Redundant:
    """Choose the members of each group to remove (`combine_rules`).

    `gone` are the items that rules about single items remove.
    """
    _, duplicates, supersets = copy_groups
    share = filtering.similar.remove if similar_groups.removes else 0
    draw = _draw(similar_groups, seed)
    if filtering.independent:
        return Redundant(
            copies=redundant_copies(duplicates.groups, _draw(duplicates, seed)),
            fewer=redundant_copies(supersets.groups),
            close=redundant_similar(similar_groups.groups, share, draw),
            supersets=supersets,
            similar_groups=similar_groups,
        )
    copies = redundant_copies(duplicates.groups, gone=gone)
    # A removed copy leaves its other groups; the copy that is kept must not be removed as similar
    # either.
    supersets = _without(supersets, copies)
    fewer = redundant_copies(supersets.groups, gone=gone)
    similar_groups = _without(similar_groups, copies | fewer)
    stays = {*_members(duplicates), *_members(supersets)} - (copies | fewer)
    close = redundant_similar(similar_groups.groups, share, draw, gone=gone, stays=stays)
    return Redundant(copies, fewer, close, supersets=supersets, similar_groups=similar_groups)


def _members(grouping: Grouping) -> list[str]:
    return [member for group in grouping.groups for member in group]


def leave_out_prefiltered(
    items: pd.DataFrame,
    copy_groups: CopyGroups,
    anomalous_findings: Finding,
    filtering: FilteringParams,
    seed: int,
) -> pd.DataFrame:
    """Leave out what the paper removes before it computes distances (SMART, section 3.1).

    These are items of anomalous subjects and all but one of each group of duplicates, those that
    `combine_rules` removes with independent rules. Without `similar.prefiltered` all items remain.

    Returns:
        The ids and questions of the other items, which are all that the search reads.
    """
    # The search reads the questions as one array; with `items` let go, they are in memory once.
    questions = pd.Series(in_one_part(items["question"]), items.index, dtype="str")
    compared = items[["item_id"]].assign(question=questions)
    if not filtering.similar.prefiltered:
        return compared
    gone = set(items["item_id"][anomalous_findings.removed])
    duplicates = copy_groups.duplicate
    gone |= redundant_copies(duplicates.groups, _draw(duplicates, seed))
    return compared[~compared["item_id"].isin(gone)].reset_index(drop=True)


def _draw(grouping: Grouping, seed: int) -> Draw:
    ids = _members(grouping)
    drawn = item_uniforms(seed, f"{grouping.rule}_choice", ids)
    return dict(zip(ids, drawn.tolist(), strict=True))


def _without(grouping: Grouping, removed: Set[str]) -> Grouping:
    groups = []
    for group in grouping.groups:
        left = tuple(member for member in group if member not in removed)
        if len(left) > 1:
            groups.append(left)
    return replace(grouping, groups=tuple(groups))


def redundant_copies(
    groups: Iterable[Sequence[str]], draw: Draw | None = None, gone: Set[str] = frozenset()
) -> set[str]:
    """Return all members of each group but one, outside `gone` if possible.

    That one is the lowest in `draw`, by default the first in the group.
    """
    redundant: set[str] = set()
    for group in groups:
        ordered = group if draw is None else sorted(group, key=draw.__getitem__)
        _, *others = sorted(ordered, key=lambda member: member in gone)
        redundant.update(others)
    return redundant


def redundant_similar(
    groups: Iterable[Sequence[str]],
    share: float,
    draw: Draw,
    gone: Set[str] = frozenset(),
    stays: Set[str] = frozenset(),
) -> set[str]:
    """Return the `share` of each group, rounded down: in `gone` first, then lowest in `draw`.

    Members in `stays` are never returned, even if that gives fewer than the share.
    """
    redundant: set[str] = set()
    for group in groups:
        free = [member for member in group if member in gone or member not in stays]
        free.sort(key=lambda member: (member not in gone, draw[member]))
        redundant.update(free[: int(share * len(group))])
    return redundant


def _finding(grouping: Grouping, ids: "pd.Index[str]", redundant: Set[str]) -> Finding:
    if grouping.status != "ran":
        return Finding.idle(grouping.rule, len(ids), grouping.status, grouping.reason)
    detail = {}
    for group in grouping.groups:
        for member in group:
            detail[member] = _words(grouping.rule, group, member, redundant)
    return Finding(
        rule=grouping.rule,
        status="ran",
        reason=grouping.reason,
        judged=~ids.isin(grouping.not_judged),
        flagged=ids.isin(detail),
        removed=ids.isin(redundant),
        value=np.array([grouping.value.get(item_id, np.nan) for item_id in ids]),
        detail=tuple(detail.get(item_id, grouping.exempt.get(item_id, "")) for item_id in ids),
    )


def _words(rule: str, group: Sequence[str], member: str, redundant: Set[str]) -> str:
    others = listed([other for other in group if other != member])
    removed = member in redundant
    if rule == "conflicting_gold":
        return f"same question and choices as {others}, but different answers"
    if rule == "similar":
        decision = "removed" if removed else "kept"
        return f"{decision}, one of {len(group)} similar items: {others}"
    kept = next(other for other in group if other not in redundant)
    if rule == "duplicate":
        return f"copy of {kept}" if removed else f"kept, copies: {others}"
    if removed:
        return f"same question and answer as {kept}, whose options are nearly the same or more"
    return f"kept, same question and answer with fewer or other options: {others}"
