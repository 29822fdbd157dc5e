"""The budget equals the cost of the real run."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from benchwright.datasets.score_store import ScoreStore
from benchwright.params.scoring import ModelsParams, ScoringParams
from benchwright.scoring.budget import count_budget
from benchwright.scoring.scores import score_prompts
from scoring.scoring_examples import StandIn, live


class Words:
    """One token per word."""

    def __call__(self, texts: list[str], add_special_tokens: bool = True) -> Any:
        return type("Ids", (), {"input_ids": [text.split() for text in texts]})


@pytest.fixture(autouse=True)
def words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchwright.scoring.budget.model_tokenizer", lambda *_: Words())


Build = Callable[..., pd.DataFrame]


def test_prompts_and_tokens_are_counted(build: Build, models: ModelsParams) -> None:
    asked = live("one@cloze-2", "one@letters-2", "two@generate-0", generation={"max_tokens": 50})
    budget = count_budget(build(asked), {}, models, asked)
    columns = ["prompts", "distinct", "stored", "tokens", "tokens_computed", "written_at_most"]
    assert set(budget["counted"]) == {"tokenizer"}
    assert budget[columns].to_numpy().tolist() == [
        [12, 2, 0, 528, 88, 0],
        [16, 16, 0, 512, 236, 0],
        [12, 2, 0, 528, 88, 0],
        [16, 16, 0, 896, 428, 0],
        [12, 2, 0, 480, 80, 100],
        [12, 12, 0, 528, 440, 600],
    ]
    entry = {"backend": "openai", "family": "f", "endpoint": {"url": "http://localhost:1/v1"}}
    servers = ModelsParams.model_validate({"models": {"one": entry, "two": entry}})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("benchwright.scoring.budget.model_tokenizer", lambda *_: None)
        far = count_budget(build(asked, models=servers), {}, servers, asked)
    assert set(far["counted"]) == {"estimate"}
    assert far[["tokens", "tokens_computed"]].to_numpy().tolist() == [
        [2676, 446],
        [3136, 3136],
        [2568, 428],
        [4528, 4528],
        [666, 111],
        [738, 738],
    ]


def test_budget_omits_stored_scores(
    build: Build,
    models: ModelsParams,
    scoring: ScoringParams,
    stand_in: type[StandIn],
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    prompts = build(scoring)
    store = ScoreStore(str(tmp_path))
    for n, shard in enumerate(score_prompts(prompts, store.load(), models, scoring)):
        store.save(shard)
        if n == 3:
            break
    part = count_budget(prompts, store.load(), models, scoring)
    saved = sum(len(frame) for frame in store.load().values())
    assert part["stored"].sum() == saved > 0
    for shard in score_prompts(prompts, store.load(), models, scoring):
        store.save(shard)
    with caplog.at_level("INFO"):
        full = count_budget(prompts, store.load(), models, scoring)
    assert full["tokens_computed"].sum() == 0
    assert (full["stored"] == full["distinct"]).all()
    assert "(0.0%) are left to compute" in caplog.text
