"""Samplers that read answers of models, by name."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from benchwright.methods.dele.samplers.anchor_points import (
    anchor_points_sampler,
    irt_clusters_sampler,
)
from benchwright.methods.dele.samplers.discrimination import discrimination_sampler
from benchwright.methods.dele.samplers.kind import SamplerKind
from benchwright.methods.dele.samplers.pool import Sampler
from benchwright.methods.dele.samplers.share_wrong import share_wrong_sampler
from benchwright.params.anchors import AnchorParams


def _kind(
    family: str, make: Callable[[AnchorParams], Sampler], *, nested: bool, random: bool
) -> SamplerKind:
    return SamplerKind(
        family, lambda params: make(params.anchors), frozenset({"answers"}), nested, random
    )


ANSWER_SAMPLERS: Mapping[str, SamplerKind] = MappingProxyType(
    {
        "anchor_points": _kind("responses", anchor_points_sampler, nested=False, random=False),
        "irt_clusters": _kind("responses", irt_clusters_sampler, nested=False, random=False),
        "discrimination": _kind("responses", discrimination_sampler, nested=True, random=False),
        "share_wrong": _kind("difficulty", share_wrong_sampler, nested=True, random=True),
    }
)
"""Those that read answers; `share_wrong` is the difficulty sampling of the paper's Figure 45."""
