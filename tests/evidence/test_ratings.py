"""Human ratings: their source, their date and the models that they belong to."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from kedro.io import DatasetError

from benchwright.core.errors import InputError
from benchwright.datasets.optional_table import RatingsFile
from benchwright.evidence.ratings import Ratings, match_ratings, ratings_of, read_ratings
from benchwright.params.evaluation import RatingsParams
from benchwright.statistics.bootstrap import fisher_interval

CONF = RatingsParams(source="Arena", history={"2024-09-23": {"Yi-34B-Chat": 1111}})
NOTHING = pd.DataFrame({"model": [], "rating": []})
HISTORY = {"2024-06-01": {"m": 1.0, "n": 2.0}, "2024-09-01": {"m": 3.0}}


def rating(model: str, *rated: str, date: str = "", **aliases: str) -> float:
    """The rating of a model among rated names, of which the first has 0, the second 1, …"""
    known = {name: float(i) for i, name in enumerate(rated)}
    return ratings_of([model], Ratings(known, "a test", date, aliases))[0]


def note(model: str, *rated: str, date: str = "") -> str:
    known = {name: float(i) for i, name in enumerate(rated)}
    table = match_ratings(pd.DataFrame({"model": [model]}), Ratings(known, "a test", date))
    assert table["rated_as"].tolist() == [""]
    return str(table["note"][0])


@pytest.mark.parametrize(
    ("name", "rated"),
    [
        ("Yi-34B-Chat", "Yi-34B-Chat"),
        ("01-ai/yi-34b-chat@letters-5", "Yi-34B-Chat"),
        ("helm:anthropic/claude-3-opus-20240229", "Claude 3 Opus"),
        ("claude-3-5-sonnet", "Claude 3.5 Sonnet (20240620)"),
        ("meta-llama__Llama-3-8B-Instruct", "Meta-Llama-3-8b-instruct"),
        ("meta-llama/Llama-2-7b-chat-hf", "Llama-2-7b-chat"),
        ("google/gemma-7b-it", "Gemma 7B Instruct"),
        ("command-r-plus", "Command R+"),
    ],
)
def test_spellings_of_one_model_match(name: str, rated: str) -> None:
    assert rating(name, rated, "another model", date="2024-09-28") == 0


@pytest.mark.parametrize(
    ("name", "rated"),
    [
        ("Yi-34B-Chat-v2", "Yi-34B-Chat"),
        ("gemma-2-2b", "gemma-22b"),
        ("Llama-3-8B-Instruct", "Llama-3.1-8B-Instruct"),
        ("gpt-4-0613", "GPT-4-0314"),
        ("openchat-3.5-1210", "OpenChat-3.5"),
        ("meta/llama-3-70b", "Llama-3-70b-Instruct"),
    ],
)
def test_similar_names_are_different_models(name: str, rated: str) -> None:
    assert np.isnan(rating(name, rated, date="2024-09-28"))


def test_ambiguous_name_is_not_matched_but_reported() -> None:
    rated = ("GPT-4o-2024-05-13", "GPT-4o-2024-08-06")
    assert np.isnan(rating("openai/gpt-4o", *rated))
    assert note("openai/gpt-4o", *rated) == f"ambiguous: {rated[0]} or {rated[1]}"
    assert rating("openai/gpt-4o", *rated, "gpt-4o") == 2  # the exact name is not ambiguous
    assert note("org/m", "x/m", "y/m") == "ambiguous: x/m or y/m"


def test_model_newer_than_the_ratings_does_not_take_those_of_its_predecessor() -> None:
    new, old = "claude-3-5-sonnet-20241022", "Claude 3.5 Sonnet"
    assert note(new, old, date="2024-09-28") == f"released after the ratings of {old}"
    assert rating(new, old, date="2024-11-01") == 0


def test_aliases_come_before_names() -> None:
    rated = ("Llama-2-70b-chat", "m")
    assert rating("m", *rated, m="llama-2-70b-chat") == 0
    assert np.isnan(rating("m", *rated, m=""))
    assert np.isnan(rating("m", *rated, m="unknown"))
    known = Ratings({"m": 1.0}, "", aliases={"m": "unknown", "n": ""})
    notes = match_ratings(pd.DataFrame({"model": ["m", "n"]}), known)["note"]
    assert notes.tolist() == ["alias unknown is not rated", "excluded by ratings.aliases"]


def test_each_rated_model_counts_once() -> None:
    models = ["m@cloze-0", "org/m@letters-0", "m@letters-5", "n", "o"]
    known = Ratings({"M": 1.0, "N": 2.0}, "a test")
    counted = ratings_of(models, known)
    np.testing.assert_array_equal(counted, [np.nan, np.nan, 1, 2, np.nan])
    table = match_ratings(pd.DataFrame({"model": models}), known).set_index("model")
    assert table["rated_as"].to_dict() == {
        **dict.fromkeys(["m@letters-5", "org/m@letters-0", "m@cloze-0"], "M"),
        "n": "N",
    }
    assert list(table.index[table["taken"]]) == ["m@letters-5", "n"]
    backwards = ratings_of(models[::-1], known)[::-1]
    np.testing.assert_array_equal(counted, backwards)


def test_ratings_of_the_user_replace_the_configured_ones() -> None:
    seen = read_ratings(pd.DataFrame({"model": ["m"], "rating": [7]}), CONF)
    assert seen.by_model == {"m": 7}
    assert seen.source == "the user's ratings file"
    assert read_ratings(NOTHING, CONF).source == "Arena, 2024-09-23"


@pytest.mark.parametrize(
    ("date", "chosen", "said"),
    [
        (None, "2024-09-01", "Arena, 2024-09-01 (latest of 2 dates)"),
        ("2024-06-01", "2024-06-01", "Arena, 2024-06-01 (one of 2 dates)"),
    ],
)
def test_one_date_of_a_history_counts_and_is_said(date: str | None, chosen: str, said: str) -> None:
    conf = RatingsParams(source="Arena", date=date, history=HISTORY)
    rows = [(m, str(r), day) for day, known in HISTORY.items() for m, r in known.items()]
    table = pd.DataFrame(rows, columns=["model", "rating", "date"])
    of_file = read_ratings(table, conf)
    assert read_ratings(NOTHING, conf)[:3] == (HISTORY[chosen], said, chosen)
    assert of_file[:3] == (
        HISTORY[chosen],
        said.replace("Arena", "the user's ratings file"),
        chosen,
    )


@pytest.mark.parametrize(
    ("table", "date", "message"),
    [
        ({"rating": ["1", "high"]}, None, "row 2: rating is 'high'"),
        ({"rating": [None, 1]}, None, "row 1: rating is None"),
        ({"rating": [1, 2]}, None, "row 2: 'm' has two different ratings"),
        ({"rating": [1, 1], "date": ["2024-01-01", ""]}, None, "row 2: date is '', not YYYY-MM-DD"),
        ({"rating": [1, 1]}, "2024-01-01", "no ratings of 2024-01-01 .*; it has no dates"),
        (
            {"rating": [1, 1], "date": ["2024-01-01", "2024-02-01"]},
            "2024-02-02",
            "expected one of 2024-01-01, 2024-02-01; did you mean '2024-02-01'",
        ),
    ],
)
def test_error_names_the_row_or_the_dates(
    table: dict[str, list], date: str | None, message: str
) -> None:
    frame = pd.DataFrame({"model": ["m", "m"]} | table, dtype=object)
    with pytest.raises(InputError, match=message) as seen:
        read_ratings(frame, RatingsParams(date=date))
    assert "\n" not in str(seen.value)


def test_a_named_file_of_ratings_must_exist(tmp_path: Path) -> None:
    file, missing = tmp_path / "r.csv", str(tmp_path / "none.csv")
    file.write_text("model,rating,more\n01,7,0\n,,\n")
    seen = RatingsFile(filepath=missing, settings={"file": str(file)}).load()
    assert seen.to_dict("records") == [{"model": "01", "rating": "7", "date": ""}]
    assert RatingsFile(filepath=missing, settings={}).load().empty
    with pytest.raises(DatasetError, match=r"ratings\.file"):
        RatingsFile(filepath=missing, settings={"file": missing}).load()


def test_interval_of_a_correlation_is_that_of_fisher() -> None:
    # tanh(artanh(.5) ± 1.96 / √25)
    assert fisher_interval(0.5, 28)[:2] == pytest.approx((0.156, 0.736), abs=5e-4)
    for undefined in (fisher_interval(0.5, 3), fisher_interval(1.0, 9), fisher_interval(np.nan, 9)):
        assert np.isnan(undefined[:2]).all()


def test_names_of_the_papers_models_find_their_ratings(shared_data: Path) -> None:
    known = pd.read_csv(shared_data / "arena" / "smart_29_models_to_arena.csv")
    table = pd.read_parquet(shared_data / "arena" / "lmarena_text_history.parquet")
    table = table.rename(columns={"arena_score": "rating"})
    ratings = read_ratings(table, RatingsParams(date="2024-12-31"))
    found = match_ratings(known.rename(columns={"hf_model": "model"}), ratings)
    named = dict(zip(found["model"], found["rated_as"], strict=True))
    right = known.set_index("hf_model")["arena_model"].dropna().to_dict()
    assert {m: name for m, name in named.items() if name} == {
        m: name for m, name in right.items() if name != "DBRX-Instruct-Preview"
    }
