"""Registry of the samplers (DELE, section 3; docs/reference/sampling.md)."""

from collections.abc import Mapping
from functools import lru_cache
from typing import get_args

from benchwright.core.errors import InputError
from benchwright.methods.dele.samplers import baselines, readability, text_quality
from benchwright.methods.dele.samplers.anchor_points import irt_clusters_sampler
from benchwright.methods.dele.samplers.clustering import (
    DENSE_METHODS,
    TFIDF,
    Method,
    clustering_kind,
)
from benchwright.methods.dele.samplers.pool import Feature, Sampler, SamplerKind, rank_by_feature
from benchwright.methods.dele.samplers.response_samplers import (
    pass_rate_sampler,
    share_wrong_sampler,
    unequal_sampler,
)
from benchwright.params.sampling import SamplingParams

RANDOM = "random"
"""The baseline sampler, which always runs."""


def _kind(family: str, sampler: Sampler, reads: str) -> SamplerKind:
    return SamplerKind(family, lambda _: sampler, reads)


RANKED: Mapping[str, tuple[str, Feature, bool]] = {
    "spelling_errors": ("quality", text_quality.spelling_errors, False),
    "cpd": ("quality", text_quality.compound_probability, True),
    "word_length": ("quality", text_quality.average_word_length, True),
    "repeated_words": ("quality", text_quality.repeated_words, False),
    "lexical_diversity": ("quality", text_quality.lexical_diversity, True),
    "difficult_words": ("difficulty", readability.difficult_word_share, True),
    "dale_chall": ("difficulty", readability.dale_chall, True),
    "flesch": ("difficulty", readability.flesch_reading_ease, False),
    "gunning_fog": ("difficulty", readability.gunning_fog, True),
}
"""Samplers by a feature of the texts: family, feature, whether the highest values come first."""


SAMPLERS: Mapping[str, SamplerKind] = {
    "random": _kind("baseline", baselines.random_sampler, ""),
    "stratified": _kind("baseline", baselines.stratified_sampler, "subjects"),
    "balanced": _kind("baseline", baselines.balanced_sampler, "subjects"),
    **{
        name: _kind(family, rank_by_feature(name, feature, highest_first=first), "texts")
        for name, (family, feature, first) in RANKED.items()
    },
    **{f"{method}_{TFIDF}": clustering_kind(method, TFIDF) for method in get_args(Method)},
    "irt_clusters": _kind("responses", irt_clusters_sampler, "responses"),
    # The next three are not in the paper, whose difficulty samplers are the reading indices.
    "pass_rate": _kind("difficulty", pass_rate_sampler, "responses"),
    "unequal": _kind("responses", unequal_sampler, "responses"),
    "share_wrong": _kind("difficulty", share_wrong_sampler, "responses"),
}
"""Samplers that need no encoder, by name."""


def sampler_kinds(params: SamplingParams) -> Mapping[str, SamplerKind]:
    """Return the samplers that `params.samplers` names, and `random`; `all` means all of them.

    Raises:
        InputError: a name is unknown.
    """
    known = dict(SAMPLERS)
    for encoder in params.encoders:
        known |= {f"{name}_{encoder}": clustering_kind(name, encoder) for name in DENSE_METHODS}
    if params.samplers == ("all",):
        return known
    for name in params.samplers:
        if name not in known:
            raise InputError(
                f"sampling.samplers: unknown sampler {name!r}; available: {', '.join(known)}"
            )
    names = params.samplers if RANDOM in params.samplers else (RANDOM, *params.samplers)
    return {name: known[name] for name in names}


@lru_cache(maxsize=2)
def make_samplers(params: SamplingParams) -> Mapping[str, Sampler]:
    """Return the samplers of `sampler_kinds`, within subjects if `params.within_subject` is set.

    Fits that samplers make once per pool are cached as long as `params` stay the same.
    """
    made = {name: kind.make(params) for name, kind in sampler_kinds(params).items()}
    if not params.within_subject:
        return made
    return {name: baselines.within_subjects(sampler) for name, sampler in made.items()}
