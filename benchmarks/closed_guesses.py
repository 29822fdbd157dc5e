"""Share of the closed questions that somebody recovers with everything but the key.

    python benchmarks/closed_guesses.py [--copies 1 3 10 30 100] [--keys 10] [--guesses 100]

The corpus: the bundled documents' labelled questions with four choices, each document repeated
under other names. As the variant `mmlu_cf`: 300 are sampled, halved and altered; paraphrases across
the halves are not searched.

The attacker has the documents, the settings, the seed and the public half, but no key. `before`,
everything followed the seed, and the attacker computes it; `seed 1` does so with a wrong seed. Then
everything follows a key: `chance` guesses as many questions as are closed among those that are not
public, `all` among those of no public document (`may be`), `seed` computes as before, and `best`
guesses those that are sampled most often under random seeds (`guess_closed`). `form` is the share
of the closed questions whose options are guessed, text and order: with the seed, and with the key
as they are in the documents, the likeliest form. Means over keys.
"""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from benchwright.core.keyed_random import keyed_bytes
from benchwright.methods.mmlu_cf.contamination_free import apply_transforms
from benchwright.methods.mmlu_cf.difficulty.quota_sampling import sample_by_difficulty
from benchwright.methods.mmlu_cf.sealing.key import KeyedNames, SealKey
from benchwright.methods.mmlu_cf.splitting.guessing import guess_closed
from benchwright.methods.mmlu_cf.splitting.split import split_halves
from benchwright.params.mmlu_cf import SamplingByDifficultyParams
from benchwright.params.perturbation import PerturbationParams
from benchwright.tables.mmlu_cf import CleanItems

DOCUMENTS = Path(__file__).resolve().parents[1] / "data" / "01_raw" / "documents"
PARAMS, SHARE = SamplingByDifficultyParams(size=300), 0.5
RULES = PerturbationParams.model_validate(
    {
        "name": "cf",
        "transforms": [
            {"transform": "shuffle_choices"},
            {"transform": "replace_choice", "probability": 0.5},
        ],
    }
)

Form = tuple[str, ...]


class Halves(NamedTuple):
    """Ids of the public half, and the options of the closed questions by id."""

    assignment: pd.DataFrame
    closed: dict[str, Form]


def corpus(copies: int) -> pd.DataFrame:
    """Return `CleanItems` with a difficulty, of so many copies of the bundled documents."""
    lines = (DOCUMENTS / "documents.jsonl").read_text(encoding="utf-8").splitlines()
    domains = {row["doc_id"]: row["url"].split("/")[2] for row in map(json.loads, lines)}
    labels = (DOCUMENTS / "labels.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [
        row
        for row in map(json.loads, labels)
        if row["expected"] == "extract" and not row["planted"] and len(row["choices"]) == 4
    ]
    table = [
        {
            "item_id": f"{row['doc_id']}-{copy}#{row['number']}",
            "doc_id": f"{row['doc_id']}-{copy}",
            "url": None,
            "domain": f"{copy}.{domains[row['doc_id']]}",
            **{name: row[name] for name in ("question", "choices", "answer", "explanation")},
            "passage": row["passage"] and f"{row['passage']} ({copy})",
            "field": row["field"],
            "field_confidence": None,
        }
        for copy in range(copies)
        for row in rows
    ]
    return CleanItems.from_rows(table).assign(difficulty=6.0)


def halves(items: pd.DataFrame, seed: int) -> Halves:
    """Sample, split and alter as the pipeline does with this seed."""
    sample = set(sample_by_difficulty(items, PARAMS, seed).item_ids)
    chosen = items[items["item_id"].isin(sample)].reset_index(drop=True)
    assignment = split_halves(chosen, SHARE, seed)
    closed = assignment.loc[assignment["half"].eq("test"), "item_id"]
    ruled, _ = apply_transforms(chosen.drop(columns="difficulty"), RULES, seed, {})
    options = dict(zip(ruled["item_id"], map(tuple, ruled["choices"]), strict=True))
    return Halves(assignment, {item_id: options[item_id] for item_id in closed})


def key_seed(number: int) -> int:
    """Return the secret seed under a key that nobody knows."""
    secret = keyed_bytes(b"a key of the benchmark", "key", str(number)).hex()
    return KeyedNames(SealKey(secret), "mmlu_cf").closed_seed(0)


def attack(copies: int, keys: int, guesses: int) -> dict[str, float | int | str]:
    """Measure all attacks on one corpus."""
    items = corpus(copies)
    origin = dict(zip(items["item_id"], map(tuple, items["choices"]), strict=True))
    old, computed, wrong = (halves(items, seed) for seed in (0, 0, 1))
    rows = []
    for number in range(keys):
        made = halves(items, key_seed(number))
        guess = guess_closed(items, made.assignment, PARAMS, guesses)
        public = len(made.assignment) - guess.closed
        row = {
            "closed": guess.closed,
            "may be": guess.may_be,
            "chance": guess.closed / (len(items) - public),
            "all": guess.closed / guess.may_be,
            "best": guess.share,
            "seed": shared(old, made),
            "form": float(np.mean([made.closed[i] == origin[i] for i in made.closed])),
        }
        rows.append(row)
    table = pd.DataFrame(rows)
    return {
        "questions": len(items),
        "before": shared(computed, old),
        "before, form": float(np.mean([computed.closed[i] == old.closed[i] for i in old.closed])),
        "before, seed 1": shared(wrong, old),
        **table.mean().to_dict(),
        "best, range": f"{table['best'].min():.3f}–{table['best'].max():.3f}",
    }


def shared(guess: Halves, made: Halves) -> float:
    """Return the share of the closed questions that another run closes as well."""
    return len(set(guess.closed) & set(made.closed)) / len(made.closed)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a row for each size of the corpus."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--copies", type=int, nargs="+", default=[1, 3, 10, 30, 100])
    parser.add_argument("--keys", type=int, default=10)
    parser.add_argument("--guesses", type=int, default=100)
    given = parser.parse_args(arguments)
    rows = [attack(copies, given.keys, given.guesses) for copies in given.copies]
    print(pd.DataFrame(rows).round(4).to_string(index=False))


if __name__ == "__main__":
    main()
