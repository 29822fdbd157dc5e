import pytest

from benchwright.answers.prompt_matching import EndIndex, Frame, PromptIndex

ITEMS = [
    ("What is 1+1?", ("one", "two")),
    ("What is 1+1? Choose the larger.", ("two", "three")),
    ("Why?", ("a", "b")),
    ("Who wrote it?", ("she", "he")),
    ("Who wrote it?", ("they", "it")),
    ("Which statement\nis true?", ("first line\nsecond line", "x")),
]
INDEX = PromptIndex(*zip(*ITEMS, strict=True))
LISTED = "Question: What is  1+1?\nA. two\nB. one\nAnswer:"
OTHER = "\n\nQuestion: Never seen?\nA. k\nB. l\nAnswer:"


@pytest.mark.parametrize(
    ("prompt", "choices", "expected"),
    [
        (LISTED, (), ((0,), ("two", "one"))),
        ("Q: What is 1+1? Choose the larger.\n(A) three\n(B) two", (), ((1,), ("three", "two"))),
        # A demonstration before another question, and the question after a demonstration.
        (LISTED + " B" + OTHER, (), None),
        ("Q: Why?\nA. a\nB. b\nAnswer: A\n\n" + LISTED, (), ((0,), ("two", "one"))),
        # Without a list, the options must be known, or stand in the prompt.
        ("Question: Why?\nAnswer:", ("b", "a"), ((2,), ())),
        ("Question: Why?\nAnswer:", ("b", "c"), None),
        ("Question: Why?\nAnswer:", (), None),
        ("Who wrote it? Is it she or he?", (), ((3,), ())),
        ("Who wrote it?\nA) it\nB) they\n", (), ((4,), ("it", "they"))),
        ("Which statement is true?\nA. first line\nsecond line\nB. x\n", (), ((5,), ())),
        ("nothing of this kind", (), None),
        ("", (), None),
    ],
)
def test_item_of_a_prompt_is_the_last_question_with_its_options(
    prompt: str, choices: tuple[str, ...], expected: tuple[object, object] | None
) -> None:
    found = INDEX.find(prompt, choices)
    assert (None if found is None else tuple(found)) == expected


SHOWN = "\nA. a\nB. b\nAnswer:"


CLEANED = [
    ("[header] How to sail [title] Get a boat. then you", ("[step] Row.", "Sail!")),
    ("The cup did not fit in the box because the _ was too big.", ("cup", "box")),
    ("The cup did not fit in the box because the _ was too small.", ("cup", "box")),
    ("The dog ran and the _ was fast.", ("dog", "cat")),
    ("What is it?", ("a", "b")),
    ("So what is it?", ("c", "d")),
]


@pytest.mark.parametrize(
    ("prompt", "choices", "expected"),
    [
        ("Golf: x.\n\nBoats: How to sail. Get a boat. Then you", ("Sail!", "Row."), (0, [1, 0])),
        ("Boats: How to sail. Get a boat. Then you", ("Sail!", "Swim."), None),
        ("The dog ran and the dog", ("dog", "cat"), (3, [0, 1])),
        # Two sentences are the same up to the gap.
        ("The cup did not fit in the box because the cup", ("cup", "box"), None),
        # The options are unknown, so the longest question counts; words must be whole.
        ("Q: What is it?\nA: x\n\nQ: So what is it?\nA:", (), (5, [])),
        ("Q: What is it?\nA:", (), (4, [])),
        ("Q: Somewhat is it?\nA:", (), None),
        ("is it?", (), None),
    ],
)
def test_cleaned_question_is_found_at_the_end_of_a_prompt(
    prompt: str, choices: tuple[str, ...], expected: tuple[int, list[int]] | None
) -> None:
    index = EndIndex(*zip(*CLEANED, strict=True))
    assert index.find(prompt, choices) == expected


@pytest.mark.parametrize(
    "prompts",
    [
        # An instruction; demonstrations, the same or others for each question; no options listed.
        [f"Choose.\nQuestion: {q}{SHOWN}" for q in ("Why?", "How?")],
        [f"Choose.\n\nQuestion: X?{SHOWN} A\n\nQuestion: {q}{SHOWN}" for q in ("Why?", "Who?")],
        [
            f"Question: {demo}?{SHOWN} A\n\nQuestion: {q}{SHOWN}"
            for demo, q in (("Y", "Why?"), ("Z", "How?"))
        ],
        [f"Question: X?\nAnswer: x\n\nQuestion: {q}\nAnswer:" for q in ("Why?", "How?")],
        [f"Why?{SHOWN}", f"How?{SHOWN}"],
        [f"Question: Why?{SHOWN}"],
    ],
)
def test_what_prompts_share_is_no_part_of_the_question(prompts: list[str]) -> None:
    frame = Frame()
    for prompt in prompts:
        frame.add(prompt)
    assert frame.question(prompts[0]) == ("Why?", "")


def test_a_single_prompt_with_more_than_a_question_is_unclear() -> None:
    frame = Frame()
    frame.add(prompt := f"Choose well.\nWhy?{SHOWN}")
    assert frame.question(prompt) == (
        prompt,
        "the log has one prompt, which may begin with an instruction",
    )
