"""Labels of single-best-answer items and their effect on perturbed copies."""

import pandas as pd

from benchwright.core.content_hash import content_hash
from benchwright.methods.wicked.perturbation import perturb_items
from benchwright.methods.wicked.single_best_answer.decisions import read_labels
from benchwright.params.perturbation import PerturbationParams
from benchwright.tables.items import Demonstrations, Items
from benchwright.tables.wicked import PerturbationChanges, PerturbedItems, Rephrasings

NOBODY = {"sba": [], "other": []}


def items(n: int) -> pd.DataFrame:
    rows = []
    for i in range(n):
        question, choices = f"What of {i}?", [f"{i} {word}" for word in ("red", "blue", "green")]
        row = (f"q{i}", "test", "s", question, choices, i % 3, choices[i % 3], [i % 3])
        rows.append((*row, *[None] * 5, content_hash(question, choices)))
    return Items.from_rows(rows)


def labels(*rows: tuple[str, object]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=["item_id", "sba"])


def test_one_positive_label_is_enough() -> None:
    seen = read_labels(labels(("q1", 0), ("q2", 0), ("q1", 1), ("q3", "1")), PerturbationParams())
    assert seen == {"q1": 1, "q2": 0, "q3": 1}


def test_labelled_items_stay_unaltered_in_every_copy() -> None:
    chosen = {"sba": ["q1"], "other": []}
    perturbed_items, changes = perturb_items(
        items(6),
        Demonstrations.empty(),
        chosen,
        Rephrasings.empty(),
        PerturbationParams(copies=3),
        0,
    )
    assert list(PerturbedItems.validate(perturbed_items).columns) == PerturbedItems.columns()
    assert list(PerturbationChanges.of(changes).columns) == PerturbationChanges.columns()
    assert sorted(perturbed_items["condition"].unique()) == ["wicked-1", "wicked-2", "wicked-3"]
    rows = changes[changes["item_id"] == "q1"]
    assert set(rows["reason"]) == {"single_best_answer"}
    assert changes.loc[changes["item_id"] != "q1", "altered"].all()
    last = perturbed_items.loc[perturbed_items["item_id"] != "q1", "choices"].map(
        lambda choices: choices[-1]
    )
    assert set(last) == {"None of the above"}


def test_demonstrations_are_perturbed_like_items() -> None:
    worked = items(4).assign(item_id=[f"d{i}" for i in range(4)], split="dev")
    perturbed_items, _ = perturb_items(
        items(2), worked, NOBODY, Rephrasings.empty(), PerturbationParams(copies=2), 0
    )
    shown = perturbed_items[perturbed_items["role"] == "demonstration"]
    assert len(shown) == 8
    assert all("None of the above" in choices for choices in shown["choices"])
