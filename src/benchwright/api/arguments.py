"""Turn the tables of users into the datasets that the pipelines read."""

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from benchwright.answers.loaded_file import LoadedFile
from benchwright.core.errors import InputError
from benchwright.core.natural_order import sort_items
from benchwright.core.printable import format_value
from benchwright.ingestion.source_fields import gold_form
from benchwright.ingestion.source_rows import map_source_rows, say_rejected
from benchwright.params.benchmark import OPTIONAL_COLUMNS, SPLIT_COLUMN, BenchmarkParams
from benchwright.params.responses import ResponseFileParams
from benchwright.tables.items import Demonstrations, Items


def as_table(given: Any, name: str) -> pd.DataFrame:
    """Return a DataFrame, also of a list of rows as dicts; raise InputError for other values."""
    if not isinstance(given, list | pd.DataFrame):
        raise InputError(f"{name}: expected a DataFrame, got {format_value(given)}")
    return pd.DataFrame(given)


def with_ids(items: pd.DataFrame, name: str = "items") -> pd.DataFrame:
    """Return items with ids, `<name>/<row>` from 0 if there is no column `item_id`."""
    items = as_table(items, name)
    if "item_id" in items:
        return items
    return items.assign(item_id=[f"{name}/{row}" for row in range(len(items))])


def read_items(items: pd.DataFrame, name: str = "items") -> pd.DataFrame:
    """Return an `Items` table; the items of a run are returned as they are.

    Rows that are no valid items are left out with a warning. Items are in natural order of id, as
    in a run.

    Raises:
        InputError: a column is missing, no row is valid, or answers may name two options.
    """
    items = as_table(items, name)
    if set(Items.columns()) <= set(items.columns):
        return pd.DataFrame(Items.validate(sort_items(items[Items.columns()])))
    for column in ("question", "choices", "answer"):
        if column not in items:
            raise InputError(f"{name}: no column {column!r}; it has {', '.join(map(str, items))}")
    answers = items["answer"].convert_dtypes()  # 1 for 1.0 beside missing values
    fields: dict[str, Any] = {column: column for column in OPTIONAL_COLUMNS if column in items}
    fields |= {
        "item_id": "item_id",
        "question": "question",
        "choices": {"column": "choices"},
        "gold": {"column": "answer", "form": gold_form(answers, items["choices"], from_0=True)},
    }
    settings = {
        "name": name,
        "title": "",
        "licence": "",
        "citation": "",
        "sources": {"local": {"file": name, "all_rows": "test", "fields": fields}},
        "splits": {"evaluation": ["test"]},
    }
    benchmark = BenchmarkParams.model_validate(settings)
    rows = with_ids(items, name).reset_index(drop=True).assign(**{SPLIT_COLUMN: "test"})
    read = map_source_rows(rows, benchmark, limit=None, seed=0)
    if len(read.rejected_items):
        lost = f"{name}: left out: {len(read.rejected_items):,} of {len(items):,} rows: "
        warnings.warn(lost + say_rejected(read.rejected_items), stacklevel=3)
    return pd.DataFrame(Items.validate(read.items))


def read_others(items: pd.DataFrame | None, name: str) -> pd.DataFrame:
    """Return items that are not evaluated, possibly none, as `read_items` does."""
    if items is None or not len(items):
        return Demonstrations.empty()
    return read_items(items, name)


def response_file(responses: pd.DataFrame | None, name: str = "responses") -> dict[str, LoadedFile]:
    """Return a tidy or wide table as a run reads a file of that name; {} without a table.

    Raises:
        InputError: there is no row, or a column has values of several types.
    """
    if responses is None:
        return {}
    table = as_table(responses, name)
    if table.empty:
        raise InputError(f"{name}: no rows; expected a row per response")
    indexed = [str(level) for level in table.index.names if level in ("item_id", "model")]
    if indexed:
        table = table.reset_index(indexed)
    table = table.set_axis(table.columns.astype(str), axis=1)
    try:
        loaded = pa.Table.from_pandas(table, preserve_index=False)
    except pa.ArrowException as error:
        raise InputError(f"{name}: {error.args[-1]}; a column must have one type") from None
    # A file's name has a suffix; a table's needs none.
    spec = ResponseFileParams(file="table.parquet").model_copy(update={"file": name})
    return {name: LoadedFile(spec, loaded)}


def check_predictions(file: LoadedFile, items: pd.DataFrame) -> None:
    """Raise InputError if predictions count from 1: one is the number of options, and none is 0."""
    columns = ["item_id", "prediction"]
    if file.table is None or not set(columns).issubset(file.table.column_names):
        return
    table = file.table.select(columns).to_pandas().astype(str)
    options = table["item_id"].map(items.set_index("item_id")["choices"].map(len))
    chosen = pd.to_numeric(table["prediction"], errors="coerce")
    last_chosen = chosen.gt(0) & chosen.eq(options)
    if last_chosen.any() and not chosen.eq(0).any():
        raise InputError(f"{file.name}: predictions count from 1; expected letters, or from 0")


def warn_of_lost_rows(import_report: pd.DataFrame, stacklevel: int = 3) -> None:
    """Warn of responses that are left out since they fit no item or have impossible values."""
    for row in import_report.to_dict("records"):
        lost = row["not_joined"] + row["dropped"]
        if lost:
            text = f"{row['file']}: {lost:,} of {row['rows']:,} responses are left out: "
            warnings.warn(text + row["detail"], stacklevel=stacklevel)


def read_embeddings(embeddings: Any, given: pd.DataFrame, items: pd.DataFrame) -> pd.DataFrame:
    """Return a row per item with `item_id`, `vector`, of length 1, and `encoder`, "" if unknown.

    Args:
        embeddings: vectors (n, d) in the order of `given`, or a table with these columns.
        given: the items as the user gave them.
        items: the items as they were read.

    Raises:
        InputError: an item has no vector, or a vector is zero or not finite.
    """
    encoder = ""
    if isinstance(embeddings, pd.DataFrame):
        encoder = next(iter(embeddings.get("encoder", ())), "")
        by_id = embeddings.set_index("item_id")["vector"]
    else:
        rows = np.asarray(embeddings, dtype=np.float32)
        if rows.ndim != 2 or len(rows) != len(given):
            raise InputError(f"embeddings: shape {rows.shape}; expected {len(given):,} rows")
        norms = np.linalg.norm(rows, axis=1, keepdims=True)
        if not (np.isfinite(norms) & (norms > 0)).all():
            raise InputError("embeddings: a vector is zero or not finite")
        ids = with_ids(given)["item_id"].astype(str)
        by_id = pd.Series(list(rows / norms), ids, name="vector")
    vectors = by_id[~by_id.index.duplicated()].reindex(items["item_id"])
    lacking = vectors.index[vectors.isna()]
    if len(lacking):
        raise InputError(f"embeddings: no vector of item {lacking[0]}")
    return vectors.reset_index().assign(encoder=encoder)
