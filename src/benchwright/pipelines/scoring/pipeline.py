"""The scoring stage: prompts, models' scores, answers."""

from kedro.pipeline import Node, Pipeline

from benchwright.methods.mmlu_cf.difficulty.response_difficulty import answer_questions
from benchwright.scoring.budget import count_budget
from benchwright.scoring.prompts import build_prompts
from benchwright.scoring.scores import collect_responses, record_responses, score_prompts

_ASKING = ["params:models", "params:scoring"]


def _prompts(perturbed_items: str | None) -> Node:
    sections = ("ingestion", "scoring", "models", "filter_models", "seed")  # in its order
    inputs = {name: f"params:{name}" for name in sections}
    inputs |= {name: name for name in ("items", "demonstrations", "calibration_items")}
    inputs |= {"perturbed_items": perturbed_items} if perturbed_items else {}
    return Node(build_prompts, inputs, "prompts", name="build_prompts")


def create_pipeline(perturbed_items: str | None = None) -> Pipeline:
    """Create a pipeline: items → prompts → scores in the store → live responses.

    It does nothing for imported answers.

    Args:
        perturbed_items: the name of a `PerturbedItems` table that is scored with the items.
    """
    return Pipeline(
        [
            _prompts(perturbed_items),
            Node(
                score_prompts,
                ["prompts", "score_cache", *_ASKING],
                "model_scores",
                name="score_prompts",
            ),
            Node(
                collect_responses,
                ["prompts", "model_scores", *_ASKING],
                ["live_responses", "generations"],
                name="collect_responses",
            ),
        ]
    )


def create_answering_pipeline() -> Pipeline:
    """Create a pipeline: unfinished questions → answers in memory, for their difficulty."""
    asked = ["fielded_items", "judge_store", "params:difficulty", *_ASKING, "closed_seed"]
    return Pipeline([Node(answer_questions, asked, "difficulty_answers", name="answer_questions")])


def create_budget_pipeline() -> Pipeline:
    """Create a pipeline: items → prompts → the cost of scoring, without scoring."""
    asked = ["prompts", "score_cache", *_ASKING]
    count = Node(count_budget, asked, "scoring_budget", name="count_budget")
    return Pipeline([_prompts(None), count])


def create_recording_pipeline() -> Pipeline:
    """Create a pipeline: live responses → a log for later imports."""
    kept = ["live_responses", "items", "calibration_items"]
    return Pipeline([Node(record_responses, kept, "recorded_answers", name="record_responses")])
