import pytest

from benchwright.logs.options import are_letters, option_position


@pytest.mark.parametrize(
    ("value", "choices", "expected"),
    [
        ("y", ("x", "y"), 1),
        (" (b). ", ("x", "y"), 1),
        ("E", ("x", "y"), -1),
        ("A", ("B", "A"), -1),  # a letter and the text of another option
        ("A", ("A", "B"), 0),
        ("x", ("x", "x"), -1),
        ("1", ("x", "y"), 1),
        ("1", ("1", "0"), 0),  # a text before an index
        (1, ("x", "y"), 1),
        (True, ("x", "y"), -1),
        (None, ("x", "y"), -1),
        ("²", ("x", "y", "z"), -1),
    ],
)
def test_options_are_named_by_text_letter_or_index(
    value: object, choices: tuple[str, ...], expected: int
) -> None:
    assert option_position(value, choices) == expected


def test_letters_are_recognised() -> None:
    assert are_letters((" A", "(B)", "C."))
    assert not are_letters(("B", "A"))
    assert not are_letters(())
