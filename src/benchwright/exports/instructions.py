"""The page that lies beside an export: how to run its tasks, and what their scores say."""

from collections.abc import Mapping, Sequence

from benchwright.datasets.harness_tasks import MANIFEST, STOCK_SAMPLES, HarnessFamily
from benchwright.datasets.subset_manifest import SubsetManifest
from benchwright.exports.stock_samples import StockSamples
from benchwright.params.benchmark import BenchmarkParams

HARNESS = "lm-eval 0.4.13"

_OPTIONS = (
    "`--num_fewshot` takes any number up to the column *shots*; without it, the task's own",
    "number, else 0. Group scores count every item once. `--apply_chat_template` puts the",
    "same texts into a chat, which changes the prompt. With `--cache_requests`, a task",
    "exported anew is read again only under `--cache_requests refresh`.",
    "",
)


def task_instructions(
    benchmark: BenchmarkParams, families: Sequence[HarnessFamily], stock: StockSamples
) -> str:
    """Markdown: what is in the folder and the commands that run it."""
    return "\n".join(
        [
            f"# {benchmark.title}: tasks for lm-evaluation-harness",
            "",
            f"Written for {HARNESS}. The folder can be moved, and the folders in it can be copied",
            f"alone. `{MANIFEST}` says what was exported, with the SHA-256 of every file.",
            "",
            *_table_of(families),
            "Run in this folder, or give its path to `--include_path`:",
            "",
            *_command(families[:1]),
            *_stock_commands(stock),
            *_source(benchmark),
        ]
    )


def draw_instructions(
    benchmark: BenchmarkParams,
    originals: Sequence[HarnessFamily],
    draws: Sequence[HarnessFamily],
    groups: Sequence[HarnessFamily],
    run: Mapping[str, object],
) -> str:
    """Markdown: what is in the folder, the commands, and what the scores say.

    `run` is what `--params` has to say to make the same draws.
    """
    style = originals[0].facts["style"] if originals else None
    example = [*originals[:1], *(group for group in groups if group.facts["style"] == style)]
    params = ",".join(f"{key}={value}" for key, value in run.items() if value is not None)
    return "\n".join(
        [
            f"# {benchmark.title}: draws of altered questions for lm-evaluation-harness",
            "",
            f"Written for {HARNESS}. The folder can be moved, and the folders of tasks in it can",
            f"be copied alone. `{MANIFEST}` says what was exported, with the SHA-256 of every",
            "file.",
            "",
            *_table_of([*originals, *groups, *draws]),
            "Run original and draws together, in this folder or with its path in",
            "`--include_path`:",
            "",
            *_command(example),
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
            *_source(benchmark),
        ]
    )


def subset_instructions(
    benchmark: BenchmarkParams,
    families: Sequence[HarnessFamily],
    stock: StockSamples,
    subset: SubsetManifest,
) -> str:
    """Markdown: the commands that ask the subset and estimate the full score."""
    count = len(subset.items)
    return "\n".join(
        [
            f"# {benchmark.title}: {count:,} of {subset.of_items:,} items",
            "",
            f"Chosen by the sampler `{subset.sampler}`, seed {subset.seed}. Written for {HARNESS}.",
            f"`{MANIFEST}` lists the items with their weights, and the SHA-256 of every file.",
            "",
            *_table_of(families),
            *_command(families[:1]),
            *_stock_commands(stock),
            "## The score",
            "",
            f"{subset.scoring[:1].upper()}{subset.scoring[1:]}.",
            "What the model would have on all items, with an interval:",
            "",
            "```",
            f"benchwright estimate results --subset . --benchmark {benchmark.name}",
            "```",
            "",
            *_source(benchmark),
        ]
    )


def _source(benchmark: BenchmarkParams) -> list[str]:
    """Where the questions come from, and their licence."""
    return [
        "## Source",
        "",
        f"{benchmark.title}. {benchmark.citation}",
        f"Licence: {benchmark.licence}. {benchmark.url}".rstrip(),
        "",
    ]


def _table_of(families: Sequence[HarnessFamily]) -> list[str]:
    rows = [
        f"| `{family.name}` | {family.facts['variant']} | {family.facts['style']} | "
        f"{family.facts['n_items']} | {family.facts.get('n_tasks', len(family.tasks))} | "
        f"{family.facts['max_num_fewshot']} |"
        for family in families
    ]
    return [
        "| name | items of | style | items | tasks | shots |",
        "|---|---|---|---|---|---|",
        *rows,
        "",
    ]


def _command(families: Sequence[HarnessFamily]) -> list[str]:
    """A command that runs families, at up to five demonstrations, and its options."""
    shots = min((int(family.facts["max_num_fewshot"]) for family in families), default=0)
    lines = [
        "lm_eval --model hf --model_args pretrained=MODEL",
        f"--tasks {','.join(family.name for family in families)} --include_path .",
        *([f"--num_fewshot {min(shots, 5)}"] if shots else []),
        "--log_samples --output_path results",
    ]
    return ["```", *" \\\n    ".join(lines).split("\n"), "```", "", *_OPTIONS]


def _stock_commands(stock: StockSamples) -> list[str]:
    """The commands that ask the same items in the harness's own tasks."""
    heading = ["## The same items in the harness's own tasks", ""]
    if not stock.rows:
        return [*heading, f"Not known: {stock.reason}.", ""]
    return [
        *heading,
        f"`{STOCK_SAMPLES}` has the rows that are kept: {sum(map(len, stock.rows.values()))} in "
        f"{len(stock.rows)} tasks.",
        "Prompts are then the harness's. Name exactly these tasks: one that is not in the file is",
        "asked in full.",
        "",
        "```",
        "lm_eval --model hf --model_args pretrained=MODEL \\",
        f"    --tasks {','.join(stock.rows)} \\",
        f"    --samples {STOCK_SAMPLES} --log_samples --output_path results",
        "```",
        "",
    ]
