"""A small benchmark, a model without weights, and the scoring stage."""

from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest

from benchwright.params.benchmark import BenchmarkParams
from benchwright.params.scoring import ModelsParams, ScoringParams
from benchwright.scoring import score_shards
from benchwright.scoring.prompts import build_prompts
from benchwright.tables.items import Demonstrations, Items
from benchwright.tables.responses import Prompts
from scoring.scoring_examples import StandIn, item, live, model_entry

SUBJECTS = ("anatomy", "high_school_physics")


@pytest.fixture(autouse=True)
def torch_version(monkeypatch: pytest.MonkeyPatch) -> None:
    """Names one build of PyTorch: keys of scores contain it, and the cuts of shards follow keys."""
    versions = {"torch": "2.13.0+cpu"}
    known = score_shards.version
    monkeypatch.setattr(score_shards, "version", lambda name: versions.get(name) or known(name))


@pytest.fixture
def items() -> pd.DataFrame:
    rows = [item(f"t/{i}", SUBJECTS[i % 2], answer=i % 4) for i in range(12)]
    return Items.from_rows([tuple(row.values()) for row in rows])


@pytest.fixture
def demonstrations() -> pd.DataFrame:
    rows = [item(f"dev/{i}", SUBJECTS[i % 2], answer=i % 4) for i in range(12)]
    return Demonstrations.from_rows([tuple(row.values()) for row in rows])


@pytest.fixture
def calibration_items() -> pd.DataFrame:
    rows = [item(f"val/{i}", SUBJECTS[i % 2], answer=i % 4) for i in range(4)]
    return Items.from_rows([tuple(row.values()) for row in rows])


@pytest.fixture
def colours() -> BenchmarkParams:
    fields = {
        "question": "question",
        "choices": {"column": "choices"},
        "gold": {"form": "index", "column": "answer"},
    }
    return BenchmarkParams.model_validate(
        {
            "name": "small",
            "title": "Small",
            "licence": "CC0-1.0",
            "citation": "none",
            "url": "https://example.org",
            "sources": {"local": {"file": "x.parquet", "all_rows": "test", "fields": fields}},
            "splits": {"evaluation": ["test"]},
        }
    )


@pytest.fixture
def models() -> ModelsParams:
    entries = {"one": model_entry(1), "two": model_entry(2, label_space=False)}
    return ModelsParams.model_validate({"models": entries})


@pytest.fixture
def scoring() -> ScoringParams:
    return live("one@cloze-2", "one@letters-2", "two@cloze-0")


@pytest.fixture
def stand_in(monkeypatch: pytest.MonkeyPatch) -> type[StandIn]:
    """Replace the loading of models by the stand-in; `loaded` lists loaded models in order."""

    def load(name: str, model: Any, scoring: Any) -> StandIn:
        StandIn.loaded.append(model.weights.sha256[-1])
        return StandIn(model.weights.sha256)

    StandIn.loaded = []
    monkeypatch.setattr("benchwright.scoring.model_engine.load_model", load)
    return StandIn


@pytest.fixture
def build(
    items: pd.DataFrame,
    demonstrations: pd.DataFrame,
    calibration_items: pd.DataFrame,
    colours: BenchmarkParams,
    models: ModelsParams,
) -> Callable[..., pd.DataFrame]:
    """Prompts of the small benchmark in given settings, checked as a table."""

    def run(scoring: ScoringParams, **changes: Any) -> pd.DataFrame:
        given = {
            "items": items,
            "demonstrations": demonstrations,
            "calibration_items": calibration_items,
            "ingestion": colours,
            "models": models,
            "filter_models": scoring.configurations,
            "seed": 0,
            **changes,
        }
        return Prompts.validate(build_prompts(scoring=scoring, **given))

    return run
