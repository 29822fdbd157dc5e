"""Items as tasks, and the configuration of tasks."""

import re
from collections.abc import Sequence
from typing import Any

import pytest

from benchwright.core.errors import InputError
from benchwright.datasets.harness_tasks import HarnessFamily, HarnessTask
from benchwright.exports.harness_task import (
    AskedAs,
    harness_family,
    items_hash,
    stated_answer,
)
from benchwright.params.benchmark import PromptParams
from benchwright.params.exports import ExportsParams, ExportStyle
from benchwright.params.scoring import ScoringParams
from benchwright.scoring.rendering import questions
from exports.export_examples import item, table


def asked(style: ExportStyle = "letters", **changes: Any) -> AskedAs:
    words = PromptParams(**changes.pop("words", {}))
    exports = ExportsParams(**changes.pop("exports", {}))
    return AskedAs(style, words, ScoringParams(**changes), exports, seed=0)


def family(
    items: Sequence[tuple[Any, ...]],
    examples: Sequence[tuple[Any, ...]] = (),
    style: ExportStyle = "letters",
    **changes: Any,
) -> HarnessFamily:
    facts = {"benchmark": "b", "variant": "original"}
    return harness_family(
        "t", questions(table(*items)), table(*examples), asked(style, **changes), facts
    )


def ids(task: HarnessTask) -> list[str]:
    return [row["item_id"] for row in task.rows]


def shown(task: HarnessTask) -> list[str]:
    return [row["item_id"] for row in task.demonstrations]


TWO_SUBJECTS = [item("b/law/0", "law"), item("b/anatomy/10"), item("b/anatomy/2")]
OWN = [item("dev/law/0", "law"), *(item(f"dev/anatomy/{n}") for n in range(3))]


def test_subjects_with_own_demonstrations_are_tasks_of_a_group() -> None:
    result = family(TWO_SUBJECTS, OWN)
    assert [task.name for task in result.tasks] == ["t_anatomy", "t_law"]
    assert [ids(task) for task in result.tasks] == [["b/anatomy/2", "b/anatomy/10"], ["b/law/0"]]
    assert shown(result.tasks[0])[:3] == [f"dev/anatomy/{n}" for n in range(3)]
    assert shown(result.tasks[1])[0] == "dev/law/0"
    assert len(shown(result.tasks[1])) == 4  # the other subject's fill in
    assert result.group is not None
    assert result.group["task"] == ["t_anatomy", "t_law"]
    assert [metric["weight_by_size"] for metric in result.group["aggregate_metric_list"]] == [
        True,
        True,
    ]


@pytest.mark.parametrize(
    ("examples", "changes"),
    [
        ((), {}),
        ((item("dev/0", "physics"),), {}),
        (OWN, {"demonstrations": "all"}),
    ],
)
def test_shared_demonstrations_give_one_task(examples: Any, changes: Any) -> None:
    result = family(TWO_SUBJECTS, examples, **changes)
    assert [task.name for task in result.tasks] == ["t"]
    assert result.group is None
    descriptions = {row["subject"]: row["description"] for row in result.tasks[0].rows}
    assert all(subject in text for subject, text in descriptions.items())


def test_items_equal_to_a_demonstration_are_a_separate_task() -> None:
    twin = item("b/anatomy/3", question="Which colour has dev/anatomy/1?")
    result = family([*TWO_SUBJECTS, twin], OWN)
    assert [task.name for task in result.tasks] == ["t_anatomy", "t_anatomy_part2", "t_law"]
    assert ids(result.tasks[1]) == ["b/anatomy/3"]
    assert "dev/anatomy/1" in shown(result.tasks[0])
    assert "dev/anatomy/1" not in shown(result.tasks[1])
    assert result.facts["max_num_fewshot"] == 3


def test_parts_of_a_task_do_not_have_the_name_of_the_group() -> None:
    twin = item("b/9", question="Which colour has dev/anatomy/1?")
    result = family([item("b/0"), item("b/1"), twin], OWN)
    assert result.name == "t"
    assert [task.name for task in result.tasks] == ["t_part1", "t_part2"]


def test_a_task_without_demonstrations_never_takes_examples_from_its_questions() -> None:
    config = family(TWO_SUBJECTS, ()).tasks[0].config
    assert config["num_fewshot"] == 0
    assert "fewshot_split" not in config
    assert "num_fewshot" not in family(TWO_SUBJECTS, OWN).tasks[0].config


def test_letters_are_chosen_among_labels_and_cloze_among_options() -> None:
    letters = family(TWO_SUBJECTS, OWN).tasks[0]
    cloze = family(TWO_SUBJECTS, OWN, "cloze").tasks[0]
    assert letters.config["doc_to_choice"] == "labels"
    assert next(iter(letters.rows))["labels"] == ["A", "B", "C", "D"]
    assert next(iter(letters.rows))["target"] == "B"
    assert cloze.config["doc_to_choice"] == "choices"
    assert next(iter(cloze.rows))["target"] == "green"
    assert "A. red" not in next(iter(cloze.rows))["text"]
    for task in (letters, cloze):
        assert task.config["doc_to_target"] == "answer"
        assert [m["metric"] for m in task.config["metric_list"]] == ["acc", "acc_norm"]


def test_bare_labels_change_the_scored_letters_only() -> None:
    config = family(TWO_SUBJECTS, OWN, label_tokens="bare").tasks[0].config
    assert config["target_delimiter"] == ""
    assert config["fewshot_config"]["target_delimiter"] == " "
    cloze = family(TWO_SUBJECTS, OWN, "cloze", label_tokens="bare").tasks[0].config
    assert cloze["target_delimiter"] == " "


@pytest.mark.parametrize(
    "change",
    [
        {"words": {"answer_prefix": "A:"}},
        {"words": {"description": ""}},
    ],
)
def test_version_depends_on_the_texts(change: dict[str, Any]) -> None:
    def version(**changes: Any) -> str:
        return str(family(TWO_SUBJECTS, OWN, **changes).tasks[0].config["metadata"]["version"])

    assert version() != version(**change)


@pytest.mark.parametrize(
    "change",
    [
        {"question": "Cafe\u0301?"},  # the same content, other code points
        {"question": "Another?"},
        {"choices": ("red", "green", "blue", "black")},
        {"answer": 2},
        {"subject": "biology"},
    ],
)
def test_version_depends_on_every_item(change: dict[str, Any]) -> None:
    def version(**changes: Any) -> str:
        last = {"item_id": "b/9", "question": "Caf\u00e9?"} | changes
        config = family([item("b/0"), item(**last)]).tasks[0].config
        return str(config["metadata"]["version"])

    assert version() != version(**change)


def test_hash_of_items_covers_questions_and_gold_answers() -> None:
    def of(*rows: tuple[Any, ...]) -> str:
        return items_hash(questions(table(*rows)))

    base = of(item("a"), item("b"))
    assert base != of(item("a"))
    assert base != of(item("a"), item("b", answer=2))
    assert base != of(item("a"), item("b", question="another?"))
    open_ended = item("a", choices=(), answer_text="4")
    assert of(open_ended) != of(item("a", choices=(), answer_text="5"))


def test_items_that_do_not_fit_a_style_are_left_out_and_counted() -> None:
    rows = [item("b/0"), item("b/1", choices=(), answer_text="4"), item("b/2", answer=-1)]
    letters = family(rows)
    assert ids(letters.tasks[0]) == ["b/0"]
    assert letters.facts["left_out"] == 2
    written = family(rows, style="generate")
    assert ids(written.tasks[0]) == ["b/1"]
    both = family(rows, style="generate", exports={"styles": ("generate",)})
    assert [ids(task) for task in both.tasks] == [["b/0"], ["b/1"]]
    assert family(rows[1:2]).tasks == []


def test_open_ended_answers_and_numbers_are_extracted_by_patterns() -> None:
    numbers = [
        item("b/0", choices=(), answer_text="1,024"),
        item("b/1", choices=(), answer_text="-3.5"),
    ]
    config = family(numbers, style="generate").tasks[0].config
    assert config["output_type"] == "generate_until"
    assert config["doc_to_target"] == "target"
    assert [f["name"] for f in config["filter_list"]] == ["stated", "last_number"]
    words = family([*numbers, item("b/2", choices=(), answer_text="Paris")], style="generate")
    assert [f["name"] for f in words.tasks[0].config["filter_list"]] == ["stated"]


def test_stop_texts_are_those_of_the_run_or_the_next_question() -> None:
    rows = [item("b/0", choices=(), answer_text="4")]

    def until(**changes: Any) -> Any:
        return (
            family(rows, style="generate", **changes).tasks[0].config["generation_kwargs"]["until"]
        )

    assert until() == []
    assert until(words={"question_prefix": "Question: "}) == ["Question:"]
    assert until(generation={"stop": ("\n\n",)}) == ["\n\n"]


def test_demonstrations_are_explanation_and_statement() -> None:
    worked = item("dev/0", choices=(), answer_text="4", explanation="2 + 2 = 4")
    result = family([item("b/0", choices=(), answer_text="5")], [worked], "generate").tasks[0]
    assert next(iter(result.rows))["target"] == "5"
    assert result.demonstrations[0]["target"] == "2 + 2 = 4 The answer is 4."


def test_demonstration_without_an_answer_is_rejected() -> None:
    with pytest.raises(InputError, match=r"dev/0: it has no answer.*prompt\.statement"):
        family(
            [item("b/0", choices=(), answer_text="5")],
            [item("dev/0", choices=(), answer_text="4")],
            "generate",
            words={"open_statement": ""},
        )


@pytest.mark.parametrize(
    ("text", "answers"),
    [
        ("So the answer is (B).", ["B"]),
        ("The answer is B", ["B"]),
        ("the  Answer is: C.", ["C"]),
        ("The answer is (A). No: the answer is (D).", ["D"]),
        ("The answer is (A).\nThe answer is Berlin.", ["A"]),
        ("The answer is Berlin.", []),
        ("The answer is a matter of taste.", []),
        ("B", []),
    ],
)
def test_the_letter_that_is_stated_last_is_read(text: str, answers: list[str]) -> None:
    assert re.findall(stated_answer(PromptParams(), False), text) == answers


@pytest.mark.parametrize(
    ("text", "answers"),
    [
        ("2 + 2 = 4. The answer is 4.", ["4"]),
        ("The answer is 3.5", ["3.5"]),
        ("the answer is: $1,024.50.\n\nQuestion:", ["$1,024.50"]),
        ("The answer is New York.\nThe answer is Rome", ["Rome"]),
        ("The answer is 3. No, the answer is 4. Done.", ["4"]),
        ("42", []),
    ],
)
def test_the_final_answer_is_read_to_the_end_of_its_sentence(text: str, answers: list[str]) -> None:
    assert re.findall(stated_answer(PromptParams(), True), text) == answers
