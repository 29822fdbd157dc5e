"""The node of this stage: source rows in; items, demonstrations and rejected rows out."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import Any, NamedTuple

import pandas as pd

from benchwright.core.errors import InputError
from benchwright.params.benchmark import BenchmarkParams, FieldMapping
from benchwright.source_rows.fields import (
    Rejection,
    Row,
    Rule,
    Unusable,
    format_value,
    reject,
)
from benchwright.source_rows.items import Item, ItemMapper, divide, limited
from benchwright.tables.items import Demonstrations, Items, RejectedItems


class IngestedTables(NamedTuple):
    """The outputs of `map_source_rows`, in order."""

    items: pd.DataFrame
    demonstrations: pd.DataFrame
    calibration_items: pd.DataFrame
    rejected_items: pd.DataFrame


class _Mapped(NamedTuple):
    item: Item
    position: int
    row: Row


def map_source_rows(
    benchmark_source: pd.DataFrame, ingestion: BenchmarkParams, limit: int | None, seed: int
) -> IngestedTables:
    """Map the source's rows to items, and set unusable ones aside.

    Every row becomes an item, a demonstration or a calibration item, or is listed among the
    rejected with the rule it breaks, so that the four tables together have as many rows as the
    source (unless `limit` is set). Each table is sorted by item id, numbers as numbers; the order
    of the source's rows affects only `row` in the table of rejected ones.

    Args:
        benchmark_source: source rows with the columns `_split` (test, validation, dev or train)
            and, if they apply, `_config` and `_subject`. The index is the position in the source,
            from 0.
        ingestion: the benchmark's file.
        limit: maximum number of evaluation items, and of calibration items.
        seed: draws calibration items and those under `limit`; orders options if hashed.

    Raises:
        InputError: no evaluation item is left, or `limit` is below 1.
    """
    if limit is not None and limit < 1:
        raise InputError(f"limit={limit}; a whole number from 1 is accepted, or null for all")
    mapper = ItemMapper(ingestion, _mapping_of(benchmark_source, ingestion), seed)
    source = benchmark_source.sort_index(kind="stable")
    mapped: list[_Mapped] = []
    rejections: list[Rejection] = []
    rows: list[dict[str, Any]] = source.to_dict("records")  # type: ignore[assignment]
    for position, row in zip(source.index.tolist(), rows, strict=True):
        try:
            mapped.append(_Mapped(mapper.item(row), position, row))
        except Unusable as reason:
            rejections.append(reject(position, row, reason))
    by_id, doubled = _settle_doubled(mapped, ingestion.splits.evaluation)
    rejections += doubled
    purposes = divide(
        {item_id: item.split for item_id, item in by_id.items()},
        ingestion.splits,
        ingestion.calibration_size,
        seed,
    )
    if not purposes.evaluation:
        raise InputError(_nothing_left(ingestion, rejections))
    purposes = limited(purposes, limit, seed)
    return IngestedTables(
        Items.from_rows([by_id[item_id] for item_id in purposes.evaluation]),
        Demonstrations.from_rows([by_id[item_id] for item_id in purposes.demonstrations]),
        Demonstrations.from_rows([by_id[item_id] for item_id in purposes.calibration]),
        RejectedItems.from_rows(sorted(rejections)),
    )


def _mapping_of(frame: pd.DataFrame, benchmark: BenchmarkParams) -> FieldMapping:
    kind = frame.attrs.get("source", {}).get("kind")
    sources = benchmark.sources.by_kind().items()
    mappings = [source.fields for name, source in sources if kind in (None, name)]
    if len(mappings) != 1:
        raise InputError(
            f"benchmark {benchmark.name}: the rows do not say which of its sources they come from"
        )
    return mappings[0]


def _settle_doubled(
    mapped: Iterable[_Mapped], evaluation: tuple[str, ...]
) -> tuple[dict[str, Item], list[Rejection]]:
    """Return one item per id, and reject the other rows with that id.

    Evaluation items come first, then the smallest by content, independently of the source's order.
    """
    by_id: defaultdict[str, list[_Mapped]] = defaultdict(list)
    for each in mapped:
        by_id[each.item.item_id].append(each)
    items: dict[str, Item] = {}
    rejections: list[Rejection] = []
    for item_id, rows in by_id.items():
        first, *others = sorted(
            rows, key=lambda each: (each.item.split not in evaluation, repr(each.item))
        )
        items[item_id] = first.item
        for other in others:
            which = "the same" if other.item == first.item else "a different"
            detail = (
                f"item_id {format_value(item_id)} already belongs to row {first.position}, "
                f"with {which} question; ids must be unique"
            )
            reason = Unusable(Rule.DOUBLED_ID, detail)
            rejections.append(reject(other.position, other.row, reason))
    return items, rejections


def _nothing_left(benchmark: BenchmarkParams, rejections: list[Rejection]) -> str:
    splits = ", ".join(benchmark.splits.evaluation)
    message = f"benchmark {benchmark.name}: no row of split {splits} could be used"
    if not rejections:
        return message
    rules = Counter(rejection.rule for rejection in rejections).most_common(3)
    counts = ", ".join(f"{rule} ({count})" for rule, count in rules)
    first = min(rejections)
    return f"{message}; rejected by {counts}; row {first.row}: {first.detail}"
