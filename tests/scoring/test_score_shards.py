"""Stored shards that are not what was saved are scored again."""

import numpy as np
import pandas as pd
import pytest

from benchwright.language_models.protocol import PromptText, Sampling
from benchwright.scoring.score_shards import COLUMNS, WRITTEN_COLUMNS, Shard, holds

PROMPTS = (PromptText("", "a", ("A", "B"), "none"), PromptText("", "b", ("A", "B"), "none"))
SCORED = Shard("name", "model", None, ("k1", "k2"), PROMPTS)
WRITTEN = Shard("name", "model", Sampling(8, temperature=0.0, seed=1), ("k1", "k2"), PROMPTS)


def scored(**wrong: object) -> pd.DataFrame:
    values = {
        "key": ["k1", "k2"],
        "logprobs": [np.array([-1.0, -2.0]), None],
        "option_tokens": [np.array([1, 1]), None],
        "prompt_tokens": [3, 4],
    }
    return pd.DataFrame(values | wrong)[list(COLUMNS)]


def written(texts: object) -> pd.DataFrame:
    values = {"key": ["k1", "k2"], "texts": texts, "finish": None}
    counts = {"generated_tokens": [1, 2], "prompt_tokens": [3, 4]}
    return pd.DataFrame(values | counts)[list(WRITTEN_COLUMNS)]


def test_saved_shards_hold_their_prompts() -> None:
    assert holds(scored(), SCORED)
    assert holds(written([["A"], None]), WRITTEN)


@pytest.mark.parametrize(
    "frame", [None, scored().drop(columns="logprobs"), scored(key=["k1", "k3"]), written(None)]
)
def test_other_tables_do_not(frame: pd.DataFrame | None) -> None:
    assert not holds(frame, SCORED)
