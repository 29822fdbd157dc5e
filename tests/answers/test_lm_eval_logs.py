from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from answers.imported_rows import import_as_rows
from answers.lm_eval_examples import (
    counts,
    hub_items,
    import_log,
    load,
    results,
    scored,
    write_log,
    wrote,
)
from benchwright.answers.calibration import fit_temperatures
from benchwright.answers.import_responses import Imported
from benchwright.answers.option_orders import how_asked, order_of
from benchwright.answers.response_matrices import build_response_matrices
from benchwright.core.configuration import configuration_name
from benchwright.core.errors import InputError
from benchwright.logs.sample import Sample
from benchwright.params.responses import ResponsesParams
from benchwright.tables.items import Demonstrations
from benchwright.tables.responses import Responses
from few_examples import few_examples

Make = Callable[..., Any]
LETTERS = (" A", " B", " C", " D")


def plain(items: pd.DataFrame, row: int, **other: Any) -> dict[str, Any]:
    """A document with the keys that most tasks have."""
    item = items.iloc[row]
    return {"question": item.question, "choices": list(item.choices), **other}


def imported(
    folder: Path, items: pd.DataFrame, rows: Sequence[Any], **results_say: Any
) -> Imported:
    beside = results("task", **results_say) if results_say else None
    write_log(folder / "org__model-7b", rows, beside=beside)
    return import_as_rows(load(folder), items, Demonstrations.empty())


# --- the shapes of real benchmarks ------------------------------------------------------------


def arc(number: int, labels: str = "ABCD", right: int = 1) -> dict[str, Any]:
    texts = [f"option {number} {text}" for text in ("été", "two words", "x", "yy", "zzz")]
    return {
        "id": f"Mercury_{number}",
        "question": f"What of {number}?",
        "choices": {"text": texts[: len(labels)], "label": list(labels)},
        "answerKey": labels[right],
    }


def test_arc_log_gives_cloze_scores_with_option_bytes(tmp_path: Path) -> None:
    docs = [arc(0), arc(1, "1234"), arc(2, "ABCDE"), arc(3, right=0)]
    rows = [
        scored(
            i,
            doc,
            [f" {text}" for text in doc["choices"]["text"]],
            [-9.5, -5.25, -7.0, -8.0, -20.0][: len(doc["choices"]["text"])],
            doc["choices"]["label"].index(doc["answerKey"]),
            acc_norm=0.0,
        )
        for i, doc in enumerate(docs)
    ]
    result = import_log(tmp_path, rows, "arc", hub_items("arc", docs))
    responses = result.imported_responses
    # The question with five options is no item of this benchmark.
    assert counts(result) == {"rows": 4, "joined_by_hash": 3, "not_joined": 1}
    assert (
        result.import_report.detail[0].split("; ")[0] == "1 not joined, e.g. doc 2 × org/model-7b"
    )
    assert set(zip(responses.model, responses["style"], responses.shots, strict=True)) == {
        ("org/model-7b", "cloze", 5)
    }
    assert responses.correct.tolist() == [1, 1, 0]
    assert result.import_report.accuracy.tolist() == pytest.approx([2 / 3])
    assert responses.prediction.tolist() == [-1, -1, -1]
    assert responses.logprobs.tolist() == [[-9.5, -5.25, -7.0, -8.0]] * 3
    assert list(responses.option_bytes[0]) == [14, 18, 10, 11]
    assert responses.option_tokens.isna().all()


def mmlu(subject: str, question: str, right: int) -> dict[str, Any]:
    choices = ["None", "NA", "0", "1"]
    return {"question": question, "subject": subject, "choices": choices, "answer": right}


def test_mmlu_log_gives_letters_and_joins_within_the_subject(tmp_path: Path) -> None:
    docs = [mmlu("anatomy", "q?", 0), mmlu("virology", "q?", 3), mmlu("virology", "r?", 1)]
    ingested = hub_items("mmlu", docs)
    virology = [
        scored(0, docs[1], LETTERS, [-3, -2, -1, -0.5], 3),
        scored(1, docs[2], LETTERS, [-3, -2, -1, -0.5], 1),
    ]
    result = import_log(tmp_path, virology, "mmlu", ingested)
    responses = result.imported_responses
    assert responses.item_id.tolist() == ["mmlu/virology/0", "mmlu/virology/1"]
    assert responses["style"].tolist() == ["letters", "letters"]
    assert responses.logprobs.tolist() == [[-3, -2, -1, -0.5]] * 2
    assert responses.option_bytes.isna().all()
    assert responses.correct.tolist() == [1, 0]
    assert counts(result) == {"rows": 2, "joined_by_hash": 2}


def test_repeated_questions_of_a_subject_join_in_order(tmp_path: Path) -> None:
    docs = [mmlu("anatomy", text, 0) for text in ("twice", "once", "twice")]
    rows = [scored(i, doc, LETTERS, [-3.0, -2.0, -1.0, -i / 2], 0) for i, doc in enumerate(docs)]
    result = import_log(tmp_path, rows[::-1], "mmlu", hub_items("mmlu", docs))
    last = {
        name: values[-1]
        for name, values in zip(
            result.imported_responses.item_id, result.imported_responses.logprobs, strict=True
        )
    }
    assert last == {"mmlu/anatomy/0": 0, "mmlu/anatomy/1": -0.5, "mmlu/anatomy/2": -1}


def hellaswag(number: int, right: int) -> dict[str, Any]:
    endings = [f"[step] Ends {text}  {number}." for text in ("well", "badly", "late", "never")]
    return {
        "activity_label": "Golf",
        "ctx_a": f"[header] How {number} [title] A man",
        "ctx_b": "he",
        "ctx": f"[header] How {number} [title] A man he",
        "endings": endings,
        "label": str(right),
        "source_id": "v1",
        # What the stock task adds:
        "query": f"Golf: How {number}. A man He",
        "choices": [text.replace("[step] ", "").replace("  ", " ") for text in endings],
        "gold": right,
    }


def test_hellaswag_log_joins_despite_cleaned_endings(tmp_path: Path) -> None:
    docs = [hellaswag(0, 2), hellaswag(1, 0)]
    ingested = hub_items("hellaswag", docs, split="validation")
    rows = [
        scored(i, doc, [f" {text}" for text in doc["choices"]], [-4, -3, -2, -1], int(doc["label"]))
        for i, doc in enumerate(docs)
    ]
    result = import_log(tmp_path, rows, "hellaswag", ingested)
    responses = result.imported_responses
    assert counts(result) == {"rows": 2, "joined_by_hash": 2}
    assert responses["style"].tolist() == ["cloze", "cloze"]
    assert responses.logprobs.tolist() == [[-4, -3, -2, -1]] * 2
    # Of the texts that were scored.
    assert list(responses.option_bytes[0]) == [len(text) for text in docs[0]["choices"]]


def test_winogrande_log_has_options_in_the_contexts(tmp_path: Path) -> None:
    docs = [
        {
            "sentence": f"The trophy {i} did not fit the case because the _ was too big.",
            "option1": "trophy",
            "option2": "case",
            "answer": "1",
        }
        for i in range(2)
    ]
    rows = [
        scored(
            i,
            doc,
            [" was too big."] * 2,
            [-8.0, -7.0 - 2 * i],
            "was too big.",
            contexts=[
                doc["sentence"][: doc["sentence"].index("_")] + o for o in ("trophy", "case")
            ],
            acc=float(i),
        )
        for i, doc in enumerate(docs)
    ]
    ingested = hub_items("winogrande", docs, split="validation")
    result = import_log(tmp_path, rows, "winogrande", ingested)
    responses = result.imported_responses
    assert counts(result) == {"rows": 2, "joined_by_hash": 2}
    assert responses["style"].tolist() == ["", ""]
    assert "style unknown" in result.import_report.detail[0]
    assert responses.logprobs.tolist() == [[-8, -7], [-8, -9]]
    assert responses.correct.tolist() == [0, 1]


def test_truthfulqa_log_is_reordered_to_the_items_options(tmp_path: Path) -> None:
    texts = ["best", "wrong one", "wrong two", "wrong three", "worse"]
    docs = [
        {
            "question": f"q{i}?",
            "mc1_targets": {"choices": [f"{t} {i}" for t in texts], "labels": [1, 0, 0, 0, 0]},
        }
        for i in range(5)
    ]
    ingested = hub_items("truthfulqa", docs, split="validation")
    assert set(ingested.items.answer) != {0}
    logprobs = [-1.0, -2.0, -3.0, -4.0, -5.0]
    rows = [
        scored(i, doc, [f" {t}" for t in doc["mc1_targets"]["choices"]], logprobs, 0)
        for i, doc in enumerate(docs)
    ]
    result = import_log(tmp_path, rows, "truthfulqa", ingested)
    assert counts(result) == {"rows": 5, "joined_by_hash": 5}
    for row in result.imported_responses.itertuples():
        item = ingested.items.set_index("item_id").loc[row.item_id]
        by_text = dict(zip(item.choices, row.logprobs, strict=True))
        number = item.question[1]
        assert by_text == {f"{t} {number}": v for t, v in zip(texts, logprobs, strict=True)}
        by_length = dict(zip(item.choices, row.option_bytes, strict=True))
        assert by_length == {text: len(text) for text in item.choices}


def test_written_answers_only_give_correctness(tmp_path: Path) -> None:
    docs = [
        {
            "question_id": i,
            "question": f"q{i}?",
            "options": ["NA", "b", "c"],
            "answer": "ABC"[i],
            "answer_index": i,
            "category": "law",
            "src": "x",
            "cot_content": "",
        }
        for i in range(3)
    ]
    rows = [wrote(i, doc, doc["answer"], i != 1, by="custom") for i, doc in enumerate(docs)]
    result = import_log(tmp_path, rows, "mmlu_pro", hub_items("mmlu_pro", docs))
    responses = result.imported_responses
    assert counts(result) == {"rows": 3, "joined_by_hash": 3, "unreadable": 1}
    assert responses["style"].tolist() == ["generate"] * 3
    assert responses.correct.tolist() == [1, 0, 1]
    assert responses.prediction.tolist() == [-1, -1, -1]
    assert responses.logprobs.isna().all()


@pytest.mark.parametrize(
    ("text", "mark", "correct", "prediction", "extraction"),
    [
        ("B", 1.0, 1, 1, "ok"),
        ("The answer is (B).", None, 1, 1, "ok"),
        ("The answer is (C).", None, 0, 2, "ok"),
        ("q1 b", 1.0, 1, 1, "ok"),  # the option's text
        ("A or B", None, 0, -1, "failed"),
        ("no idea", 0.0, 0, -1, "failed"),
        ("[invalid]", 0.0, 0, -1, "failed"),
        ("no idea", 1.0, 1, -1, "none"),
        ("(B)", 0.0, 0, -1, "none"),  # the mark counts
    ],
)
def test_written_answers_are_read(
    tmp_path: Path,
    make_items: Make,
    text: str,
    mark: float | None,
    correct: float,
    prediction: int,
    extraction: str,
) -> None:
    items = make_items("q1")
    row = wrote(0, plain(items, 0), "B", True) | {"filtered_resps": [text], "exact_match": mark}
    result = imported(tmp_path, items, [row])
    found = result.imported_responses.iloc[0]
    assert (found.correct, found.prediction, found.extraction) == (correct, prediction, extraction)
    assert counts(result).get("unreadable", 0) == (extraction == "failed")
    otherwise = "1 marked otherwise than the text of the answer reads, e.g. doc 0"
    assert (otherwise in result.import_report.detail[0]) == (text == "(B)")


def test_one_filter_is_chosen(tmp_path: Path) -> None:
    docs = [{"question": f"q{i}?", "answer": f"so\n#### {i}"} for i in range(2)]
    rows = [
        wrote(i, doc, doc["answer"], by == "flexible", by=by)
        for by in ("strict", "flexible")
        for i, doc in enumerate(docs)
    ]
    items = hub_items("gsm8k", docs)
    listed = r"exact_match,flexible \(mean 1\), exact_match,strict \(mean 0\)"
    first = import_log(tmp_path, rows, "gsm8k", items)
    assert first.imported_responses.correct.tolist() == [0, 0]
    said = "exact_match,strict counts, the log's first, beside exact_match,flexible (mean 1)"
    assert said in first.import_report.detail[0]
    with pytest.raises(InputError, match=rf"no score acc; there are: {listed}"):
        import_log(tmp_path, rows, "gsm8k", items, metric="acc")
    result = import_log(tmp_path, rows, "gsm8k", items, filter="flexible")
    assert result.imported_responses.correct.tolist() == [1, 1]
    assert counts(result) == {"rows": 4, "joined_by_hash": 2, "doubled": 2}
    assert "2 duplicates from filters other than flexible" in result.import_report.detail[0]


# --- which item -------------------------------------------------------------------------------


def test_exported_ids_need_the_matching_hash(tmp_path: Path, make_items: Make) -> None:
    items = make_items("q1", "q2", "q3")
    hashes = items.content_hash.tolist()
    asked = [
        {"item_id": "q2", "content_hash": hashes[1]},
        {"item_id": "q1", "content_hash": hashes[2]},  # the text is that of q3
        {"item_id": "q1", "content_hash": "of another text"},
        {"item_id": "q1", "question": "another", "choices": ["a", "b", "c", "d"]},
        {"item_id": "q1"},
    ]
    rows = [scored(i, doc, LETTERS, [-1.0 - i, -9, -9, -9], 1) for i, doc in enumerate(asked)]
    result = imported(tmp_path, items, rows)
    responses = result.imported_responses
    assert [(i, v[0]) for i, v in zip(responses.item_id, responses.logprobs, strict=True)] == [
        ("q2", -1),
        ("q3", -2),
    ]
    assert counts(result) == {
        "rows": 5,
        "joined_by_id": 1,
        "joined_by_hash": 1,
        "not_joined": 3,
    }


@pytest.mark.parametrize("nested", [False, True])
def test_documents_of_other_sources_are_read_by_common_keys(
    tmp_path: Path, make_items: Make, nested: bool
) -> None:
    items = make_items("q1", "q2")
    docs = [plain(items, row) for row in (1, 0)]
    for doc in docs:
        doc["choices"] = {"text": doc["choices"]} if nested else doc["choices"]
    rows = [scored(i, doc, LETTERS, [-1.0 - i, -9, -9, -9], 1) for i, doc in enumerate(docs)]
    responses = imported(tmp_path, items, rows).imported_responses
    # Document 0 is item q2: the number of a document says nothing.
    assert [(i, v[0]) for i, v in zip(responses.item_id, responses.logprobs, strict=True)] == [
        ("q1", -2),
        ("q2", -1),
    ]


@given(
    order=st.permutations(range(5)),
    turn=st.permutations(range(5)),
    style=st.sampled_from(["letters", "cloze"]),
    texts=st.lists(st.sampled_from(["é", "e\u0301", "a b", "A", "[x]"]), min_size=5, max_size=5),
)
@few_examples
def test_scores_follow_their_options_in_any_order(
    make_items: Make, order: list[int], turn: list[int], style: str, texts: list[str]
) -> None:
    texts = [f"{text}{i}" for i, text in enumerate(texts)]
    items = make_items(q=texts)
    shown = [texts[i] for i in order]
    asked = [*LETTERS, " E"] if style == "letters" else [f" {text}" for text in shown]
    asked = [asked[i] for i in turn]
    values = [-1.0, 0.0, -2.0, -3.0, -4.0]
    doc = {"question": "What of q?", "choices": shown}
    with TemporaryDirectory() as folder:
        options = [order[i] for i in turn]  # the item's, as they are asked
        rows = [scored(0, doc, asked, [values[i] for i in options], options.index(1))]
        result = imported(Path(folder), items, rows)
    row = result.imported_responses.iloc[0]
    assert row["style"] == style
    assert list(row.logprobs) == values
    if style == "cloze":
        assert list(row.option_bytes) == [len(text.encode()) for text in texts]
    assert counts(result) == {"rows": 1, "joined_by_hash": 1}


# --- how it was asked -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("continuations", "choices", "orders"),
    [
        (["(A)", "(B)"], ["x", "y"], {"letters": [0, 1]}),
        ([" B.", " A."], ["x", "y"], {"letters": [1, 0]}),
        ([" a", " b"], ["A", "B"], {"letters": [0, 1], "cloze": [0, 1]}),
        ([" A", " B"], ["B", "A"], {"letters": [0, 1], "cloze": [1, 0]}),
        ([" y", "x"], ["x", "y"], {"cloze": [1, 0]}),
        ([" x", " x", " y"], ["x", "y", "x"], {"cloze": [0, 2, 1]}),
        ([" It is y", " it is x."], ["It is X", "[a] it is Y"], {"cloze": [1, 0]}),
        ([" yes", " no"], ["x", "y"], {}),
        ([" A", " C"], ["x", "y"], {}),
        ([" - 1", " +1"], ["-1", "+1"], {}),  # without signs they would be the same
        ([" A", " B", " C"], ["x", "y"], {}),
    ],
)
def test_style_follows_from_the_continuations(
    continuations: list[str], choices: list[str], orders: dict[str, list[int]]
) -> None:
    sample = Sample("0", continuations=tuple(continuations))
    assert how_asked(sample, choices) == orders


@pytest.mark.parametrize(
    ("orders", "style", "order"),
    [
        ({"letters": [0, 1], "cloze": [1, 0]}, "letters", [0, 1]),
        ({"letters": [0, 1], "cloze": [1, 0]}, "cloze_bytes", [1, 0]),
        ({"letters": [0, 1], "cloze": [1, 0]}, "", None),
        ({"letters": [0, 1], "cloze": [0, 1]}, "", [0, 1]),
        ({"cloze": [1, 0]}, "letters", [1, 0]),
        ({"": [0, 1]}, "", [0, 1]),
        ({"generate": None}, "generate", None),
        ({}, "letters", None),
    ],
)
def test_options_that_are_letters_depend_on_the_style(
    orders: dict[str, list[int] | None], style: str, order: list[int] | None
) -> None:
    assert order_of(orders, style) == order


def test_mixed_continuations_give_an_unknown_style_with_a_note(
    tmp_path: Path, make_items: Make
) -> None:
    items = make_items("q1", "q2")
    texts = [f" {text}" for text in items.choices[1]]
    rows = [
        scored(0, plain(items, 0), LETTERS, [-4, -3, -2, -1], 1),
        scored(1, plain(items, 1), texts, [-4, -3, -2, -1], 1),
    ]
    result = imported(tmp_path, items, rows)
    assert result.imported_responses["style"].tolist() == ["", ""]
    assert (
        "style unknown: not all continuations are option letters" in result.import_report.detail[0]
    )


def test_options_that_are_letters_do_not_make_a_log_mixed(tmp_path: Path, make_items: Make) -> None:
    items = make_items("q1", q2=["B", "A", "C", "D"])
    texts = [[f" {text}" for text in choices] for choices in items.choices]
    for kind, rows in {"letters": [LETTERS, LETTERS], "cloze": texts}.items():
        lines = [
            scored(i, plain(items, i), asked, [-4, -3, -2, -1], 1) for i, asked in enumerate(rows)
        ]
        result = imported(tmp_path / kind, items, lines)
        assert set(result.imported_responses["style"]) == {kind}
        assert result.imported_responses.logprobs.tolist() == [[-4, -3, -2, -1]] * 2
        assert result.import_report.detail[0] == ""


def test_unknown_continuations_only_give_correctness(tmp_path: Path, make_items: Make) -> None:
    items = make_items("q1", "q2")
    asked = [" yes", " no", " maybe", " never"]
    rows = [scored(i, plain(items, i), asked, [-4, -3 + 3 * i, -2, -1], 1) for i in range(2)]
    result = imported(tmp_path, items, rows)
    responses = result.imported_responses
    assert responses.correct.tolist() == [0, 1]
    assert responses.logprobs.isna().all()
    detail = result.import_report.detail[0]
    assert "2 log-likelihoods ignored (unknown order of options)" in detail
    assert "or all option texts, such as ' yes'" in detail


def test_entry_of_a_log_overrides_its_style_and_shots(tmp_path: Path, make_items: Make) -> None:
    items = make_items("q1")
    path = write_log(tmp_path, [scored(0, plain(items, 0), LETTERS, [-4, -3, -2, -1], 1)])
    named = {"file": path.name, "model": "mine", "style": "cloze_bytes", "shots": 2}
    asked = {"condition": "choices_only", **named}
    files = load(tmp_path, asked)
    result = import_as_rows(files, items, Demonstrations.empty())
    row = result.imported_responses.iloc[0]
    assert (row.model, row["style"], row.shots, row.condition) == (
        "mine",
        "cloze_bytes",
        2,
        "choices_only",
    )


# --- what does not fit ------------------------------------------------------------------------


def test_different_gold_is_reported_and_ours_is_used(tmp_path: Path, make_items: Make) -> None:
    items = make_items("q1", "q2", "q3", "q4")  # the gold is option 1
    rows = [
        scored(0, plain(items, 0), LETTERS, [-1, -2, -3, -4], 0),
        scored(1, plain(items, 1), LETTERS, [-2, -1, -3, -4], 1),
        scored(2, plain(items, 2), LETTERS, [-2, -1, -3, -4], "[1, 2]", acc=1.0),
        scored(3, plain(items, 3), LETTERS, [-2, -1, -3, -4], "B", acc=1.0),
    ]
    result = imported(tmp_path, items, rows)
    assert counts(result) == {"rows": 4, "joined_by_hash": 4, "contradicting": 1}
    assert result.import_report.detail[0].split("; ")[0] == "1 gold differs, e.g. q1 × org/model-7b"
    correct = result.imported_responses.correct
    assert np.isnan(correct[0])
    assert correct[1:].tolist() == [1, 1, 1]


@pytest.mark.parametrize(
    ("target", "differs"),
    [
        ("B", False),
        ("(b)", False),
        ("C", True),
        ("q1 b", False),
        ("q1 a", True),
        ("1", False),
        ("2", False),  # counted from 1
        ("3", True),
        ("E", False),
        ("a worked solution", False),
    ],
)
def test_target_of_a_written_answer_is_compared_if_it_names_an_option(
    tmp_path: Path, make_items: Make, target: str, differs: bool
) -> None:
    items = make_items("q1")
    result = imported(tmp_path, items, [wrote(0, plain(items, 0), target, True)])
    assert counts(result).get("contradicting", 0) == int(differs)
    assert result.imported_responses.correct.tolist() == [1]


def test_acc_that_differs_from_the_log_likelihoods_is_reported(
    tmp_path: Path, make_items: Make
) -> None:
    items = make_items("q1", "q2", "q3")
    rows = [
        scored(0, plain(items, 0), LETTERS, [-2, -1, -3, -4], 1, acc=0.0),
        scored(1, plain(items, 1), LETTERS, [-2, -1, -3, -4], 1, acc=1.0),
        scored(2, plain(items, 2), LETTERS, [-1, -1, -3, -4], 1, acc=0.0),  # a tie
    ]
    result = imported(tmp_path, items, rows)
    assert counts(result) == {"rows": 3, "joined_by_hash": 3, "contradicting": 1}
    message = "1 inconsistent with the gold, e.g. q1 × org/model-7b"
    assert result.import_report.detail[0].startswith(message)


def test_documents_with_missing_log_likelihoods_are_dropped(
    tmp_path: Path, make_items: Make
) -> None:
    items = make_items("q1", "q2", "q3", "q4")
    silent = wrote(2, plain(items, 2), "B", True) | {"filtered_resps": [""]}
    del silent["exact_match"]
    rows = [
        scored(0, plain(items, 0), LETTERS[:3], [-1, -2, -3], 1),
        scored(1, plain(items, 1), LETTERS, [-1, -2, -3, float("nan")], 1),
        silent,
        scored(3, plain(items, 3), LETTERS, [-2, -1, -3, -4], 1),
    ]
    result = imported(tmp_path, items, rows)
    assert result.imported_responses.item_id.tolist() == ["q4"]
    assert counts(result) == {"rows": 4, "joined_by_hash": 1, "dropped": 3}
    detail = result.import_report.detail[0]
    assert "1 dropped (number of log-likelihoods differs from options), e.g. doc 0 ×" in detail
    assert "1 dropped (no response), e.g. q3 ×" in detail
    assert "1 dropped (logprobs not finite), e.g. q2 ×" in detail


# --- the whole --------------------------------------------------------------------------------


def answers(items: pd.DataFrame, order: Sequence[int]) -> list[dict[str, Any]]:
    random = np.random.default_rng(0)
    perturbed = [random.normal(-20, 4, size=4).round(3).tolist() for _ in range(len(items))]
    return [
        scored(i, plain(items, i), [f" {t}" for t in items.choices[i]], perturbed[i], 1)
        for i in order
    ]


def test_matrix_from_a_log_has_the_accuracy_of_lm_eval(tmp_path: Path, make_items: Make) -> None:
    items = make_items(*(f"q{i}" for i in range(40)))
    rows = answers(items, range(40))
    lengths = np.array([[len(text) for text in texts] for texts in items.choices], dtype=float)
    logprobs = np.array([[float(r[0]) for r in row["filtered_resps"]] for row in rows])
    by_length = float(np.mean((logprobs / lengths).argmax(axis=1) == 1))
    result = imported(tmp_path, items, rows, shots=0)
    none = Demonstrations.empty()
    calibration = fit_temperatures(
        Responses.empty(), result.imported_responses, none, ResponsesParams()
    )
    matrix = build_response_matrices(
        Responses.empty(), result.imported_responses, [], calibration, items
    ).response_matrix
    accuracy = dict(zip(matrix.models, matrix.correct.mean(axis=1), strict=True))
    model = "org/model-7b"
    assert accuracy == {
        configuration_name(model, "cloze", 0): pytest.approx(np.mean([r["acc"] for r in rows])),
        configuration_name(model, "cloze_bytes", 0): pytest.approx(by_length),
    }


def test_overlapping_logs_are_merged_by_row(tmp_path: Path, make_items: Make) -> None:
    items = make_items(*(f"q{i}" for i in range(7)))
    for day, asked in enumerate([[0], [1, 2, 3], [0, 4], [5, 6, 3]], start=1):
        rows = [scored(i, plain(items, i), LETTERS, [-9, -float(day), -9, -9], 1) for i in asked]
        write_log(tmp_path / "m", rows, time=f"2026-01-0{day}T00-00-00")
    result = import_as_rows(load(tmp_path), items, Demonstrations.empty())
    taken = result.imported_responses
    days = {i: -v[1] for i, v in zip(taken.item_id, taken.logprobs, strict=True)}
    assert days == {"q0": 1, "q1": 2, "q2": 2, "q3": 2, "q4": 3, "q5": 4, "q6": 4}
    assert result.import_report.doubled.tolist() == [0, 0, 1, 1]


def test_logs_of_many_subjects_are_one_configuration(tmp_path: Path) -> None:
    subjects = ("anatomy", "virology", "law")
    docs = [mmlu(subject, f"{subject}?", i % 4) for i, subject in enumerate(subjects)]
    ingested = hub_items("mmlu", docs)
    for doc in docs:
        task = f"mmlu_{doc['subject']}"
        row = scored(0, doc, LETTERS, [-2, -1, -3, -4], doc["answer"])
        write_log(tmp_path / "m", [row], task=task, beside=None if task[-1] == "w" else {})
    message = results("mmlu_law") | {"n-shot": {f"mmlu_{subject}": 5 for subject in subjects}}
    write_log(
        tmp_path / "m", [scored(0, docs[2], LETTERS, [-2, -1, -3, -4], 2)], "mmlu_law", message
    )
    result = import_as_rows(load(tmp_path), ingested.items, ingested.calibration_items)
    asked = result.imported_responses[["model", "style", "shots"]].drop_duplicates()
    assert asked.to_numpy().tolist() == [["org/model-7b", "letters", 5]]
    assert len(result.imported_responses) == 3


@pytest.mark.long
def test_logs_written_by_the_harness_are_read(tmp_path: Path, make_items: Make) -> None:
    """With its own dummy model, which draws log-likelihoods: no weights, but the real writer."""
    pytest.importorskip("lm_eval")
    import json

    from lm_eval import simple_evaluate
    from lm_eval.loggers import EvaluationTracker
    from lm_eval.tasks import TaskManager

    items = make_items(*(f"q{i}" for i in range(6)))
    docs = [plain(items, i) | {"answer": 1} for i in range(6)]
    data = tmp_path / "docs.jsonl"
    data.write_text("".join(json.dumps(doc) + "\n" for doc in docs), encoding="utf-8")
    common = {
        "dataset_path": "json",
        "dataset_kwargs": {"data_files": {"test": str(data)}, "cache_dir": str(tmp_path / "hf")},
        "test_split": "test",
        "doc_to_text": "{{question}}\nAnswer:",
        "metadata": {"version": 1},
    }
    chosen = {"output_type": "multiple_choice", "doc_to_target": "{{answer}}"}
    tasks: list[dict[str, Any]] = [
        {"task": "the_letters", "doc_to_choice": list("ABCD"), **chosen, **common},
        {"task": "the_texts", "doc_to_choice": "{{choices}}", **chosen, **common},
        {
            "task": "the_written",
            "output_type": "generate_until",
            "doc_to_target": "{{choices[answer]}}",
            "generation_kwargs": {"until": ["\n"]},
            **common,
        },
    ]
    tracker = EvaluationTracker(output_path=str(tmp_path / "responses"))
    out = simple_evaluate(
        model="dummy",
        model_args="pretrained=org/dummy",
        tasks=tasks,
        task_manager=TaskManager(include_defaults=False),
        evaluation_tracker=tracker,
        log_samples=True,
        bootstrap_iters=0,
    )
    samples = out.pop("samples")
    tracker.save_results_aggregated(results=out, samples=samples)
    for name in out["configs"]:
        tracker.save_results_samples(task_name=name, samples=samples[name])

    result = import_as_rows(load(tmp_path / "responses"), items, Demonstrations.empty())
    responses = result.imported_responses
    joined = {"rows": 6, "joined_by_hash": 6}
    assert [counts(result, row) for row in range(2)] == [joined] * 2
    assert counts(result, 2) == {**joined, "unreadable": 6}
    assert set(result.import_report.file.str.partition("/")[0]) == {"org__dummy"}
    got = responses.groupby(["model", "style", "shots"]).correct.mean().to_dict()
    metrics = {
        "letters": out["results"]["the_letters"]["acc,none"],
        "cloze": out["results"]["the_texts"]["acc,none"],
        "generate": out["results"]["the_written"]["exact_match,none"],
    }
    assert got == {("org/dummy", s, 0): pytest.approx(v) for s, v in metrics.items()}
