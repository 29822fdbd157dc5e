"""New wordings of the questions, asked for and checked in memory (MMLU-CF, section 3.4, rule 1)."""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from benchwright.asking import Ask
from benchwright.params.embedding import EmbeddingParams
from benchwright.params.perturbation import RephraseParams
from benchwright.params.scoring import ModelsParams, ScoringParams
from benchwright.perturbation.rephrase import Question, Similarity, rephrase
from benchwright.perturbation.use_rephrasing import Rephrased
from benchwright.similarity.item_vectors import choose_encoder


class Reworded(NamedTuple):
    """New questions by role and id, None where no wording passed.

    `failed` counts the checks that attempts failed.
    """

    questions: Rephrased
    failed: dict[str, int]


def reword(
    items: pd.DataFrame, ask: Ask, similarity: Similarity, params: RephraseParams
) -> Reworded:
    """Ask for another wording of every item's question, and take the first that passes.

    Args:
        items: an `Items` table.
        ask: the chat model.
        similarity: of the wordings before and after.
        params: attempts, and from which similarity on a wording passes.
    """
    names = ("item_id", "question", "choices", "answer", "answer_text")
    questions = [
        Question("item", str(item_id), str(text), tuple(choices), int(answer), str(right))
        for item_id, text, choices, answer, right in zip(
            *(items[name] for name in names), strict=True
        )
    ]
    attempts = rephrase(questions, ask, similarity, params)
    found: dict[tuple[str, str], str | None] = {}
    for attempt in attempts:
        key = ("item", attempt.item_id)
        found[key] = attempt.after if attempt.used else found.get(key)
    failed = Counter(name for attempt in attempts for name in attempt.failed)
    return Reworded(found, dict(sorted(failed.items())))


def cosine_similarity(encoder: str, models: ModelsParams, scoring: ScoringParams) -> Similarity:
    """The cosine of texts by a sentence encoder; it is loaded when first asked.

    Raises:
        InputError: the encoder is not in the parameters.
    """
    chosen = choose_encoder(encoder, EmbeddingParams(device=scoring.device), models)

    def similarity(before: Sequence[str], after: Sequence[str]) -> list[float]:
        texts = sorted({*before, *after})
        row = {text: number for number, text in enumerate(texts)}
        vectors = np.asarray(chosen.encode(texts), dtype=np.float64)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        return [
            float(vectors[row[old]] @ vectors[row[new]])
            for old, new in zip(before, after, strict=True)
        ]

    return similarity
