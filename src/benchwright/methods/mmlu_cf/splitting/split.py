"""Two halves with the same distribution of fields and difficulty (MMLU-CF, sections 3.2, 4.5)."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import pairwise

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchwright.core.seeding import item_uniforms, stage_generator
from benchwright.tables.mmlu_cf import SplitAssignment

TOGETHER = ("doc_id", "passage", "passage_id")
"""Columns, as far as a table has them, whose equal values keep items in one half."""


def split_halves(
    items: pd.DataFrame, seed: int, together: Iterable[Sequence[str]] = ()
) -> pd.DataFrame:
    """Assign every item to `validation` (public) or `test` (closed): a `SplitAssignment` by id.

    Items of one document or passage, and those of `together`, are in the same half. Groups of items
    are placed by minimisation (Pocock & Simon 1975), the largest first: where they balance the
    strata (field × level), or else the fields, the levels and the sizes together. `items` have
    item_id, field, difficulty (NaN, unknown, is a level too) and any of `TOGETHER`, in any order.
    """
    if items.empty:
        return SplitAssignment.empty()
    ids = items["item_id"].astype(str)
    level = pd.to_numeric(items["difficulty"]).fillna(-1).astype("int64")
    table = pd.DataFrame({"item_id": ids, "field": items["field"].astype(str), "level": level})
    table["order"] = item_uniforms(seed, "split_halves", ids.tolist())
    table = table.sort_values(["order", "item_id"], ignore_index=True)
    table["group"] = groups_of(table["item_id"].tolist(), [*shared_ids(items), *together])
    public = table["group"].map(_place_groups(table))
    table["half"] = np.where(public, "validation", "test")
    known = table["level"] >= 0
    table["difficulty"] = table["level"].where(known)
    names = table["level"].astype(str).where(known, "unknown")
    table["stratum"] = table["field"] + " · " + names
    return SplitAssignment.of(table.sort_values("item_id", ignore_index=True))


def shared_ids(items: pd.DataFrame) -> list[list[str]]:
    """Return the ids that share a value of a column of `TOGETHER`, a list for each value."""
    shared: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for column in TOGETHER:
        if column not in items:
            continue
        for item_id, value in zip(items["item_id"], items[column], strict=True):
            if isinstance(value, str) and value.strip():
                shared[column, value].append(str(item_id))
    return list(shared.values())


def groups_of(ids: Sequence[str], together: Iterable[Sequence[str]]) -> NDArray[np.int64]:
    """Return a number per id; ids that belong together, directly or through others, share one."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    place = {item_id: number for number, item_id in enumerate(ids)}
    links: list[tuple[int, int]] = []
    for members in together:
        links += pairwise(place[member] for member in members if member in place)
    ends = np.array(links, dtype=np.int64).reshape(-1, 2).T
    graph = coo_array((np.ones(len(links)), tuple(ends)), shape=(len(ids), len(ids)))
    component = connected_components(graph, directed=False)[1]
    lowest = np.unique(component, return_index=True)[1].astype(np.int64)
    return lowest[component]


def _place_groups(table: pd.DataFrame) -> dict[int, bool]:
    """Decide whether each group is public; groups are numbered in the order of hashes."""
    field = pd.factorize(table["field"], sort=True)[0]
    level = pd.factorize(table["level"], sort=True)[0]
    shape = (field.max() + 1, level.max() + 1)
    cells = pd.Series(field * shape[1] + level).groupby(table["group"]).agg(list)
    surplus = np.zeros(shape, dtype=np.int64)  # of the public half, by field and level
    public: dict[int, bool] = {}
    largest_first = sorted(
        cells.index, key=lambda group: (-len(cells[group]), min(cells[group]), group)
    )
    for group in largest_first:
        own = np.bincount(cells[group], minlength=surplus.size).reshape(shape)
        # Each product is positive where the group would add to a surplus of the public half.
        strata = int((surplus * own).sum())
        levels = int(surplus.sum(axis=0) @ own.sum(axis=0))
        fields = int(surplus.sum(axis=1) @ own.sum(axis=1))
        sizes = int(surplus.sum() * own.sum())
        public[int(group)] = (strata, levels + fields + sizes) <= (0, 0)
        surplus += own if public[int(group)] else -own
    return public


_DRAWS = 1000


def half_distances(assignment: pd.DataFrame, seed: int) -> pd.DataFrame:
    """Compute the total variation of the halves by field, difficulty and stratum.

    It is half the sum of the differences of shares, 0–1, and below `chance_95` in 95% of random
    halves of the same sizes. Columns are attribute, n_validation, n_test and these two.
    """
    generator = stage_generator(seed, "half_distances")
    public = assignment["half"].eq("validation").to_numpy()
    n = int(public.sum())
    m = len(public) - n
    rows = []
    for attribute in ("field", "difficulty", "stratum"):
        values = [str(value) for value in assignment[attribute]]
        value = np.unique(values, return_inverse=True)[1]
        both = np.bincount(value)
        first = np.bincount(value[public], minlength=len(both))
        drawn = generator.multivariate_hypergeometric(both, n, size=_DRAWS, method="marginals")
        counts = np.concatenate([[first], drawn])
        in_validation = counts / max(n, 1)
        in_test = (both - counts) / max(m, 1)
        distance = np.abs(in_validation - in_test).sum(axis=1) / 2
        chance = np.quantile(distance[1:], 0.95)
        rows.append((attribute, n, m, distance[0], chance))
    columns = ["attribute", "n_validation", "n_test", "total_variation", "chance_95"]
    return pd.DataFrame(rows, columns=columns)
