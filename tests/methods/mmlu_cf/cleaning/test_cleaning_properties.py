"""Properties of cleaning for arbitrary rows."""

import pickle
import string
from typing import Any

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from benchwright.methods.mmlu_cf.cleaning.clean import clean, clean_and_fingerprint
from benchwright.methods.mmlu_cf.cleaning.rules import clean_batch
from benchwright.params.mmlu_cf import CleaningParams
from methods.mmlu_cf.cleaning.raw_rows import as_raw

SCHEMA = pa.schema(
    [
        *((name, pa.string()) for name in ("item_id", "question", "answer", "explanation")),
        *((name, pa.list_(pa.string())) for name in ("choices", "labels")),
    ]
)
NUMBERS = st.sampled_from(["", "12. ", "Q3) ", "(a) ", "I. ", "A. ", "1) ", "1. A. 2. ", "# 4 "])
WORDS = st.sampled_from(
    [
        "What is the capital",
        "what",
        "of France",
        "(",
        "pH",
        "1.5 kg",
        "Которая",
        "π",
        "\0",
        "?",
        ",",
    ]
)
QUESTIONS = st.one_of(
    st.builds(lambda number, words: number + " ".join(words), NUMBERS, st.lists(WORDS, max_size=6)),
    st.text(max_size=40),
)
CHOICES = st.one_of(
    st.lists(st.sampled_from(["Paris", "Rome", "1.5 kg", "2", "A", "b", " ", ""]), max_size=5),
    st.permutations(["A. Paris", "B. Rome", "C. Bonn", "D. Oslo"]),
    st.just(["I. 1. Paris", "II. 2. Rome", "III. 3. Bonn", "IV. 4. Oslo"]),
    st.permutations(["Paris", "Rome", "Bonn", "Oslo"]),
)
LABELS = st.one_of(
    st.permutations(list("ABCD")),
    st.permutations(["1", "2", "3", "4"]),
    st.permutations(["i", "ii", "iii", "iv"]),
    st.lists(st.sampled_from([*"ABcd12", "", "?", "IV"]), max_size=5),
)
ANSWERS = st.one_of(
    st.none(),
    st.sampled_from([*"ABcd1234", "iii", "Paris", "The answer is B.", "C. Bonn", "A. Rome", ""]),
    st.text(string.printable, max_size=12),
)

ROWS = st.lists(
    st.fixed_dictionaries(
        {
            "question": st.one_of(st.none(), QUESTIONS),
            "answer": ANSWERS,
            "explanation": st.one_of(st.none(), st.text(max_size=5)),
            "choices": st.one_of(st.none(), CHOICES),
            "labels": LABELS,
        }
    ),
    max_size=12,
)


@given(ROWS, st.integers(0, 12))
def test_every_row_is_clean_or_rejected_for_good_whatever_its_batch(
    rows: list[dict[str, Any]], at: int
) -> None:
    numbered = [{"item_id": f"doc#{i}", **row} for i, row in enumerate(rows)]
    raw = pa.Table.from_pylist(numbered, schema=SCHEMA)
    made = clean([raw], CleaningParams())
    ids = [part.column("item_id").to_pylist() for part in (made.rows, made.rejected)]
    assert sorted(ids[0] + ids[1]) == sorted(raw.column("item_id").to_pylist())
    funnel = made.counts.to_pylist()
    assert (funnel[0]["rows_in"], funnel[-1]["rows_out"]) == (len(rows), made.rows.num_rows)
    for row in made.rows.to_pylist():
        assert len(row["choices"]) == 4
        assert 0 <= row["answer"] < 4

    twice = clean([as_raw(made.rows)], CleaningParams())
    assert (twice.rejected.num_rows, twice.changes.num_rows) == (0, 0)
    assert twice.rows.equals(made.rows)

    halves = clean(
        [raw.slice(0, at), raw.slice(at)] if at <= len(rows) else [raw], CleaningParams()
    )
    assert all(half.equals(other) for half, other in zip(halves, made, strict=True))

    sent = pickle.loads(pickle.dumps(raw))  # noqa: S301
    [batch] = clean_and_fingerprint(sent, params=CleaningParams())
    there, prints = pickle.loads(pickle.dumps(batch))  # noqa: S301
    here = clean_batch(raw, CleaningParams())
    assert all(a.equals(b) for a, b in zip(there, here, strict=True))
    assert len(prints.signed) == len(prints.text) == here.rows.num_rows
