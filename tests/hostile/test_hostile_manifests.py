"""Results of halves and subset manifests with an impossible number: errors name the field."""

import json
import math
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from benchwright.core.errors import InputError
from benchwright.datasets.half_scores import read_half_result
from benchwright.exports.subset_manifest import read_subset
from hostile.accepted import HALF, SUBSET


@pytest.mark.parametrize(
    ("read", "document", "place", "value", "message"),
    [
        (read_half_result, HALF, ("all", "se"), math.nan, "all.se: Input should be"),
        (read_half_result, HALF, ("all", "accuracy"), 1.5, "all.accuracy: Input should be"),
        (read_half_result, HALF, ("shots",), -1, "shots: Input should be"),
        (read_half_result, HALF, ("benchmark", "test"), "x" * 64, "String should match"),
        (read_subset, SUBSET, ("subset", "of_items"), 0, "subset.of_items: Input should be"),
        (read_subset, SUBSET, ("subset", "items", 0, "weight"), -1, "weight: Input should be"),
        (read_subset, SUBSET, ("subset", "items", 0, "weight"), 0.5, "weights sum to 0.5"),
        (read_subset, SUBSET, ("subset", "items_hash"), "0", "the items differ from the exported"),
        (read_subset, SUBSET, ("subset", "items", 0, "inclusion"), 1, "inclusion is 1 for every"),
        (
            *(read_subset, SUBSET, ("subset", "items"), SUBSET["subset"]["items"] * 2),
            "an item is listed more than once",
        ),
    ],
)
def test_an_impossible_value_is_reported_with_its_field(
    tmp_path: Path,
    read: Callable[[Path], Any],
    document: Any,
    place: tuple[str | int, ...],
    value: Any,
    message: str,
) -> None:
    path = tmp_path / "told.json"
    path.write_text(json.dumps(document))
    read(path)
    changed = part = deepcopy(document)
    for name in place[:-1]:
        part = part[name]
    part[place[-1]] = value
    path.write_text(json.dumps(changed))
    with pytest.raises(InputError, match="told") as caught:
        read(path)
    assert message in str(caught.value)
