"""The bundled documents through collection and cleaning: counts add up."""

from collections.abc import Callable
from pathlib import Path

from benchwright.datasets.document_shards import DocumentShards
from benchwright.datasets.optional_table import DocumentLabels
from benchwright.methods.mmlu_cf.cleaning.cleaned_items import (
    clean_raw_items,
    count_domains,
    count_reasons,
)
from benchwright.methods.mmlu_cf.extraction.collected_items import extract_items, measure_extraction
from benchwright.params.mmlu_cf import CleaningParams, CollectionParams


def test_the_counts_of_the_bundled_documents_add_up(
    repository: Path, show: Callable[[str], None]
) -> None:
    folder = repository / "data/01_raw/documents"
    labels = DocumentLabels(filepath=str(folder / "labels.jsonl")).load()
    shards = DocumentShards(path=f"{folder}/documents*").load()
    raw, domains, read = extract_items(shards, CollectionParams())
    assert read[["documents", "unreadable"]].to_numpy().tolist() == [[109, 0]]
    measures = measure_extraction(raw, labels).set_index(["measure", "style"])
    assert measures.loc[("recall", ""), "share"] > 0.99
    assert measures.loc[("precision_all_documents", ""), "share"] > 0.99

    clean, rejected, changes, funnel = clean_raw_items(raw, CleaningParams())
    assert raw.num_rows == len(clean) + rejected.num_rows == funnel["rows_in"].iloc[0]
    assert funnel["rows_out"].iloc[-1] == len(clean)
    ids = {*clean["item_id"], *rejected.column("item_id").to_pylist()}
    assert ids == set(raw.column("item_id").to_pylist())
    reasons = count_reasons(rejected, changes)
    assert reasons.loc[reasons["kind"] == "reject", "rows"].sum() == rejected.num_rows
    counted = count_domains(domains, raw, clean)
    assert counted["documents"].sum() == 109
    assert counted["raw_items"].sum() == raw.num_rows
    assert counted["clean_items"].sum() == len(clean)

    planted = [label for label in labels if "exact_duplicate_of" in str(label["planted"])]
    assert funnel.set_index("rule").loc["exact_duplicate", "rejected"] == len(planted) == 5
    saved = "".join(table.to_csv() for table in (measures.reset_index(), reasons, funnel, counted))
    assert not [stem for stem in clean["question"] if stem in saved]
    show(f"bundled documents: 109 → {raw.num_rows} raw → {len(clean)} clean items")
