"""Scores exported to and imported from lm-evaluation-harness equal our own."""

from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd
import pytest

from answers.imported_rows import import_as_rows
from benchwright.core.content_hash import content_hash
from benchwright.datasets.harness_tasks import HarnessTasks
from benchwright.datasets.response_files import ResponseFiles
from benchwright.exports.export import ExportedRun, export_tasks
from benchwright.language_models.protocol import PromptText
from benchwright.language_models.weights import ModelSource
from benchwright.params.benchmark import BenchmarkParams
from benchwright.params.exports import ExportsParams
from benchwright.params.scoring import ModelsParams
from benchwright.scoring.prompts import build_prompts
from benchwright.tables.items import Demonstrations, Items
from faults.tiny_llama import save_tiny_llama
from imported_later import hf_transformers
from scoring.scoring_examples import item, live

ASKED = [
    ("Which gas do plants take in?", ("oxygen", "carbon dioxide", "helium", "neon"), 1),
    ("What force pulls objects to Earth?", ("gravity", "friction", "heat"), 0),
    ("Which of these is a mammal?", ("a whale", "a trout", "a hen", "an ant"), 0),
    ("What melts ice?", ("cold", "darkness", "heat", "a lack of sound in the room"), 2),
    ("Which planet is closest to the Sun?", ("Mars", "Venus", "Mercury", "the Moon"), 2),
    ("What is {{ 7 * 6 }} in braces?", ("{{ 42 }}", "42", "{% if %}", "nothing", "all"), 1),
]


def table(kind: str, subject: str) -> pd.DataFrame:
    rows = [
        item(f"round/{kind}/{n}", subject, choices, answer, question=f"{question} ({kind})")
        for n, (question, choices, answer) in enumerate(ASKED)
    ]
    model = Items if kind == "test" else Demonstrations
    return model.from_rows([tuple(row.values()) for row in rows])


FIELDS = {
    "question": "question",
    "choices": {"column": "choices"},
    "gold": {"form": "index", "column": "answer"},
}
SMALL = BenchmarkParams.model_validate(
    {
        **dict.fromkeys(("title", "licence", "citation", "url"), "x"),
        "name": "small",
        "sources": {"local": {"file": "x.parquet", "all_rows": "test", "fields": FIELDS}},
        "splits": {"evaluation": ["test"], "demonstrations": ["dev"]},
    }
)


def in_this_process(model: Path, task: str, shots: int, tasks: Path, logs: Path) -> None:
    """Like the command, without starting Python or listing the harness's tasks."""
    pytest.importorskip("lm_eval")
    from lm_eval import simple_evaluate
    from lm_eval.loggers import EvaluationTracker
    from lm_eval.tasks import TaskManager

    tracker = EvaluationTracker(output_path=str(logs))
    out = simple_evaluate(
        model="hf",
        model_args=f"pretrained={model},dtype=float32",
        device="cpu",
        tasks=[task],
        task_manager=TaskManager(include_path=str(tasks), include_defaults=False),
        num_fewshot=shots,
        evaluation_tracker=tracker,
        log_samples=True,
        bootstrap_iters=0,
    )
    samples = out.pop("samples")
    tracker.save_results_aggregated(results=out, samples=samples)
    tracker.save_results_samples(task_name=task, samples=samples[task])


@pytest.mark.live
@pytest.mark.parametrize("style", ["cloze", "letters"])
def test_imported_log_likelihoods_equal_ours(
    style: Literal["cloze", "letters"], tmp_path: Path
) -> None:
    folder = save_tiny_llama(tmp_path / "tiny")
    items, shown = table("test", "science"), table("dev", "science")
    for frame in (items, shown):
        frame["content_hash"] = [
            content_hash(q, c) for q, c in zip(frame["question"], frame["choices"], strict=True)
        ]
    scoring = live(f"m@{style}-3", conditions=["question"], calibration=False)
    exports = ExportsParams(styles=(style,))
    tables = (items, items.assign(tags=""), shown)
    run = ExportedRun(SMALL, scoring, exports, "smart", None, 0)
    exported = export_tasks(*tables, run)
    HarnessTasks(path=str(tmp_path / "harness")).save(exported)
    task = "benchwright_small" + ("" if style == "letters" else "_cloze")
    logs = tmp_path / "responses"
    in_this_process(folder, task, 3, tmp_path / "harness", logs)

    files = ResponseFiles(benchmark=SMALL.model_dump(), folder=str(logs)).load()
    imported = import_as_rows(files, items, items.head(0))
    theirs = imported.imported_responses.set_index("item_id")
    assert set(theirs["style"]) == {style}
    assert set(theirs["shots"]) == {3}

    entry = {"weights": {"path": str(folder)}, "family": "f", "context": 2048}
    models = ModelsParams.model_validate({"models": {"m": entry}})
    tables = {"items": items, "demonstrations": shown, "calibration_items": items.head(0)}
    prompts = build_prompts(SMALL, scoring, models, (), 0, **tables)
    model = hf_transformers.TransformersModel.load(
        ModelSource(str(folder)), "float32", context=2048
    )
    columns = (prompts[name] for name in ("prefix", "text", "continuations"))
    asked = [PromptText(a, b, tuple(c)) for a, b, c in zip(*columns, strict=True)]
    for item_id, score in zip(prompts["item_id"], model.score(asked), strict=True):
        np.testing.assert_allclose(theirs.loc[item_id, "logprobs"], score.logprobs, atol=2e-3)
    assert len(theirs) == len(items)
    model.close()
