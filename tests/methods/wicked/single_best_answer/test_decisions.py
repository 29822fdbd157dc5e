"""Single-best-answer items from labels and from the classifier."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from benchwright.datasets.score_store import ScoreStore
from benchwright.methods.wicked.perturbation import choose_shown_demonstrations
from benchwright.methods.wicked.single_best_answer import bert
from benchwright.methods.wicked.single_best_answer.decisions import (
    judge_single_best_answers,
    predict_single_best_answers,
)
from benchwright.params.perturbation import PerturbationParams
from benchwright.params.scoring import ModelsParams, ScoringParams
from benchwright.params.single_best_answer import FineTuningParams, SingleBestAnswerParams
from benchwright.tables.wicked import SbaPredictions
from methods.wicked.single_best_answer.tiny_bert import FAST, write_tiny_bert
from scripted_server import ScriptedServer, served
from transforms.benchmark_tables import items_table

BY_MODEL = PerturbationParams(sba="model")
LABELS = pd.DataFrame({"item_id": ["b/s/0", "b/s/1", "other/7"], "sba": [0, 1, 1]})


def shown(prefix: str) -> pd.DataFrame:
    """Numbers 0 and 2 ask for the best option, 1 and 3 do not; number 4 has no known gold."""
    rows = [("Which is best?", ["one", "two"], 0), ("What is it?", ["one", "two"], 0)] * 2
    return items_table([*rows, ("Which is best?", ["one", "two"], -1)], prefix)


@pytest.fixture(scope="module")
def classifier(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """A classifier that says 1 to questions that ask for the best, else 0."""
    folder = tmp_path_factory.mktemp("bert")
    base = write_tiny_bert(folder / "base", ("which", "is", "best", "what", "it"))
    asked = shown("b/s").head(2)["question"]
    with pytest.MonkeyPatch.context() as patch:
        for name, value in FAST.items():
            patch.setattr(bert, name, value)
        tuned = bert.fine_tune(
            [*asked] * 6, np.array([1, 0] * 6), FineTuningParams(model=str(base))
        )
    tuned.save(folder / "tuned")
    tuning = {"model": str(folder / "tuned"), "revision": None}
    return {"kind": "hub", "fine_tuning": tuning, "threshold": 0.5}


def predicted_ids(
    params: PerturbationParams,
    model: dict[str, Any] | None = None,
    judged: dict[str, int] | None = None,
) -> dict[str, list[str]]:
    _, ids = predict_single_best_answers(
        shown("b/s"), shown("b/d"), LABELS, judged or {}, model, params
    )
    return ids


def test_labels_take_precedence_over_the_classifier(classifier: dict[str, Any]) -> None:
    assert predicted_ids(BY_MODEL, classifier) == {
        "sba": ["b/d/0", "b/d/2", "b/s/1", "b/s/2"],
        "other": ["b/d/1", "b/d/3", "b/d/4", "b/s/0", "b/s/3", "b/s/4"],
    }


def test_every_item_has_a_source(classifier: dict[str, Any]) -> None:
    table, _ = predict_single_best_answers(
        shown("b/s"), shown("b/d"), LABELS, {}, classifier, BY_MODEL
    )
    assert list(table.columns) == SbaPredictions.columns()
    rows = table[table["role"] == "item"].set_index("item_id")
    assert rows["source"].tolist() == ["label", "label", "model", "model", "not_judgeable"]
    assert rows["single_best_answer"].tolist() == [False, True, True, False, False]
    assert (rows["probability"].head(4) > 0.5).tolist() == [True, False] * 2
    assert np.isnan(rows["probability"].iloc[4])


def test_setting_sba_selects_labels_only_or_nothing(classifier: dict[str, Any]) -> None:
    expected = {"sba": ["b/s/1"], "other": ["b/s/0"]}
    assert predicted_ids(PerturbationParams(sba="file"), classifier) == expected
    assert predicted_ids(PerturbationParams(sba="none")) == {"sba": [], "other": []}


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
