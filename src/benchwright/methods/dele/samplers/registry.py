"""Registry of the samplers (DELE, section 3; docs/reference/sampling.md)."""

from collections.abc import Callable, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import get_args

from benchwright.core.errors import InputError
from benchwright.methods.dele.samplers import (
    anchor_points,
    baselines,
    readability,
    response_samplers,
    text_quality,
)
from benchwright.methods.dele.samplers.clustering import (
    DENSE_METHODS,
    TFIDF,
    Method,
    clustering_kind,
)
from benchwright.methods.dele.samplers.pool import Feature, Sampler, SamplerKind, rank_by_feature
from benchwright.params.sampling import AnchorParams, SamplingParams

RANDOM = "random"
"""The baseline sampler, which always runs."""
_TEXTS, _SUBJECTS = frozenset({"texts"}), frozenset({"subjects"})
_RESPONSES = frozenset({"responses"})


def _baseline(sampler: Sampler, reads: frozenset[str], *, nested: bool) -> SamplerKind:
    return SamplerKind("baseline", lambda _: sampler, reads, nested, random=True)


def _answering(
    family: str, make: Callable[[AnchorParams], Sampler], *, nested: bool, random: bool
) -> SamplerKind:
    return SamplerKind(family, lambda params: make(params.anchors), _RESPONSES, nested, random)


# Family, feature, and whether the highest values come first.
_RANKED: Mapping[str, tuple[str, Feature, bool]] = {
    "spelling_errors": ("quality", text_quality.spelling_errors, False),
    "word_length": ("quality", text_quality.average_word_length, True),
    "repeated_words": ("quality", text_quality.repeated_words, False),
    "lexical_diversity": ("quality", text_quality.lexical_diversity, True),
    "difficult_words": ("difficulty", readability.difficult_word_share, True),
    "dale_chall": ("difficulty", readability.dale_chall, True),
    "flesch": ("difficulty", readability.flesch_reading_ease, False),
    "gunning_fog": ("difficulty", readability.gunning_fog, True),
}


def _ranked(name: str) -> SamplerKind:
    family, feature, highest_first = _RANKED[name]
    sampler = rank_by_feature(name, feature, highest_first=highest_first)
    return SamplerKind(family, lambda _: sampler, _TEXTS, nested=True, random=False)


def _compound_probability(params: SamplingParams) -> Sampler:
    return text_quality.compound_probability_sampler(standardise=params.cpd == "standardised")


SAMPLERS: Mapping[str, SamplerKind] = MappingProxyType(
    {
        "random": _baseline(baselines.random_sampler, frozenset(), nested=True),
        "stratified": _baseline(baselines.stratified_sampler, _SUBJECTS, nested=False),
        "balanced": _baseline(baselines.balanced_sampler, _SUBJECTS, nested=True),
        **{name: _ranked(name) for name in ("spelling_errors", "word_length", "repeated_words")},
        "cpd": SamplerKind("quality", _compound_probability, _TEXTS, nested=True, random=False),
        "lexical_diversity": _ranked("lexical_diversity"),
        **{name: _ranked(name) for name, (family, *_) in _RANKED.items() if family == "difficulty"},
        **{f"{method}_{TFIDF}": clustering_kind(method, TFIDF) for method in get_args(Method)},
        "anchor_points": _answering(
            "responses", anchor_points.anchor_points_sampler, nested=False, random=False
        ),
        "irt_clusters": _answering(
            "responses", anchor_points.irt_clusters_sampler, nested=False, random=False
        ),
        "discrimination": _answering(
            "responses", response_samplers.discrimination_sampler, nested=True, random=False
        ),
        "unequal": SamplerKind(
            "responses",
            lambda _: response_samplers.unequal_sampler,
            _RESPONSES,
            nested=False,
            random=True,
        ),
        # Not in the paper, whose difficulty samplers are the reading indices.
        "share_wrong": _answering(
            "difficulty", response_samplers.share_wrong_sampler, nested=True, random=True
        ),
    }
)
"""Samplers that need no encoder, by name."""


def sampler_kinds(params: SamplingParams) -> Mapping[str, SamplerKind]:
    """Return the samplers that `params.samplers` names; `random` is added if it is missing.

    `all` includes the samplers of all encoders.

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

    Raises:
        InputError: a name is unknown.
    """
    made = {name: kind.make(params) for name, kind in sampler_kinds(params).items()}
    if not params.within_subject:
        return made
    return {name: baselines.within_subjects(sampler) for name, sampler in made.items()}
