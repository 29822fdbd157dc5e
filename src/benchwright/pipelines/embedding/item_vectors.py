"""One vector per item, encoded once (SMART, section 3.4)."""

import hashlib
from collections.abc import Iterable
from string import ascii_uppercase

import numpy as np
import pandas as pd

from benchwright import weights
from benchwright.devices import resolve_device, resolve_dtype
from benchwright.embedding import encode
from benchwright.errors import InputError
from benchwright.params.embedding import EmbeddingParams
from benchwright.params.scoring import EncoderParams, HubWeights, ModelsParams
from benchwright.tables import Embeddings


def compute_embeddings(
    items: pd.DataFrame,
    embedding_cache: pd.DataFrame,
    embedding: EmbeddingParams,
    models: ModelsParams,
) -> pd.DataFrame:
    """Encodes question and choices of each item; what was encoded before is not encoded again.

    Vectors are reused where encoder and text are the same. Items of the cache that are not among
    `items` (left out by `limit`) stay in it. With `enabled: false` the cache is all there is.

    Raises:
        InputError: the encoder is not in the parameters, or its weights are not there.
    """
    cache = embedding_cache[Embeddings.columns()]
    if not embedding.enabled:
        return cache
    spec = _encoder(embedding, models)
    device = resolve_device(embedding.device)
    dtype = resolve_dtype(embedding.dtype, device)
    name = f"{embedding.encoder}@{weights.revision(spec.weights)}/{dtype}"
    texts = [
        item_text(question, choices)
        for question, choices in zip(items["question"], items["choices"], strict=True)
    ]
    hashes = [_text_hash(text) for text in texts]
    cache = cache[cache["encoder"] == name]
    vector_of = dict(zip(cache["text_hash"], cache["vector"], strict=True))
    text_of = dict(zip(hashes, texts, strict=True))
    # In order of hash: what is encoded does not depend on the order of the items.
    new = sorted(text_hash for text_hash in text_of if text_hash not in vector_of)
    if new:
        vectors = encode(
            [text_of[text_hash] for text_hash in new],
            weights.locate_encoder(spec.weights),
            revision=spec.weights.revision if isinstance(spec.weights, HubWeights) else None,
            trust_remote_code=getattr(spec.weights, "trust_remote_code", False),
            dtype=dtype,
            device=device,
        )
        vector_of.update(zip(new, vectors, strict=True))
    now = pd.DataFrame(
        {
            "item_id": items["item_id"].tolist(),
            "text_hash": hashes,
            "encoder": name,
            "vector": [np.asarray(vector_of[text_hash], np.float32) for text_hash in hashes],
        }
    )
    others = cache[~cache["item_id"].isin(now["item_id"])]
    together = pd.concat([now, others], ignore_index=True) if len(others) else now
    return together.sort_values("item_id", kind="stable", ignore_index=True)


def item_text(question: str, choices: Iterable[str]) -> str:
    """What is encoded of an item: the question, then each choice on its line after its letter."""
    options = [
        f"{letter}. {choice}" for letter, choice in zip(ascii_uppercase, choices, strict=False)
    ]
    return "\n".join([question, *options])


def _text_hash(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def _encoder(embedding: EmbeddingParams, models: ModelsParams) -> EncoderParams:
    if embedding.encoder not in models.encoders:
        known = ", ".join(sorted(models.encoders)) or "none"
        raise InputError(
            f"embedding.encoder: {embedding.encoder!r} is not known; there are {known}"
        )
    return models.encoders[embedding.encoder]
