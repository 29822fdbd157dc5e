"""What becomes of source rows: items, examples, calibration items and rejected rows."""

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.core.errors import InputError
from benchwright.ingestion.source_fields import Rule
from benchwright.ingestion.source_rows import IngestedTables, map_source_rows
from benchwright.params.benchmark import BenchmarkParams
from few_examples import few_examples

FIELDS = {
    "item_id": "id",
    "subject": "subject",
    "question": "question",
    "choices": {"column": "options"},
    "gold": {"column": "answer", "form": "letter"},
}


def benchmark(fields: dict[str, Any] | None = None, **changes: Any) -> BenchmarkParams:
    """A benchmark with one local file, with the given mapping and other changes."""
    return BenchmarkParams.model_validate(
        {
            "name": "toy",
            "title": "Toy",
            "licence": "MIT",
            "citation": "none",
            "url": "",
            "sources": {
                "local": {
                    "file": "items.jsonl",
                    "split_column": "split",
                    "fields": fields or FIELDS,
                }
            },
            "splits": {
                "evaluation": ["test"],
                "demonstrations": ["dev", "train"],
                "calibration": ["validation", "train"],
            },
            **changes,
        }
    )


def row(item_id: str = "a", **changes: Any) -> dict[str, Any]:
    """A good row, with the given changes."""
    return {
        "id": item_id,
        "_split": "test",
        "subject": "birds",
        "question": f"Which bird is {item_id}?",
        "options": ["owl", "wren", "kite"],
        "answer": "B",
        **changes,
    }


def ingest(
    rows: list[dict[str, Any]],
    params: BenchmarkParams | None = None,
    limit: int | None = None,
    seed: int = 0,
) -> IngestedTables:
    frame = pd.DataFrame(rows, dtype=object)
    return map_source_rows(frame, params or benchmark(), limit, seed)


def only_item(rows: list[dict[str, Any]], params: BenchmarkParams | None = None) -> pd.Series:
    items = ingest(rows, params).items
    assert len(items) == 1
    return items.iloc[0]


GOOD = row("good")


def test_row_becomes_an_item_with_verbatim_texts() -> None:
    item = only_item([row(question=" NA\nTRUE ", options=["None", "01", "1e5"], answer="A")])
    assert item.question == " NA\nTRUE "
    assert item.choices == ["None", "01", "1e5"]
    assert (item.answer, item.answer_text, item.correct_set) == (0, "None", [0])
    assert pd.isna(item.explanation)


@pytest.mark.parametrize(
    ("rule", "changes"),
    [
        (Rule.UNKNOWN_SPLIT, {"_split": "tset"}),
        (Rule.MISSING_ID, {"id": " "}),
        (Rule.MISSING_SUBJECT, {"subject": float("nan")}),
        (Rule.MISSING_QUESTION, {"question": "\n\t "}),
        (Rule.NOT_TEXT, {"question": ["Which?"]}),
        (Rule.NOT_TEXT, {"question": "half a pair \ud83d"}),
        (Rule.NOT_TEXT, {"options": ["owl", 1.5]}),
        (Rule.MISSING_CHOICES, {"options": None}),
        (Rule.MISSING_CHOICES, {"options": "owl, wren"}),
        (Rule.EMPTY_OPTION, {"options": ["owl", "  "]}),
        (Rule.TOO_FEW_OPTIONS, {"options": ["owl"]}),
        (Rule.TOO_MANY_OPTIONS, {"options": [str(i) for i in range(27)]}),
        (Rule.MISSING_GOLD, {"answer": None}),
        (Rule.UNREADABLE_GOLD, {"answer": "owl"}),
        (Rule.GOLD_OUT_OF_RANGE, {"answer": "D"}),
    ],
)
def test_invalid_row_is_rejected_with_the_rule_it_breaks(
    rule: Rule, changes: dict[str, Any]
) -> None:
    result = ingest([GOOD, row("bad", **changes)])
    assert result.items.item_id.tolist() == ["good"]
    (rejected,) = result.rejected_items.itertuples()
    assert (rejected.row, rejected.rule) == (2, rule)
    assert "expected" in rejected.detail
    assert "Which bird is bad" in rejected.raw or "question" in changes


def gold(form: str, **more: Any) -> dict[str, Any]:
    return {**FIELDS, "gold": {"column": "answer", "form": form}, **more}


LABELLED = {"choices": {"column": "options", "labels": "labels"}}


@pytest.mark.parametrize(
    ("rule", "fields", "changes"),
    [
        (Rule.GOLD_OUT_OF_RANGE, gold("index"), {"answer": 3}),
        (Rule.GOLD_OUT_OF_RANGE, gold("number"), {"answer": 0}),
        (Rule.UNREADABLE_GOLD, gold("index"), {"answer": True}),
        (Rule.UNREADABLE_GOLD, gold("index"), {"answer": 1.5}),
        (Rule.GOLD_NOT_AMONG_OPTIONS, gold("text"), {"answer": "gull"}),
        (Rule.AMBIGUOUS_GOLD, gold("text"), {"answer": "owl", "options": ["owl", "owl", "kite"]}),
        (Rule.GOLD_NOT_AMONG_OPTIONS, gold("label", **LABELLED), {"answer": "4"}),
        (Rule.AMBIGUOUS_GOLD, gold("label", **LABELLED), {"answer": "1", "labels": [1, 1, 2]}),
        (Rule.LABELS_DO_NOT_FIT, gold("label", **LABELLED), {"answer": "1", "labels": [1, 2]}),
        (Rule.LABELS_DO_NOT_FIT, gold("label", **LABELLED), {"answer": "1", "labels": None}),
        (Rule.AMBIGUOUS_GOLD, gold("one_hot"), {"answer": [1, 0, 1]}),
        (Rule.GOLD_OUT_OF_RANGE, gold("one_hot"), {"answer": [0, 0, 0]}),
        (Rule.UNREADABLE_GOLD, gold("one_hot"), {"answer": [0, 1]}),
        (Rule.UNREADABLE_GOLD, gold("multi_hot"), {"answer": [0, 2, 1]}),
    ],
)
def test_gold_answer_that_names_no_single_option_is_rejected(
    rule: Rule, fields: dict[str, Any], changes: dict[str, Any]
) -> None:
    answers = {"index": 1, "number": 2, "text": "wren", "label": "2"}
    hot = [0, 1, 0]
    good = row("good", answer=answers.get(fields["gold"]["form"], hot), labels=["1", "2", "3"])
    bad = {**row("bad"), "labels": ["1", "2", "3"], **changes}
    result = ingest([good, bad], benchmark(fields))
    assert result.items.answer.tolist() == [1]
    assert result.rejected_items.rule.tolist() == [rule]


@pytest.mark.parametrize(
    ("form", "answer"),
    [
        ("index", 1),
        ("index", "1"),
        ("number", "2"),
        ("letter", " b "),
        ("letter", "(B)"),
        ("letter", "b."),
        ("text", "wren "),
        ("one_hot", np.array([0, 1, 0])),
        ("multi_hot", [False, True, True]),
        ("letter", "C, B"),
    ],
)
def test_every_form_of_gold_answer_is_read(form: str, answer: Any) -> None:
    item = only_item([row(answer=answer)], benchmark(gold(form)))
    letters = isinstance(answer, str) and "," in answer
    assert (item.answer, item.answer_text) == ((2, "kite") if letters else (1, "wren"))
    assert item.correct_set == ([1, 2] if letters or form == "multi_hot" else [1])


def test_trailing_empty_options_are_dropped_only_if_configured() -> None:
    columns = {"columns": ["A", "B", "C"], "drop_empty_tail": True}
    short = row(A="owl", B="wren", C="")
    assert only_item([short], benchmark({**FIELDS, "choices": columns})).choices == ["owl", "wren"]
    strict = benchmark({**FIELDS, "choices": {"columns": ["A", "B", "C"]}})
    good = row("good", A="owl", B="wren", C="kite")
    assert ingest([good, short], strict).rejected_items.rule.tolist() == [Rule.EMPTY_OPTION]


def test_fields_are_read_from_nested_records_and_lists() -> None:
    fields = {
        "question": "question.stem",
        "choices": {"column": "question.choices.text", "labels": "question.choices.label"},
        "gold": {"column": "key", "form": "label"},
    }
    options = [{"text": "owl", "label": "1"}, {"text": "wren", "label": "2"}]
    source = {"_split": "test", "question": {"stem": "Which?", "choices": options}, "key": "2"}
    item = only_item([source], benchmark(fields))
    assert (item.question, item.choices, item.answer) == ("Which?", ["owl", "wren"], 1)


def test_passage_precedes_the_question_and_its_items_share_an_id() -> None:
    fields = {**FIELDS, "passage": "text", "explanation": "why", "domain": "area"}
    rows = [row("a", text="Long ago.", why="So."), row("b", text="Long ago."), row("c", text="")]
    items = ingest([{"why": None, "area": "", **r} for r in rows], benchmark(fields)).items
    assert items.question.tolist() == [
        "Long ago.\n\nWhich bird is a?",
        "Long ago.\n\nWhich bird is b?",
        "Which bird is c?",
    ]
    assert items.passage_id.iloc[0] == items.passage_id.iloc[1]
    assert items.passage_id.isna().tolist() == [False, False, True]
    assert items.explanation.isna().tolist() == [False, True, True]
    assert items.domain.isna().all()


def open_ended(**more: Any) -> dict[str, Any]:
    return {
        "item_id": "id",
        "question": "question",
        "gold": {"column": "answer", "form": "final_answer", **more},
    }


def test_open_ended_answer_follows_the_last_marker() -> None:
    result = ingest(
        [
            row("a", answer="2 + 2 = 4 #### 5 #### 1,000 "),
            row("b", answer="no mark"),
            row("c", answer="empty ####  "),
            row("d", answer=None),
        ],
        benchmark(open_ended(after="####")),
    )
    (item,) = result.items.itertuples()
    assert (item.answer, item.answer_text, item.choices, item.correct_set) == (-1, "1,000", [], [])
    assert result.rejected_items.rule.tolist() == [
        Rule.UNREADABLE_GOLD,
        Rule.MISSING_GOLD,
        Rule.MISSING_GOLD,
    ]


TRUTHFUL = {
    "item_id": "id",
    "question": "question",
    "choices": {"columns": ["best"], "split_columns": ["wrong"], "order": "hashed"},
    "gold": {"form": "first"},
}


def test_gold_answer_that_always_comes_first_gets_a_hashed_position() -> None:
    rows = [row(f"q{i}", best="yes", wrong="no; never ;; not at all;") for i in range(400)]
    items = ingest(rows, benchmark(TRUTHFUL)).items
    assert set(items.answer_text) == {"yes"}
    assert all(sorted(c) == ["never", "no", "not at all", "yes"] for c in items.choices)
    counts = items.answer.value_counts()
    assert set(counts.index) == {0, 1, 2, 3}
    assert counts.min() > 70  # 100 expected in each place, standard deviation 9
    again = ingest(rows, benchmark(TRUTHFUL), seed=1).items
    assert again.answer.tolist() != items.answer.tolist()


def test_generated_ids_count_rows_by_subject_and_split_including_rejected_rows() -> None:
    fields = {k: v for k, v in FIELDS.items() if k != "item_id"}
    rows = [
        row(),
        row(subject="fish"),
        row(answer="?"),
        row(),
        row(_split="dev"),
        row(_split="validation", subject="fish"),
    ]
    result = ingest(rows, benchmark(fields))
    assert result.items.item_id.tolist() == ["toy/birds/0", "toy/birds/2", "toy/fish/0"]
    assert result.demonstrations.item_id.tolist() == ["toy_dev/birds/0"]
    assert result.calibration_items.item_id.tolist() == ["toy_validation/fish/0"]


def test_same_row_of_a_duplicate_id_is_kept_in_any_row_order() -> None:
    rows = [row("x", question="B?"), row("x", question="A?"), row("x", question="A?"), row("y")]
    kept = set()
    for order in ([0, 1, 2, 3], [2, 3, 1, 0], [1, 0, 3, 2]):
        result = ingest([rows[i] for i in order])
        kept.add(tuple(result.items.question))
        assert result.rejected_items.rule.tolist() == [Rule.DOUBLED_ID, Rule.DOUBLED_ID]
        assert result.rejected_items.detail.str.contains("a different question").sum() == 1
    assert kept == {("A?", "Which bird is y?")}


def test_evaluation_item_takes_precedence_over_a_demonstration_with_its_id() -> None:
    result = ingest([row("x", _split="dev", question="A?"), row("x", question="B?")])
    assert result.items.item_id.tolist() == ["x"]
    assert result.demonstrations.empty
    assert result.rejected_items.row.tolist() == [1]


def many(count: int, split: str) -> list[dict[str, Any]]:
    return [row(f"{split}/{i}", _split=split) for i in range(count)]


def test_calibration_items_and_demonstrations_of_one_split_are_disjoint() -> None:
    rows = many(3, "test") + many(500, "train") + many(4, "dev") + many(5, "validation")
    result = ingest(rows)
    shown = set(result.demonstrations.item_id)
    calibrating = set(result.calibration_items.item_id)
    assert not shown & calibrating
    assert len(calibrating) == 200 + 5
    assert len(shown) == 300 + 4
    assert {f"validation/{i}" for i in range(5)} <= calibrating


def test_items_of_a_small_limit_are_among_those_of_a_larger_one() -> None:
    rows = many(30, "test") + many(30, "validation") + many(4, "dev")
    ten, twenty = ingest(rows, limit=10), ingest(rows[::-1], limit=20)
    assert (len(ten.items), len(ten.calibration_items), len(ten.demonstrations)) == (10, 10, 4)
    assert set(ten.items.item_id) < set(twenty.items.item_id)
    assert set(ten.items.item_id) != {f"test/{i}" for i in range(10)}
    assert set(ingest(rows, limit=10, seed=1).items.item_id) != set(ten.items.item_id)


def test_source_without_valid_rows_is_rejected_with_counts_by_rule() -> None:
    with pytest.raises(InputError, match=r"missing_gold \(2\), empty_option \(1\); row 1: gold"):
        ingest([row("a", answer=""), row("b", answer=""), row("c", options=["", "x"])])


def test_rows_must_state_their_source_if_there_are_several() -> None:
    params = benchmark()
    both = params.sources.model_dump() | {"mirror": params.sources.local}
    several = BenchmarkParams.model_validate(params.model_dump() | {"sources": both})
    with pytest.raises(InputError, match="do not state"):
        ingest([GOOD], several)
    frame = pd.DataFrame([GOOD], dtype=object)
    frame.attrs["source"] = {"kind": "mirror"}
    assert len(map_source_rows(frame, several, None, 0).items) == 1


def test_rejected_row_is_saved_whole_even_with_invalid_unicode() -> None:
    bad = row("bad", question="half \ud83d", note="x" * 500, when=pd.Timestamp("2024-01-02"))
    (rejected,) = ingest([GOOD, bad]).rejected_items.itertuples()
    saved = json.loads(rejected.raw)
    assert saved["note"] == "x" * 500
    assert saved["when"] == "2024-01-02 00:00:00"
    assert "_split" not in saved
    rejected.raw.encode()


CELLS = st.one_of(
    st.none(), st.text(max_size=4), st.integers(-2, 4), st.floats(), st.booleans(), st.just("B")
)
ROWS = st.lists(
    st.fixed_dictionaries(
        {
            "id": st.sampled_from(["a", "b", "c1", "c10", "c2", None, "d", "e"]),
            "_split": st.sampled_from(["test", "dev", "train", "validation", "other", None]),
            "subject": st.sampled_from(["birds", "fish", "", 3]),
            "question": CELLS,
            "options": st.one_of(CELLS, st.lists(CELLS, max_size=4), st.just(["x", "y", "y"])),
            "answer": CELLS,
        }
    ),
    max_size=12,
)


@given(rows=ROWS, shuffle=st.randoms(use_true_random=False))
@few_examples
def test_every_row_has_one_outcome_in_any_row_order(
    rows: list[dict[str, Any]], shuffle: Any
) -> None:
    rows = [*rows, GOOD]
    result = ingest(rows)
    assert len(rows) == sum(len(table) for table in result[:4])
    mixed = list(rows)
    shuffle.shuffle(mixed)
    again = ingest(mixed)
    for original, shuffled in zip(result[:3], again[:3], strict=True):
        pd.testing.assert_frame_equal(original, shuffled)
    counts = [r.rejected_items.rule.value_counts().to_dict() for r in (result, again)]
    assert counts[0] == counts[1]


def test_label_errors_that_the_source_knows_are_those_of_evaluated_items() -> None:
    rows = [
        row("a", error="ok"),
        row("b", error="wrong_groundtruth"),
        row("c", error=None),
        row("d", error="ok", _split="dev"),
        row("b", error="ok", question="Which other bird?"),
    ]
    mapped = benchmark({**FIELDS, "label_error": "error"})
    for order in (rows, rows[::-1]):
        result = ingest(order, mapped)
        known = dict(result.known_label_errors.itertuples(index=False))
        kept = result.items.set_index("item_id").loc["b", "question"]
        assert known == {"a": "ok", "b": "wrong_groundtruth" if "is b" in kept else "ok"}
    assert ingest(rows).known_label_errors.empty
