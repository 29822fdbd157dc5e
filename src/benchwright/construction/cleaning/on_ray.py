"""The row rules on Ray: `clean_batch` in `map_batches`, its tables packed as one row per batch."""

from typing import Any

import pyarrow as pa

from benchwright.construction.cleaning.clean import clean_batch
from benchwright.construction.cleaning.cleaned import Cleaned, joined
from benchwright.params.cleaning import CleaningParams


def clean_packed(table: pa.Table, params: CleaningParams) -> pa.Table:
    """`clean_batch` for `Dataset.map_batches`: one row with a table of each kind as bytes."""
    cleaned = clean_batch(table, params)
    return pa.table(
        {
            name: pa.array([_packed(part)], pa.large_binary())
            for name, part in zip(Cleaned._fields, cleaned, strict=True)
        }
    )


def unpacked(table: pa.Table) -> Cleaned:
    """The batches of a table that `clean_packed` wrote, as one, in its order."""
    return joined(
        Cleaned(*(pa.ipc.open_stream(row[name]).read_all() for name in Cleaned._fields))
        for row in table.to_pylist()
    )


def clean_dataset(
    dataset: Any, params: CleaningParams, workers: int, batch_size: int = 20_000
) -> Cleaned:
    """The row rules over a `ray.data.Dataset`; batches come back in their order.

    Args:
        dataset: raw items.
        params: which rules run, and their limits.
        workers: batches that are cleaned at once, with one core each.
        batch_size: rows.
    """
    import ray

    ray.data.DataContext.get_current().execution_options.preserve_order = True
    packed = dataset.map_batches(
        clean_packed,
        fn_kwargs={"params": params},
        batch_format="pyarrow",
        batch_size=batch_size,
        num_cpus=1,
        concurrency=workers,
    )
    return joined(
        unpacked(batch) for batch in packed.iter_batches(batch_format="pyarrow", batch_size=None)
    )


def _packed(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())
