"""The stage of rules: final_items → cf_items."""

from kedro.pipeline import Node, Pipeline

from benchwright.pipelines.contamination_free.nodes import apply_rules


def create_pipeline() -> Pipeline:
    """The questions as they will be in the benchmark; they stay in memory."""
    return Pipeline(
        [
            Node(
                apply_rules,
                [
                    "final_items",
                    "judge_store",
                    "params:perturbation",
                    "params:models",
                    "params:scoring",
                    "params:seed",
                ],
                ["cf_items", "rule_counts"],
                name="apply_rules",
            )
        ]
    )
