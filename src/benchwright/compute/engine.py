"""Where batches run: in this process, or in actors of a Ray cluster."""

from collections.abc import Iterator, Sequence

from benchwright.language_models.batches import Answers, Batch, ask
from benchwright.language_models.loading import load_model
from benchwright.language_models.protocol import Progress
from benchwright.params.scoring import ModelParams, ScoringParams


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
        from benchwright.compute.ray_models import answer_on_ray

        yield from answer_on_ray(name, model, scoring, batches, progress)
        return
    loaded = load_model(name, model, scoring)
    try:
        yield from ask(loaded, batches, progress)
    finally:
        loaded.close()
