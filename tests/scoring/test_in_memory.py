"""Right answers to closed questions, with a store in memory."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest

from benchwright.cli.evaluate_sealed import right_answers
from benchwright.core.configuration import parse_configuration
from benchwright.datasets.score_store import MemoryShards
from benchwright.language_models.protocol import PromptScore
from benchwright.params.scoring import ModelsParams, ScoringParams
from benchwright.scoring import scores
from benchwright.scoring.demonstrations import DemonstrationPool
from benchwright.scoring.one_configuration import one_configuration
from benchwright.scoring.rendering import Question
from scoring.scoring_examples import model_entry

MODELS = ModelsParams.model_validate(
    {
        "models": {
            "one": model_entry(1),
            "two": model_entry(2),
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
    monkeypatch.setattr(scores, "answer_batches", made)
    return made


QUESTIONS = [
    Question(item_id, "", text, tuple(choices), answer, item_id)
    for item_id, text, choices, answer in [
        ("d#1", "Which is short?", ["long one", "it"], 1),
        ("d#2", "Which is long?", ["it", "long one"], 1),
        ("e#1", "Which is unanswerable?", ["it", "long one"], 0),
        ("e#2", "Of many?", [f"option {n}" for n in range(27)], 0),
    ]
]


def ask(questions: Sequence[Question], store: MemoryShards, name: str) -> list[float]:
    settings = one_configuration(name, SCORING)
    pool = DemonstrationPool([], "all", 0)
    return right_answers(questions, parse_configuration(name), MODELS, settings, pool, store)


def test_answers_are_scored_against_the_gold_and_stored(model: Longest) -> None:
    store = MemoryShards()
    np.testing.assert_array_equal(ask(QUESTIONS, store, "one@cloze-0"), [1, 0, np.nan, np.nan])
    assert len(model.texts) == 3  # 27 options have no letters
    ask(QUESTIONS, store, "one@cloze-0")
    assert len(model.texts) == 3  # no new requests
    # By bytes all options are equal, and the first one is taken; tokens are one each.
    assert ask(QUESTIONS[:2], store, "two@cloze_bytes-0") == [0, 0]
    assert ask(QUESTIONS[:2], store, "two@cloze_tokens-0") == [1, 0]
    assert len(model.texts) == 5
