"""What a verdict rests on: a broken premise is never green, and honest runs are compared."""

import re
from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from numpy.typing import NDArray

from benchwright.answers.answer_files import Choice
from benchwright.cli import cli
from benchwright.core.errors import InputError
from benchwright.verdicts.comparable import Broken, Premises, refusals
from benchwright.verdicts.gate import EXIT_CODES, Gated, GateRequest, gate_all
from benchwright.verdicts.pair import read_pair
from verdicts.written_logs import WRITERS, Run

N = 300
DRAWS = 250  # per format
HONEST = 25
MARGIN = 0.05
REFUSED = 3
Marks = tuple[NDArray[np.float64], NDArray[np.float64]]
TABLES = ("long CSV", "long Parquet", "wide CSV")
LOGS = tuple(name for name in WRITERS if name not in TABLES)


class Change(NamedTuple):
    """What is not the same on both sides: the kind of premise, and the settings of A and of B."""

    kind: str
    a: dict[str, Any]
    b: dict[str, Any]


EXAMINER = "You are a careful examiner who answers with one letter and nothing else."
CHANGES = {
    "score": Change("score", {}, {"metric": "quasi_exact_match"}),
    "scorer": Change("score", {"scorer": "strict-match"}, {"scorer": "flexible-extract"}),
    "judge": Change("score", {"judge": "openai/strict"}, {"judge": "openai/lenient"}),
    "reducer of repeats": Change("score", {"repeats": 2}, {"repeats": 2, "reducer": "max"}),
    "best of repeats": Change("score", {}, {"repeats": 2, "reducer": "max"}),
    "shots": Change("prompts", {}, {"shots": 0}),
    "prompt template": Change("prompts", {}, {"template": "Think first. {question}\nAnswer:"}),
    "task version": Change("prompts", {}, {"task_version": "3"}),
    "data revision": Change("prompts", {}, {"data_revision": "v1.1"}),
    "system instruction": Change(
        "prompts", {"instruction": EXAMINER}, {"instruction": f"{EXAMINER} Think first."}
    ),
    "chat template": Change("prompts", {}, {"chat": "{{ messages }}"}),
    "temperature": Change("prompts", {}, {"temperature": 1.0}),
    "top-p": Change("prompts", {}, {"top_p": 0.5}),
    "answers per prompt": Change("prompts", {"n": 2}, {"n": 5}),
    "limit of tokens": Change("prompts", {}, {"max_tokens": 2048}),
}
"""Settings that one side has otherwise, and would make B look better than it is."""
OF_SCORES = [CHANGES[name] for name in ("score", "scorer", "judge")]
ASKED = ("shots", "prompt template")
STATED: dict[str, tuple[str, ...]] = {
    "lm-eval": (
        "score",
        "shots",
        "chat template",
        "prompt template",
        "task version",
        "data revision",
        "system instruction",
    ),
    "lm-eval, written": (
        "score",
        "scorer",
        *ASKED,
        "task version",
        "data revision",
        "system instruction",
        "chat template",
        "temperature",
        "top-p",
        "limit of tokens",
    ),
    "Inspect .json": (
        "score",
        "scorer",
        "judge",
        "reducer of repeats",
        "best of repeats",
        *ASKED,
        "task version",
        "system instruction",
        "temperature",
        "top-p",
        "answers per prompt",
        "limit of tokens",
    ),
    "Inspect .eval": (
        "scorer",
        "shots",
        "temperature",
        "score",
        "judge",
        "reducer of repeats",
        "best of repeats",
        "prompt template",
        "task version",
        "system instruction",
        "top-p",
        "answers per prompt",
        "limit of tokens",
    ),
    "HELM": ("score", *ASKED, "system instruction", "temperature", "limit of tokens"),
    "lighteval": (
        "score",
        *ASKED,
        "task version",
        "data revision",
        "system instruction",
        "chat template",
    ),
    "OpenCompass": ("score", "scorer", *ASKED, "chat template", "limit of tokens"),
    "Every Eval Ever": (
        "score",
        "scorer",
        *ASKED,
        "system instruction",
        "temperature",
        "top-p",
        "limit of tokens",
    ),
}
"""Premises that a format states."""
TWINS = ("lm-eval", "Inspect .eval")
"""Formats whose settings are read as those of another; the quick test tries three of them."""
OF_OPTIONS = ("lm-eval", "lighteval")
"""Formats of log-likelihoods here, to which sampling is nothing."""
SAMPLING = ("temperature", "top-p", "answers per prompt", "limit of tokens")
UNLISTED = (
    "score",
    "scorer",
    "judge",
    "reducer of repeats",
    "best of repeats",
    "answers per prompt",
)
"""What is not missed where neither side states it; here each format states a score."""
LEFT_OUT = {
    "lm-eval": ("chat_template", ("system instruction", "chat template")),
    "lm-eval, written": ("configs", ("prompt template", "temperature")),
    "Inspect .json": ("task_version", ("task version",)),
    "HELM": ("temperature", ("temperature",)),
    "lighteval": ("model_config", ("system instruction", "chat template")),
    "Every Eval Ever": ("eval_plan", ("prompt template", "system instruction")),
}
"""A field without which a log states less, and what is then not stated."""


def answers(seed: int, lost: int = 0) -> Marks:
    """Return answers of two models, of which the second has `lost` fewer right."""
    rng = np.random.default_rng(seed)
    first = (rng.random(N) < 0.7).astype(float)
    second = first.copy()
    changed = rng.permutation(N)[:12]
    second[changed] = 1 - second[changed]
    second[rng.permutation(np.flatnonzero(second))[:lost]] = 0.0
    return first, second


def choice_of(name: str, *runs: Run) -> Choice:
    """Return the choice without which a log has several scores."""
    has_filters = name == "lm-eval, written" and not any(run.scorer for run in runs)
    return Choice(filter=("strict-match",)) if has_filters else Choice()


class Written(NamedTuple):
    """Logs of both sides."""

    a: str
    b: str
    choice: Choice

    def gate(self, allow: Collection[str] = ()) -> Gated:
        pair = read_pair(self.a, self.b, choice=self.choice, whole=True, allow=allow)
        return gate_all(pair, GateRequest(MARGIN, 0.05))


def write(
    folder: Path,
    name: str,
    runs: tuple[Run, Run],
    marks: Marks,
) -> Written:
    paths = [
        WRITERS[name](folder / side, right, run)
        for side, right, run in zip("ab", marks, runs, strict=True)
    ]
    return Written(str(paths[0]), str(paths[1]), choice_of(name, *runs))


def broken_runs(premise: str, a: Run = Run(), b: Run = Run()) -> tuple[Run, Run]:  # noqa: B008
    change = CHANGES[premise]
    return replace(a, **change.a), replace(b, model="org/model-b", **change.b)


def names_of(premise: str) -> str:
    """Return how a verdict names a premise."""
    if premise == "best of repeats":
        return "reducer of repeats"
    return "sc" if CHANGES[premise] in OF_SCORES else premise  # score, or scoring rules


@pytest.mark.parametrize("name", LOGS)
def test_a_broken_premise_is_refused_unless_it_is_allowed(tmp_path: Path, name: str) -> None:
    """B is worse by 10 points, and looks as good as A by what is not the same."""
    shown = answers(seed=1)
    premises = STATED[name][: 3 if name in TWINS else None]
    for place, premise in enumerate(premises):
        written = write(tmp_path / premise, name, broken_runs(premise), shown)
        kind = CHANGES[premise].kind
        with pytest.raises(InputError, match=f"^{names_of(premise)}.*--allow {kind}"):
            written.gate()
        if not place:
            gated = written.gate(allow=(kind,))
            assert gated.decision == "not worse"
            (said,) = gated.comparison.pair.premises.allowed
            assert said.startswith(names_of(premise))


NOT_STATED: dict[str, tuple[str, ...]] = {
    "lm-eval": (),
    "lm-eval, written": (),
    "Inspect .json": ("data revision", "chat template"),
    "Inspect .eval": ("data revision", "chat template"),
    "HELM": ("task version", "data revision", "chat template", "top-p"),
    "lighteval": (),
    "OpenCompass": (
        "task version",
        "data revision",
        "system instruction",
        "temperature",
        "top-p",
    ),
    "Every Eval Ever": ("task version", "data revision", "chat template"),
    **dict.fromkeys(TABLES, ("how the answers of A and B were asked and scored",)),
}
"""What a verdict lists of logs that state all that their format can."""


@pytest.mark.parametrize("name", NOT_STATED)
def test_what_no_side_states_is_listed(tmp_path: Path, name: str) -> None:
    gated = write(tmp_path, name, (Run(), Run(model="org/model-b")), answers(2)).gate()
    assert gated.decision == "not worse"
    assert gated.comparison.pair.premises.not_stated == NOT_STATED[name]


@pytest.mark.parametrize("name", LEFT_OUT)
def test_what_one_side_does_not_state_is_listed(tmp_path: Path, name: str) -> None:
    field, premises = LEFT_OUT[name]
    runs = (Run(), Run(model="org/model-b", left_out=(field,)))
    gated = write(tmp_path, name, runs, answers(3)).gate()
    assert gated.decision == "not worse"
    listed = gated.comparison.pair.premises.not_stated
    for premise in premises:
        assert any(text.startswith(f"{premise} (") and "A" in text for text in listed), listed


def test_the_command_says_what_was_allowed(tmp_path: Path) -> None:
    written = write(tmp_path, "Inspect .json", broken_runs("scorer"), answers(4))
    words = ["gate", written.a, written.b, "--margin", str(MARGIN)]
    refused = CliRunner().invoke(cli, words)
    assert refused.exit_code == REFUSED
    assert "score: A strict-match, B flexible-extract; choose one with" in refused.output
    done = CliRunner().invoke(cli, [*words, "--allow", "score"])
    assert done.exit_code == 0
    assert "allowed to differ: score: A strict-match, B flexible-extract\n" in done.output


def test_long_instructions_are_shown_where_they_part(tmp_path: Path) -> None:
    written = write(tmp_path, "HELM", broken_runs("system instruction"), answers(4))
    parting = "system instruction: A “…hing else.”, B “…hing else. Think first.”; answers to"
    with pytest.raises(InputError, match=f"^{re.escape(parting)}"):
        written.gate()
    same = Run(instruction=EXAMINER), Run(instruction=EXAMINER, model="org/model-b")
    premises = write(tmp_path / "same", "HELM", same, answers(4)).gate().comparison.pair.premises
    assert "system instruction “You are a careful examiner who answers wi…”" in premises.rests_on[1]


@pytest.mark.parametrize("name", ["lm-eval", "lighteval", "Every Eval Ever"])
def test_a_score_that_is_lower_for_better_answers_is_refused(tmp_path: Path, name: str) -> None:
    runs = (Run(), Run(model="org/model-b", higher_is_better=False))
    with pytest.raises(InputError, match="lower for better answers"):
        write(tmp_path, name, runs, answers(5)).gate(allow=("score",))


def test_settings_of_sampling_matter_only_where_answers_are_drawn(tmp_path: Path) -> None:
    a, b = broken_runs("limit of tokens", b=Run(temperature=1.0))
    of_options = write(tmp_path / "options", "lighteval", (a, b), answers(6))
    assert of_options.gate().decision == "not worse"
    greedy = Run(temperature=0.0), Run(temperature=0.0, top_p=1.0, model="org/model-b")
    written = write(tmp_path / "greedy", "Inspect .json", greedy, answers(6))
    assert written.gate().decision == "not worse"


# --- several tasks --------------------------------------------------------------------------------


def write_tasks(folder: Path, name: str, *runs: Run) -> str:
    """Write a log of each run into a folder."""
    first, _ = answers(7)
    for run in runs:
        WRITERS[name](folder, first, run)
    return str(folder)


def premises_of(folder: Path, name: str, a: list[Run], b: list[Run]) -> Premises:
    first = write_tasks(folder / "a", name, *a)
    second = write_tasks(folder / "b", name, *b)
    return read_pair(first, second).premises


def test_tasks_are_named_where_they_differ(tmp_path: Path) -> None:
    runs = [
        Run(task=task, date=f"2026-11-2{place}T22-25-57.198528", task_version=version)
        for place, (task, version) in enumerate((("arc", "1"), ("boolq", "1"), ("mmlu", "2")))
    ]
    premises = premises_of(tmp_path, "lm-eval", runs, [*runs[:2], replace(runs[2], shots=0)])
    assert [broken.text for broken in premises.broken] == ["shots: A 5 shots, B 0 shots in mmlu"]
    [line] = refusals((*premises.broken, Broken("prompts", "chat template: A used, B none")))
    assert line.startswith(
        "shots: A 5 shots, B 0 shots in mmlu; chat template: A used, B none; ans"
    )
    assert "version 1 in arc and boolq, version 2 in mmlu" in premises.rests_on[1]
    assert "5 shots in arc and boolq" in premises.rests_on[1]
    assert premises.rests_on[0] == "acc, higher is better"


def test_tasks_of_other_names_are_compared_by_their_items(tmp_path: Path) -> None:
    same = Run(task="arc")
    a = [same, Run(task="quiz:shots=5")]
    b = [same, Run(task="quiz:shots=0", shots=0)]
    premises = premises_of(tmp_path, "HELM", a, b)
    [broken] = premises.broken
    assert broken.text == "shots: A 5 shots, B 0 shots in other tasks"


def test_a_table_beside_logs_hides_nothing_of_them(tmp_path: Path) -> None:
    first, _ = answers(7)
    places = [tmp_path / side for side in "ab"]
    for place, shots in zip(places, (5, 0), strict=True):
        WRITERS["HELM"](place, first, Run(shots=shots))
        rows = {"item_id": [f"t/{n}" for n in range(N)], "model": "org/model-a", "score": first}
        pd.DataFrame(rows).to_csv(place / "t.csv", index=False)
    premises = read_pair(str(places[0]), str(places[1])).premises
    assert [broken.text for broken in premises.broken] == ["shots: A 5 shots, B 0 shots"]
    open_of_tables = "how the answers of A and B were asked and scored in other tasks"
    assert premises.not_stated[0] == open_of_tables


# --- honest pairs ---------------------------------------------------------------------------------


def honest_run(rng: np.random.Generator, run: Run, model: str) -> Run:
    """Return a run with everything otherwise in which honest runs differ."""
    chat = f"{{{{ bos_token }}}}<|{model}|>{{{{ messages }}}}" if run.chat else ""
    return replace(
        run,
        model=model,
        chat=chat,
        batch=int(rng.integers(1, 64)),
        dtype=str(rng.choice(["bfloat16", "float16", "float32"])),
        device=str(rng.choice(["cuda:0", "cuda:3", "cpu"])),
        tool_version=f"0.{rng.integers(3, 12)}.{rng.integers(20)}",
        early=bool(rng.integers(2)),
        wrapped=bool(rng.integers(2)),
        server=bool(rng.integers(2)),
        commit=f"{rng.integers(1 << 30):x}",
        date=f"2026-11-{rng.integers(1, 29):02d}T22-{rng.integers(10, 60)}-57.198528",
        seed=int(rng.integers(1, 1000)),
        order=int(rng.integers(1000)),
        folder=f"/data/{rng.integers(1000)}",
    )


def honest_pair(rng: np.random.Generator, run: Run | None = None) -> tuple[Run, Run]:
    """Return two runs of other models, with the settings of `run` or others."""
    if run is None:
        run = Run(
            shots=int(rng.integers(0, 6)),
            instruction=str(rng.choice(["", "Answer with a letter."])),
            chat=str(rng.choice(["", "own"])),
            temperature=float(rng.choice([0.0, 0.6, 1.0])),
            max_tokens=int(rng.choice([1, 8])),
            limit=None if rng.random() < 0.7 else int(rng.integers(150, N)),
        )
    first = honest_run(rng, run, str(rng.choice(["meta/llama-8b", "qwen/q-7b"])))
    return first, honest_run(rng, run, str(rng.choice(["google/gemma-2b", "local/my-model"])))


def decisions(
    folder: Path, name: str, rng: np.random.Generator, marks: Marks
) -> tuple[int, int, str]:
    """Return the exit codes of two honest logs and of tables of the same answers, and the error."""
    runs = honest_pair(rng)
    of_tables = EXIT_CODES[write(folder / "tables", "long CSV", runs, marks).gate().decision]
    try:
        return EXIT_CODES[write(folder / "logs", name, runs, marks).gate().decision], of_tables, ""
    except InputError as error:
        return REFUSED, of_tables, str(error)


def test_honest_runs_are_decided_by_their_answers(tmp_path: Path) -> None:
    rng = np.random.default_rng(8)
    for name in LOGS:
        code, of_tables, why = decisions(tmp_path / name, name, rng, answers(9))
        assert (code, why) == (of_tables, ""), name


@pytest.mark.long
@pytest.mark.parametrize("name", LOGS)
@pytest.mark.parametrize("real", [False, pytest.param(True, marks=pytest.mark.real_data)])
def test_no_honest_pair_is_refused(
    tmp_path: Path,
    name: str,
    *,
    real: bool,
    request: pytest.FixtureRequest,
    show: Callable[[str], None],
) -> None:
    rng = np.random.default_rng(11)
    codes: Counter[int] = Counter()
    matrix = mmlu_answers(request.getfixturevalue("shared_data")) if real else None
    for draw in range(HONEST):
        marks = answers(draw, lost=int(rng.integers(60)))
        if matrix is not None:
            items = rng.permutation(len(matrix))[:N]
            models = rng.permutation(matrix.shape[1])[:2]
            marks = matrix[items, models[0]], matrix[items, models[1]]
        with TemporaryDirectory(dir=tmp_path) as folder:
            code, of_tables, why = decisions(Path(folder), name, rng, marks)
        assert (code, why) == (of_tables, "")
        codes[code] += 1
    show(f"{name}: exit codes of {HONEST} honest pairs, real {real}: {dict(sorted(codes.items()))}")


def mmlu_answers(shared_data: Path) -> NDArray[np.float64]:
    """Return right and wrong answers (items, models) of real models to MMLU."""
    matrix = pd.read_parquet(shared_data / "responses" / "mmlu_correct_23models.parquet")
    scores = matrix.drop(columns="item_id").to_numpy(dtype=np.float64)
    return scores[np.isin(scores, (0, 1)).all(axis=1)]


# --- many draws -----------------------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.parametrize("name", LOGS)
def test_no_draw_of_a_broken_premise_is_green(
    tmp_path: Path, name: str, show: Callable[[str], None]
) -> None:
    rng = np.random.default_rng(10)
    codes: Counter[tuple[str, int]] = Counter()
    for draw in range(DRAWS):
        premise = list(CHANGES)[rng.integers(len(CHANGES))]
        change = CHANGES[premise]
        first, second = honest_pair(rng, Run(shots=int(rng.integers(1, 6))))
        a = replace(first, wrapped=False, server=False, **change.a)
        b = replace(second, wrapped=False, server=False, **change.b)
        allow = (change.kind,) if rng.integers(2) else ()
        refusal = ""
        with TemporaryDirectory(dir=tmp_path) as folder:
            written = write(Path(folder), name, (a, b), answers(draw))
            try:
                gated = written.gate(allow)
            except InputError as error:
                refusal = str(error)
        if refusal:
            assert refusal.startswith(names_of(premise))
            assert (premise in STATED[name], allow) == (True, ())
            codes["refused", REFUSED] += 1
            continue
        assert_said(name, premise, gated.comparison.pair.premises, allow)
        codes["allowed" if premise in STATED[name] else "not stated", 0] += 1
    show(f"{name}: {DRAWS} draws: {dict(codes)}")


def assert_said(name: str, premise: str, premises: Premises, allow: Collection[str]) -> None:
    """Assert that what a verdict passed over is said under it."""
    if premise in STATED[name]:
        assert allow
        assert [text.startswith(names_of(premise)) for text in premises.allowed] == [True]
        return
    assert not premises.allowed
    matters = premise not in UNLISTED and not (name in OF_OPTIONS and premise in SAMPLING)
    assert (premise in premises.not_stated) == matters
