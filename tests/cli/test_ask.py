"""The command `benchwright ask`, with a model without weights."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from benchwright.answers.read_answers import read_answers
from benchwright.answers.read_logs import BenchmarkItems, read_logs
from benchwright.answers.table import Answers
from benchwright.cli import ask, cli
from benchwright.datasets.subset_manifest import read_subset
from benchwright.language_models.protocol import PromptScore, PromptText
from benchwright.methods.dele.asking import Goal
from benchwright.methods.dele.estimation.subset_scores import estimate_scores
from benchwright.params.benchmark import BenchmarkParams
from benchwright.params.scoring import ModelsParams
from benchwright.pipelines.ingestion import IngestedTables
from benchwright.tables.items import Demonstrations, Items, KnownLabelErrors, RejectedItems
from scoring.scoring_examples import StandIn, item, live, model_entry

N, M = 60, 12
RIGHT = np.random.default_rng(3).random(N) < 0.7
FIELDS = {
    "question": "question",
    "choices": {"column": "choices"},
    "gold": {"form": "index", "column": "answer"},
}
BENCHMARK = BenchmarkParams.model_validate(
    {
        "name": "small",
        "title": "Small",
        "licence": "CC0-1.0",
        "citation": "none",
        "url": "https://example.org",
        "sources": {"local": {"file": "x.parquet", "all_rows": "test", "fields": FIELDS}},
        "splits": {"evaluation": ["test"]},
    }
)
Make = Callable[..., ask.Asking]
TWENTY = Goal(20, None)


def items() -> pd.DataFrame:
    rows = [item(f"t/{i:02d}", answer=1 if RIGHT[i] else 0) for i in range(N)]
    return Items.from_rows([tuple(row.values()) for row in rows])


def known() -> Answers:
    rng = np.random.default_rng(1)
    correct = (rng.random((M, N)) < np.where(RIGHT, 0.8, 0.3)).astype(np.float32)
    names = tuple(f"m{i:02d}" for i in range(M))
    return Answers("training", names, tuple(f"t/{i:02d}" for i in range(N)), correct)


class Model(StandIn):
    """Always answers B, and counts the prompts that it reads."""

    asked: ClassVar[list[str]] = []
    dies_after: ClassVar[int | None] = None

    def score(
        self, prompts: Sequence[PromptText], progress: Callable[[int], object] | None = None
    ) -> list[PromptScore]:
        if Model.dies_after is not None and len(Model.asked) >= Model.dies_after:
            raise KeyboardInterrupt
        Model.asked += [prompt.text for prompt in prompts]
        logprobs = (-2.0, -0.1, -3.0, -4.0)
        return [PromptScore(logprobs, (1, 1, 1, 1), 20) for _ in prompts]


@pytest.fixture
def make(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Make:
    Model.asked, Model.dies_after, StandIn.loaded = [], None, []

    def load(name: str, *_: Any) -> Model:
        StandIn.loaded.append(name)
        return Model(name)

    monkeypatch.setattr("benchwright.scoring.model_engine.load_model", load)
    monkeypatch.setattr(
        "benchwright.scoring.score_shards.model_ingredients", lambda *_: {"model": "one"}
    )

    def made(
        goal: Goal = TWENTY,
        training: Answers | None = None,
        table: pd.DataFrame | None = None,
        seed: int = 0,
        folder: str = "out",
    ) -> ask.Asking:
        table = items() if table is None else table
        table = table.sort_values("item_id", ignore_index=True)
        ids = tuple(table["item_id"])
        return ask.Asking(
            ask.AskRequest("one", goal, seed=seed),
            BENCHMARK,
            IngestedTables(
                *(table, Demonstrations.empty(), Items.empty()),
                *(RejectedItems.empty(), KnownLabelErrors.empty()),
            ),
            ModelsParams.model_validate({"models": {"one": model_entry(1)}}),
            live("one@letters-0", conditions=["question"], calibration=False),
            ask._training(training, "one", ids),
            tmp_path / folder,
        )

    return made


@pytest.mark.parametrize("goal", [Goal(30, None), Goal(None, 0.3), Goal(41, 0.05)])
def test_a_killed_command_goes_on_with_the_same_items(make: Make, goal: Goal) -> None:
    whole = ask.run_ask(make(goal, known(), folder="whole"))
    of_whole, Model.asked = Model.asked, []
    for after in (4, 12):
        Model.dies_after = after
        with pytest.raises(KeyboardInterrupt):
            ask.run_ask(make(goal, known()))
    Model.dies_after = None
    result = ask.run_ask(make(goal, known()))
    assert result.state.places.tolist() == whole.state.places.tolist()
    assert result.state.looks == whole.state.looks
    assert sorted(Model.asked) == sorted(of_whole)  # none twice


def test_a_model_is_loaded_once_for_all_looks(make: Make) -> None:
    result = ask.run_ask(make(Goal(None, 0.15), known()))
    assert len(result.state.looks) > 2
    assert StandIn.loaded == ["one", "closed"]
    StandIn.loaded.clear()
    ask.run_ask(make(Goal(None, 0.15), known()))
    assert not StandIn.loaded


def test_the_order_of_rows_and_models_does_not_matter(make: Make) -> None:
    shuffled = np.random.default_rng(2).permutation(N)
    rows = np.random.default_rng(2).permutation(M)
    other = known()._replace(
        models=tuple(known().models[row] for row in rows),
        item_ids=tuple(known().item_ids[column] for column in shuffled),
        correct=known().correct[np.ix_(rows, shuffled)],
    )
    one = ask.run_ask(make(Goal(25, None), known()))
    two = ask.run_ask(make(Goal(25, None), other, items().iloc[shuffled], folder="two"))
    assert two.state.places.tolist() == one.state.places.tolist()
    assert two.state.looks == one.state.looks


def test_every_model_and_goal_has_the_same_order_of_items(make: Make) -> None:
    few = ask.run_ask(make(Goal(10, None), known())).state.places
    many = ask.run_ask(make(Goal(30, None), folder="many")).state.places
    assert many[:10].tolist() == few.tolist()
    other = ask.run_ask(make(Goal(10, None), known(), seed=1, folder="seed")).state.places
    assert other.tolist() != few.tolist()


def test_a_width_stops_early_and_is_reached(make: Make) -> None:
    said: list[str] = []
    result = ask.run_ask(make(Goal(None, 0.3), known()), said.append)
    assert result.stopped_by == "width"
    assert result.final.high - result.final.low <= 0.3
    assert len(said) == len(result.state.looks)
    assert result.final.asked < N
    capped = ask.run_ask(make(Goal(22, 0.01), known(), folder="capped"))
    assert (capped.stopped_by, capped.final.asked) == ("budget", 22)


def test_the_same_model_does_not_train(make: Make) -> None:
    named = known()._replace(models=("one@letters-0", *known().models[1:]))
    assert ask._training(named, "one", named.item_ids).models == named.models[1:]
    nobody = ask._training(named._replace(models=("one",) * M), "one", named.item_ids)
    assert not nobody.models
    assert "not used" in nobody.notes[0]


def test_results_are_read_back(make: Make) -> None:
    result = ask.run_ask(make(Goal(20, None), known()))
    file, saved = ask.write_answers(result), ask.result_json(result)
    assert saved["score"] == result.final.score
    assert "asked 20 of 60 items (stopped by budget)" in "\n".join(ask.terminal_lines(result))
    new = read_answers([file])
    assert new.models == ("one@letters-0",)
    again = estimate_scores(read_subset(result.asking.folder), new, known())
    assert again.models[0].score == pytest.approx(result.final.score)
    assert again.models[0].high == pytest.approx(result.final.high)
    read = read_logs([file], BenchmarkItems(result.asking.tables.items))
    assert int(read.report["joined_by_id"].sum()) == 20


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["--model", "nobody", "--budget", 3], "unknown model 'nobody'"),
        (["--model", "gemma-3-270m"], "give --budget ITEMS, --width SHARE or both"),
        (["--model", "gemma-3-270m", "--budget", 3, "--benchmark", "nothing"], "nothing"),
    ],
)
def test_bad_input_gets_one_line(
    words: list[object], line: str, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(repository)
    done = CliRunner().invoke(cli, ["ask", "--no-training", *map(str, words)])
    assert done.exit_code == 3
    assert line in done.output
    assert len(done.output.strip().splitlines()) == 1
