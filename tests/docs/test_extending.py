"""What docs/how_to/extend.md says works, word for word."""

import os
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from docs.followed_page import commands, copy_project, steps, write
from end_to_end.saved import newest

NEW = """
from benchwright.params.filtering import FilteringParams
from benchwright.params.sampling import SamplingParams
from benchwright.pipeline_registry import register_pipelines
from benchwright.methods.smart.negated import flag_negated_items
from benchwright.methods.dele.samplers.pool import SamplingPool
from benchwright.methods.dele.samplers.registry import make_samplers
from benchwright.language_models.longest_option import LongestOption
import pandas as pd

assert "flag_negated_items" in str([n.name for n in register_pipelines()["smart"].nodes])
items = pd.DataFrame({"item_id": ["a", "b"], "question": ["Which is not so?", "Which is so?"]})
on = FilteringParams.model_validate({"negated": {"enabled": True}})
found = flag_negated_items(items, on)
assert found.removed.tolist() == [True, False], found
assert flag_negated_items(items, FilteringParams()).status == "off"
sampler = make_samplers(SamplingParams(samplers=("question_length",)))["question_length"]
pool = SamplingPool(("a", "b"), ("", ""), ("short", "longer text"))
assert sampler(pool, 0)(1).positions.tolist() == [1]

from benchwright.reports.smart.positions import show_positions
section = show_positions(pd.DataFrame({"answer": [1, 0, 1]}))
assert section.blocks[0].rows == [["A", "1"], ["B", "2"]], section
assert "report_positions" in register_pipelines()["smart"].all_outputs()

import json
from pathlib import Path
from benchwright.answers.read_logs import read_logs, summary_lines
line = {"q": "What is 2+2?", "options": ["3", "4"], "gold": 1, "said": "B", "by": "org/model"}
unread = line | {"q": "What is 2+3?", "said": "five"}
Path("quiz.jsonl").write_text(json.dumps(line) + "\\n" + json.dumps(unread))
found = read_logs([Path("quiz.jsonl")])
assert found.report[["joined_by_hash", "unreadable", "accuracy"]].values.tolist() == [[2, 1, 0.5]]
assert summary_lines(found)[1].startswith("quiz lines"), summary_lines(found)
"""


@pytest.fixture(scope="module")
def page(repository: Path) -> str:
    return (repository / "docs/how_to/extend.md").read_text()


def environment(project: Path) -> dict[str, str]:
    scripts = str(Path(sys.executable).parent)
    return os.environ | {
        "PYTHONPATH": str(project / "src"),
        "PATH": f"{scripts}{os.pathsep}{os.environ['PATH']}",
        "BENCHWRIGHT_MLFLOW": "off",
        "HF_HUB_OFFLINE": "1",
    }


def test_files_and_edits_of_the_page_fit_the_code(
    page: str, repository: Path, tmp_path: Path
) -> None:
    project = copy_project(repository, tmp_path)
    for step in steps(page):
        write(step, project)
    subprocess.run([sys.executable, "-c", NEW], check=True, cwd=project, env=environment(project))


@pytest.mark.long
@pytest.mark.live
def test_commands_of_the_page_give_the_stated_results(
    page: str, repository: Path, tmp_path: Path
) -> None:
    project = copy_project(repository, tmp_path)
    for step in steps(page):
        write(step, project)
        for command in commands(step):
            subprocess.run(command, check=True, cwd=project, env=environment(project))
    audit = pd.read_parquet(
        newest(project / "data", "07_model_output", "item_audit.parquet", "capitals", "no_similar")
    )
    assert audit["removed_by"].str.contains("negated").sum() == 2
    assert set(audit["negated"]) == {"flagged", "clear"}
    page_made = newest(project / "data", "08_reporting", "report.html", "capitals", "no_similar")
    assert "Positions of right answers" in page_made.read_text()
    summary = pd.read_parquet(
        newest(project / "data", "08_reporting", "sampling_summary.parquet", "demo", "dele")
    )
    assert set(summary["sampler"]) == {"random", "question_length"}
