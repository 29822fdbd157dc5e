"""Two halves with the same distribution of fields and difficulty (MMLU-CF, sections 3.2, 4.5)."""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from math import nan
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchwright.core.seeding import item_uniforms, stage_generator
from benchwright.methods.mmlu_cf.margin_table import (
    Counts,
    cell_goal,
    field_goal,
    level_goal,
    nearest_table,
)
from benchwright.tables.mmlu_cf import SplitAssignment

TOGETHER = ("doc_id", "passage", "passage_id")
"""Columns, as far as a table has them, whose equal values keep items in one half."""


def split_halves(
    items: pd.DataFrame, validation_share: float, seed: int, together: Iterable[Sequence[str]] = ()
) -> pd.DataFrame:
    """Assign every item to `validation` (public) or `test` (closed): a `SplitAssignment` by id.

    Items of one document or passage, and those of `together`, are in the same half. Such groups are
    placed first, the largest first, each in the half that balances strata, fields, levels and sizes
    best. Single items then bring every stratum (field × level), then every field, then every level
    as near to its share as possible, exactly. A hash of its id places each single item.
    `items` have item_id (unique), field, difficulty (whole numbers; NaN, unknown, is a level too)
    and any of `TOGETHER`, in any order. Unknown ids in `together` are ignored.
    """
    if items.empty:
        return SplitAssignment.empty()
    table = _with_groups(items, together, seed)
    fields, levels = sorted(set(table["field"])), sorted(set(table["level"]))
    shape = (len(fields), len(levels))
    table["cell"] = table["field"].map(fields.index) * shape[1] + table["level"].map(levels.index)
    single = table["group_size"] == 1
    public = _place_groups(table[~single], shape, validation_share)
    placed, free, whole = (
        np.bincount(cells, minlength=shape[0] * shape[1]).reshape(shape)
        for cells in (
            table["cell"][table["group"].map(public).eq(True)],
            table["cell"][single],
            table["cell"],
        )
    )
    wanted = _half_table(placed, free, whole, validation_share)
    table["rank"] = table[single].groupby("cell").cumcount()
    take = (wanted - placed).ravel()[table["cell"]]
    in_validation = np.where(single, table["rank"] < take, table["group"].map(public).eq(True))
    table["half"] = np.where(in_validation.astype(np.bool_), "validation", "test")
    table["difficulty"] = table["level"].where(table["level"] >= 0)
    names = table["level"].map(lambda level: "unknown" if level < 0 else str(level))
    table["stratum"] = table["field"] + " · " + names
    return SplitAssignment.of(table.sort_values("item_id", ignore_index=True))


def groups_of(ids: Sequence[str], together: Iterable[Sequence[str]]) -> NDArray[np.int64]:
    """Return a number per id; ids that belong together, directly or through others, share one."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    place = {item_id: number for number, item_id in enumerate(ids)}
    known = [[place[member] for member in members if member in place] for members in together]
    links = [(group[0], number) for group in known for number in group[1:]]
    ends = np.array(links, dtype=np.int64).reshape(-1, 2).T
    graph = coo_array((np.ones(len(links)), tuple(ends)), shape=(len(ids), len(ids)))
    component = connected_components(graph, directed=False)[1]
    lowest = np.unique(component, return_index=True)[1].astype(np.int64)
    return lowest[component]


def _with_groups(items: pd.DataFrame, together: Iterable[Sequence[str]], seed: int) -> pd.DataFrame:
    """Return the items by hash of their ids, with level and group."""
    ids = items["item_id"].astype(str)
    level = pd.to_numeric(items["difficulty"]).fillna(-1).astype("int64")
    table = pd.DataFrame({"item_id": ids, "field": items["field"].astype(str), "level": level})
    table["order"] = item_uniforms(seed, "split_halves", ids.tolist())
    shared: defaultdict[tuple[str, Hashable], list[str]] = defaultdict(list)
    for column in TOGETHER:
        if column in items:
            for item_id, value in zip(ids, items[column], strict=True):
                if isinstance(value, str) and value.strip():
                    shared[column, value].append(item_id)
    table = table.sort_values(["order", "item_id"], ignore_index=True)
    table["group"] = groups_of(table["item_id"].tolist(), [*shared.values(), *together])
    table["group_size"] = table.groupby("group")["group"].transform("size")
    return table


def _place_groups(table: pd.DataFrame, shape: tuple[int, int], share: float) -> dict[int, bool]:
    """Decide whether each group of several items is public."""
    public: dict[int, bool] = {}
    gap = np.zeros(shape)
    by_size = table.groupby("group", sort=True)["cell"].agg(list)
    # Group numbers are places in the order of hashes, so ties between sizes are broken by hash.
    for group in sorted(by_size.index, key=lambda number: (-len(by_size[number]), number)):
        counts = np.bincount(by_size[group], minlength=gap.size).reshape(shape)
        inside, outside = gap + (1 - share) * counts, gap - share * counts
        public[int(group)] = _unevenness(inside) <= _unevenness(outside)
        gap = inside if public[int(group)] else outside
    return public


def _unevenness(gap: NDArray[np.float64]) -> float:
    """Sum the squared deviations of strata, fields, levels and the total, rounded to keep ties."""
    parts = (gap, gap.sum(axis=0), gap.sum(axis=1), gap.sum())
    return round(float(sum((part**2).sum() for part in parts)), 6)


def _half_table(placed: Counts, free: Counts, whole: Counts, share: float) -> Counts:
    most = placed + free
    total = int(np.clip(np.floor(share * whole.sum() + 0.5), placed.sum(), most.sum()))
    goals = [
        cell_goal(share * whole),
        field_goal(share * whole.sum(axis=1), whole.shape[1]),
        level_goal(share * whole.sum(axis=0), whole.shape[0]),
    ]
    return nearest_table(placed, most, total, goals)


_DRAWS = 1000


class TwoSampleDistance(NamedTuple):
    """The distance of two samples over categories; `reason` says why it is NaN.

    `total_variation` is half the sum of the differences of shares, 0–1; `expected` is its mean over
    random halves of the same sizes, and it stays below `chance_95` in 95% of them.
    """

    total_variation: float
    expected: float
    chance_95: float
    reason: str = ""


def two_sample_distance(
    first: NDArray[np.integer], second: NDArray[np.integer], generator: np.random.Generator
) -> TwoSampleDistance:
    """Compute the distance of two samples from their counts (k,) per category.

    Chance is the hypergeometric draw of the first sample from both together.
    """
    n, m = int(first.sum()), int(second.sum())
    if not n or not m:
        return TwoSampleDistance(nan, nan, nan, "one half is empty")
    used = first + second > 0
    a, b = first[used], second[used]
    drawn = generator.multivariate_hypergeometric(a + b, n, size=_DRAWS, method="marginals")
    by_chance = np.abs(drawn / n - (a + b - drawn) / m).sum(axis=1) / 2
    return TwoSampleDistance(
        float(np.abs(a / n - b / m).sum() / 2),
        float(by_chance.mean()),
        float(np.quantile(by_chance, 0.95)),
    )


def half_distances(assignment: pd.DataFrame, seed: int) -> pd.DataFrame:
    """Compute the distance of the halves by field, difficulty and stratum.

    Columns are attribute, n_validation, n_test and those of `TwoSampleDistance`.
    """
    generator = stage_generator(seed, "half_distances")
    public = assignment["half"].eq("validation")
    rows = []
    for attribute in ("field", "difficulty", "stratum"):
        values = assignment[attribute]
        values = values.fillna(-1) if attribute == "difficulty" else values.astype(str)
        names, codes = np.unique(values.to_numpy(), return_inverse=True)
        first = np.bincount(codes[public], minlength=len(names))
        second = np.bincount(codes[~public], minlength=len(names))
        sizes = {"n_validation": int(first.sum()), "n_test": int(second.sum())}
        distance = two_sample_distance(first, second, generator)
        rows.append({"attribute": attribute, **sizes, **distance._asdict()})
    return pd.DataFrame(rows)
