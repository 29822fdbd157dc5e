"""Rows of the harness's own tasks, all of them or none with a reason."""

from typing import Any

import pandas as pd
import pytest

from benchwright.exports.stock_samples import samples_of_benchmark, stock_samples
from benchwright.params.benchmark import BenchmarkParams
from benchwright.params.exports import StockTaskParams
from benchwright.pipelines.ingestion import map_source_rows
from exports.export_examples import benchmark, item, table

WHOLE = StockTaskParams(task="colours", order="source_row")
BY_SUBJECT = StockTaskParams(task="mmlu_{subject}", order="source_row_within_subject")


def test_each_subject_has_its_task_and_an_empty_one_is_left_out() -> None:
    items = table(
        item("b/college law/0", "college law"),
        item("b/college law/1", "college law"),
        item("b/anatomy/0"),
        item("b/physics/0", "physics"),
    )
    kept = ["b/college law/1", "b/anatomy/0"]
    samples = stock_samples(items, kept, BY_SUBJECT, "b")
    assert samples.rows == {"mmlu_anatomy": [0], "mmlu_college_law": [1]}


@pytest.mark.parametrize(
    ("item_id", "mapping"),
    [
        ("colours/anatomy/3", WHOLE),
        ("colours_validation/3", WHOLE),
        ("colours/", WHOLE),
        ("colours/٣", WHOLE),
        ("colours/3", BY_SUBJECT),
        ("colours/physics/3", BY_SUBJECT),
    ],
)
def test_one_id_without_a_row_gives_no_rows(item_id: str, mapping: StockTaskParams) -> None:
    good = "colours/0" if mapping is WHOLE else "colours/anatomy/0"
    items = table(item(good), item(item_id))
    samples = stock_samples(items, [good], mapping, "colours")
    assert samples.rows == {}
    assert f"the id {item_id} does not contain the row" in samples.reason


def test_two_items_on_one_row_give_no_rows() -> None:
    items = table(item("colours/1"), item("colours/01"))
    samples = stock_samples(items, ["colours/1"], WHOLE, "colours")
    assert samples.rows == {}
    assert "both be row 1 of colours" in samples.reason


def test_rows_count_rejected_ones_and_do_not_change_under_a_limit() -> None:
    source = pd.DataFrame(
        {
            "question": ["zero", "", "two", "three", None, "five", "six"],
            "choices": [["a", "b"]] * 7,
            "answer": [0, 1, 0, 7, 1, 0, 1],
            "_split": ["test"] * 7,
        }
    )
    source.attrs["source"] = {"kind": "hub"}
    whole = map_source_rows(source, benchmark(), None, 0).items
    assert stock_samples(whole, whole["item_id"], WHOLE, "colours").rows == {
        "colours": [0, 2, 5, 6]
    }
    some = map_source_rows(source, benchmark(), 2, 0).items
    rows = stock_samples(some, some["item_id"], WHOLE, "colours").rows["colours"]
    texts = [source["question"][row] for row in rows]
    assert sorted(texts) == sorted(some["question"])


def of_benchmark(mirror_root: str = "", **changes: Any) -> Any:
    items = table(item("colours/0"), item("colours/1"))
    ingestion: BenchmarkParams = benchmark(**changes)
    return samples_of_benchmark(items, ["colours/1"], ingestion, mirror_root)


def sources(*kinds: str, configs: tuple[str, ...] = ()) -> dict[str, Any]:
    fields = {
        "question": "question",
        "choices": {"column": "choices"},
        "gold": {"form": "index", "column": "answer"},
    }
    known = {
        "hub": {"id": "a/b", "fields": fields, "configs": list(configs)},
        "mirror": {"file": "a.parquet", "all_rows": "test", "fields": fields},
        "local": {"file": "a.csv", "all_rows": "test", "fields": fields},
    }
    return {kind: known[kind] for kind in kinds}


TRUSTED = WHOLE.model_copy(update={"sources": ("hub", "mirror")})


@pytest.mark.parametrize(
    ("mirror_root", "mapping", "kinds", "configs", "reason"),
    [
        ("", None, ("hub",), (), "the benchmark's file does not name them (key `harness`)"),
        ("", WHOLE, ("hub",), (), ""),
        ("", WHOLE, ("hub",), ("x",), ""),
        ("", WHOLE, ("hub",), ("x", "y"), "several configurations"),
        ("", WHOLE, ("hub", "local"), (), "the source local"),
        ("/mirror", WHOLE, ("hub", "mirror"), (), "the source mirror"),
        ("/mirror", TRUSTED, ("hub", "mirror"), (), ""),
        ("/mirror", WHOLE, ("hub",), (), ""),  # the mirror lacks this benchmark
    ],
)
def test_rows_are_known_if_the_mapping_fits_the_source(
    mirror_root: str,
    mapping: StockTaskParams | None,
    kinds: tuple[str, ...],
    configs: tuple[str, ...],
    reason: str,
) -> None:
    result = of_benchmark(mirror_root, harness=mapping, sources=sources(*kinds, configs=configs))
    assert result.rows == ({} if reason else {"colours": [1]})
    assert reason in result.reason
    assert bool(reason) == bool(result.reason)
