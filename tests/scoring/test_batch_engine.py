"""Results of tasks are the same in this process, in others and on Ray."""

import pickle

import pyarrow as pa
import pytest

from batch_tasks import refused, rows_of, twice
from benchwright.core.errors import InputError
from benchwright.params.mmlu_cf import BatchClusterParams, BatchEngineParams
from benchwright.scoring.batch_engine import BatchEngine

TWO = BatchEngineParams(workers=2)


@pytest.mark.parametrize("params", [BatchEngineParams(), TWO])
def test_parts_come_in_the_order_of_the_tasks_and_errors_are_passed_on(
    params: BatchEngineParams,
) -> None:
    with BatchEngine(params, "cleaning") as engine:
        expected = [f"{number}{letter}" for number in range(9) if number != 3 for letter in "ab"]
        assert list(engine.over(twice, iter(range(9)))) == expected
        assert list(engine.over(rows_of, [pa.table({"a": [1, 2]})])) == [2]
        assert list(engine.over(twice, [])) == []
        with pytest.raises(InputError, match="a bad value"):
            list(engine.over(refused, range(4)))


def test_tasks_are_consumed_lazily() -> None:
    taken: list[int] = []
    tasks = (taken.append(number) or number for number in range(100))
    with BatchEngine(TWO, "cleaning") as engine:
        parts = engine.over(twice, tasks)
        next(parts)
        assert len(taken) <= 5
        parts.close()  # type: ignore[attr-defined]


def test_slices_are_sent_without_their_table() -> None:
    part = pa.table({"text": ["x" * 100] * 10_000}).slice(5, 10)
    sent = pickle.dumps(part)
    assert len(sent) < 5_000
    assert pickle.loads(sent).equals(part)  # noqa: S301


def test_no_tasks_need_no_cluster() -> None:
    params = BatchEngineParams(engine="ray", ray=BatchClusterParams(address="127.0.0.1:1"))
    with BatchEngine(params, "collection") as engine:
        assert list(engine.over(twice, [])) == []
        with pytest.raises(InputError, match=r"collection\.ray\.allow_spill"):
            list(engine.over(twice, [1]))
