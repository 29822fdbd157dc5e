"""Rows of the harness's own tasks that a variant keeps, for `lm_eval --samples`."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import pandas as pd

from benchwright.core.errors import InputError
from benchwright.exports.harness_task import slug
from benchwright.params.benchmark import BenchmarkParams, SourceKind
from benchwright.params.exports import StockTaskParams


class StockSamples(NamedTuple):
    """Sorted rows by stock task and the row of each kept item, or the reason for none.

    Tasks without kept rows are left out, because an empty list means "all" to the harness.
    """

    rows: dict[str, list[int]]
    reason: str
    places: Mapping[str, tuple[str, int]] = MappingProxyType({})


def stock_samples(
    items: pd.DataFrame, kept_ids: Iterable[str], mapping: StockTaskParams, benchmark: str
) -> StockSamples:
    """Return the rows of the kept items in the harness's own tasks, all of them or none.

    All ids must have the form of the mapping's order; otherwise no rows are returned. InputError
    if a kept id is not among the items.
    """
    try:
        places = _places(items["item_id"], items["subject"], mapping, benchmark)
    except ValueError as reason:
        return StockSamples({}, str(reason))
    kept: dict[str, tuple[str, int]] = {}
    for item_id in kept_ids:
        if item_id not in places:
            raise InputError(f"kept item {item_id} is not among the benchmark's items")
        kept[item_id] = places[item_id]
    rows: defaultdict[str, list[int]] = defaultdict(list)
    for task, row in sorted(kept.values()):
        rows[task].append(row)
    return StockSamples(dict(rows), "", kept)


def samples_of_benchmark(
    items: pd.DataFrame, kept_ids: Iterable[str], ingestion: BenchmarkParams, mirror_root: str
) -> StockSamples:
    """Return `stock_samples` if the `harness` section of the benchmark fits the source in use."""
    mapping = ingestion.harness
    if mapping is None:
        return StockSamples({}, "the benchmark's file does not name them (key `harness`)")
    kinds = _possible_sources(ingestion, mirror_root)
    unknown = [kind for kind in kinds if kind not in mapping.sources]
    if unknown:
        return StockSamples(
            {},
            f"the source {' or '.join(unknown)} may have another order of rows than the stock task "
            f"(harness.sources: {', '.join(mapping.sources)})",
        )
    hub = ingestion.sources.hub if "hub" in kinds else None
    if mapping.order == "source_row" and hub is not None and len(hub.configs) > 1:
        return StockSamples(
            {}, "harness.order is source_row, but the rows of the hub are of several configurations"
        )
    return stock_samples(items, kept_ids, mapping, ingestion.name)


def _possible_sources(ingestion: BenchmarkParams, mirror_root: str) -> Sequence[SourceKind]:
    """Return the possible sources of the items: local files, if any, come before the hub."""
    sources = ingestion.sources
    if mirror_root and sources.mirror is not None:
        return ["mirror"]
    local: list[SourceKind] = ["local"] if sources.local is not None else []
    return [*local, "hub"] if sources.hub is not None else local


def _places(
    item_ids: Iterable[Any], subjects: Iterable[Any], mapping: StockTaskParams, benchmark: str
) -> dict[str, tuple[str, int]]:
    """Return stock task and row of each item; raise ValueError if one is unknown."""
    places: dict[str, tuple[str, int]] = {}
    taken: dict[tuple[str, int], str] = {}
    for item_id, subject in zip(item_ids, subjects, strict=True):
        task = mapping.task
        if not isinstance(task, str) and subject not in task:
            raise ValueError(f"harness.task names no task for subject {subject!r}")
        name = task.replace("{subject}", slug(subject)) if isinstance(task, str) else task[subject]
        place = name, _row(item_id, subject, mapping, benchmark)
        other = taken.setdefault(place, item_id)
        if other != item_id:
            raise ValueError(f"{other} and {item_id} would both be row {place[1]} of {place[0]}")
        places[item_id] = place
    return places


def _row(item_id: str, subject: str, mapping: StockTaskParams, benchmark: str) -> int:
    within = mapping.order == "source_row_within_subject"
    before = f"{benchmark}/{subject}/" if within else f"{benchmark}/"
    number = item_id.removeprefix(before)
    if number == item_id or not (number.isascii() and number.isdigit()):
        shape = "<benchmark>/<subject>/<row>" if within else "<benchmark>/<row>"
        raise ValueError(
            f"the id {item_id} does not contain the row in the source: harness.order "
            f"{mapping.order} needs ids of the form {shape}"
        )
    return int(number)
