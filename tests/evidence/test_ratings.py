"""Human ratings: their source and the models that they belong to."""

import numpy as np
import pandas as pd
import pytest

from benchwright.core.errors import InputError
from benchwright.evidence.rank_agreement import rating_of, read_ratings
from benchwright.params.evaluation import RatingsParams

CONF = RatingsParams(source="Arena", date="2024-09-23", values={"Yi-34B-Chat": 1111})
NOTHING = pd.DataFrame({"model": [], "rating": []})


@pytest.mark.parametrize(
    "name",
    ["Yi-34B-Chat", "01-ai/Yi-34B-Chat", "01-ai/yi-34b-chat@letters-5", "yi-34b-chat@cloze-0"],
)
def test_model_names_match_in_any_spelling_and_configuration(name: str) -> None:
    assert rating_of(name, read_ratings(NOTHING, CONF)) == 1111


@pytest.mark.parametrize("name", ["Yi-34B", "Yi-34B-Chat-v2", "chat"])
def test_similar_names_are_different_models(name: str) -> None:
    assert np.isnan(rating_of(name, read_ratings(NOTHING, CONF)))


def test_ratings_of_the_user_replace_the_configured_ones() -> None:
    seen = read_ratings(pd.DataFrame({"model": ["m"], "rating": [7]}), CONF)
    assert rating_of("m", seen) == 7
    assert np.isnan(rating_of("Yi-34B-Chat", seen))
    assert "user" in seen.source
    assert read_ratings(NOTHING, CONF).source == "Arena 2024-09-23"


def test_exact_name_takes_precedence() -> None:
    user = pd.DataFrame({"model": ["x/m", "y/m"], "rating": [1, 2]})
    assert rating_of("x/m", read_ratings(user, CONF)) == 1


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"name": ["m"], "rating": [1]}, "no column 'model'"),
        ({"model": ["m"], "elo": [1]}, "no column 'rating'"),
        ({"model": ["m", "n"], "rating": ["1", "high"]}, "row 2: rating is 'high'"),
        ({"model": ["m"], "rating": [None]}, "row 1: rating is None"),
        ({"model": ["m", "m"], "rating": [1, 2]}, "row 2: 'm' has two different ratings"),
    ],
)
def test_error_names_the_file_and_row(table: dict[str, list], message: str) -> None:
    with pytest.raises(InputError, match="the ratings file") as seen:
        read_ratings(pd.DataFrame(table, dtype=object), CONF)
    assert message in str(seen.value)
    assert "\n" not in str(seen.value)


def test_repeated_equal_ratings_are_accepted() -> None:
    user = pd.DataFrame({"model": ["m", "m"], "rating": [3, 3]})
    assert rating_of("m", read_ratings(user, CONF)) == 3
