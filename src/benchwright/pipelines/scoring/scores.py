"""Score the prompts that the store lacks, and read off the answers."""

import itertools
import sys
from collections.abc import Callable, Iterator, Mapping

import numpy as np
import pandas as pd

from benchwright.language_models.loading import load_model
from benchwright.language_models.protocol import LanguageModel
from benchwright.params.scoring import ModelsParams, ScoringParams
from benchwright.pipelines.scoring.shards import COLUMNS, Shard, plan_shards
from benchwright.tables import Responses

Store = Mapping[str, pd.DataFrame]


def score_prompts(
    prompts: pd.DataFrame, score_cache: Store, models: ModelsParams, scoring: ScoringParams
) -> Iterator[dict[str, pd.DataFrame]]:
    """Ask the models: the log-likelihood of every option of every prompt.

    Scores that the store has are not computed again. The rest is scored shard by shard, each saved
    as soon as it is there, so that a run that was stopped goes on where it was. Models are loaded
    one after another. A progress bar counts prompts, those from the store included.

    Yields:
        One shard at a time: its name → a table with key, logprobs, option_tokens, prompt_tokens.

    Raises:
        InputError: a model's weights are not installed or are not the expected ones.
    """
    from tqdm import tqdm

    if prompts.empty:
        return
    shards = plan_shards(prompts, models, scoring).shards
    missing = [shard for shard in shards if not _holds(score_cache.get(shard.name), shard)]
    total = sum(len(shard.keys) for shard in shards)
    found = total - sum(len(shard.keys) for shard in missing)
    with tqdm(
        total=total, initial=found, desc="scoring", unit="prompt", file=sys.stderr, mininterval=1
    ) as bar:
        for name, own in itertools.groupby(missing, key=lambda shard: shard.model):
            bar.set_description(f"scoring {name}")
            model = load_model(models.models[name], scoring)
            try:
                for shard in own:
                    yield {shard.name: score_shard(model, shard, bar.update)}
            finally:
                model.close()


def score_shard(
    model: LanguageModel, shard: Shard, progress: Callable[[int], object] | None = None
) -> pd.DataFrame:
    """Score all prompts of a shard; one row per key, in the shard's order."""
    scores = model.score(shard.prompts, progress)
    rows = zip(shard.keys, *zip(*scores, strict=True), strict=True)
    frame = pd.DataFrame(list(rows), columns=list(COLUMNS))
    return frame.astype({"key": str, "prompt_tokens": "int64"})


def _holds(frame: pd.DataFrame | None, shard: Shard) -> bool:
    """Whether a stored table is this shard, whole."""
    return frame is not None and list(frame["key"]) == list(shard.keys)


def collect_responses(
    prompts: pd.DataFrame, model_scores: Store, models: ModelsParams, scoring: ScoringParams
) -> pd.DataFrame:
    """Give every item its scores: one row per prompt, raw log-likelihoods, nothing judged yet.

    The next stage calibrates and judges. `extraction` is `failed` where a prompt does not fit the
    model's context even without demonstrations. Scores of other runs in the store are left alone.

    Raises:
        KeyError: the store lacks scores of these prompts (run the whole scoring stage).
    """
    if prompts.empty:
        return Responses.empty()
    plan = plan_shards(prompts, models, scoring)
    scores: dict[str, tuple[object, list[int], int]] = {}
    for shard in plan.shards:
        frame = model_scores.get(shard.name)
        if frame is None or not _holds(frame, shard):
            raise KeyError(f"the score store lacks shard {shard.name} of {shard.model}")
        columns = (frame[name] for name in COLUMNS)
        scores.update({key: (lp, list(n), used) for key, lp, n, used in zip(*columns, strict=True)})
    found = [scores[key] for key in plan.keys]
    logprobs = [_as_list(row[0]) for row in found]
    n = len(prompts)
    table = pd.DataFrame(
        {
            "item_id": prompts["item_id"].to_numpy(),
            "condition": prompts["condition"].to_numpy(),
            "style": prompts["style"].to_numpy(),
            "shots": prompts["shots"].to_numpy(),
            "model": prompts["model"].to_numpy(),
            "logprobs": logprobs,
            "option_bytes": [option_bytes(c) for c in prompts["continuations"]],
            "option_tokens": [[int(tokens) for tokens in row[1]] for row in found],
            "prediction": np.full(n, -1),
            "p_answer": np.full(n, np.nan),
            "p_prediction": np.full(n, np.nan),
            "correct": np.full(n, np.nan),
            "shots_used": prompts["shots_used"].to_numpy(),
            "prompt_tokens": [row[2] for row in found],
            "generated_tokens": np.zeros(n, dtype=np.int64),
            "extraction": ["failed" if values is None else "ok" for values in logprobs],
            "prompt_id": prompts["prompt_id"].to_numpy(),
            "source": ["live"] * n,
        }
    )
    return pd.DataFrame(Responses.validate(table))


def option_bytes(scored: list[str]) -> list[int]:
    """UTF-8 bytes of each option without the space before it, at least 1."""
    return [max(1, len(text.removeprefix(" ").encode())) for text in scored]


def _as_list(values: object) -> list[float] | None:
    """Floats of a stored list; None for a prompt that did not fit (None or NaN, as stored)."""
    if values is None or isinstance(values, float):
        return None
    return [float(value) for value in np.asarray(values)]
