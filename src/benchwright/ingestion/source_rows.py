"""Map the rows of a source to items, demonstrations and rejected rows."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import Any, NamedTuple

import pandas as pd

from benchwright.core.errors import InputError
from benchwright.core.printable import format_value
from benchwright.ingestion.source_fields import (
    Rejection,
    Row,
    Rule,
    Unusable,
    read_optional,
    reject,
)
from benchwright.ingestion.source_items import Item, ItemMapper, divide, limited
from benchwright.params.benchmark import BenchmarkParams, FieldMapping
from benchwright.tables.items import Demonstrations, Items, KnownLabelErrors, RejectedItems


class IngestedTables(NamedTuple):
    """The outputs of `map_source_rows`, in order."""

    items: pd.DataFrame
    demonstrations: pd.DataFrame
    calibration_items: pd.DataFrame
    rejected_items: pd.DataFrame
    known_label_errors: pd.DataFrame


class _Mapped(NamedTuple):
    item: Item
    position: int
    row: Row


def map_source_rows(
    benchmark_source: pd.DataFrame, ingestion: BenchmarkParams, limit: int | None, seed: int
) -> IngestedTables:
    """Map the source's rows to items, and report rejected rows.

    Every row becomes an item, a demonstration, a calibration item or a rejected item, so that the
    first four tables together have as many rows as the source (unless `limit` is set). The last one
    has the evaluation items whose gold answers the source has checked. Tables are sorted by item id
    in natural order; the order of the source affects only `row` of rejected items.

    Args:
        benchmark_source: source rows with the columns `_split` (test, validation, dev or train)
            and optionally `_config` and `_subject`. The index is the position in the source,
            from 0.
        ingestion: settings of the benchmark.
        limit: maximum number of evaluation items, and of calibration items.
        seed: of the choice of calibration items and of items under `limit`, and of hashed option
            orders.

    Raises:
        InputError: there is no valid evaluation item, or `limit` is below 1.
    """
    if limit is not None and limit < 1:
        raise InputError(f"limit={limit}: expected a positive integer, or null for all items")
    fields = _mapping_of(benchmark_source, ingestion)
    mapper = ItemMapper(ingestion, fields, seed)
    source = benchmark_source.sort_index(kind="stable")
    mapped: list[_Mapped] = []
    rejections: list[Rejection] = []
    rows: list[dict[str, Any]] = source.to_dict("records")  # type: ignore[assignment]
    for position, row in zip(source.index.tolist(), rows, strict=True):
        try:
            mapped.append(_Mapped(mapper.item(row), position, row))
        except Unusable as reason:
            rejections.append(reject(position, row, reason))
    evaluation = ingestion.splits.evaluation
    by_id, repeated = _reject_repeated_ids(mapped, evaluation)
    rejections += repeated
    splits = {item_id: each.item.split for item_id, each in by_id.items()}
    purposes = divide(splits, ingestion.splits, seed)
    rejected = RejectedItems.from_rows(sorted(rejections))
    if not purposes.evaluation:
        why = f"; rejected by {say_rejected(rejected)}" if rejections else ""
        splits_of = ", ".join(evaluation)
        raise InputError(f"benchmark {ingestion.name}: no valid row in split {splits_of}{why}")
    purposes = limited(purposes, limit, seed)
    checked = []
    for item_id in purposes.evaluation:
        label_error = read_optional(by_id[item_id].row, fields.label_error)
        if label_error is not None:
            checked.append((item_id, label_error))

    def items(item_ids: list[str]) -> list[Item]:
        return [by_id[item_id].item for item_id in item_ids]

    return IngestedTables(
        items=Items.from_rows(items(purposes.evaluation)),
        demonstrations=Demonstrations.from_rows(items(purposes.demonstrations)),
        calibration_items=Demonstrations.from_rows(items(purposes.calibration)),
        rejected_items=rejected,
        known_label_errors=KnownLabelErrors.from_rows(checked),
    )


def _mapping_of(frame: pd.DataFrame, benchmark: BenchmarkParams) -> FieldMapping:
    kind = frame.attrs.get("source", {}).get("kind")
    sources = benchmark.sources.by_kind().items()
    mappings = [source.fields for name, source in sources if kind in (None, name)]
    if len(mappings) != 1:
        raise InputError(f"benchmark {benchmark.name}: the rows do not state their source")
    return mappings[0]


def _reject_repeated_ids(
    mapped: Iterable[_Mapped], evaluation: tuple[str, ...]
) -> tuple[dict[str, _Mapped], list[Rejection]]:
    """Return one row per id, and reject other rows with that id.

    Evaluation items take precedence, then the smallest by content, independent of the source's
    order.
    """
    rows_of: defaultdict[str, list[_Mapped]] = defaultdict(list)
    for each in mapped:
        rows_of[each.item.item_id].append(each)
    by_id: dict[str, _Mapped] = {}
    rejections: list[Rejection] = []
    for item_id, rows in rows_of.items():
        if len(rows) > 1:
            rows.sort(key=lambda each: (each.item.split not in evaluation, repr(each.item)))
        first, *others = rows
        by_id[item_id] = first
        for other in others:
            which = "the same" if other.item == first.item else "a different"
            detail = (
                f"item_id {format_value(item_id)} already belongs to row {first.position + 1}, "
                f"with {which} question; ids must be unique"
            )
            reason = Unusable(Rule.DOUBLED_ID, detail)
            rejections.append(reject(other.position, other.row, reason))
    return by_id, rejections


def say_rejected(rejected: pd.DataFrame) -> str:
    """Count rejected rows by rule, and name the first, with its field, its value and a remedy."""
    rules = Counter(rejected["rule"]).most_common(3)
    first = rejected.iloc[0]
    counts = ", ".join(f"{rule} ({count})" for rule, count in rules)
    return f"{counts}; row {first['row']}: {first['detail']}"
