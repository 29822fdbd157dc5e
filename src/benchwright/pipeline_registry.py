"""The pipelines by name; stages are composed here and import nothing from each other."""

from functools import cache
from types import ModuleType

from kedro.pipeline import Pipeline

from benchwright.pipelines import (
    cleaning,
    collection,
    comparison,
    construction_report,
    contamination_free,
    documents,
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
from benchwright.pipelines.nodes import boxed


def _boxed(stage: ModuleType, pipeline: Pipeline | None = None, name: str = "") -> Pipeline:
    nodes = stage.create_pipeline() if pipeline is None else pipeline
    name = name or stage.__name__.rsplit(".", 1)[-1]
    return Pipeline(boxed(name, [nodes]), tags=name)


@cache
def register_pipelines() -> dict[str, Pipeline]:
    """Return all pipelines by name; a bare `kedro run` runs `smart`."""
    items, scored, exported = _boxed(ingestion), _boxed(scoring), _boxed(exports)
    answers = items + scored + _boxed(responses)
    smart = answers + _boxed(embedding) + _boxed(filtering) + _boxed(evaluation) + exported
    perturbed = items + _boxed(perturbation) + _boxed(exports, exports.create_perturbed_pipeline())
    wicked = perturbed + _boxed(scoring, scoring.create_pipeline(perturbed=True))
    wicked += _boxed(responses, responses.create_pipeline(perturbed=True))
    wicked += _boxed(comparison)
    construction = (
        *(collection, cleaning, fields, judging, contamination_free, splitting),
        construction_report,
    )
    mmlu_cf = sum(map(_boxed, construction), Pipeline([]))
    mmlu_cf += _boxed(scoring, scoring.create_answering_pipeline())
    mmlu_cf += _boxed(judging, judging.create_final_pipeline(), "judging_again")
    mmlu_cf += _boxed(splitting, splitting.create_seed_pipeline(), "closed_seed")
    # Nothing is closed here: what judges say of fields is kept with other replies.
    kept = Pipeline(fields.create_pipeline(), inputs={"judge_store": "answer_store"})
    imported = responses.create_pipeline().to_outputs("response_matrix", "models_table")
    nobody = {"live_responses": sampling.NO_RESPONSES}
    dele = items + _boxed(responses, sampling.create_responses_pipeline())
    dele += _boxed(responses, Pipeline(imported, inputs=nobody)) + _boxed(sampling)
    dele += _boxed(exports, exports.create_subset_pipeline())
    return {
        "__default__": smart,
        "smart": smart,
        "answers": answers,
        "budget": items + _boxed(scoring, scoring.create_budget_pipeline()),
        "dele": dele,
        "documents": _boxed(collection)
        + _boxed(cleaning)
        + _boxed(documents)
        + _boxed(fields, kept),
        "encoders": items + _boxed(encoders),
        "export": exported,
        "export_perturbed": perturbed,
        "half_gap": _boxed(half_gap),
        "judge": items + _boxed(judging, judging.create_benchmark_pipeline()),
        "memorisation": items + scored + _boxed(memorisation),
        "mmlu_cf": mmlu_cf,
        "record": items + scored + _boxed(scoring, scoring.create_recording_pipeline()),
        "sba": items + _boxed(single_best_answer),
        "wicked": wicked,
    }
