"""Human ratings of one date, matched with the models of the panel by name (SMART, section 4.3)."""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchwright.core.configuration import by_score_first, parse_configuration
from benchwright.core.errors import InputError, expected
from benchwright.params.evaluation import RatingsParams
from benchwright.tables.evidence import ModelRatings

_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_RELEASE = re.compile(r"[-_ (@]*(20\d\d)-?([01]\d)-?([0-3]\d)\)?$")
_WORD = re.compile(r"[^\W\d_]+|\d+")
_MAKERS = {"meta", "nvidia"}  # words that some sources put before the name

Key = tuple[str, ...]


class Ratings(NamedTuple):
    """Ratings of one date by name, their source in words, and names for models' own names."""

    by_model: Mapping[str, float]
    source: str
    date: str = ""  # YYYY-MM-DD, "" if unknown
    aliases: Mapping[str, str] = {}


def read_ratings(user_ratings: pd.DataFrame, ratings: RatingsParams) -> Ratings:
    """Return the ratings of one date: `ratings.date`, or the latest.

    They are those of the user's file, or the bundled ones without a file. Ratings of two sources or
    dates are never mixed, since their scales differ.

    Raises:
        InputError: the file has no ratings of that date; or a rating is missing, not a number, or
            given twice with different values; or a date is not YYYY-MM-DD.
    """
    history = ratings.history
    source = ratings.source
    if not user_ratings.empty:
        history = _history(user_ratings)
        source = "the user's ratings file"
    if ratings.date is not None and ratings.date not in history:
        known = expected(ratings.date, filter(None, history)) if any(history) else "it has no dates"
        raise InputError(f"ratings.date: no ratings of {ratings.date} in {source}; {known}")
    if not history:
        return Ratings({}, "")
    latest = max(history)
    date = latest if ratings.date is None else ratings.date
    if date:
        source += f", {date}"
    if len(history) > 1:
        source += f" ({'latest' if date == latest else 'one'} of {len(history)} dates)"
    return Ratings(history[date], source, date, aliases=ratings.aliases)


def _history(user_ratings: pd.DataFrame) -> dict[str, dict[str, float]]:
    numbers = pd.to_numeric(user_ratings["rating"], errors="coerce").to_numpy(dtype=np.float64)
    history: dict[str, dict[str, float]] = defaultdict(dict)
    dates = user_ratings.get("date", pd.Series("", index=user_ratings.index))
    rows = zip(user_ratings["model"], user_ratings["rating"], numbers, dates, strict=True)
    for row, (model, given, number, date) in enumerate(rows, 1):
        where = f"the ratings file, row {row}"
        if not np.isfinite(number):
            raise InputError(f"{where}: rating is {given!r}, not a number")
        if any(dates) and not _DAY.fullmatch(date):
            raise InputError(f"{where}: date is {date!r}, not YYYY-MM-DD")
        if history[date].setdefault(str(model), float(number)) != number:
            raise InputError(f"{where}: {model!r} has two different ratings")
    return dict(history)


class _Match(NamedTuple):
    rated_as: str = ""  # "" without a match
    note: str = ""


class _Names:
    """The names of the ratings by what is compared of them."""

    def __init__(self, ratings: Ratings) -> None:
        self._ratings = ratings
        self._by_key = _grouped((_key(name), name) for name in ratings.by_model)
        self._undated = _grouped(
            (_key(name, dated=False), name) for name in ratings.by_model if _released(name)
        )

    def match(self, configuration: str) -> _Match:
        model = parse_configuration(configuration).model
        aliases = self._ratings.aliases
        if alias := next((name for name in (configuration, model) if name in aliases), None):
            wanted = aliases[alias]
            found = self._named(wanted) if wanted else _Match(note="excluded by ratings.aliases")
            return found if found != _Match() else _Match(note=f"alias {wanted} is not rated")
        return self._named(configuration)

    def _named(self, name: str) -> _Match:
        model = parse_configuration(name).model
        exact = next((given for given in (name, model) if given in self._ratings.by_model), None)
        if exact is not None:
            return _Match(exact)
        key = _key(model)
        if key in self._by_key:
            return self._only(self._by_key[key])
        released = _released(model)
        undated = self._by_key if released else self._undated
        if names := undated.get(_key(model, dated=False)):
            if released and self._ratings.date and released > self._ratings.date:
                return _Match(note=f"released after the ratings of {names[0]}")
            return self._only(names, "date of release in one of the names only")
        return _Match()

    def _only(self, names: Sequence[str], note: str = "") -> _Match:
        if len({self._ratings.by_model[name] for name in names}) > 1:
            return _Match(note=f"ambiguous: {_listed(names)}")
        return _Match(names[0], note)


def match_ratings(scores: pd.DataFrame, human_ratings: Ratings) -> pd.DataFrame:
    """Return a `ModelRatings` table of the models that have a rating or nearly have one.

    Names match if they agree in words and numbers. Organisation, prefix of a harness (`helm:`),
    case, separators and a final `hf` do not count; `it` is instruct. A date of release may be
    missing in one name, unless the model is newer than the ratings. `human_ratings.aliases` comes
    before all that. Names with several ratings are not matched. Of several
    configurations of a rated model the first is taken: style letters first, then most
    demonstrations, then by name.
    """
    names = _Names(human_ratings)
    ordered = sorted(scores["model"], key=lambda name: by_score_first(parse_configuration(name)))
    found = {model: names.match(model) for model in ordered}
    taken: dict[str, str] = {}
    for model, match in found.items():
        if match.rated_as:
            taken.setdefault(match.rated_as, model)
    rating = human_ratings.by_model
    return ModelRatings.from_rows(
        [
            (model, name, rating.get(name, np.nan), taken.get(name) == model, note)
            for model, (name, note) in found.items()
            if name or note
        ]
    )


def ratings_of(models: Sequence[str], human_ratings: Ratings) -> NDArray[np.float64]:
    """Return the ratings of models (m,); each rated model counts once (see `match_ratings`).

    NaN where a model has none, or where another configuration of it is taken.
    """
    table = match_ratings(pd.DataFrame({"model": list(models)}), human_ratings)
    once = table[table["taken"]].set_index("model")["rating"]
    return once.reindex(list(models)).to_numpy(dtype=np.float64)


def _key(name: str, *, dated: bool = True) -> Key:
    plain = re.split("/|__|:", name)[-1].casefold().replace("+", " plus")
    words = _WORD.findall(plain if dated else _RELEASE.sub("", plain))
    if words and words[0] in _MAKERS:
        del words[0]
    if words and words[-1] == "hf":
        del words[-1]
    return tuple("instruct" if word == "it" else word for word in words)


def _released(name: str) -> str:
    """Return the date of release at the end of a name as YYYY-MM-DD, or ""."""
    seen = _RELEASE.search(name)
    return "-".join(seen.groups()) if seen else ""


def _grouped(pairs: Iterable[tuple[Key, str]]) -> dict[Key, list[str]]:
    grouped: dict[Key, list[str]] = defaultdict(list)
    for key, name in sorted(pairs):
        grouped[key].append(name)
    return grouped


def _listed(names: Sequence[str]) -> str:
    return " or ".join(names[:3]) + (f" or {len(names) - 3} more" if len(names) > 3 else "")
