"""`classifier.json` with one invalid field: the error names the field."""

import json
import math
from pathlib import Path
from typing import Any

import pytest
from kedro.io import DatasetError

from benchwright.core.errors import one_line
from benchwright.datasets.classifier_folder import ClassifierFolder
from hostile.accepted import BERT, EMBEDDING


def changed(document: dict[str, Any], path: str, value: Any) -> dict[str, Any]:
    """A copy with the value at the place, or without the place where it is Ellipsis."""
    copy = json.loads(json.dumps(document))
    *above, last = path.split(".")
    place: Any = copy
    for name in above:
        place = place[int(name) if isinstance(place, list) else name]
    if value is ...:
        del place[last]
    else:
        place[int(last) if isinstance(place, list) else last] = value
    return dict(copy)


def load(folder: Path, document: Any) -> dict[str, Any] | None:
    (folder / "classifier.json").write_text(json.dumps(document))
    return ClassifierFolder(folder=str(folder)).load()


@pytest.mark.parametrize("document", [EMBEDDING, BERT], ids=["embedding", "bert"])
def test_a_saved_classifier_is_read(tmp_path: Path, document: dict[str, Any]) -> None:
    read = load(tmp_path, document)
    assert read is not None
    assert read["threshold"] == 0.2
    assert math.isnan(read["operating_points"][0]["precision"])
    assert ("weights_folder" in read) == (document["kind"] == "bert")


CHANGES: list[tuple[str, Any, str]] = [
    ("kind", "pickle", "kind: Input should be 'embedding'"),
    ("threshold", 1.5, "threshold: "),
    ("groups", ..., "logistic or groups is missing"),
    ("logistic", None, "logistic or groups is missing"),
    ("logistic.means", [0.0], "logistic: 1 means for 2 features"),
    ("logistic.features", ["a", "a"], "logistic: a feature is listed more than once"),
    ("logistic.scales.0", 0.0, "logistic.scales.0: "),
    ("operating_points.0.recall", 1.01, "operating_points.0: recall is 1.01; expected 0 to 1"),
    ("operating_points.0.share_flagged", -0.1, "operating_points.0: share_flagged is -0.1"),
    ("operating_points.0.precision", math.inf, "operating_points.0: precision is inf"),
    ("trained_on.labels", "mine", "trained_on.labels: "),
]


@pytest.mark.parametrize(("place", "value", "reason"), CHANGES)
def test_a_changed_field_is_named(tmp_path: Path, place: str, value: Any, reason: str) -> None:
    with pytest.raises(DatasetError) as caught:
        load(tmp_path, changed(EMBEDDING, place, value))
    message = one_line(caught.value) or ""
    assert message.startswith(f"{tmp_path / 'classifier.json'}: {reason}"), message
    assert message.endswith("; run kedro run --pipeline sba to train a new one")
    assert "\n" not in message


@pytest.mark.parametrize(
    ("place", "value"),
    [("fine_tuning", None), ("fine_tuning.epochs", 0), ("weights", "../x"), ("weights", [1])],
)
def test_a_fine_tuned_classifier_is_checked(tmp_path: Path, place: str, value: Any) -> None:
    with pytest.raises(DatasetError, match="kedro run --pipeline sba to train"):
        load(tmp_path, changed(BERT, place, value))
