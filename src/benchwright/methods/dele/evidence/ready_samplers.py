"""The samplers of a run, made once in a process so that what they fit to a pool is fitted once."""

from collections.abc import Mapping
from functools import lru_cache

from benchwright.core.errors import InputError
from benchwright.methods.dele.samplers.kind import SamplerKind
from benchwright.methods.dele.samplers.pool import Sampler, SamplingPool
from benchwright.methods.dele.samplers.registry import make_samplers, sampler_kinds
from benchwright.params.sampling import SamplingParams

RANDOM = "random"
"""What every other sampler is compared with; it always runs."""


def kinds_of(sampling: SamplingParams) -> Mapping[str, SamplerKind]:
    """What the registry says of the run's samplers, `random` among them."""
    return sampler_kinds(_with_random(sampling))


def ready_samplers(sampling: SamplingParams) -> dict[str, Sampler]:
    """The run's samplers by name, `random` among them."""
    # Repeats and the like make no other samplers.
    plain = {name: field.default for name, field in type(sampling).model_fields.items()}
    others = ("rates", "repeats", "adaptive", "evidence", "export", "published_scores", "tokenizer")
    same = {name: plain[name] for name in others}
    return dict(_made(_with_random(sampling).model_copy(update=same)))


def repeats_by_name(sampling: SamplingParams) -> dict[str, int]:
    """Draws of each sampler; `random`, from whose mean gains are counted, has more than others."""
    wanted = dict.fromkeys(kinds_of(sampling), sampling.repeats)
    return wanted | {RANDOM: max(sampling.repeats, sampling.evidence.random_draws)}


def reads_answers(sampling: SamplingParams, *, answers: bool) -> dict[str, Sampler]:
    """The run's samplers that read answers, or those that do not."""
    kinds = kinds_of(sampling)
    return {
        name: sampler
        for name, sampler in ready_samplers(sampling).items()
        if ("answers" in kinds[name].reads) == answers
    }


def runs_on(
    samplers: Mapping[str, Sampler], pool: SamplingPool
) -> tuple[dict[str, Sampler], dict[str, str]]:
    """The samplers that can draw from a pool, and why the others cannot, in words."""
    able, unable = {}, {}
    for name, sampler in samplers.items():
        try:
            sampler(pool, 0)(1)
            able[name] = sampler
        except InputError as error:
            unable[name] = str(error)
    return able, unable


def _with_random(sampling: SamplingParams) -> SamplingParams:
    if RANDOM in sampling.samplers or sampling.samplers == ("all",):
        return sampling
    return sampling.model_copy(update={"samplers": (RANDOM, *sampling.samplers)})


@lru_cache(maxsize=2)
def _made(sampling: SamplingParams) -> dict[str, Sampler]:
    return make_samplers(sampling)
