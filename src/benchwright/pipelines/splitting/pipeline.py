"""The splitting stage: final_items and cf_items → a sealed benchmark."""

from kedro.pipeline import Pipeline

from benchwright.pipelines.named_nodes import NodeParts, named_nodes
from benchwright.pipelines.splitting.nodes import seal_benchmark, split_items_in_halves

_PARAMS = [f"params:{name}" for name in ("splitting", "fields", "models", "scoring", "seed")]
_NODES: tuple[NodeParts, ...] = (
    (
        split_items_in_halves,
        ["final_items", "item_difficulty", "judge_store", *_PARAMS],
        ["split_assignment", "leak_pairs", "half_distances"],
    ),
    (
        seal_benchmark,
        ["cf_items", "split_assignment", "leak_pairs", "earlier_closed_ids", "params:sealing"],
        ["sealed_benchmark", "keyed_split_assignment", "keyed_leak_pairs"],
    ),
)


def create_pipeline() -> Pipeline:
    """Create the pipeline that splits the items in two halves and seals one of them."""
    return Pipeline(named_nodes(_NODES))
