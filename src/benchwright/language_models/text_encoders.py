"""Vectors of texts, from a sentence encoder or from a language model's hidden states.

All batches have one shape, so that a text's vector does not depend on its neighbours: a matrix
product of another shape adds up in another order, which shows in the low bits, above all in
bfloat16. Every batch has the same number of rows and a width rounded up to 16 tokens. Vectors have
length 1; progress goes to standard error.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from benchwright.core.progress import progress_bar
from benchwright.language_models.weights import (
    Device,
    Dtype,
    ModelSource,
    load_errors,
    load_tokenizer,
)

if TYPE_CHECKING:
    import torch

Pooling = Literal["last_token", "mean"]

_STEP = 16  # tokens that widths are multiples of
_CHUNK = 1024  # texts tokenised at once to learn their lengths


def encode(
    texts: Sequence[str],
    source: ModelSource,
    *,
    dtype: Dtype,
    device: Device,
    batch: int = 32,
) -> NDArray[np.float32]:
    """Return (n, d) vectors of n texts, in their order, by a local sentence-transformers encoder.

    Texts longer than the encoder's limit are cut (all-MiniLM-L6-v2: 256 tokens).
    """
    from sentence_transformers import SentenceTransformer
    from torch import Tensor
    from torch.nn.functional import pad

    from benchwright.language_models.packed_layers import pack_linear_layers

    with load_errors(source.name_or_path):
        model = SentenceTransformer(
            source.name_or_path,
            device=device,
            model_kwargs={"dtype": dtype, "use_safetensors": True},
            **source.options,
        ).eval()
    pack_linear_layers(model)
    lengths: list[int] = []
    for start in range(0, len(texts), _CHUNK):
        tokens = model.preprocess(list(texts[start : start + _CHUNK]))
        lengths += tokens["attention_mask"].sum(dim=1).tolist()
    fill = {"input_ids": model.tokenizer.pad_token_id or 0}

    def vectors(rows: list[int], width: int) -> "torch.Tensor":
        features = dict(model.preprocess([texts[row] for row in rows]))
        for name, values in features.items():
            if isinstance(values, Tensor):
                padding = (0, width - values.shape[1])
                features[name] = pad(values, padding, value=fill.get(name, 0)).to(device)
        embedding: torch.Tensor = model(features)["sentence_embedding"]
        return embedding

    widths = rounded_widths(lengths, model.max_seq_length)
    return _encoded(widths, batch, model.get_embedding_dimension() or 0, vectors)


def encode_states(
    texts: Sequence[str],
    source: ModelSource,
    pooling: Pooling,
    *,
    dtype: Dtype,
    device: Device,
    context: int,
    batch: int = 16,
) -> NDArray[np.float32]:
    """Return (n, d) vectors of n texts, in their order: states of the model's last layer.

    The states are the output layer's input. `last_token` takes the state at the text's last token,
    `mean` averages over all tokens, including a beginning-of-text token, without padding (SMART,
    section 5.2 and A.5). An empty text is read as the token that begins or ends a text; texts
    longer than `context` tokens are cut at their end.
    """
    import torch
    from transformers import AutoModel

    from benchwright.language_models.packed_layers import pack_linear_layers

    ids = token_ids(load_tokenizer(source), texts, context)
    with load_errors(source.name_or_path):
        model = AutoModel.from_pretrained(
            source.name_or_path,
            dtype=getattr(torch, dtype),
            use_safetensors=True,
            **source.options,
        )
    model = model.to(device).eval()
    pack_linear_layers(model)

    def vectors(rows: list[int], width: int) -> "torch.Tensor":
        # A token looks only at those before it, so the content of the padding does not matter.
        read = torch.zeros((len(rows), width), dtype=torch.long)
        mask = torch.zeros_like(read)
        for row, number in enumerate(rows):
            tokens = ids[number]
            read[row, : len(tokens)] = torch.tensor(tokens)
            mask[row, : len(tokens)] = 1
        mask = mask.to(device)
        output = model(input_ids=read.to(device), attention_mask=mask, use_cache=False)
        states: torch.Tensor = output.last_hidden_state.float()
        lengths = mask.sum(dim=1)
        if pooling == "last_token":
            return states[list(range(len(rows))), lengths - 1]
        sums = (states * mask[:, :, None]).sum(dim=1)
        return sums / lengths[:, None]

    widths = rounded_widths([len(tokens) for tokens in ids], None)
    size = model.config.get_text_config(decoder=True).hidden_size
    return _encoded(widths, batch, size, vectors)


def token_ids(tokenizer: Any, texts: Sequence[str], context: int) -> list[list[int]]:
    """Return the first `context` tokens of each text, at least one each."""
    if not texts:
        return []
    candidates = [tokenizer.bos_token_id, tokenizer.eos_token_id, tokenizer.pad_token_id]
    blank = next((token for token in candidates if token is not None), 0)
    encoded = tokenizer(list(texts)).input_ids
    return [tokens[:context] or [blank] for tokens in encoded]


def rounded_widths(lengths: Sequence[int], most: int | None) -> NDArray[np.intp]:
    """Return (n,) widths in tokens for texts of these lengths: rounded up to 16, at most `most`."""
    widths = -(-np.asarray(lengths, dtype=np.intp) // _STEP) * _STEP
    return widths if most is None else np.minimum(widths, most)


def batches(widths: NDArray[np.intp], batch: int) -> Iterator[tuple[list[int], int]]:
    """Yield rows of one width, at most `batch`, with that width: longest first, to fail early."""
    for width in np.unique(widths)[::-1]:
        rows = np.flatnonzero(widths == width).tolist()
        for start in range(0, len(rows), batch):
            yield rows[start : start + batch], int(width)


def _encoded(
    widths: NDArray[np.intp],
    batch: int,
    size: int,
    vectors: "Callable[[list[int], int], torch.Tensor]",
) -> NDArray[np.float32]:
    """Return the vectors of all texts, of length 1; short batches repeat their first row."""
    import torch

    out = np.zeros((len(widths), size), dtype=np.float32)
    with progress_bar("encode", "text", len(widths)) as progress, torch.inference_mode():
        for rows, width in batches(widths, batch):
            missing = batch - len(rows)
            filled = rows + rows[:1] * missing
            encoded = vectors(filled, width)[: len(rows)]
            out[rows] = encoded.float().cpu().numpy()
            progress.update(len(rows))
    length = np.linalg.norm(out, axis=1, keepdims=True)
    out /= np.where(length > 0, length, 1)
    return out
