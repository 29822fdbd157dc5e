"""Prompts that are answered together, and a loaded model asked for them."""

import itertools
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from benchwright.language_models.protocol import (
    Generated,
    LanguageModel,
    Progress,
    PromptScore,
    PromptText,
    Sampling,
)


class Batch(NamedTuple):
    """Prompts that are answered together; `sampling` None scores their continuations."""

    sampling: Sampling | None
    prompts: tuple[PromptText, ...]


Answers = list[PromptScore] | list[Generated]


def ask(
    model: LanguageModel, batches: Sequence[Batch], progress: Progress
) -> Iterator[tuple[int, Answers]]:
    """Ask a loaded model; the number of each batch with its answers, in order."""
    numbers = itertools.count()
    for sampling, own in itertools.groupby(batches, key=lambda batch: batch.sampling):
        prompts = (batch.prompts for batch in own)
        if sampling is None:
            for scored in model.score_batches(prompts, progress):
                yield next(numbers), scored
        else:
            for written in model.generate_batches(prompts, sampling, progress):
                yield next(numbers), written
