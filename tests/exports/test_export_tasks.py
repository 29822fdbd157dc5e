"""Exports of a run: names, variants and manifest."""

from typing import Any

import pandas as pd
import pytest

from benchwright.core.errors import InputError
from benchwright.datasets.harness_tasks import HarnessExport
from benchwright.exports.export import ExportedRun, export_tasks
from benchwright.params.exports import ExportsParams
from benchwright.params.scoring import ScoringParams
from exports.export_examples import benchmark, item, table
from harness_folder import folder_contents

ITEMS = table(*(item(f"colours/{n}") for n in range(6)))
SHOWN = table(item("dev/0"), item("dev/1"))


def export(
    items: pd.DataFrame = ITEMS,
    kept: pd.DataFrame = ITEMS.iloc[:2],
    variant: str = "smart",
    **changes: Any,
) -> HarnessExport:
    benchmark_changes = changes.pop("benchmark", {})
    return export_tasks(
        items,
        kept if "tags" in kept else kept.assign(tags=""),
        SHOWN,
        ExportedRun(
            benchmark(**benchmark_changes),
            ScoringParams(),
            ExportsParams(**changes),
            variant,
            None,
            0,
        ),
    )


def names(export: HarnessExport) -> list[str]:
    return [family.name for family in export.families]


def test_original_and_variant_have_different_names() -> None:
    assert names(export()) == [
        "benchwright_colours",
        "benchwright_colours_cloze",
        "benchwright_colours_smart",
        "benchwright_colours_smart_cloze",
    ]
    counts = {f.name: f.facts["n_items"] for f in export(styles=("letters",)).families}
    assert counts == {"benchwright_colours": 6, "benchwright_colours_smart": 2}


def test_names_follow_variant_and_benchmark() -> None:
    exported = export(
        variant="No-Similar v2",
        styles=("letters",),
        benchmark={"name": "ARC-Challenge.4"},
    )
    assert names(exported)[1] == "benchwright_arc_challenge_4_no_similar_v2"


def test_mixed_items_are_exported_in_the_styles_that_fit() -> None:
    rows = table(item("colours/0"), item("colours/1", choices=(), answer_text="4"))
    exported = export(rows, rows, styles=("letters",))
    assert names(exported)[2:] == [
        "benchwright_colours_smart",
        "benchwright_colours_smart_generate",
    ]
    assert [family.facts["n_items"] for family in exported.families] == [1, 1, 1, 1]


def test_nothing_to_export_is_an_error() -> None:
    rows = table(item("colours/0", answer=-1))
    with pytest.raises(InputError, match=r"exports\.styles: no item of benchmark colours"):
        export(rows, rows)


def test_output_does_not_depend_on_row_order() -> None:
    turned = export(ITEMS[::-1], ITEMS.iloc[:2][::-1])
    assert folder_contents(export()) == folder_contents(turned)


def rows_of(export: HarnessExport, family: int) -> list[dict[str, Any]]:
    return [dict(row) for task in export.families[family].tasks for row in task.rows]


def test_changed_kept_items_are_exported_as_changed() -> None:
    changed = ITEMS.iloc[[3, 1]].copy()
    changed.iloc[0, changed.columns.get_loc("answer_text")] = "other"
    exported = export(kept=changed, styles=("letters",))
    texts = {row["item_id"]: row["answer_text"] for row in rows_of(exported, 1)}
    assert texts["colours/3"] == "other"
    assert texts["colours/1"] == ITEMS["answer_text"].iloc[1]


def test_rows_of_kept_items_have_their_tags_and_the_same_version() -> None:
    tagged = ITEMS.iloc[[1, 4]].assign(tags=["retained_easy", ""])
    exported = export(kept=tagged, styles=("letters",))
    assert [row["tags"] for row in rows_of(exported, 1)] == ["retained_easy", ""]
    assert "tags" not in rows_of(exported, 0)[0]
    plain = export(kept=tagged.assign(tags=""), styles=("letters",))
    versions = [
        each.families[1].tasks[0].config["metadata"]["version"] for each in (exported, plain)
    ]
    assert versions[0] == versions[1]
