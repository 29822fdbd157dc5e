"""The subset that is handed on: to exports, and to whoever asks models."""

import pandas as pd

from benchwright.core.errors import InputError
from benchwright.methods.dele.evidence.choice import EVERYONE
from benchwright.methods.dele.evidence.judging import RANDOM
from benchwright.methods.dele.evidence.pools import Pools
from benchwright.methods.dele.samplers.curves import sizes_of_rates
from benchwright.methods.dele.samplers.pool import VectorsByText, feature_texts, item_pool
from benchwright.methods.dele.samplers.registry import make_samplers
from benchwright.params.sampling import SamplingParams
from benchwright.tables.dele import ChosenSubset

CHOSEN = "chosen"


def export_sampler(sampling: SamplingParams, sampler_choice: pd.DataFrame) -> str:
    """The name of the sampler that makes the subset; `random` where none could be chosen."""
    if sampling.export.sampler != CHOSEN:
        return sampling.export.sampler
    winner = sampler_choice.loc[sampler_choice["split"] == EVERYONE, "winner"]
    return str(winner.iloc[0]) if len(winner) and winner.iloc[0] else RANDOM


def choose_subset(
    items: pd.DataFrame,
    pools: Pools,
    pool_vectors: dict[str, VectorsByText],
    sampler_choice: pd.DataFrame,
    sampling: SamplingParams,
) -> pd.DataFrame:
    """Draw the subset from the judged items, by all models' answers where the sampler reads any.

    Where no model answered enough, from all items.

    Returns:
        A `ChosenSubset` table in the order of choice; its weights sum to 1.

    Raises:
        InputError: there is no such sampler, it lacks what it reads, or there are fewer items
            than asked for.
    """
    export = sampling.export
    pool = pools.plain
    if not len(pool):
        encoded = {
            name: found
            for name, found in pool_vectors.items()
            if all(text in found for text in feature_texts(items, sampling.feature_text))
        }
        pool = item_pool(items, sampling.feature_text, encoded)
    size = export.size or int(sizes_of_rates([export.rate], len(pool))[0])
    if size > len(pool):
        raise InputError(
            f"sampling.export.size is {size:,}; there are {len(pool):,} items to choose from"
        )
    name = export_sampler(sampling, sampler_choice)
    only = sampling.model_copy(update={"samplers": (name,)})
    subset = make_samplers(only)[name](pool, export.seed)(size)
    place = {str(item): row for row, item in enumerate(items["item_id"])}
    ids = [pool.item_ids[position] for position in subset.positions]
    return ChosenSubset.from_rows(
        [
            (item, place[item], float(weight))
            for item, weight in zip(ids, subset.weights, strict=True)
        ]
    )
