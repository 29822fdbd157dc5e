"""Keys and shards of stored scores."""

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

from benchwright.language_models.protocol import PromptText, Sampling
from benchwright.params.benchmark import BenchmarkParams, PromptParams
from benchwright.params.scoring import ModelParams, ModelsParams, ScoringParams
from benchwright.scoring.score_shards import (
    COLUMNS,
    WRITTEN_COLUMNS,
    Shard,
    holds,
    model_ingredients,
    plan_shards,
    score_key,
)
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


def test_each_ingredient_changes_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    keys = [
        key(),
        key(prompt=PROMPT._replace(prefix="another")),
        key(prompt=PROMPT._replace(text=" another")),
        key(prompt=PROMPT._replace(prefix="prefix ", text="text")),
        key(prompt=PROMPT._replace(continuations=(" b", " a"))),
        key(prompt=PROMPT._replace(template="chat")),
        key(labels=("1", "2")),
        key(style="letters"),
        key(shots_used=1),
        key(model_entry(2)),
        key(MODEL | {"weights": {"hub": "o/n", "revision": "a" * 40}}),
        key(MODEL | {"context": 64}),
        key(MODEL | {"label_space": False}),
        key(MODEL | {"chat_template": True}),
        key(scoring=live("one@cloze-2", dtype="float32")),
        key(MODEL | {"backend": "vllm"}),
        key(SERVER),
        key(SERVER | {"endpoint": {"url": "http://localhost:2/v1"}}),
    ]
    for place, value in (
        ("scoring.score_shards.version", {"transformers": "9.9", "torch": "2.0"}.__getitem__),
        ("scoring.score_shards.version", {"transformers": "5.0", "torch": "9.9"}.__getitem__),
        ("language_models.loading.resolve_device", lambda _: "cuda"),
        ("language_models.weights._CONVERSION", "gguf-99"),
    ):
        monkeypatch.setattr(f"benchwright.{place}", value)
        keys.append(key())
    assert len(set(keys)) == len(keys)


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


def test_every_prompt_is_in_one_shard_whatever_its_id_gold_answer_and_row(
    build: Callable[..., pd.DataFrame], models: ModelsParams, scoring: ScoringParams
) -> None:
    prompts = build(scoring)
    plan = plan_shards(prompts, models, scoring)
    keys = [key for shard in plan.shards for key in shard.keys]
    assert sorted(keys) == sorted(set(plan.keys))
    assert all(len({p.prefix for p in shard.prompts}) == 1 for shard in plan.shards)
    sizes = Counter(len(shard.keys) for shard in plan.shards)
    assert sizes == {1: 7, 2: 4, 3: 3, 4: 3, 5: 1, 6: 1, 7: 1}
    renamed = prompts.assign(item_id="x/" + prompts["item_id"], answer=0)[::-1]
    again = plan_shards(renamed, models, scoring)
    assert {shard.name for shard in again.shards} == {shard.name for shard in plan.shards}
    hidden = prompts[(prompts["condition"] == "choices_only") & (prompts["style"] == "letters")]
    plan = plan_shards(hidden, models, scoring)
    # All items of a subject have the same options: two subjects, two prompts.
    assert sum(len(shard.keys) for shard in plan.shards) == 2
    assert len(plan.keys) == 12


@pytest.mark.parametrize("field", sorted(PromptParams.model_fields))
def test_each_prompt_setting_changes_the_keys(
    field: str,
    build: Callable[..., pd.DataFrame],
    items: pd.DataFrame,
    demonstrations: pd.DataFrame,
    colours: BenchmarkParams,
    models: ModelsParams,
) -> None:
    scoring = live("one@cloze-2", "one@letters-2", "one@generate-1")
    open_ended = items.iloc[:2].assign(choices=[[], []], answer=-1, answer_text="7")
    open_ended["item_id"] = ["open/0", "open/1"]
    tables = {
        name: pd.concat([table, open_ended], ignore_index=True)
        for name, table in (("items", items), ("demonstrations", demonstrations))
    }

    def asked(benchmark: BenchmarkParams) -> set[str]:
        prompts = build(scoring, ingestion=benchmark, filter_models=(), **tables)
        return {shard.name for shard in plan_shards(prompts, models, scoring).shards}

    words = PromptParams.model_validate({field: "» {subject} {label} {choice} «"})
    assert not asked(colours.model_copy(update={"prompt": words})) >= asked(colours)


def scored(**wrong: object) -> pd.DataFrame:
    values = {
        "key": ["k1", "k2"],
        "logprobs": [np.array([-1.0, -2.0]), None],
        "option_tokens": [np.array([1, 1]), None],
        "prompt_tokens": [3, 4],
    }
    return pd.DataFrame(values | wrong)[list(COLUMNS)]


def written(texts: object) -> pd.DataFrame:
    values = {"key": ["k1", "k2"], "texts": texts, "finish": None}
    counts = {"generated_tokens": [1, 2], "prompt_tokens": [3, 4]}
    return pd.DataFrame(values | counts)[list(WRITTEN_COLUMNS)]


def test_only_what_was_saved_holds_a_shards_prompts() -> None:
    prompts = PROMPT, PROMPT._replace(text="b")
    shard = Shard("name", "model", None, ("k1", "k2"), prompts)
    assert holds(scored(), shard)
    sampled = shard._replace(sampling=Sampling(8, temperature=0.0, seed=1))
    assert holds(written([["A"], None]), sampled)
    others = [None, scored().drop(columns="logprobs"), scored(key=["k1", "k3"]), written(None)]
    assert not any(holds(frame, shard) for frame in others)
