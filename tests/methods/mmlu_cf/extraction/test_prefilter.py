"""Documents without signs of options are skipped; conftest.py checks that no others are."""

import pyarrow as pa
import pytest

from benchwright.methods.mmlu_cf.extraction.extract import may_hold_questions, questions_in

PROSE = (
    "<html><body><nav><ul><li><a href='/'>Home</a></li><li>News</li></ul></nav><p>The river rose in"
    " <b>March</b>, and a bridge fell. Who had built it? Nobody knew; a mason from D. was asked."
    "</p><ul><li>bread</li><li>milk</li></ul></body></html>"
)
NOTES = (
    "# Notes\n\nCall me at 5. I'd rather go with a friend. We'd like a plan b for the trip.\n\n"
    "- eggs\n- flour\n\nWhat's next? Nothing. In the U.S. of A. Mr. B agrees.\n1. Wash\n2. Rinse\n"
)


def test_prose_and_nulls_are_skipped_and_positions_are_kept() -> None:
    texts = pa.array([None, "A. x\nB. y", PROSE, NOTES, ""], pa.large_string())
    assert may_hold_questions(texts).tolist() == [False, True, False, False, False]
    assert questions_in(PROSE, "text/html") == questions_in(NOTES, "text/plain") == []


@pytest.mark.parametrize(
    "page",
    [
        "<ol type=A><li>Paris</li><li>Rome</li></ol>",
        "What?\n<table><tr><td>A</td><td>Paris</td></tr><tr><td>B</td><td>Rome</td></tr></table>",
        "<p><b>A</b>) Paris</p><p><b>B</b>) Rome</p>",
        "(a) Paris (c) Rome",
        "1. Paris\n2. Rome\nAnswer: 2",
        "1. Paris\n2. Rome\nThe correct option is (2) since",
        "* Paris\n* Rome [Ans: Rome]",
        "<li class='isCorrect'>Paris</li>",
        "<div data-correct-answer=2>",
        "Which? <select><option>Paris<option>Rome</select>",
        "Which?<br><input type='radio'>Paris<input type='radio'>Rome",
        "Which?\n- [ ] Paris\n- [x] Rome",
        "Which?<ul><li>Paris</li><li><b>Rome</b></li></ul>",
        "<p itemprop=suggestedAnswer>",
        "Which? {\n=Paris\n~Rome\n}",
        "а) Париж\nб) Рим",
    ],
)
def test_each_sign_of_options_passes_the_prefilter(page: str) -> None:
    assert may_hold_questions(pa.array([page], pa.large_string())).tolist() == [True]
