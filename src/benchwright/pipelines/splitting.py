"""Two halves with equal fields and difficulty, without leaks (MMLU-CF, sections 3.2 and 4.5)."""

from kedro.pipeline import Pipeline

from benchwright.methods.mmlu_cf.splitting.halves import (
    derive_closed_seed,
    seal_benchmark,
    split_items_in_halves,
)
from benchwright.pipelines.nodes import ASKS_MODELS, EXPORT, node

_NODES = [
    node(
        split_items_in_halves,
        [
            "final_items",
            "item_difficulty",
            "judge_store",
            "params:splitting",
            "params:fields",
            "params:models",
            "params:scoring",
            "closed_seed",
        ],
        ["split_assignment", "leak_counts", "half_distances"],
        ASKS_MODELS,
    ),
    node(
        seal_benchmark,
        ["contamination_free_items", "split_assignment", "earlier_closed_ids", "params:sealing"],
        ["sealed_benchmark", "public_split_assignment"],
        EXPORT,
    ),
]


def create_pipeline() -> Pipeline:
    """Create the pipeline that splits the items in two halves and seals one of them."""
    return Pipeline(_NODES)


def create_seed_pipeline() -> Pipeline:
    """Create the pipeline that derives the seed of all choices about the closed half."""
    seed = node(derive_closed_seed, ["params:sealing", "params:seed"], "closed_seed")
    return Pipeline([seed])
