"""Keys and shards of stored scores."""

from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest

from benchwright.language_models.protocol import PromptText
from benchwright.params.benchmark import BenchmarkParams, PromptParams
from benchwright.params.scoring import ModelParams, ModelsParams, ScoringParams
from benchwright.scoring.prompts import build_prompts
from benchwright.scoring.score_shards import model_ingredients, plan_shards, score_key
from scoring.scoring_examples import live, model_entry

PROMPT = PromptText("prefix", " text", (" a", " b"), "none")
SCORING = live("one@cloze-2", dtype="bfloat16")
MODEL = model_entry(1)
SERVER = {"backend": "openai", "family": "f", "endpoint": {"url": "http://localhost:1/v1"}}


def key(
    model: dict[str, Any] = MODEL,
    scoring: ScoringParams = SCORING,
    prompt: PromptText = PROMPT,
    labels: tuple[str, ...] = ("A", "B"),
    style: str = "cloze",
    shots_used: int = 2,
) -> str:
    ingredients = model_ingredients(ModelParams.model_validate(model), scoring)
    return score_key(ingredients, prompt, labels, style, shots_used)


CHANGES: dict[str, Callable[[], str]] = {
    "prefix": lambda: key(prompt=PROMPT._replace(prefix="another")),
    "text": lambda: key(prompt=PROMPT._replace(text=" another")),
    "cut": lambda: key(prompt=PROMPT._replace(prefix="prefix ", text="text")),
    "continuations": lambda: key(prompt=PROMPT._replace(continuations=(" a", " c"))),
    "order of options": lambda: key(prompt=PROMPT._replace(continuations=(" b", " a"))),
    "template": lambda: key(prompt=PROMPT._replace(template="chat")),
    "labels": lambda: key(labels=("1", "2")),
    "style": lambda: key(style="letters"),
    "shots": lambda: key(shots_used=1),
    "weights": lambda: key(model_entry(2)),
    "commit": lambda: key(MODEL | {"weights": {"hub": "o/n", "revision": "a" * 40}}),
    "context of the model": lambda: key(MODEL | {"context": 64}),
    "label space": lambda: key(MODEL | {"label_space": False}),
    "chat": lambda: key(MODEL | {"chat_template": True}),
    "dtype": lambda: key(scoring=live("one@cloze-2", dtype="float32")),
    "context": lambda: key(scoring=live("one@cloze-2", dtype="bfloat16", max_tokens=1024)),
    "backend": lambda: key(MODEL | {"backend": "vllm"}),
    "vLLM's block size": lambda: key(MODEL | {"backend": "vllm", "vllm": {"block_size": 16}}),
    "a server": lambda: key(SERVER),
    "another server": lambda: key(SERVER | {"endpoint": {"url": "http://localhost:2/v1"}}),
}


@pytest.mark.parametrize("change", CHANGES)
def test_each_ingredient_changes_the_key(change: str) -> None:
    assert CHANGES[change]() != key()


def test_keys_of_different_changes_differ() -> None:
    assert len({made() for made in CHANGES.values()}) == len(CHANGES)


@pytest.mark.parametrize("package", ["transformers", "torch"])
def test_another_version_of_a_library_changes_the_key(
    package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = key()
    known = {"transformers": "5.19.0", "torch": "2.13.0"} | {package: "9.9"}
    monkeypatch.setattr("benchwright.scoring.score_shards.version", known.__getitem__)
    assert key() != before


def test_timeouts_and_secrets_do_not_change_the_key() -> None:
    endpoint = {"url": "http://localhost:1/v1", "key_env": "KEY", "timeout": 1, "concurrency": 2}
    assert key(SERVER | {"endpoint": endpoint}) == key(SERVER)
    assert "KEY" not in str(model_ingredients(ModelParams.model_validate(SERVER), SCORING))


def test_a_score_stored_by_an_earlier_version_is_still_found() -> None:
    columns = {"model": "s", "prefix": "prefix0", "template": "none", "style": "cloze"}
    scored = {"text": "text 0", "continuations": [" a", " b"], "max_new_tokens": 0}
    written = {"text": "text 0", "continuations": [], "max_new_tokens": 64}
    more = {"labels": ["A", "B"], "shots_used": 2, "stop": ["\n"]}
    prompts = pd.DataFrame([columns | more | rows for rows in (scored, written)])
    models = ModelsParams.model_validate({"models": {"s": SERVER | {"context": 2048}}})
    plan = plan_shards(prompts, models, SCORING)
    assert plan.keys == ["68e6ce26f3483278a91c81e609a7b77e", "b2e54b706d9dc21a74646b4b2a433cbf"]
    assert [shard.name for shard in plan.shards] == [
        "95efd27112dc2639f1daa39bec7587da",
        "65116811f2bcc28e569fdd377a89e6f8",
    ]


@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_the_device_is_part_of_the_key(device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchwright.language_models.loading.resolve_device", lambda _: device)
    assert model_ingredients(ModelParams.model_validate(MODEL), SCORING)["device"] == device


def test_another_conversion_changes_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    before = key()
    monkeypatch.setattr("benchwright.language_models.weights._CONVERSION", "gguf-99")
    assert key() != before


@pytest.fixture
def prompts(
    items: pd.DataFrame,
    demonstrations: pd.DataFrame,
    calibration_items: pd.DataFrame,
    colours: BenchmarkParams,
    scoring: ScoringParams,
    models: ModelsParams,
) -> pd.DataFrame:
    return build_prompts(
        *(colours, scoring, models, scoring.configurations, 0),
        items=items,
        demonstrations=demonstrations,
        calibration_items=calibration_items,
    )


def names(prompts: pd.DataFrame, models: ModelsParams, scoring: ScoringParams) -> set[str]:
    return {shard.name for shard in plan_shards(prompts, models, scoring).shards}


def test_every_prompt_is_in_one_shard_and_shards_keep_to_their_size(
    prompts: pd.DataFrame, models: ModelsParams, scoring: ScoringParams
) -> None:
    plan = plan_shards(prompts, models, scoring)
    keys = [key for shard in plan.shards for key in shard.keys]
    assert sorted(keys) == sorted(set(plan.keys))
    assert all(len({p.prefix for p in shard.prompts}) == 1 for shard in plan.shards)
    assert max(len(shard.keys) for shard in plan.shards) <= 2 * scoring.shard_size


def test_shards_do_not_depend_on_ids_gold_answers_and_row_order(
    prompts: pd.DataFrame, models: ModelsParams, scoring: ScoringParams
) -> None:
    renamed = prompts.assign(item_id="x/" + prompts["item_id"], answer=0)[::-1]
    assert names(renamed, models, scoring) == names(prompts, models, scoring)


def test_equal_prompts_are_scored_once(
    prompts: pd.DataFrame, models: ModelsParams, scoring: ScoringParams
) -> None:
    hidden = prompts[(prompts["condition"] == "choices_only") & (prompts["style"] == "letters")]
    plan = plan_shards(hidden, models, scoring)
    # All items of a subject have the same options: two subjects, two prompts.
    assert sum(len(shard.keys) for shard in plan.shards) == 2
    assert len(plan.keys) == 12


@pytest.mark.parametrize("field", sorted(PromptParams.model_fields))
def test_each_prompt_setting_changes_the_keys(
    field: str,
    items: pd.DataFrame,
    demonstrations: pd.DataFrame,
    calibration_items: pd.DataFrame,
    colours: BenchmarkParams,
    models: ModelsParams,
) -> None:
    scoring = live("one@cloze-2", "one@letters-2", "one@generate-1")
    open_ended = items.iloc[:2].assign(choices=[[], []], answer=-1, answer_text="7")
    open_ended["item_id"] = ["open/0", "open/1"]
    both = pd.concat([items, open_ended], ignore_index=True)
    shown = pd.concat([demonstrations, open_ended], ignore_index=True)

    def asked(benchmark: BenchmarkParams) -> set[str]:
        made = build_prompts(
            *(benchmark, scoring, models, (), 0),
            items=both,
            demonstrations=shown,
            calibration_items=calibration_items,
        )
        return names(made, models, scoring)

    words = PromptParams.model_validate({field: "» {subject} {label} {choice} «"})
    assert not asked(colours.model_copy(update={"prompt": words})) >= asked(colours)
