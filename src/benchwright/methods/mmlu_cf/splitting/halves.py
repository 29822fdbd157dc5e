"""Split questions in two halves and seal one (MMLU-CF, sections 3.2 and 4.5)."""

import logging
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from benchwright.core.stored_shards import StoredShards
from benchwright.methods.mmlu_cf.judging.judges import ask_in_memory
from benchwright.methods.mmlu_cf.sealing.key import KeyedNames, read_key
from benchwright.methods.mmlu_cf.sealing.safe_errors import no_question_in_errors
from benchwright.methods.mmlu_cf.sealing.seal import public_assignment, seal_halves
from benchwright.methods.mmlu_cf.splitting.leakage import item_texts, split_without_leaks
from benchwright.methods.mmlu_cf.splitting.split import half_distances
from benchwright.params.mmlu_cf import (
    FieldsParams,
    SealingParams,
    SplittingParams,
)
from benchwright.params.scoring import ModelsParams, ScoringParams
from benchwright.similarity.vectors import encode_texts
from benchwright.tables.similarity import TextVectors

logger = logging.getLogger(__name__)


def derive_closed_seed(sealing: SealingParams, seed: int) -> int:
    """Derive the secret seed of what is closed, and how it reads; it must stay in memory.

    Raises:
        InputError: there is no key.
    """
    return KeyedNames(read_key(sealing), sealing.name).closed_seed(seed)


def split_items_in_halves(
    final_items: pd.DataFrame,
    item_difficulty: pd.DataFrame,
    judge_store: StoredShards,
    splitting: SplittingParams,
    fields: FieldsParams,
    models: ModelsParams,
    scoring: ScoringParams,
    closed_seed: int,
) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Halve the questions so that none is in both halves in different words.

    Questions are compared in their form before the contamination-free rules, which give two copies
    of a question different wordings and options. The encoder of `fields` computes their vectors, in
    memory. Questions without a level of difficulty form a separate level.

    Returns:
        `SplitAssignment` with the items' own ids (for memory), counts of pairs, distances.

    Raises:
        InputError: the judge or the encoder is unknown or unavailable.
    """
    level = item_difficulty.set_index("item_id")["level"]
    items = final_items.assign(difficulty=final_items["item_id"].map(level).astype(np.float64))
    judge = splitting.leakage.judge
    with no_question_in_errors(items, "splitting"):
        ask = None
        if judge is not None:
            asked = (judge, models, scoring, judge_store)
            ask = ask_in_memory(*asked, max_tokens=8, what="splitting")
        texts = item_texts(items)
        vectors = encode_texts(texts, TextVectors.empty(), fields.encoder, models).vectors
        placed = np.stack([vectors[text] for text in texts])
        assignment, pairs = split_without_leaks(items, placed, closed_seed, ask)
        distances = half_distances(assignment, closed_seed)
    return assignment, pairs, distances


def seal_benchmark(
    contamination_free_items: pd.DataFrame,
    split_assignment: pd.DataFrame,
    earlier_closed_ids: Sequence[str],
    sealing: SealingParams,
) -> tuple[Mapping[str, bytes], pd.DataFrame]:
    """Seal the closed half with the key of `sealing`.

    Warn if the public half holds questions that an earlier run closed under this key and name.

    Returns:
        The files of the benchmark by name (`seal_halves`), and the `SplitAssignment` in which
        closed items have keyed ids.

    Raises:
        InputError: there is no key, or a half has no items.
    """
    key = read_key(sealing)
    levels = split_assignment.set_index("item_id")["difficulty"]
    items = contamination_free_items.assign(
        difficulty=contamination_free_items["item_id"].map(levels)
    )
    with no_question_in_errors(items, "sealing"):
        files = seal_halves(items, split_assignment, sealing.name, key, sealing.licence)
        assignment = public_assignment(split_assignment, key, sealing.name)
        names = KeyedNames(key, sealing.name)
        public = split_assignment.loc[split_assignment["half"].eq("validation"), "item_id"]
        opened = set(earlier_closed_ids) & set(map(names.item_id, public))
    if opened:
        logger.warning(
            "sealing: %d questions of the public half were closed by an earlier run; publish only "
            "one of the two runs, and delete the folder of the other",
            len(opened),
        )
    return files, assignment
