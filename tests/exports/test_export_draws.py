"""Draws as tasks: whose rows, under which names, in which groups, and what the page says."""

import importlib.util
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml
from kedro.pipeline import Pipeline

from benchwright.core.errors import InputError
from benchwright.datasets.harness_tasks import HarnessExport, HarnessTasks
from benchwright.exports.export import export_draws, export_tasks
from benchwright.params.exports import ExportsParams
from benchwright.params.perturbation import PerturbationParams
from benchwright.params.scoring import ScoringParams
from benchwright.pipelines.exports import create_draws_pipeline
from benchwright.tables.wicked import Draws
from benchwright.transforms.compose import perturb
from exports.export_examples import benchmark, item, table
from harness_folder import folder_contents

ITEMS = table(*(item(f"colours/{n}", answer=n % 4) for n in range(6)))
SHOWN = table(*(item(f"dev/{n}", answer=n % 4) for n in range(3)))
TWO_SUBJECTS = table(*(item(f"colours/{s}/{n}", s) for s in ("law", "anatomy") for n in range(3)))
SHOWN_BY_SUBJECT = table(*(item(f"dev/{s}/{n}", s) for s in ("law", "anatomy") for n in range(2)))


def export(
    items: pd.DataFrame = ITEMS,
    shown: pd.DataFrame = SHOWN,
    draws: pd.DataFrame | None = None,
    perturbation: PerturbationParams | None = None,
    limit: int | None = None,
    seed: int = 0,
    **changes: Any,
) -> HarnessExport:
    perturbation = perturbation or PerturbationParams(draws=2)
    if draws is None:
        draws = pd.DataFrame(Draws.validate(perturb(items, shown, perturbation, 0).draws))
    return export_draws(
        items,
        shown,
        draws,
        perturbation,
        benchmark(),
        ScoringParams(),
        ExportsParams(**{"styles": ("letters",), **changes}),
        "wicked",
        limit,
        seed,
    )


def names(found: HarnessExport) -> list[str]:
    return [family.name for family in found.families]


def test_original_group_and_draws_stand_side_by_side_in_every_style() -> None:
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


def test_draws_are_counted_as_numbers() -> None:
    found = export(perturbation=PerturbationParams(draws=11))
    (group,) = [family for family in found.families if family.group is not None]
    assert group.group is not None
    assert group.group["task"] == [f"benchwright_colours_wicked_{n}" for n in range(1, 12)]


def test_each_draw_has_its_own_items_and_demonstrations() -> None:
    made = perturb(ITEMS, SHOWN, PerturbationParams(draws=2), 0).draws
    families = {family.name: family for family in export().families}
    for number in (1, 2):
        own = made[made["condition"] == f"wicked-{number}"].set_index("item_id")
        (task,) = families[f"benchwright_colours_wicked_{number}"].tasks
        for row in [*task.rows, *task.demonstrations]:
            drawn = own.loc[row["item_id"]]
            assert row["choices"] == list(drawn["choices"])
            assert row["answer"] == drawn["answer"]
            assert row["content_hash"] == drawn["content_hash"]
            assert row["condition"] == f"wicked-{number}"
            assert "None of the above" in row["text"]
        assert [row["item_id"] for row in task.rows] == list(ITEMS["item_id"])
        assert [row["item_id"] for row in task.demonstrations] == list(SHOWN["item_id"])


def test_tasks_of_a_draw_say_which_it_is() -> None:
    family = export().families[-1]
    said = family.tasks[0].config["metadata"]["benchwright"]
    assert {name: said[name] for name in ("benchmark", "condition", "perturbation", "draw")} == {
        "benchmark": "colours",
        "condition": "wicked-2",
        "perturbation": "wicked",
        "draw": "2",
    }
    assert said["items_hash"] == family.facts["items_hash"]
    (first, second) = (family.facts["items_hash"] for family in export().families[-2:])
    assert first != second


def test_the_original_is_exported_as_it_always_was() -> None:
    kept = export_tasks(
        ITEMS,
        ITEMS,
        SHOWN,
        "",
        benchmark(),
        ScoringParams(),
        ExportsParams(styles=("letters",)),
        "smart",
        None,
        0,
    )
    assert export().families[0] == kept.families[0]
    assert "condition" not in export().families[0].tasks[0].rows[0]


def test_groups_of_subjects_are_in_the_group_of_draws() -> None:
    found = export(TWO_SUBJECTS, SHOWN_BY_SUBJECT)
    contents = folder_contents(found)
    over_draws = yaml.safe_load(
        contents["benchwright_colours_wicked/benchwright_colours_wicked.yaml"]
    )
    assert over_draws["task"] == ["benchwright_colours_wicked_1", "benchwright_colours_wicked_2"]
    one = contents["benchwright_colours_wicked_1/benchwright_colours_wicked_1.yaml"]
    assert yaml.safe_load(one)["task"] == [
        "benchwright_colours_wicked_1_anatomy",
        "benchwright_colours_wicked_1_law",
    ]
    assert "benchwright_colours_wicked/read_rows.py" not in contents


def test_perturbations_of_one_run_have_a_group_each() -> None:
    rules = PerturbationParams.model_validate(
        {
            "name": "cf",
            "draws": 2,
            "cumulative": True,
            "transforms": [{"transform": "shuffle_choices"}, {"transform": "replace_choice"}],
        }
    )
    found = export(perturbation=rules)
    groups = {f.name: f.group["task"] for f in found.families if f.group is not None}
    assert groups == {
        f"benchwright_colours_cf_{rule}": [f"benchwright_colours_cf_{rule}_{n}" for n in (1, 2)]
        for rule in (1, 2)
    }


def test_open_ended_items_are_written_in_draws_too() -> None:
    rows = table(*(item(f"colours/{n}", choices=(), answer_text=str(n)) for n in range(3)))
    found = export(rows, rows.iloc[:0])
    assert names(found) == [
        "benchwright_colours",
        "benchwright_colours_wicked",
        "benchwright_colours_wicked_1",
        "benchwright_colours_wicked_2",
    ]
    (group,) = [family for family in found.families if family.group is not None]
    assert group.group is not None
    assert group.group["aggregate_metric_list"][0]["metric"] == "exact_match"


def test_a_draw_named_as_a_subject_is_refused() -> None:
    items = table(item("colours/a/0", "wicked 1"), item("colours/b/0", "law"))
    shown = table(item("dev/a/0", "wicked 1"), item("dev/b/0", "law"))
    with pytest.raises(InputError, match="benchwright_colours_wicked_1 would be the name of two"):
        export(items, shown)


def test_the_order_of_rows_changes_no_byte() -> None:
    draws = perturb(ITEMS, SHOWN, PerturbationParams(draws=2), 0).draws
    turned = export(ITEMS[::-1], SHOWN[::-1], draws[::-1])
    assert folder_contents(export(draws=draws)) == folder_contents(turned)


def test_the_page_runs_original_and_group_at_the_same_shots() -> None:
    page = export(limit=6, seed=7).readme
    assert "--tasks benchwright_colours,benchwright_colours_wicked --include_path ." in page
    assert page.count("--num_fewshot 3") == 1
    assert "benchmark=colours,variant=wicked,limit=6,seed=7,score=imported" in page
    assert "| `benchwright_colours_wicked` | wicked, mean of 2 | letters | 6 | 2 | 3 |" in page


def test_the_manifest_says_how_the_draws_were_made(tmp_path: Path) -> None:
    dataset = HarnessTasks(path=str(tmp_path / "harness_draws"))
    dataset.save(export())
    manifest = dataset.load()
    assert manifest["perturbation"]["transforms"][0]["transform"] == "none_of_the_above"
    assert manifest["families"]["benchwright_colours_wicked_1"]["condition"] == "wicked-1"
    assert manifest["families"]["benchwright_colours_wicked"]["draws"] == ["1", "2"]


def test_only_rows_of_draws_are_read_with_a_condition(tmp_path: Path) -> None:
    pytest.importorskip("datasets")
    HarnessTasks(path=str(tmp_path / "harness_draws")).save(export())

    def read(name: str) -> Any:
        folder = tmp_path / "harness_draws" / name
        spec = importlib.util.spec_from_file_location("reader_of_draws", folder / "read_rows.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        splits = {"test": f"{name}.jsonl", "dev": f"{name}.demonstrations.jsonl"}
        return module.read_rows(splits)

    original, drawn = read("benchwright_colours"), read("benchwright_colours_wicked_1")
    assert "condition" not in original["test"].features
    assert set(drawn["test"]["condition"]) == set(drawn["dev"]["condition"]) == {"wicked-1"}
    assert drawn["test"].features == drawn["dev"].features


def test_the_pipeline_needs_no_answers() -> None:
    pipeline: Pipeline = create_draws_pipeline()
    free = {name for name in pipeline.inputs() if not name.startswith("params:")}
    assert free == {"items", "demonstrations", "draws"}
    assert pipeline.outputs() == {"harness_draw_tasks"}
