"""Where prompts are answered: in this process, or by copies of a model in actors of Ray."""

import logging
import math
import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import SecretStr

from benchwright.compute.batch_engine import outcomes, part_of, task_table
from benchwright.compute.ray_cluster import cluster, loaded_ray, quiet_data, root_line
from benchwright.core.errors import InputError
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


def answer_batches(
    name: str,
    model: ModelParams,
    scoring: ScoringParams,
    batches: Sequence[Batch],
    progress: Progress,
) -> Iterator[tuple[int, Answers]]:
    """Ask one model; the number of each batch with its answers, as soon as they are there.

    Args:
        name: of the model, as conf has it.
        model: what runs it and where it comes from.
        scoring: precision, device, and the engine: `local`, in the order of `batches`, or `ray`,
            in any order.
        batches: in the order they should be asked.
        progress: told how many more prompts are done.

    Raises:
        InputError: the model's weights, backend, server or cluster cannot be had.
    """
    if scoring.engine == "ray":
        yield from answer_on_ray(name, model, scoring, batches, progress)
        return
    loaded = load_model(name, model, scoring)
    try:
        yield from ask(loaded, batches, progress)
    finally:
        loaded.close()


if TYPE_CHECKING:
    import pyarrow as pa

logger = logging.getLogger(__name__)

_RETRIES = 3  # of one batch: one that takes its actor along each time would never end
_RESTARTS = 10  # of one actor: one that has not the memory to load the model would never end
_AHEAD = 2  # batches at an actor, so that one lies ready when another is answered
_PASSED_ON = ("HF_HUB_OFFLINE", "TOKENIZERS_PARALLELISM", "OMP_WAIT_POLICY")


def answer_on_ray(
    name: str,
    model: ModelParams,
    scoring: ScoringParams,
    batches: Sequence[Batch],
    progress: Progress,
) -> Iterator[tuple[int, Answers]]:
    """Ask copies of one model; the number of each batch with its answers, in any order.

    Each actor loads the model once, on the device and in the precision that `auto` comes to in
    this process. An actor that dies is started again and its batches are asked again. Ray is
    started on this machine where no address is given, and stopped at the end if it was started
    here.

    Raises:
        InputError: Ray is not installed, its cluster or what the actors need cannot be had, the
            model cannot be loaded, or a batch has ended its actor again and again.
    """
    if not batches:
        return
    _check_devices(model, scoring)
    remote = for_actors(model, scoring)
    ray = loaded_ray("scoring")
    params = scoring.ray
    cores = math.ceil(params.actors * params.cpus_per_actor)
    with cluster(ray, params.address, cores, "scoring"), quiet_data(ray):
        check_resources(params, ray.cluster_resources())
        dataset = _dataset(ray, name, *remote, scoring.ray, batches)
        answered: set[int] = set()
        rows = iter(dataset.iter_batches(batch_size=None, batch_format="pyarrow"))
        try:
            for number, answers in (part_of(row) for table in rows for row in table.to_pylist()):
                if number not in answered:  # a lost node's results are made a second time
                    answered.add(number)
                    progress(len(batches[number].prompts))
                    yield number, answers
        except (ray.exceptions.RayActorError, ray.exceptions.OutOfMemoryError) as error:
            raise InputError(
                f"model {name}: its actors ended again and again, perhaps for want of memory; "
                "fewer actors (scoring.ray.actors) or smaller batches (scoring.batch_tokens) may "
                f"do: {root_line(error)}"
            ) from error
        finally:
            rows.close()


def for_actors(model: ModelParams, scoring: ScoringParams) -> tuple[ModelParams, ScoringParams]:
    """The same settings with nothing left that an actor could understand otherwise.

    `auto` is replaced by what it comes to here, since that is part of a score's key, and a path by
    an absolute one. On this machine, weights are looked for and converted once before any actor is
    started.
    """
    if model.weights is None:
        return model, scoring
    weights = model.weights
    if isinstance(weights, PathWeights):
        path = str(Path(weights.path).expanduser().absolute())
        weights = weights.model_copy(update={"path": path})
    setting = resolve(model, scoring)
    if scoring.ray.address is None:
        model_source(weights, setting.dtype)
    return (
        model.model_copy(update={"weights": weights, "dtype": setting.dtype}),
        scoring.model_copy(update={"device": setting.device, "dtype": setting.dtype}),
    )


class Answerer:
    """One copy of a model: what an actor runs.

    Args:
        name: of the model.
        model: what to load.
        scoring: with the device and dtype decided.
        keys: environment variables to set before loading, for the servers' keys. They come this
            way because Ray writes those of a runtime environment into its logs.
    """

    def __init__(
        self, name: str, model: ModelParams, scoring: ScoringParams, keys: Mapping[str, SecretStr]
    ) -> None:
        for variable, key in keys.items():
            os.environ[variable] = key.get_secret_value()
        self._model: LanguageModel | Exception
        try:
            self._model = load_model(name, model, scoring)
        except Exception as error:  # raised here, Ray would start the actor again
            self._model = error

    def __call__(self, tasks: "pa.Table") -> "Iterator[pa.Table]":
        """Answer batches, each a task with its number; see `outcomes`."""
        return outcomes(tasks, self._answered)

    def _answered(self, task: tuple[int, Batch]) -> Iterator[tuple[int, Answers]]:
        if isinstance(self._model, Exception):
            raise self._model
        number, batch = task
        for _, answers in ask(self._model, [batch], lambda _: None):
            yield number, answers


def _check_devices(model: ModelParams, scoring: ScoringParams) -> None:
    """Raise InputError where actors could not have the devices that this process expects."""
    if model.weights is None or model.backend == "openai":
        return
    gpus = scoring.ray.gpus_per_actor
    device = resolve(model, scoring).device
    if device == "cuda" and not gpus:
        raise InputError(
            "scoring.ray.gpus_per_actor is 0, but models run on a GPU (scoring.device "
            f"{scoring.device}): give each actor one, or set scoring.device to cpu"
        )
    if device == "cpu" and gpus:
        raise InputError(
            f"scoring.ray.gpus_per_actor is {gpus:g}, but models run on the processor "
            f"(scoring.device {scoring.device}; this machine has no GPU, if auto): set "
            "scoring.device to cuda, or gpus_per_actor to 0"
        )
    if device == "cuda" and model.backend == "vllm" and gpus < model.vllm.tensor_parallel > 1:
        raise InputError(
            f"vllm.tensor_parallel is {model.vllm.tensor_parallel}, but "
            f"scoring.ray.gpus_per_actor is {gpus:g}: an actor needs as many GPUs"
        )


def check_resources(params: RayParams, there: Mapping[str, float]) -> None:
    """Raise InputError where actors would wait for ever; a cluster that may grow gets a warning."""
    for resource, each in (("GPU", params.gpus_per_actor), ("CPU", params.cpus_per_actor)):
        wanted, found = params.actors * each, there.get(resource, 0.0)
        if wanted > found:
            message = (
                f"scoring.ray: {params.actors} actors of {each:g} {resource}s each need "
                f"{wanted:g}; there are {found:g}"
            )
            if params.address is None:
                raise InputError(message)
            logger.warning("%s: some of them wait until the cluster has more", message)


def _dataset(
    ray: Any,
    name: str,
    model: ModelParams,
    scoring: ScoringParams,
    params: RayParams,
    batches: Sequence[Batch],
) -> Any:
    """The answers to all batches, to be iterated over; nothing runs before."""
    # One block per batch: Ray hands on, and asks again, whole blocks.
    blocks = [task_table((number, _sharing(batch))) for number, batch in enumerate(batches)]
    pool = ray.data.ActorPoolStrategy(
        size=min(params.actors, len(batches)), max_tasks_in_flight_per_actor=_AHEAD
    )
    with warnings.catch_warnings():  # of the last two arguments, which have no other place yet
        warnings.simplefilter("ignore", ray.util.annotations.RayDeprecationWarning)
        return ray.data.from_arrow(blocks).map_batches(
            Answerer,
            batch_size=1,
            batch_format="pyarrow",
            compute=pool,
            num_cpus=params.cpus_per_actor,
            num_gpus=params.gpus_per_actor,
            fn_constructor_args=(name, model, scoring, _keys(model)),
            runtime_env={"env_vars": _environment(params)},
            max_restarts=_RESTARTS,
            max_task_retries=_RETRIES,
        )


def _environment(params: RayParams) -> dict[str, str]:
    """Environment variables of the actors; Ray logs them, so no secret may be among them."""
    threads = str(max(1, int(params.cpus_per_actor)))
    passed = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    return {**passed, "BENCHWRIGHT_CACHE": str(default_cache()), "OMP_NUM_THREADS": threads}


def _keys(model: ModelParams) -> dict[str, SecretStr]:
    """The key of the model's server, if it needs one and it is set here."""
    variable = model.endpoint.key_env if model.endpoint else None
    if variable is None or variable not in os.environ:
        return {}
    return {variable: SecretStr(os.environ[variable])}


def _sharing(batch: Batch) -> Batch:
    """The same batch, in which equal prefixes are one object and so are sent once."""
    prefixes = {prompt.prefix: prompt.prefix for prompt in batch.prompts}
    prompts = (prompt._replace(prefix=prefixes[prompt.prefix]) for prompt in batch.prompts)
    return batch._replace(prompts=tuple(prompts))
