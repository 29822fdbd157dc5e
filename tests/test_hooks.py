"""Kedro hooks: parameters, the headline of a run, and the key of a sealed benchmark."""

import json
import os
import re
from collections.abc import Callable
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest
from kedro.io import DataCatalog
from kedro.pipeline import Node, Pipeline

from benchwright.core.errors import InputError, one_line
from benchwright.hooks.checks import SealingHook, unknown_model
from benchwright.hooks.memory import MemoryHook
from benchwright.hooks.results import RESULTS, describe_results, next_steps
from benchwright.hooks.run_context import parameters_read
from benchwright.hooks.versions import clear_versions
from benchwright.params.run import unknown_parameters
from benchwright.pipeline_registry import register_pipelines
from benchwright.pipelines.nodes import ASKS_MODELS, EXPORT
from benchwright.reports.verdict import write_verdict
from faults.project_run import _exit_code

DECLARED = {"benchmark": "demo", "filtering": {"easy": {}}, "seed": 0}


def test_unknown_parameters_are_reported_with_the_known_ones() -> None:
    assert unknown_parameters({"benchmrk": "arc"}, DECLARED) == (
        "--params benchmrk: unknown parameter; expected one of benchmark, filtering, seed; "
        "did you mean 'benchmark'?"
    )
    assert unknown_parameters({"benchmark": "arc", "filtering": {"easy": 1}}, DECLARED) is None
    assert "has no effect" in str(unknown_parameters({"variants": {"a": {}}}, DECLARED))


def test_only_parameters_that_nodes_read_are_recorded() -> None:
    params = {"benchmark": "demo", "variant": "smart", "seed": 0, "limit": 5, "checking": {}}
    catalog = DataCatalog()
    for name, value in {**params, "models": "long"}.items():
        catalog[f"params:{name}"] = value
    inputs = ["items", "params:limit", "params:models"]
    pipeline = Pipeline([Node(max, inputs, "out", name="largest")])
    of_run = {"benchmark": "demo", "variant": "smart", "seed": 0}
    assert parameters_read(params, pipeline, catalog, {"models"}) == {**of_run, "limit": 5}


def test_one_line_names_a_killed_worker_and_missing_inputs_of_a_part() -> None:
    killed = one_line(BrokenProcessPool("A process in the process pool was terminated abruptly"))
    assert "a worker process was killed" in str(killed)
    assert "max_workers=1" in str(killed)
    missing = "Pipeline input(s) {'rows'} not found in the DataCatalog"
    assert one_line(ValueError(missing)) == missing


@pytest.fixture
def run(
    repository: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, str]]:
    """Call `benchwright run` in this process; return its exit code and what it said."""
    monkeypatch.chdir(repository)
    monkeypatch.setenv("BENCHWRIGHT_MLFLOW", "off")

    def call(*words: str) -> tuple[int, str]:
        code = _exit_code(["run", *words])
        return code, "".join(capfd.readouterr())

    return call


@pytest.mark.parametrize(
    ("params", "message"),
    [
        (
            "benchmrk=arc",
            "--params benchmrk: unknown parameter; expected one of anomalous_subjects",
        ),
        (
            "filtering.easy.confidense=0.9",
            "benchwright: filtering.easy: unknown key 'confidense'; expected one of confidence, "
            "enabled, retain, retention; did you mean 'confidence'?",
        ),
    ],
)
def test_kedro_run_reports_the_mistake_in_one_line(
    run: Callable[..., tuple[int, str]], params: str, message: str
) -> None:
    code, said = run("--params", params)
    assert code == 3
    lines = [line for line in said.splitlines() if line.strip()]
    assert message in lines[-1]
    assert "Traceback" not in said


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--tags=nonsens"], "--tags 'nonsens': expected one of asks_models, embedding, "),
        (["--tags=filterin"], "; did you mean 'filtering'?"),
        (["--env=evidenc"], "unknown environment 'evidenc' of "),
        (["--env=evidenc"], "conf; expected one of base, evidence, local, record; did you mean"),
        (["--pipelines=smart,wicked"], "--pipelines smart,wicked: the nodes responses.import_"),
        (["--pipelines=encoders,dele"], "their default variants differ (dele, smart); choose one"),
        (["--from-nodes=filtering.combine_rules"], "these nodes read anomalous_findings, "),
        (["--from-nodes=evaluation.judge_subset"], " more, which no run has saved or which stays"),
        (
            ["--namespaces=filtering"],
            "--namespaces ingestion,embedding,scoring,responses,filtering",
        ),
    ],
)
def test_options_of_kedro_run_that_cannot_work_are_one_line(
    run: Callable[..., tuple[int, str]], tmp_path: Path, words: list[str], message: str
) -> None:
    code, said = run(*words, "--params", f"data_root={tmp_path}")
    assert code == 3
    assert message in said.splitlines()[-1]
    assert "Traceback" not in said
    assert list(tmp_path.iterdir()) == []


def test_the_advised_stages_run_and_so_do_tags(
    run: Callable[..., tuple[int, str]], repository: Path, tmp_path: Path
) -> None:
    raw = tmp_path / "01_raw"
    raw.mkdir()
    for name in ("demo", "single_best_answer"):
        (raw / name).symlink_to(repository / "data/01_raw" / name)
    wicked = ("--pipeline", "wicked", "--params", f"data_root={tmp_path},limit=5,score=imported")
    code, said = run("--nodes=perturbation.perturb_items", *wicked)
    advice = re.search(r"run whole stages: (--namespaces) (\S+)", said)
    assert code == 3
    assert advice is not None
    code, said = run(*advice.groups(), *wicked)
    assert (code, advice[2]) == (0, "ingestion,perturbation"), said
    code, said = run("--tags=export", *wicked)
    assert code == 0, said
    assert "harness perturbed tasks:" in said


def test_every_node_has_its_stage_as_a_tag() -> None:
    for pipeline in register_pipelines().values():
        for node in pipeline.nodes:
            tags = node.tags - {ASKS_MODELS, EXPORT}
            assert tags == {str(node.namespace).partition(".")[0]}, node.name


def test_nodes_that_ask_models_and_export_have_tags() -> None:
    nodes = {node for pipeline in register_pipelines().values() for node in pipeline.nodes}
    stores = {"judge_store", "answer_store", "score_cache"}
    asking = {node.name for node in nodes if stores & {*node.inputs}}
    read_only = {"scoring.count_budget"}
    assert {node.name for node in nodes if ASKS_MODELS in node.tags} == asking - read_only
    exporting = {node.name for node in nodes if EXPORT in node.tags}
    assert exporting >= {node.name for node in nodes if node.namespace == "exports"}


class Catalog:
    """A catalog in which only sealing has settings."""

    def load(self, name: str) -> dict[str, Any]:
        known = {"params:sealing": {"name": "mmlu_cf"}, "params:models": {"models": {}}}
        return known.get(name, {})


@pytest.fixture
def no_key(monkeypatch: pytest.MonkeyPatch) -> Catalog:
    monkeypatch.delenv("BENCHWRIGHT_SEAL_KEY", raising=False)
    return Catalog()


def test_runs_that_seal_nothing_need_no_key(
    no_key: Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    pipelines = register_pipelines()
    for name, pipeline in pipelines.items():
        if name != "mmlu_cf":
            SealingHook().before_pipeline_run(pipeline, no_key)
    SealingHook().before_pipeline_run(pipelines["mmlu_cf"].to_outputs("raw_items"), no_key)
    with pytest.raises(InputError, match=r"BENCHWRIGHT_SEAL_KEY.*`benchwright new-key FILE`"):
        SealingHook().before_pipeline_run(pipelines["mmlu_cf"], no_key)
    monkeypatch.setenv("BENCHWRIGHT_SEAL_KEY", "a key of some length")
    SealingHook().before_pipeline_run(pipelines["mmlu_cf"], no_key)


@pytest.mark.parametrize(
    ("key", "setting", "message"),
    [
        ("", "seed=0", "sealing: no key: set the environment variable"),
        ("k" * 20, "perturbation.copies=3", "perturbation.copies is 3, but the pipeline mmlu_cf"),
        ("k" * 20, "perturbation.cumulative=true", "leave it out, or set it to False"),
        ("k" * 20, "perturbation.sba=file", "perturbation.sba is file"),
    ],
)
def test_what_mmlu_cf_cannot_use_is_reported_before_documents_are_read(
    run: Callable[..., tuple[int, str]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    key: str,
    setting: str,
    message: str,
) -> None:
    monkeypatch.setenv("BENCHWRIGHT_SEAL_KEY", key)
    code, said = run("--pipeline", "mmlu_cf", "--params", f"data_root={tmp_path},{setting}")
    assert code == 3
    assert message in said.splitlines()[-1]
    # There are no documents here: reading them would have been the error.
    assert "Running node" not in said
    assert list(tmp_path.iterdir()) == []


MODELS = {"models": {"alpha": {}, "beta": {}}, "encoders": {"mini": {}}}


@pytest.mark.parametrize(
    ("sections", "message"),
    [
        ({"scoring": {"configurations": ["alpha@cloze-3", "gama@letters-0"]}}, "model 'gama'"),
        ({"checking": {"judges": ["alpa"]}}, "unknown model 'alpa'; .*; did you mean 'alpha'"),
        ({"splitting": {"leakage": {"judge": "x"}}}, "splitting.leakage.judge: unknown model 'x'"),
        ({"embedding": {"encoder": "alpha"}}, "unknown encoder 'alpha'; expected one of mini"),
    ],
)
def test_unknown_models_are_named_with_the_setting(sections: dict[str, Any], message: str) -> None:
    assert re.search(message, str(unknown_model({"models": MODELS, **sections})))
    known = {"scoring": {"configurations": ("beta@cloze-0",)}, "embedding": {"encoder": "mini"}}
    unset = {"splitting": {"leakage": {"judge": None}}}
    assert unknown_model({"models": MODELS, **known, **unset}) is None


def test_leftovers_of_killed_runs_are_removed_and_saved_versions_stay(tmp_path: Path) -> None:
    table = tmp_path / "a.parquet"
    saved, killed = table / "1" / table.name, table / "2" / table.name
    left = f".{table.name}.00000000-1-{'0' * 32}.tmp"
    for file in (saved, saved.with_name(left), killed.with_name(left)):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
        os.utime(file, (0, 0))
    clear_versions(table)
    assert [path for path in table.rglob("*") if path.is_file()] == [saved]
    assert not killed.parent.exists()


def test_every_pipeline_prints_a_result() -> None:
    for name, pipeline in register_pipelines().items():
        assert pipeline.all_outputs() & set(RESULTS), name


def test_the_end_of_a_run_quotes_the_reports_and_lists_the_results(tmp_path: Path) -> None:
    kept, page, rejected, said = (tmp_path / name for name in ("kept", "page", "rejected", "said"))
    verdict = write_verdict(
        "4 → 3 items. Same\n order.",
        tiles=[("1 of 4", "items\n saved")],
        judgements=["As good & no\x1b better."],
        notes=["One `row` was rejected."],
        next_step="Ask `them`.",
    )
    said.write_text(json.dumps(verdict))
    pd.DataFrame({"row": []}).to_parquet(rejected)
    paths = {"kept_items": kept, "report": page, "verdict": said, "rejected_items": rejected}
    paths["prompts"] = tmp_path
    assert next_steps(paths) == ["Ask them."]
    assert describe_results(paths) == [
        "",
        "4 → 3 items. Same order.",
        "- 1 of 4: items saved",
        "As good & no\\x1b better.",
        "- One row was rejected.",
        "",
        f"report:                  {page}",
        f"kept items:              {kept}",
    ]
    pd.DataFrame({"row": [1]}).to_parquet(rejected)
    assert describe_results(paths)[-1].split() == ["rejected", "items:", str(rejected)]


def test_memory_is_given_back_before_a_node_loads(monkeypatch: pytest.MonkeyPatch) -> None:
    trimmed: list[int] = []
    library = SimpleNamespace(malloc_trim=trimmed.append)
    monkeypatch.setattr("ctypes.CDLL", lambda name: library)
    MemoryHook().before_dataset_loaded()
    assert trimmed == [0]
    del library.malloc_trim  # another C library
    MemoryHook().before_dataset_loaded()
