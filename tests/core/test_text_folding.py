"""Texts that differ only in white space, case or Unicode form are equal after folding."""

import pytest

from benchwright.core.text_folding import folded, normal_text, single_spaced


@pytest.mark.parametrize(
    ("fold", "text", "wanted"),
    [
        (single_spaced, " Which\u00a0of \n\tthese? ", "Which of these?"),
        (folded, " STRASSE\nStraße ", "strasse strasse"),
        (normal_text, " Cafe\u0301 \t X", "Café X"),
    ],
)
def test_only_the_named_differences_are_removed(fold, text, wanted) -> None:
    assert fold(text) == wanted
    assert fold(wanted) == wanted
