"""Vectors of items and short texts by encoders, each text encoded once (SMART, section 3.4)."""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchwright.core.cells import cells
from benchwright.core.errors import InputError, expected
from benchwright.core.natural_order import sort_items
from benchwright.core.option_letters import lettered
from benchwright.language_models import weights
from benchwright.language_models.loading import context_limit
from benchwright.language_models.text_encoders import encode, encode_states
from benchwright.language_models.weights import resolve_device, resolve_dtype
from benchwright.params.scoring import EmbeddingParams, ModelsParams, ScoringParams
from benchwright.tables.similarity import Embeddings, TextVectors


def encode_items(
    items: pd.DataFrame,
    cache: pd.DataFrame,
    encoder: str,
    embedding: EmbeddingParams,
    models: ModelsParams,
) -> pd.DataFrame:
    """Encode the question and choices of each item as one vector, or take it from the cache.

    Items of the cache that are not among `items` (left out by `limit`) stay; vectors of other
    encoders do not. Return an `Embeddings` table in order of id.

    Raises:
        InputError: the encoder or its model is not in the parameters, or its weights are missing.
    """
    chosen = choose_encoder(encoder, embedding, models)
    of_encoder = cache["encoder"] == chosen.key
    if not of_encoder.all():
        cache = cache[of_encoder]
    now = pd.DataFrame(
        {
            "item_id": items["item_id"].tolist(),
            "text_hash": pd.Series(map(text_hash, item_texts(items)), dtype="str"),
            "encoder": chosen.key,
        }
    )
    if now.equals(cache[now.columns]):  # these texts in this order
        return cache[Embeddings.columns()]
    vector_of = known_vectors(chosen, item_texts(items), cache)
    now["vector"] = pd.Series([vector_of[name] for name in cells(now["text_hash"])], dtype=object)
    del vector_of
    others = cache.loc[~cache["item_id"].isin(now["item_id"]), Embeddings.columns()]
    return sort_items(pd.concat([now, others])) if len(others) else now


def item_texts(items: pd.DataFrame) -> Iterator[str]:
    """Yield the text of each item; those of a million items are not kept in memory."""
    return map(item_text, cells(items["question"]), cells(items["choices"]))


def item_text(question: str, choices: Iterable[str]) -> str:
    """Return the text to encode: the question, then each choice on a line after its letter."""
    options = lettered(choices)
    return f"{question}\n{options}" if options else question


class ChosenEncoder(NamedTuple):
    """An encoder ready to run; tables name it by its `key`."""

    key: str
    encode: Callable[[Sequence[str]], NDArray[np.float32]]


def choose_encoder(
    encoder: str, embedding: EmbeddingParams, models: ModelsParams, where: str = "embedding.encoder"
) -> ChosenEncoder:
    """Return the encoder of that name, which the setting `where` gives.

    The key consists of the name, the revision of the weights, the pooling of a language model, and
    the precision: vectors with equal keys are comparable.

    Raises:
        InputError: the encoder or its language model is not in the parameters.
    """
    if encoder not in models.encoders:
        known = expected(encoder, models.encoders)
        raise InputError(f"{where}: unknown encoder {encoder!r}; {known}")
    spec = models.encoders[encoder]
    device = embedding.device  # resolved when something is encoded, since that imports PyTorch
    own = spec.weights
    if own is not None:
        dtype = resolve_dtype(embedding.dtype, device)
        return ChosenEncoder(
            f"{encoder}@{weights.revision(own)}/{dtype}",
            lambda texts: encode(
                texts,
                weights.locate_encoder(own),
                dtype=dtype,
                device=resolve_device(device),
            ),
        )
    if spec.model not in models.models:
        known = expected(spec.model, models.models)
        raise InputError(f"models.encoders.{encoder}: model {spec.model!r} is not known; {known}")
    model = models.models[spec.model]
    of_model = model.weights
    if of_model is None:
        raise InputError(
            f"models.encoders.{encoder}: model {spec.model!r} has no weights here, only a server; "
            "hidden states need them"
        )
    pooling = spec.pooling
    assert pooling is not None  # noqa: S101  (EncoderParams holds it)
    dtype = resolve_dtype(embedding.dtype if model.dtype == "auto" else model.dtype, device)
    return ChosenEncoder(
        f"{encoder}@{weights.revision(of_model)}/{pooling}/{dtype}",
        lambda texts: encode_states(
            texts,
            weights.model_source(of_model, dtype),
            pooling,
            dtype=dtype,
            device=resolve_device(device),
            context=context_limit(model, ScoringParams()),
        ),
    )


def known_vectors(
    encoder: ChosenEncoder, texts: Iterable[str], cache: pd.DataFrame
) -> dict[str, NDArray[np.float32]]:
    """Return vectors by `text_hash`: those of a cache of this encoder, and of new texts."""
    by_hash = {}
    for name, vector in zip(cells(cache["text_hash"]), cache["vector"], strict=True):
        by_hash[name] = np.asarray(vector, np.float32)
    new = {}
    for text in texts:
        name = text_hash(text)
        if name not in by_hash:
            new[name] = text
    if new:
        # In order of hash: what is encoded does not depend on the order of the texts.
        names = sorted(new)
        vectors = np.asarray(encoder.encode([new[name] for name in names]), np.float32)
        by_hash.update(zip(names, vectors, strict=True))
    return by_hash


def text_hash(text: str) -> str:
    """Return the key of a text in a cache."""
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


class EncodedTexts(NamedTuple):
    """Vectors of length 1 by text, and the cache including new ones."""

    vectors: dict[str, NDArray[np.float32]]
    cache: pd.DataFrame


def encode_texts(
    texts: Sequence[str], cache: pd.DataFrame, encoder: str, models: ModelsParams
) -> EncodedTexts:
    """Encode the texts that are not in the cache, a `TextVectors` table.

    Cached vectors of other encoders are dropped.
    """
    chosen = choose_encoder(encoder, EmbeddingParams(dtype="float32"), models)
    cache = cache.loc[cache["encoder"] == chosen.key, TextVectors.columns()]
    known = known_vectors(chosen, texts, cache)
    ordered = sorted(known)
    table = pd.DataFrame(
        {"text_hash": ordered, "encoder": chosen.key, "vector": [known[name] for name in ordered]}
    )
    by_text = {text: known[text_hash(text)] for text in texts}
    return EncodedTexts(by_text, table if ordered else TextVectors.empty())


def wording_similarity(
    encoder: str, models: ModelsParams, scoring: ScoringParams
) -> Callable[[Sequence[str], Sequence[str]], list[float]]:
    """Return a function that computes the cosine of each text with its counterpart.

    The encoder is loaded when the function is first called.
    """
    chosen = choose_encoder(encoder, EmbeddingParams(device=scoring.device), models, "rephrasing")

    def similarity(before: Sequence[str], after: Sequence[str]) -> list[float]:
        texts = sorted({*before, *after})
        vectors = np.asarray(chosen.encode(texts), dtype=np.float64)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        vector_of = dict(zip(texts, vectors, strict=True))
        pairs = zip(before, after, strict=True)
        return [float(vector_of[old] @ vector_of[new]) for old, new in pairs]

    return similarity
