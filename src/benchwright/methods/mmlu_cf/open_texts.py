"""The texts and tables of a benchmark without a closed half."""

import logging

import pandas as pd
import pyarrow as pa

from benchwright.core.natural_order import sort_items
from benchwright.methods.mmlu_cf.open_benchmark import benchmark_lines, choose_demonstrations
from benchwright.params.mmlu_cf import OpenBenchmarkParams
from benchwright.tables.base import Table
from benchwright.tables.mmlu_cf import (
    CleaningChanges,
    CleanItems,
    RawItems,
    RejectedRawItems,
)

logger = logging.getLogger(__name__)


def open_texts(
    raw_items: pa.Table,
    rejected_raw_items: pa.Table,
    cleaning_changes: pa.Table,
) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Convert the tables of collection and cleaning from memory to tables for saving.

    Returns:
        `RawItems` as on the pages; `RejectedRawItems` with rules and reasons; `CleaningChanges`
        with texts before and after. All are in the natural order of item ids.
    """
    return (
        sort_items(_frame(raw_items, RawItems)),
        sort_items(_frame(rejected_raw_items, RejectedRawItems)),
        sort_items(_frame(cleaning_changes, CleaningChanges)),
    )


def _frame(table: pa.Table, model: type[Table]) -> pd.DataFrame:
    if not table.num_rows:
        return model.empty()
    return pd.DataFrame(model.validate(table.select(model.columns()).to_pandas()))


def write_open_benchmark(
    fielded_items: pd.DataFrame, open_benchmark: OpenBenchmarkParams, seed: int
) -> tuple[str, pd.DataFrame]:
    """Write the clean questions as a benchmark for ingestion, some of them as demonstrations.

    Returns:
        JSON lines (`benchmark_lines`), and `CleanItems` with fields.
    """
    examples = choose_demonstrations(fielded_items, open_benchmark, seed)
    logger.info(
        "open benchmark: %d questions to evaluate, %d as demonstrations",
        len(fielded_items) - len(examples),
        len(examples),
    )
    return benchmark_lines(fielded_items, examples), sort_items(fielded_items)[CleanItems.columns()]
