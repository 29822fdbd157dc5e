"""Misleading copies of hub datasets: no code runs, no row is lost, faults are one line."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from benchwright.core.errors import one_line
from benchwright.datasets.benchmark_source import BenchmarkSource
from benchwright.params.benchmark import BenchmarkParams
from benchwright.pipelines.ingestion import IngestedTables, map_source_rows
from hostile.accepted import benchmark_params
from hostile.files import planted

FIELDS = {
    "item_id": "id",
    "question": "question",
    "choices": {"columns": ["A", "B"]},
    "gold": {"column": "gold", "form": "index"},
}
CARD = (
    "---\n{}configs:\n- config_name: default\n  data_files:\n  - split: test\n    path: {}\n---\n"
)
CELLS = "id,question,A,B,gold\n01,None,NA,1e5,1\n02,TRUE,a,b,7\n"
ROWS: dict[str, list[Any]] = {
    "id": ["01", "02"],
    "question": ["None", "TRUE"],
    "A": ["NA", "a"],
    "B": ["1e5", "b"],
    "gold": [1, 7],
}


def put(path: Path, content: str | bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())


def put_rows(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table(ROWS), path)


def script(marker: Path) -> str:
    return f"import os\nos.mkdir({str(marker)!r})\n"


def ingested(raw: Path) -> IngestedTables:
    conf = benchmark_params({"hub": {"id": "nobody/nothing", "fields": FIELDS}})
    frame = BenchmarkSource(benchmark=conf, raw_folder=str(raw)).load()
    made = map_source_rows(frame, BenchmarkParams.model_validate(conf), None, 0)
    assert sum(map(len, made)) == len(frame) == 2
    return made


def _lying_card(hub: Path, marker: Path) -> None:
    put(hub / "any.py", script(marker))
    info = "dataset_info:\n  features:\n  - {name: id, dtype: int64}\n"
    info += "  splits:\n  - {name: test, num_examples: 999, num_bytes: 1}\n"
    put(hub / "README.md", CARD.format(info, "data/test-*"))
    put_rows(hub / "data" / "test-00000-of-00001.parquet")


def test_other_files_of_a_copy_do_not_change_rows(tmp_path: Path) -> None:
    marker = tmp_path / "marker"
    _lying_card(tmp_path / "hub", marker)
    made = ingested(tmp_path)
    (item,) = made.items.to_dict("records")
    assert (item["item_id"], item["question"], item["choices"]) == ("01", "None", ["NA", "1e5"])
    assert made.rejected_items["rule"].tolist() == ["gold_out_of_range"]
    assert "7" in made.rejected_items["detail"].item()
    assert not marker.exists()


def _named(name: str, content: str | bytes) -> Callable[[Path, Path], None]:
    def make(hub: Path, marker: Path) -> None:
        put(hub / name, content)
        put(hub / "README.md", CARD.format("", name))

    return make


def _script_and_card(hub: Path, marker: Path) -> None:
    put(hub / "hub.py", script(marker))
    put_rows(hub / "data" / "test-00000-of-00001.parquet")
    put(hub / "README.md", CARD.format("", "data/test-*"))


def _card_with_a_tag(hub: Path, marker: Path) -> None:
    put_rows(hub / "test.parquet")
    tag = f"!!python/object/apply:os.mkdir [{marker}]"
    put(hub / "README.md", f"---\nconfigs: {tag}\n---\n")


REFUSED: dict[str, tuple[Callable[[Path, Path], None], str]] = {
    "a script of the copy's name, and a card": (_script_and_card, "hub: cannot be read: Dataset"),
    "a script alone": (
        lambda hub, marker: put(hub / "hub.py", script(marker)),
        "hub: no Parquet files; it has hub.py",
    ),
    "a pickle as Parquet": (
        lambda hub, marker: _named("test.parquet", planted(marker))(hub, marker),
        "hub/test.parquet: cannot be read: ",
    ),
    "a cell too many": (
        _named("test.csv", f"{CELLS}03,q,a,b,1,1\n"),
        "hub/test.csv: line 4: 6 cells for 5 columns",
    ),
    "a card with a tag": (
        _card_with_a_tag,
        "hub: cannot be read: could not determine a constructor",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_misleading_copy_is_refused_in_one_line(name: str, tmp_path: Path) -> None:
    make, message = REFUSED[name]
    marker = tmp_path / "marker"
    make(tmp_path / "hub", marker)
    with pytest.raises(Exception, match=r".") as caught:
        ingested(tmp_path)
    line = one_line(caught.value)
    assert line is not None, caught.value
    assert message in line
    assert line.startswith(str(tmp_path / "hub"))
    assert len(line) < 600
    assert not marker.exists()
