"""Loading models: device, precision and backend from the parameters; token counts of texts."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from benchwright.core.errors import InputError, expected
from benchwright.language_models.protocol import LanguageModel
from benchwright.language_models.tokenization import ChatFrame, chat_frame
from benchwright.language_models.weights import (
    Device,
    Dtype,
    load_tokenizer,
    model_source,
    resolve_device,
    resolve_dtype,
    supported_context,
)
from benchwright.params.scoring import ModelParams, ModelsParams, ScoringParams


class Setting(NamedTuple):
    """Device, precision and context of a model, with `auto` resolved for this machine."""

    device: Device
    dtype: Dtype
    context: int


def resolve(model: ModelParams, scoring: ScoringParams) -> Setting:
    """Resolve the device, dtype and context in tokens that a model is scored with here."""
    device = resolve_device(scoring.device)
    return Setting(device, _dtype(model, scoring), context_limit(model, scoring))


def _dtype(model: ModelParams, scoring: ScoringParams) -> Dtype:
    wanted = scoring.dtype if model.dtype == "auto" else model.dtype
    return resolve_dtype(wanted, resolve_device(scoring.device))


_MOST_CONTEXT = 32_768  # by default; the caches of longer contexts do not fit common GPUs
_CONTEXT_OF_SERVER = 8_192  # by default; its weights are elsewhere


def context_limit(model: ModelParams, scoring: ScoringParams) -> int:
    """Return how many tokens the model reads and writes.

    Raises:
        InputError: conf states no context, and the weights cannot be read.
    """
    if model.context is not None or model.weights is None:
        return model.context or _CONTEXT_OF_SERVER
    source = model_source(model.weights, _dtype(model, scoring))
    return min(supported_context(source), _MOST_CONTEXT)


def load_model(name: str, model: ModelParams, scoring: ScoringParams) -> LanguageModel:
    """Load one model, or connect to its server; GGUF weights are converted on first use.

    Raises:
        InputError: weights are not installed or have another hash, the backend is not installed,
            or the server's key is not set.
    """
    if model.backend == "openai":
        from benchwright.language_models.openai_endpoint import EndpointModel

        tokenizer = model_tokenizer(model, scoring)
        return EndpointModel(name, model, context_limit(model, scoring), tokenizer)
    assert model.weights is not None  # noqa: S101  (ModelParams holds it)
    device, dtype, context = resolve(model, scoring)
    source = model_source(model.weights, dtype)
    if model.backend == "vllm":
        from benchwright.language_models.vllm_engine import VllmModel

        return VllmModel.load(source, dtype, device, context, model.vllm)
    from benchwright.language_models.hf_transformers import TransformersModel

    return TransformersModel.load(source, dtype, device, context, scoring.batch_tokens)


def model_tokenizer(model: ModelParams, scoring: ScoringParams) -> Any:
    """Load the tokenizer of a model; None for a server's model without weights."""
    if model.weights is None:
        return None
    return load_tokenizer(model_source(model.weights, _dtype(model, scoring)))


def message_frame(model: ModelParams, scoring: ScoringParams, in_template: bool) -> ChatFrame:
    """Return what a user's message stands between, in the model's chat template or in none.

    Raises:
        ValueError: the tokenizer has no chat template.
    """
    if model.endpoint is not None:
        return ChatFrame("", "", "messages" if model.endpoint.api == "chat" else "none")
    return chat_frame(model_tokenizer(model, scoring)) if in_template else ChatFrame("", "", "none")


CHARACTERS_PER_TOKEN = 4  # of English text, roughly
_AT_A_TIME = 1024


class TextLengths(NamedTuple):
    """Numbers of tokens of n texts, without special ones, and the method of counting."""

    tokens: list[float]
    counted_by: str


def text_lengths(
    texts: Sequence[str], tokenizer: str | None, models: ModelsParams | None, setting: str
) -> TextLengths:
    """Count tokens with the tokenizer of a model; by characters if none is named.

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
        names = [name for name, known in models.models.items() if known.weights is not None]
        raise InputError(
            f"{setting} {tokenizer!r} is not a model with weights; {expected(tokenizer, names)}"
        )

    # The precision that models run in here: weights may have been converted to it already.
    dtype = resolve_dtype(model.dtype, resolve_device("auto"))
    count = load_tokenizer(model_source(model.weights, dtype))
    tokens: list[float] = []
    for start in range(0, len(texts), _AT_A_TIME):
        part = list(texts[start : start + _AT_A_TIME])
        tokens += map(float, map(len, count(part, add_special_tokens=False).input_ids))
    return TextLengths(tokens, f"tokenizer of {tokenizer}")
