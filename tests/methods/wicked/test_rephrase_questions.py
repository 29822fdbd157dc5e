"""The node that rephrases questions, and perturbed copies with its results."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from benchwright.core.errors import InputError
from benchwright.datasets.score_store import ScoreStore
from benchwright.methods.wicked.perturbation import (
    choose_shown_demonstrations,
    perturb_items,
    rephrase_questions,
)
from benchwright.params.perturbation import PerturbationParams
from benchwright.params.scoring import ModelsParams, ScoringParams
from benchwright.similarity import vectors as vectors_module
from benchwright.tables.wicked import Rephrasings
from scripted_server import ScriptedServer, served
from transforms.benchmark_tables import items_table

ITEMS = items_table(
    [("Which of these metals is the lightest?", ["iron", "lithium"], 1),
     ("Which of these metals is not magnetic?", ["iron", "copper"], 1)]
)  # fmt: skip
SHOWN = items_table([("Which of these is a gas?", ["neon", "gold"], 0)], prefix="b/dev")
REPHRASE = {"transform": "rephrase", "model": "m", "attempts": 2}


def says(prompt: str, body: dict[str, Any]) -> str:
    if "lightest" in prompt:
        return "Of these metals, which one is lightest?"
    if "gas" in prompt:
        return "Which one of these is gaseous, then?" if body.get("seed") == 2 else "A. neon"
    return "Which of these metals is magnetic?"


def run(
    folder: Path,
    models: dict[str, Any],
    *transforms: dict[str, Any],
    items: pd.DataFrame = ITEMS,
    shown: pd.DataFrame = SHOWN,
) -> pd.DataFrame:
    return rephrase_questions(
        items,
        choose_shown_demonstrations(items, shown, ScoringParams(), 0),
        ScoreStore(str(folder)).load(),
        PerturbationParams.model_validate({"name": "cf", "transforms": transforms}),
        ModelsParams.model_validate(models),
        ScoringParams(),
    )


@pytest.fixture
def similar(monkeypatch: pytest.MonkeyPatch) -> None:
    class Encoder:
        def encode(self, texts: Sequence[str]) -> list[list[float]]:
            return [[1.0, 0.0] for _ in texts]

    monkeypatch.setattr(vectors_module, "choose_encoder", lambda *_: Encoder())


@pytest.mark.usefixtures("similar")
def test_only_shown_demonstrations_are_rephrased(tmp_path: Path) -> None:
    shown = items_table([("Which is a gas?", ["neon", f"gold {n}"], 0) for n in range(8)], "b/dev")
    encoder = {"all-minilm-l6-v2": {"weights": {"path": "none"}}}
    with ScriptedServer(says=says) as server:
        models = {"models": {"m": served(server.url)}, "encoders": encoder}
        made = run(tmp_path, models, REPHRASE, shown=shown)
    asked = set(made.loc[made["role"] == "demonstration", "item_id"])
    assert asked == {f"b/dev/{n}" for n in range(5)}


@pytest.mark.usefixtures("similar")
def test_items_and_demonstrations_are_rephrased_and_checked(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    encoder = {"all-minilm-l6-v2": {"weights": {"path": "none"}}}
    with ScriptedServer(says=says) as server:
        models = {"models": {"m": served(server.url)}, "encoders": encoder}
        made = run(tmp_path, models, REPHRASE)
        asked = len(server.arrivals)
        again = run(tmp_path, models, REPHRASE)
        assert len(server.arrivals) == asked
    pd.testing.assert_frame_equal(made, again)
    reported = list(
        zip(made["item_id"], made["attempt"], made["failed"], made["used"], strict=True)
    )
    assert reported == [
        ("b/s/0", 1, "", True),
        ("b/s/1", 1, "negations", False),
        ("b/s/1", 2, "negations", False),
        ("b/dev/0", 1, "options", False),
        ("b/dev/0", 2, "", True),
    ]
    assert "1 of 3 questions keep their wording" in caplog.text
    params = PerturbationParams.model_validate({"name": "cf", "transforms": [REPHRASE]})
    perturbed_items, changes = perturb_items(ITEMS, SHOWN, {"sba": []}, made, params, 11)
    assert perturbed_items["question"].tolist() == [
        "Of these metals, which one is lightest?",
        "Which of these metals is not magnetic?",
        "Which one of these is gaseous, then?",
    ]
    assert changes["reason"].tolist() == ["", "no_rephrasing_passed", ""]


def test_nothing_is_asked_without_the_transform(tmp_path: Path) -> None:
    made = run(tmp_path / "none", {}, {"transform": "shuffle_choices"})
    pd.testing.assert_frame_equal(made, Rephrasings.empty())
    assert not (tmp_path / "none").exists()


def test_error_names_an_unknown_model_or_encoder(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="unknown model 'm'; there are none"):
        run(tmp_path, {}, REPHRASE)
    models = {"models": {"m": served("http://127.0.0.1:9/v1")}}
    with pytest.raises(InputError, match="rephrasing: unknown encoder 'all-minilm-l6-v2'"):
        run(tmp_path, models, REPHRASE)
