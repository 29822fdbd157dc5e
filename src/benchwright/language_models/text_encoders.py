"""Vectors of texts, from a sentence encoder or from a language model's hidden states.

Batches have one shape: what a network computes of a text then does not depend on its neighbours. A
matrix product of another shape adds up in another order, which shows in the low bits, above all in
bfloat16. So every batch has the same number of rows and a width rounded up to 16 tokens. Vectors
have length 1; progress goes to standard error.
"""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from benchwright.language_models.devices import Device, Dtype, resolve_device, resolve_dtype
from benchwright.language_models.weights import ModelSource, told_unloadable

if TYPE_CHECKING:
    import torch

Pooling = Literal["last_token", "mean"]

_STEP = 16  # tokens that widths are multiples of
_CHUNK = 1024  # texts tokenised at once to learn their lengths


def encode(
    texts: Sequence[str],
    folder: Path | str,
    *,
    revision: str | None = None,
    trust_remote_code: bool = False,
    dtype: Literal["auto", "bfloat16", "float32"] = "auto",
    device: Literal["auto", "cpu", "cuda"] = "auto",
    batch: int = 32,
) -> NDArray[np.float32]:
    """(n, d) vectors of n texts, in their order, by a local sentence-transformers encoder.

    Longer texts than the encoder reads are cut (all-MiniLM-L6-v2: 256 tokens).
    """
    from sentence_transformers import SentenceTransformer
    from torch import Tensor
    from torch.nn.functional import pad

    where = resolve_device(device)
    with told_unloadable(str(folder)):
        model = SentenceTransformer(
            str(folder),
            revision=revision,
            device=where,
            trust_remote_code=trust_remote_code,
            model_kwargs={"dtype": resolve_dtype(dtype, where), "use_safetensors": True},
        ).eval()
    lengths: list[int] = []
    for start in range(0, len(texts), _CHUNK):
        tokens = model.preprocess(list(texts[start : start + _CHUNK]))
        lengths += tokens["attention_mask"].sum(dim=1).tolist()
    fill = {"input_ids": model.tokenizer.pad_token_id or 0}

    def vectors(rows: list[int], width: int) -> "torch.Tensor":
        features = {
            name: pad(values, (0, width - values.shape[1]), value=fill.get(name, 0)).to(where)
            if isinstance(values, Tensor)
            else values
            for name, values in model.preprocess([texts[row] for row in rows]).items()
        }
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
    """(n, d) vectors of n texts, in their order: states of the model's last layer.

    The states are those that the output layer would read, after the last normalisation.
    `last_token` takes the state at the text's last token, which alone has seen all of the text;
    `mean` averages over all tokens, a beginning-of-text token included where the tokenizer sets
    one (SMART, section 5.2 and A.5). Padding counts in neither.

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
    from transformers import AutoModel, AutoTokenizer

    origin = {"revision": source.revision, "trust_remote_code": source.trust_remote_code}
    with told_unloadable(source.name_or_path):
        tokenizer = AutoTokenizer.from_pretrained(source.name_or_path, **origin)
        model = AutoModel.from_pretrained(
            source.name_or_path, dtype=getattr(torch, dtype), use_safetensors=True, **origin
        )
    model = model.to(device).eval()
    ids = token_ids(tokenizer, texts, context)

    def vectors(rows: list[int], width: int) -> "torch.Tensor":
        # A token looks at those before it only, so what stands in the padding does not matter.
        read = torch.zeros((len(rows), width), dtype=torch.long)
        mask = torch.zeros_like(read)
        for row, number in enumerate(rows):
            read[row, : len(ids[number])] = torch.tensor(ids[number])
            mask[row, : len(ids[number])] = 1
        mask = mask.to(device)
        output = model(input_ids=read.to(device), attention_mask=mask, use_cache=False)
        states: torch.Tensor = output.last_hidden_state.float()
        lengths = mask.sum(dim=1)
        if pooling == "last_token":
            return states[mask.new_tensor(range(len(mask))), lengths - 1]
        return (states * mask[:, :, None]).sum(dim=1) / lengths[:, None]

    widths = rounded_widths([len(tokens) for tokens in ids], None)
    return _encoded(widths, batch, model.config.get_text_config(decoder=True).hidden_size, vectors)


def token_ids(tokenizer: Any, texts: Sequence[str], context: int) -> list[list[int]]:
    """The first `context` tokens of each text, at least one each."""
    given = (tokenizer.bos_token_id, tokenizer.eos_token_id, tokenizer.pad_token_id)
    blank = next((token for token in given if token is not None), 0)
    encoded = tokenizer(list(texts)).input_ids if texts else []
    return [tokens[:context] or [blank] for tokens in encoded]


def rounded_widths(lengths: Sequence[int], most: int | None) -> NDArray[np.intp]:
    """(n,) widths in tokens for texts of the given lengths: rounded up to 16, at most `most`."""
    widths = -(-np.asarray(lengths, dtype=np.intp) // _STEP) * _STEP
    return widths if most is None else np.minimum(widths, most)


def batches(widths: NDArray[np.intp], batch: int) -> Iterator[tuple[list[int], int]]:
    """Rows of one width, at most `batch`, with that width: longest first.

    A lack of memory so shows at once. A batch with fewer rows is to be filled up.
    """
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
    """The vectors of all texts, of length 1; short batches are filled up with their first row."""
    import torch
    from tqdm import tqdm

    out = np.zeros((len(widths), size), dtype=np.float32)
    with tqdm(total=len(widths), unit="text", desc="encode") as progress, torch.inference_mode():
        for rows, width in batches(widths, batch):
            filled = [*rows, *[rows[0]] * (batch - len(rows))]
            out[rows] = vectors(filled, width).float().cpu().numpy()[: len(rows)]
            progress.update(len(rows))
    length = np.linalg.norm(out, axis=1, keepdims=True)
    out /= np.where(length > 0, length, 1)
    return out
