"""The splitting stage: final_items and contamination_free_items → a sealed benchmark."""

from kedro.pipeline import Pipeline

from benchwright.pipelines.named_nodes import Function, inputs_by_name, named_nodes
from benchwright.pipelines.splitting.nodes import (
    derive_closed_seed,
    estimate_guesses,
    seal_benchmark,
    split_items_in_halves,
)

_PARAMS = ("splitting", "fields", "models", "scoring", "sealing", "seed", "sampling_by_difficulty")


def create_pipeline() -> Pipeline:
    """Create the pipeline that splits the items in two halves and seals one of them."""
    outputs: dict[Function, str | list[str]] = {
        split_items_in_halves: ["split_assignment", "leak_counts", "half_distances"],
        seal_benchmark: ["sealed_benchmark", "public_split_assignment"],
        estimate_guesses: "closed_guesses",
    }
    return Pipeline(named_nodes(inputs_by_name(outputs, _PARAMS)))


def create_seed_pipeline() -> Pipeline:
    """Create the pipeline that derives the seed of all choices about the closed half."""
    return Pipeline(named_nodes(inputs_by_name({derive_closed_seed: "closed_seed"}, _PARAMS)))
