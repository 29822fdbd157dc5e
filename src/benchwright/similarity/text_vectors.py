"""Vectors of short texts by a sentence encoder, each text encoded once."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchwright.core.errors import InputError
from benchwright.params.embedding import EmbeddingParams
from benchwright.params.scoring import ModelsParams, ScoringParams
from benchwright.similarity.item_vectors import choose_encoder, known_vectors, text_hash
from benchwright.tables.similarity import TextVectors


class EncodedTexts(NamedTuple):
    """The vectors by text, of length 1, and the cache with the new ones."""

    vectors: dict[str, NDArray[np.float32]]
    cache: pd.DataFrame


def vector_key(encoder: str, models: ModelsParams) -> str:
    """What made a vector: the encoder's name, its weights' hash and the precision.

    Always 32 bits, so that a machine that computes in bfloat16 gives the same vectors.

    Raises:
        InputError: the encoder is not in the parameters.
    """
    return choose_encoder(encoder, EmbeddingParams(dtype="float32"), models).key


def encode_texts(
    texts: Sequence[str], cache: pd.DataFrame, encoder: str, models: ModelsParams
) -> EncodedTexts:
    """Encode those texts whose vector the cache does not hold.

    Args:
        texts: distinct or not.
        cache: a `TextVectors` table; vectors of other encoders are dropped, others stay.
        encoder: its name under `models.encoders`.
        models: where its weights are.

    Raises:
        InputError: the encoder is not in the parameters, or its weights are not there.
    """
    chosen = choose_encoder(encoder, EmbeddingParams(dtype="float32"), models)
    cache = cache.loc[cache["encoder"] == chosen.key, TextVectors.columns()]
    known = known_vectors(chosen, texts, cache)
    ordered = sorted(known)
    table = pd.DataFrame(
        {
            "text_hash": ordered,
            "encoder": chosen.key,
            "vector": [known[name] for name in ordered],
        }
    )
    found = {text: known[text_hash(text)] for text in texts}
    return EncodedTexts(found, table if ordered else TextVectors.empty())


def wording_similarity(
    encoder: str, models: ModelsParams, scoring: ScoringParams
) -> Callable[[Sequence[str], Sequence[str]], list[float]]:
    """Cosine of each text with the one at its place in the other list, by a sentence encoder.

    The encoder is loaded when the function is first called.

    Raises:
        InputError: the encoder is not in the parameters.
    """
    if encoder not in models.encoders:
        known = ", ".join(sorted(models.encoders)) or "none"
        raise InputError(
            f"rephrasing: encoder {encoder!r} is not known; there are {known} "
            "(conf: models.encoders)"
        )
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
