"""Every document with questions that a test of extraction reads must pass the prefilter."""

from collections.abc import Iterator

import pyarrow as pa
import pytest

from benchwright.methods.mmlu_cf.extraction import extract
from benchwright.methods.mmlu_cf.extraction.extract import may_hold_questions
from benchwright.methods.mmlu_cf.extraction.questions import FoundQuestion


@pytest.fixture(autouse=True)
def nothing_is_lost(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Fail a test if a document with questions would have been skipped."""
    with_questions: list[str] = []
    questions_in = extract.questions_in

    def noted(text: str, content_type: str) -> list[FoundQuestion]:
        questions = questions_in(text, content_type)
        if questions:
            read = text[: extract._DOCUMENT_CHARACTERS]
            with_questions.append(read.encode("utf-8", "replace").decode())
        return questions

    monkeypatch.setattr(extract, "questions_in", noted)
    yield
    shown = may_hold_questions(pa.array(with_questions, pa.large_string()))
    lost = [text for text, there in zip(with_questions, shown, strict=True) if not there]
    assert not lost, f"the prefilter passes over {lost[0][:500]!r}"
