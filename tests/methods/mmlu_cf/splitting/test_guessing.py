"""Guesses at the closed half from everything but the key."""

import pandas as pd
import pytest

from benchwright.methods.mmlu_cf.difficulty.quota_sampling import sample_by_difficulty
from benchwright.methods.mmlu_cf.splitting.guessing import guess_closed
from benchwright.methods.mmlu_cf.splitting.split import split_halves
from benchwright.params.mmlu_cf import SamplingByDifficultyParams
from benchwright.tables.mmlu_cf import SplitAssignment

SECRET = 2**200 + 77


def _pool(n: int, explained: int = 0, per_document: int = 1) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "item_id": [f"q{i:04d}" for i in range(n)],
            "doc_id": [f"d{i // per_document}" for i in range(n)],
            "domain": "one.example",
            "field": "Law",
            "difficulty": 6.0,
            "explanation": ["Because."] * explained + [None] * (n - explained),
        }
    )


def _halves(pool: pd.DataFrame, size: int) -> pd.DataFrame:
    ids = sample_by_difficulty(pool, SamplingByDifficultyParams(size=size), SECRET).item_ids
    return split_halves(pool[pool["item_id"].isin(ids)], 0.5, SECRET)


def test_all_is_known_if_all_questions_are_sampled() -> None:
    pool = _pool(40)
    guess = guess_closed(pool, _halves(pool, 40), SamplingByDifficultyParams(size=40), 3)
    assert guess == (20, 20, 1.0)


def test_guesses_at_equal_questions_are_chance() -> None:
    pool = _pool(1000)
    guess = guess_closed(pool, _halves(pool, 400), SamplingByDifficultyParams(size=400), 5)
    assert guess[:2] == (200, 800)
    assert guess.share == pytest.approx(200 / 800, abs=0.07)


def test_preferred_questions_are_guessed() -> None:
    pool = _pool(1000, explained=100)
    params = SamplingByDifficultyParams(size=200)
    guess = guess_closed(pool, _halves(pool, 200), params, 20)
    # About half of the 100 explained ones are closed, and the attacker knows which are not public.
    assert guess.share > 0.5


def test_without_draws_questions_of_public_documents_and_passages_are_excluded() -> None:
    halves = [("a", "validation"), ("c", "test")]
    assignment = SplitAssignment.from_rows([(i, half, "Law", 6, "s") for i, half in halves])
    # Of the public document: a, b, g. Without a document: h, which shares its passage with a.
    pool = pd.DataFrame({"item_id": list("abcdefgh"), "doc_id": [*"112234", "1", None]})
    params = SamplingByDifficultyParams()
    assert guess_closed(pool, assignment, params, 0) == (1, 5, 1 / 5)
    passages = pool.assign(passage=["p", *[None] * 6, "p"])
    assert guess_closed(passages, assignment, params, 0) == (1, 4, 1 / 4)
