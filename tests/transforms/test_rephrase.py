"""Rephrasing with several attempts, and extraction of the question from a reply."""

from collections.abc import Callable, Sequence

import pytest

from benchwright.params.perturbation import RephraseParams
from benchwright.transforms.rephrase import (
    Attempt,
    Question,
    read_reply,
    rephrase,
    rephrase_prompt,
)
from benchwright.transforms.rephrase_checks import Asked

PARAMS = RephraseParams(model="m", attempts=3, min_similarity=0.8)
BEFORE = "Which of these metals is the lightest?"
GOOD = "Of these metals, which one is lightest?"
METALS = ("iron", "lithium")


class Said:
    """A model with given replies for each attempt."""

    def __init__(self, *replies: Callable[[str], str | None] | str | None) -> None:
        self.replies = replies
        self.asked: list[tuple[int, list[str]]] = []

    def __call__(self, texts: Sequence[str], attempt: int = 1) -> list[str | None]:
        self.asked.append((attempt, list(texts)))
        reply = self.replies[attempt - 1]
        return [reply(text) if callable(reply) else reply for text in texts]


def alike(before: Sequence[str], after: Sequence[str]) -> list[float]:
    return [1.0] * len(before)


def metals(item_id: str = "a", text: str = BEFORE) -> Question:
    return Question("item", item_id, text, METALS, 1)


def test_only_failed_questions_are_asked_again() -> None:
    other = metals("b", "Which of these metals is the heaviest?")
    replies = Said(lambda text: GOOD if "lightest" in text else "I'm sorry.", "Which is heaviest?")
    failed, used, first = rephrase([other, metals()], replies, alike, PARAMS)
    assert first == Attempt("item", "a", 1, BEFORE, GOOD, GOOD, 1.0, (), True)
    assert (used.item_id, used.attempt, used.used) == ("b", 2, True)
    assert (failed.failed, failed.after, failed.used) == (("refusal",), None, False)
    assert [len(texts) for _, texts in replies.asked] == [2, 1]


def test_question_is_kept_if_no_attempt_passes() -> None:
    made = rephrase([metals()], Said(BEFORE, "Which is lithium?", "Why?"), alike, PARAMS)
    assert [(each.attempt, each.used) for each in made] == [(1, False), (2, False), (3, False)]
    assert made[0].failed == ("unchanged",)
    assert "options" in made[1].failed


def test_a_wording_with_low_similarity_is_rejected() -> None:
    near = [[0.79], [0.8]]
    made = rephrase([metals()], Said(GOOD, GOOD), lambda *_: near.pop(0), PARAMS)
    assert [(each.failed, each.used) for each in made] == [(("similarity",), False), ((), True)]
    [lost, *_] = rephrase([metals()], Said(GOOD, GOOD, GOOD), lambda *_: [float("nan")], PARAMS)
    assert lost.failed == ("similarity",)


def test_a_prompt_that_is_too_long_is_not_asked_again() -> None:
    replies = Said(None)
    [made] = rephrase([metals()], replies, alike, PARAMS)
    assert (made.reply, made.after, made.failed) == (None, None, ("too_long",))
    assert len(replies.asked) == 1


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("____", "nothing_to_rephrase"),
        (("a long line of text " * 30 + "\n") * 2 + "Signed by the king.", "passage"),
    ],
)
def test_questions_that_cannot_be_rephrased_are_recorded_with_the_reason(
    text: str, reason: str
) -> None:
    replies = Said()
    [made] = rephrase([metals(text=text)], replies, alike, PARAMS)
    assert (made.failed, made.used, made.before) == ((reason,), False, text)
    assert not replies.asked


def test_passages_are_shown_and_kept_and_open_ended_questions_rephrased() -> None:
    passage = "It was 1812 and the army marched. " * 10 + "\n"
    replies = Said(GOOD)
    [made] = rephrase([metals(text=passage + BEFORE)], replies, alike, PARAMS)
    assert made.after == passage + GOOD
    [(_, [prompt])] = replies.asked
    assert passage.strip() in prompt
    question = Question("item", "a", "How many eggs are half a dozen eggs?", (), -1, "6")
    [made] = rephrase([question], Said("Half a dozen eggs are how many?"), alike, PARAMS)
    assert made.used


@pytest.mark.parametrize(
    "reply",
    [
        f'"{GOOD}"',
        f'Rephrased question: "{GOOD}"',
        f"Here is the question in other words:\n\n{GOOD}",
        f"Sure! Here's a rephrased version:\n\n“{GOOD}”",
        f"<think>Which one? A. or B.?</think>\n\n{GOOD}\n",
    ],
)
def test_question_is_extracted_from_text_around_it(reply: str) -> None:
    assert read_reply(reply, BEFORE) == (GOOD, "")


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (None, "too_long"),
        ("  \n", "empty"),
        ('"?"', "empty"),
        ("I'm sorry, but I cannot help with that.", "refusal"),
        (f"{GOOD}\nA. iron\nB. lithium", "options"),
        (f"{GOOD} The correct answer is lithium.", "answered"),
        (f"1. {GOOD}\n2. Which metal weighs least?", "several"),
        (f"{GOOD}\n\nI changed the order of words.", "several"),
    ],
)
def test_replies_without_a_single_question_are_rejected(reply: str | None, reason: str) -> None:
    assert read_reply(reply, BEFORE) == (None, reason)


@pytest.mark.parametrize("after", ['"Ode" is', "√16 equals", "(a + b)² equals"])
def test_marks_at_the_start_belong_to_the_question(after: str) -> None:
    assert read_reply(after, f"Nothing but {after}") == (after, "")
    assert read_reply(f"Rephrased question: {after}", "It is") == (after, "")


def test_prompt_states_the_form_and_shows_the_options() -> None:
    stem = metals(text="The lightest of these metals is")
    prompt = rephrase_prompt(stem, Asked("", stem.text))
    assert "unfinished sentence" in prompt
    assert "A. iron\nB. lithium" in prompt
    assert prompt.index(stem.text) < prompt.index("A. iron")
    assert "unfinished" not in rephrase_prompt(metals(), Asked("", BEFORE))
    gap = "The ____ is the lightest."
    assert "keep the gap" in rephrase_prompt(metals(text=gap), Asked("", gap))
