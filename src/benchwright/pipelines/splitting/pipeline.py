"""The splitting stage: final_items and cf_items → a sealed benchmark."""

from kedro.pipeline import Node, Pipeline

from benchwright.pipelines.splitting.nodes import seal_benchmark, split_items_in_halves


def create_pipeline() -> Pipeline:
    """Two halves, and the folder that may be published."""
    return Pipeline(
        [
            Node(
                split_items_in_halves,
                [
                    "final_items",
                    "item_difficulty",
                    "judge_store",
                    "params:splitting",
                    "params:fields",
                    "params:models",
                    "params:scoring",
                    "params:seed",
                ],
                ["split_assignment", "leak_pairs", "half_distances"],
                name="split_items_in_halves",
            ),
            Node(
                seal_benchmark,
                [
                    "cf_items",
                    "split_assignment",
                    "leak_pairs",
                    "earlier_closed_ids",
                    "params:sealing",
                ],
                ["sealed_benchmark", "keyed_split_assignment", "keyed_leak_pairs"],
                name="seal_benchmark",
            ),
        ]
    )
