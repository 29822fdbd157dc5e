import pytest

from benchwright.answers.model_names import hub_model, short_names
from benchwright.core.option_letters import LETTERS
from benchwright.logs.options import are_letters, letter_position, option_position


@pytest.mark.parametrize(
    ("text", "choices", "labels", "expected"),
    [
        ("y", ("x", "y"), (), 1),
        (" (b). ", ("x", "y"), (), 1),
        ("E", ("x", "y"), (), -1),
        ("A", ("B", "A"), (), -1),  # a letter and the text of another option
        ("A", ("A", "B"), (), 0),
        ("x", ("x", "x"), (), -1),
        ("1", ("x", "y"), (), -1),  # a number may count from 0 or from 1
        ("1", ("x", "y"), ("1", "2"), 0),
        ("1", ("1", "0"), (), 0),
        ("²", ("x", "y", "z"), (), -1),
    ],
)
def test_options_are_named_by_text_or_label(
    text: str, choices: tuple[str, ...], labels: tuple[str, ...], expected: int
) -> None:
    assert option_position(text, choices, labels=labels) == expected


@pytest.mark.parametrize(("label", "position"), [("Z", 25), ("1", 26), ("4", 29), ("5", -1)])
def test_numbers_follow_the_letters_of_more_options(label: str, position: int) -> None:
    assert letter_position(label, 30) == position
    assert letter_position("1", len(LETTERS)) == -1


def test_models_are_named_by_as_much_of_a_path_as_tells_them_apart() -> None:
    digest = "0123456789abcdef0123"
    paths = ["/d/a/step-5", "/d/b/step-5", "/d/c/", f"/d/m/{digest}", "org/m", "./c"]
    assert list(short_names(paths).values()) == [
        *("a/step-5", "b/step-5", "d/c", f"m/{digest}", "org/m", "./c"),
    ]
    assert hub_model(f"/hub/models--org--m/snapshots/{digest}/") == ("org/m", digest)
    assert hub_model("org/m") == ("org/m", "")


def test_letters_are_recognised() -> None:
    assert are_letters((" A", "(B)", "C."))
    assert not are_letters(("B", "A"))
    assert not are_letters(())
