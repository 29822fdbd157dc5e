"""The page that lies beside exported draws: how to run, compare and import them."""

from collections.abc import Sequence

from benchwright.datasets.harness_tasks import MANIFEST, HarnessFamily
from benchwright.exports.instructions import (
    HARNESS,
    OPTIONS,
    command,
    max_shots,
    source,
    table_of,
)
from benchwright.params.benchmark import BenchmarkParams


def draw_instructions(
    benchmark: BenchmarkParams,
    originals: Sequence[HarnessFamily],
    draws: Sequence[HarnessFamily],
    groups: Sequence[HarnessFamily],
    variant: str,
    limit: int | None,
    seed: int,
) -> str:
    """Markdown: what is in the folder, the commands, and what the scores say.

    Args:
        benchmark: whose questions they are.
        originals: the questions as they were, a family per style.
        draws: a family per draw and style.
        groups: one over the draws of a perturbation, per style.
        variant: of the run.
        limit: of the run.
        seed: of the run.
    """
    example = _example(originals, groups)
    run = {"benchmark": benchmark.name, "variant": variant, "limit": limit, "seed": seed or None}
    params = ",".join(f"{key}={value}" for key, value in run.items() if value is not None)
    return "\n".join(
        [
            f"# {benchmark.title}: draws of altered questions for lm-evaluation-harness",
            "",
            f"Written for {HARNESS}. The folder can be moved, and the folders of tasks in it can",
            f"be copied alone. `{MANIFEST}` says what was exported, with the SHA-256 of every",
            "file.",
            "",
            *table_of([*originals, *groups, *draws]),
            "",
            "Run original and draws together, in this folder or with its path in",
            "`--include_path`:",
            "",
            "```",
            *command([family.name for family in example], max_shots(example)),
            "```",
            "",
            *OPTIONS,
            "",
            "## What an alteration costs",
            "",
            "Δ = the group's accuracy − the original's. **`--num_fewshot` has to be the same for",
            "both**, which one command makes sure of: published results have mixed three and five",
            "demonstrations, and a difference between those is no cost of the alteration. Each",
            "draw is shown with demonstrations of the same draw.",
            "",
            "The group's score is the mean over the draws. The harness knows no standard deviation",
            "over tasks, and the error it prints for the group takes the draws for different",
            "questions, so it is too small. Import the logs for both.",
            "",
            "## Logs back into benchwright",
            "",
            "```",
            f"mkdir -p data/01_raw/{benchmark.name}/responses",
            f"cp -r results/* data/01_raw/{benchmark.name}/responses/",
            f"kedro run --pipeline wicked --params {params},score=imported",
            "```",
            "",
            "No model is loaded. `draw_scores` then has mean, standard deviation over draws and Δ",
            "with its standard error over questions, on the questions answered throughout. Every",
            "row of a draw carries the draw's name, so its log is never taken for the original's.",
            "The run has to make the same draws: same variant, perturbation and seed. Answers to",
            "others are left out, and `import_report` says so.",
            "",
            *source(benchmark),
        ]
    )


def _example(
    originals: Sequence[HarnessFamily], groups: Sequence[HarnessFamily]
) -> list[HarnessFamily]:
    """The first original and the groups in its style."""
    first = list(originals[:1])
    style = first[0].facts["style"] if first else None
    return first + [group for group in groups if group.facts["style"] == style]
