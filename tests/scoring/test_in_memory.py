"""Answers to questions under construction, with a store in memory."""

import logging
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
import pytest
from pydantic import ValidationError

from benchwright.core.errors import InputError
from benchwright.datasets.score_store import MemoryShards
from benchwright.language_models.protocol import PromptScore
from benchwright.methods.mmlu_cf.difficulty.response_difficulty import (
    answer_questions,
    one_configuration,
)
from benchwright.params.mmlu_cf import DifficultyParams
from benchwright.params.scoring import ModelsParams, ScoringParams
from benchwright.scoring import scores
from benchwright.tables.mmlu_cf import CleanItems
from scoring.scoring_examples import model_entry

MODELS = ModelsParams.model_validate({"models": {"one": model_entry(1), "two": model_entry(2)}})
SCORING = ScoringParams.model_validate(
    {"device": "cpu", "dtype": "float32", "engine": "ray", "shard_size": 4, "conditions": []}
)


class Longest:
    """Gives each byte of an option, but for the first space, a log-likelihood of −1."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def __call__(
        self, name: str, model: object, scoring: Any, batches: Sequence[Any], progress: object
    ) -> Iterator[tuple[int, list[PromptScore]]]:
        assert scoring.engine == "local"
        for number, batch in enumerate(batches):
            self.texts += [prompt.prefix + prompt.text for prompt in batch.prompts]
            yield (
                number,
                [
                    PromptScore(
                        None
                        if "unanswerable" in prompt.text
                        else tuple(-float(len(each) - 1) for each in prompt.continuations),
                        (1,) * len(prompt.continuations),
                        9,
                    )
                    for prompt in batch.prompts
                ],
            )


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Longest:
    made = Longest()
    monkeypatch.setattr(scores, "answer_batches", made)
    return made


@pytest.fixture
def items() -> pd.DataFrame:
    asked = [
        ("d#1", "Which is short?", ["long one", "it"], 1, None),
        ("d#2", "Which is long?", ["it", "long one"], 1, "A tale of words."),
        ("e#1", "Which is unanswerable?", ["it", "long one"], 0, None),
        ("e#2", "Of many?", [f"option {n}" for n in range(27)], 0, None),
    ]
    return CleanItems.from_rows(
        [
            (each, each[0], None, None, question, choices, answer, None, passage, "Law", 0.5)
            for each, question, choices, answer, passage in asked
        ]
    )


def ask(items: pd.DataFrame, store: MemoryShards, **difficulty: Any) -> pd.DataFrame:
    params = DifficultyParams.model_validate(difficulty)
    return answer_questions(items, store, params, MODELS, SCORING, 0)


def test_answers_are_scored_against_the_gold_and_stored(
    model: Longest, items: pd.DataFrame
) -> None:
    store = MemoryShards()
    answers = ask(items, store, answering=["one@cloze-0"]).set_index("item_id")["correct"]
    assert answers.index.tolist() == ["d#1", "d#2", "e#1", "e#2"]
    np.testing.assert_array_equal(answers.to_numpy(), [1, 0, np.nan, np.nan])
    assert len(model.texts) == 3  # 27 options have no letters
    assert len(store) > 0
    (shown,) = [text for text in model.texts if "Which is long?" in text]
    assert shown.index("A tale of words.") < shown.index("Which is long?")
    ask(items, store, answering=["one@cloze-0"])
    assert len(model.texts) == 3  # no new requests


def test_derived_styles_are_normalised(model: Longest, items: pd.DataFrame) -> None:
    store = MemoryShards()
    answers = ask(items[:2], store, answering=["two@cloze_bytes-0", "two@cloze_tokens-0"])
    by_model = answers.pivot(index="model", columns="item_id", values="correct")  # noqa: PD010
    # By bytes all options are equal, and the first one is taken; tokens are one each.
    assert by_model.loc["two@cloze_bytes-0"].tolist() == [0, 0]
    assert by_model.loc["two@cloze_tokens-0"].tolist() == [1, 0]
    assert len(model.texts) == 2


def test_no_model_is_loaded_if_none_is_named_or_needed(model: Longest, items: pd.DataFrame) -> None:
    for settings in ({}, {"answering": ["one@cloze-0"], "fallback": "none"}):
        assert ask(items, MemoryShards(), **settings).empty
    assert model.texts == []


def test_error_names_an_unknown_model_and_known_ones(items: pd.DataFrame) -> None:
    with pytest.raises(InputError, match=r"unknown model 'three'; expected one of one, two"):
        ask(items, MemoryShards(), answering=["three@cloze-0"])


@pytest.mark.parametrize("names", [["one"], ["one@cloze-5"], ["one@cloze-0", "one@cloze-0"]])
def test_only_distinct_zero_shot_configurations_are_accepted(names: list[str]) -> None:
    with pytest.raises(ValidationError, match="answering"):
        DifficultyParams(answering=tuple(names))


def test_an_error_does_not_quote_a_question(
    items: pd.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any) -> Any:
        raise RuntimeError("out of memory at Which is short?")

    monkeypatch.setattr(scores, "answer_batches", fail)
    with pytest.raises(InputError, match=r"answering failed .RuntimeError.") as caught:
        ask(items, MemoryShards(), answering=["one@cloze-0"])
    assert "short" not in str(caught.value)


def test_servers_cause_a_warning(
    model: Longest, items: pd.DataFrame, caplog: pytest.LogCaptureFixture
) -> None:
    endpoint = {"url": "http://localhost:1/v1", "logprobs": "echo"}
    models = ModelsParams.model_validate(
        {"models": {"far": {"backend": "openai", "endpoint": endpoint, "family": "f"}}}
    )
    params = DifficultyParams(answering=("far@cloze-0",))
    with caplog.at_level(logging.WARNING):
        answer_questions(items[:1], MemoryShards(), params, models, SCORING, 0)
    assert "far is a server: it receives questions of the closed half" in caplog.text


def test_settings_of_one_configuration_keep_machine_settings() -> None:
    rows = one_configuration("one@letters-2", SCORING)
    assert (rows.engine, rows.calibration, rows.conditions) == ("local", False, ("question",))
    assert (rows.device, rows.dtype, rows.shard_size) == ("cpu", "float32", 4)
    assert rows.configurations == ("one@letters-2",)
