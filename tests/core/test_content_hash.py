import pytest

from benchwright.core.content_hash import content_hash


def test_hash_of_an_item_is_stable() -> None:
    # Tables and exports contain these hashes, so they must never change.
    assert content_hash("2 + 2?", ["3", "4"]) == "ce37d7ff109c40760c1277dfe6d5bfe5"


def test_composed_and_decomposed_letters_have_equal_hashes() -> None:
    assert content_hash("caf\u00e9", ["\u00e9"]) == content_hash("cafe\u0301", ["e\u0301"])


@pytest.mark.parametrize(
    ("question", "choices"),
    [
        ("Which?", ["b", "a"]),
        ("which?", ["a", "b"]),
        ("Which? ", ["a", "b"]),
        ("Which?", ["a", "b", ""]),
        ("Which?", ["ab"]),
        ("Which?a", ["b"]),
    ],
)
def test_visible_differences_change_the_hash(question: str, choices: list[str]) -> None:
    assert content_hash(question, choices) != content_hash("Which?", ["a", "b"])
