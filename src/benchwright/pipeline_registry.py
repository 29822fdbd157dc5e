"""The pipelines by name; stages are composed here and import nothing from each other."""

from kedro.pipeline import Node, Pipeline

from benchwright.pipelines import (
    cleaning,
    collection,
    construction_report,
    contamination_free,
    documents,
    draw_comparison,
    embedding,
    encoders,
    evaluation,
    exports,
    fields,
    filtering,
    half_gap,
    ingestion,
    judging,
    memorisation,
    perturbation,
    responses,
    sampling,
    scoring,
    single_best_answer,
    splitting,
)
from benchwright.reports.smart.plots.convergence import draw_encoder_overlap


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
    construction = (
        *(collection, cleaning, fields, judging, contamination_free, splitting),
        construction_report,
    )
    mmlu_cf = Pipeline([])
    for stage in construction:
        mmlu_cf += _stage(stage.create_pipeline(), stage.__name__.rsplit(".", 1)[-1])
    mmlu_cf += _stage(scoring.create_answering_pipeline(), "scoring")
    mmlu_cf += _stage(judging.create_final_pipeline(), "judging_again")
    opened = Pipeline([])
    for stage in (collection, cleaning, documents):
        opened += _stage(stage.create_pipeline(), stage.__name__.rsplit(".", 1)[-1])
    # Nothing is closed here: what judges say of fields is kept with other replies.
    kept = Pipeline(fields.create_pipeline(), inputs={"judge_store": "answer_store"})
    opened += _stage(kept, "fields")
    remembered = boxed["ingestion"] + boxed["scoring"]
    remembered += _stage(memorisation.create_pipeline(), "memorisation")
    dele = boxed["ingestion"] + _stage(sampling.create_answers_pipeline(), "responses")
    imported = responses.create_pipeline().to_outputs("response_matrix", "models_table")
    nobody = {"live_responses": sampling.NO_ANSWERS}
    dele += _stage(Pipeline(imported, inputs=nobody), "responses")
    dele += _stage(sampling.create_pipeline(), "sampling")
    dele += _stage(exports.create_subset_pipeline(), "exports")
    sba = boxed["ingestion"] + _stage(single_best_answer.create_pipeline(), "single_best_answer")
    return {
        "__default__": smart,
        "smart": smart,
        "answers": answers,
        "budget": budget,
        "dele": dele,
        "documents": opened,
        "encoders": compared,
        "export": boxed["exports"],
        "export_draws": drawn,
        "half_gap": _stage(half_gap.create_pipeline(), "half_gap"),
        "memorisation": remembered,
        "mmlu_cf": mmlu_cf,
        "record": record,
        "sba": sba,
        "wicked": wicked,
    }
