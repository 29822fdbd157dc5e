"""What the gap says, in sentences that can be quoted."""

from math import isnan, nan
from statistics import NormalDist
from typing import Any

import pandas as pd

from benchwright.core.configuration import configuration_name
from benchwright.params.mmlu_cf import HalfGapParams

_NAMED = 4  # configurations in a headline


def write_headline(half_gap: pd.DataFrame, settings: HalfGapParams) -> list[str]:
    """Whether the public half looks leaked, for whom; then fields, and what would not be seen."""
    whole = half_gap[half_gap["field"].eq("")]
    tested = whole[whole["p_value"].notna()]
    alarms = whole[whole["suspicious"]].sort_values("delta").to_dict("records")
    if not len(tested):
        return ["Nothing can be said: no model has figures with an error on both halves."]
    if alarms:
        named = [
            f"{name_of(row)} ({say_points(row['delta'])} points {say_bounds(row)})"
            for row in alarms
        ]
        more = f" and {len(alarms) - _NAMED:,} more" if len(alarms) > _NAMED else ""
        first = f"The public half looks leaked for {', '.join(named[:_NAMED])}{more}."
    else:
        first = (
            f"No sign that the public half leaked: {_nobody(len(tested))} better on it than on the "
            "closed half beyond chance."
        )
    said = [first]
    fields = half_gap[half_gap["field"].ne("") & half_gap["suspicious"]]
    if len(fields):
        listed = sorted(f"{row['field']} ({name_of(row)})" for row in fields.to_dict("records"))
        said.append(f"Fields that look leaked: {'; '.join(listed[:_NAMED])}{_rest(listed)}.")
    reach = smallest_alarm(whole, settings)
    if not isnan(reach):
        said.append(
            f"With so many items the public half must be better by about {100 * reach:.1f} points "
            "to raise the alarm (median over models); smaller leaks are not seen."
        )
    return said


def smallest_alarm(whole: pd.DataFrame, settings: HalfGapParams) -> float:
    """The |Δ|, 0–1, from which one model alone raises the alarm: the median over models.

    Its error is read off the interval; the test is two-sided at `alpha` over all models (the
    first step of Holm's correction).
    """
    known = whole[whole["p_value"].notna()]
    if known.empty:
        return nan
    z = NormalDist().inv_cdf
    error = (known["high"] - known["low"]) / (2 * z((1 + settings.level) / 2))
    return float(error.median() * z(1 - settings.alpha / (2 * len(known))))


def say_points(share: float) -> str:
    """A difference of shares as `+1.4` or `−0.3` points."""
    written = f"{100 * share:+.1f}"
    return "0.0" if float(written) == 0 else written.replace("-", "−")


def say_bounds(row: dict[Any, Any]) -> str:
    """The interval of a difference in points."""
    return f"[{say_points(row['low'])}, {say_points(row['high'])}]"


def name_of(row: dict[Any, Any]) -> str:
    """The configuration of a row."""
    return configuration_name(str(row["model"]), str(row["style"]), int(row["shots"]))


def _nobody(n: int) -> str:
    if n == 1:
        return "the one configuration does not do"
    return f"none of {n:,} configurations does"


def _rest(listed: list[str]) -> str:
    return f" and {len(listed) - _NAMED:,} more" if len(listed) > _NAMED else ""
