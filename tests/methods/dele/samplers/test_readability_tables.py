"""The easiest and hardest items, and the bands of the paper's Tables 4 and 5."""

import pytest

from benchwright.methods.dele.samplers.pool import SamplingPool
from benchwright.methods.dele.samplers.readability import (
    easiest_and_hardest,
    flesch_reading_ease,
    gunning_fog,
    readability_bands,
)

TEXTS = {
    "d": "Photosynthesis requires",
    "c": "Can pigs fly?",
    "b": "The doctor carefully examined the patient.",
    "a": "Can pigs fly?",
    "e": "____",
    "f": "Is a dog always a dog?",
}


def _pool(texts: dict[str, str]) -> SamplingPool:
    return SamplingPool(tuple(texts), ("",) * len(texts), tuple(texts.values()))


def test_extremes() -> None:
    table = easiest_and_hardest(_pool(TEXTS), each=2)
    assert table[["end", "rank", "item_id"]].to_numpy().tolist() == [
        ["easy", 1, "a"],  # as easy as c: by id
        ["easy", 2, "c"],
        ["hard", 1, "d"],
        ["hard", 2, "b"],
    ]
    assert table["difficult_words"].tolist() == pytest.approx([0, 0, 1, 0.5])


def test_extremes_never_overlap_and_texts_without_words_are_out() -> None:
    table = easiest_and_hardest(_pool(TEXTS), each=3)
    assert len(table) == 4  # of five items with words
    assert easiest_and_hardest(_pool({"e": "____"})).empty


def test_extremes_by_flesch_are_easy_where_it_is_high() -> None:
    table = easiest_and_hardest(_pool(TEXTS), "flesch", each=2)
    assert (
        table["flesch"].tolist()
        == sorted(table["flesch"], reverse=True)[:2] + sorted(table["flesch"])[:2]
    )
    assert table.loc[table["end"] == "hard", "item_id"].tolist()[0] == "d"


@pytest.mark.parametrize(
    ("text", "flesch", "fog"),
    [
        ("Can pigs fly?", "very easy", "very easy"),  # 119.19, 1.2
        ("Photosynthesis requires", "very difficult", "very difficult"),
    ],
)
def test_bands(text: str, flesch: str, fog: str) -> None:
    table = readability_bands(_pool({"x": text, "e": "____"}))
    full = table[table["n"] == 1]
    assert full["band"].tolist() == [flesch, fog]
    assert full["share"].tolist() == [1, 1]  # of the items that have words


def test_bands_meet_and_cover_everything() -> None:
    table = readability_bands(_pool(TEXTS))
    for index, value in (("flesch", flesch_reading_ease), ("gunning_fog", gunning_fog)):
        bands = table[table["index"] == index].sort_values("low", na_position="first")
        assert bands["n"].sum() == 5
        assert bands["high"].tolist()[:-1] == bands["low"].tolist()[1:]
        for band in bands.itertuples():
            low = float("-inf") if band.low != band.low else band.low
            high = float("inf") if band.high != band.high else band.high
            assert band.n == sum(low <= value(text) < high for text in TEXTS.values())
    edges = table[table["index"] == "flesch"]["low"].tolist()[:6]
    assert edges == [90, 80, 70, 60, 50, 30]


def test_bands_of_nothing() -> None:
    assert readability_bands(_pool({}))["share"].sum() == 0
