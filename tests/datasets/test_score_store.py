"""The folder of scores gives back what was put in, or nothing."""

import os
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pandas as pd
import pytest

from benchwright.core.atomic_files import aside_of
from benchwright.datasets.score_store import ScoreStore


def shard(*keys: str, logprob: float = -0.1) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "key": list(keys),
            "logprobs": [[-1.5, logprob] if key != "long" else None for key in keys],
            "option_tokens": [[1, 2] for _ in keys],
            "prompt_tokens": [7 for _ in keys],
        }
    )


def stored(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def test_stores_of_one_folder_share_shards(tmp_path: Path) -> None:
    ScoreStore(str(tmp_path)).save({"a": shard("x", "long")})
    ScoreStore(str(tmp_path)).save({"b": shard("y")})
    loaded = ScoreStore(str(tmp_path)).load()
    assert sorted(loaded) == ["a", "b"]
    assert loaded["a"]["key"].tolist() == ["x", "long"]
    assert loaded["a"]["logprobs"][0].tolist() == [-1.5, -0.1]
    assert loaded["a"]["logprobs"][1] is None


def test_added_shards_are_visible_at_once_and_to_later_stores(tmp_path: Path) -> None:
    loaded = ScoreStore(str(tmp_path / "new")).load()
    assert len(loaded) == 0
    loaded.add("a", shard("x"))
    assert loaded["a"]["key"].tolist() == ["x"]
    assert list(ScoreStore(str(tmp_path / "new")).load()) == ["a"]


def test_equal_shards_are_one_file_and_others_are_kept(tmp_path: Path) -> None:
    store = ScoreStore(str(tmp_path))
    store.save({"a": shard("x")})
    before = stored(tmp_path)
    ScoreStore(str(tmp_path)).save({"a": shard("x")})
    assert stored(tmp_path) == before
    store.save({"a": shard("x", "y")})
    assert len(stored(tmp_path)) == 2


@pytest.mark.parametrize("order", [(-0.5, -0.7), (-0.7, -0.5)])
def test_first_complete_file_by_name_is_read(tmp_path: Path, order: tuple[float, float]) -> None:
    for value in order:
        ScoreStore(str(tmp_path)).save({"a": shard("x", logprob=value)})
    files = sorted(stored(tmp_path))
    assert len(files) == 2, "one run must not take away what another has scored"
    [read] = ScoreStore(str(tmp_path)).load()["a"]["logprobs"]
    first = pd.read_parquet(tmp_path / files[0])["logprobs"][0]
    assert read.tolist() == first.tolist()


@pytest.mark.parametrize("damage", ["cut", "flip", "other name"])
def test_damaged_shards_are_missing_with_one_warning(
    tmp_path: Path, damage: str, caplog: pytest.LogCaptureFixture
) -> None:
    store = ScoreStore(str(tmp_path))
    store.save({"a": shard("x"), "b": shard("y")})
    [file], [other] = tmp_path.glob("a-*.parquet"), tmp_path.glob("b-*.parquet")
    content = file.read_bytes()
    if damage == "cut":
        file.write_bytes(content[:-9])
    elif damage == "flip":
        file.write_bytes(content[:99] + bytes([content[99] ^ 4]) + content[100:])
    else:
        file.unlink()
        file = tmp_path / other.name.replace("b-", "a-")
        shutil.copy(other, file)
    loaded = store.load()
    assert "a" not in loaded
    assert loaded["b"]["key"].tolist() == ["y"]
    assert sum(str(file) in message for message in caplog.messages) == 1


def test_other_files_are_ignored(tmp_path: Path) -> None:
    foreign = {"notes.txt": "mine", ".a-1.parquet.tmp": "half", "a.parquet": "x", ".tmp": ""}
    for name, text in foreign.items():
        (tmp_path / name).write_text(text)
        os.utime(tmp_path / name, (0, 0))
    store = ScoreStore(str(tmp_path))
    store.save({"a": shard("x")})
    assert list(store.load()) == ["a"]
    assert {name: (tmp_path / name).read_text() for name in foreign} == foreign


def test_temporary_files_of_killed_runs_are_removed(tmp_path: Path) -> None:
    source = "import os; print(os.getpid())"
    ended = subprocess.run([sys.executable, "-c", source], check=True, capture_output=True)
    live = aside_of(tmp_path / f"a-{'0' * 16}.parquet")
    killed = live.with_name(live.name.replace(f"-{os.getpid()}-", f"-{int(ended.stdout)}-"))
    for file in (live, killed):
        file.write_text("half")
    assert len(ScoreStore(str(tmp_path)).load()) == 0
    assert list(tmp_path.iterdir()) == [live]


SAVES = """
import sys
import pandas as pd
from benchwright.datasets.score_store import ScoreStore

folder, own = sys.argv[1:]
store = ScoreStore(folder)
print("ready", flush=True)
sys.stdin.readline()
for i in range(100):
    equal = pd.DataFrame({"key": [f"equal-{i}"], "logprobs": [[-0.5]]})
    differing = pd.DataFrame({"key": [f"differing-{i}"], "logprobs": [[-0.5 - int(own)]]})
    alone = pd.DataFrame({"key": [f"{own}-{i}"], "logprobs": [[-0.5]]})
    store.save({f"equal-{i}": equal, f"differing-{i}": differing})
    store.save({f"{own}-{i}": alone})
    ScoreStore(folder).load()
"""


def test_concurrent_runs_lose_and_duplicate_nothing(tmp_path: Path) -> None:
    runs = [
        subprocess.Popen(
            [sys.executable, "-c", SAVES, str(tmp_path), str(number)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for number in (1, 2)
    ]
    for run in runs:
        assert run.stdout is not None
        assert run.stdout.readline() == "ready\n"
    for run in runs:
        run.communicate("go\n")
        assert run.returncode == 0
    files = Counter(file.rpartition("-")[0] for file in stored(tmp_path))
    expected = {"equal": 1, "differing": 2, "1": 1, "2": 1}
    assert files == {f"{kind}-{i}": n for kind, n in expected.items() for i in range(100)}
    loaded = ScoreStore(str(tmp_path)).load()
    assert [loaded[name]["key"].tolist() for name in loaded] == [[f"{name}"] for name in loaded], (
        "every shard is whole and its own"
    )
