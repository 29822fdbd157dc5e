"""Results of halves and subset manifests with an impossible number: errors name the field."""

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchwright.core.errors import InputError
from benchwright.datasets.half_scores import read_half_result
from benchwright.datasets.subset_manifest import read_subset
from hostile.accepted import HALF, SUBSET


def put(folder: Path, document: Any) -> Path:
    path = folder / "told.json"
    path.write_text(json.dumps(document))
    return path


def test_exported_files_are_read(tmp_path: Path) -> None:
    assert read_half_result(put(tmp_path, HALF)).all.accuracy == 0.5
    assert read_subset(put(tmp_path, SUBSET)).item_ids == ("a",)


@pytest.mark.parametrize(
    ("read", "document", "place", "value"),
    [
        (read_half_result, HALF, ("all", "se"), math.nan),
        (read_half_result, HALF, ("all", "accuracy"), 1.5),
        (read_half_result, HALF, ("shots",), -1),
        (read_half_result, HALF, ("benchmark", "test"), "x" * 64),
        (read_subset, SUBSET, ("subset", "rate"), math.nan),
        (read_subset, SUBSET, ("subset", "of_items"), 0),
        (read_subset, SUBSET, ("subset", "items", 0, "weight"), -1),
    ],
)
def test_an_impossible_number_is_reported_with_its_field(
    tmp_path: Path,
    read: Callable[[Path], Any],
    document: Any,
    place: tuple[str | int, ...],
    value: Any,
) -> None:
    changed = json.loads(json.dumps(document))
    part = changed
    for name in place[:-1]:
        part = part[name]
    part[place[-1]] = value
    with pytest.raises(InputError) as caught:
        read(put(tmp_path, changed))
    assert f"told.json: {'.'.join(map(str, place))}: Input should be" in str(caught.value) or (
        "String should match" in str(caught.value)
    )


def test_invalid_weights_and_repeated_items_are_refused(tmp_path: Path) -> None:
    for change, message in (
        ({"items": [SUBSET["subset"]["items"][0] | {"weight": 0.5}]}, "weights sum to 0.5"),
        ({"items": SUBSET["subset"]["items"] * 2}, "an item is listed more than once"),
        ({"items_hash": "0"}, "the items differ from the exported ones"),
    ):
        document = {"subset": SUBSET["subset"] | change}
        with pytest.raises(InputError, match=message):
            read_subset(put(tmp_path, document))
