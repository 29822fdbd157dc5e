"""`benchwright leak-test`: whether a model was trained on a release, by the order of options."""

import json
import re
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import click
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchwright.cli.command import Command, enter_project
from benchwright.cli.options import (
    PATH,
    RISK,
    env_option,
    out_option,
    run_params,
    seed_option,
    shown_option,
)
from benchwright.cli.outputs import print_lines, write_output
from benchwright.cli.release import read_item
from benchwright.core.configuration import Configuration, configuration_name
from benchwright.core.content_hash import content_hash
from benchwright.core.errors import InputError
from benchwright.core.seeding import stage_generator
from benchwright.datasets.score_store import ScoreStore
from benchwright.methods.mmlu_cf.difficulty.response_difficulty import one_configuration
from benchwright.methods.mmlu_cf.sealing.key import KeyedNames, SealKey, read_key
from benchwright.methods.mmlu_cf.sealing.seal import MANIFEST
from benchwright.params.benchmark import PromptParams
from benchwright.params.mmlu_cf import SealingParams
from benchwright.params.scoring import ModelsParams, ScoringParams
from benchwright.runs.project_conf import load_conf
from benchwright.scoring.prompts import prompt_id
from benchwright.scoring.rendering import LABELS, Question, Rendered, render_question
from benchwright.scoring.scores import ask_prompts
from benchwright.statistics.released_orders import KEYS, LeakEvidence, leak_evidence
from benchwright.tables.responses import Prompts
from benchwright.transforms.altered_item import Altered
from benchwright.transforms.released_order import commitment, equivalent_orders, released_number

POWER = 0.8
_WORDS = PromptParams(description="")


@click.command(cls=Command)
@click.option("--model", required=True, help="Model, by its name in models.models.")
@click.option("--export", "folder", required=True, type=PATH, help="Folder as it was released.")
@click.option("--key-file", help="File that contains the key, to check who chose the orders.")
@shown_option("--alpha", default=0.05, type=RISK, help="Probability of evidence where none is due.")
@seed_option
@click.option("--data-root", help="Data folder for the scores. Default: the one in conf/.")
@out_option
@env_option
def leak_test_command(
    model: str,
    folder: Path,
    key_file: str | None,
    *,
    alpha: float,
    seed: int,
    data_root: str | None,
    out: Path | None,
    env: str | None,
) -> None:
    """Test whether a model was trained on a release.

    The options of each released item are in one of a few orders, which a key chose. The model
    scores all of them. The p-value is the share of keys with which the released orders would have
    stood out as much. The exit code is 0 without evidence of training, 1 with evidence, and 3 for
    unusable input.
    """
    key = read_key(SealingParams(key_file=key_file)) if key_file else None
    request = LeakTestRequest(model, alpha, seed)
    params = run_params(data_root=data_root)
    made = run_leak_test(enter_project(), env, request, folder=folder, key=key, params=params)
    print_lines(terminal_lines(made))
    write_output(out, lambda: result_json(made))
    sys.exit(int(made.found))


class ReleasedItem(NamedTuple):
    """An item in its equivalent orders, and the number of the released one."""

    item_id: str
    question: str
    orders: tuple[Altered, ...]
    released: int


class Release(NamedTuple):
    """A published folder: its items by id, the most orders of one, and the key's commitment."""

    name: str
    items: tuple[ReleasedItem, ...]
    most: int
    commitment: str


class LeakTestRequest(NamedTuple):
    """The model, the error rate, and the seed of the fresh keys."""

    model: str
    alpha: float = 0.05
    seed: int = 0


class LeakTested(NamedTuple):
    """The evidence of the items that were tested, and counts of the others by reason.

    `key_checked` says whether the orders were compared with those of the key.
    """

    request: LeakTestRequest
    release: Release
    evidence: LeakEvidence
    key_checked: bool
    left_out: Mapping[str, int]

    @property
    def found(self) -> bool:
        """Whether there is evidence of training on the release."""
        return self.evidence.p_value <= self.request.alpha


def read_release(folder: Path) -> Release:
    """Read the public half of a sealed benchmark, or what `benchwright release` wrote.

    Raises:
        InputError: it cannot be read, or its options are in orders that no key chose.
    """
    file = folder / MANIFEST
    try:
        facts = json.loads(file.read_text(encoding="utf-8"))
        name, test = str(facts["name"]), facts.get("leak_test")
        if test is None:
            raise InputError(f"{file}: no leak_test, so no key chose the orders of options")
        most, published = int(test["orders"]), str(test["commitment"])
        file = folder / Path(str(test["file"])).name
        lines = file.read_text(encoding="utf-8").split("\n")
        items = [_item(json.loads(line), most, file) for line in lines if line.strip()]
    except InputError:
        raise
    except (OSError, ValueError, LookupError, TypeError, ArithmeticError, RecursionError) as error:
        raise InputError(
            f"{file}: cannot be read as a file of a release ({type(error).__name__}); give the "
            "folder that sealing or `benchwright release` wrote"
        ) from None
    return Release(name, tuple(sorted(items)), most, published)


def _item(row: Any, most: int, file: Path) -> ReleasedItem:
    item = read_item(row)
    orders = equivalent_orders(item, most)
    shown = [order.choices for order in orders]
    if item.choices not in shown:
        raise InputError(
            f"{file}: the options of item {item.item_id!r} are in none of its {len(shown)} orders; "
            "use the files as they were released"
        )
    return ReleasedItem(item.item_id, item.question, orders, shown.index(item.choices))


def check_key(release: Release, key: SealKey) -> None:
    """Raise InputError if the key is another one, or did not choose the order of every item."""
    orders = KeyedNames(key, release.name).orders
    if commitment(orders) != release.commitment:
        raise InputError("leak-test: this is not the key of the release (leak_test.commitment)")
    for item in release.items:
        if released_number(item.item_id, len(item.orders), orders) != item.released:
            raise InputError(
                f"leak-test: the options of item {item.item_id!r} are not in the order that the "
                "key chose; use the files as they were released"
            )


def run_leak_test(
    project: Path,
    env: str | None,
    request: LeakTestRequest,
    folder: Path,
    key: SealKey | None,
    params: Mapping[str, Any],
) -> LeakTested:
    """Score every order of every item with the model, and test the released ones.

    Scores are kept in the data folder of the project (`params`: data_root). `key` is None if it is
    not at hand.

    Raises:
        InputError: the model is unknown or gives no such log-probabilities, the release cannot be
            read, the key is not its own, or no item can be tested.
    """
    release = read_release(folder)
    if key is not None:
        check_key(release, key)
    parameters = load_conf(project, env, params)["parameters"]
    models = ModelsParams.model_validate(parameters["models"])
    model = models.named(request.model, "leak-test")
    endpoint = model.endpoint
    if model.samples_letters or (endpoint is not None and endpoint.logprobs != "echo"):
        raise InputError(
            f"leak-test: {request.model} gives no log-probability of whole texts; a server needs "
            "endpoint.logprobs: echo"
        )
    asked_as = Configuration(request.model, "cloze", 0)
    given = ScoringParams.model_validate(dict(parameters.get("scoring") or {}))
    scoring = one_configuration(configuration_name(*asked_as), given)
    tested = [item for item in release.items if len(item.orders) > 1]
    left_out = Counter(item.orders[0].reason for item in release.items if len(item.orders) == 1)
    prompts = Prompts.from_rows([_row(item, asked_as) for item in tested])
    folder_name = re.sub(r"[^\w.-]", "_", release.name).lstrip(".")  # no path of a stranger's
    root = project / str(parameters["data_root"]) / "07_model_output" / folder_name
    store = ScoreStore(str(root / "leak_test")).load()
    responses = ask_prompts(prompts, store, store.add, models, scoring).live_responses
    scores = order_scores(tested, release.most, responses)
    known = ~np.isnan(scores).all(axis=1)
    if not known.all():
        left_out["no_score"] = int((~known).sum())
    if not known.any():
        raise InputError(f"leak-test: none of {len(release.items)} items can be tested")
    released = np.array([item.released for item in tested], dtype=np.int64)
    generator = stage_generator(request.seed, "leak_test")
    evidence = leak_evidence(scores[known], released[known], generator)
    return LeakTested(request, release, evidence, key is not None, left_out)


def _row(item: ReleasedItem, asked_as: Configuration) -> tuple[Any, ...]:
    """Return the prompt: the question, continued by options and answer in each order."""
    shown = [
        Question(
            *(item.item_id, "", item.question, order.choices, order.answer),
            content_hash(item.question, order.choices),
        )
        for order in item.orders
    ]
    stem = _WORDS.question_prefix + item.question
    wholes = (
        f"{render_question(q, 'letters', 'question', _WORDS)} {LABELS[q.answer]}" for q in shown
    )
    scored = [whole.removeprefix(stem) for whole in wholes]
    labels = list(LABELS[: len(scored)])
    identity = prompt_id(Rendered("", stem), scored, labels, asked_as.style, "none")
    return (
        *(identity, configuration_name(*asked_as), asked_as.model, item.item_id, "question"),
        *(asked_as.style, 0, 0, "[]", "none", "", stem, scored, labels, -1, 0, [], "", []),
    )


def order_scores(
    items: Sequence[ReleasedItem], most: int, responses: pd.DataFrame
) -> NDArray[np.float64]:
    """Return the log-likelihood (n, most) of each item's orders, NaN after the last.

    An item without a score is NaN.
    """
    found = dict(zip(responses["item_id"], responses["logprobs"], strict=True))
    scores = np.full((len(items), most), np.nan)
    for row, item in enumerate(items):
        values = found.get(item.item_id)
        if values is not None:
            scores[row, : len(item.orders)] = values
    return scores


def terminal_lines(made: LeakTested) -> list[str]:
    """Return the lines to print, the decision first."""
    found = made.evidence
    model = made.request.model
    alpha = made.request.alpha
    said = "evidence" if made.found else "no evidence"
    left_out = ", ".join(f"{count} {reason}" for reason, count in sorted(made.left_out.items()))
    key = "the key chose these orders" if made.key_checked else "the key is not checked"
    return [
        f"{said} that {model} was trained on the released items of {made.release.name} "
        f"(p = {found.p_value:.2g}, α = {alpha:g})",
        "score: log-probability of the options and the answer, as text, in nats",
        f"{found.items:,} items in up to {made.release.most} orders; {key}",
        *([f"left out: {left_out}"] if left_out else []),
        f"released order above the others by {found.excess:+.3f} per item; "
        f"{found.detectable(alpha, POWER):.3f} would be found with probability {POWER:.0%}",
    ]


def result_json(made: LeakTested) -> dict[str, Any]:
    """Return the result as JSON."""
    found = made.evidence
    request = made.request
    return {
        "format": 2,
        "release": made.release.name,
        "commitment": made.release.commitment,
        "key_checked": made.key_checked,
        "evidence_of_training": made.found,
        "exit_code": int(made.found),
        **found._asdict(),
        "model": request.model,
        "alpha": request.alpha,
        "seed": request.seed,
        "power": POWER,
        "detectable": found.detectable(request.alpha, POWER),
        "orders": made.release.most,
        "left_out": dict(sorted(made.left_out.items())),
        "keys": KEYS,
    }
