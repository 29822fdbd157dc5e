"""The budget equals the cost of the real run."""

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from benchwright.datasets.score_store import ScoreStore
from benchwright.params.benchmark import BenchmarkParams
from benchwright.params.scoring import ModelsParams, ScoringParams
from benchwright.scoring.budget import count_budget
from benchwright.scoring.prompts import build_prompts
from benchwright.scoring.scores import score_prompts
from scoring.scoring_examples import StandIn, live


class Words:
    """One token per word."""

    def __call__(self, texts: list[str], add_special_tokens: bool = True) -> Any:
        return type("Ids", (), {"input_ids": [text.split() for text in texts]})


@pytest.fixture
def prompts(
    items: pd.DataFrame,
    demonstrations: pd.DataFrame,
    calibration_items: pd.DataFrame,
    colours: BenchmarkParams,
    scoring: ScoringParams,
    models: ModelsParams,
) -> pd.DataFrame:
    return build_prompts(
        *(colours, scoring, models, scoring.configurations, 0),
        items=items,
        demonstrations=demonstrations,
        calibration_items=calibration_items,
    )


@pytest.fixture(autouse=True)
def words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchwright.scoring.budget.model_tokenizer", lambda *_: Words())


def test_prompts_and_tokens_are_counted(
    prompts: pd.DataFrame, models: ModelsParams, scoring: ScoringParams
) -> None:
    budget = count_budget(prompts, {}, models, scoring)
    row = budget.set_index(["configuration", "condition"]).loc[("one@letters-2", "question")]
    rows = prompts[(prompts["configuration"] == "one@letters-2")]
    rows = rows[rows["condition"] == "question"]
    whole = [
        len(f"{prefix} {text} {' '.join(scored)}".split())
        for prefix, text, scored in zip(
            rows["prefix"], rows["text"], rows["continuations"], strict=True
        )
    ]
    assert row["prompts"] == 16
    assert row["tokens"] == sum(whole)
    assert row["stored"] == 0
    assert 0 < row["tokens_computed"] < row["tokens"]
    assert row["counted"] == "tokenizer"


def test_budget_omits_stored_scores(
    prompts: pd.DataFrame,
    models: ModelsParams,
    scoring: ScoringParams,
    stand_in: type[StandIn],
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
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


def test_a_server_shares_no_prefix_and_needs_no_tokenizer(
    prompts: pd.DataFrame, scoring: ScoringParams, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("benchwright.scoring.budget.model_tokenizer", lambda *_: None)
    entry = {"backend": "openai", "family": "f", "endpoint": {"url": "http://localhost:1/v1"}}
    servers = ModelsParams.model_validate({"models": {"one": entry, "two": entry}})
    budget = count_budget(prompts, {}, servers, scoring)
    assert set(budget["counted"]) == {"estimate"}
    whole = budget[budget["condition"] == "question"]
    assert (whole["tokens_computed"] == whole["tokens"]).all()


def test_written_answers_are_bounded(
    items: pd.DataFrame,
    demonstrations: pd.DataFrame,
    calibration_items: pd.DataFrame,
    colours: BenchmarkParams,
    models: ModelsParams,
) -> None:
    scoring = live("one@generate-0", conditions=["question"], generation={"max_tokens": 50})
    prompts = build_prompts(
        *(colours, scoring, models, (), 0),
        items=items,
        demonstrations=demonstrations,
        calibration_items=calibration_items,
    )
    budget = count_budget(prompts, {}, models, scoring)
    assert budget["written_at_most"].tolist() == [12 * 50]
