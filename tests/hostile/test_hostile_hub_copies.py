"""Misleading copies of hub datasets: no code runs, no row is lost, faults are one line."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from benchwright.core.errors import one_line
from benchwright.datasets.benchmark_source import BenchmarkSource
from benchwright.ingestion.source_rows import IngestedTables, map_source_rows
from benchwright.params.benchmark import BenchmarkParams
from hostile.accepted import benchmark_params
from hostile.files import planted
from hostile.readers import FIELDS

CARD = (
    "---\n{}configs:\n- config_name: default\n  data_files:\n  - split: test\n    path: {}\n---\n"
)
CELLS = "id,question,A,B,gold\n01,None,NA,1e5,1\n02,TRUE,a,b,7\n"
TABLE = pa.table(
    {
        "id": ["01", "02"],
        "question": ["None", "TRUE"],
        "A": ["NA", "a"],
        "B": ["1e5", "b"],
        "gold": [1, 7],
    }
)
Contents = dict[str, str | bytes | pa.Table]


def ingested(raw: Path, contents: Contents) -> IngestedTables:
    """The rows of a copy with these files, read as the benchmark's."""
    for name, content in contents.items():
        path = raw / "hub" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, pa.Table):
            pq.write_table(content, path)
        else:
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
    conf = benchmark_params({"hub": {"id": str(raw / "hub"), "fields": FIELDS}})
    frame = BenchmarkSource(benchmark=conf, raw_folder=str(raw)).load()
    made = map_source_rows(frame, BenchmarkParams.model_validate(conf), None, 0)
    assert sum(map(len, made)) == len(frame) == 2
    return made


def test_misleading_copies_run_no_code_and_are_refused_in_one_line(tmp_path: Path) -> None:
    marker = tmp_path / "marker"
    script = f"import os\nos.mkdir({str(marker)!r})\n"
    tag = f"!!python/object/apply:os.mkdir [{marker}]"
    data = "data/test-00000-of-00001.parquet"
    refused: dict[str, Contents] = {
        "hub: cannot be read: Dataset": {
            "hub.py": script,
            data: TABLE,
            "README.md": CARD.format("", "data/test-*"),
        },
        "hub: cannot be read: ": {"hub.py": script},
        "hub/test.parquet: cannot be read: ": {
            "test.parquet": planted(marker),
            "README.md": CARD.format("", "test.parquet"),
        },
        "hub/test.csv: line 4: 6 cells for 5 columns": {
            "test.csv": f"{CELLS}03,q,a,b,1,1\n",
            "README.md": CARD.format("", "test.csv"),
        },
        "hub: cannot be read: could not determine a constructor": {
            "test.parquet": TABLE,
            "README.md": f"---\nconfigs: {tag}\n---\n",
        },
    }
    for number, (message, contents) in enumerate(refused.items()):
        raw = tmp_path / str(number)
        with pytest.raises(Exception, match=r".") as caught:
            ingested(raw, contents)
        line = one_line(caught.value)
        assert line is not None, caught.value
        assert message in line
        assert line.startswith(str(raw / "hub"))
        assert len(line) < 600

    info = "dataset_info:\n  features:\n  - {name: id, dtype: int64}\n"
    info += "  splits:\n  - {name: test, num_examples: 999, num_bytes: 1}\n"
    card = CARD.format(info, "data/test-*")
    made = ingested(tmp_path / "lying", {"any.py": script, "README.md": card, data: TABLE})
    (item,) = made.items.to_dict("records")
    assert (item["item_id"], item["question"], item["choices"]) == ("01", "None", ["NA", "1e5"])
    assert made.rejected_items["rule"].tolist() == ["gold_out_of_range"]
    assert "7" in made.rejected_items["detail"].item()
    assert not marker.exists()
