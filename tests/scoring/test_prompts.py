"""Prompts, compared character by character."""

from typing import Any

import pandas as pd
import pytest

from benchwright.core.errors import InputError
from benchwright.params.scoring import ModelsParams
from benchwright.tables.items import Items
from scoring.scoring_examples import item, live, model_entry


def prompt_of(prompts: pd.DataFrame, item_id: str, condition: str = "question") -> Any:
    result = prompts[(prompts["item_id"] == item_id) & (prompts["condition"] == condition)]
    return next(result.itertuples())


def test_letters_look_like_mmlu(build: Any) -> None:
    row = prompt_of(build(live("one@letters-1")), "t/1")
    assert row.prefix + row.text == (
        "The following are multiple choice questions (with answers) about high school physics.\n\n"
        "Which colour has dev/1?\nA. red\nB. green\nC. blue\nD. grey\nAnswer: B\n\n"
        "Which colour has t/1?\nA. red\nB. green\nC. blue\nD. grey\nAnswer:"
    )
    assert row.continuations == [" A", " B", " C", " D"]
    assert row.labels == ["A", "B", "C", "D"]
    assert row.configuration == "one@letters-1"


def test_cloze_shows_no_options_and_scores_their_texts(build: Any) -> None:
    row = prompt_of(build(live("one@cloze-1")), "t/1")
    assert (row.prefix + row.text).endswith(
        "physics.\n\nWhich colour has dev/1?\nAnswer: green\n\nWhich colour has t/1?\nAnswer:"
    )
    assert row.continuations == [" red", " green", " blue", " grey"]


def test_choices_only_shows_the_options_without_questions_in_every_style(build: Any) -> None:
    prompts = build(live("one@letters-2", "one@cloze-2", "one@generate-2"))
    hidden = prompts[prompts["condition"] == "choices_only"]
    assert len(hidden) == 36
    assert not (hidden["prefix"].astype(str) + hidden["text"]).str.contains("Which colour").any()
    options = "\n\nA. red\nB. green\nC. blue\nD. grey\n"
    assert hidden["text"].str.startswith(options).all()
    for style, gold, scored in (
        ("letters", (" B", " D"), [" A", " B", " C", " D"]),
        ("cloze", (" green", " grey"), [" red", " green", " blue", " grey"]),
    ):
        row = prompt_of(hidden[hidden["style"] == style], "t/1", "choices_only")
        assert row.text == options + "Answer:"
        shown = "".join(f"{options}Answer:{answer}" for answer in gold)
        assert row.prefix.endswith("physics." + shown)
        assert row.continuations == scored


def test_an_item_is_never_its_own_demonstration(build: Any, demonstrations: pd.DataFrame) -> None:
    twin = item("val/9", "anatomy", question="Which colour has dev/4?")
    calibrating = Items.from_rows(
        [tuple(twin.values()), *demonstrations.itertuples(index=False, name=None)]
    )
    prompts = build(live("one@cloze-5"), calibration_items=calibrating)
    rows = prompts[prompts["item_id"].str.startswith(("dev/", "val/"))]
    asked = rows["text"].str.extract(r"(Which colour has [^?]+\?)")[0]
    assert len(rows) == 13
    assert not [q for q, prefix in zip(asked, rows["prefix"], strict=True) if q in prefix]
    assert set(rows["shots_used"]) == {5}


def test_errors_name_known_models_and_the_number_of_demonstrations(build: Any) -> None:
    with pytest.raises(InputError, match="unknown model 'three'; expected one of one, two"):
        build(live("three@cloze-1"))
    with pytest.raises(InputError, match=r"one@cloze-13 asks for 13 demonstrations.* has 12"):
        build(live("one@cloze-13"))


def test_chat_template_wraps_the_prompt(build: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    class Chat:
        def apply_chat_template(self, messages: Any, **_: Any) -> str:
            return f"<user>{messages[0]['content']}</user><model>"

    monkeypatch.setattr("benchwright.language_models.loading.model_tokenizer", lambda *_: Chat())
    chat = model_entry(1, chat_template=True, label_space=False)
    row = prompt_of(
        build(live("one@letters-1"), models=ModelsParams.model_validate({"models": {"one": chat}})),
        "t/1",
    )
    assert row.prefix.startswith("<user>The following")
    assert row.text.endswith("Answer:</user><model>")
    assert row.continuations == ["A", "B", "C", "D"]
    assert row.template == "chat"


def test_choices_only_is_asked_of_filter_models_only(build: Any) -> None:
    asked = live("one@cloze-0", "one@letters-0", "one@cloze-1")
    prompts = build(asked, filter_models=("one@cloze_bytes-0", "elsewhere"))
    alone = prompts[prompts["condition"] == "choices_only"]
    assert set(alone["configuration"]) == {"one@cloze-0"}
    assert set(prompts["configuration"]) == {"one@cloze-0", "one@letters-0", "one@cloze-1"}


def test_mode_first_asks_what_no_file_has(build: Any) -> None:
    scoring = live("two@letters-0", "one@cloze-0", "one@generate-0", mode="first")
    names = [("one", "generate"), ("two", "letters")]
    assert [(c.model, c.style) for c in scoring.asked(copies=False)] == names
    assert len(scoring.asked()) == 3
    prompts = build(live("one@letters-1", "one@cloze-0", mode="first"))
    assert set(prompts["configuration"]) == {"one@letters-1"}
    assert set(prompts["condition"]) == {"question"}
