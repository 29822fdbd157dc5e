"""Two halves alike in fields and difficulty, without leaks (MMLU-CF, sections 3.2 and 4.5)."""

import logging

import numpy as np
import pandas as pd

from benchwright.datasets.score_store import StoredShards
from benchwright.methods.mmlu_cf.judging.in_memory import ask_in_memory
from benchwright.methods.mmlu_cf.sealing.quiet_errors import no_question_in_errors
from benchwright.methods.mmlu_cf.splitting.distance import half_distances
from benchwright.methods.mmlu_cf.splitting.leakage import split_without_leaks
from benchwright.params.fields import FieldsParams
from benchwright.params.scoring import ModelsParams, ScoringParams
from benchwright.params.splitting import SplittingParams
from benchwright.similarity.text_vectors import encode_texts
from benchwright.tables import TextVectors

logger = logging.getLogger(__name__)

_MAX_TOKENS, _TEMPERATURE = 8, 0.7  # of a Yes or No


def split_items_in_halves(
    final_items: pd.DataFrame,
    item_difficulty: pd.DataFrame,
    judge_store: StoredShards,
    splitting: SplittingParams,
    fields: FieldsParams,
    models: ModelsParams,
    scoring: ScoringParams,
    seed: int,
) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Halve the questions so that none stands on both sides in other words.

    Questions are compared as they were before the contamination-free rules, which give two copies
    of one question different wordings and options. Their vectors, by the encoder of `fields`, are
    made in memory. Questions without a level of difficulty are a level of their own.

    Returns:
        `SplitAssignment` and `LeakPairs` with the items' own ids (for memory), `HalfDistances`.

    Raises:
        InputError: the judge or the encoder is not known, or cannot be had.
    """
    level = item_difficulty.set_index("item_id")["level"]
    items = final_items.assign(difficulty=final_items["item_id"].map(level).astype(np.float64))
    texts = [
        "\n".join([str(question), *map(str, choices)])
        for question, choices in zip(items["question"], items["choices"], strict=True)
    ]
    rules = splitting.leakage
    with no_question_in_errors(items, "splitting"):
        ask = None
        if rules.judge is not None:
            ask = ask_in_memory(
                rules.judge,
                models,
                scoring,
                judge_store,
                max_tokens=_MAX_TOKENS,
                temperature=_TEMPERATURE,
                what="splitting",
            )
        vectors = encode_texts(texts, TextVectors.empty(), fields.encoder, models).vectors
        placed = np.stack([vectors[text] for text in texts])
        halved = split_without_leaks(items, placed, splitting, seed, ask=ask)
        distances = half_distances(halved.assignment, seed)
    moved = int(halved.pairs["moved"].sum()) if len(halved.pairs) else 0
    logger.info(
        "halves: %d pairs across them looked at, %d moved into one half, %d questions removed, "
        "%d rounds",
        *(len(halved.pairs), moved, len(halved.removed), halved.rounds),
    )
    return halved.assignment, halved.pairs, distances
