"""The plots of the construction report show the numbers of the tables."""

import json
from typing import Any

import numpy as np
import pytest

from benchwright.reports.mmlu_cf.plots import plot_difficulty_levels
from reports.mmlu_cf.construction_examples import DifficultyCounts, LeakCounts, making, run


def as_json(plot: Any) -> dict[str, Any]:
    return dict(json.loads(plot.to_json()))


def bars(plot: Any, trace: int = 0, what: str = "x") -> dict[str, Any]:
    """Return the lengths of bars, or their notes, by the name of the row."""
    chart = as_json(plot)
    return dict(zip(chart["layout"]["yaxis"]["ticktext"], chart["data"][trace][what], strict=True))


def test_the_funnel_goes_from_documents_to_halves(
    judged: dict[str, Any], unjudged: dict[str, Any]
) -> None:
    plot = judged["construction_funnel_plot"]
    assert bars(plot) == {
        "documents": 0,
        "questions extracted": 60,
        "clean": 48,
        "sampled": 30,
        "checked": 24,
        "after the rules": 24,
        "public half": 12,
        "closed half": 12,
    }
    removed = bars(plot, 1)
    assert (removed["clean"], removed["sampled"], removed["checked"]) == (12, 18, 6)
    notes = bars(plot, 1, "text")
    assert notes["documents"] == "20 of 2 domains"
    assert notes["clean"] == "48 · 80.0%"
    assert notes["after the rules"] == "at least 22 altered"
    inputs = making(judges=True)
    inputs["checking_counts"]["final"] = 20
    inputs["leak_counts"] = LeakCounts.from_rows([("certain", 1, 0, 1, 0)])
    plot = run(inputs)["construction_funnel_plot"]
    assert (bars(plot)["final sample"], bars(plot, 1)["final sample"]) == (20, 4)
    assert "1 removed as leaks" in bars(plot, 1, "text")["public half"]
    assert "30, no judge" in bars(unjudged["construction_funnel_plot"], 1, "text").values()


def test_levels_of_each_step_are_shown_with_the_target(judged: dict[str, Any]) -> None:
    target, *pools = as_json(judged["difficulty_levels_plot"])["data"]
    assert dict(zip(target["x"], target["y"], strict=True)) == {5: 0.3, 6: 0.4, 7: 0.3}
    assert [pool["name"] for pool in pools] == [
        "rated (n = 48)",
        "sampled (n = 30)",
        "checked (n = 24)",
        "final (n = 24)",
    ]
    rated = pools[0]
    assert rated["y"][6] == pytest.approx(20 / 48, abs=1e-6)
    assert rated["hovertext"][5] == "rated (n = 48), level 5: 25.0%, n = 12"
    assert pools[3]["y"][7] == pytest.approx(10 / 24, abs=1e-6)


def test_level_0_is_a_level_and_unknown_ones_are_not_drawn() -> None:
    rows = [("rated", -1, 5, 0.5, np.nan), ("rated", 0, 2, 0.2, np.nan), ("rated", 4, 3, 0.3, 0.1)]
    plot = as_json(plot_difficulty_levels(DifficultyCounts.from_rows(rows)))
    (rated,) = plot["data"]
    assert rated["x"] == list(range(10))
    assert rated["y"] == [0.2, 0, 0, 0, 0.3, 0, 0, 0, 0, 0]
    none = plot_difficulty_levels(DifficultyCounts.from_rows(rows[:1]))
    assert none.layout.annotations[0].text == "No question has a difficulty level."
