"""The built wheel brings all that a project needs, and nothing private."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pandas as pd
import pytest
import yaml

from end_to_end.saved import newest


@pytest.fixture(scope="module")
def unpacked(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel's content, as it lies in an environment."""
    folder = tmp_path_factory.mktemp("site")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    return folder


def run(unpacked: Path, where: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {
        "PYTHONPATH": str(unpacked),
        "BENCHWRIGHT_MLFLOW": "off",
        "HF_HUB_OFFLINE": "1",
        "COLUMNS": "200",
    }
    return subprocess.run(
        [sys.executable, "-m", "benchwright", *arguments],
        check=False,
        cwd=where,
        env=environment,
        capture_output=True,
        text=True,
    )


def test_wheel_has_types_pages_and_project_but_no_secrets(unpacked: Path, repository: Path) -> None:
    package = unpacked / "benchwright"
    assert (package / "py.typed").is_file()
    for suffix in ("html", "css", "js"):
        expected = {
            p.relative_to(repository / "src") for p in (repository / "src").rglob(f"*.{suffix}")
        }
        assert expected == {p.relative_to(unpacked) for p in unpacked.rglob(f"*.{suffix}")}
    assert (package / "exports" / "templates" / "tasks.md").is_file()
    assert (package / "answers" / "model_families.txt").is_file()
    assert (package / "project" / "conf" / "base" / "parameters.yml").is_file()
    assert not list(unpacked.rglob("credentials*"))
    assert "entry_points.txt" in {path.name for path in unpacked.rglob("*")}


def test_new_project_has_the_conf_of_the_clone(
    unpacked: Path, repository: Path, tmp_path: Path
) -> None:
    done = run(unpacked, tmp_path, "new", "mine")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "benchwright"
    made = tmp_path / "mine" / "conf" / "base"
    assert {p.relative_to(made) for p in made.rglob("*.yml")} == {
        p.relative_to(repository / "conf" / "base")
        for p in (repository / "conf/base").rglob("*.yml")
    }
    assert yaml.safe_load((tmp_path / "mine" / ".telemetry").read_text()) == {"consent": False}
    notebooks = {path.name for path in (tmp_path / "mine" / "notebooks").iterdir()}
    assert notebooks == {path.name for path in (repository / "notebooks").glob("*.ipynb")}
    assert (tmp_path / "mine" / "README.md").read_text().startswith("# mine\n")
    again = run(unpacked, tmp_path, "new", "mine")
    assert again.returncode == 3
    assert again.stderr.splitlines()[-1].startswith("benchwright: mine is not empty")
    assert not list(tmp_path.glob(".new-*"))


def test_the_python_api_reads_the_packaged_conf_without_a_project(
    unpacked: Path, tmp_path: Path
) -> None:
    code = """if True:
        import pandas as pd, benchwright as bw
        items = pd.DataFrame({"question": ["Why?"], "choices": [["a", "b", "c"]], "answer": ["B"]})
        print(bw.__file__, bw.perturb(items).items["condition"].tolist())
    """
    environment = os.environ | {"PYTHONPATH": str(unpacked)}
    done = subprocess.run(
        [sys.executable, "-c", code],
        check=False,
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
    )
    conditions = [f"wicked-{n}" for n in range(1, 6)]
    assert done.stdout == f"{unpacked}/benchwright/__init__.py {conditions}\n", done.stderr


def test_new_is_rejected_in_a_clone(repository: Path, tmp_path: Path) -> None:
    done = run(repository / "src", tmp_path, "new", "mine")
    assert done.returncode == 3
    assert "use the clone" in done.stderr
    assert not (tmp_path / "mine").exists()


@pytest.mark.long
def test_new_project_runs(unpacked: Path, tmp_path: Path) -> None:
    assert run(unpacked, tmp_path, "new", "mine").returncode == 0
    asked = ("--params", "score=imported,variant=no_similar,limit=60")
    done = run(unpacked, tmp_path / "mine", *asked)
    assert done.returncode == 0, done.stderr
    data = tmp_path / "mine" / "data"
    audit = newest(data, "07_model_output", "item_audit.parquet", "demo", "no_similar")
    assert len(pd.read_parquet(audit)) == 60
