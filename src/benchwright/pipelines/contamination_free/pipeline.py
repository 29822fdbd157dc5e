"""The stage of contamination-free rules: final_items to contamination_free_items."""

from kedro.pipeline import Node, Pipeline

from benchwright.pipelines.contamination_free.nodes import apply_rules


def create_pipeline() -> Pipeline:
    """Create the pipeline that rewrites the questions; they stay in memory."""
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
                    "closed_seed",
                ],
                ["contamination_free_items", "rule_counts"],
                name="apply_rules",
            )
        ]
    )
