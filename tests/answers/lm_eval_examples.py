"""Logs of samples as lm-evaluation-harness 0.4.13 writes them; items of real benchmark files."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from answers.imported_rows import import_as_rows
from benchwright.answers.import_responses import Imported
from benchwright.datasets.response_files import LoadedFile, ResponseFiles
from benchwright.ingestion.source_rows import IngestedTables, map_source_rows
from benchwright.params.benchmark import BenchmarkParams

TIME = "2026-11-20T22-25-57.198528"
BENCHMARKS = Path(__file__).resolve().parents[2] / "conf" / "base" / "parameters" / "benchmarks"


def scored(
    doc_id: int,
    doc: Mapping[str, Any],
    continuations: Sequence[str],
    logprobs: Sequence[float],
    target: Any,
    *,
    contexts: Sequence[str] | None = None,
    **other: Any,
) -> dict[str, Any]:
    """One line of a log of output type multiple_choice; `acc` from an index in `target`."""
    before = contexts or ["Question: …\nAnswer:"] * len(continuations)
    pairs = [[str(float(value)), "False"] for value in logprobs]
    best = max(range(len(logprobs)), key=lambda option: logprobs[option], default=-1)
    return {
        "doc_id": doc_id,
        "doc": dict(doc),
        "target": str(target),
        "arguments": {
            f"gen_args_{i}": {"arg_0": context, "arg_1": text}
            for i, (context, text) in enumerate(zip(before, continuations, strict=True))
        },
        "resps": [[pair] for pair in pairs],
        "filtered_resps": pairs,
        "filter": "none",
        "metrics": ["acc"],
        "doc_hash": "…",
        "prompt_hash": "…",
        "target_hash": "…",
        "acc": float(best == target),
        **other,
    }


def wrote(
    doc_id: int, doc: Mapping[str, Any], target: str, right: bool, *, by: str = "none"
) -> dict[str, Any]:
    """One line of a log of output type generate_until."""
    return {
        "doc_id": doc_id,
        "doc": dict(doc),
        "target": target,
        "arguments": {"gen_args_0": {"arg_0": "Q:", "arg_1": {"until": ["\n"]}}},
        "resps": [[" I think it is …"]],
        "filtered_resps": ["…"],
        "filter": by,
        "metrics": ["exact_match"],
        "exact_match": float(right),
    }


def results(
    task: str, *, model: str = "org/model-7b", shots: int = 5, **other: Any
) -> dict[str, Any]:
    """What stands in a results file, as far as it matters."""
    return {
        "results": {task: {}},
        "configs": {task: {"task": task, "num_fewshot": shots}},
        "n-shot": {task: shots},
        "config": {"model": "hf", "model_args": {"pretrained": model, "dtype": "bfloat16"}},
        "model_source": "hf",
        "model_name": model,
        **other,
    }


def write_log(
    folder: Path,
    rows: Sequence[Mapping[str, Any]],
    task: str = "task",
    beside: Mapping[str, Any] | None = None,
    time: str = TIME,
) -> Path:
    """A log with its results in `folder`, which is made; `beside={}` writes no results."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"samples_{task}_{time}.jsonl"
    lines = [json.dumps(row, ensure_ascii=False) + "\n" for row in rows]
    path.write_text("".join(lines), encoding="utf-8")
    message = results(task) if beside is None else beside
    if message:
        (folder / f"results_{time}.json").write_text(
            json.dumps(message, indent=2), encoding="utf-8"
        )
    return path


def real_benchmark(name: str) -> dict[str, Any]:
    """One of the project's benchmark files, without answers from the hub."""
    conf = yaml.safe_load((BENCHMARKS / f"{name}.yml").read_text(encoding="utf-8"))
    return dict(conf["_benchmarks"][name]) | {"responses": []}


def hub_items(name: str, docs: Sequence[Mapping[str, Any]], split: str = "test") -> IngestedTables:
    """The items that ingestion makes of rows of the hub."""
    frame = pd.DataFrame({key: [doc.get(key) for doc in docs] for doc in docs for key in doc})
    frame["_split"], frame["_config"] = split, "config"
    frame.attrs["source"] = {"kind": "hub"}
    return map_source_rows(frame, BenchmarkParams.model_validate(real_benchmark(name)), None, 0)


def load(
    folder: Path, *named: Mapping[str, Any], sources: Mapping[str, Any] | None = None
) -> dict[str, LoadedFile]:
    """What the dataset finds in a folder."""
    benchmark = {"responses": list(named), "sources": sources}
    return ResponseFiles(benchmark=benchmark, folder=str(folder)).load()


def import_log(
    folder: Path,
    rows: Sequence[Mapping[str, Any]],
    name: str,
    ingested: IngestedTables,
    **entry: str,
) -> Imported:
    """Writes a log where lm-eval would, and imports it for one of the project's benchmarks."""
    write_log(folder / "org__model-7b", rows)
    loaded = load(folder, sources=real_benchmark(name)["sources"])
    files = {
        name: replace(file, spec=file.spec.model_copy(update=entry))
        for name, file in loaded.items()
    }
    return import_as_rows(files, ingested.items, ingested.calibration_items)


def counts(result: Imported, row: int = 0) -> dict[str, int]:
    """The counts of one file that are not 0, without that of its models."""
    other = ["file", "layout", "detail", "models", "accuracy", "log_score"]
    seen = result.import_report.iloc[row].drop(other).to_dict()
    return {name: int(count) for name, count in seen.items() if count}
