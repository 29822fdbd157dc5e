"""The inputs of the comparison: pools of items, panels of models, settings."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import pandas as pd

from benchwright.core.array_types import Floats
from benchwright.core.seeding import stage_generator
from benchwright.core.token_counts import rough_tokens
from benchwright.exports.export import CHOSEN_BY_SUBJECT
from benchwright.methods.dele.evidence.panels import CHOSEN_BY, SamplingPanels
from benchwright.methods.dele.samplers.pool import (
    Sampler,
    SamplingPool,
    VectorsByText,
    item_pool,
)
from benchwright.methods.dele.samplers.registry import RANDOM, make_samplers, sampler_kinds
from benchwright.params.sampling import SamplingParams
from benchwright.params.scoring import ModelsParams
from benchwright.similarity.vectors import encode_texts
from benchwright.tables.similarity import TextVectors

_CHOICE_REPEATS = 5  # most draws of a sampler for the choice by each split


def sizes_of_rates(rates: Sequence[float], n: int) -> list[int]:
    """Return the number of items at each rate (percent of n), rounded half up, from 1 to n."""
    sizes = np.floor(np.asarray(rates, dtype=np.float64) / 100 * n + 0.5).astype(np.intp)
    return np.clip(sizes, min(1, n), n).tolist()


class Draws(NamedTuple):
    """Rates (percent of the items), numbers of repeats and seed of samplers."""

    rates: Sequence[float]
    repeats: Mapping[str, int]  # by sampler
    seed: int
    tau: bool = True  # whether tau-b is computed too


@dataclass(frozen=True)
class SamplingStudy:
    """Pools of the n compared items, panels of models, and the settings of the run."""

    panels: SamplingPanels
    # by group of models that choose: selection, weak or all; pools differ only in
    # their responses.
    pools: dict[str, SamplingPool]
    tokens: Floats  # (n,) tokens of each item's question and options
    sampling: SamplingParams
    seed: int

    @property
    def plain(self) -> SamplingPool:
        """The pool for samplers that read no responses."""
        return self.pools["all"]

    def pool_of(self, panel: str) -> SamplingPool:
        """Return the pool with the responses of the models that choose items for a panel."""
        return self.pools[CHOSEN_BY[panel]]

    @property
    def rates(self) -> list[float]:
        """The rates of the curves and of the tests."""
        return sorted({*self.sampling.rates, *self.sampling.evidence.at_rates})

    def generator(self, stage: str) -> np.random.Generator:
        """Return the random generator of a stage of the study."""
        return stage_generator(self.seed, f"sampling/{stage}")

    def samplers(self, *, responses: bool | None = None) -> dict[str, Sampler]:
        """Return the samplers by name: all, those that read responses, or those that do not."""
        samplers = make_samplers(self.sampling)
        if responses is None:
            return dict(samplers)
        kinds = sampler_kinds(self.sampling)
        names = [name for name in samplers if (kinds[name].reads == "responses") == responses]
        return {name: samplers[name] for name in names}

    def draws(self, rates: Sequence[float], *, tau: bool = True, by_splits: bool = False) -> Draws:
        """Return the draws of all samplers, or those for the choice by each split of the models.

        The baseline `random` has more repeats.
        """
        repeats = self.sampling.repeats
        seed = self.seed
        if by_splits:
            repeats = min(repeats, _CHOICE_REPEATS)
            seed = int(self.generator("choice").integers(1 << 62))
        times = dict.fromkeys((*sampler_kinds(self.sampling), CHOSEN_BY_SUBJECT), repeats)
        times[RANDOM] = max(repeats, self.sampling.evidence.random_draws)
        return Draws(rates, times, seed, tau)

    def compared_draws(self, *, by_splits: bool = False) -> Draws:
        """Return the draws at the rates at which samplers are compared."""
        adaptive = self.sampling.adaptive
        rates = [r for r in self.rates if adaptive.lowest_rate <= r <= adaptive.highest_rate]
        return self.draws(rates, tau="tau_b" in adaptive.criteria, by_splits=by_splits)


def encode_pool_texts(
    items: pd.DataFrame,
    panels: SamplingPanels,
    sampling_vector_cache: pd.DataFrame,
    sampling: SamplingParams,
    models: ModelsParams,
) -> tuple[pd.DataFrame, dict[str, VectorsByText]]:
    """Encode the texts that clustering samplers read, with each encoder that one of them uses.

    If there are compared items, only these are encoded. Return the vectors of all encoders as a
    `TextVectors` table, and by encoder and text.
    """
    if panels.item_ids:
        items = items[items["item_id"].isin(panels.item_ids)]
    texts = tuple(items["question"])
    reading = [name for name, kind in sampler_kinds(sampling).items() if kind.reads == "vectors"]
    tables = []
    vectors: dict[str, VectorsByText] = {}
    for encoder in sampling.encoders:
        if any(name.endswith(f"_{encoder}") for name in reading):
            encoded = encode_texts(texts, sampling_vector_cache, encoder, models)
            tables.append(encoded.cache)
            vectors[encoder] = encoded.vectors
    return pd.concat(tables or [TextVectors.empty()], ignore_index=True), vectors


def prepare_study(
    items: pd.DataFrame,
    panels: SamplingPanels,
    pool_vectors: dict[str, VectorsByText],
    sampling: SamplingParams,
    seed: int,
) -> SamplingStudy:
    """Build a pool of the compared items for each group of models that chooses."""
    rows = items.set_index("item_id", drop=False).loc[list(panels.item_ids)]
    rows = rows.reset_index(drop=True)
    plain = item_pool(rows, pool_vectors)
    pools = {}
    for choosers in set(CHOSEN_BY.values()):
        pools[choosers] = replace(plain, correct=panels.responses(choosers))
    texts = zip(rows["question"], rows["choices"], strict=True)
    tokens = [rough_tokens("\n".join([question, *choices])) for question, choices in texts]
    return SamplingStudy(panels, pools, np.array(tokens, dtype=float), sampling, seed=seed)
