"""What judges are asked about a question: five criteria of quality and four harms (Table 4)."""

from collections.abc import Sequence
from typing import Literal, NamedTuple

from benchwright.methods.mmlu_cf.judging.shown_question import shown_question

Style = Literal["together", "each", "overall"]


class Criterion(NamedTuple):
    """Something a judge speaks on, by the name it has in tables and replies."""

    name: str
    asks: str


CRITERIA = (
    Criterion(
        "clarity", "Is it clear what is asked, with all that is needed to answer, in one reading?"
    ),
    Criterion("logic", "Do the question and its options fit together, without contradiction?"),
    Criterion("facts", "Is what the question and its right answer say true and not misleading?"),
    Criterion("exclusive", "Does each option exclude the others, with no overlap between them?"),
    Criterion("answerable", "Is the right answer among the options?"),
)
"""Table 4's criteria, each rated from 1 (bad) to 5 (good)."""

HARMS = (
    Criterion("hatred", "hatred or contempt for a group of people"),
    Criterion("sex", "sexual suggestion or indecent sexual content"),
    Criterion("self_harm", "self-harm, or encouragement to it"),
    Criterion("violence", "brutal violence, or a call to it"),
)
"""The four kinds of harm, each answered yes or no."""

OVERALL = "overall"
"""The name of the one rating under all criteria."""

LOW, HIGH = 1, 5


class Inquiry(NamedTuple):
    """One message to a judge and what its reply must hold.

    Attributes:
        prompt: the message.
        ratings: names of the ratings asked for.
        harms: names of the harms asked about.
        form: `named` (several values by name), `rating` or `yes_no` (one value).
        shown: parts of the prompt that a reply may repeat.
    """

    prompt: str
    ratings: tuple[str, ...]
    harms: tuple[str, ...]
    form: Literal["named", "rating", "yes_no"]
    shown: tuple[str, ...]


def asked_ratings(style: Style) -> tuple[str, ...]:
    """Names of the ratings that a judge gives of each item."""
    return (OVERALL,) if style == "overall" else tuple(criterion.name for criterion in CRITERIA)


def inquiries(question: str, choices: Sequence[str], answer: int, style: Style) -> list[Inquiry]:
    """What one judge is asked about one item, in one message or several."""
    shown = shown_question(question, choices, answer)
    if style == "together":
        return [_together(shown)]
    if style == "overall":
        return [_overall(shown), _harms(shown)]
    return [
        *(_one_criterion(shown, criterion) for criterion in CRITERIA),
        *(_one_harm(shown, harm) for harm in HARMS),
    ]


def _together(shown: str) -> Inquiry:
    task = (
        "Review the multiple-choice question below. Do not answer it. Rate it from 1 (bad) to "
        f"5 (good) in each of these:\n{_listed(CRITERIA)}\nThen say yes or no: does it contain\n"
        f"{_listed(HARMS)}"
    )
    names = tuple(criterion.name for criterion in CRITERIA)
    harms = tuple(harm.name for harm in HARMS)
    lines = [f"{name}: <1-5>" for name in names] + [f"{name}: <yes or no>" for name in harms]
    form = "Reply with these nine lines and nothing else:\n" + "\n".join(lines)
    return Inquiry(f"{task}\n\n{shown}\n\n{form}", names, harms, "named", (task, shown, form))


def _overall(shown: str) -> Inquiry:
    task = (
        "Review the multiple-choice question below, and whether it is correct in each of these:\n"
        f"{_listed(CRITERIA)}"
    )
    form = (
        'Give one rating from 1 to 5 for all of them, 5 the best. Write "Rating: ", the number, '
        "and nothing else."
    )
    return Inquiry(f"{task}\n\n{shown}\n\n{form}", (OVERALL,), (), "rating", (task, shown, form))


def _harms(shown: str) -> Inquiry:
    task = f"Does the text below contain any of these?\n{_listed(HARMS)}"
    names = tuple(harm.name for harm in HARMS)
    form = "Reply with these four lines and nothing else:\n" + "\n".join(
        f"{name}: <yes or no>" for name in names
    )
    return Inquiry(f"{task}\n\n{shown}\n\n{form}", (), names, "named", (task, shown, form))


def _one_criterion(shown: str, criterion: Criterion) -> Inquiry:
    task = f"Review the multiple-choice question below. Do not answer it. {criterion.asks}"
    form = (
        'Rate it from 1 (not at all) to 5 (fully). Write "Rating: ", the number, and nothing else.'
    )
    prompt = f"{task}\n\n{shown}\n\n{form}"
    return Inquiry(prompt, (criterion.name,), (), "rating", (task, shown, form))


def _one_harm(shown: str, harm: Criterion) -> Inquiry:
    task = f"Does the text below contain {harm.asks}? Reply with one word, yes or no."
    return Inquiry(f"{task}\n\n{shown}\n\nYes or no:", (), (harm.name,), "yes_no", (task, shown))


def _listed(criteria: Sequence[Criterion]) -> str:
    return "\n".join(f"- {criterion.name}: {criterion.asks}" for criterion in criteria)
