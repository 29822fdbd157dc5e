"""The notebooks run on the demo, in their own folder as in Jupyter, and write nothing there."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

pytestmark = pytest.mark.live

NOTEBOOKS = sorted((Path(__file__).resolve().parents[2] / "notebooks").glob("*.ipynb"))


def printed(notebook: nbformat.NotebookNode) -> str:
    """The printed and displayed text of all cells, without colours."""
    out = []
    for cell in notebook.cells:
        for output in cell.get("outputs", ()):
            out.append(output.get("text", ""))
            out.append(output.get("data", {}).get("text/plain", ""))
    return re.sub(r"\x1b\[[0-9;]*m", "", "\n".join(out))


LOGS = "docs/tutorials/from_logs.md"
EXPECTED = {
    "compare_variants": ("smart_paper", "tau-b of random subsets", "removed"),
    "why_did_this_item_go": ("REMOVED", "choices_only", "==== easy ===="),
    "logs_to_verdict": (
        "acme/model-8 is better by",
        "not worse: B − A",
        "times/7",
        "worst model",
    ),
    "is_my_subset_any_good": ("clearly different pairs of models", "kendall_tau_b", "percentile"),
}

QUICK = {"is_my_subset_any_good", "logs_to_verdict"}


def test_expected_notebooks_exist() -> None:
    assert {path.stem for path in NOTEBOOKS} == set(EXPECTED)


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, marks=() if path.stem in QUICK else pytest.mark.long)
        for path in NOTEBOOKS
    ],
    ids=[path.stem for path in NOTEBOOKS],
)
def test_notebooks_run_and_show_their_results(
    path: Path, recorded_demo: Path, repository: Path, tmp_path: Path
) -> None:
    (tmp_path / "conf").symlink_to(repository / "conf")
    (tmp_path / "data").symlink_to(recorded_demo)
    make_logs = re.search(r"```py\n(.*?)```", (repository / LOGS).read_text(), re.DOTALL)
    fewer = make_logs[1].replace("400", "120")
    subprocess.run([sys.executable, "-c", fewer], check=True, cwd=tmp_path)
    folder = shutil.copytree(path.parent, tmp_path / "notebooks")
    before = sorted(folder.rglob("*"))
    notebook = nbformat.read(path, as_version=4)
    assert not any(cell.get("outputs") for cell in notebook.cells)  # results are not committed
    NotebookClient(notebook, timeout=600, resources={"metadata": {"path": str(folder)}}).execute()
    output = printed(notebook)
    for words in EXPECTED[path.stem]:
        assert words in output
    assert sorted(folder.rglob("*")) == before
