"""Estimates as `.eval_results` of models on the Hugging Face Hub.

The format is that of https://huggingface.co/docs/hub/eval-results.
"""

import re
from pathlib import Path

import yaml

from benchwright import __version__
from benchwright.commands.estimate import Estimated, ModelEstimate
from benchwright.core.atomic_files import written_aside
from benchwright.core.configuration import parse_configuration
from benchwright.core.errors import InputError

_TASK = re.compile(r"(?P<dataset>[\w.-]+/[\w.-]+)/(?P<task>\S+)")


def write_eval_results(estimated: Estimated, task: str, folder: Path) -> list[Path]:
    """Write the estimate of each model as a file for its repository.

    The file is `<folder>/<model>/.eval_results/<benchmark>_<items>_items[_<style>_<shots>].yaml`,
    with "/" in the model's name written "__". Its value is in percent, and its notes say that it is
    an estimate from a subset, with the interval. A model without an estimate has no file.

    Args:
        estimated: the estimates.
        task: the benchmark on the Hub, `<owner>/<dataset>/<task>`.
        folder: where to write.

    Raises:
        InputError: `task` has another form, or a file cannot be written.
    """
    named = _TASK.fullmatch(task)
    if named is None:
        raise InputError(
            f"--eval-results {task!r}: expected <owner>/<dataset>/<task>, a benchmark on the Hub "
            "and the id of a task in its eval.yaml"
        )
    files = []
    for model in estimated.models:
        if model.score is None:
            continue
        entry = {
            "dataset": {"id": named["dataset"], "task_id": named["task"]},
            "value": round(100 * model.score, 2),
            "notes": _notes(estimated, model),
        }
        file = folder / _place(estimated, model.model)
        file.parent.mkdir(parents=True, exist_ok=True)
        with written_aside(file) as aside:
            aside.write_text(yaml.safe_dump([entry], sort_keys=False), encoding="utf-8")
        files.append(file)
    return files


def _place(estimated: Estimated, name: str) -> Path:
    model, style, shots = parse_configuration(name)
    repository = re.sub(r"[^\w.-]+", "__", model).strip(".")
    asked = f"_{style}_{shots}" if style else ""
    subset = f"{estimated.subset.benchmark}_{len(estimated.subset.items)}_items"
    return Path(repository, ".eval_results", f"{subset}{asked}.yaml")


def _notes(estimated: Estimated, model: ModelEstimate) -> str:
    subset = estimated.subset
    _, style, shots = parse_configuration(model.model)
    parts = [
        f"Estimated from a subset: answers to {model.answered:,} of {estimated.of_items:,} items "
        f"(sampler {subset.sampler}, seed {subset.seed})",
        f"{estimated.level:.0%} interval {_percent(model.low)} to {_percent(model.high)}",
        f"estimator {estimated.estimator} with {estimated.training:,} training models, "
        f"benchwright {__version__}",
        *([f"{shots}-shot, {style}"] if style else []),
        *([model.reason] if model.reason else []),
    ]
    return "; ".join(parts)


def _percent(share: float | None) -> str:
    return "unknown" if share is None else f"{100 * share:.2f}"
