"""What a run would ask, counted before anything is asked."""

import logging
import math
from collections.abc import Sequence
from typing import Any

import pandas as pd

from benchwright.compute.score_shards import holds, plan_shards
from benchwright.language_models.loading import context_limit, model_tokenizer
from benchwright.params.scoring import ModelParams, ModelsParams, ScoringParams
from benchwright.scoring.scores import Store
from benchwright.tables.responses import ScoringBudget

logger = logging.getLogger(__name__)

_BYTES_PER_TOKEN = 4  # of English text; where there is no tokenizer to count with
_AT_A_TIME = 4096


def count_budget(
    prompts: pd.DataFrame, score_cache: Store, models: ModelsParams, scoring: ScoringParams
) -> pd.DataFrame:
    """Count prompts, tokens and what the store has of them; nothing is asked.

    Tokens are counted with the model's own tokenizer, prefix, text and continuations apart, which
    differs from the joint text by a token at most; for a server's model without a tokenizer they
    are estimated from the bytes. What is left to compute assumes that equal prompts are asked once
    and that each shard reads its shared prefix once (a server is taken to share nothing).

    Returns:
        A `ScoringBudget` table; its totals are logged. Empty where answers are only imported.
    """
    if prompts.empty:
        logger.info("nothing would be asked: scoring.mode is imported")
        return ScoringBudget.empty()
    plan = plan_shards(prompts, models, scoring)
    stored = {
        key
        for shard in plan.shards
        if holds(score_cache.get(shard.name), shard)
        for key in shard.keys
    }
    shard_of = {key: shard.name for shard in plan.shards for key in shard.keys}
    rows = []
    table = prompts.assign(key=plan.keys)
    for model, asked in sorted(table.groupby("model"), key=lambda pair: str(pair[0])):
        tokens = _Tokens(models.models[str(model)], scoring)
        counted = _count(asked, models.models[str(model)], tokens)
        for (configuration, condition), own in counted.groupby(["configuration", "condition"]):
            rows.append(_row(str(configuration), str(condition), own, stored, shard_of, tokens))
    budget = ScoringBudget.from_rows(rows)
    _tell(budget)
    return budget


class _Tokens:
    """Counts tokens of texts, each text once."""

    def __init__(self, model: ModelParams, scoring: ScoringParams) -> None:
        self._tokenizer = model_tokenizer(model, scoring)
        self.how = "estimate" if self._tokenizer is None else "tokenizer"
        self.shares = model.endpoint is None
        self.limit = context_limit(model, scoring)

    def count(self, texts: Sequence[str]) -> dict[str, int]:
        """Tokens of each distinct text."""
        distinct = sorted(set(texts))
        if self._tokenizer is None:
            return {text: math.ceil(len(text.encode()) / _BYTES_PER_TOKEN) for text in distinct}
        counted: dict[str, int] = {}
        for start in range(0, len(distinct), _AT_A_TIME):
            part = distinct[start : start + _AT_A_TIME]
            ids = self._tokenizer(part, add_special_tokens=False).input_ids
            counted.update(zip(part, map(len, ids), strict=True))
        return counted


def _count(asked: pd.DataFrame, model: ModelParams, tokens: _Tokens) -> pd.DataFrame:
    """`asked` with the sizes of its prompts."""
    prefixes = tokens.count(asked["prefix"].astype(str).unique().tolist())
    texts = tokens.count(asked["text"].tolist())
    options = tokens.count([text for scored in asked["continuations"] for text in scored])
    lengths = [[options[option] for option in scored] for scored in asked["continuations"]]
    # An echoed prompt is sent once per option, whatever the server makes of it.
    echoed = model.endpoint is not None and model.endpoint.logprobs == "echo"
    return asked.assign(
        n_prefix=[prefixes[prefix] for prefix in asked["prefix"]],
        n_text=[texts[text] for text in asked["text"]],
        n_options=[sum(own) for own in lengths],
        n_longest=[max(own, default=0) for own in lengths],
        n_sent=[max(1, len(own)) if echoed else 1 for own in lengths],
    )


def _row(
    configuration: str,
    condition: str,
    own: pd.DataFrame,
    stored: set[str],
    shard_of: dict[str, str],
    tokens: _Tokens,
) -> tuple[Any, ...]:
    body = own["n_text"] + own["n_options"]
    whole = (own["n_prefix"] + own["n_text"]) * own["n_sent"] + own["n_options"]
    distinct = own.drop_duplicates("key")
    left = distinct[~distinct["key"].isin(stored)]
    if tokens.shares:
        shards = left["key"].map(shard_of)
        computed = int(body[left.index].sum() + left["n_prefix"].groupby(shards).first().sum())
    else:
        computed = int(whole[left.index].sum())
    longest = own["n_prefix"] + own["n_text"] + own["n_longest"]
    return (
        configuration,
        condition,
        len(own),
        len(distinct),
        len(distinct) - len(left),
        int((longest > tokens.limit).sum()),
        int((own["shots_used"] < own["shots"]).sum()),
        int(whole.sum()),
        computed,
        int(left["max_new_tokens"].sum()),
        tokens.how,
    )


def _tell(budget: pd.DataFrame) -> None:
    told = ("prompts", "distinct", "stored", "tokens", "tokens_computed")
    for row in budget.to_dict("records"):
        logger.info(
            "%s, %s: %s prompts (%s distinct, %s stored), %s tokens, %s to compute",
            row["configuration"],
            row["condition"],
            *(f"{row[name]:,}" for name in told),
        )
    total = budget.sum(numeric_only=True)
    logger.info(
        "in all %s prompts, %s of them stored; %s tokens, of which %s (%.1f%%) are left to "
        "compute; at most %s are written",
        f"{int(total['prompts']):,}",
        f"{int(total['stored']):,}",
        f"{int(total['tokens']):,}",
        f"{int(total['tokens_computed']):,}",
        100 * total["tokens_computed"] / max(1, total["tokens"]),
        f"{int(total['written_at_most']):,}",
    )
