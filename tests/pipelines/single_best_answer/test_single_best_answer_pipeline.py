"""From labels to a classifier, its metrics and its card."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from kedro.io import DatasetError

from benchwright.core.errors import InputError
from benchwright.datasets.classifier_folder import ClassifierFolder
from benchwright.datasets.saved_tables import SavedItems
from benchwright.methods.wicked.single_best_answer import bert
from benchwright.methods.wicked.single_best_answer import labels as labels_module
from benchwright.methods.wicked.single_best_answer.training import predict
from benchwright.params.scoring import ModelsParams, ScoringParams
from benchwright.params.single_best_answer import SingleBestAnswerParams
from benchwright.pipelines import single_best_answer as nodes
from benchwright.tables.items import Demonstrations, Items
from methods.wicked.single_best_answer.tiny_bert import FAST, write_tiny_bert
from transforms.benchmark_tables import items_table

NOTHING = Demonstrations.empty()


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    words = ("which", "is", "the", "best", "of", "what")
    return write_tiny_bert(tmp_path_factory.mktemp("base"), words)


@pytest.fixture
def tuned(base: Path, monkeypatch: pytest.MonkeyPatch) -> SingleBestAnswerParams:
    for name, value in FAST.items():
        monkeypatch.setattr(bert, name, value)
    return settings(base, recall=0.9, folds=4)


def settings(model: Path, **changed: Any) -> SingleBestAnswerParams:
    return SingleBestAnswerParams.model_validate(
        {"fine_tuning": {"model": str(model)}, "folds": 2, **changed}
    )


def benchmark_items(n: int, prefix: str) -> pd.DataFrame:
    """Even items ask for the best option, odd ones for a number."""
    rows = [
        (f"Which is the best of {word}?", [f"{word} a few words more", "two of them", "three"], 0)
        if number % 2 == 0
        else (f"What is {number} + 1?", [str(number + 1), "0", "7"], 0)
        for number in range(n)
        for word in [f"w{chr(97 + number % 26)}"]
    ]
    return items_table(rows, prefix)


def labels_of(items: pd.DataFrame, benchmark: str, flip: Sequence[int] = ()) -> pd.DataFrame:
    numbers = range(len(items))
    return pd.DataFrame(
        {
            "item_id": items["item_id"],
            "sba": [int((number % 2 == 0) != (number in flip)) for number in numbers],
            "benchmark": benchmark,
            "annotator": "a",
        }
    )


def trained(
    items: pd.DataFrame, labels: pd.DataFrame, params: SingleBestAnswerParams
) -> tuple[dict[str, Any], pd.DataFrame, pd.DataFrame]:
    annotations, texts = nodes.gather_labelled_items(items, NOTHING, NOTHING, [], labels)
    return nodes.train_single_best_answer_classifier(annotations, texts, params)


def test_classifier_is_trained_evaluated_and_described(
    tuned: SingleBestAnswerParams, tmp_path: Path
) -> None:
    mine, other = benchmark_items(60, "b/s"), benchmark_items(20, "c/s")
    labels = pd.concat(
        [
            labels_of(mine, "b", flip=[3, 8]),
            labels_of(other, "commonsense_qa"),
            labels_of(benchmark_items(5, "far/s"), "far"),
        ]
    )
    labels = pd.concat([labels, labels.head(10).assign(annotator="z")])
    classifier, table, rows = trained(pd.concat([mine, other]), labels, tuned)
    assert classifier["trained_on"]["items"] == 44
    assert classifier["trained_on"]["benchmarks"] == {"b": 44}
    assert table.groupby("split")["item_id"].nunique().to_dict() == {
        "train": 44,
        "held_out": 16,
        "left_out": 20,
        "missing": 5,
    }
    assert table.groupby("item_id")["split"].nunique().max() == 1
    assert table.loc[table["split"] == "missing", "probability"].isna().all()
    evaluation, metrics = nodes.evaluate_single_best_answer_classifier(rows, table, classifier)
    held = evaluation[(evaluation["part"] == "held_out") & (evaluation["method"] == "classifier")]
    assert held["average_precision"].iloc[0] > 0.8
    assert metrics["sba_left_out_commonsense_qa_recall"] == 1.0
    folder = ClassifierFolder(folder=str(tmp_path))
    folder.save(classifier)
    loaded = folder.load()
    assert loaded is not None
    saved_of = rows.set_index("item_id")["probability"]
    again = predict(other, loaded)
    assert again == pytest.approx(saved_of[other["item_id"]].to_numpy(), abs=1e-6)


def test_random_labels_are_warned_of(
    tuned: SingleBestAnswerParams, caplog: pytest.LogCaptureFixture
) -> None:
    items = benchmark_items(80, "b/s")
    labels = labels_of(items, "b")
    labels["sba"] = np.random.default_rng(4).integers(0, 2, len(labels))
    classifier, table, rows = trained(items, labels, tuned)
    nodes.evaluate_single_best_answer_classifier(rows, table, classifier)
    assert "no better than chance: do not use it" in caplog.text


def test_error_for_labels_of_one_kind_names_the_runs_that_add_items(
    tuned: SingleBestAnswerParams,
) -> None:
    items = benchmark_items(12, "b/s")
    labels = pd.concat(
        [labels_of(items, "b").assign(sba=1), labels_of(benchmark_items(4, "far/s"), "far")]
    )
    with pytest.raises(InputError, match=r"all 9 have the label 1; kedro run .*benchmark=far"):
        trained(items, labels, tuned)
    with pytest.raises(InputError, match="with text: none; kedro run"):
        trained(items.assign(item_id=[f"x{i}" for i in range(12)]), labels, tuned)
    with pytest.raises(InputError, match="have the label 0; label more items"):
        trained(items, labels_of(items, "b").assign(sba=0), tuned)


def test_texts_come_from_the_newest_save_that_has_them(tmp_path: Path) -> None:
    items = benchmark_items(6, "far/s")
    versions = {"2026-01-01": items, "2026-02-01": items.head(2).assign(question="newer?")}
    for version, table in versions.items():
        place = tmp_path / "far" / "items.parquet" / version
        place.mkdir(parents=True)
        Items.validate(table).to_parquet(place / "items.parquet")
    (tmp_path / "unlabelled" / "items.parquet" / "v").mkdir(parents=True)
    (tmp_path / "unlabelled" / "items.parquet" / "v" / "items.parquet").write_text("not Parquet")
    saved = SavedItems(folder=str(tmp_path)).load()
    _, texts = nodes.gather_labelled_items(
        benchmark_items(3, "b/s"), NOTHING, NOTHING, saved, labels_of(items, "far")
    )
    assert texts["item_id"].tolist() == sorted(items["item_id"])
    assert (texts["question"] == "newer?").sum() == 2


def test_judge_labels_annotated_items_and_some_of_the_run(
    base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    items = benchmark_items(50, "b/s")

    def ask_model(name: str, *_: Any, **settings: Any) -> Any:
        assert (name, settings["max_tokens"]) == ("m", 16)
        return lambda texts, attempt=1: [
            None if "51" in t else "1" if "Which is the best of" in t else "0" for t in texts
        ]

    monkeypatch.setattr(labels_module, "ask_model", ask_model)
    params = settings(base, labels="judge", judge={"model": "m", "items": 30})
    annotations, texts = nodes.gather_labelled_items(
        items, NOTHING, NOTHING, [], labels_of(items.head(20), "b", flip=[1])
    )
    both, every = nodes.ask_judge(
        items, texts, annotations, {}, params, ModelsParams(), ScoringParams()
    )
    judged = both[both["labeller"] == "judge:m"]
    assert len(judged) == 50
    assert set(every["item_id"]) == set(items["item_id"])
    classifier, table, rows = nodes.train_single_best_answer_classifier(both, every, params)
    truth = rows.set_index("item_id")
    flipped = truth.loc["b/s/1"]
    assert flipped["label"] == (0 if flipped["split"] == "train" else 1)
    evaluation, _ = nodes.evaluate_single_best_answer_classifier(rows, table, classifier)
    assert "judge:m" in set(evaluation["method"])


def test_saved_weights_replace_older_ones(base: Path, tmp_path: Path) -> None:
    items = benchmark_items(16, "b/s")
    classifier, _, _ = trained(items, labels_of(items, "b"), settings(base))
    folder = ClassifierFolder(folder=str(tmp_path))
    for _ in range(2):
        folder.save(classifier)
    assert len(list(tmp_path.glob("weights-*/model.safetensors"))) == 1


def test_a_classifier_used_as_it_is_decides_by_its_own_class(base: Path, tmp_path: Path) -> None:
    folder = tmp_path / "trained"
    bert.load_classifier(str(base), trained=False).save(folder)
    items = benchmark_items(16, "b/s")
    labels = labels_of(items, "b")
    for recall in (0.5, 1.0):
        params = settings(folder, kind="hub", recall=recall)
        classifier, table, rows = trained(items, labels, params)
        assert classifier["threshold"] == 0.5
        evaluation, _ = nodes.evaluate_single_best_answer_classifier(rows, table, classifier)
        held = rows[rows["split"] == "held_out"]
        own = evaluation.set_index(["part", "method"]).loc[("held_out", "classifier"), "flagged"]
        assert own == (held["probability"] >= 0.5).sum()


def test_missing_classifier_is_none_and_damaged_one_an_error(tmp_path: Path) -> None:
    folder = ClassifierFolder(folder=str(tmp_path))
    assert folder.load() is None
    for damaged in ('{"kind": "emb', "[]", "{}", '{"threshold": 0.5, "weights": "../other"}'):
        (tmp_path / "classifier.json").write_text(damaged)
        with pytest.raises(DatasetError, match="run kedro run --pipeline sba to train one"):
            folder.load()
