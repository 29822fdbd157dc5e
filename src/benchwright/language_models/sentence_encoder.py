"""Sentence embeddings of texts, by a local sentence-transformers encoder."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from benchwright.language_models.devices import resolve_device, resolve_dtype
from benchwright.language_models.fixed_shapes import batches, filled, rounded_widths
from benchwright.language_models.weights import told_unloadable

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

# Texts tokenised at once to learn their lengths.
_CHUNK = 1024


def encode(
    texts: Sequence[str],
    folder: Path | str,
    *,
    revision: str | None = None,
    trust_remote_code: bool = False,
    dtype: Literal["auto", "bfloat16", "float32"] = "auto",
    device: Literal["auto", "cpu", "cuda"] = "auto",
    batch: int = 32,
    normalise: bool = True,
) -> NDArray[np.float32]:
    """(n, d) vectors of n texts, in their order; of length 1 unless `normalise` is off.

    A text's vector does not depend on the texts around it, also in bfloat16: every batch has the
    same number of rows and a width rounded up to 16 tokens. Longer texts than the encoder reads
    are cut (all-MiniLM-L6-v2: 256 tokens). Progress goes to standard error.

    Args:
        texts: what to encode; "" is allowed.
        folder: an encoder in sentence-transformers' format, or a hub id.
        revision: commit of the hub id.
        trust_remote_code: run code that comes with the encoder.
        dtype: `auto` is bfloat16 where the processor computes in it, else float32.
        device: `auto` is a GPU where there is one.
        batch: rows of a batch.
        normalise: divide each vector by its length.
    """
    import torch
    from sentence_transformers import SentenceTransformer
    from tqdm import tqdm

    where = resolve_device(device)
    with told_unloadable(str(folder)):
        model = SentenceTransformer(
            str(folder),
            revision=revision,
            device=where,
            trust_remote_code=trust_remote_code,
            model_kwargs={"dtype": resolve_dtype(dtype, where), "use_safetensors": True},
        ).eval()
    widths = _widths(model, texts)
    size = model.get_embedding_dimension() or 0
    vectors = np.zeros((len(texts), size), dtype=np.float32)
    with tqdm(total=len(texts), unit="text", desc="encode") as progress, torch.inference_mode():
        for rows, width in batches(widths, batch):
            features = _features(model, [texts[row] for row in filled(rows, batch)], width)
            output = model(features)["sentence_embedding"]
            vectors[rows] = output.float().cpu().numpy()[: len(rows)]
            progress.update(len(rows))
    if normalise:
        length = np.linalg.norm(vectors, axis=1, keepdims=True)
        vectors /= np.where(length > 0, length, 1)
    return vectors


def _widths(model: "SentenceTransformer", texts: Sequence[str]) -> NDArray[np.intp]:
    """Tokens of each text, rounded up, at most what the encoder reads."""
    lengths = [np.empty(0, dtype=np.intp)]
    for start in range(0, len(texts), _CHUNK):
        tokens = model.preprocess(list(texts[start : start + _CHUNK]))
        lengths.append(tokens["attention_mask"].sum(dim=1).numpy())
    return rounded_widths(np.concatenate(lengths), model.max_seq_length)


def _features(model: "SentenceTransformer", texts: list[str], width: int) -> dict[str, Any]:
    """Tokens of the texts, padded to `width`, on the model's device."""
    from torch import Tensor
    from torch.nn.functional import pad

    fill = {"input_ids": model.tokenizer.pad_token_id or 0}
    return {
        name: pad(values, (0, width - values.shape[1]), value=fill.get(name, 0)).to(model.device)
        if isinstance(values, Tensor)
        else values
        for name, values in model.preprocess(texts).items()
    }
