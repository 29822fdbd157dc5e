"""`classifier.json` with one field changed: told by its name when it is read."""

import json
import math
from pathlib import Path
from typing import Any

import pytest
from kedro.io import DatasetError

from benchwright.core.errors import InputError, one_line
from benchwright.datasets.classifier_folder import ClassifierFolder
from benchwright.methods.mmlu_cf.fields.classifier import FieldClassifier
from hostile.fuzz_targets import TARGETS

SEEDS = [json.loads(seed) for seed in TARGETS["manifest"].seeds if b"\n" not in seed.strip()]
(EMBEDDING,) = [seed for seed in SEEDS if seed.get("kind") == "embedding"]
(BERT,) = [seed for seed in SEEDS if seed.get("kind") == "bert"]
(FIELDS,) = [seed for seed in SEEDS if "temperature" in seed]


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
def test_what_training_writes_is_read(tmp_path: Path, document: dict[str, Any]) -> None:
    read = load(tmp_path, document)
    assert read is not None
    assert read["threshold"] == 0.2
    assert math.isnan(read["operating_points"][0]["precision"])
    assert ("weights_folder" in read) == (document["kind"] == "bert")


CHANGES: list[tuple[str, Any, str]] = [
    ("kind", "pickle", "kind: Input should be 'embedding'"),
    ("kind", ..., "kind: Field required"),
    ("threshold", math.nan, "threshold: "),
    ("threshold", 1.5, "threshold: "),
    ("threshold", "0.2", "threshold: "),
    ("threshold", ..., "threshold: "),
    ("recall_target", 0, "recall_target: "),
    ("groups", ["none"], "groups.0: "),
    ("groups", ..., "groups is missing"),
    ("encoder", "x", "encoder and encoder_key are given together"),
    ("encoder", 3, "encoder: "),
    ("logistic", None, "logistic is null"),
    ("logistic", ..., "logistic is missing"),
    ("logistic.means", [0.0], "logistic: 1 means for 2 features"),
    ("logistic.scales", [1.0, 1.0, 1.0], "logistic: 3 scales for 2 features"),
    ("logistic.coefficients", [], "logistic: 0 coefficients for 2 features"),
    ("logistic.features", ["a", "a"], "logistic: a feature is named twice"),
    ("logistic.features.0", 1, "logistic.features.0: "),
    ("logistic.means.1", math.inf, "logistic.means.1: "),
    ("logistic.means.1", [0.0], "logistic.means.1: "),
    ("logistic.scales.0", 0.0, "logistic.scales.0: "),
    ("logistic.coefficients.0", math.nan, "logistic.coefficients.0: "),
    ("logistic.intercept", -math.inf, "logistic.intercept: "),
    ("logistic.intercept", 10**400, "logistic.intercept: "),
    ("operating_points", {}, "operating_points: "),
    ("operating_points.0.threshold", math.nan, "operating_points.0.threshold: "),
    ("operating_points.0.recall", 1.01, "operating_points.0: recall is 1.01; a share is 0 to 1"),
    ("operating_points.0.share_flagged", -0.1, "operating_points.0: share_flagged is -0.1"),
    ("operating_points.0.precision", math.inf, "operating_points.0: precision is inf"),
    ("operating_points.0.n", -1, "operating_points.0.n: "),
    ("operating_points.0.reason", ..., "operating_points.0.reason: "),
    ("trained_on", [], "trained_on: "),
    ("trained_on.benchmarks", {"x": "4"}, "trained_on.benchmarks.x: "),
    ("trained_on.labels", "mine", "trained_on.labels: "),
]


@pytest.mark.parametrize(("place", "value", "told"), CHANGES)
def test_a_changed_field_is_named(tmp_path: Path, place: str, value: Any, told: str) -> None:
    with pytest.raises(DatasetError) as caught:
        load(tmp_path, changed(EMBEDDING, place, value))
    said = one_line(caught.value) or ""
    assert said.startswith(f"{tmp_path / 'classifier.json'}: {told}"), said
    assert said.endswith("; kedro run --pipeline sba writes it again")
    assert "\n" not in said


@pytest.mark.parametrize(
    ("place", "value"),
    [("fine_tuning", None), ("fine_tuning.epochs", 0), ("weights", "../x"), ("weights", [1])],
)
def test_a_fine_tuned_one_is_checked_too(tmp_path: Path, place: str, value: Any) -> None:
    with pytest.raises(DatasetError, match="kedro run --pipeline sba writes it again"):
        load(tmp_path, changed(BERT, place, value))


OF_FIELDS: dict[str, tuple[dict[str, Any], str]] = {
    "a field that is none": (changed(FIELDS, "fields.0", "Alchemy"), "'Alchemy' is no field"),
    "a field twice": (changed(FIELDS, "fields.0", "Math"), "two fields or more"),
    "one field": (
        FIELDS | {"fields": ["Law"], "weights": [[1.0]], "intercepts": [0.0]},
        "two fields or more",
    ),
    "a weight": (changed(FIELDS, "weights.1.0", math.nan), "is not finite"),
    "an intercept": (changed(FIELDS, "intercepts.0", math.inf), "is not finite"),
    "a temperature of nothing": (changed(FIELDS, "temperature", 0), "temperature is 0.0"),
    "a temperature below it": (changed(FIELDS, "temperature", -1), "temperature is -1.0"),
    "a temperature without end": (changed(FIELDS, "temperature", math.inf), "temperature is inf"),
    "a huge temperature": (changed(FIELDS, "temperature", 10**400), "cannot be read"),
    "a huge weight": (changed(FIELDS, "weights.0.0", 10**400), "cannot be read"),
    "rows of other lengths": (changed(FIELDS, "weights.0", [1.0]), "cannot be read"),
    "weights of one row": (changed(FIELDS, "weights", [[1.0, 2.0]]), "different numbers"),
    "weights in a line": (changed(FIELDS, "weights", [1.0, 2.0]), "different numbers"),
    "an intercept too many": (changed(FIELDS, "intercepts", [1.0] * 3), "different numbers"),
}


@pytest.mark.parametrize("name", OF_FIELDS)
def test_a_classifier_of_fields_is_checked(name: str) -> None:
    document, told = OF_FIELDS[name]
    with pytest.raises(InputError, match="train it again") as caught:
        FieldClassifier.from_json(document)
    assert told in str(caught.value)


def test_a_whole_classifier_of_fields_is_read() -> None:
    made = FieldClassifier.from_json(FIELDS)
    assert (made.fields, made.temperature) == (("Law", "Math"), 1.5)
