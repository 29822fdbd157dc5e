"""What the registry says of a sampler."""

from collections.abc import Callable
from typing import NamedTuple

from benchwright.methods.dele.samplers.pool import Sampler
from benchwright.params.sampling import SamplingParams


class SamplerKind(NamedTuple):
    """A sampler by its name in the registry.

    Attributes:
        family: "baseline", "clustering", "quality", "difficulty" or "responses".
        make: the sampler with a run's settings.
        reads: what it takes from the pool besides ids: texts, subjects, vectors, answers.
        nested: whether a smaller subset of one draw is a prefix of a larger one.
        random: whether repeats differ by more than how ties are broken.
    """

    family: str
    make: Callable[[SamplingParams], Sampler]
    reads: frozenset[str]
    nested: bool
    random: bool
