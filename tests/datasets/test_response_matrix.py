from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from kedro.io import DatasetError

from benchwright.answers.matrix_file import is_matrix
from benchwright.core.response_matrix import ResponseMatrix
from benchwright.datasets.response_matrix import ResponseMatrixDataset

FIELDS = ("correct", "p_answer", "p_prediction", "prediction")


def assert_same(seen: ResponseMatrix, expected: ResponseMatrix) -> None:
    assert (seen.models, seen.item_ids, seen.condition) == (
        expected.models,
        expected.item_ids,
        expected.condition,
    )
    for name in FIELDS:
        before, after = getattr(expected, name), getattr(seen, name)
        assert after.dtype == before.dtype
        np.testing.assert_array_equal(after, before, strict=True)


@st.composite
def matrices(draw: st.DrawFn) -> ResponseMatrix:
    names = st.lists(st.text(min_size=1, max_size=8), max_size=6, unique=True)
    models, items = draw(names), draw(names)
    shape = (len(models), len(items))
    share = st.one_of(st.just(np.nan), st.floats(0, 1, width=32))
    some = {
        name: arrays(np.float32, shape, elements=share)
        for name in ("correct", "p_answer", "p_prediction")
    }
    some["prediction"] = arrays(np.int16, shape, elements=st.integers(-1, 25))
    given_fields = {
        name: draw(values) for name, values in some.items() if draw(st.booleans(), label=name)
    }
    return ResponseMatrix.of(
        tuple(models), tuple(items), **given_fields, condition=draw(st.text(max_size=5))
    )


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(matrices())
def test_matrix_round_trips(tmp_path: Path, matrix: ResponseMatrix) -> None:
    dataset = ResponseMatrixDataset(filepath=str(tmp_path / "m.parquet"))
    dataset.save(matrix)
    assert_same(dataset.load(), matrix)


def test_many_models_use_several_row_groups(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    correct = rng.integers(0, 2, (700, 5)).astype(np.float32)
    p_answer = np.full((700, 5), np.nan, dtype=np.float32)
    p_answer[600] = 0.1  # only a model of the last row group has probabilities
    models = tuple(f"m{i}" for i in range(700))
    matrix = ResponseMatrix.of(models, tuple("abcde"), correct=correct, p_answer=p_answer)
    dataset = ResponseMatrixDataset(filepath=str(tmp_path / "m.parquet"))
    dataset.save(matrix)
    assert_same(dataset.load(), matrix)
    assert pq.ParquetFile(tmp_path / "m.parquet").metadata.num_row_groups == 3


def test_other_files_are_rejected(tmp_path: Path) -> None:
    path = tmp_path / "m.parquet"
    pq.write_table(pa.table({"model": ["m"]}), path)
    assert not is_matrix(path)
    with pytest.raises(DatasetError, match=r"m\.parquet: not a response matrix"):
        ResponseMatrixDataset(filepath=str(path)).load()
    earlier = {b"benchwright.response_matrix": b'{"version": 1}'}
    pq.write_table(pa.table({"model": ["m"]}, metadata=earlier), path)
    with pytest.raises(DatasetError, match="made by another version of benchwright"):
        ResponseMatrixDataset(filepath=str(path)).load()
    path.write_bytes(b"PAR1")
    assert not is_matrix(path)
    with pytest.raises(DatasetError, match=r"m\.parquet: cannot be read"):
        ResponseMatrixDataset(filepath=str(path)).load()
