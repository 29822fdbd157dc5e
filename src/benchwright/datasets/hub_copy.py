"""A folder in the layout of the Hugging Face hub, its rows read verbatim.

`datasets` is only asked which files make a split: its readers guess types, cast to what a card
claims, and cache under the patterns of the card, so that the copies of two benchmarks, or an old
and a new one, are mistaken for each other.
"""

import json
import math
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from benchwright.core.errors import InputError
from benchwright.datasets.verbatim import (
    EXPANSION,
    joined,
    json_rows,
    listed,
    opened,
    read_errors,
    read_verbatim,
    table_of_rows,
    utf8_text,
)

_CARDS = ("README.md", ".huggingface.yaml")
_INFOS = "dataset_infos.json"  # older than the card; its description of the rows is not used
_JSON = (".json", ".ndjson")
_ADVICE = (
    "a copy needs files of Parquet, JSON lines, CSV or TSV, and the hub's card or names like "
    "test-00000-of-00001.parquet"
)


def split_files(copy: Path, config: str | None) -> dict[str, list[Path]]:
    """Return the files of every split of one configuration (None: the default one), by split.

    They are declared by the card; without a card, or if it lacks the configuration, they are named
    `<config>/<split>-….parquet` or `<config>/<split>/….parquet`.

    Raises:
        InputError: the card cannot be read, no split is found, or a file lies outside `copy` (by
            its name, a link, or a URL).
    """
    try:
        files = _declared(copy, config)
    except InputError:
        raise
    except Exception as error:  # whatever the card makes `datasets` do
        message = next(iter(str(error).splitlines()), "")[:200] or type(error).__name__
        raise InputError(f"{copy}: cannot be read: {message}; {_ADVICE}") from error
    if files is None:
        files = _parquet_by_split(copy, config)
    for path in (path for paths in files.values() for path in paths):
        _require_inside(copy, path)
    return files


def read_copied(files: Sequence[Path]) -> pd.DataFrame:
    """Read the rows of a split's files, cells as objects.

    The files are Parquet, JSON lines, CSV, TSV, or JSON that is one list of objects. A column that
    a file lacks is None in its rows. InputError as in `datasets.verbatim.read_verbatim`.
    """
    return joined([_read(path) for path in files])


def _read(path: Path) -> pd.DataFrame:
    bare = path.with_suffix("") if path.suffix == ".gz" else path
    if bare.suffix not in _JSON:
        return read_verbatim(path)
    with read_errors(path), opened(path) as stream:
        text = utf8_text(stream.read())
        return table_of_rows(_list_of_objects(text) or json_rows(text.split("\n")))


def _list_of_objects(text: str) -> list[dict[str, Any]]:
    """Return the rows of a file that is one list, none if it is not."""
    if not text.lstrip().startswith("["):
        return []
    try:
        rows = json.loads(text)
    except RecursionError as error:
        raise InputError("is not JSON: it is nested too deeply") from error
    for number, row in enumerate(rows):
        if not isinstance(row, dict):
            raise InputError(f"entry {number} is {row!r:.40}; it must be an object")
    return list(rows)


def _declared(copy: Path, config: str | None) -> dict[str, list[Path]] | None:
    """Return the files that the card declares, None if it lacks the configuration."""
    if not any((copy / name).is_file() for name in _CARDS):
        return None
    _require_own_files(copy)
    if (infos := copy / _INFOS).is_file():
        with read_errors(infos), infos.open(encoding="utf-8") as stream:
            json.load(stream)
    import datasets

    names = datasets.get_dataset_config_names(str(copy))
    if not names or (config is not None and config not in names):
        return None
    with tempfile.TemporaryDirectory() as scratch:  # nothing is built, but a lock is left
        builder = datasets.load_dataset_builder(str(copy), name=config, cache_dir=scratch)
    declared: Mapping[Any, Iterable[str]] = builder.config.data_files or {}
    return {str(split): [Path(str(path)) for path in paths] for split, paths in declared.items()}


def _require_own_files(copy: Path) -> None:
    """Refuse URLs, which `datasets` would fetch: a copy is read without a network."""
    for card in (copy / name for name in _CARDS):
        content = _yaml_of(card) if card.is_file() else None
        if content is not None and _nodes(content, {}) > EXPANSION * card.stat().st_size:
            raise InputError(f"{card}: its aliases (*name) expand too far; write them out")
        configs = content.get("configs") if isinstance(content, dict) else None
        address = next((text for text in _texts(configs) if "://" in text), None)
        if address is not None:
            raise InputError(
                f"{card}: names {address[:120]!r}, which is not in the copy; put the file there "
                "and name it"
            )


def _yaml_of(card: Path) -> Any:
    """Return the YAML of a card, or of the front matter of a README."""
    import yaml
    from huggingface_hub import metadata_load

    with read_errors(card):
        try:
            if card.suffix == ".md":
                return metadata_load(card)
            return yaml.safe_load(utf8_text(card.read_bytes()))
        except (yaml.YAMLError, RecursionError) as error:
            raise ValueError(str(error) or type(error).__name__) from error


def _parts(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


def _nodes(value: Any, known: dict[int, float]) -> float:
    """Count the values, each alias written out; a list in itself is endless."""
    if not isinstance(value, dict | list):
        return 1
    if id(value) not in known:
        known[id(value)] = math.inf  # until it is counted
        known[id(value)] = 1 + sum(_nodes(part, known) for part in _parts(value))
    return known[id(value)]


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    for part in _parts(value):
        yield from _texts(part)


def _parquet_by_split(copy: Path, config: str | None) -> dict[str, list[Path]]:
    """Find files of a copy without a card: `test-00000-of-00001.parquet` or `test/0000.parquet`."""
    places = [copy / config] if config is not None else [copy / "data", copy]
    base = next((place for place in places if place.is_dir()), None)
    if base is None:
        raise InputError(f"{copy}: no folder {config!r}; it has {listed(_inside(copy))}")
    files: dict[str, list[Path]] = {}
    for path in sorted(base.rglob("*.parquet")):
        inner = path.relative_to(base)
        name = inner.parts[0] if len(inner.parts) > 1 else path.stem.split("-")[0]
        files.setdefault(name, []).append(path)
    if not files:
        raise InputError(f"{base}: no Parquet file of a split; it has {listed(_inside(base))}")
    return files


def _inside(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def _require_inside(copy: Path, path: Path) -> None:
    """Refuse files outside the copy; the hub's own cache links to its blobs."""
    root, target = copy.resolve(), path.resolve()
    allowed = [root]
    if root.parent.name == "snapshots":
        allowed.append(root.parent.parent / "blobs")
    if not any(target.is_relative_to(place) for place in allowed):
        raise InputError(
            f"{path} leads out of the copy, to {target}; put the file itself into {copy}"
        )
