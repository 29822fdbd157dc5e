"""From files of results to Δ, alarms and the page."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from kedro.io import DatasetError

from benchwright.core.errors import InputError, one_line
from benchwright.datasets.half_scores import FORMAT, HalfScores
from benchwright.methods.mmlu_cf.splitting.gap import pair_halves
from benchwright.params.mmlu_cf import HalfGapParams
from benchwright.params.scoring import ModelsParams
from benchwright.pipelines.half_gap import create_pipeline
from benchwright.tables.mmlu_cf import HalfGap

N = 5_000
WEIGHTS = {"path": "nowhere"}
SERVER = {"backend": "openai", "endpoint": {"url": "http://localhost:1/v1"}, "family": "x"}
MODELS = ModelsParams.model_validate(
    {
        "models": {
            "giant": {"weights": WEIGHTS, "family": "a", "size_b": 72},
            "tiny": {"weights": WEIGHTS, "family": "b", "size_b": 0.5},
            "served": SERVER,
            "served-7b": {**SERVER, "size_b": 7},
        }
    }
)


def group(accuracy: float | None, n: int = N) -> dict[str, Any]:
    variance = 0.0 if accuracy is None else max(accuracy * (1 - accuracy), 0.0) / n
    se = None if accuracy is None else float(np.sqrt(variance))
    return {"n": n, "accuracy": accuracy, "se": se}


def results(model: str, half: str, accuracy: float | None, **changed: Any) -> dict[str, Any]:
    benchmark = {"name": "demo", "canary": "c", "validation": "a" * 64, "test": "b" * 64}
    return {
        "format": FORMAT,
        "version": "0.1.0",
        "benchmark": benchmark,
        "half": half,
        "model": model,
        "style": "letters",
        "shots": 0,
        "all": group(accuracy),
        "fields": {},
        "unanswered": 0,
        "reason": "" if accuracy is not None else "5 answers; too few",
        **changed,
    }


def both(model: str, validation: float, test: float, **changed: Any) -> list[dict[str, Any]]:
    halves = (("validation", validation), ("test", test))
    return [results(model, half, accuracy, **changed) for half, accuracy in halves]


@pytest.fixture
def write(tmp_path: Path) -> Callable[[list[dict[str, Any]]], HalfScores]:
    def written(rows: list[dict[str, Any]]) -> HalfScores:
        for number, row in enumerate(rows):
            folder = tmp_path / "scores" / str(row["model"])
            folder.mkdir(parents=True, exist_ok=True)
            (folder / f"{number:02d}.json").write_text(json.dumps(row))
        return HalfScores(folder=str(tmp_path / "scores"))

    return written


NO_ORIGINAL = pd.DataFrame({"model": [], "accuracy_full": [], "n_full": []})


def run(
    scores: HalfScores,
    settings: HalfGapParams | None = None,
    original: pd.DataFrame = NO_ORIGINAL,
) -> dict[str, Any]:
    """Return the outputs of all nodes of the pipeline."""
    made: dict[str, Any] = {
        "half_scores": scores.load(),
        "original_scores": original,
        "params:half_gap": settings or HalfGapParams(),
        "params:models": MODELS,
    }
    for node in create_pipeline().nodes:
        made |= node.run({name: made[name] for name in node.inputs})
    return made


def test_the_original_benchmark_stands_beside_the_halves(write: Callable[..., HalfScores]) -> None:
    rows = [*both("giant", 0.7, 0.71), *both("tiny", 0.5, 0.5), *both("served", 0.6, 0.6)]
    columns = {
        "model": ["giant@letters-0", "giant@letters-5", "tiny"],
        "accuracy_full": [0.883, 0.1, 0.662],
        "n_full": [14_042, 14_042, 14_000],
    }
    settings = HalfGapParams(original="mmlu/smart")
    made = run(write(rows), settings, pd.DataFrame(columns))
    gaps = HalfGap.of(made["half_gap"]).set_index("model")
    assert gaps.loc["giant", ["original", "n_original"]].tolist() == [0.883, 14_042]
    assert gaps.loc["tiny", "original"] == 0.662  # a log that does not say how it asked
    assert np.isnan(gaps.loc["served", "original"])
    page = made["half_gap_report"]
    assert "Accuracy in percent on mmlu/smart and both halves" in page
    assert page.index("88.3%") < page.index("70.0%") < page.index("71.0%")
    assert "Original</th>" not in run(write(rows))["half_gap_report"]
    with pytest.raises(InputError, match="no saved scores of mmlu/smart; run kedro run --pip"):
        run(write(rows), settings)


def test_a_leak_of_ten_points_raises_the_alarm_for_that_model_alone(
    write: Callable[..., HalfScores], show: Callable[[str], None]
) -> None:
    rows = [
        *both("giant", 0.712, 0.71),
        *both("tiny", 0.50, 0.40),
        *both("served", 0.60, 0.604),
        *both("served-7b", 0.55, 0.555),
    ]
    made = run(write(rows))
    gaps = HalfGap.of(made["half_gap"]).set_index("model")
    assert gaps["suspicious"].to_dict() == {
        "giant": False,
        "served": False,
        "served-7b": False,
        "tiny": True,
    }
    tiny = gaps.loc["tiny"]
    error = np.sqrt((0.25 + 0.24) / N)
    assert (tiny["delta"], tiny["low"]) == pytest.approx((-0.1, -0.1 - 1.959964 * error))
    assert gaps["size_group"].to_dict() == {
        "giant": "large",
        "served": "api",
        "served-7b": "small",
        "tiny": "mini",
    }
    page = made["half_gap_report"]
    assert "The public half looks leaked for tiny@letters-0 (−10.0 points [−11.9, −8.1])." in page
    assert page.count("looks leaked</td>") == 1
    assert made["half_gap_metrics"]["alarms"] == 1
    assert made["half_gap_metrics"]["mean_delta"] == pytest.approx((-0.1 + 0.007) / 4)
    alarms = [t for t in made["half_gap_plot"]["data"] if t.get("name") == "looks leaked"]
    assert [list(t["x"]) for t in alarms] == [[pytest.approx(-10)]]
    show(f"gap monitor: leak of 10 points at n = {N:,}: p (Holm) {tiny['p_holm']:.1e}")


def test_without_a_leak_the_page_states_the_smallest_detectable_gap(
    write: Callable[..., HalfScores],
) -> None:
    made = run(write([*both("giant", 0.70, 0.71), *both("<b>tiny</b>", 0.41, 0.40)]))
    assert not made["half_gap"]["suspicious"].any()
    page = made["half_gap_report"]
    assert "<b>tiny</b>@" not in page
    assert "No evidence of a leak: none of 2 configurations is significantly better" in page
    # The mean error of the two, times 2.2414, the normal quantile of 1 − 0.05/4.
    errors = [np.sqrt(2 * p * (1 - p) / N) for p in (0.705, 0.405)]
    assert f"better by about {100 * 2.2414 * np.mean(errors):.1f} points" in page


def test_only_fields_reported_in_both_halves_are_compared(
    write: Callable[..., HalfScores],
) -> None:
    first, second = both("tiny", 0.5, 0.5)
    first["fields"] = {n: group(0.6, 900) for n in ("law", "maths", "other fields")}
    second["fields"] = {n: group(0.4, 900) for n in ("law", "art", "other fields")}
    made = run(write([first, second]))
    gaps = made["half_gap"].set_index("field")
    assert sorted(gaps.index) == ["", "law"]
    assert gaps["suspicious"].to_dict() == {"": False, "law": True}
    page = made["half_gap_report"]
    assert "No evidence of a leak" in page
    assert "Fields that look leaked: law (tiny@letters-0)." in page
    shown = re.sub(r"<[^>]+>", " ", page.split('id="fields"')[1].split("</section>")[0])
    low, high = (f"{100 * gaps.loc['law', end]:+.1f}".replace("-", "−") for end in ("low", "high"))
    row = f"law tiny@letters-0 −20.0 [{low}, {high}] &lt; 0.001 looks leaked"
    assert row in " ".join(shown.split())
    assert made["half_gap_metrics"]["alarms_in_fields"] == 1


def test_unpaired_halves_are_noted_and_not_compared(
    write: Callable[..., HalfScores], caplog: pytest.LogCaptureFixture
) -> None:
    rows = [
        *both("tiny", 0.4, 0.41),
        results("giant", "test", 0.7),
        results("served", "validation", None),
        results("served", "test", 0.6, version="0.0.9"),
        *both("stranger", 0.4, 0.41),
    ]
    made = run(write(rows))
    assert sorted(made["half_gap"]["model"]) == ["stranger", "tiny"]
    warnings = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    assert warnings == [
        "half_gap: giant@letters-0: no results of the validation half",
        "half_gap: served@letters-0: validation: 5 answers; too few",
        "half_gap: unknown size (conf: models.models.<name>.size_b): stranger",
    ]
    assert all(
        note.removeprefix("half_gap: ").split("<")[0] in made["half_gap_report"]
        for note in warnings
    )
    assert made["half_gap"].set_index("model")["size_group"]["stranger"] == "unknown"


def test_scores_of_two_benchmarks_are_never_paired(write: Callable[..., HalfScores]) -> None:
    other = {"name": "other", "canary": "d", "validation": "c" * 64, "test": "d" * 64}
    again = {"name": "demo", "canary": "c", "validation": "a" * 64, "test": "e" * 64}
    scores = write(
        [
            results("tiny", "validation", 0.4),
            results("tiny", "test", 0.2, benchmark=other),
            *both("tiny", 0.41, 0.42, benchmark=again),
        ]
    ).load()
    with pytest.raises(InputError, match=r"demo \(b+\), demo \(e+\), other \(d+\): choose one"):
        pair_halves(scores)
    with pytest.raises(
        InputError, match=r"results of 2 sealed benchmarks for half_gap.sealed=demo"
    ):
        pair_halves(scores, "demo")
    paired, _ = pair_halves(scores, "eeee")
    assert [(s.validation.accuracy, s.test.accuracy) for s in paired] == [(0.41, 0.42)]
    with pytest.raises(InputError, match=r"has results of both halves .tiny@letters-0: no"):
        pair_halves(scores, "other")


def test_a_repeated_half_is_refused(write: Callable[..., HalfScores]) -> None:
    scores = write([*both("tiny", 0.4, 0.4), results("tiny", "test", 0.5)]).load()
    with pytest.raises(
        InputError, match=r"tiny/01.json and tiny/02.json are both of tiny@letters-0"
    ):
        pair_halves(scores)


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"format": "something"}, "format: Input should be 'benchwright-half-score-1'"),
        ({"items": []}, "items: Extra inputs are not permitted"),
    ],
)
def test_a_file_of_another_kind_is_refused_in_one_line(
    write: Callable[..., HalfScores], changed: dict[str, Any], reason: str
) -> None:
    row = {**results("tiny", "test", 0.5), **changed}
    with pytest.raises(DatasetError) as raised:
        write([row]).load()
    message = one_line(raised.value) or ""
    assert message.split("scores/")[1].startswith(f"tiny/00.json: {reason}")


def test_an_error_about_an_empty_folder_explains_how_to_make_results(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="write them with benchwright evaluate-sealed"):
        HalfScores(folder=str(tmp_path / "absent")).load()
    (tmp_path / "torn.json").write_text('{"format": ')
    with pytest.raises(DatasetError, match=r"torn.json: not valid JSON .JSONDecodeError."):
        HalfScores(folder=str(tmp_path)).load()
