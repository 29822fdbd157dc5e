"""Judges on an existing benchmark, behind a server: tables, page, and replies asked once."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml

from benchwright.core.errors import InputError
from benchwright.datasets.score_store import ScoreStore
from benchwright.params.benchmark import BenchmarkParams
from benchwright.params.mmlu_cf import CheckingParams, DifficultyParams
from benchwright.params.scoring import ModelsParams, ScoringParams
from benchwright.pipelines.judging import create_benchmark_pipeline
from benchwright.tables.mmlu_cf import JudgedItems, Judgements
from scripted_server import ScriptedServer, served
from transforms.benchmark_tables import items_table

ITEMS = items_table(
    [
        ("Which <b>metal</b> is easy?", ["iron", "water"], 0),
        ("Which metal is hard to name?", ["iron", "water"], 0),
        ("Which metal is keyed wrongly?", ["iron", "water"], 1),
        ("Which metal hurts, violently?", ["iron", "water"], 0),
        ("Which metal leaves you speechless?", ["iron", "water"], 0),
    ]
)
EASY, HARD, WRONG, VIOLENT, MUTE = ITEMS["item_id"]
LEVELS = {"easy": 1, "hard": 8, "wrongly": 4, "violently": 5}


def says(prompt: str, body: dict[str, Any]) -> str:
    """Rate by a word of the last question; the strict judge rates one level more."""
    question = prompt.rsplit("Question: ", 1)[1]
    word = next((word for word in LEVELS if word in question), None)
    if word is None:
        return "I would rather not."
    strict = body["model"] == "strict"
    if '{"difficulty"' in prompt:
        return f"[{LEVELS[word] + strict}]"
    if '{"rating"' in prompt:
        return f'{{"rating": {1 if word == "wrongly" else 5 - strict}}}'
    harm = "yes" if word == "violently" and strict else "no"
    return f"hatred: no\nsex: no\nself_harm: no\nviolence: {harm}"


@pytest.fixture(scope="module")
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer(says=says) as running:
        yield running


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("store")


@pytest.fixture(scope="module")
def made(store: Path, server: ScriptedServer, repository: Path) -> dict[str, Any]:
    return judge(store, server, repository)


def judge(
    folder: Path,
    server: ScriptedServer,
    repository: Path,
    items: pd.DataFrame = ITEMS,
    judges: tuple[str, ...] = ("kind", "strict"),
    **checking: Any,
) -> dict[str, Any]:
    """Run the stage on the items, with a store of replies in the folder."""
    conf = yaml.safe_load((repository / "conf/base/parameters/benchmarks/demo.yml").read_text())
    models = {name: served(server.url, endpoint={"model": name}) for name in ("kind", "strict")}
    made: dict[str, Any] = {
        "items": items,
        "answer_store": ScoreStore(str(folder)).load(),
        "params:ingestion": BenchmarkParams.model_validate(conf["_benchmarks"]["demo"]),
        "params:variant": "judge",
        "params:difficulty": DifficultyParams(judges=judges, attempts=2),
        "params:checking": CheckingParams(judges=judges, attempts=2, **checking),
        "params:models": ModelsParams.model_validate({"models": models}),
        "params:scoring": ScoringParams(),
        "params:seed": 0,
    }
    for node in create_benchmark_pipeline().nodes:
        made |= node.run({name: made[name] for name in node.inputs})
    return made


def test_every_judge_has_a_row_per_item_and_items_combine_them(made: dict[str, Any]) -> None:
    judgements = Judgements.of(made["judgements"]).set_index(["item_id", "judge"])
    assert len(judgements) == 10
    assert judgements.loc[(HARD, "strict"), "level"] == 9
    assert judgements.loc[(WRONG, "kind"), "overall"] == 1
    assert judgements.loc[(VIOLENT, "strict"), "violence"] == 1
    assert judgements.loc[(MUTE, "kind")].isna().all()
    judged = JudgedItems.of(made["judged_items"]).set_index("item_id")
    assert judged["reason"].to_dict() == {
        EASY: "good",
        HARD: "good",
        WRONG: "low_rating",
        VIOLENT: "harmful",
        MUTE: "unjudged",
    }
    assert judged.loc[EASY, "difficulty"] == 1.5
    assert judged.loc[EASY, "mean_rating"] == 4.5
    metrics = made["judge_metrics"]
    assert (metrics["share_easy"], metrics["share_rated"]) == (0.25, 0.8)
    assert (metrics["share_passed"], metrics["share_harmful"]) == (0.5, 0.25)


def test_a_second_run_asks_the_judges_nothing(
    made: dict[str, Any], store: Path, server: ScriptedServer, repository: Path
) -> None:
    asked = len(server.arrivals)
    again = judge(store, server, repository, items=ITEMS[::-1])
    assert len(server.arrivals) == asked > 0
    pd.testing.assert_frame_equal(made["judgements"], again["judgements"])


def test_the_page_has_the_figure_the_warnings_and_the_items_to_read(made: dict[str, Any]) -> None:
    page = made["judge_report"]
    assert "25.0% of the 4 rated items have a level below 4; the mean is 5.0." in page
    assert "50.0% of 4 pass the check." in page
    assert "Only 80.0% of 5 prompts to kind (difficulty) got a readable reply" in page
    assert "&lt;b&gt;metal&lt;/b&gt;" in page
    assert "<b>metal</b>" not in page
    lowest = page.split("Lowest rated (")[1].split("Flagged as harmful (1)")[0]
    assert lowest.index(WRONG) < lowest.index(EASY)
    levels = {line["name"]: line["y"] for line in made["judged_difficulty_plot"]["data"]}
    assert levels["kind (n = 4)"] == [0, 0.25, 0, 0, 0.25, 0.25, 0, 0, 0.25, 0]
    assert sum(levels["all judges (n = 4)"]) == 1


def test_a_judge_that_gives_all_items_the_same_value_is_named(
    store: Path, server: ScriptedServer, repository: Path
) -> None:
    same = ITEMS[ITEMS["item_id"].isin([EASY, HARD])]
    page = judge(store, server, repository, same, judges=("kind",))["judge_report"]
    assert "kind gave 100.0% of 2 items the same overall (5), so it does not tell them" in page
    assert "the same level" not in page
    assert "no unit has ratings of two raters" in page


def test_without_judges_the_run_stops_before_it_asks(
    store: Path, server: ScriptedServer, repository: Path
) -> None:
    asked = len(server.arrivals)
    with pytest.raises(InputError, match=r"name models in difficulty\.judges"):
        judge(store, server, repository, judges=())
    assert len(server.arrivals) == asked
