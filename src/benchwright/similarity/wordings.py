"""How near two wordings of one text are."""

from collections.abc import Callable, Sequence

import numpy as np

from benchwright.core.errors import InputError
from benchwright.params.embedding import EmbeddingParams
from benchwright.params.scoring import ModelsParams, ScoringParams
from benchwright.similarity.item_vectors import choose_encoder


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
