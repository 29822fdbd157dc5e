"""A subset as tasks and as a manifest."""

import math
from collections.abc import Sequence
from pathlib import Path

import pandas as pd
import pytest

from benchwright.core.errors import InputError
from benchwright.datasets.harness_tasks import HarnessExport, HarnessTasks
from benchwright.exports.export import ExportedRun, export_subset
from benchwright.exports.subset_manifest import read_subset
from benchwright.params.exports import ExportsParams
from benchwright.params.sampling import SamplingParams
from benchwright.params.scoring import ScoringParams
from benchwright.tables.dele import ChosenSubset
from exports.export_examples import benchmark, item, table

ITEMS = table(*(item(f"colours/{n}") for n in range(12)))


def chosen(*rows: tuple[int, float]) -> pd.DataFrame:
    return ChosenSubset.from_rows([(f"colours/{n}", n, weight, math.nan) for n, weight in rows])


def choice(winner: str) -> pd.DataFrame:
    return pd.DataFrame({"split": [0, -1], "winner": ["gunning_fog", winner]})


def export(
    subset: pd.DataFrame, sampler: str = "random", winner: str = "", pool: Sequence[str] = ()
) -> HarnessExport:
    return export_subset(
        ITEMS,
        subset,
        {"drawn_from": pool},
        choice(winner),
        table(item("dev/0")),
        SamplingParams.model_validate({"export": {"sampler": sampler, "seed": 7}}),
        ExportedRun(
            benchmark(),
            ScoringParams(),
            ExportsParams(styles=("letters", "cloze")),
            *("dele", None, 0),
        ),
    )


UNEQUAL = chosen((10, 0.5), (2, 0.3), (9, 0.2))


def test_tasks_are_named_by_sampler_and_size_and_carry_weights() -> None:
    exported = export(UNEQUAL, "anchor_points")
    assert [family.name for family in exported.families] == [
        "benchwright_colours_anchor_points_3",
        "benchwright_colours_anchor_points_3_cloze",
    ]
    for family in exported.families:
        (task,) = family.tasks
        assert {row["item_id"]: row["weight"] for row in task.rows} == {
            "colours/2": 0.3,
            "colours/9": 0.2,
            "colours/10": 0.5,
        }
        assert all("weight" not in row for row in task.demonstrations)


def test_manifest_has_the_input_of_an_estimate(tmp_path: Path) -> None:
    HarnessTasks(path=str(tmp_path / "subset")).save(export(UNEQUAL, "anchor_points"))
    read = read_subset(tmp_path / "subset")
    file = tmp_path / "subset" / "manifest.json"
    assert read == read_subset(file)
    said_more = file.read_text().replace('"item_id"', '"stock": ["colours", 2], "item_id"')
    file.write_text(said_more)
    assert read == read_subset(file)
    assert (read.benchmark, read.sampler, read.seed) == ("colours", "anchor_points", 7)
    assert (read.rate, read.of_items, read.equal_weights) == (25.0, 12, False)
    assert read.run == {"limit": None, "seed": 0}
    assert read.item_ids == ("colours/10", "colours/2", "colours/9")
    assert read.weights.tolist() == [0.5, 0.3, 0.2]
    assert read.items[1].content_hash == ITEMS["content_hash"][2]
    assert "benchwright estimate" in read.scoring


def test_subset_of_a_part_of_the_items_speaks_of_that_part() -> None:
    pool = [f"colours/{n}" for n in (2, 3, 9, 10)]
    read = export(UNEQUAL, "anchor_points", pool=pool).facts["subset"]
    assert (read["rate"], read["of_items"]) == (75.0, 4)
    assert "3 of 4 items" in export(UNEQUAL, "anchor_points", pool=pool).readme


def test_readme_and_manifest_say_what_the_score_is() -> None:
    exported = export(UNEQUAL, "anchor_points")
    assert exported.facts["subset"]["equal_weights"] is False
    assert "3 of 12 items" in exported.readme
    assert "--tasks benchwright_colours_anchor_points_3 --include_path ." in exported.readme
    assert "benchwright estimate results --subset . --benchmark colours" in exported.readme
    assert "The score is the weighted mean of the answers" in exported.readme
    subset = export(chosen((1, 0.5), (3, 0.5))).facts["subset"]
    assert subset["equal_weights"] is True
    assert subset["scoring"].startswith("all items have equal weights")


@pytest.mark.parametrize(
    ("sampler", "winner", "expected"),
    [("chosen", "flesch", "flesch"), ("chosen", "", "random"), ("lda_tfidf", "x", "lda_tfidf")],
)
def test_sampler_is_the_one_of_the_subset(sampler: str, winner: str, expected: str) -> None:
    exported = export(chosen((1, 1.0)), sampler, winner)
    assert exported.facts["subset"]["sampler"] == expected
    assert exported.families[0].name == f"benchwright_colours_{expected}_1"


def test_unknown_items_are_rejected() -> None:
    strange = ChosenSubset.from_rows([("colours/99", 0, 1.0, math.nan)])
    with pytest.raises(InputError, match="colours/99 is not among"):
        export(strange)


def test_other_and_missing_manifests_are_rejected(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        read_subset(tmp_path)
    (tmp_path / "manifest.json").write_text('{"format": 1}')
    with pytest.raises(InputError, match="no section 'subset'"):
        read_subset(tmp_path)
