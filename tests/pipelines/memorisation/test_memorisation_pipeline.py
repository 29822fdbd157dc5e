"""From replies of models to shares, examples and the page."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml

from benchwright.core.errors import InputError
from benchwright.params.benchmark import BenchmarkParams
from benchwright.params.scoring import ScoringParams
from benchwright.pipelines.memorisation import create_pipeline
from benchwright.tables.mmlu_cf import Memorisation, MemorisationSummary
from benchwright.tables.responses import Generations
from transforms.benchmark_tables import items_table

N = 200
SHARE = 0.30
SCORING = ScoringParams(
    mode="live",
    configurations=("knows@generate-0", "guesses@generate-0"),
    conditions=("question_only",),
)


def items_of(n: int = N) -> pd.DataFrame:
    random = np.random.default_rng(0)
    words = np.array([f"term{i}" for i in range(5_000)])
    rows = [
        (f"What is <b>{i}</b>?", [" ".join(random.choice(words, 3)) for _ in range(4)], i % 4)
        for i in range(n)
    ]
    return items_table(rows, "q").assign(subject=[f"s{i % 4}" for i in range(n)])


def recited(choices: list[str]) -> str:
    rest = [f"{label}. {text}" for label, text in zip("BCD", choices[1:], strict=True)]
    return " " + "\n".join([choices[0], *rest])


def generations(items: pd.DataFrame, model: str, known: set[int]) -> pd.DataFrame:
    """Return replies that recite some items and swap the first two options of the others."""
    return Generations.from_rows(
        [
            (model, "generate", 0, "question_only", row["item_id"], 0, text, "stop", None, "-", "p")
            for i, row in enumerate(items.to_dict("records"))
            for choices in [list(row["choices"])]
            for text in [
                recited(choices)
                if i in known
                else recited([choices[1], choices[0], "<i>else</i>", "more"])
            ]
        ]
    )


@pytest.fixture(scope="module")
def ingestion(request: pytest.FixtureRequest) -> BenchmarkParams:
    repository = request.getfixturevalue("repository")
    conf = yaml.safe_load((repository / "conf/base/parameters/benchmarks/demo.yml").read_text())
    return BenchmarkParams.model_validate(conf["_benchmarks"]["demo"])


def run(items: pd.DataFrame, written: pd.DataFrame, ingestion: Any) -> Any:
    made: dict[str, Any] = {
        "items": items,
        "generations": written,
        "params:scoring": SCORING,
        "params:ingestion": ingestion,
        "params:variant": "memorisation",
        "params:seed": 0,
    }
    for node in create_pipeline().nodes:
        made |= node.run({name: made[name] for name in node.inputs})
    return made


@pytest.fixture(scope="module")
def stage(ingestion: BenchmarkParams) -> dict[str, Any]:
    items = items_of()
    known = set(range(int(N * SHARE)))
    written = [generations(items, "knows", known), generations(items, "guesses", set())]
    made: dict[str, Any] = run(items, pd.concat(written), ingestion)
    return made


def test_a_model_that_recites_three_in_ten_items_is_detected(
    stage: dict[str, Any],
) -> None:
    Memorisation.of(stage["memorisation"])
    summary = MemorisationSummary.of(stage["memorisation_summary"]).set_index("model")
    knows, guesses = summary.loc["knows@generate-0"], summary.loc["guesses@generate-0"]
    assert knows["exact"] == knows["fuzzy"] == SHARE
    assert (knows["control_whole"], knows["item_only"], knows["control_only"]) == (0, 60, 0)
    assert knows["p_value"] == pytest.approx(0.5**60)  # 60 of 60 discordant pairs
    assert knows["p_holm"] == pytest.approx(2 * 0.5**60)
    # Wilson (1927) of none among 200: 1.96² / (200 + 1.96²).
    assert knows["control_whole_high"] == pytest.approx(3.8415 / 203.8415, abs=1e-5)
    assert (guesses["fuzzy"], guesses["options_fuzzy"]) == (0, 0)
    assert summary["remembers"].to_dict() == {"knows@generate-0": True, "guesses@generate-0": False}


def test_the_page_states_rates_and_tests(stage: dict[str, Any]) -> None:
    page = stage["memorisation_report"]
    assert (
        "knows@generate-0 writes all options in place for 30.0% of items [24.1%, 36.7%] and 0.0% "
        "of control items." in page
    )
    assert "60 items against 0 controls, p: &lt; 0.001" in page
    assert "guesses@generate-0 writes" not in page
    assert page.count("<td>yes</td>") == 1
    assert "<i>else</i>" not in page
    assert "&lt;i&gt;else&lt;/i&gt;" in page


def test_without_memorisation_the_page_states_the_upper_bound(ingestion: Any) -> None:
    items = items_of(40)
    written = [generations(items, name, set()) for name in ("one", "two")]
    page = run(items, pd.concat(written), ingestion)["memorisation_report"]
    assert "No model writes all options of its items significantly more often" in page
    # Wilson's bound of none among 40.
    assert f"With 40 items, a rate of up to {3.8415 / 43.8415:.1%} is compatible" in page
    alone = run(items, written[0], ingestion)["memorisation_report"]
    assert "one@generate-0 does not write all options" in alone


def test_without_controls_there_is_no_conclusion(ingestion: Any) -> None:
    items = items_of(8).assign(subject=[f"s{i}" for i in range(8)])
    page = run(items, generations(items, "knows", set(range(8))), ingestion)["memorisation_report"]
    assert "No conclusion: no item has a control item of the same subject." in page
    assert "<td>yes</td>" not in page


def test_examples_are_the_best_recited_items(stage: dict[str, Any]) -> None:
    knows, guesses = stage["memorisation_examples"][::-1]
    assert (knows["model"], guesses["model"]) == ("knows@generate-0", "guesses@generate-0")
    assert len({item["item_id"] for item in knows["items"]}) == 5
    assert all(o["match"] == "verbatim" for item in knows["items"] for o in item["options"])
    assert all(o["written"] == o["choice"] for item in knows["items"] for o in item["options"])
    first, second, *_ = guesses["items"][0]["options"]
    assert (first["written"], second["written"]) == (second["choice"], first["choice"])
    assert {first["match"], second["match"]} == {""}


def test_the_error_without_replies_names_the_settings(ingestion: Any) -> None:
    with pytest.raises(InputError, match="set score=live, the style generate") as raised:
        run(items_of(4), Generations.empty(), ingestion)
    assert "configurations knows@generate-0, guesses@generate-0" in str(raised.value)
