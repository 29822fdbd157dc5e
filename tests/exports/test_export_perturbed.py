"""Perturbed copies as tasks: rows, names, groups and README."""

import importlib.util
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from benchwright.datasets.harness_tasks import HarnessExport, HarnessTasks
from benchwright.exports.export import ExportedRun, export_perturbed
from benchwright.params.exports import ExportsParams
from benchwright.params.perturbation import PerturbationParams
from benchwright.params.scoring import ScoringParams
from benchwright.tables.wicked import PerturbedItems
from benchwright.transforms.compose import perturb
from exports.export_examples import benchmark, item, table

ITEMS = table(*(item(f"colours/{n}", answer=n % 4) for n in range(6)))
SHOWN = table(*(item(f"dev/{n}", answer=n % 4) for n in range(3)))
TWO_SUBJECTS = table(*(item(f"colours/{s}/{n}", s) for s in ("law", "anatomy") for n in range(3)))
SHOWN_BY_SUBJECT = table(*(item(f"dev/{s}/{n}", s) for s in ("law", "anatomy") for n in range(2)))


def export(
    items: pd.DataFrame = ITEMS,
    shown: pd.DataFrame = SHOWN,
    perturbed_items: pd.DataFrame | None = None,
    perturbation: PerturbationParams | None = None,
    limit: int | None = None,
    seed: int = 0,
    **changes: Any,
) -> HarnessExport:
    perturbation = perturbation or PerturbationParams(copies=2)
    if perturbed_items is None:
        perturbed_items = pd.DataFrame(
            PerturbedItems.validate(perturb(items, shown, perturbation, 0).perturbed_items)
        )
    return export_perturbed(
        items,
        shown,
        perturbed_items,
        perturbation,
        ExportedRun(
            benchmark(),
            ScoringParams(),
            ExportsParams(**{"styles": ("letters",), **changes}),
            *("wicked", limit, seed),
        ),
    )


def names(export: HarnessExport) -> list[str]:
    return [family.name for family in export.families]


def test_original_group_and_copies_are_exported_in_every_style() -> None:
    assert names(export(styles=("letters", "cloze"))) == [
        "benchwright_colours",
        "benchwright_colours_cloze",
        "benchwright_colours_wicked",
        "benchwright_colours_wicked_cloze",
        "benchwright_colours_wicked_1",
        "benchwright_colours_wicked_1_cloze",
        "benchwright_colours_wicked_2",
        "benchwright_colours_wicked_2_cloze",
    ]


def test_each_copy_has_its_own_items_and_demonstrations() -> None:
    made = perturb(ITEMS, SHOWN, PerturbationParams(copies=2), 0).perturbed_items
    families = {family.name: family for family in export().families}
    for number in (1, 2):
        rows = made[made["condition"] == f"wicked-{number}"].set_index("item_id")
        (task,) = families[f"benchwright_colours_wicked_{number}"].tasks
        for row in [*task.rows, *task.demonstrations]:
            perturbed = rows.loc[row["item_id"]]
            assert row["choices"] == list(perturbed["choices"])
            assert row["answer"] == perturbed["answer"]
            assert row["content_hash"] == perturbed["content_hash"]
            assert row["condition"] == f"wicked-{number}"
            assert "None of the above" in row["text"]
        assert [row["item_id"] for row in task.rows] == list(ITEMS["item_id"])
        assert [row["item_id"] for row in task.demonstrations] == list(SHOWN["item_id"])


def test_tasks_of_a_copy_carry_its_name() -> None:
    family = export().families[-1]
    metadata = family.tasks[0].config["metadata"]["benchwright"]
    assert {
        name: metadata[name] for name in ("benchmark", "condition", "perturbation", "copy")
    } == {
        "benchmark": "colours",
        "condition": "wicked-2",
        "perturbation": "wicked",
        "copy": "2",
    }
    assert metadata["items_hash"] == family.facts["items_hash"]
    (first, second) = (family.facts["items_hash"] for family in export().families[-2:])
    assert first != second


def test_perturbations_of_one_run_have_a_group_each() -> None:
    rules = PerturbationParams.model_validate(
        {
            "name": "cf",
            "copies": 2,
            "cumulative": True,
            "transforms": [{"transform": "shuffle_choices"}, {"transform": "replace_choice"}],
        }
    )
    exported = export(perturbation=rules)
    groups = {f.name: f.group["task"] for f in exported.families if f.group is not None}
    assert groups == {
        f"benchwright_colours_cf_{rule}": [f"benchwright_colours_cf_{rule}_{n}" for n in (1, 2)]
        for rule in (1, 2)
    }


def test_readme_runs_original_and_group_with_the_same_shots() -> None:
    page = export(limit=6, seed=7).readme
    assert "--tasks benchwright_colours,benchwright_colours_wicked --include_path ." in page
    assert page.count("--num_fewshot 3") == 1
    assert "benchmark=colours,variant=wicked,limit=6,seed=7,score=imported" in page
    assert "| `benchwright_colours_wicked` | wicked, mean of 2 | letters | 6 | 2 | 3 |" in page


def test_only_rows_of_copies_are_read_with_a_condition(tmp_path: Path) -> None:
    pytest.importorskip("datasets")
    HarnessTasks(path=str(tmp_path / "harness_perturbed")).save(export())

    def read(name: str) -> Any:
        folder = tmp_path / "harness_perturbed" / name
        spec = importlib.util.spec_from_file_location("reader_of_copies", folder / "read_rows.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        splits = {"test": f"{name}.jsonl", "dev": f"{name}.demonstrations.jsonl"}
        return module.read_rows(splits)

    original, perturbed = read("benchwright_colours"), read("benchwright_colours_wicked_1")
    assert "condition" not in original["test"].features
    assert set(perturbed["test"]["condition"]) == set(perturbed["dev"]["condition"]) == {"wicked-1"}
    assert perturbed["test"].features == perturbed["dev"].features
