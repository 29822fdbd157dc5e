"""What quality and difficulty samplers read of each item, in one table."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

import pandas as pd

from benchwright.methods.dele.samplers.compound_probability import (
    compound_probability,
    periods,
    vowel_consonant_ratio,
    wordform,
)
from benchwright.methods.dele.samplers.lexical_diversity import lexical_diversity
from benchwright.methods.dele.samplers.pool import SamplingPool
from benchwright.methods.dele.samplers.readability import (
    dale_chall,
    difficult_word_share,
    flesch_reading_ease,
    gunning_fog,
)
from benchwright.methods.dele.samplers.repeated_words import repeated_words
from benchwright.methods.dele.samplers.spelling import spelling_errors
from benchwright.methods.dele.samplers.word_length import average_word_length
from benchwright.tables.dele import ItemFeatures

FEATURES: Mapping[str, Callable[[str], float]] = MappingProxyType(
    {
        "spelling_errors": spelling_errors,
        "word_length": average_word_length,
        "repeated_words": repeated_words,
        "wordform": wordform,
        "vowel_consonant_ratio": vowel_consonant_ratio,
        "periods": periods,
        "cpd": compound_probability,
        "lexical_diversity": lexical_diversity,
        "difficult_words": difficult_word_share,
        "dale_chall": dale_chall,
        "flesch": flesch_reading_ease,
        "gunning_fog": gunning_fog,
    }
)
"""Features by name, each a figure of one text, NaN where the text does not have it."""


def item_features(pool: SamplingPool) -> pd.DataFrame:
    """Every feature of every item, in the pool's order: an `ItemFeatures` table.

    `cpd` is as printed; standardised over items it is no feature of one text.
    """
    columns = {name: [feature(text) for text in pool.texts] for name, feature in FEATURES.items()}
    frame = pd.DataFrame({"item_id": pool.item_ids, "subject": pool.subjects, **columns})
    return pd.DataFrame(ItemFeatures.validate(frame))
