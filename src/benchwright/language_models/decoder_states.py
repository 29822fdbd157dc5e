"""Vectors of texts from a language model's hidden states (SMART, section 5.2 and A.5)."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from benchwright.language_models.devices import Device, Dtype
from benchwright.language_models.fixed_shapes import batches, filled, rounded_widths
from benchwright.language_models.weights import ModelSource, told_unloadable

if TYPE_CHECKING:
    import torch

Pooling = Literal["last_token", "mean"]


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
    """(n, d) vectors of n texts, in their order, of length 1: states of the model's last layer.

    The states are those that the output layer would read, after the last normalisation.
    `last_token` takes the state at the text's last token, which alone has seen all of the text;
    `mean` averages over all tokens, a beginning-of-text token included where the tokenizer sets
    one. Padding counts in neither. A text's vector does not depend on the texts around it: every
    batch has the same number of rows and a width rounded up to 16 tokens. Progress goes to
    standard error.

    Args:
        texts: what to encode; "" is read as the token that begins or ends a text.
        source: the language model.
        pooling: how the states of a text become one vector.
        dtype: of the model's weights; the mean is taken in float32.
        device: where it runs.
        context: tokens that are read; longer texts are cut at their end.
        batch: rows of a batch.
    """
    import torch
    from tqdm import tqdm
    from transformers import AutoModel, AutoTokenizer

    origin = {"revision": source.revision, "trust_remote_code": source.trust_remote_code}
    with told_unloadable(source.name_or_path):
        tokenizer = AutoTokenizer.from_pretrained(source.name_or_path, **origin)
        model = AutoModel.from_pretrained(
            source.name_or_path, dtype=getattr(torch, dtype), use_safetensors=True, **origin
        )
    model = model.to(device).eval()
    ids = token_ids(tokenizer, texts, context)
    widths = rounded_widths([len(tokens) for tokens in ids], None)
    size = model.config.get_text_config(decoder=True).hidden_size
    vectors = np.zeros((len(texts), size), dtype=np.float32)
    with tqdm(total=len(texts), unit="text", desc="encode") as progress, torch.inference_mode():
        for rows, width in batches(widths, batch):
            read, mask = _padded([ids[row] for row in filled(rows, batch)], width)
            mask = mask.to(device)
            output = model(input_ids=read.to(device), attention_mask=mask, use_cache=False)
            pooled = _pooled(output.last_hidden_state.float(), mask, pooling)
            vectors[rows] = pooled.cpu().numpy()[: len(rows)]
            progress.update(len(rows))
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors / np.where(length > 0, length, 1)


def token_ids(tokenizer: Any, texts: Sequence[str], context: int) -> list[list[int]]:
    """The first `context` tokens of each text, at least one each."""
    given = (tokenizer.bos_token_id, tokenizer.eos_token_id, tokenizer.pad_token_id)
    blank = next((token for token in given if token is not None), 0)
    encoded = tokenizer(list(texts)).input_ids if texts else []
    return [tokens[:context] or [blank] for tokens in encoded]


def _padded(ids: list[list[int]], width: int) -> tuple["torch.Tensor", "torch.Tensor"]:
    """(rows, width) tokens with padding behind them, and 1 where there is a token, else 0.

    A token looks at those before it only, so what stands in the padding does not matter.
    """
    import torch

    read = torch.zeros((len(ids), width), dtype=torch.long)
    mask = torch.zeros((len(ids), width), dtype=torch.long)
    for row, tokens in enumerate(ids):
        read[row, : len(tokens)] = torch.tensor(tokens)
        mask[row, : len(tokens)] = 1
    return read, mask


def _pooled(states: "torch.Tensor", mask: "torch.Tensor", pooling: Pooling) -> "torch.Tensor":
    """(rows, d) one vector for each row of (rows, width, d) states."""
    lengths = mask.sum(dim=1)
    if pooling == "last_token":
        return states[mask.new_tensor(range(len(mask))), lengths - 1]
    return (states * mask[:, :, None]).sum(dim=1) / lengths[:, None]
