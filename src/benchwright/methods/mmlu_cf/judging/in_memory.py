"""Chat models asked about questions that will be closed: nothing is written in the clear."""

import logging
from collections.abc import Mapping

from benchwright.compute.asking import Ask, ask_model
from benchwright.datasets.score_store import StoredShards
from benchwright.params.judging import JudgesParams
from benchwright.params.scoring import ModelsParams, ScoringParams

logger = logging.getLogger(__name__)


def ask_in_memory(
    name: str,
    models: ModelsParams,
    scoring: ScoringParams,
    store: StoredShards,
    *,
    max_tokens: int,
    temperature: float,
    what: str,
) -> Ask:
    """A model of conf as a function, in this process, with its replies in the run's own store.

    `engine: ray` is passed over: its object store spills to disk. A server is warned of.

    Args:
        name: under `models.models`.
        models: all models.
        scoring: device, precision and sizes of batches.
        store: of the run.
        max_tokens: the most the model may write per reply.
        temperature: of attempts after the first.
        what: what is done, for the progress bar and errors.

    Raises:
        InputError: the name is not known.
    """
    ask = ask_model(
        name,
        models,
        scoring.model_copy(update={"engine": "local"}),
        store,
        max_tokens=max_tokens,
        temperature=temperature,
        what=what,
    )
    if name in models.models and models.models[name].endpoint is not None:
        logger.warning(
            "%s: %s is a server: questions of the closed half go there, and it may keep them",
            *(what, name),
        )
    return ask


def named_judges(
    params: JudgesParams,
    models: ModelsParams,
    scoring: ScoringParams,
    store: StoredShards,
    what: str,
) -> Mapping[str, Ask]:
    """The judges that a section of conf names, by name; see `ask_in_memory`."""
    return {
        name: ask_in_memory(
            name,
            models,
            scoring,
            store,
            max_tokens=params.max_tokens,
            temperature=params.temperature,
            what=what,
        )
        for name in params.judges
    }
