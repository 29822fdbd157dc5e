import pytest

from benchwright.methods.mmlu_cf.extraction.extract import questions_in
from benchwright.methods.mmlu_cf.extraction.measure import answered_choice
from methods.mmlu_cf.extraction.handmade_pages import PAGES, Page


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name.replace(" ", "-"))
def test_the_questions_of_a_page_are_extracted(page: Page) -> None:
    questions = questions_in(page.text, page.content_type)
    seen = [
        (
            " ".join(question.question.split()),
            question.choices,
            None
            if (
                place := answered_choice(
                    {
                        "choices": question.choices,
                        "labels": question.labels,
                        "answer": question.answer,
                    }
                )
            )
            < 0
            else place,
        )
        for question in questions
    ]
    assert seen == page.questions
