"""A folder in the layout of the Hugging Face hub, its rows read as files of rows are.

`datasets` is asked which files make a split, and for nothing else: its readers guess types, cast to
what a card claims, and keep what they read under the patterns of the card, so that the copies of
two benchmarks, or an old and a new one, are taken for each other.
"""

import json
import math
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from benchwright.core.errors import InputError
from benchwright.datasets.unpacked import EXPANSION, opened, told_broken, utf8_text
from benchwright.datasets.verbatim import (
    joined,
    json_rows,
    listed,
    read_verbatim,
    table_of_rows,
)

_CARDS = ("README.md", ".huggingface.yaml")
_INFOS = "dataset_infos.json"  # older than the card; what it claims of the rows is not used
_JSON = (".json", ".ndjson")
_ADVICE = (
    "a copy has files of Parquet, JSON lines, CSV or TSV, and the card of the hub or names like "
    "test-00000-of-00001.parquet"
)


def split_files(copy: Path, config: str | None) -> dict[str, list[Path]]:
    """The files of every split of one configuration, by the split's own name.

    As the card declares them; without a card, or where it has no such configuration, by the names
    `<config>/<split>-….parquet` and `<config>/<split>/….parquet`.

    Args:
        copy: the folder.
        config: a configuration; None is the default one.

    Raises:
        InputError: the card cannot be read, or no split is found, or a file lies outside `copy`
            (by its name, a link, or a URL).
    """
    try:
        files = _declared(copy, config)
    except InputError:
        raise
    except Exception as error:  # whatever the card makes `datasets` do
        said = next(iter(str(error).splitlines()), "")[:200] or type(error).__name__
        raise InputError(f"{copy}: cannot be read: {said}; {_ADVICE}") from error
    if files is None:
        files = _parquet_by_split(copy, config)
    for path in (path for paths in files.values() for path in paths):
        _require_inside(copy, path)
    return files


def read_copied(files: Sequence[Path]) -> pd.DataFrame:
    """The rows of a split's files, one after the other, cells as objects.

    Read are Parquet, JSON lines, CSV and TSV, and JSON that is one list of objects; texts stay as
    they are ("01", "NA"). A column that a file lacks is None in its rows.

    Raises:
        InputError: as `datasets.verbatim.read_verbatim`.
    """
    return joined([_read(path) for path in files])


def _read(path: Path) -> pd.DataFrame:
    bare = path.with_suffix("") if path.suffix == ".gz" else path
    if bare.suffix not in _JSON:
        return read_verbatim(path)
    with told_broken(path), opened(path) as stream:
        text = utf8_text(stream.read())
        return table_of_rows(_list_of_objects(text) or json_rows(text.split("\n")))


def _list_of_objects(text: str) -> list[dict[str, Any]]:
    """The rows of a file that is one list; none where it is none."""
    if not text.lstrip().startswith("["):
        return []
    try:
        rows = json.loads(text)
    except RecursionError as error:
        raise InputError("is not JSON: it is nested too deeply") from error
    for number, row in enumerate(rows):
        if not isinstance(row, dict):
            raise InputError(f"entry {number} is {row!r:.40}; an object is accepted")
    return list(rows)


def _declared(copy: Path, config: str | None) -> dict[str, list[Path]] | None:
    """What the card says, or None where it does not know the configuration."""
    if not any((copy / name).is_file() for name in _CARDS):
        return None
    _require_own_files(copy)
    if (infos := copy / _INFOS).is_file():
        with told_broken(infos), infos.open(encoding="utf-8") as stream:
            json.load(stream)
    import datasets

    names = datasets.get_dataset_config_names(str(copy))
    if not names or (config is not None and config not in names):
        return None
    with tempfile.TemporaryDirectory() as scratch:  # nothing is built, but a lock is left
        builder = datasets.load_dataset_builder(str(copy), name=config, cache_dir=scratch)
    found: Mapping[Any, Iterable[str]] = builder.config.data_files or {}
    return {str(split): [Path(str(path)) for path in paths] for split, paths in found.items()}


def _require_own_files(copy: Path) -> None:
    """A copy is read without a network: `datasets` would fetch what a card names by a URL."""
    for card in (copy / name for name in _CARDS):
        said = _yaml_of(card) if card.is_file() else None
        if said is not None and _nodes(said, {}) > EXPANSION * card.stat().st_size:
            raise InputError(f"{card}: its aliases (*name) multiply without end; write them out")
        configs = said.get("configs") if isinstance(said, dict) else None
        address = next((text for text in _texts(configs) if "://" in text), None)
        if address is not None:
            raise InputError(
                f"{card}: names {address[:120]!r}, which is not in the copy; put the file there "
                "and name it"
            )


def _yaml_of(card: Path) -> Any:
    """The YAML of a card, and before its text that of a README."""
    import yaml
    from huggingface_hub import metadata_load

    with told_broken(card):
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
    """How many values it is, each alias written out; a list in itself is endless."""
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
    """Files of a copy without a card: `test-00000-of-00001.parquet` or `test/0000.parquet`."""
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
    """Refuses what a link or `..` leads to; the hub's own cache links to its blobs."""
    root, target = copy.resolve(), path.resolve()
    allowed = [root]
    if root.parent.name == "snapshots":
        allowed.append(root.parent.parent / "blobs")
    if not any(target.is_relative_to(place) for place in allowed):
        raise InputError(
            f"{path} leads out of the copy, to {target}; put the file itself into {copy}"
        )
