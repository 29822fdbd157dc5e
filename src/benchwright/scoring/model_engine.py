"""Engines that answer prompts: this process, or Ray actors with a copy of the model each."""

import itertools
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path

import pandas as pd

from benchwright.core.errors import InputError
from benchwright.core.progress import progress_bar
from benchwright.language_models.loading import load_model, resolve
from benchwright.language_models.protocol import (
    Answers,
    Batch,
    LanguageModel,
    Progress,
    ask,
)
from benchwright.language_models.weights import default_cache, model_source
from benchwright.params.scoring import ModelParams, PathWeights, RayParams, ScoringParams
from benchwright.scoring.batch_engine import cluster, loaded_ray, raise_for_worker
from benchwright.scoring.score_shards import Shard, holds, shard_table

_RETRIES = 3  # restarts of an actor by one batch
_RESTARTS = 10  # restarts of one actor
_AHEAD = 2  # batches at an actor, so that the next one is ready
_PASSED_ON = ("HF_HUB_OFFLINE", "TOKENIZERS_PARALLELISM", "OMP_WAIT_POLICY")


def answer_shards(
    shards: Sequence[Shard],
    store: Mapping[str, pd.DataFrame],
    models: Mapping[str, ModelParams],
    scoring: ScoringParams,
    what: str,
) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield the name and table of each shard that the store lacks, as soon as it is answered.

    Models are loaded one after another. A progress bar counts prompts, including those stored;
    `what` is its description. Errors are those of `answer_batches`.
    """
    missing = [shard for shard in shards if not holds(store.get(shard.name), shard)]
    total = sum(len(shard.keys) for shard in shards)
    done = total - sum(len(shard.keys) for shard in missing)
    if not missing:
        return
    with progress_bar(what, "prompt", total, done) as bar:
        for name, group in itertools.groupby(missing, key=lambda shard: shard.model):
            bar.set_description_str(f"{what} {name}", refresh=False)
            members = list(group)
            batches = [Batch(shard.sampling, shard.prompts) for shard in members]
            answered = answer_batches(name, models[name], scoring, batches, bar.update)
            for number, answers in answered:
                yield members[number].name, shard_table(members[number], answers)


def answer_batches(
    name: str,
    model: ModelParams,
    scoring: ScoringParams,
    batches: Sequence[Batch],
    progress: Progress,
) -> Iterator[tuple[int, Answers]]:
    """Ask one model; yield each batch's number with its answers as soon as possible.

    The engine `local` answers in the order of `batches`, `ray` in any order; a server is always
    asked from here. `progress` is called with the number of prompts newly done.

    Raises:
        InputError: the model's weights, backend, server or cluster are missing.
    """
    if scoring.engine == "ray" and model.endpoint is None:
        yield from answer_on_ray(name, model, scoring, batches, progress)
        return
    with closing(load_model(name, model, scoring)) as loaded:
        yield from ask(loaded, batches, progress)


def answer_on_ray(
    name: str,
    model: ModelParams,
    scoring: ScoringParams,
    batches: Sequence[Batch],
    progress: Progress,
) -> Iterator[tuple[int, Answers]]:
    """Ask copies of one model; yield the number of each batch with its answers, in any order.

    Each actor loads the model once. An actor that dies is restarted and its batches are asked
    again. Without an address Ray runs on this machine.

    Raises:
        InputError: Ray is not installed, its cluster or the actors' resources are missing, the
            model cannot be loaded, or a batch has ended its actor repeatedly.
    """
    if not batches:
        return
    remote = for_actors(model, scoring)
    ray = loaded_ray("scoring")
    from ray.util import ActorPool

    params = scoring.ray
    cores = math.ceil(params.actors * params.cpus_per_actor)
    with cluster(ray, params.address, cores, "scoring"):
        check_resources(params, ray.cluster_resources())
        actor = ray.remote(
            num_cpus=params.cpus_per_actor,
            num_gpus=params.gpus_per_actor,
            max_restarts=_RESTARTS,
            max_task_retries=_RETRIES,
            runtime_env={"env_vars": _environment(params)},
        )(Answerer)
        count = min(params.actors, len(batches))
        actors = [actor.remote(name, *remote) for _ in range(count)]
        pool = ActorPool(actors * _AHEAD)
        try:
            answered = pool.map_unordered(
                lambda free, job: free.answer.remote(*job), enumerate(batches)
            )
            for number, answers in answered:
                progress(len(batches[number].prompts))
                yield number, answers
        except Exception as error:
            raise_for_worker(error, f"model {name}: an actor", "scoring.ray.actors")
        finally:
            for each in actors:
                ray.kill(each)


def for_actors(model: ModelParams, scoring: ScoringParams) -> tuple[ModelParams, ScoringParams]:
    """Return the settings with all values resolved that could differ in an actor.

    `auto` is resolved here, since that is part of a score's key, and a path becomes absolute. On
    this machine, weights are found and converted once before any actor is started.

    Raises:
        InputError: actors would not have the device that this process expects.
    """
    assert model.weights is not None  # noqa: S101  (servers have no actors)
    weights = model.weights
    gpus = scoring.ray.gpus_per_actor
    if isinstance(weights, PathWeights):
        path = str(Path(weights.path).expanduser().absolute())
        weights = weights.model_copy(update={"path": path})
    setting = resolve(model, scoring)
    if (setting.device == "cuda") != (gpus > 0):
        raise InputError(
            f"scoring.ray.gpus_per_actor is {gpus:g}, but models run on {setting.device} "
            f"(scoring.device {scoring.device}): change one of the two"
        )
    if scoring.ray.address is None:
        model_source(weights, setting.dtype)
    return (
        model.model_copy(update={"weights": weights, "dtype": setting.dtype}),
        scoring.model_copy(update={"device": setting.device, "dtype": setting.dtype}),
    )


class Answerer:
    """One copy of a model, run by an actor; device and dtype of `scoring` are resolved."""

    def __init__(self, name: str, model: ModelParams, scoring: ScoringParams) -> None:
        self._model: LanguageModel | Exception
        try:
            self._model = load_model(name, model, scoring)
        except Exception as error:  # if it were raised, Ray would restart the actor
            self._model = error

    def answer(self, number: int, batch: Batch) -> tuple[int, Answers]:
        """Return the number of a batch and the answers to it."""
        if isinstance(self._model, Exception):
            raise self._model
        [(_, answers)] = ask(self._model, [batch], lambda _: None)
        return number, answers


def check_resources(params: RayParams, there: Mapping[str, float]) -> None:
    """Raise InputError if actors on this machine would wait forever."""
    for resource, each in (("GPU", params.gpus_per_actor), ("CPU", params.cpus_per_actor)):
        wanted = params.actors * each
        available = there.get(resource, 0.0)
        if wanted > available and params.address is None:
            raise InputError(
                f"scoring.ray: {params.actors} actors of {each:g} {resource}s each need "
                f"{wanted:g}; there are {available:g}"
            )


def _environment(params: RayParams) -> dict[str, str]:
    """Return the environment variables of the actors; Ray logs them."""
    threads = str(max(1, int(params.cpus_per_actor)))
    passed = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    return {**passed, "BENCHWRIGHT_CACHE": str(default_cache()), "OMP_NUM_THREADS": threads}
