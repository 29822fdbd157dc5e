"""From a model's parameters to the model: which device, which precision, which backend."""

from typing import Any, Literal, NamedTuple

from benchwright.language_models.devices import Dtype, resolve_device, resolve_dtype
from benchwright.language_models.protocol import LanguageModel
from benchwright.language_models.weights import model_source
from benchwright.params.scoring import ModelParams, ScoringParams


class Setting(NamedTuple):
    """Where a model runs and how: what `auto` comes to on this machine."""

    device: Literal["cpu", "cuda"]
    dtype: Dtype
    context: int


def resolve(model: ModelParams, scoring: ScoringParams) -> Setting:
    """The device, dtype and context in tokens that a model is scored with here."""
    device = resolve_device(scoring.device)
    wanted = scoring.dtype if model.dtype == "auto" else model.dtype
    return Setting(device, resolve_dtype(wanted, device), context_limit(model, scoring))


def context_limit(model: ModelParams, scoring: ScoringParams) -> int:
    """Tokens that the model may read, with `scoring.max_tokens` as a ceiling."""
    return min(model.context, scoring.max_tokens or model.context)


def load_model(name: str, model: ModelParams, scoring: ScoringParams) -> LanguageModel:
    """Load one model, or connect to its server; GGUF weights are converted on first use.

    Raises InputError where its weights are not installed or have another hash, its backend is not
    installed, or its server's key is not set.
    """
    if model.backend == "openai":
        from benchwright.language_models.openai_endpoint import EndpointModel

        tokenizer = model_tokenizer(model, scoring)
        return EndpointModel(name, model, context_limit(model, scoring), tokenizer)
    assert model.weights is not None  # noqa: S101  (ModelParams holds it)
    setting = resolve(model, scoring)
    source = model_source(model.weights, setting.dtype)
    if model.backend == "vllm":
        from benchwright.language_models.vllm_engine import VllmModel

        return VllmModel.load(source, setting.dtype, setting.device, setting.context, model.vllm)
    from benchwright.language_models.hf_transformers import TransformersModel

    return TransformersModel.load(
        source, setting.dtype, setting.device, setting.context, scoring.batch_tokens
    )


def model_tokenizer(model: ModelParams, scoring: ScoringParams) -> Any:
    """The tokenizer of a model, without the model; None for a server's model without weights."""
    if model.weights is None:
        return None
    from benchwright.language_models.hf_transformers import load_tokenizer

    return load_tokenizer(model_source(model.weights, resolve(model, scoring).dtype))
