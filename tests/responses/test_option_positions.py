"""Position sensitivity."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import pytest

from benchwright.responses.option_positions import measure_positions
from benchwright.tables.items import Items
from benchwright.tables.responses import Responses
from scoring.scoring_examples import item

ITEMS = Items.from_rows([tuple(item(f"t/{i}", answer=i).values()) for i in range(3)])


def asked(item_id: str, condition: str, *scores: float, model: str = "m") -> dict[str, object]:
    """A response with log-likelihoods in the item's own order of options."""
    known = {
        "item_id": item_id,
        "condition": condition,
        "style": "letters",
        "shots": 0,
        "model": model,
        "repeat": 1,
        "logprobs": list(scores),
        "prediction": -1,
        "extraction": "ok",
        "source": "live",
        "prompt_id": "",
    }
    blank = {name: 0 if kind.startswith("int") else None for name, kind in KINDS.items()}
    return {**blank, **known}


KINDS = {name: str(kind) for name, kind in Responses.empty().dtypes.items()}


def responses(*rows: dict[str, object]) -> pd.DataFrame:
    table = pd.DataFrame(list(rows), columns=Responses.columns())
    floats = dict.fromkeys(("p_answer", "p_prediction", "correct"), float)
    return table.astype(floats)


def best(option: int) -> Sequence[float]:
    return [0.0 if i == option else -2.0 for i in range(4)]


def always(position: int, item_id: str, model: str = "m") -> list[dict[str, object]]:
    """Responses of a model that chooses what is shown at one position."""
    names = ["question", "rotation-1", "rotation-2", "rotation-3"]
    return [
        asked(item_id, name, *best((position + turn) % 4), model=model)
        for turn, name in enumerate(names)
    ]


def steady(option: int, item_id: str, model: str = "m") -> list[dict[str, object]]:
    """Responses of a model that chooses one option wherever it is shown."""
    names = ["question", "rotation-1", "rotation-2", "rotation-3"]
    return [asked(item_id, name, *best(option), model=model) for name in names]


def test_choice_of_a_position_changes_and_choice_of_a_content_does_not() -> None:
    rows = [*always(0, "t/0"), *steady(2, "t/1"), *steady(1, "t/0", "n"), *steady(3, "t/1", "n")]
    table, by_item = measure_positions(ITEMS, responses(*rows))
    by = table.set_index(["model", "measure"])
    assert by.loc[("m@letters-0", "changed"), "share"] == 0.5  # all of t/0, none of t/1
    assert by.loc[("n@letters-0", "changed"), "share"] == 0
    assert by.loc[("m@letters-0", "A"), "share"] == pytest.approx((1 + 0.25) / 2)
    assert by.loc[("n@letters-0", list("ABCD")), "share"].tolist() == [0.25] * 4
    assert by.loc[("m@letters-0", list("ABCD")), "gold"].tolist() == [0.25] * 4
    assert set(table["rotations"]) == {3}
    assert by_item == {"t/0": 0.5, "t/1": 0.0}  # means over both models


def test_interval_is_over_items() -> None:
    rows = [*always(0, "t/0"), *steady(2, "t/1"), *steady(2, "t/2")]
    changed = measure_positions(ITEMS, responses(*rows))[0].iloc[0]
    values = np.array([1, 0, 0])
    reach = 1.959964 * values.std(ddof=1) / np.sqrt(3)
    assert (changed["share"], changed["n_items"]) == (pytest.approx(1 / 3), 3)
    assert changed["low"] == 0  # cut
    assert changed["high"] == pytest.approx(1 / 3 + reach)


def test_unread_answers_are_left_out() -> None:
    row = asked("t/0", "rotation-1", *best(0))
    lost = [asked("t/0", "question", *best(0)), row, {**row, "condition": "rotation-2"}]
    lost[2]["logprobs"] = None
    changed = measure_positions(ITEMS, responses(*lost))[0].set_index("measure")
    assert changed.loc["changed", "share"] == 0


def test_without_rotations_there_are_no_positions() -> None:
    table, by_item = measure_positions(ITEMS, responses(asked("t/0", "question", *best(0))))
    assert table.empty
    assert by_item == {}
