"""Prompts of lm-evaluation-harness from an exported folder equal ours, byte for byte."""

import hashlib
import logging
import re
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from benchwright.datasets.harness_tasks import HarnessExport, HarnessTasks
from benchwright.exports.export import ExportedRun, export_tasks
from benchwright.params.exports import ExportsParams
from benchwright.params.scoring import ScoringParams
from benchwright.scoring.demonstrations import DemonstrationPool
from benchwright.scoring.rendering import (
    continuations,
    questions,
    render_demonstration,
    render_prompt,
)
from exports.export_examples import benchmark, item, table

NASTY = [
    item("colours/anatomy/0", question="{{ choices[0] }} {% if x %} {# no #} \\n {x}"),
    item("colours/anatomy/1", question="  spaces at both ends\t ", choices=(" a ", "b\n", "{{c}}")),
    item(
        "colours/anatomy/2",
        question="日本語 é\u0301 — “quotes”\nsecond line\r\n\nfourth \u2028 end",
    ),
    item("colours/anatomy/3", question="7", choices=("1", "2"), answer=0),
    item("colours/anatomy/4", question="2026-01-01", choices=("2026-01-02", "2026-01-03")),
    item("colours/anatomy/5", question="Which colour has dev/anatomy/1?"),  # equals a demonstration
    item(
        "colours/college law/0", "college law", question="[1, 2]", choices=("true", "null", "1e5")
    ),
]
DEMONSTRATIONS = [
    *(item(f"dev/anatomy/{n}", answer=n % 4) for n in range(5)),
    item("dev/anatomy/5", question=" {{text}} ", choices=("x ", " y"), answer=1),
    item("dev/college law/0", "college law", explanation="{{ because }}\nit is"),
]
OPEN = [
    item("colours/0", question="How many? {{n}}", choices=(), answer_text="1,024"),
    item("colours/1", question="3\n", choices=(), answer_text="3"),
]
OPEN_DEMONSTRATIONS = [
    item(f"dev/{n}", choices=(), answer_text=str(n), explanation=f"{{{{n}}}}\n= {n} #### {n}")
    for n in range(6)
]


@pytest.fixture(autouse=True)
def offline(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Disable network access, warnings and slow checks of machine and tokenizer."""
    pytest.importorskip("lm_eval")
    from lm_eval import evaluator
    from lm_eval.models.dummy import DummyLM

    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_DATASETS_OFFLINE", "1")
    monkeypatch.setattr(evaluator, "add_env_info", lambda results: None)
    monkeypatch.delattr(DummyLM, "tokenizer")
    logging.disable(logging.WARNING)
    yield
    logging.disable(logging.NOTSET)


def export(
    items: Sequence[Any], shown: Sequence[Any], style: Any = "letters", **changes: Any
) -> HarnessExport:
    return export_tasks(
        table(*items),
        table(*items[:2]).assign(tags=""),
        table(*shown),
        ExportedRun(
            changes.pop("benchmark", benchmark()),
            ScoringParams(**changes),
            ExportsParams(styles=(style,)),
            "smart",
            None,
            0,
        ),
    )


@pytest.fixture
def saved(tmp_path: Path) -> Callable[..., Path]:
    """Writes an export and moves it, since tasks must find their rows anywhere."""

    def save(*given: Any, **changes: Any) -> Path:
        written = tmp_path / "written" / "harness"
        HarnessTasks(path=str(written)).save(export(*given, **changes))
        moved = tmp_path / "moved"
        shutil.rmtree(moved, ignore_errors=True)
        return Path(shutil.move(written, moved))

    return save


def manager(folder: Path) -> Any:
    from lm_eval.tasks import TaskManager

    return TaskManager(include_path=str(folder), include_defaults=False)


def requests(folder: Path, name: str, shots: int) -> dict[str, list[tuple[Any, ...]]]:
    """Return the harness's requests per item: context and continuation or stop texts."""
    asked: dict[str, list[tuple[Any, ...]]] = {}
    for task in manager(folder).load([name])["tasks"].values():
        task.set_config("num_fewshot", shots)
        task.build_all_requests()
        for instance in task.instances:
            asked.setdefault(instance.doc["item_id"], []).append(instance.args)
    return asked


def ours(
    items: Sequence[Any], examples: Sequence[Any], style: str, shots: int, **changes: Any
) -> dict[str, list[tuple[str, ...]]]:
    words = changes.pop("benchmark", benchmark()).prompt
    scoring = ScoringParams(**changes)
    pool = DemonstrationPool(questions(table(*examples)), scoring.demonstrations, 0)
    asked: dict[str, list[tuple[str, ...]]] = {}
    for question in questions(table(*items)):
        shown = [
            render_demonstration(d, style, "question", words, label_space=True)
            for d in pool.choose(question, shots)
        ]
        whole = "".join(render_prompt(question, shown, style, "question", words))
        spaced = not (style == "letters" and scoring.label_tokens == "bare")
        asked[question.item_id] = [
            (whole, text) for text in continuations(question, style, spaced)
        ] or [(whole,)]
    return asked


@pytest.mark.parametrize("shots", [0, 5])
@pytest.mark.parametrize("style", ["letters", "cloze"])
def test_contexts_and_continuations_equal_those_of_scoring(
    saved: Callable[..., Path], style: str, shots: int
) -> None:
    folder = saved(NASTY, DEMONSTRATIONS, style)
    name = "benchwright_colours" + ("_cloze" if style == "cloze" else "")
    assert requests(folder, name, shots) == ours(NASTY, DEMONSTRATIONS, style, shots)


@pytest.mark.parametrize(
    ("prompt", "scoring"),
    [
        ({"separator": ""}, {}),
        ({"separator": " ### "}, {}),
        ({"description": ""}, {"demonstrations": "all"}),
        ({"description": " \n{{subject}} {subject}: \n "}, {"label_tokens": "bare"}),
        ({"answer_prefix": "", "question_prefix": "Q: "}, {}),
    ],
)
@pytest.mark.parametrize("style", ["letters", "cloze"])
def test_other_prompt_settings_equal_those_of_scoring(
    saved: Callable[..., Path], style: str, prompt: dict[str, str], scoring: dict[str, Any]
) -> None:
    changes = {"benchmark": benchmark(prompt=prompt), **scoring}
    folder = saved(NASTY, DEMONSTRATIONS, style, **changes)
    name = "benchwright_colours" + ("_cloze" if style == "cloze" else "")
    assert requests(folder, name, 3) == ours(NASTY, DEMONSTRATIONS, style, 3, **changes)


@pytest.mark.parametrize("shots", [0, 5])
@pytest.mark.parametrize(
    ("items", "demonstrations", "name"),
    [
        (OPEN, OPEN_DEMONSTRATIONS, "benchwright_colours"),
        (NASTY, DEMONSTRATIONS, "benchwright_colours_generate"),
    ],
)
def test_prompts_for_written_answers_equal_those_of_scoring(
    saved: Callable[..., Path], items: Any, demonstrations: Any, name: str, shots: int
) -> None:
    asked = requests(saved(items, demonstrations, "generate"), name, shots)
    contexts = {item_id: [(args[0],) for args in each] for item_id, each in asked.items()}
    assert contexts == ours(items, demonstrations, "generate", shots)


def scripted(answers: Callable[[str], str]) -> Any:
    """A model without weights: log-likelihoods from a hash, texts from `answers`."""
    from lm_eval.api.model import LM

    class Scripted(LM):
        def loglikelihood(self, requests: Any, disable_tqdm: bool = False) -> Any:
            return [(likelihood(*request.arguments), False) for request in requests]

        def generate_until(self, requests: Any, disable_tqdm: bool = False) -> Any:
            return [answers(request.arguments[0]) for request in requests]

        def loglikelihood_rolling(self, requests: Any, disable_tqdm: bool = False) -> Any:
            raise NotImplementedError

    return Scripted()


def likelihood(context: str, continuation: str) -> float:
    digest = hashlib.sha256(f"{context}\x1f{continuation}".encode()).hexdigest()
    return -int(digest[:6], 16) / 1e5


def evaluated(folder: Path, name: str, **changes: Any) -> Any:
    from lm_eval.evaluator import simple_evaluate

    return simple_evaluate(
        model=scripted(changes.pop("answers", str)),
        tasks=[name],
        task_manager=manager(folder),
        bootstrap_iters=100,
        **changes,
    )


def test_group_score_is_the_share_of_correct_items(saved: Callable[..., Path]) -> None:
    items = [*(item(f"colours/anatomy/{n + 10}", answer=n % 4) for n in range(17)), *NASTY[-2:]]
    folder = saved(items, DEMONSTRATIONS)
    results = evaluated(folder, "benchwright_colours", num_fewshot=2)
    asked = ours(items, DEMONSTRATIONS, "letters", 2)
    right = []
    for question in questions(table(*items)):
        scores = [likelihood(*arguments) for arguments in asked[question.item_id]]
        right.append(scores.index(max(scores)) == question.answer)
    assert 0 < sum(right) < len(right)
    assert results["groups"]["benchwright_colours"]["acc,none"] == pytest.approx(
        sum(right) / len(right)
    )
    assert set(results["n-samples"]) == {
        "benchwright_colours_anatomy",
        "benchwright_colours_anatomy_part2",
        "benchwright_colours_college_law",
    }
    logged = [row["doc"] for rows in results["samples"].values() for row in rows]
    assert sorted(row["item_id"] for row in logged) == sorted(row[0] for row in items)


def test_a_folder_of_one_family_works_alone(saved: Callable[..., Path], tmp_path: Path) -> None:
    folder = saved(NASTY, DEMONSTRATIONS)
    alone = tmp_path / "alone"
    shutil.copytree(folder / "benchwright_colours", alone)
    shutil.rmtree(folder)
    assert requests(alone, "benchwright_colours", 2) == ours(NASTY, DEMONSTRATIONS, "letters", 2)


def test_without_demonstrations_no_shots_are_drawn_from_the_questions(
    saved: Callable[..., Path],
) -> None:
    results = evaluated(saved(NASTY, []), "benchwright_colours", num_fewshot=3)
    assert results["n-shot"] == {"benchwright_colours": 0}
    contexts = {
        row["doc"]["item_id"]: row["arguments"][0][0]
        for row in results["samples"]["benchwright_colours"]
    }
    wanted = ours(NASTY, [], "letters", 0)
    assert contexts == {item_id: arguments[0][0] for item_id, arguments in wanted.items()}


@pytest.mark.parametrize(
    ("answer", "stated", "number"),
    [
        ("20 + 4. The answer is 1024.", 1.0, 1.0),
        ("The answer is 7. No, wait: the answer is $1,024.", 1.0, 1.0),
        ("It comes to 1024", 0.0, 1.0),
        ("The answer is 3.", 0.0, 0.0),
    ],
)
def test_final_answers_are_compared_as_texts_without_signs(
    saved: Callable[..., Path], answer: str, stated: float, number: float
) -> None:
    folder = saved(OPEN[:1], OPEN_DEMONSTRATIONS, "generate")
    results = evaluated(folder, "benchwright_colours", num_fewshot=1, answers=lambda _: answer)
    scores = results["results"]["benchwright_colours"]
    assert scores["exact_match,stated"] == stated
    assert scores["exact_match,last_number"] == number


def test_the_command_in_the_readme_runs(
    saved: Callable[..., Path],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    from lm_eval import tasks
    from lm_eval._cli.harness import HarnessCLI

    folder = saved(NASTY[:5], DEMONSTRATIONS)
    readme = (folder / "README.md").read_text(encoding="utf-8")
    command = re.findall(r"```\n(lm_eval.*?)```", readme, re.S)[0].replace("\\\n", " ")
    words = command.replace("--model hf --model_args pretrained=MODEL", "--model dummy").split()
    # The harness's own tasks are thousands of files.
    without_stock = partial(tasks.TaskManager, include_defaults=False)
    monkeypatch.setattr(tasks, "TaskManager", without_stock)
    monkeypatch.setattr(sys, "argv", words)
    monkeypatch.chdir(folder)
    cli = HarnessCLI()
    cli.execute(cli.parse_args())
    printed = capsys.readouterr().out
    assert re.search(r"benchwright_colours *\|[0-9a-f]{8}\|none *\| *5\|acc", printed), printed
    assert list((folder / "results").rglob("samples_benchwright_colours_*.jsonl"))
