"""Questions that may be closed, for somebody who sees the public half."""

import pandas as pd
import pytest

from benchwright.methods.mmlu_cf.splitting.guessing import count_candidates
from benchwright.tables.mmlu_cf import SplitAssignment


def _assigned(public: str, closed: str) -> pd.DataFrame:
    halves = [(item, "validation") for item in public] + [(item, "test") for item in closed]
    return SplitAssignment.from_rows([(item, half, "Law", 6, "s") for item, half in halves])


@pytest.mark.parametrize(
    ("passages", "expected"),
    [([None] * 8, 5), (["a", None, None, None, None, None, None, "a"], 4)],
)
def test_questions_of_a_public_document_or_passage_cannot_be_closed(
    passages: list[str | None], expected: int
) -> None:
    # Public: a; of its document: b. Closed: c. Without a document: h.
    eligible = pd.DataFrame(
        {
            "item_id": list("abcdefgh"),
            "doc_id": ["1", "1", "2", "2", "3", "4", "1", None],
            "passage": passages,
        }
    )
    assert count_candidates(eligible, _assigned("a", "c")) == expected


def test_without_documents_all_but_public_questions_may_be_closed() -> None:
    eligible = pd.DataFrame({"item_id": list("abcd")})
    assert count_candidates(eligible, _assigned("a", "bc")) == 3
