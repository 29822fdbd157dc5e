"""Tables of vectors are written and read in parts."""

import numpy as np
import pandas as pd
import pytest

from benchwright.datasets import vector_table
from benchwright.datasets.vector_table import VectorTable, read_vectors

N = 25
VECTORS = np.random.default_rng(0).normal(size=(N, 3)).astype(np.float32)
TABLE = pd.DataFrame(
    {
        "item_id": [f"q/{row}" for row in range(N)],
        "vector": list(VECTORS),
        "encoder": "made",
    }
)


@pytest.mark.parametrize("rows", [7, 5, 1000])
def test_vectors_are_the_same_after_saving_and_in_one_array(tmp_path, monkeypatch, rows):
    monkeypatch.setattr(vector_table, "_ROWS_PER_GROUP", rows)
    dataset = VectorTable(filepath=str(tmp_path / "v.parquet"))
    dataset.save(TABLE)
    read = dataset.load()
    assert read.columns.tolist() == TABLE.columns.tolist()
    assert read["item_id"].tolist() == TABLE["item_id"].tolist()
    assert np.array_equal(np.stack(read["vector"].tolist()), VECTORS)
    assert all(row.base is read["vector"][0].base for row in read["vector"])
    pd.testing.assert_frame_equal(read_vectors(tmp_path / "v.parquet"), read)


def test_interrupted_save_leaves_the_old_table(tmp_path, monkeypatch):
    monkeypatch.setattr(vector_table, "_ROWS_PER_GROUP", 5)
    dataset = VectorTable(filepath=str(tmp_path / "v.parquet"))
    dataset.save(TABLE)
    broken = TABLE.assign(vector=[*TABLE["vector"][:-1], "no vector"])
    with pytest.raises(Exception, match="vector"):
        dataset.save(broken)
    assert len(dataset.load()) == N
    assert [path.name for path in tmp_path.iterdir()] == ["v.parquet"]
