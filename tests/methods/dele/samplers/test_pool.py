"""Pools from tables, with and without options, vectors and responses."""

import gc
import weakref
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from benchwright.methods.dele.evidence.texts import FEATURES, text_feature_table
from benchwright.methods.dele.samplers.pool import (
    OncePerPool,
    SamplingPool,
    feature_texts,
    item_pool,
)

ITEMS = pd.DataFrame(
    {
        "item_id": ["q/1", "q/0"],
        "subject": ["s", ""],
        "question": ["Which?", "What is 2 + 2?"],
        "choices": [np.array(["This one.", "That"], dtype=object), []],
    }
)


def test_feature_text_is_the_question_with_or_without_choices() -> None:
    assert feature_texts(ITEMS, "question") == ("Which?", "What is 2 + 2?")
    # An open-ended item, as in GSM8K, has only a question.
    assert feature_texts(ITEMS, "question_and_choices") == (
        "Which?\nThis one.\nThat",
        "What is 2 + 2?",
    )


def test_vectors_are_joined_by_text() -> None:
    vectors = {"enc": {"What is 2 + 2?": np.array([0, 1.0]), "Which?": np.array([1, 0.0])}}
    pool = item_pool(ITEMS, "question", vectors)
    assert pool.vectors["enc"].tolist() == [[1, 0], [0, 1]]
    assert pool.vectors["enc"].dtype == np.float32


def test_feature_table_has_values_of_each_text() -> None:
    table = text_feature_table(item_pool(ITEMS))
    assert list(table.columns) == ["item_id", "subject", *FEATURES]
    row = table.set_index("item_id").loc["q/0"]
    assert row["word_length"] == 3  # What is
    assert row["difficult_words"] == 0
    assert row["flesch"] == pytest.approx(206.835 - 1.015 * 4 - 84.6)
    empty = text_feature_table(item_pool(ITEMS.assign(question=["", "$x$"])))
    assert empty["spelling_errors"].isna().all()
    assert empty["flesch"].isna().tolist() == [True, False]


POOL = SamplingPool(
    ("a", "b"),
    ("", ""),
    ("one", "two"),
    {"mini": np.eye(2, dtype=np.float32)},
    np.eye(2, dtype=np.float32),
)
OTHERS = {
    "texts": replace(POOL, texts=("one", "three")),
    "responses": replace(POOL, correct=np.ones((2, 2), np.float32)),
    "mini": replace(POOL, vectors={"mini": np.ones((2, 2), np.float32)}),
}


def test_equal_pools_share_a_fit() -> None:
    for reads, other in OTHERS.items():
        fitted: list[SamplingPool] = []
        once = OncePerPool(lambda pool, pools=fitted: pools.append(pool) or len(pools), reads)
        alike = replace(POOL, subjects=("x", "y"))
        assert [once(pool) for pool in (POOL, POOL, alike, alike, other, other, POOL)] == [
            1, 1, 1, 1, 2, 2, 1,
        ]  # fmt: skip
        assert fitted == [POOL, other]


def test_pools_are_not_kept_alive() -> None:
    once = OncePerPool(len, "texts")
    pool = replace(POOL)
    gone = weakref.ref(pool)
    assert once(pool) == 2
    del pool
    gc.collect()
    assert gone() is None
    assert once(POOL) == 2
