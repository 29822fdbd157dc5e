"""Neither imports nor runs on packaged models use the network."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

CUT = Path(__file__).parent / "no_network"

IMPORT_ALL = """
import pkgutil, importlib, benchwright
for module in pkgutil.walk_packages(benchwright.__path__, "benchwright."):
    if not module.name.endswith("__main__"):
        importlib.import_module(module.name)
"""
REACH_OUT = "import urllib.request as r; r.urlopen('http://example.org', timeout=2)"


def run_cut_off(
    tried: Path, where: Path, *command: str, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run Python with only local network addresses allowed."""
    known = {name: value for name, value in os.environ.items() if not name.startswith("HF_")}
    paths = [str(CUT), str(Path(__file__).parents[2] / "src")]
    blocking = {"PYTHONPATH": os.pathsep.join(paths), "BENCHWRIGHT_TRIED": str(tried)}
    return subprocess.run(
        [sys.executable, *command],
        check=False,
        cwd=where,
        env=known | blocking | environment,
        capture_output=True,
        text=True,
    )


def test_the_test_environment_has_no_network(tmp_path: Path) -> None:
    tried = tmp_path / "tried"
    done = run_cut_off(tried, tmp_path, "-c", REACH_OUT)
    assert done.returncode == 1
    assert "example.org" in tried.read_text()


def test_imports_use_no_network(tmp_path: Path) -> None:
    tried = tmp_path / "tried"
    done = run_cut_off(tried, tmp_path, "-c", IMPORT_ALL)
    assert done.returncode == 0, done.stderr
    assert not tried.exists(), tried.read_text()


@pytest.mark.long
@pytest.mark.live
@pytest.mark.parametrize("offline", ["1", ""], ids=["told to be offline", "not told"])
def test_a_run_on_packaged_models_uses_no_network(
    offline: str, repository: Path, tmp_path: Path
) -> None:
    tried, data = tmp_path / "tried", tmp_path / "data"
    data.mkdir()
    (data / "01_raw").symlink_to(repository / "data" / "01_raw")
    hub_setting = {"HF_HUB_OFFLINE": offline} if offline else {}
    params = f"data_root={data},limit=8,evaluation.random_subsets=20"
    mlflow = f"sqlite:///{tmp_path / 'mlflow.db'}"
    done = run_cut_off(
        tried,
        repository,
        *("-m", "benchwright", "--params", params),
        MLFLOW_TRACKING_URI=mlflow,
        **hub_setting,
    )
    assert not tried.exists(), tried.read_text()
    assert done.returncode == 0, done.stderr
    assert list(data.rglob("model_scores*")) or list((data / "06_models").iterdir())
