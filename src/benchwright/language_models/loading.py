"""Loading models: device, precision and backend from the parameters."""

from typing import Any, NamedTuple

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
from benchwright.params.scoring import ModelParams, ScoringParams


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
    if model.endpoint is not None and model.endpoint.api == "chat":
        return ChatFrame("", "", "messages")
    if model.endpoint is not None or not in_template:
        return ChatFrame("", "", "none")
    return chat_frame(model_tokenizer(model, scoring))
