"""The comparison of draws: what does each perturbation cost each configuration?"""

from kedro.pipeline import Node, Pipeline

from benchwright.pipelines.draw_comparison.compare import collect_draw_metrics, compare_draws


def create_pipeline() -> Pipeline:
    """Accuracy, rank and transitions, original against draws."""
    return Pipeline(
        [
            Node(
                compare_draws,
                ["response_matrix", "draw_matrices", "perturbation_changes", "items"],
                ["draw_scores", "draw_transitions"],
                name="compare_draws",
            ),
            Node(
                collect_draw_metrics,
                ["draw_scores", "perturbation_changes", "single_best_answer_ids"],
                "draw_metrics",
                name="collect_draw_metrics",
            ),
        ]
    )
