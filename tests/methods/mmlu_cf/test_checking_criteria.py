"""The prompts of judges, and that the requested format is readable."""

import pytest

from benchwright.methods.mmlu_cf.checking import (
    CRITERIA,
    HARMS,
    Style,
    asked_ratings,
    inquiries,
)

QUESTION = ("Which is a metal?", ["tin", "tar"], 0)


@pytest.mark.parametrize(("style", "messages"), [("together", 1), ("overall", 2)])
def test_every_criterion_and_harm_is_asked_once_in_each_style(style: Style, messages: int) -> None:
    asked = inquiries(*QUESTION, style)
    assert len(asked) == messages
    assert tuple(name for question in asked for name in question.ratings) == asked_ratings(style)
    assert [name for question in asked for name in question.harms] == [harm.name for harm in HARMS]
    for question in asked:
        assert "Question: Which is a metal?\nA. tin\nB. tar\nRight answer: A" in question.prompt


def test_the_prompt_for_a_single_rating_lists_all_five_criteria() -> None:
    assert len(CRITERIA) == 5
    overall = inquiries(*QUESTION, "overall")[0].prompt
    assert all(criterion.asks in overall for criterion in CRITERIA)


def test_an_unknown_answer_is_shown_as_unknown() -> None:
    assert "Right answer: not given" in inquiries("Q?", ["a", "b"], -1, "together")[0].prompt
