"""Human ratings: whose, and of which model."""

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
def test_a_model_is_found_by_its_name_however_it_is_written_and_was_asked(name: str) -> None:
    assert rating_of(name, read_ratings(NOTHING, CONF)) == 1111


@pytest.mark.parametrize("name", ["Yi-34B", "Yi-34B-Chat-v2", "chat"])
def test_a_similar_name_is_another_model(name: str) -> None:
    assert np.isnan(rating_of(name, read_ratings(NOTHING, CONF)))


def test_the_users_ratings_replace_the_configured_ones_and_are_never_mixed_with_them() -> None:
    seen = read_ratings(pd.DataFrame({"model": ["m"], "rating": [7]}), CONF)
    assert rating_of("m", seen) == 7
    assert np.isnan(rating_of("Yi-34B-Chat", seen))
    assert "user" in seen.source
    assert read_ratings(NOTHING, CONF).source == "Arena 2024-09-23"


def test_an_exact_name_goes_before_a_similar_one() -> None:
    user = pd.DataFrame({"model": ["x/m", "y/m"], "rating": [1, 2]})
    assert rating_of("x/m", read_ratings(user, CONF)) == 1


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ({"name": ["m"], "rating": [1]}, "no column 'model'"),
        ({"model": ["m"], "elo": [1]}, "no column 'rating'"),
        ({"model": ["m", "n"], "rating": ["1", "high"]}, "row 2: rating is 'high'"),
        ({"model": ["m"], "rating": [None]}, "row 1: rating is None"),
        ({"model": ["m", "m"], "rating": [1, 2]}, "row 2: 'm' has two different ratings"),
    ],
)
def test_a_wrong_file_is_named_with_its_row(table: dict[str, list], said: str) -> None:
    with pytest.raises(InputError, match="the ratings file") as seen:
        read_ratings(pd.DataFrame(table, dtype=object), CONF)
    assert said in str(seen.value)
    assert "\n" not in str(seen.value)


def test_the_same_rating_twice_is_fine() -> None:
    user = pd.DataFrame({"model": ["m", "m"], "rating": [3, 3]})
    assert rating_of("m", read_ratings(user, CONF)) == 3
