"""Read the rows of a task for lm-evaluation-harness from files in this folder.

Each exported folder contains a copy of this module. A task names its files relative to the folder,
which can therefore be moved, and columns have fixed types.
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
    """Return the splits of one task as a `datasets.DatasetDict`.

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
