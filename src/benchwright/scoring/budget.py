"""The budget of a run: its prompts and tokens, counted before a model is asked."""

import logging
import math
from collections.abc import Iterable
from itertools import chain
from typing import Any

import numpy as np
import pandas as pd

from benchwright.language_models.loading import context_limit, model_tokenizer
from benchwright.params.scoring import ModelParams, ModelsParams, ScoringParams
from benchwright.scoring.score_shards import holds, plan_shards
from benchwright.scoring.scores import Store
from benchwright.tables.responses import ScoringBudget

logger = logging.getLogger(__name__)

_BYTES_PER_TOKEN = 4  # of English text, without a tokenizer
_AT_A_TIME = 4096


def count_budget(
    prompts: pd.DataFrame, score_cache: Store, models: ModelsParams, scoring: ScoringParams
) -> pd.DataFrame:
    """Count prompts, tokens and stored answers without asking a model; log the totals.

    The model's tokenizer counts prefix, text and continuations separately; without one, tokens are
    estimated from bytes. What is left to compute assumes that each shard reads its shared prefix
    once (servers share nothing). Return a `ScoringBudget`, empty if answers are only imported.
    """
    if prompts.empty:
        logger.info("no prompts: scoring.mode is imported")
        return ScoringBudget.empty()
    plan = plan_shards(prompts, models, scoring)
    shard_of: dict[str, str] = {}
    whole: set[str] = set()
    for shard in plan.shards:
        shard_of |= dict.fromkeys(shard.keys, shard.name)
        if holds(score_cache.get(shard.name), shard):
            whole.add(shard.name)
    shards = [shard_of[key] for key in plan.keys]
    stored = [name in whole for name in shards]
    table = prompts.assign(key=plan.keys, shard=shards, stored=stored)
    rows: list[dict[str, Any]] = []
    for name, asked in table.groupby("model"):
        model = models.models[str(name)]
        tokenizer = model_tokenizer(model, scoring)
        counted = _counted(asked, model, tokenizer)
        counted["too_long"] = counted["n_longest"] > context_limit(model, scoring)
        for (configuration, condition), group in counted.groupby(["configuration", "condition"]):
            row = _totals(group, shares_prefixes=model.endpoint is None)
            row["configuration"] = configuration
            row["condition"] = condition
            row["counted"] = "estimate" if tokenizer is None else "tokenizer"
            rows.append(row)
    budget = ScoringBudget.from_rows(rows)
    _log_total(budget)
    return budget


def _log_total(budget: pd.DataFrame) -> None:
    total = budget.sum(numeric_only=True).astype(int)
    share = total["tokens_computed"] / max(1, total["tokens"])
    logger.info(
        f"total: {total['prompts']:,} prompts, {total['stored']:,} of them stored; "
        f"{total['tokens']:,} tokens, of which {total['tokens_computed']:,} ({share:.1%}) are left "
        f"to compute; at most {total['written_at_most']:,} are written"
    )


def _count(texts: Iterable[str], tokenizer: Any) -> dict[str, int]:
    distinct = sorted(set(texts))
    if tokenizer is None:
        return {text: math.ceil(len(text.encode()) / _BYTES_PER_TOKEN) for text in distinct}
    counted: dict[str, int] = {}
    for start in range(0, len(distinct), _AT_A_TIME):
        part = distinct[start : start + _AT_A_TIME]
        ids = tokenizer(part, add_special_tokens=False).input_ids
        counted.update(zip(part, map(len, ids), strict=True))
    return counted


def _counted(asked: pd.DataFrame, model: ModelParams, tokenizer: Any) -> pd.DataFrame:
    tokens = _count(chain.from_iterable(asked["continuations"]), tokenizer)
    tokens |= _count(asked["prefix"].astype(str).unique(), tokenizer)
    tokens |= _count(asked["text"], tokenizer)
    prefix = np.array([tokens[text] for text in asked["prefix"]])
    text = np.array([tokens[text] for text in asked["text"]])
    lengths = [list(map(tokens.__getitem__, scored)) for scored in asked["continuations"]]
    n_options = np.array([sum(counts) for counts in lengths])
    longest = np.array([max(counts, default=0) for counts in lengths])
    n_sent = np.ones_like(n_options)
    if model.endpoint is not None and model.endpoint.logprobs == "echo":
        # An echoed prompt is sent once per option.
        n_sent = np.array([max(1, len(counts)) for counts in lengths])
    return asked.assign(
        n_prefix=prefix,
        n_body=text + n_options,
        n_whole=(prefix + text) * n_sent + n_options,
        n_longest=prefix + text + longest,
    )


def _totals(group: pd.DataFrame, *, shares_prefixes: bool) -> dict[str, Any]:
    distinct = group.drop_duplicates("key")
    left = distinct[~distinct["stored"]]
    computed = left["n_whole"].sum()
    if shares_prefixes:
        computed = left["n_body"].sum() + left.groupby("shard")["n_prefix"].first().sum()
    return {
        "prompts": len(group),
        "distinct": len(distinct),
        "stored": len(distinct) - len(left),
        "too_long": int(group["too_long"].sum()),
        "shots_dropped": int((group["shots_used"] < group["shots"]).sum()),
        "tokens": int(group["n_whole"].sum()),
        "tokens_computed": int(computed),
        "written_at_most": int(left["max_new_tokens"].sum()),
    }
