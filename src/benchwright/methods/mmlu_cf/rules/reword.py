"""New wordings of the questions, asked for and checked in memory (MMLU-CF, section 3.4, rule 1)."""

from collections import Counter
from typing import NamedTuple

import pandas as pd

from benchwright.compute.asking import Ask
from benchwright.params.perturbation import RephraseParams
from benchwright.transforms.rephrase import Question, Similarity, rephrase
from benchwright.transforms.use_rephrasing import Rephrased


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
