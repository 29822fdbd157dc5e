"""Single-best-answer items from labels and from the classifier."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from benchwright.core.errors import InputError
from benchwright.datasets.score_store import ScoreStore
from benchwright.methods.wicked.single_best_answer.classifier import SURFACE
from benchwright.params.perturbation import PerturbationParams
from benchwright.params.scoring import ModelsParams, ScoringParams
from benchwright.params.single_best_answer import SingleBestAnswerParams
from benchwright.pipelines.perturbation import (
    choose_shown_demonstrations,
    judge_single_best_answers,
    predict_single_best_answers,
)
from benchwright.tables.similarity import TextVectors
from benchwright.tables.wicked import SbaPredictions
from scripted_server import ScriptedServer, served
from transforms.benchmark_tables import items_table

BY_MODEL = PerturbationParams(sba="model")
LABELS = pd.DataFrame({"item_id": ["b/s/0", "b/s/1", "other/7"], "sba": [0, 1, 1]})


def shown(prefix: str) -> pd.DataFrame:
    """Numbers 0 and 2 ask for the best option, 1 and 3 do not; number 4 has no known gold."""
    rows = [("Which is best?", ["one", "two"], 0), ("What is it?", ["one", "two"], 0)] * 2
    return items_table([*rows, ("Which is best?", ["one", "two"], -1)], prefix)


def classifier() -> dict[str, Any]:
    """A classifier with probability 0.9 for questions that ask for the best, else 0.1."""
    each = np.log(9)
    coefficients = [2 * each if name == "asks_for_the_best" else 0.0 for name in SURFACE]
    return {
        "kind": "embedding",
        "groups": ["surface"],
        "encoder": None,
        "encoder_key": None,
        "threshold": 0.5,
        "logistic": {
            "features": list(SURFACE),
            "means": [0.0] * len(SURFACE),
            "scales": [1.0] * len(SURFACE),
            "coefficients": coefficients,
            "intercept": -each,
        },
    }


def predicted_ids(
    params: PerturbationParams,
    model: dict[str, Any] | None = None,
    models: ModelsParams | None = None,
    judged: dict[str, int] | None = None,
) -> dict[str, list[str]]:
    _, ids, _ = predict_single_best_answers(
        shown("b/s"),
        shown("b/d"),
        LABELS,
        judged or {},
        model,
        TextVectors.empty(),
        params,
        models or ModelsParams(),
    )
    return ids


def test_labels_take_precedence_over_the_classifier() -> None:
    assert predicted_ids(BY_MODEL, classifier()) == {
        "sba": ["b/d/0", "b/d/2", "b/s/1", "b/s/2"],
        "other": ["b/d/1", "b/d/3", "b/d/4", "b/s/0", "b/s/3", "b/s/4"],
    }


def test_every_item_has_a_source() -> None:
    table, _, _ = predict_single_best_answers(
        shown("b/s"),
        shown("b/d"),
        LABELS,
        {},
        classifier(),
        TextVectors.empty(),
        BY_MODEL,
        ModelsParams(),
    )
    assert list(table.columns) == SbaPredictions.columns()
    rows = table[table["role"] == "item"].set_index("item_id")
    assert rows["source"].tolist() == ["label", "label", "model", "model", "not_judgeable"]
    assert rows["single_best_answer"].tolist() == [False, True, True, False, False]
    assert rows["probability"].head(4).tolist() == pytest.approx([0.9, 0.1, 0.9, 0.1])
    assert np.isnan(rows["probability"].iloc[4])


def test_setting_sba_selects_labels_only_or_nothing() -> None:
    expected = {"sba": ["b/s/1"], "other": ["b/s/0"]}
    assert predicted_ids(PerturbationParams(sba="file"), classifier()) == expected
    assert predicted_ids(PerturbationParams(sba="none")) == {"sba": [], "other": []}


def test_another_encoder_than_that_of_the_classifier_is_rejected() -> None:
    models = ModelsParams.model_validate(
        {"encoders": {"mini": {"weights": {"package": "p", "folder": "f", "sha256": "0" * 64}}}}
    )
    model = classifier() | {"groups": ["closeness"], "encoder": "mini", "encoder_key": "mini@old"}
    with pytest.raises(InputError, match="was trained with mini@old, conf has mini@0000"):
        predicted_ids(BY_MODEL, model, models)


BY_JUDGE = PerturbationParams(sba="judge")


def judged_by(url: str, folder: Path, prompt: str = "options") -> dict[str, int]:
    """Labels by a judge behind a server, for items and the demonstrations that are shown."""
    scoring = ScoringParams(configurations=("m@letters-1",), mode="live")
    return judge_single_best_answers(
        shown("b/s"),
        choose_shown_demonstrations(shown("b/s"), shown("b/d"), scoring, 0),
        LABELS,
        ScoreStore(str(folder)).load(),
        BY_JUDGE,
        SingleBestAnswerParams.model_validate({"judge": {"model": "judge", "prompt": prompt}}),
        ModelsParams.model_validate({"models": {"judge": served(url)}}),
        scoring,
    )


def test_judge_labels_what_the_file_does_not_and_a_second_run_asks_nothing(tmp_path: Path) -> None:
    with ScriptedServer(
        says=lambda prompt, _: "1" if "Which is best?" in prompt else "0"
    ) as server:
        judged = judged_by(server.url, tmp_path)
        asked = len(server.arrivals)
        assert asked
        assert judged_by(server.url, tmp_path) == judged
        assert len(server.arrivals) == asked
    # The file has items 0 and 1, item 4 has no gold answer, two demonstrations are shown.
    assert judged == {"b/s/2": 1, "b/s/3": 0, "b/d/0": 1, "b/d/1": 0}
    assert predicted_ids(BY_JUDGE, judged=judged) == {
        "sba": ["b/d/0", "b/s/1", "b/s/2"],
        "other": ["b/d/1", "b/d/4", "b/s/0", "b/s/3", "b/s/4"],
    }


def test_items_without_a_readable_reply_of_the_judge_stay_unlabelled(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with ScriptedServer(says=lambda *_: "It depends.") as server:
        assert judged_by(server.url, tmp_path) == {}
    assert "no label could be read for 4 of 4 items" in caplog.text
    assert not any("b/s/2" in ids for ids in predicted_ids(BY_JUDGE).values())
