"""A small benchmark, its copies by the real transforms, and simulated models."""

from collections.abc import Callable
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd

from benchwright.core.configuration import parse_configuration
from benchwright.core.response_matrix import ResponseMatrix
from benchwright.params.benchmark import BenchmarkParams
from benchwright.params.evaluation import EvaluationParams
from benchwright.params.perturbation import PerturbationParams
from benchwright.pipelines.comparison import create_pipeline
from benchwright.tables.items import Items
from benchwright.tables.responses import Models, Responses
from benchwright.tables.wicked import PerturbationChanges, PerturbedItems
from benchwright.transforms.compose import perturb

NASTY = "Is <script>alert(1)</script> & <b>bold</b> shown as text?"
Inputs = dict[str, Any]


def items_table(n: int, prefix: str = "demo") -> pd.DataFrame:
    """N items of four options; every seventh already has a none-of-the-above option."""
    rows = []
    for i in range(n):
        choices = [f"option {i}.{k}" for k in range(4)]
        if i % 7 == 3:
            choices[3] = "None of these"
        rows.append(
            {
                "item_id": f"{prefix}/{i:03d}",
                "split": "test",
                "subject": "things",
                "question": NASTY if i == 5 else f"Question {i} of {prefix}?",
                "choices": choices,
                "answer": i % 4,
                "answer_text": choices[i % 4],
                "correct_set": [i % 4],
                "passage_id": None,
                "explanation": None,
                "domain": None,
                "url": None,
                "source_id": None,
                "content_hash": f"{prefix}{i}",
            }
        )
    return pd.DataFrame(rows, columns=Items.columns())


def make_inputs(
    configurations: tuple[str, ...] = (),
    n: int = 40,
    *,
    settings: PerturbationParams | None = None,
    cost: Callable[[int], float] = lambda row: 0.1 + 0.02 * row,
    seed: int = 0,
    **changed: Any,
) -> Inputs:
    """The inputs of the stage; model `row` loses `cost(row)` of its accuracy on altered items."""
    settings = settings or PerturbationParams(copies=3)
    items, demonstrations = items_table(n), items_table(6, "shown")
    names = [settings.name]
    if settings.cumulative:
        names = [f"{settings.name}_{k + 1}" for k in range(len(settings.transforms))]
    made = [
        perturb(
            items,
            demonstrations,
            settings.model_copy(
                update={
                    "name": name,
                    "cumulative": False,
                    "transforms": settings.transforms[: k + 1]
                    if settings.cumulative
                    else settings.transforms,
                }
            ),
            seed,
        )
        for k, name in enumerate(names)
    ]
    perturbed_items = pd.concat([each.perturbed_items for each in made], ignore_index=True)
    changes = pd.concat([each.changes for each in made], ignore_index=True)
    rng = np.random.default_rng(seed)
    m = len(configurations)
    chance = np.linspace(0.9, 0.4, m) if m > 1 else np.full(m, 0.7)
    ids = tuple(items["item_id"])
    luck = rng.random((m, n))
    before = (luck < chance[:, None]).astype(np.float32)
    responses = [answers(configurations, ids, "question")]
    matrices = {}
    for condition, rows in perturbed_items[perturbed_items["role"] == "item"].groupby("condition"):
        marks = changes[(changes["condition"] == condition) & (changes["role"] == "item")]
        altered = marks.groupby("item_id")["altered"].any().reindex(list(ids)).to_numpy()
        lost = np.array([cost(row) for row in range(m)]).reshape(m, 1)
        right = np.where(altered, luck < chance[:, None] - lost * rng.random((m, n)) * 2, before)
        matrices[str(condition)] = ResponseMatrix.of(
            configurations,
            ids,
            correct=right.astype(np.float32),
            prediction=predictions(rows.set_index("item_id").loc[list(ids)], right, rng),
            condition=str(condition),
        )
        responses.append(answers(configurations, ids, str(condition)))
    table = pd.concat(responses, ignore_index=True)
    known = {
        "response_matrix": ResponseMatrix.of(configurations, ids, correct=before),
        "perturbed_matrices": matrices,
        "responses": table[table["condition"] == "question"],
        "live_responses": table,
        "perturbation_changes": PerturbationChanges.of(changes),
        "perturbed_items": PerturbedItems.validate(perturbed_items),
        "items": items,
        "models_table": models_of(configurations),
        "single_best_answer_ids": {"sba": [], "other": [ids[0]] if ids else []},
        "params:perturbation": settings,
        "params:evaluation": EvaluationParams(bootstrap_samples=200),
        "params:seed": seed,
        "params:variant": "wicked",
        "params:ingestion": BenchmarkParams.model_validate(
            {
                "name": "demo",
                "title": "Demo <i>benchmark</i>",
                "licence": "Apache-2.0",
                "citation": "By hand.",
                "url": "",
                "sources": {
                    "local": {
                        "file": "items.jsonl",
                        "split_column": "split",
                        "fields": {
                            "question": "question",
                            "choices": {"column": "options"},
                            "gold": {"column": "answer", "form": "letter"},
                        },
                    }
                },
                "splits": {"evaluation": ["test"]},
            }
        ),
    }
    return known | changed


def predictions(items: pd.DataFrame, right: Any, rng: np.random.Generator) -> Any:
    """(m, n) the gold option where right, otherwise another option."""
    gold = items["answer"].to_numpy()
    wrong = (gold + rng.integers(1, 4, right.shape)) % 4
    return np.where(right.astype(bool), gold, wrong).astype(np.int16)


def answers(
    configurations: tuple[str, ...], ids: tuple[str, ...], condition: str, **more: Any
) -> pd.DataFrame:
    """A `Responses` table without failed extractions and with all shots."""
    rows = []
    for name in configurations:
        asked = parse_configuration(name)
        rows += [
            {
                "item_id": item,
                "condition": condition,
                "style": asked.style,
                "shots": asked.shots,
                "model": asked.model,
                "repeat": 1,
                "logprobs": None,
                "option_bytes": None,
                "option_tokens": None,
                "prediction": -1,
                "p_answer": np.nan,
                "p_prediction": np.nan,
                "correct": np.nan,
                "shots_used": asked.shots,
                "prompt_tokens": -1,
                "generated_tokens": 0,
                "extraction": "ok",
                "prompt_id": None,
                "source": "live",
            }
            | more
            for item in ids
        ]
    return pd.DataFrame(rows, columns=Responses.columns())


def models_of(configurations: tuple[str, ...]) -> pd.DataFrame:
    """Names `<family>-it` are instruction-tuned, the others base."""
    names = sorted({parse_configuration(name).model for name in configurations})
    return Models.from_rows(
        [
            (name, name.removesuffix("-it"), None, np.nan, name.endswith("-it"), None)
            for name in names
        ]
    )


def run_stage(**changed: Any) -> Inputs:
    """Inputs and outputs of all nodes."""
    known = make_inputs(**changed)
    for node in create_pipeline().nodes:  # in an order in which each finds its inputs
        known |= node.run({name: known[name] for name in node.inputs})
    return known


FAMILIES = ("alpha-7b", "beta-8b", "gamma-70b", "delta-9b", "epsilon-27b", "zeta-1.5b")
PANEL = tuple(f"org/{name}{kind}@letters-5" for name in FAMILIES for kind in ("", "-it"))
PANEL += ("org/alpha-7b-it@generate-0", "org/beta-8b-it@generate-0")


@cache
def panel_stage() -> SimpleNamespace:
    """The builders above, and the outputs for a panel of twelve models."""
    return SimpleNamespace(
        nasty=NASTY,
        inputs=make_inputs,
        answers=answers,
        items=items_table,
        run=run_stage,
        panel=PANEL,
        outputs=run_stage(configurations=PANEL, n=120),
    )
