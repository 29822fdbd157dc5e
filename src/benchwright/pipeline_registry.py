"""The pipelines by name; stages are composed here and import nothing from each other."""

from kedro.pipeline import Node, Pipeline

from benchwright.pipelines import (
    cleaning,
    collection,
    contamination_free,
    draw_comparison,
    embedding,
    encoders,
    evaluation,
    exports,
    fields,
    filtering,
    ingestion,
    judging,
    perturbation,
    responses,
    scoring,
    single_best_answer,
    splitting,
)
from benchwright.pipelines.evaluation.figures.convergence import draw_encoder_overlap


def _stage(pipeline: Pipeline, name: str) -> Pipeline:
    """One box in kedro-viz and `--namespaces <name>`, with dataset names unchanged."""
    return Pipeline(pipeline, namespace=name, prefix_datasets_with_namespace=False)


def register_pipelines() -> dict[str, Pipeline]:
    """All pipelines: `smart` is what a bare `kedro run` runs."""
    stages = {
        stage.__name__.rsplit(".", 1)[-1]: stage.create_pipeline()
        for stage in (ingestion, embedding, scoring, responses, filtering, evaluation, exports)
    }
    boxed = {name: _stage(pipeline, name) for name, pipeline in stages.items()}
    answers = boxed["ingestion"] + boxed["scoring"] + boxed["responses"]
    smart = answers + boxed["embedding"] + boxed["filtering"] + boxed["evaluation"]
    smart += boxed["exports"]
    record = boxed["ingestion"] + boxed["scoring"]
    record += _stage(scoring.create_recording_pipeline(), "scoring")
    budget = boxed["ingestion"] + _stage(scoring.create_budget_pipeline(), "scoring")
    compared = boxed["ingestion"] + _stage(encoders.create_pipeline(), "encoders")
    drawing = Node(
        draw_encoder_overlap,
        "encoder_overlap",
        "figure_encoder_overlap",
        name="draw_encoder_overlap",
    )
    compared += _stage(Pipeline([drawing]), "evaluation")
    drawn = boxed["ingestion"] + _stage(perturbation.create_pipeline(), "perturbation")
    drawn += _stage(exports.create_draws_pipeline(), "exports")
    wicked = drawn
    wicked += _stage(scoring.create_pipeline(draws="draws"), "scoring")
    wicked += _stage(responses.create_pipeline(draws="draws"), "responses")
    wicked += _stage(draw_comparison.create_pipeline(), "draw_comparison")
    construction = (collection, cleaning, fields, judging, contamination_free, splitting)
    mmlu_cf = Pipeline([])
    for stage in construction:
        mmlu_cf += _stage(stage.create_pipeline(), stage.__name__.rsplit(".", 1)[-1])
    sba = boxed["ingestion"] + _stage(single_best_answer.create_pipeline(), "single_best_answer")
    return {
        "__default__": smart,
        "smart": smart,
        "answers": answers,
        "budget": budget,
        "encoders": compared,
        "export": boxed["exports"],
        "export_draws": drawn,
        "mmlu_cf": mmlu_cf,
        "record": record,
        "sba": sba,
        "wicked": wicked,
    }
