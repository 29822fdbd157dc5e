"""Clean raw items, and count what each rule did."""

from collections.abc import Mapping

import pandas as pd
import pyarrow as pa

from benchwright.methods.mmlu_cf.cleaning.clean import clean
from benchwright.params.mmlu_cf import CleaningParams
from benchwright.tables.mmlu_cf import CleaningFunnel, CleanItems

_AT_ONCE = 20_000


def clean_raw_items(
    raw_items: pa.Table, cleaning: CleaningParams
) -> tuple[pd.DataFrame, pa.Table, pa.Table, pd.DataFrame]:
    """Apply the cleaning rules in order; each rewrites texts or rejects rows.

    Returns:
        Clean items; rejected rows with their rule (Arrow table); rewritten texts before and after
        (Arrow table); and the funnel. Every raw item is clean or rejected.
    """
    starts = range(0, max(raw_items.num_rows, 1), _AT_ONCE)
    cleaned = clean([raw_items.slice(start, _AT_ONCE) for start in starts], cleaning)
    rows = cleaned.rows.to_pandas()
    rows["choices"] = pd.Series(cleaned.rows.column("choices").to_pylist(), rows.index, object)
    return (
        pd.DataFrame(CleanItems.validate(rows)) if len(rows) else CleanItems.empty(),
        cleaned.rejected,
        cleaned.changes,
        pd.DataFrame(CleaningFunnel.validate(cleaned.counts.to_pandas())),
    )


def count_reasons(rejected_raw_items: pa.Table, cleaning_changes: pa.Table) -> pd.DataFrame:
    """Count rejected rows by reason and rewritten rows by column.

    Returns:
        A table: rule, kind (reject, rewrite), reason (for rewrites, the column),
        rows. Rewritten rows that were rejected later count in both. It holds no text of an item.
    """
    rejections = rejected_raw_items.select(["rule", "detail"]).to_pandas()
    changes = cleaning_changes.select(["item_id", "rule", "column"]).to_pandas()
    changes["detail"] = [column.partition("[")[0] for column in changes["column"]]
    changes = changes.drop_duplicates(["item_id", "rule", "detail"])
    counted = [
        frame.groupby(["rule", "detail"]).size().rename("rows").reset_index().assign(kind=kind)
        for kind, frame in (("reject", rejections), ("rewrite", changes))
    ]
    table = pd.concat(counted).rename(columns={"detail": "reason"})
    table = table.sort_values(["kind", "rule", "reason"], ignore_index=True)
    kinds = {"rule": "str", "kind": "str", "reason": "str", "rows": "int64"}
    return table[list(kinds)].astype(kinds)


def count_domains(
    document_domains: Mapping[str, int], raw_items: pa.Table, clean_items: pd.DataFrame
) -> pd.DataFrame:
    """Count documents, raw items and clean items by domain.

    Returns:
        A table: domain ("" if unknown), documents, raw_items, clean_items; most
        clean items first.
    """
    counts = {
        "documents": pd.Series(document_domains, dtype="int64"),
        "raw_items": raw_items.column("domain").to_pandas().fillna("").value_counts(),
        "clean_items": clean_items["domain"].fillna("").value_counts(),
    }
    table = pd.DataFrame(counts).fillna(0).astype("int64").rename_axis("domain").reset_index()
    table["domain"] = table["domain"].astype("str")
    return table.sort_values(
        ["clean_items", "raw_items", "documents", "domain"],
        ascending=[False, False, False, True],
        ignore_index=True,
    )
