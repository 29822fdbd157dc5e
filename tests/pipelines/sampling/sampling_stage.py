"""The sampling stage run on the made-up benchmark, up to its page."""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchwright.methods.dele.evidence.against_random import compare_with_random, draw_random_bands
from benchwright.methods.dele.evidence.choice import choose_by_subject, choose_samplers
from benchwright.methods.dele.evidence.chosen_subset import choose_subset
from benchwright.methods.dele.evidence.curves import (
    trace_chosen,
    trace_curves,
    trace_subjects,
    trace_targets,
)
from benchwright.methods.dele.evidence.estimates import measure_estimates
from benchwright.methods.dele.evidence.judging import judge_samplers
from benchwright.methods.dele.evidence.paper_panel import choose_paper_panel, judge_paper_panel
from benchwright.methods.dele.evidence.score_spread import spread_scores
from benchwright.methods.dele.evidence.summary import summarise_samplers
from benchwright.methods.dele.evidence.texts import describe_clusters, describe_texts
from benchwright.params.benchmark import BenchmarkParams
from benchwright.params.estimation import EstimationParams
from benchwright.params.scoring import ModelsParams
from benchwright.reports.dele.plot_nodes import CURVES
from benchwright.reports.dele.plots.bars import draw_score_spread, draw_winners
from benchwright.reports.dele.plots.clusters import draw_cluster_curves, draw_item_map
from benchwright.reports.dele.plots.curves import (
    draw_chosen_curves,
    draw_curves,
    draw_paper_curves,
    draw_subject_curves,
    draw_target_curves,
)
from benchwright.reports.dele.render import render_sampling_report
from pipelines.sampling.sampling_examples import (
    NO_SCORES,
    make_items,
    make_matrix,
    make_panels,
    make_params,
    make_pools,
)

PARAMS = make_params(
    samplers="random+word_length+kmeans_tfidf+share_wrong",
    clustering={"k": "elbow", "candidates": (2, 3, 4), "map_items": 20},
    repeats=2,
    adaptive={"splits": 1, "lowest_rate": 10, "highest_rate": 50},
    evidence={
        "at_rates": (10.0, 25.0),
        "band_subsets": 20,
        "estimate_subsets": 2,
        "subject_items": 30,
        "paper_step": 2,
        "paper_models": 5,
    },
)
NOTHING = pd.DataFrame({"split": pd.Series(dtype=int), "winner": pd.Series(dtype=str)})
SCORES = pd.DataFrame({"name": [f"m{row:02d}" for row in range(24)], "avg": np.arange(24.0)})
NO_SUBJECTS = pd.DataFrame({"subject": pd.Series(dtype=str), "winner": pd.Series(dtype=str)})
BENCHMARK = BenchmarkParams.model_validate(
    {
        "name": "x",
        "title": "A <b>bold</b> benchmark",
        "licence": "MIT",
        "citation": "c",
        "url": "",
        "sources": {
            "local": {
                "file": "items.jsonl",
                "all_rows": "test",
                "fields": {
                    "question": "q",
                    "choices": {"column": "c"},
                    "gold": {"column": "a", "form": "index"},
                },
            }
        },
        "splits": {"evaluation": ["test"]},
    }
)


def run(answers: NDArray[np.float32], scores: pd.DataFrame = NO_SCORES) -> dict[str, Any]:
    """All results of the stage by name."""
    panels = make_panels(answers, PARAMS, scores)
    pools, items = make_pools(panels, PARAMS), make_items(panels.all_items)
    figures, left_out = judge_samplers(pools, panels, PARAMS, 0)
    curves = trace_curves(figures, draw_random_bands(panels, PARAMS, 0))
    against = compare_with_random(figures, panels, PARAMS, 0)
    summary = summarise_samplers(curves, pools, panels, PARAMS, 0)
    choice, changed = choose_samplers(figures, pools, panels, NOTHING, PARAMS, 0)
    winners, _, luck = choose_by_subject(pools, panels, NO_SUBJECTS, PARAMS, 0)
    spread = spread_scores(pools, panels, PARAMS, 0)
    _, readability, bands = describe_texts(pools)
    sizes, elbows, maps = describe_clusters(pools, PARAMS, 0)
    paper = choose_paper_panel(make_matrix(answers), items, scores, PARAMS)
    paper_curves, paper_summary = judge_paper_panel(items, paper, {}, PARAMS, ModelsParams(), 0)
    targets = trace_targets(pools, panels, PARAMS, 0)
    chosen = trace_chosen(choice, pools, panels, PARAMS, 0)
    return {
        "panels": panels,
        "paper_panel": paper,
        "samplers_left_out": left_out,
        "sampling_against_random": against,
        "sampling_summary": summary,
        "paper_summary": paper_summary,
        "target_curves": targets,
        "sampler_choice": choice,
        "chosen_curves": chosen,
        "subject_winners": winners,
        "subject_luck": luck,
        "changed_winners": changed,
        "estimate_errors": measure_estimates(pools, panels, PARAMS, EstimationParams(), 0),
        "score_spread": spread,
        "readability_examples": readability,
        "readability_bands": bands,
        "cluster_sizes": sizes,
        "chosen_subset": choose_subset(items, pools, {}, choice, PARAMS),
        **dict(zip(CURVES, draw_curves(curves, panels, PARAMS), strict=True)),
        "figure_paper_curves": draw_paper_curves(paper_curves, paper, PARAMS),
        "figure_target_curves": draw_target_curves(targets, PARAMS),
        "figure_chosen_curves": draw_chosen_curves(chosen),
        "figure_subject_curves": draw_subject_curves(
            trace_subjects(pools, panels, PARAMS, 0), PARAMS
        ),
        "figure_sampler_winners": draw_winners(choice, winners),
        "figure_score_spread": draw_score_spread(spread, PARAMS),
        "figure_cluster_curves": draw_cluster_curves(elbows),
        "figure_item_map": draw_item_map(maps),
    }


def page(results: dict[str, Any]) -> str:
    return render_sampling_report(BENCHMARK, "dele", PARAMS, EstimationParams(), 0, **results)
