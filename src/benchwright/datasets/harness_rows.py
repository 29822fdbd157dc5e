"""Rows of a task for lm-evaluation-harness, read from the files beside this one.

Each exported folder holds a copy of this module: a task names its files relative to the folder, so
that the folder can be moved, and columns have the types given here, whatever their texts look like.
"""

from pathlib import Path
from typing import Any

_TEXTS = (
    "item_id",
    "content_hash",
    "subject",
    "question",
    "answer_text",
    "description",
    "text",
    "target",
)
_LISTS = ("choices", "labels")
_OF_COPIES = ("condition",)  # rows of an original have none
_OF_SUBSETS = ("weight",)  # rows of other exports have none


def read_rows(data_files: dict[str, str], **_: Any) -> Any:
    """The splits of one task as a `datasets.DatasetDict`.

    Args:
        data_files: split → file in this folder, one JSON object per line.
    """
    import json

    import pyarrow as pa

    from datasets import Dataset, DatasetDict

    columns = [(name, pa.string()) for name in _TEXTS]
    columns += [(name, pa.list_(pa.string())) for name in _LISTS]
    columns += [("answer", pa.int64())]
    folder = Path(__file__).parent
    splits = {}
    for split, name in data_files.items():
        with (folder / name).open(encoding="utf-8") as lines:
            rows = [json.loads(line) for line in lines]
        more = [(name, pa.string()) for name in _OF_COPIES if any(name in row for row in rows)]
        more += [(name, pa.float64()) for name in _OF_SUBSETS if any(name in row for row in rows)]
        table = pa.Table.from_pylist(rows, schema=pa.schema(columns + more))
        splits[split] = Dataset(table)
    return DatasetDict(splits)
