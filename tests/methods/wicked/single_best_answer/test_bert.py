"""A pretrained encoder whose last layer and head are trained."""

from pathlib import Path

import numpy as np
import pytest

from benchwright.core.errors import InputError
from benchwright.methods.wicked.single_best_answer import bert
from benchwright.methods.wicked.single_best_answer.bert import (
    classify,
    fine_tune,
    load_classifier,
)
from benchwright.params.single_best_answer import FineTuningParams
from methods.wicked.single_best_answer.tiny_bert import FAST, write_tiny_bert

TEXTS = ["which is best", "what is this", "the best of all", "this and that"] * 6
LABELS = np.array([1, 0, 1, 0] * 6)
WORDS = ("which", "is", "best", "what", "this", "the", "of", "all", "and", "that")


@pytest.fixture(autouse=True)
def _fast(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in FAST.items():
        monkeypatch.setattr(bert, name, value)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny_bert(tmp_path_factory.mktemp("bert"), WORDS)


@pytest.fixture(scope="module")
def params(folder: Path) -> FineTuningParams:
    return FineTuningParams(model=str(folder))


def test_fine_tuning_changes_only_the_last_layer_and_the_head(params: FineTuningParams) -> None:
    import torch

    before = load_classifier(params.model or "", trained=False).model.state_dict()
    trained = fine_tune(TEXTS, LABELS, params)
    after = trained.model.state_dict()
    changed = {name for name in before if not torch.equal(before[name], after[name])}
    assert changed
    assert all(
        name.startswith(("classifier", "bert.pooler")) or ".layer.2." in name for name in changed
    )
    assert {"classifier.weight"} <= changed
    probabilities = classify(trained, TEXTS)
    assert probabilities[LABELS == 1].min() > 0.5 > probabilities[LABELS == 0].max()


def test_probabilities_are_the_same_after_training_again_and_after_saving(
    params: FineTuningParams, tmp_path: Path
) -> None:
    import torch

    torch.manual_seed(5)
    each = fine_tune(TEXTS, LABELS, params)
    torch.manual_seed(6)
    other = fine_tune(TEXTS, LABELS, params)
    probabilities = classify(each, TEXTS)
    assert (probabilities == classify(other, TEXTS)).all()
    each.save(tmp_path)
    assert (tmp_path / "model.safetensors").is_file()
    again = load_classifier(str(tmp_path), trained=True)
    assert classify(again, TEXTS) == pytest.approx(probabilities, abs=1e-6)


def test_probabilities_are_in_the_order_of_the_texts(params: FineTuningParams) -> None:
    chosen = load_classifier(params.model or "", trained=False)
    texts = ["this and that and all of this", "best", "which is the best of all", "what"]
    alone = [classify(chosen, [text])[0] for text in texts]
    assert classify(chosen, texts) == pytest.approx(alone, abs=1e-5)


def test_texts_beyond_the_context_are_cut(params: FineTuningParams) -> None:
    chosen = load_classifier(params.model or "", trained=False)
    assert 0 < classify(chosen, ["best of all " * 50])[0] < 1


def test_folder_without_trained_head_or_model_is_rejected(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no trained head of two classes; use kind: bert"):
        load_classifier(str(folder), trained=True)
    with pytest.raises(InputError, match="names no model; expected a folder or a hub id"):
        load_classifier(None, trained=False)
    with pytest.raises(InputError, match="could not be loaded"):
        load_classifier(str(tmp_path / "nothing"), trained=False)
