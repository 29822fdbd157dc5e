"""The same question in both halves in different words."""

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd
import pytest

from benchwright.methods.mmlu_cf.splitting.leakage import (
    Pair,
    judge_pairs,
    parse_same,
    same_numbers,
    split_without_leaks,
)
from benchwright.methods.mmlu_cf.splitting.split import half_distances

N, PLANTED = 600, 40


def unit(vectors: np.ndarray) -> np.ndarray:
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


@pytest.fixture(scope="module")
def planted() -> tuple[pd.DataFrame, np.ndarray, list[tuple[str, str]]]:
    """Return questions with 40 rewordings, half of them nearly unchanged."""
    random = np.random.default_rng(0)
    words = np.array([f"w{i}" for i in range(4000)])
    vectors = unit(random.normal(size=(N, 64)))
    texts = [" ".join(random.choice(words, 12)) for _ in range(N)]
    pairs = []
    for k in range(PLANTED):
        a, b = 2 * k, N - 1 - 2 * k
        noise = 0.1 if k % 2 else 0.5
        vectors[b] = unit(vectors[[a]] + noise * unit(random.normal(size=(1, 64))))[0]
        texts[b] = texts[a] + " now" if k % 2 else " ".join(random.choice(words, 12))
        pairs.append((f"q{a:03d}", f"q{b:03d}"))
    items = pd.DataFrame(
        {
            "item_id": [f"q{i:03d}" for i in range(N)],
            "field": random.choice(["law", "math", "health"], N),
            "difficulty": random.integers(3, 10, N),
            "question": texts,
            "choices": [["yes", "no"]] * N,
        }
    )
    return items, vectors, pairs


def knowing_judge(
    items: pd.DataFrame, pairs: list[tuple[str, str]]
) -> tuple[Callable[..., list[str | None]], list[int]]:
    """A judge that knows the planted pairs, with an unreadable first reply."""
    text = dict(zip(items["item_id"], items["question"], strict=True))
    same = {frozenset((text[a], text[b])) for a, b in pairs}
    asked: list[int] = []

    def ask(texts: Sequence[str], attempt: int = 1) -> list[str | None]:
        asked.append(len(texts))
        if attempt == 1:
            return ["Yes and no."] * len(texts)
        return [
            "Yes." if any(all(part in prompt for part in pair) for pair in same) else "No"
            for prompt in texts
        ]

    return ask, asked


def test_planted_pairs_are_found_and_none_is_across_the_halves(
    planted: tuple[pd.DataFrame, np.ndarray, list[tuple[str, str]]],
) -> None:
    items, vectors, pairs = planted
    ask, asked = knowing_judge(items, pairs)
    assignment, counts = split_without_leaks(items, vectors, seed=0, ask=ask)
    half = assignment.set_index("item_id")["half"]
    assert len(half) == N
    assert all(half[a] == half[b] for a, b in pairs)
    found = counts.set_index("verdict")["pairs"]
    assert found["certain"] + found["judged_same"] == PLANTED
    assert found["certain"] == PLANTED // 2
    distances = half_distances(assignment, 0)
    assert (distances["total_variation"] <= distances["chance_95"]).all()
    assert asked  # the judge decided those that are neither certain nor far


def test_without_a_judge_words_decide_and_pairs_of_one_document_are_not_compared(
    planted: tuple[pd.DataFrame, np.ndarray, list[tuple[str, str]]],
) -> None:
    items, vectors, pairs = planted
    assignment, counts = split_without_leaks(items, vectors, seed=0)
    assert set(counts["verdict"]) == {"certain", "other_words"}
    page = {item_id: f"page {number}" for number, pair in enumerate(pairs) for item_id in pair}
    paged = items.assign(doc_id=items["item_id"].map(page))
    assignment, counts = split_without_leaks(paged, vectors, seed=0)
    assert counts.empty
    half = assignment.set_index("item_id")["half"]
    assert all(half[a] == half[b] for a, b in pairs)


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("Yes", True),
        ("no.", False),
        (" **Yes**, both ask the same.", True),
        ("Yes and no.", None),
        ("It depends", None),
        ("They are the same: yes", None),
        ("", None),
        ("Not sure", None),
        ("Nope", None),
    ],
)
def test_only_an_unambiguous_yes_or_no_is_read(reply: str, expected: bool | None) -> None:
    assert parse_same(reply) is expected


def test_equal_wordings_with_other_numbers_are_not_certain() -> None:
    texts = {"a": "What is 12 plus 5?", "b": "What is 12 plus 7?", "c": "What is 12 plus 5?"}
    pairs = [Pair("a", "b", 0.99), Pair("a", "c", 1.0)]
    assert list(judge_pairs(pairs, texts).values()) == ["other_words", "certain"]
    assert same_numbers("1,000 of 3", "3 of 1,000")


def test_common_words_decide_if_replies_are_unreadable() -> None:
    texts = {"a": "one two three", "b": "one two three four", "c": "five six"}
    pairs = [Pair("a", "b", 0.9), Pair("a", "c", 0.85)]
    asked: list[int] = []

    def ask(prompts: Sequence[str], attempt: int = 1) -> list[str | None]:
        asked.append(attempt)
        return ["perhaps", None][: len(prompts)]

    judged = judge_pairs(pairs, texts, ask)
    assert list(judged.values()) == ["same_words", "other_words"]
    assert asked == [1, 2, 3]
