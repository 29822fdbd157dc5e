"""Croissant 1.1 metadata (https://docs.mlcommons.org/croissant) of exported Parquet files."""

import hashlib
import json
from collections.abc import Sequence
from typing import Any, NamedTuple

import pandas as pd

FILE = "croissant.json"
_CONTEXT = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "rai": "http://mlcommons.org/croissant/RAI/",
    "sc": "https://schema.org/",
    **{
        name: f"cr:{name}"
        for name in (
            *("arrayShape", "citeAs", "column", "equivalentProperty", "extract", "field"),
            *("fileObject", "fileProperty", "fileSet", "format", "includes", "isArray"),
            *("isLiveDataset", "jsonPath", "key", "md5", "parentField", "path", "recordSet"),
            *("references", "regex", "repeated", "replace", "samplingRate", "separator"),
            *("source", "subField", "transform"),
        )
    },
}
"""The context that the specification prescribes, whole: readers warn where a key is missing."""


class Described(NamedTuple):
    """A Parquet file: its name without ending, its rows, and its bytes."""

    name: str
    rows: pd.DataFrame
    content: bytes


def croissant(files: Sequence[Described], **known: Any) -> bytes:
    """Return the metadata of a folder of Parquet files, a record set per file.

    Args:
        files: what the folder has.
        known: properties of the dataset by their names in schema.org; empty ones are left out.
    """
    text = {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.1",
        **{name: value for name, value in known.items() if value},
        "distribution": [_distribution(file) for file in files],
        "recordSet": [_record_set(file) for file in files],
    }
    return (json.dumps(text, ensure_ascii=False, indent=2) + "\n").encode()


def _distribution(file: Described) -> dict[str, Any]:
    return {
        "@type": "cr:FileObject",
        "@id": f"{file.name}.parquet",
        "name": f"{file.name}.parquet",
        "contentUrl": f"{file.name}.parquet",
        "contentSize": f"{len(file.content)} B",
        "encodingFormat": "application/x-parquet",
        "sha256": hashlib.sha256(file.content).hexdigest(),
    }


def _record_set(file: Described) -> dict[str, Any]:
    return {
        "@type": "cr:RecordSet",
        "@id": file.name,
        "name": file.name,
        "field": [_field(file, str(name)) for name in file.rows.columns],
    }


def _field(file: Described, name: str) -> dict[str, Any]:
    is_list = name in ("choices", "tags") and not pd.api.types.is_string_dtype(file.rows[name])
    return {
        "@type": "cr:Field",
        "@id": f"{file.name}/{name}",
        "name": name,
        "dataType": _data_type(file.rows[name]),
        **({"isArray": True, "arrayShape": "-1"} if is_list else {}),
        "source": {"fileObject": {"@id": f"{file.name}.parquet"}, "extract": {"column": name}},
    }


def _data_type(column: pd.Series) -> str:
    if pd.api.types.is_bool_dtype(column):
        return "sc:Boolean"
    if pd.api.types.is_integer_dtype(column):
        return "sc:Integer"
    return "sc:Float" if pd.api.types.is_float_dtype(column) else "sc:Text"
