"""The Python API: tables in, tables out, by the nodes of the pipelines."""

import warnings
from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import pandas as pd
from kedro.pipeline import Pipeline
from numpy.typing import ArrayLike

from benchwright.answers.loaded_file import LoadedFile
from benchwright.answers.read_answers import answers_of_files, nameless_items
from benchwright.answers.table import Answers
from benchwright.api.arguments import (
    as_table,
    check_predictions,
    read_embeddings,
    read_items,
    read_others,
    response_file,
    warn_of_lost_rows,
)
from benchwright.api.in_memory import Params, compute, settings_of
from benchwright.api.results import Estimates, Evidence, Filtered, Perturbed, Sampled
from benchwright.core.errors import InputError
from benchwright.core.printable import format_value
from benchwright.core.stored_shards import MemoryShards
from benchwright.evidence.panel import headline_group, panel_warnings
from benchwright.exports.export import drawn_from, sampler_of, subset_manifest
from benchwright.exports.subset_manifest import read_subset
from benchwright.methods.dele.estimation.estimated_scores import AUTO, estimate_scores
from benchwright.methods.dele.ready_made import estimate_ready_made, find_ready_made
from benchwright.pipelines import embedding, evaluation, filtering, perturbation
from benchwright.pipelines import responses as responses_stage
from benchwright.pipelines import sampling as sampling_stage
from benchwright.reports.smart.summary import describe_evidence
from benchwright.tables.evidence import ItemParameters
from benchwright.tables.responses import Responses
from benchwright.tables.similarity import Embeddings, TextVectors
from benchwright.verdicts.options import check_options

_FILTERED = {
    "kept": "kept_items",
    "removed": "removed_items",
    "audit": "item_audit",
    "rules": "rule_coverage",
    "verdicts": "verdicts",
    "groups": "groups",
    "embeddings": "embeddings",
}
"""Fields of `Filtered`, and their datasets."""
_EVIDENCE = ("rank_agreement", "random_comparison", "scores")
_GIVEN = "given"  # the encoder of vectors that are given


def smart(
    items: pd.DataFrame,
    responses: pd.DataFrame | None = None,
    *,
    variant: str = "smart",
    benchmark: str | None = None,
    filter_models: Sequence[str] | str | None = None,
    embeddings: pd.DataFrame | ArrayLike | None = None,
    calibration_items: pd.DataFrame | None = None,
    params: Params = None,
) -> Filtered:
    """Filter a benchmark as the pipeline `smart` does, by responses that exist.

    A rule whose inputs are missing does not run; `.rules` says why.

    Args:
        items: a row per item: `question`, `choices` (list), `answer` (letter, text or position),
            and optionally `item_id`, `subject` and other columns of `Items`.
        responses: a row per item and model (`item_id`, `model`, `correct` or `prediction` or
            `logprobs`, optionally `p_answer`, `condition`, …), or items × models with values 0–1.
        variant: settings in conf/, e.g. `no_similar`.
        benchmark: a configured benchmark whose settings apply too (filter models, overrides).
        filter_models: the models that decide, `all`, or a rule (`forward`, `strongest`). Default:
            that of the variant, in `smart` seven of the weaker half, of different families.
        embeddings: vectors (n, d) in the order of `items`, or the `.embeddings` of another call.
            Default: the variant's encoder computes them.
        calibration_items: items whose responses fit the temperature of log-likelihoods.
        params: other settings by the keys of `--params`, e.g. `{"filtering.easy.confidence": 0.9}`.

    Raises:
        InputError: a table, a name or a setting is invalid.
    """
    read = read_items(items)
    settings = settings_of(variant, benchmark, params)
    if filter_models is not None:
        settings["filter_models"] = filter_models
    given = _stage_inputs(response_file(responses), read, calibration_items)
    if embeddings is not None:
        given["embeddings"] = read_embeddings(embeddings, items, read)
    wanted = (*_FILTERED.values(), "chosen_filter_models", "panel", "judged_subset", *_EVIDENCE)
    known = _computed(_SMART, given, settings, *wanted)
    models = tuple(known["chosen_filter_models"])
    tables = {field: known[name] for field, name in _FILTERED.items()}
    return Filtered(**tables, filter_models=models, evidence=_evidence(known))


def judge_subset(
    kept: pd.DataFrame | Sequence[str],
    responses: pd.DataFrame,
    *,
    items: pd.DataFrame | None = None,
    chosen_by: Sequence[str] | None = None,
    params: Params = None,
) -> Evidence:
    """Compare the ranking of models on some items with the ranking on all items.

    A high rank agreement is not enough, since random subsets reach it too: the percentile among
    random subsets of the same size is the evidence.

    Args:
        kept: the items of the subset, or their ids.
        responses: as for `smart`, to all items.
        items: the items, if known: their subjects and shared passages make intervals honest.
        chosen_by: models that had a part in choosing the subset, () if none had. They and their
            relatives are not held out; with None no model is.
        params: as for `smart`, e.g. `{"evaluation.random_subsets": 5000}`.

    Raises:
        InputError: a table is invalid, or `kept` has an id that is not among the items.
    """
    given = _inputs_of_responses(items, responses)
    read = given["items"]
    ids = set(map(str, kept["item_id"] if isinstance(kept, pd.DataFrame) else kept))
    unknown = sorted(ids.difference(read["item_id"]))
    if unknown:
        raise InputError(f"kept: {unknown[0]!r} is not among the {len(read):,} items")
    settings = settings_of("smart", None, params)
    given["kept_items"] = read[read["item_id"].isin(ids)]
    given["item_parameters"] = ItemParameters.empty()  # no comparison with IRE
    settings["filter_models"] = "all" if chosen_by is None else list(chosen_by)
    if not settings["filter_models"]:
        given["chosen_filter_models"] = []
    return _evidence(_computed(_SMART, given, settings, "panel", "judged_subset", *_EVIDENCE))


def suspect_items(
    items: pd.DataFrame | None, responses: pd.DataFrame, *, params: Params = None
) -> pd.DataFrame:
    """Rank items by how likely their label is wrong, as a `SuspectItems` table.

    Args:
        items: as for `smart`; with None those of `responses`, whose options are unknown.
        responses: as for `smart`.
        params: as for `smart`, e.g. `{"models.families": {"my-*": "mine"}}`.

    Raises:
        InputError: a table is invalid.
    """
    given = _inputs_of_responses(items, responses)
    settings = settings_of("smart", None, params)
    return pd.DataFrame(_computed(_SMART, given, settings, "suspect_items")["suspect_items"])


def perturb(
    items: pd.DataFrame,
    *,
    variant: str = "wicked",
    demonstrations: pd.DataFrame | None = None,
    single_best_answers: pd.DataFrame | None = None,
    benchmark: str | None = None,
    params: Params = None,
) -> Perturbed:
    """Make perturbed copies of a benchmark as the pipeline `wicked` does.

    The transform `rephrase` asks the chat model of its settings; the others ask nothing.

    Args:
        items: as for `smart`.
        variant: settings in conf/.
        demonstrations: examples for prompts, perturbed likewise; columns as `items`.
        single_best_answers: labels, with columns `item_id` and `sba` (1: a single best answer, so
            no option may be removed; 0: not).
        benchmark: a configured benchmark whose settings apply too.
        params: as for `smart`, e.g. `{"perturbation.copies": 1}`.

    Raises:
        InputError: a table, a name or a setting is invalid.
    """
    labels = single_best_answers
    given: dict[str, Any] = {
        "items": read_items(items),
        "demonstrations": read_others(demonstrations, "demonstrations"),
        "single_best_answer_labels": pd.DataFrame(labels),
        "sba_classifier": None,
        "answer_store": MemoryShards(),
    }
    tables = ("perturbed_items", "perturbation_changes")
    known = compute(
        perturbation.create_pipeline(), given, settings_of(variant, benchmark, params), *tables
    )
    return Perturbed(*(known[name] for name in tables))


def sample(
    items: pd.DataFrame,
    responses: pd.DataFrame | None = None,
    *,
    sampler: str = "random",
    size: int | float = 0.1,
    seed: int = 0,
    embeddings: ArrayLike | None = None,
    benchmark: str | None = None,
    params: Params = None,
) -> Sampled:
    """Choose some of the items by a sampler, as the pipeline `dele` exports them.

    If responses are given, the items are chosen among those that all models answered.

    Args:
        items: as for `smart`.
        responses: as for `smart`; samplers such as `irt_clusters` need them.
        sampler: a name in docs/reference/sampling.md, `chosen` for the one that the comparison of
            all samplers finds best, or `chosen_by_subject` for the best ones by subject (slow).
        size: number of items, or a share of them below 1.
        seed: of the draw.
        embeddings: vectors (n, d) in the order of `items`, for the samplers `kmeans_given`,
            `spectral_given` and `dbscan_given`.
        benchmark: a configured benchmark whose settings apply too.
        params: as for `smart`, e.g. `{"sampling.within_subject": True}`.

    Raises:
        InputError: a table, a name or a setting is invalid, or the sampler lacks its inputs.
    """
    read = read_items(items)
    amount = {"rate": 100 * size} if isinstance(size, float) else {"size": size}
    export = {"sampler": sampler, "seed": seed, **amount}
    chosen: dict[str, Any] = {f"sampling.export.{name}": value for name, value in export.items()}
    given = _stage_inputs(response_file(responses), read, None)
    given["sampling_vector_cache"] = TextVectors.empty()
    choices = {"chosen": "sampler_choice", "chosen_by_subject": "subject_winners"}
    for name, table in choices.items():
        if sampler != name:
            given[table] = pd.DataFrame()  # unread
    if sampler not in choices:
        chosen["sampling.samplers"] = (sampler,)  # so that only texts that it reads are encoded
    if embeddings is not None:
        chosen["sampling.encoders"] = (_GIVEN,)
        vectors = read_embeddings(embeddings, items, read)["vector"]
    settings = settings_of("dele", benchmark, {**(params or {}), **chosen})
    if embeddings is not None:
        given["pool_vectors"] = {_GIVEN: dict(zip(read["question"], vectors, strict=True))}
    wanted = ("chosen_subset", "chosen_subset_facts", "sampler_choice")
    known = _computed((responses_stage, sampling_stage), given, settings, *wanted)
    subset = known["chosen_subset"]
    drawn_by = sampler_of(known["params:sampling"], known["sampler_choice"])
    weights = subset["weight"].to_numpy()
    kept = read.iloc[subset["position"]].assign(weight=weights).reset_index(drop=True)
    pool = drawn_from(read, known["chosen_subset_facts"])
    if len(pool) < len(read):
        lost = f"drawn from {len(pool):,} of {len(read):,} items, which all models answered"
        warnings.warn(lost, stacklevel=2)
    manifest = subset_manifest(
        pool, subset, sampler=drawn_by, seed=seed, benchmark=benchmark or "items"
    )
    return Sampled(kept, manifest)


def estimate(
    subset: Sampled | str | Path,
    responses: pd.DataFrame,
    training: pd.DataFrame | None = None,
    *,
    estimator: str = AUTO,
    level: float = 0.95,
    seed: int = 0,
) -> Estimates:
    """Estimate scores on all items from responses to some, as `benchwright estimate` does.

    Args:
        subset: the result of `sample`, an exported folder or its manifest, or e.g. `mmlu-300`.
        responses: responses of new models to the subset: `item_id`, `model` and `correct` or
            `score`, or items × models with values 0–1.
        training: responses of other models to all items. Without them, only subsets drawn at
            random have estimates.
        estimator: a name in docs/explanation/estimation.md, or `auto`.
        level: confidence level of the intervals, between 0 and 1.
        seed: assigns training models to folds.

    Raises:
        InputError: a table or the level is invalid, or the estimator lacks training models.
    """
    check_options(level=level)
    new = _known_responses(responses, "responses")
    given: Any = subset
    if not isinstance(given, Sampled | str | PathLike):
        got = format_value(given)
        raise InputError(f"subset: expected a result of `sample`, a path or a name, got {got}")
    ready = None if isinstance(subset, Sampled) else find_ready_made(Path(subset))
    if ready is None:
        chosen = subset.manifest if isinstance(subset, Sampled) else read_subset(Path(subset))
        known = None if training is None else _known_responses(training, "training")
        made = estimate_scores(chosen, new, known, estimator, level, seed)
    elif training is not None or estimator != AUTO:
        raise InputError(f"{subset} predicts by itself: leave out training and estimator")
    else:
        made = estimate_ready_made(*ready, new, level)
    return Estimates(pd.DataFrame(made.models), made.estimator, made.notes)


def _known_responses(responses: pd.DataFrame, name: str) -> Answers:
    return answers_of_files([response_file(responses, name)], [name])[0]


_SMART = (responses_stage, embedding, filtering, evaluation)


def _computed(
    stages: Sequence[Any], given: Mapping[str, Any], settings: Mapping[str, Any], *wanted: str
) -> dict[str, Any]:
    """Compute datasets of these stages; warn of responses that are left out."""
    pipeline = sum((stage.create_pipeline() for stage in stages), Pipeline([]))
    known = compute(pipeline, given, settings, *wanted, "import_report")
    warn_of_lost_rows(known["import_report"], stacklevel=4)
    return known


def _inputs_of_responses(items: pd.DataFrame | None, responses: pd.DataFrame) -> dict[str, Any]:
    files = response_file(as_table(responses, "responses"))
    return _stage_inputs(files, nameless_items(files) if items is None else read_items(items), None)


def _stage_inputs(
    files: Mapping[str, LoadedFile], items: pd.DataFrame, calibration_items: pd.DataFrame | None
) -> dict[str, Any]:
    """Return the inputs of the stage `responses` and of evaluation, without models to ask."""
    for file in files.values():
        check_predictions(file, items)
    return {
        "items": items,
        "response_files": dict(files),
        "calibration_items": read_others(calibration_items, "calibration_items"),
        "live_responses": Responses.empty(),
        "embedding_cache": Embeddings.empty(),
        "user_ratings": pd.DataFrame(),
    }


def _evidence(known: Mapping[str, Any]) -> Evidence:
    panel = known["panel"]
    tables = {name: known[name] for name in _EVIDENCE}
    notes = panel_warnings(panel, known["params:evaluation"].min_coverage)
    compared = describe_evidence(tables["rank_agreement"], tables["random_comparison"], panel)
    if compared:
        notes = [compared, *notes]
    return Evidence(
        **tables,
        verdict=known["judged_subset"],
        models=headline_group(panel),
        notes=tuple(notes),
    )
