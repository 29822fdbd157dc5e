"""Clean items → items with a field, through the nodes."""

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import pytest
from kedro.io import DataCatalog, MemoryDataset
from kedro.runner import SequentialRunner

from benchwright.core.errors import InputError
from benchwright.core.stored_shards import MemoryShards
from benchwright.methods.mmlu_cf import named_fields as nodes
from benchwright.methods.mmlu_cf.fields import FIELDS, bundled_examples
from benchwright.methods.mmlu_cf.judging import judges as judges_module
from benchwright.methods.mmlu_cf.judging.judges import ROUNDS
from benchwright.params.mmlu_cf import FieldsParams
from benchwright.params.scoring import ModelsParams, ScoringParams
from benchwright.pipelines.fields import create_pipeline
from benchwright.similarity.vectors import EncodedTexts
from benchwright.tables.mmlu_cf import CleanItems
from benchwright.tables.similarity import TextVectors

FIELD_OF = bundled_examples().set_index("question")["field"]


class Kept(MemoryDataset):
    """Data in memory that is kept after the run."""

    def _release(self) -> None:
        pass


def encode(texts: Sequence[str], cache: pd.DataFrame, *_: Any) -> EncodedTexts:
    """Encode a text by the field of the example that it begins with."""
    vectors = {}
    for text in texts:
        field = next(FIELD_OF[example] for example in FIELD_OF.index if text.startswith(example))
        vectors[text] = np.eye(len(FIELDS), dtype=np.float32)[FIELDS.index(field)]
    rows = [(hashlib.md5(text.encode()).hexdigest(), "e", v) for text, v in vectors.items()]  # noqa: S324
    return EncodedTexts(vectors, TextVectors.from_rows(rows))


@pytest.fixture(autouse=True)
def _an_encoder_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nodes, "encode_texts", encode)


def clean_items(fields: Sequence[str]) -> pd.DataFrame:
    """Return an item for each field: its first example, with choices."""
    rows = [
        (
            f"d{place}#1",
            f"d{place}",
            None,
            f"{place % 2}.example",
            bundled_examples().query("field == @field")["question"].iloc[0],
            ["yes", "no"],
            0,
            None,
            None,
            None,
            np.nan,
        )
        for place, field in enumerate(fields)
    ]
    return CleanItems.from_rows(rows)


def run(items: pd.DataFrame, **params: Any) -> dict[str, Any]:
    inputs = {
        "clean_items": items,
        "judge_store": MemoryShards(),
        "params:fields": FieldsParams(**params),
        "params:models": ModelsParams(),
        "params:scoring": ScoringParams(),
    }
    catalog = DataCatalog({name: MemoryDataset(data) for name, data in inputs.items()})
    catalog["fielded_items"] = Kept()
    outputs = SequentialRunner().run(create_pipeline(), catalog)
    return {name: catalog.load(name) for name in {*outputs, "fielded_items"}}


def test_each_item_gets_the_field_that_its_vector_points_to() -> None:
    wanted = ["Law", "Math", "Other", "Law"]
    items = clean_items(wanted)
    out = run(items)
    fielded = CleanItems.validate(out["fielded_items"])
    assert fielded["field"].tolist() == wanted
    assert fielded["field_confidence"].between(0.5, 1).all()
    pd.testing.assert_frame_equal(
        fielded.drop(columns=["field", "field_confidence"]),
        items.drop(columns=["field", "field_confidence"]),
    )
    assert list(out["field_rounds"].columns) == ROUNDS
    nothing = run(CleanItems.empty(), by="judges")
    assert nothing["fielded_items"].empty
    assert nothing["field_counts"]["items"].sum() == 0
    with pytest.raises(InputError, match=r"fields\.judges is empty"):
        run(items, by="judges")


def test_field_counts_have_domains_and_no_text() -> None:
    out = run(clean_items(["Law", "Math", "Law", "Other", "Law"]))
    counts = out["field_counts"].set_index("field")
    assert counts.index.tolist() == [*FIELDS, ""]
    assert counts.loc["Law", ["items", "domains"]].tolist() == [3, 1]
    assert counts["items"].sum() == 5
    assert np.isnan(counts.loc["History", "confidence"])
    assert "d0" not in out["field_counts"].to_json()


def test_judges_assign_fields_and_their_replies_are_not_saved(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stores = []

    def ask_model(name: str, models: Any, scoring: Any, store: Any, **_: Any) -> Any:
        stores.append(store)
        return lambda texts, attempt=1: ["Law" if "contract" in t else "?" for t in texts]

    monkeypatch.setattr(judges_module, "ask_model", ask_model)
    items = clean_items(["Law", "Math"])
    out = run(items, by="judges", judges=("one", "two"), attempts=2)
    assert out["fielded_items"]["field"].fillna("").tolist() == ["Law", ""]
    assert out["field_rounds"]["asked"].tolist() == [2, 1, 2, 1]
    assert out["field_counts"].set_index("field").loc["", "items"] == 1
    assert [type(store).__name__ for store in stores] == ["MemoryShards"] * 2
