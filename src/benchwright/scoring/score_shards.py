"""Keys of scores, shards of the score store, and their tables."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import Any, NamedTuple

import pandas as pd

from benchwright.language_models.loading import context_limit, resolve
from benchwright.language_models.protocol import Answers, PromptText, Sampling
from benchwright.language_models.weights import conversion, revision
from benchwright.params.scoring import ModelParams, ModelsParams, ScoringParams

_SCORER = "2"  # increase it when a change of scoring changes its numbers

COLUMNS = ("key", "logprobs", "option_tokens", "prompt_tokens")
"""Columns of a shard: one row per key; `logprobs` None where the prompt did not fit."""

WRITTEN_COLUMNS = ("key", "texts", "finish", "generated_tokens", "prompt_tokens")
"""Columns of a shard of written answers; `texts` None where the prompt did not fit."""


class Shard(NamedTuple):
    """Prompts that are always scored together, in the same batches.

    `sampling` has the settings of written answers, None if continuations are scored.
    """

    name: str
    model: str
    sampling: Sampling | None
    keys: tuple[str, ...]
    prompts: tuple[PromptText, ...]


class ShardPlan(NamedTuple):
    """The key of each row of the prompts, and the shards to score, model by model."""

    keys: list[str]
    shards: list[Shard]


def model_ingredients(model: ModelParams, scoring: ScoringParams) -> dict[str, str]:
    """Return all properties of a model and this machine that can change a score."""
    asked = {
        "scorer": _SCORER,
        "context": str(context_limit(model, scoring)),
        "chat_template": str(model.chat_template),
        "label_space": str(model.label_space),
    }
    if model.endpoint is not None:
        # Address and name stand for the unknown software behind an endpoint.
        names = {"url", "model", "api", "logprobs", "extra_body"}
        endpoint = json.dumps(model.endpoint.model_dump(include=names), sort_keys=True)
        return {**asked, "backend": "openai", "endpoint": endpoint}
    assert model.weights is not None  # noqa: S101  (ModelParams holds it)
    setting = resolve(model, scoring)
    ingredients = {
        **asked,
        "backend": f"{model.backend}-{_backend_version(model.backend)}",
        "torch": version("torch"),
        "revision": revision(model.weights),
        "conversion": conversion(model.weights),
        "device": setting.device,
        "dtype": setting.dtype,
    }
    if model.backend == "vllm":
        ingredients["vllm"] = model.vllm.model_dump_json()
    return ingredients


def _backend_version(backend: str) -> str:
    """Return the installed version; vLLM's CPU build has another name."""
    for name in (backend, f"{backend}-cpu"):
        try:
            return version(name)
        except PackageNotFoundError:
            continue
    return "absent"


def score_key(
    ingredients: dict[str, str],
    prompt: PromptText,
    labels: Sequence[str],
    style: str,
    shots_used: int,
) -> str:
    """Return the key of a prompt's scores: a hash of everything that can change them.

    Item id and configuration name are not part of it: equal prompts are scored once.
    """
    return digest([sorted(ingredients.items()), *prompt, list(labels), style, shots_used])


def plan_shards(prompts: pd.DataFrame, models: ModelsParams, scoring: ScoringParams) -> ShardPlan:
    """Cut the prompts into shards of one model and one prefix, so that an added item changes one.

    The name is a hash of keys and `batch_tokens`: a stored shard was scored in the same batches.
    """
    ingredients = {
        name: model_ingredients(models.models[name], scoring)
        for name in sorted(set(prompts["model"]))
    }
    keys: list[str] = []
    groups: dict[tuple[str, str, Sampling | None], dict[str, PromptText]] = {}
    how = scoring.generation
    row: Any
    for row in prompts.itertuples(index=False):
        prompt = PromptText(row.prefix, row.text, tuple(row.continuations), row.template)
        asked = ingredients[row.model]
        drawn = None
        if row.max_new_tokens:
            drawn = Sampling(
                int(row.max_new_tokens),
                samples=how.samples,
                temperature=how.temperature,
                top_p=how.top_p,
                stop=tuple(row.stop),
                seed=how.seed,
            )
            asked = {**asked, "sampling": json.dumps(drawn)}
        key = score_key(asked, prompt, row.labels, row.style, int(row.shots_used))
        keys.append(key)
        groups.setdefault((row.model, row.prefix, drawn), {})[key] = prompt
    shards: list[Shard] = []
    for (model, _, drawn), by_key in groups.items():
        shards.extend(cut_shards(model, by_key, drawn, scoring))
    # Scored continuations come before written answers, sorted by sampling.
    return ShardPlan(keys, sorted(shards, key=lambda s: (s.model, s.sampling or (), s.name)))


def cut_shards(
    model: str,
    prompts: Mapping[str, PromptText],
    drawn: Sampling | None,
    scoring: ScoringParams,
) -> list[Shard]:
    """Cut one model's prompts, by key, that share one prefix and one sampling, into shards.

    The first digits of the keys decide, into 2^n parts of at most about `shard_size`: keys are
    hashes, so parts are of similar size, and an added prompt changes one part only.
    """
    parts = 1
    while parts * scoring.shard_size < len(prompts):
        parts *= 2
    cut: list[list[str]] = [[] for _ in range(parts)]
    for key in sorted(prompts):
        cut[int(key[:8], 16) * parts >> 32].append(key)
    shards = []
    for keys in filter(None, cut):
        name = digest([keys, scoring.batch_tokens])
        texts = tuple(prompts[key] for key in keys)
        shards.append(Shard(name, model, drawn, keys=tuple(keys), prompts=texts))
    return shards


def digest(content: list[Any]) -> str:
    """Return 32 hexadecimal digits for texts, numbers and lists of them."""
    return hashlib.blake2b(json.dumps(content).encode(), digest_size=16).hexdigest()


def _columns(shard: Shard) -> list[str]:
    return list(COLUMNS if shard.sampling is None else WRITTEN_COLUMNS)


def shard_table(shard: Shard, answers: Answers) -> pd.DataFrame:
    """Return the table of a shard; one row per key, in the shard's order."""
    frame = pd.DataFrame(answers)
    frame.insert(0, "key", list(shard.keys))
    kinds: dict[str, Any] = {"key": str, "prompt_tokens": "int64"}
    if shard.sampling is not None:
        kinds["generated_tokens"] = "int64"
    return frame[_columns(shard)].astype(kinds)


def holds(frame: pd.DataFrame | None, shard: Shard) -> bool:
    """Return whether a stored table is this shard, complete."""
    if frame is None or not set(_columns(shard)) <= set(frame):
        return False
    return list(frame["key"]) == list(shard.keys)


def absent(values: object) -> bool:
    """Return whether a stored list is missing (None or NaN): the prompt did not fit."""
    return values is None or isinstance(values, float)
