"""The items as samplers see them, once for each group of models that may choose."""

from dataclasses import replace
from typing import NamedTuple

import pandas as pd

from benchwright.language_models.text_lengths import text_lengths
from benchwright.methods.dele.evidence.panels import SamplingPanels
from benchwright.methods.dele.samplers.pool import (
    SamplingPool,
    VectorsByText,
    feature_texts,
    item_pool,
)
from benchwright.methods.dele.samplers.registry import sampler_kinds
from benchwright.params.sampling import SamplingParams
from benchwright.params.scoring import ModelsParams
from benchwright.similarity.text_vectors import encode_texts, vector_key
from benchwright.tables.similarity import TextVectors


class Pools(NamedTuple):
    """Pools of the judged items."""

    # by group of models that choose: selection, weak, all, or paper_partial; they differ by the
    # answers alone.
    by_choosers: dict[str, SamplingPool]
    tokens: pd.Series  # (n,) tokens of each item's question and choices
    tokens_by: str  # how tokens were counted, in words

    @property
    def plain(self) -> SamplingPool:
        """The pool for what does not read answers."""
        return next(reversed(self.by_choosers.values()))


def encode_pool_texts(
    items: pd.DataFrame,
    panels: SamplingPanels,
    sampling_vector_cache: pd.DataFrame,
    sampling: SamplingParams,
    models: ModelsParams,
) -> tuple[pd.DataFrame, dict[str, VectorsByText]]:
    """Encode the texts that clustering samplers read, with each encoder that one of them names.

    Where some items are judged, no others are ever drawn, so no others are encoded.

    Returns:
        The vectors of all encoders as a `TextVectors` table, and by encoder and text.
    """
    reading = [k for k, kind in sampler_kinds(sampling).items() if "vectors" in kind.reads]
    wanted = [e for e in sampling.encoders if any(name.endswith(f"_{e}") for name in reading)]
    if panels.item_ids:
        items = items[items["item_id"].astype(str).isin(panels.item_ids)]
    texts = feature_texts(items, sampling.feature_text)
    tables: list[pd.DataFrame] = []
    vectors: dict[str, VectorsByText] = {}
    for encoder in wanted:
        known = sampling_vector_cache["encoder"] == vector_key(encoder, models)
        found = encode_texts(texts, sampling_vector_cache[known], encoder, models)
        tables.append(found.cache)
        vectors[encoder] = found.vectors
    filled = [table for table in tables if len(table)]
    return pd.concat(filled, ignore_index=True) if filled else TextVectors.empty(), vectors


def build_pools(
    items: pd.DataFrame,
    panels: SamplingPanels,
    pool_vectors: dict[str, VectorsByText],
    sampling: SamplingParams,
    models: ModelsParams,
) -> Pools:
    """Build a pool of the judged items for each group of models that may choose.

    Raises:
        InputError: `sampling.tokenizer` names no model with weights.
    """
    rows = items.set_index(items["item_id"].astype(str)).loc[list(panels.item_ids)]
    rows = rows.reset_index(drop=True)
    plain = item_pool(rows, sampling.feature_text, pool_vectors)
    vectors = dict(plain.vectors)  # Kedro copies what one node hands to the next
    pools = {
        choosers: replace(plain, vectors=vectors, correct=panels.answers(choosers))
        for choosers in dict.fromkeys(panels.chosen_by.values())
    }
    with_choices = feature_texts(rows, "question_and_choices")
    tokens, by = text_lengths(with_choices, sampling.tokenizer, models, "sampling.tokenizer")
    return Pools(pools, pd.Series(tokens, dtype=float), by)
