"""How many tokens texts have: of a named model, or roughly by their characters."""

from collections.abc import Sequence
from typing import NamedTuple

from benchwright.core.errors import InputError
from benchwright.language_models.devices import resolve_device, resolve_dtype
from benchwright.language_models.weights import model_source
from benchwright.params.scoring import ModelsParams

CHARACTERS_PER_TOKEN = 4  # of English text, roughly
_AT_A_TIME = 1024


class TextLengths(NamedTuple):
    """Tokens of n texts, without special ones, and in words how they were counted."""

    tokens: list[float]
    counted_by: str


def text_lengths(
    texts: Sequence[str], tokenizer: str | None, models: ModelsParams | None, setting: str
) -> TextLengths:
    """Count tokens with the tokenizer of a model; by characters where none is named.

    Raises:
        InputError: there is no such model, it has no weights, or they are not installed.
    """
    if not tokenizer:
        rough = [len(text) / CHARACTERS_PER_TOKEN for text in texts]
        return TextLengths(rough, f"characters / {CHARACTERS_PER_TOKEN}")
    if models is None:
        raise InputError(f"{setting} names a model of the project's conf; run in the project")
    model = models.models.get(tokenizer)
    if model is None or model.weights is None:
        having = sorted(name for name, own in models.models.items() if own.weights is not None)
        raise InputError(
            f"{setting} {tokenizer!r} is not known; models.models has weights of "
            f"{', '.join(having) or 'none'}"
        )
    from benchwright.language_models.hf_transformers import load_tokenizer

    # The precision that models run in here: weights may have been converted to it already.
    dtype = resolve_dtype(model.dtype, resolve_device("auto"))
    count = load_tokenizer(model_source(model.weights, dtype))
    tokens: list[float] = []
    for start in range(0, len(texts), _AT_A_TIME):
        part = list(texts[start : start + _AT_A_TIME])
        tokens += [float(len(ids)) for ids in count(part, add_special_tokens=False).input_ids]
    return TextLengths(tokens, f"tokenizer of {tokenizer}")
