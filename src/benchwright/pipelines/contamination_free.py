"""Rewording, shuffling, replacing options in the checked questions (MMLU-CF, 3.2, step 5)."""

from kedro.pipeline import Pipeline

from benchwright.methods.mmlu_cf.applied_rules import apply_rules
from benchwright.pipelines.nodes import ASKS_MODELS, node


def create_pipeline() -> Pipeline:
    """Create the pipeline that rewrites the questions; they stay in memory."""
    inputs = ["final_items", "judge_store", "params:perturbation", "params:models"]
    inputs += ["params:scoring", "closed_seed"]
    return Pipeline(
        [node(apply_rules, inputs, ["contamination_free_items", "rule_counts"], ASKS_MODELS)]
    )
