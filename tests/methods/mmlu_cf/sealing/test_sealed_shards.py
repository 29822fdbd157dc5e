"""Judges' replies on disk: readable only with the same key."""

import logging
import pickle
from pathlib import Path

import pandas as pd
import pytest

from benchwright.core.errors import InputError
from benchwright.core.stored_shards import MemoryShards
from benchwright.methods.mmlu_cf.sealing.judge_store import JudgeStore, SealedShards
from benchwright.methods.mmlu_cf.sealing.key import SealKey

KEY, OTHER = (" ".join([start, "key of this test,", "long enough"]) for start in ("a", "another"))
FRAME = pd.DataFrame({"key": ["k1", "k2"], "texts": [["Rating: [7] for Urania"], None]})


def store(folder: Path, key: str = KEY, name: str = "built") -> SealedShards:
    return SealedShards(folder, SealKey(key), name)


def only_file(folder: Path) -> Path:
    (file,) = folder.iterdir()
    return file


def test_added_shards_are_found_by_another_run(tmp_path: Path) -> None:
    store(tmp_path / "s").add("shard-1", FRAME)
    again = store(tmp_path / "s")
    read = again["shard-1"]
    assert read["key"].tolist() == ["k1", "k2"]
    assert list(read["texts"][0]) == ["Rating: [7] for Urania"]
    assert read["texts"][1] is None
    assert "shard-1" in again
    assert again.get("shard-2") is None


def test_files_reveal_no_text_and_no_shard_name(tmp_path: Path) -> None:
    store(tmp_path).add("deadbeef-shard", FRAME)
    file = only_file(tmp_path)
    before = file.read_bytes()
    store(tmp_path).add("deadbeef-shard", FRAME)
    assert len(file.read_bytes()) == len(before)
    assert file.read_bytes()[:12] != before[:12]  # another nonce
    data = file.name.encode() + file.read_bytes()
    for secret in (b"Rating", b"Urania", b"deadbeef", b"PAR1", b"texts", KEY.encode()):
        assert secret not in data
        assert secret.decode().encode("utf-16-le") not in data


@pytest.mark.parametrize("where", [-1, 5, 29, "cut", "empty"])
def test_a_torn_or_altered_shard_counts_as_missing_and_is_written_again(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, where: int | str
) -> None:
    store(tmp_path).add("shard-1", FRAME)
    file = only_file(tmp_path)
    data = bytearray(file.read_bytes())
    if isinstance(where, int):
        data[where] ^= 1
    else:
        del data[len(data) // 2 if where == "cut" else 0 :]
    file.write_bytes(bytes(data))
    again = store(tmp_path)
    with caplog.at_level(logging.WARNING):
        assert again.get("shard-1") is None
    assert len(caplog.records) == 1
    again.add("shard-1", FRAME)
    assert store(tmp_path)["shard-1"]["key"].tolist() == ["k1", "k2"]


def test_a_shard_under_another_shards_name_does_not_open(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    first, second = store(tmp_path), tmp_path / "second"
    first.add("shard-1", FRAME)
    shard_file = only_file(tmp_path)
    store(second).add("shard-2", FRAME)
    shard_file.write_bytes(only_file(second).read_bytes())
    with caplog.at_level(logging.WARNING):
        assert first.get("shard-1") is None
    assert "incomplete or altered (InvalidTag)" in caplog.text


@pytest.mark.parametrize(("key", "name"), [(OTHER, "built"), (KEY, "elsewhere")])
def test_shards_under_another_key_are_missing_and_stay(tmp_path: Path, key: str, name: str) -> None:
    for shard in ("shard-1", "shard-2", "shard-3"):
        store(tmp_path).add(shard, FRAME)
    other = store(tmp_path, key, name)
    assert [other.get(shard) for shard in ("shard-1", "shard-2")] == [None, None]
    other.add("shard-1", FRAME)
    assert len(list(tmp_path.iterdir())) == 4  # nothing of the other key was replaced
    assert all(shard in store(tmp_path) for shard in ("shard-1", "shard-2", "shard-3"))


def test_an_unwritable_folder_is_reported_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be written: "):
        store(tmp_path / "file" / "s").add("shard", FRAME)


def test_the_dataset_chooses_the_store_by_settings_and_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BENCHWRIGHT_SEAL_KEY", KEY)
    opened = JudgeStore(folder=str(tmp_path), sealing={"name": "built"})
    assert isinstance(opened.load(), SealedShards)
    assert opened.load() is opened.load()
    opened.save({"shard-1": FRAME})
    assert store(tmp_path).get("shard-1") is not None
    monkeypatch.delenv("BENCHWRIGHT_SEAL_KEY")
    assert isinstance(JudgeStore(folder=str(tmp_path)).load(), MemoryShards)
    monkeypatch.setenv("BENCHWRIGHT_SEAL_KEY", OTHER)
    assert JudgeStore(folder=str(tmp_path)).load().get("shard-1") is None


def test_neither_the_key_nor_its_contents_are_pickled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BENCHWRIGHT_SEAL_KEY", KEY)
    dataset = JudgeStore(folder=str(tmp_path), sealing={"name": "built"})
    dataset.load().add("shard-1", FRAME)
    written = pickle.dumps(dataset)
    assert KEY.encode() not in written
    assert pickle.loads(written).load().get("shard-1") is not None  # noqa: S301  (made here)
    with pytest.raises(TypeError, match="cannot be pickled"):
        pickle.dumps(dataset.load())
    assert KEY not in repr(dataset.load())
