"""The notebooks run on the demo."""

import shutil
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

pytestmark = pytest.mark.live

NOTEBOOKS = sorted((Path(__file__).resolve().parents[2] / "notebooks").glob("*.ipynb"))


def printed(notebook: nbformat.NotebookNode) -> str:
    """The printed and displayed text of all cells."""
    out = []
    for cell in notebook.cells:
        for output in cell.get("outputs", ()):
            out.append(output.get("text", ""))
            out.append(output.get("data", {}).get("text/plain", ""))
    return "\n".join(out)


EXPECTED = {
    "compare_variants": ("smart_paper", "tau-b of random subsets", "removed"),
    "why_did_this_item_go": ("REMOVED", "options alone", "==== easy ===="),
    "is_my_subset_any_good": ("tau-b 0.", "kendall_tau_b", "keep their order"),
}


def test_expected_notebooks_exist() -> None:
    assert {path.stem for path in NOTEBOOKS} == set(EXPECTED)


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, marks=pytest.mark.long if path.stem == "compare_variants" else ())
        for path in NOTEBOOKS
    ],
    ids=[path.stem for path in NOTEBOOKS],
)
def test_notebooks_run_and_show_their_results(
    path: Path, recorded_demo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = tmp_path / "data"
    shutil.copytree(recorded_demo, data, symlinks=True)
    monkeypatch.setenv("BENCHWRIGHT_DATA", str(data))
    monkeypatch.setenv("BENCHWRIGHT_SCORE", "imported")
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"sqlite:///{tmp_path / 'mlflow.db'}")
    monkeypatch.delenv("BENCHWRIGHT_MLFLOW", raising=False)
    notebook = nbformat.read(path, as_version=4)
    assert not any(cell.get("outputs") for cell in notebook.cells)  # results are not committed
    NotebookClient(
        notebook, timeout=300, resources={"metadata": {"path": str(path.parent)}}
    ).execute()
    output = printed(notebook)
    for words in EXPECTED[path.stem]:
        assert words in output
