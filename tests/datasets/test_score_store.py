"""The folder of scores gives back what was put in, or nothing."""

from pathlib import Path

import pandas as pd
import pytest

from benchwright.datasets.score_store import ScoreStore


def shard(*keys: str) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "key": list(keys),
            "logprobs": [[-1.5, -0.1] if key != "long" else None for key in keys],
            "option_tokens": [[1, 2] for _ in keys],
            "prompt_tokens": [7 for _ in keys],
        }
    )


def test_an_absent_folder_is_empty(tmp_path: Path) -> None:
    assert len(ScoreStore(str(tmp_path / "none")).load()) == 0


def test_two_stores_over_one_folder_share_it(tmp_path: Path) -> None:
    ScoreStore(str(tmp_path)).save({"a": shard("x", "long")})
    ScoreStore(str(tmp_path)).save({"b": shard("y")})
    loaded = ScoreStore(str(tmp_path)).load()
    assert sorted(loaded) == ["a", "b"]
    assert loaded["a"]["key"].tolist() == ["x", "long"]
    assert loaded["a"]["logprobs"][0].tolist() == [-1.5, -0.1]
    assert loaded["a"]["logprobs"][1] is None


def test_a_shard_saved_again_replaces_the_first(tmp_path: Path) -> None:
    store = ScoreStore(str(tmp_path))
    store.save({"a": shard("x")})
    store.save({"a": shard("x", "y")})
    assert len(list(tmp_path.glob("*.parquet"))) == 1
    assert store.load()["a"]["key"].tolist() == ["x", "y"]


@pytest.mark.parametrize("damage", ["cut", "flip", "empty", "text"])
def test_a_damaged_shard_is_a_miss_with_a_warning(
    tmp_path: Path, damage: str, caplog: pytest.LogCaptureFixture
) -> None:
    store = ScoreStore(str(tmp_path))
    store.save({"a": shard("x"), "b": shard("y")})
    [file] = tmp_path.glob("a-*.parquet")
    content = file.read_bytes()
    middle = len(content) // 2
    file.write_bytes(
        {
            "cut": content[:-9],
            "flip": content[:middle] + bytes([content[middle] ^ 4]) + content[middle + 1 :],
            "empty": b"",
            "text": b"not a table",
        }[damage]
    )
    loaded = store.load()
    assert loaded.get("a") is None
    assert loaded["b"]["key"].tolist() == ["y"]
    assert str(file) in caplog.text


def test_other_files_in_the_folder_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    (tmp_path / ".a-1.parquet.tmp").write_text("half")
    store = ScoreStore(str(tmp_path))
    store.save({"a": shard("x")})
    assert list(store.load()) == ["a"]
    assert (tmp_path / "notes.txt").read_text() == "mine"


def test_existing_shards_never_count_as_a_finished_run(tmp_path: Path) -> None:
    store = ScoreStore(str(tmp_path))
    store.save({"a": shard("x")})
    assert not store.exists()
