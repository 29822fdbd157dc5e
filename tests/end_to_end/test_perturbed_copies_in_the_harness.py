"""Perturbed copies, exported and scored by lm-evaluation-harness, give our own scores."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest
import yaml

from benchwright.language_models.weights import model_source
from benchwright.params.scoring import ModelsParams
from end_to_end.saved import newest

pytest.importorskip("lm_eval")
pytestmark = [pytest.mark.live, pytest.mark.long]

MODEL = "smollm2-135m-instruct"
ASKED = {f"{MODEL}@letters-0": "", f"{MODEL}@cloze-3": "_cloze"}
ITEMS, COPIES = 6, 2


class Answered(NamedTuple):
    """Data of a live run and of an imported one, and the results of lm-eval."""

    live: Path
    imported: Path
    results: dict[str, Any]


def table(data: Path, layer: str, name: str) -> pd.DataFrame:
    return pd.read_parquet(newest(data, layer, f"{name}.parquet", "demo", "wicked"))


@pytest.fixture(scope="module")
def answered(
    run_project: Callable[..., Path],
    repository: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> Answered:
    common: dict[str, Any] = {"benchmark": "demo", "variant": "wicked", "limit": ITEMS}
    common["perturbation"] = {"copies": COPIES}
    asked = {"configurations": list(ASKED), "conditions": ["question"], "dtype": "float32"}
    live = run_project(pipeline="wicked", scoring=asked, **common)

    data = tmp_path_factory.mktemp("imported")
    tasks = live / "08_reporting" / "demo" / "wicked" / f"limit{ITEMS}" / "harness_perturbed"
    shutil.copytree(repository / "data" / "01_raw", data / "01_raw")
    logs = data / "01_raw" / "demo" / "responses"
    (logs / "recorded_answers.parquet").unlink()  # has answers of this model too
    weights = data / MODEL
    weights.symlink_to(folder_of_weights(repository))
    results = {
        name: evaluate(
            [f"benchwright_demo{style}", f"benchwright_demo_wicked{style}"],
            int(name.rpartition("-")[2]),
            weights,
            tasks,
            logs,
        )
        for name, style in ASKED.items()
    }
    return Answered(
        live, run_project(pipeline="wicked", data=data, score="imported", **common), results
    )


def folder_of_weights(repository: Path) -> Path:
    """The model's weights in Transformers' format, as the live run reads them."""
    conf = yaml.safe_load((repository / "conf/base/parameters/models.yml").read_text())
    weights = ModelsParams.model_validate(conf["models"]).models[MODEL].weights
    assert weights is not None
    return Path(model_source(weights, "float32").name_or_path)


def evaluate(names: list[str], shots: int, weights: Path, tasks: Path, logs: Path) -> Any:
    """Run the equivalent of `lm_eval --log_samples` in this process."""
    from lm_eval import simple_evaluate
    from lm_eval.loggers import EvaluationTracker
    from lm_eval.tasks import TaskManager

    tracker = EvaluationTracker(output_path=str(logs))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HF_HUB_OFFLINE", "1")
        patch.setenv("HF_DATASETS_OFFLINE", "1")
        out = simple_evaluate(
            model="hf",
            model_args={"pretrained": str(weights), "dtype": "float32", "device": "cpu"},
            tasks=names,
            num_fewshot=shots,
            task_manager=TaskManager(include_path=str(tasks), include_defaults=False),
            evaluation_tracker=tracker,
            log_samples=True,
            bootstrap_iters=0,
        )
        samples = out.pop("samples")
        tracker.save_results_aggregated(results=out, samples=samples)
        for name in samples:
            tracker.save_results_samples(task_name=name, samples=samples[name])
    return out


def test_harness_accuracies_equal_ours(answered: Answered) -> None:
    scores = table(answered.live, "08_reporting", "comparison_scores").set_index("configuration")
    for name, style in ASKED.items():
        results = answered.results[name]["results"]
        row = scores.loc[name]
        assert (row["n_items"], row["copies"]) == (ITEMS, COPIES)
        assert results[f"benchwright_demo{style}"]["acc,none"] == row["accuracy_original"]
        perturbed = [
            results[f"benchwright_demo_wicked_{copy + 1}{style}"]["acc,none"]
            for copy in range(COPIES)
        ]
        assert np.mean(perturbed) == pytest.approx(row["accuracy_mean"])
        assert np.std(perturbed, ddof=1) == pytest.approx(row["accuracy_sd"])
        group = results[f"benchwright_demo_wicked{style}"]["acc,none"]
        assert group == pytest.approx(row["accuracy_mean"])


def test_imported_logs_give_the_scores_of_the_copies(answered: Answered) -> None:
    live, imported = (
        table(data, "08_reporting", "comparison_scores").set_index("configuration")
        for data in (answered.live, answered.imported)
    )
    shared = sorted({*ASKED, f"{MODEL}@cloze_bytes-3"})
    assert sorted(imported.index) == shared  # a log has no numbers of tokens
    same = [
        "n_items",
        "copies",
        "accuracy_original",
        "accuracy_mean",
        "accuracy_sd",
        "delta",
    ]
    same += ["delta_se", "accuracy_altered", "accuracy_gold_removed"]
    pd.testing.assert_frame_equal(live.loc[shared, same], imported.loc[shared, same])


def test_every_answer_comes_back_under_its_condition(answered: Answered) -> None:
    key = ["condition", "item_id", "style"]
    live = table(answered.live, "07_model_output", "live_responses")
    logged = table(answered.imported, "07_model_output", "imported_responses")
    logged = logged[logged["source"].str.contains("samples_")]
    assert set(logged["condition"]) == {"question", "wicked-1", "wicked-2"}
    assert set(logged["model"]) == {MODEL}
    both = live.merge(logged, on=[*key, "model", "shots"], suffixes=("", "_logged"))
    assert len(both) == len(logged) == len(ASKED) * ITEMS * (COPIES + 1)
    for ours, imported in zip(both["logprobs"], both["logprobs_logged"], strict=True):
        np.testing.assert_allclose(ours, imported, atol=2e-3)
    report = table(answered.imported, "07_model_output", "import_report")
    assert report[["not_joined", "dropped", "contradicting"]].to_numpy().sum() == 0


def test_no_model_was_loaded_for_the_import(answered: Answered) -> None:
    assert table(answered.imported, "07_model_output", "live_responses").empty
