"""Checks of rephrased questions, on real questions."""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pandas as pd
import pytest

from benchwright.transforms.kept_text import numbers, same_negation
from benchwright.transforms.rephrase_checks import (
    CHECKS,
    Wording,
    failed_checks,
    part_passage,
    question_form,
)

BENCHMARKS = [
    "arc",
    "truthfulqa",
    pytest.param("mmlu", marks=pytest.mark.long),
    pytest.param("commonsense_qa", marks=pytest.mark.long),
]


Judged = Callable[[str], list[tuple[str, str, list[str]]]]
"""By name of a set, (kind, new wording, failed checks) of each paraphrase."""


@pytest.fixture(scope="module")
def judged(repository: Path) -> Judged:
    """Paraphrases of the demo's questions, written by hand: `tuned` when the checks were made,
    `fresh` afterwards; `kind` is good, or what is wrong with it.
    """
    lines = (repository / "data/01_raw/demo/items.jsonl").read_text().splitlines()
    items = {row.get("id"): row for row in map(json.loads, lines)}
    table = pd.read_csv(repository / "tests/data/paraphrases.csv")

    def judge(name: str) -> list[tuple[str, str, list[str]]]:
        out = []
        for row in table[table["set"] == name].to_dict("records"):
            item = items[row["item_id"]]
            answer = "ABCDE".index(item["answer"])
            wording = Wording(item["question"], row["question"], item["options"], answer)
            out.append((row["kind"], row["question"], failed_checks(wording)))
        return out

    return judge


@pytest.mark.parametrize(("name", "most"), [("tuned", 3), ("fresh", 4)])
def test_most_good_paraphrases_pass(
    judged: Judged, name: str, most: int, show: Callable[[str], None]
) -> None:
    good = [result for result in judged(name) if result[0] == "good"]
    refused = [result for result in good if result[2]]
    show(f"rephrasing, {name}: {len(refused)} of {len(good)} good paraphrases refused")
    assert len(good) >= 20
    assert len(refused) <= most, refused


@pytest.mark.parametrize("name", ["tuned", "fresh"])
def test_few_bad_paraphrases_pass(judged: Judged, name: str, show: Callable[[str], None]) -> None:
    bad = [result for result in judged(name) if result[0] != "good"]
    accepted = [result for result in bad if not result[2]]
    show(f"rephrasing, {name}: {len(accepted)} of {len(bad)} bad ones pass without an encoder")
    assert len(bad) >= 20
    assert len(accepted) <= 3, accepted
    assert {kind for kind, _, _ in accepted} <= {"other", "name"}, accepted


@pytest.mark.parametrize(
    ("kind", "check"),
    [
        ("number", "numbers"),
        ("formula", "names"),
        ("name", "names"),
        ("negation", "negations"),
        ("answer", "options"),
        ("form", "options"),
    ],
)
def test_each_check_rejects_its_bad_paraphrases(judged: Judged, kind: str, check: str) -> None:
    rows = [result for result in judged("tuned") if result[0] == kind]
    assert rows
    assert all(check in failed for _, _, failed in rows), rows


def only(check: str, before: str, after: str, *choices: str) -> bool:
    """Return whether one check passes; the last choice is the gold option."""
    return CHECKS[check](Wording(before, after, choices, len(choices) - 1))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("The ____ is hot.", "The thing that is hot?"),
        ("The ____ is hot.", "Hot are the ____ and the ____."),
        ("Water turns into", "What does water turn into?"),
        ("What does it turn into?", "It turns into"),
        ("It is shaped like a", "Its shape is that of"),
        ("Which of the following burns?", "What burns?"),
        ("She went. Where is she?", "She went."),
    ],
)
def test_options_must_still_fit(before: str, after: str) -> None:
    assert not only("options", before, after, "sand", "coal")
    assert only("options", before, before, "sand", "coal")


def test_the_answer_must_not_be_new_in_the_question() -> None:
    before = "Which black rock that burns do miners dig for?"
    assert not only("options", before, "Which black rock do coal miners dig for?", "sand", "coal")
    assert not only("options", before, "Which black sand do miners dig for?", "sand", "coal")
    assert not only(
        "options", before, "Which plane of it do they dig?", "a pit", "an inclined plane"
    )
    known = "Do coal miners dig for sand or for coal?"
    assert only("options", known, "Is it coal or sand that coal miners dig for?", "sand", "coal")


def test_an_open_ended_answer_must_not_be_revealed() -> None:
    wording = Wording("How old is he?", "Is he 42 years of age?", (), -1, "42")
    assert not CHECKS["options"](wording)
    assert CHECKS["options"](wording._replace(after="What age has he?"))


def test_a_question_may_be_half_or_twice_as_long() -> None:
    text = "of the " * 20
    assert only("length", text, "of the " * 10)
    assert not only("length", text, "of the " * 8)
    assert not only("length", text, "of the " * 43)


def _real(folder: Path, name: str) -> Iterator[Wording]:
    rows = pd.read_parquet(folder / "benchmarks" / f"{name}.parquet")
    if name == "truthfulqa":
        rows = rows.assign(
            question=rows["Question"],
            choices=[[best, *wrong.split("; ")] for best, wrong in
                     zip(rows["Best Answer"], rows["Incorrect Answers"], strict=True)],
            answer_index=0,
        )  # fmt: skip
    rows = rows.sample(min(len(rows), 250), random_state=0)
    columns = (rows[column] for column in ("question", "choices", "answer_index"))
    for question, choices, answer in zip(*columns, strict=True):
        parts = part_passage(question)
        if parts is not None:
            yield Wording(parts.question, parts.question, list(choices), int(answer))


def _other_number(text: str) -> str:
    return re.sub(
        r"(?<![\w.,/])\d+(?![\w.,/²³])", lambda match: str(int(match[0]) + 7), text, count=1
    )


def _other_name(text: str) -> str:
    return re.sub(r"(?<=[a-z] )[A-Z][a-z]{3,}\b", "Zanzibar", text, count=1)


def _without_negation(text: str) -> str:
    return re.sub(r"\b(?:not|NOT) ", "", text, count=1)


def _with_negation(text: str) -> str:
    return re.sub(r"\b(is|are|can|will|was|were) ", r"\1 not ", text, count=1)


@pytest.mark.real_data
@pytest.mark.parametrize("name", BENCHMARKS)
def test_corrupted_real_questions_are_rejected(
    shared_data: Path, name: str, show: Callable[[str], None]
) -> None:
    seen: Counter[str] = Counter()
    missed: Counter[str] = Counter()
    for wording in _real(shared_data, name):
        before = wording.before
        gold = wording.choices[wording.answer]
        spoilt = {
            "numbers": _other_number(before),
            "names": _other_name(before),
            "negations": _without_negation(before)
            if not same_negation(before, "")
            else _with_negation(before),
            "options": f"{gold}: {before}",
        }
        if gold.casefold() in before.casefold() or not re.search(r"\w", gold):
            del spoilt["options"]
        for check, after in spoilt.items():
            if after != before:
                seen[check] += 1
                missed[check] += check not in failed_checks(wording._replace(after=after))
    show(
        f"{name}: spoilt questions not refused " + str({c: f"{missed[c]}/{seen[c]}" for c in seen})
    )
    for check, count in seen.items():
        assert missed[check] <= 0.02 * count, check


@pytest.mark.real_data
@pytest.mark.parametrize("name", BENCHMARKS)
def test_harmless_rewordings_of_real_questions_pass(
    shared_data: Path, name: str, show: Callable[[str], None]
) -> None:
    refused: Counter[str] = Counter()
    tried = 0
    for wording in _real(shared_data, name):
        if question_form(wording.before) != "question" or len(wording.before) > 400:
            continue
        after = re.sub(r"(?i)\bwhich of the following\b", "which of these", wording.before)
        after = re.sub(r"\btwelve\b", "12", after).replace("percent", "%")
        if after == wording.before:
            after = f"Think about it. {wording.before}"
        tried += 1
        refused.update(failed_checks(wording._replace(after=after)))
        assert numbers(after) == numbers(wording.before), after
    show(f"{name}: harmless rewordings refused {dict(refused)} of {tried}")
    assert sum(refused.values()) <= 0.02 * tried
