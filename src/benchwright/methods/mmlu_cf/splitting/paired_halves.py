"""Figures of models on both halves of one sealed benchmark, side by side."""

from collections.abc import Iterable, Mapping
from math import nan
from typing import NamedTuple

from benchwright.core.configuration import configuration_name
from benchwright.core.errors import InputError
from benchwright.datasets.half_scores import GroupFigures, HalfFigures, SealedIdentity
from benchwright.methods.mmlu_cf.sealing.aggregate import OTHER
from benchwright.methods.mmlu_cf.splitting.gap import HalfScore, ScoredHalves, size_group
from benchwright.params.scoring import ModelsParams

_HALVES = ("validation", "test")


class PairedHalves(NamedTuple):
    """What can be compared, and what cannot.

    Attributes:
        benchmark: whose halves.
        scores: of each configuration in all and by field, in order.
        untold: one sentence on each file that stands alone or holds no accuracy.
        versions: of the package, in order; with several, differences may be theirs.
    """

    benchmark: SealedIdentity
    scores: tuple[ScoredHalves, ...]
    untold: tuple[str, ...]
    versions: tuple[str, ...]


def pair_halves(figures: Mapping[str, HalfFigures], sealed: str | None = None) -> PairedHalves:
    """Pair the halves by model, style and shots, within one sealing of one benchmark.

    Only fields that both halves tell by themselves are paired: what is told together with others
    may be other fields in each half.

    Args:
        figures: by file.
        sealed: the benchmark's name or the beginning of the SHA-256 of its `test.sealed`; None
            where there are figures of one.

    Raises:
        InputError: there are figures of none or several, a half of a configuration is there
            twice, or no configuration has both halves.
    """
    benchmark = _choose({one.benchmark for one in figures.values()}, sealed)
    files: dict[tuple[str, str, int], dict[str, str]] = {}
    for file, one in figures.items():
        if one.benchmark != benchmark:
            continue
        own = files.setdefault((one.model, one.style, one.shots), {})
        if one.half in own:
            raise InputError(
                f"half_gap: {own[one.half]} and {file} are both of "
                f"{configuration_name(*_key(one))} on the {one.half} half; leave one"
            )
        own[one.half] = file
    scores: list[ScoredHalves] = []
    untold: list[str] = []
    for key, own in sorted(files.items()):
        reason = _untold(own, figures)
        if reason:
            untold.append(f"{configuration_name(*key)}: {reason}")
            continue
        scores += _scored(*(figures[own[half]] for half in _HALVES))
    if not scores:
        raise InputError(f"half_gap: no model has figures of both halves ({'; '.join(untold)})")
    used = {one.version for one in figures.values() if one.benchmark == benchmark}
    return PairedHalves(benchmark, tuple(scores), tuple(untold), tuple(sorted(used)))


def model_groups(names: Iterable[str], models: ModelsParams) -> dict[str, str]:
    """The size group of each model: a server whose size is not told is an API.

    Models that conf does not list are `unknown`.
    """
    groups = {}
    for name in names:
        model = models.models.get(name)
        size = None if model is None else model.size_b
        api = model is not None and model.endpoint is not None and size is None
        groups[name] = size_group(size, api=api)
    return groups


def _key(one: HalfFigures) -> tuple[str, str, int]:
    return one.model, one.style, one.shots


def _choose(there: set[SealedIdentity], sealed: str | None) -> SealedIdentity:
    listed = ", ".join(sorted(f"{one.name} ({one.test[:12]})" for one in there)) or "none"
    found = [
        one for one in there if sealed is None or one.name == sealed or one.test.startswith(sealed)
    ]
    if len(found) == 1:
        return found[0]
    asked = "" if sealed is None else f" for half_gap.sealed={sealed}"
    raise InputError(
        f"half_gap: figures of {len(found)} sealed benchmarks{asked}; there are {listed}: "
        "choose one by name or by these digits (--params half_gap.sealed=…)"
    )


def _untold(own: Mapping[str, str], figures: Mapping[str, HalfFigures]) -> str:
    missing = [half for half in _HALVES if half not in own]
    if missing:
        return f"no figures of the {missing[0]} half"
    reasons = (figures[own[half]] for half in _HALVES)
    return "; ".join(
        f"{one.half}: {one.reason or 'no accuracy'}" for one in reasons if one.all.accuracy is None
    )


def _scored(validation: HalfFigures, test: HalfFigures) -> list[ScoredHalves]:
    key = _key(test)
    rows = [ScoredHalves(*key, _score(validation.all), _score(test.all))]
    for field in sorted(validation.fields.keys() & test.fields.keys() - {OTHER}):
        first, second = validation.fields[field], test.fields[field]
        rows.append(ScoredHalves(*key, _score(first), _score(second), field))
    return rows


def _score(group: GroupFigures) -> HalfScore:
    # Without an error of its own a group is no group of independent items.
    accuracy = nan if group.accuracy is None else group.accuracy
    return HalfScore(group.n, accuracy, nan if group.se is None else group.se)
