"""Fielded items → a benchmark in the clear, and tables that show what each rule did.

Nothing here is closed. The pipeline `mmlu_cf`, which closes half of its questions, keeps the inputs
of these nodes in memory and has none of their outputs.
"""

import logging
from typing import NamedTuple

import pandas as pd
import pyarrow as pa

from benchwright.core.natural_order import sort_items
from benchwright.methods.mmlu_cf.open_benchmark import benchmark_lines, choose_demonstrations
from benchwright.params.mmlu_cf import OpenBenchmarkParams
from benchwright.tables.base import Table
from benchwright.tables.mmlu_cf import (
    CleaningChanges,
    CleaningDuplicates,
    CleanItems,
    RawItems,
    RejectedRawItems,
)

logger = logging.getLogger(__name__)


class OpenTables(NamedTuple):
    """What `open_texts` gives, in the order of its outputs."""

    raw_items: pd.DataFrame
    rejected_items: pd.DataFrame
    cleaning_changes: pd.DataFrame
    duplicates: pd.DataFrame


def open_texts(
    raw_items: pa.Table,
    rejected_raw_items: pa.Table,
    cleaning_changes: pa.Table,
    cleaning_duplicates: pa.Table,
) -> OpenTables:
    """Gives what collection and cleaning hold in memory as tables to be saved and read.

    Returns:
        `RawItems` as they stood on the pages; `RejectedRawItems`, each with its rule and reason;
        `CleaningChanges`, each text before and after; `CleaningDuplicates`. The first three are
        in the natural order of item ids, whatever the order of documents was.
    """
    return OpenTables(
        sort_items(_frame(raw_items, RawItems)),
        sort_items(_frame(rejected_raw_items, RejectedRawItems)),
        sort_items(_frame(cleaning_changes, CleaningChanges)),
        _frame(cleaning_duplicates, CleaningDuplicates),
    )


def _frame(table: pa.Table, model: type[Table]) -> pd.DataFrame:
    if not table.num_rows:
        return model.empty()
    return pd.DataFrame(model.validate(table.select(model.columns()).to_pandas()))


def write_open_benchmark(
    fielded_items: pd.DataFrame, open_benchmark: OpenBenchmarkParams, seed: int
) -> tuple[str, pd.DataFrame]:
    """Writes the clean questions as a benchmark that ingestion reads, some of them as examples.

    Returns:
        JSON lines (`benchmark_lines`), and `CleanItems` with their fields.
    """
    examples = choose_demonstrations(fielded_items, open_benchmark, seed)
    logger.info(
        "open benchmark: %d questions to evaluate, %d as demonstrations",
        len(fielded_items) - len(examples),
        len(examples),
    )
    return benchmark_lines(fielded_items, examples), sort_items(fielded_items)[CleanItems.columns()]
