"""Prompts and answers under conditions, styles and perturbed copies."""

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from benchwright.core.errors import InputError
from benchwright.datasets.score_store import ScoreStore
from benchwright.language_models.protocol import PromptText
from benchwright.params.scoring import ModelsParams, ScoringParams
from benchwright.scoring.scores import Collected, collect_responses, score_prompts
from benchwright.tables.items import Items
from benchwright.tables.responses import Responses
from benchwright.tables.wicked import PerturbedItems
from scoring.scoring_examples import StandIn, item, live, model_entry

Ask = Callable[..., Collected]
CHAT = {"url": "http://localhost:1/v1", "api": "chat", "logprobs": "none"}


@pytest.fixture
def ask(
    build: Callable[..., pd.DataFrame],
    models: ModelsParams,
    stand_in: type[StandIn],
    tmp_path: Path,
) -> Ask:
    def run(scoring: ScoringParams, **changes: Any) -> Collected:
        prompts = build(scoring, **changes)
        asked_of = changes.get("models", models)
        store = ScoreStore(str(tmp_path / "scores"))
        for shard in score_prompts(prompts, store.load(), asked_of, scoring):
            store.save(shard)
        return collect_responses(prompts, store.load(), asked_of, scoring)

    return run


def table(*rows: dict[str, Any]) -> pd.DataFrame:
    return Items.from_rows([tuple(row.values()) for row in rows])


def test_every_column_of_prompts_and_responses_is_as_before(
    ask: Ask, build: Callable[..., pd.DataFrame], items: pd.DataFrame, demonstrations: pd.DataFrame
) -> None:
    """After a rule was changed on purpose, update these."""
    open_ended = items.iloc[:2].assign(choices=[[], []], answer=-1, answer_text="7")
    open_ended["item_id"] = ["open/0", "open/1"]
    changes = {
        "items": pd.concat([items, open_ended], ignore_index=True),
        "demonstrations": pd.concat([demonstrations, open_ended], ignore_index=True),
        "perturbed_items": perturbed_items(2, {1, 4}),
    }
    scoring = live(
        *("one@cloze-1", "one@letters-1", "one@cloze_bytes-0", "two@letters-0", "two@generate-1"),
        generation={"samples": 2, "temperature": 1.0},
    )
    out = ask(scoring, **changes)
    tables = build(scoring, **changes), out.live_responses, out.generations
    prefixes = tables[0]["prefix"].astype(str)
    assert (prefixes == prefixes.str.rstrip()).all()
    seen = [
        hashlib.sha256(table.to_json(orient="records", double_precision=3).encode()).hexdigest()[:8]
        for table in tables
    ]
    assert seen == ["c6f0d7af", "53f5d8de", "ac154117"]
    assert [len(table) for table in tables] == [198, 198, 76]


def test_the_memorisation_probe_ends_where_the_first_option_would_begin(build: Any) -> None:
    scoring = live(
        "one@generate-1", "one@letters-0", conditions=["question_only"], calibration=False
    )
    prompts = build(scoring)
    assert set(prompts["style"]) == {"generate"}
    row = prompts[prompts["item_id"] == "t/1"].iloc[0]
    assert row["prefix"].endswith("?\nA. red\nB. green\nC. blue\nD. grey\nAnswer: B")
    assert row["text"] == "\n\nWhich colour has t/1?\nA."
    assert row["max_new_tokens"] == scoring.generation.recall_tokens


def test_failed_extractions_are_unknown_not_wrong(
    ask: Ask, monkeypatch: Any, caplog: pytest.LogCaptureFixture
) -> None:
    def says(prompt: PromptText, sample: int) -> str:
        return "I cannot tell." if "t/3?" in prompt.text else "Well. The answer is (C)."

    monkeypatch.setattr(StandIn, "says", says)
    scoring = live("one@generate-0", conditions=["question"])
    out = ask(scoring)
    rows = Responses.validate(out.live_responses).set_index("item_id")
    assert len(rows) == 12, "calibration items are not asked for words"
    assert rows.loc["t/3", "extraction"] == "failed"
    assert rows.loc["t/3", "prediction"] == -1
    assert rows["correct"].isna().all()
    assert (rows.drop("t/3")["prediction"] == 2).all()
    assert "one@generate-0, question: 1 of 12 (8.3%) answers name no option" in caplog.text
    written = out.generations.set_index("item_id")
    assert written.loc["t/3", "text"] == "I cannot tell."
    assert written.loc["t/3", "rule"] == "none"
    assert written.loc["t/1", "extracted"] == "C"


def test_several_samples_give_the_share_of_right_ones_and_the_most_frequent(
    ask: Ask, monkeypatch: Any
) -> None:
    samples = ["The answer is (B).", "The answer is (B).", "Who knows?", "The answer is (A)."]
    monkeypatch.setattr(StandIn, "says", lambda prompt, sample: samples[sample])
    perturbed = {"samples": 4, "temperature": 1.0}
    scoring = live("one@generate-0", conditions=["question"], generation=perturbed)
    out = ask(scoring, items=table(item("t/0", answer=1), item("t/1", answer=0)))
    rows = out.live_responses.set_index("item_id")
    assert rows["prediction"].tolist() == [1, 1]
    assert rows["correct"].tolist() == pytest.approx([2 / 3, 1 / 3])
    assert out.generations["sample"].tolist() == [0, 1, 2, 3] * 2


def test_open_ended_items_are_scored_by_their_final_answer(ask: Ask, monkeypatch: Any) -> None:
    rows = [item(f"t/{i}", choices=(), answer=-1) for i in range(3)]
    for row, answer in zip(rows, ("1,200", "7", "9"), strict=True):
        row["answer_text"] = answer

    def says(prompt: PromptText, sample: int) -> str:
        return "No idea." if "t/2?" in prompt.text else "12 times 100. The answer is 1200."

    monkeypatch.setattr(StandIn, "says", says)
    demonstration = item("dev/0", choices=(), answer=-1) | {"answer_text": "3"}
    scoring = live("one@generate-1", conditions=["question"])
    out = ask(scoring, items=table(*rows), demonstrations=table(demonstration))
    by_item = out.live_responses.set_index("item_id")
    assert by_item["correct"].tolist()[:2] == [1.0, 0.0]
    assert pd.isna(by_item.loc["t/2", "correct"])
    assert by_item["extraction"].tolist() == ["ok", "ok", "failed"]
    assert out.generations["extracted"].tolist()[0] == "1200"


def test_letters_are_sampled_without_log_probabilities(build: Any, models: ModelsParams) -> None:
    entry = {"backend": "openai", "family": "f", "endpoint": CHAT}
    chat = ModelsParams.model_validate({"models": {"one": entry}})
    prompts = build(live("one@letters-1"), models=chat)
    assert set(prompts["template"]) == {"messages"}
    assert set(prompts["max_new_tokens"]) == {16}
    assert not prompts["continuations"].map(len).any()
    with pytest.raises(InputError, match=r"one@cloze-0 needs the log-likelihood.*logprobs: none"):
        build(live("one@cloze-0"), models=chat)


def test_a_prompt_leaves_room_for_the_answer(build: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    class Words:
        def __call__(self, text: str) -> Any:
            return type("Ids", (), {"input_ids": text.split()})

    monkeypatch.setattr("benchwright.scoring.prompts.model_tokenizer", lambda *_: Words())
    short = ModelsParams.model_validate({"models": {"one": model_entry(1, context=150)}})
    room = live("one@generate-5", conditions=["question"], generation={"max_tokens": 40})
    tight = live("one@generate-5", conditions=["question"], generation={"max_tokens": 80})
    used = [build(scoring, models=short).iloc[0]["shots_used"] for scoring in (room, tight)]
    assert used[0] > used[1]


def perturbed_items(conditions: int, changed: set[int]) -> pd.DataFrame:
    rows = []
    for n in range(conditions):
        for i in range(6):
            choices = ["red", "green", "blue", f"none {n}" if i in changed else "grey"]
            altered = item(f"t/{i}", choices=choices, answer=i % 4)
            rows.append({"condition": f"wicked-{n}", "role": "item", **altered})
        shown = item("dev/0", choices=["red", "green", "blue", "none"], answer=3)
        rows.append({"condition": f"wicked-{n}", "role": "demonstration", **shown})
    return PerturbedItems.from_rows(
        [{name: row[name] for name in PerturbedItems.columns()} for row in rows]
    )


def test_copies_have_their_own_demonstrations(build: Any) -> None:
    scoring = live("one@letters-1", conditions=["question"], calibration=False)
    prompts = build(scoring, perturbed_items=perturbed_items(2, {1}))
    assert set(prompts["condition"]) == {"question", "wicked-0", "wicked-1"}
    perturbed = prompts[prompts["condition"] != "question"]
    assert perturbed["prefix"].astype(str).str.endswith("D. none\nAnswer: D").all()
    changed = perturbed[(perturbed["item_id"] == "t/1") & (perturbed["condition"] == "wicked-1")]
    assert "D. none 1\n" in changed["text"].item()
