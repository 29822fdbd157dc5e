"""Raw items → clean items, with counts of what each rule did.

Tables with texts or ids of items stay in memory, because half of the items will be closed; what is
saved are counts.
"""

from collections.abc import Mapping

import pandas as pd
import pyarrow as pa

from benchwright.methods.mmlu_cf.cleaning.deduplicate import clean
from benchwright.methods.mmlu_cf.cleaning.rules import WHOLE_RULES
from benchwright.params.mmlu_cf import CleaningParams
from benchwright.tables.mmlu_cf import CleaningFunnel, CleanItems

_AT_ONCE = 20_000


def clean_raw_items(
    raw_items: pa.Table, cleaning: CleaningParams
) -> tuple[pd.DataFrame, pa.Table, pa.Table, pd.DataFrame, pa.Table]:
    """Applies the cleaning rules in their order; each rewrites texts or rejects rows.

    Returns:
        Clean items; as Arrow tables the rejected rows with their rule and the texts that were
        rewritten, before and after; the funnel; as an Arrow table the duplicates, each with the
        item that it is like. Clean and rejected rows together are as many as came in.
    """
    slices = [
        raw_items.slice(start, _AT_ONCE) for start in range(0, max(raw_items.num_rows, 1), _AT_ONCE)
    ]
    cleaned = clean(slices, cleaning)
    rows = cleaned.rows.to_pandas()
    rows["choices"] = pd.Series(cleaned.rows.column("choices").to_pylist(), rows.index, object)
    return (
        pd.DataFrame(CleanItems.validate(rows)) if len(rows) else CleanItems.empty(),
        cleaned.rejected,
        cleaned.changes,
        pd.DataFrame(CleaningFunnel.validate(cleaned.counts.to_pandas())),
        cleaned.duplicates,
    )


def count_reasons(
    rejected_raw_items: pa.Table, cleaning_changes: pa.Table, cleaning_duplicates: pa.Table
) -> pd.DataFrame:
    """Counts why rows were rejected and in which columns texts were rewritten.

    Returns:
        A `CleaningReasons` table: rule, kind (reject, rewrite), reason (of rewriting, the column),
        rows. Rewritten rows that were rejected later count in both. It holds no text of an item.
    """
    rejected = rejected_raw_items.select(["rule", "detail"]).to_pandas()
    rejected = rejected[~rejected["rule"].isin(WHOLE_RULES)]
    copies = cleaning_duplicates.select(["rule", "like", "detail"]).to_pandas()
    # The reason ends with the id of the item that it is like.
    copies["detail"] = [
        detail.removesuffix(like).strip()
        for detail, like in zip(copies["detail"], copies["like"], strict=True)
    ]
    changes = cleaning_changes.select(["item_id", "rule", "column"]).to_pandas()
    changes["detail"] = [column.partition("[")[0] for column in changes["column"]]
    changes = changes.drop_duplicates(["item_id", "rule", "detail"])
    counted = [
        frame.groupby(["rule", "detail"]).size().rename("rows").reset_index().assign(kind=kind)
        for kind, frame in (
            ("reject", pd.concat([rejected, copies.drop(columns="like")])),
            ("rewrite", changes),
        )
    ]
    table = pd.concat(counted).rename(columns={"detail": "reason"})
    table = table.sort_values(["kind", "rule", "reason"], ignore_index=True)
    kinds = {"rule": "str", "kind": "str", "reason": "str", "rows": "int64"}
    return table[list(kinds)].astype(kinds)


def count_domains(
    document_domains: Mapping[str, int], raw_items: pa.Table, clean_items: pd.DataFrame
) -> pd.DataFrame:
    """Counts documents, raw items and clean items of each domain.

    Returns:
        A `DomainCounts` table: domain ("" where it is not known), documents, raw_items,
        clean_items; most clean items first.
    """
    raw = raw_items.column("domain").to_pandas().fillna("").value_counts()
    clean_ones = clean_items["domain"].fillna("").value_counts()
    table = pd.DataFrame(
        {
            "documents": pd.Series(document_domains, dtype="int64"),
            "raw_items": raw,
            "clean_items": clean_ones,
        }
    )
    table = table.fillna(0).astype("int64").rename_axis("domain").reset_index()
    table["domain"] = table["domain"].astype("str")
    return table.sort_values(
        ["clean_items", "raw_items", "documents", "domain"],
        ascending=[False, False, False, True],
        ignore_index=True,
    )
