"""Answers to questions under construction, with a store in memory."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
import pytest

from benchwright.core.errors import InputError
from benchwright.core.response_matrix import ResponseMatrix
from benchwright.core.stored_shards import MemoryShards
from benchwright.language_models.protocol import PromptScore
from benchwright.methods.mmlu_cf.difficulty.response_difficulty import answer_questions
from benchwright.params.mmlu_cf import DifficultyParams
from benchwright.params.scoring import ModelsParams, ScoringParams
from benchwright.scoring import model_engine
from benchwright.tables.mmlu_cf import CleanItems
from scoring.scoring_examples import model_entry

FAR = {"url": "http://localhost:1/v1", "logprobs": "echo"}
MODELS = ModelsParams.model_validate(
    {
        "models": {
            "one": model_entry(1),
            "two": model_entry(2),
            "far": {"backend": "openai", "endpoint": FAR, "family": "f"},
        }
    }
)
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
            yield number, [self.score(prompt) for prompt in batch.prompts]

    def score(self, prompt: Any) -> PromptScore:
        values = tuple(-float(len(each) - 1) for each in prompt.continuations)
        fits = "unanswerable" not in prompt.text
        return PromptScore(values if fits else None, (1,) * len(values), 9)


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Longest:
    made = Longest()
    monkeypatch.setattr(model_engine, "answer_batches", made)
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


def ask(items: pd.DataFrame, store: MemoryShards, *answering: str, **more: Any) -> ResponseMatrix:
    params = DifficultyParams.model_validate({"answering": answering, **more})
    return answer_questions(items, store, params, MODELS, SCORING, 0)


def test_answers_are_scored_against_the_gold_and_stored(
    model: Longest, items: pd.DataFrame
) -> None:
    store = MemoryShards()
    answers = ask(items, store, "one@cloze-0")
    assert answers.item_ids == ("d#1", "d#2", "e#1", "e#2")
    np.testing.assert_array_equal(answers.correct, [[1, 0, np.nan, np.nan]])
    assert len(model.texts) == 3  # 27 options have no letters
    (shown,) = [text for text in model.texts if "Which is long?" in text]
    assert shown.index("A tale of words.") < shown.index("Which is long?")
    ask(items, store, "one@cloze-0")
    assert len(model.texts) == 3  # no new requests
    by_bytes = ask(items[:2], store, "two@cloze_bytes-0", "two@cloze_tokens-0")
    # By bytes all options are equal, and the first one is taken; tokens are one each.
    assert by_bytes.models == ("two@cloze_bytes-0", "two@cloze_tokens-0")
    assert by_bytes.correct.tolist() == [[0, 0], [1, 0]]
    assert ask(items, store).models == ()
    assert len(model.texts) == 5


def test_an_error_does_not_quote_a_question(
    items: pd.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any) -> Any:
        raise RuntimeError("out of memory at Which is short?")

    monkeypatch.setattr(model_engine, "answer_batches", fail)
    with pytest.raises(InputError, match=r"answering failed .RuntimeError.") as caught:
        ask(items, MemoryShards(), "one@cloze-0")
    assert "short" not in str(caught.value)


def test_servers_cause_a_warning(
    model: Longest, items: pd.DataFrame, caplog: pytest.LogCaptureFixture
) -> None:
    ask(items[:1], MemoryShards(), "far@cloze-0")
    assert "far is a server: it receives questions of the closed half" in caplog.text
