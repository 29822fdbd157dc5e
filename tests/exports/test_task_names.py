"""Names of tasks for any file system and command line."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.exports.harness_task import slug, slugs


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("ARC-Challenge", "arc_challenge"),
        ("  Éducation: physique/chimie ", "education_physique_chimie"),
        ("../../etc", "etc"),
    ],
)
def test_words_are_joined_by_underscores(text: str, name: str) -> None:
    assert slug(text) == name


@given(st.text())
def test_a_name_is_short_and_has_letters_digits_and_underscores_only(text: str) -> None:
    assert re.fullmatch(r"[a-z0-9_]{1,70}", slug(text))


def test_only_names_that_would_be_equal_carry_a_hash() -> None:
    named = slugs(["A/B", "a b", "c"])
    assert named["c"] == "c"
    assert re.fullmatch(r"a_b_[0-9a-f]{6}", named["A/B"])
    assert named["A/B"] != named["a b"]
    assert slugs(["a b", "c", "A/B"]) == named
