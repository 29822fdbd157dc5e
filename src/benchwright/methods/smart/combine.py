"""The combination of the rules: rules about single items, then rules about groups.

`independent` (paper and released code): every rule judges all items, and an item is kept if no rule
removes it. A group of copies can then lose all of its members. By default the rules about groups
run last: they first remove members that other rules remove, and never the last acceptable member of
a group.
"""

from collections.abc import Iterable, Sequence, Set
from dataclasses import replace

import numpy as np
import pandas as pd

from benchwright.core.natural_order import in_order
from benchwright.core.seeding import item_uniforms
from benchwright.methods.smart.filter_models import listed
from benchwright.methods.smart.finding import Finding, Grouping
from benchwright.params.filtering import FilteringParams
from benchwright.tables.smart import Groups

Draw = dict[str, float]


def combine_rules(
    items: pd.DataFrame,
    duplicate_groups: Grouping,
    conflicting_gold_groups: Grouping,
    similar_groups: Grouping,
    filtering: FilteringParams,
    seed: int,
    *single: Finding,
) -> tuple[list[Finding], pd.DataFrame]:
    """Choose the members of each group to remove and gather the findings of every rule.

    The rules about `single` items come first. Then one copy of each group of duplicates and half of
    each group of similar items are kept. Members that other rules remove are counted first, so
    that a group never loses its last acceptable member to redundancy alone.
    """
    ids = in_order(items["item_id"])
    copy_draw, similar_draw = (
        dict(zip(ids, item_uniforms(seed, f"{kind}_choice", ids).tolist(), strict=True))
        for kind in ("duplicate", "similar")
    )
    share = filtering.similar.remove
    if filtering.independent:
        copies = redundant_copies(duplicate_groups.groups, copy_draw)
        close = redundant_similar(similar_groups.groups, share, similar_draw)
    else:
        gone = {ids[row] for finding in single for row in np.flatnonzero(finding.removed)}
        by_id = {item_id: float(row) for row, item_id in enumerate(ids)}
        copies = redundant_copies(duplicate_groups.groups, by_id, gone)
        # A removed copy leaves its other groups; the copy that is kept must not be removed either.
        left = (tuple(m for m in group if m not in copies) for group in similar_groups.groups)
        several = tuple(group for group in left if len(group) > 1)
        similar_groups = replace(similar_groups, groups=several)
        stays = {member for group in duplicate_groups.groups for member in group} - copies
        close = redundant_similar(similar_groups.groups, share, similar_draw, gone, stays)
    findings = [
        *single,
        _finding(conflicting_gold_groups, ids, set()),
        _finding(duplicate_groups, ids, copies),
        _finding(similar_groups, ids, close),
    ]
    removed = np.logical_or.reduce([finding.removed for finding in findings])
    kept = {ids[row] for row in np.flatnonzero(~removed)}
    groups = [
        (f"{grouping.rule}:{group[0]}", member, grouping.rule, member in kept)
        for grouping in (duplicate_groups, conflicting_gold_groups, similar_groups)
        for group in grouping.groups
        for member in group
    ]
    return findings, Groups.from_rows(groups)


def redundant_copies(
    groups: Iterable[Sequence[str]], draw: Draw, gone: Set[str] = frozenset()
) -> set[str]:
    """Return all members of each group but the lowest in `draw`, outside `gone` if possible."""
    redundant: set[str] = set()
    for group in groups:
        _, *others = sorted(group, key=lambda member: (member in gone, draw[member]))
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


def _finding(grouping: Grouping, ids: Sequence[str], redundant: Set[str]) -> Finding:
    """Return the finding of a rule about groups."""
    if grouping.status != "ran":
        return Finding.idle(grouping.rule, len(ids), grouping.status, grouping.reason)
    detail = {
        member: _words(grouping.rule, group, member, redundant)
        for group in grouping.groups
        for member in group
    }
    return Finding(
        rule=grouping.rule,
        status="ran",
        reason=grouping.reason,
        judged=np.array([item_id not in grouping.not_judged for item_id in ids], dtype=bool),
        flagged=np.array([item_id in detail for item_id in ids], dtype=bool),
        removed=np.array([item_id in redundant for item_id in ids], dtype=bool),
        value=np.array([grouping.value.get(item_id, np.nan) for item_id in ids]),
        detail=tuple(detail.get(item_id, grouping.exempt.get(item_id, "")) for item_id in ids),
    )


def _words(rule: str, group: Sequence[str], member: str, redundant: Set[str]) -> str:
    others = listed([other for other in group if other != member])
    if rule == "conflicting_gold":
        return f"same question and choices as {others}, but different answers"
    if rule == "duplicate":
        kept = next(other for other in group if other not in redundant)
        return f"copy of {kept}" if member in redundant else f"kept, copies: {others}"
    decision = "removed" if member in redundant else "kept"
    return f"{decision}, one of {len(group)} similar items: {others}"
