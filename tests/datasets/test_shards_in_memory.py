"""Shards that no disk sees."""

from pathlib import Path

import pandas as pd
import pytest

from benchwright.datasets.shards_in_memory import ShardsInMemory


def test_a_shard_is_there_after_it_was_added_and_no_file_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    store = ShardsInMemory()
    assert store.get("one") is None
    frame = pd.DataFrame({"a": [1]})
    store.add("one", frame)
    assert store["one"] is frame
    assert list(store) == ["one"]
    assert len(store) == 1
    assert list(tmp_path.iterdir()) == []
