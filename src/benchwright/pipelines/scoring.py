"""Scoring: prompts, and log-likelihoods or answers of models."""

from kedro.pipeline import Node, Pipeline

from benchwright.methods.mmlu_cf.difficulty.response_difficulty import answer_questions
from benchwright.pipelines.nodes import ASKS_MODELS, EXPORT, node
from benchwright.scoring.budget import count_budget
from benchwright.scoring.prompts import build_prompts
from benchwright.scoring.scores import collect_responses, record_responses, score_prompts

_ASKING = ["params:models", "params:scoring"]


def _prompts(*tables: str) -> Node:
    sections = ("ingestion", "scoring", "models", "filter_models", "seed")  # in its order
    inputs = {name: f"params:{name}" for name in sections}
    inputs |= {name: name for name in ("items", "demonstrations", "calibration_items", *tables)}
    return node(build_prompts, inputs, "prompts")


def create_pipeline(*, perturbed: bool = False) -> Pipeline:
    """Create a pipeline: items → prompts → scores in the store → live responses.

    It does nothing for imported answers. With `perturbed`, copies of the items are scored too.
    """
    return Pipeline(
        [
            _prompts("perturbed_items") if perturbed else _prompts(),
            node(score_prompts, ["prompts", "score_cache", *_ASKING], "model_scores", ASKS_MODELS),
            node(
                collect_responses,
                ["prompts", "model_scores", *_ASKING],
                ["live_responses", "generations"],
            ),
        ]
    )


def create_answering_pipeline() -> Pipeline:
    """Create a pipeline: unfinished questions → answers in memory, for their difficulty."""
    asked = ["fielded_items", "judge_store", "params:difficulty", *_ASKING, "closed_seed"]
    return Pipeline([node(answer_questions, asked, "difficulty_answers", ASKS_MODELS)])


def create_budget_pipeline() -> Pipeline:
    """Create a pipeline: items → prompts → the cost of scoring, without scoring."""
    count = node(count_budget, ["prompts", "score_cache", *_ASKING], "scoring_budget")
    return Pipeline([_prompts(), count])


def create_recording_pipeline() -> Pipeline:
    """Create a pipeline: live responses → a log for later imports."""
    kept = ["live_responses", "items", "calibration_items"]
    return Pipeline([node(record_responses, kept, "recorded_answers", EXPORT)])
