"""The page that lies beside exported tasks: how to run them."""

from collections.abc import Mapping, Sequence

from benchwright.datasets.harness_tasks import MANIFEST, STOCK_SAMPLES, HarnessFamily
from benchwright.exports.stock_samples import StockSamples
from benchwright.params.benchmark import BenchmarkParams

HARNESS = "lm-eval 0.4.13"

OPTIONS = (
    "`--num_fewshot` takes any number up to the column *shots*; without it, the task's own",
    "number, else 0. Group scores count every item once. `--apply_chat_template` puts the",
    "same texts into a chat, which changes the prompt. With `--cache_requests`, a task",
    "exported anew is read again only under `--cache_requests refresh`.",
)


def instructions(
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
            *table_of(families),
            "",
            "Run in this folder, or give its path to `--include_path`:",
            "",
            "```",
            *command([family.name for family in families[:1]], max_shots(families[:1])),
            "```",
            "",
            *OPTIONS,
            "",
            *stock_commands(stock),
            *source(benchmark),
        ]
    )


def source(benchmark: BenchmarkParams) -> list[str]:
    """Where the questions come from, and their licence."""
    return [
        "## Source",
        "",
        f"{benchmark.title}. {benchmark.citation}",
        f"Licence: {benchmark.licence}. {benchmark.url}".rstrip(),
        "",
    ]


def max_shots(families: Sequence[HarnessFamily]) -> int:
    """The most demonstrations that all tasks of these families have."""
    return min((int(family.facts["max_num_fewshot"]) for family in families), default=0)


def table_of(families: Sequence[HarnessFamily]) -> list[str]:
    """The families as a table."""
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
    ]


def command(names: Sequence[str], shots: int, extra: Sequence[str] = ()) -> list[str]:
    """The lines of a command that runs tasks, at up to five demonstrations."""
    lines = [
        "lm_eval --model hf --model_args pretrained=MODEL",
        f"--tasks {','.join(names)} --include_path .",
        *([f"--num_fewshot {min(shots, 5)}"] if shots else []),
        *extra,
        "--log_samples --output_path results",
    ]
    return [
        f"{'    ' if i else ''}{line}" + " \\" * (line is not lines[-1])
        for i, line in enumerate(lines)
    ]


def stock_commands(stock: StockSamples) -> list[str]:
    """The commands that ask the same items in the harness's own tasks."""
    heading = ["## The same items in the harness's own tasks", ""]
    if not stock.rows:
        return [*heading, f"Not known: {stock.reason}.", ""]
    tasks: Mapping[str, list[int]] = stock.rows
    return [
        *heading,
        f"`{STOCK_SAMPLES}` has the rows that are kept: {sum(map(len, tasks.values()))} in "
        f"{len(tasks)} tasks.",
        "Prompts are then the harness's. Name exactly these tasks: one that is not in the file is",
        "asked in full.",
        "",
        "```",
        "lm_eval --model hf --model_args pretrained=MODEL \\",
        f"    --tasks {','.join(tasks)} \\",
        f"    --samples {STOCK_SAMPLES} --log_samples --output_path results",
        "```",
        "",
    ]
