"""What judges say of a benchmark's items: plot, headline, warnings and page."""

from collections.abc import Iterator
from typing import Any

import pandas as pd

from benchwright.core.wording import count, number, percent, rows_of
from benchwright.methods.mmlu_cf.checking import HARMS, HIGH
from benchwright.methods.mmlu_cf.judged_items import EASY
from benchwright.reports.mmlu_cf.judges import doubtful_judges, replies_table, show_agreement
from benchwright.reports.mmlu_cf.plots import level_curves, level_line
from benchwright.reports.page.parts import (
    Folded,
    ItemLists,
    Plot,
    Question,
    Section,
    Table,
)
from benchwright.reports.page.plot_style import PALETTE
from benchwright.reports.page.shapes import nothing
from benchwright.reports.verdict import Verdict, write_verdict


def plot_judged_difficulty(judged_items: pd.DataFrame, judgements: pd.DataFrame) -> Any:
    """Draw the share of each level over the items: of all judges together, and of each."""
    title = "Difficulty from 0 (easiest) to 9: share of each level"
    if judged_items["level"].isna().all():
        return nothing(title, "No item has a level of difficulty.")
    single = list(judgements.groupby("judge", sort=True)["level"])
    lines = [("all judges", judged_items["level"]), *(single if len(single) > 1 else [])]
    marks = [
        level_line(str(judge), colour, levels.value_counts(), int(levels.count()))
        for (judge, levels), colour in zip(lines, PALETTE, strict=False)
    ]
    return level_curves(title, marks)


_SAME = 0.99  # share of equal values from which a judge does not tell items apart
_LISTED = 50  # items of a list on the page
_HARMS = tuple(harm.name for harm in HARMS)
_REASONS = {
    "good": "pass",
    "low_rating": "mean rating not above the bound",
    "harmful": "harmful",
    "unjudged": "not judged",
}
Row = dict[Any, Any]


def show_judgements(
    items: pd.DataFrame,
    judged_items: pd.DataFrame,
    judgements: pd.DataFrame,
    judge_parse_rates: pd.DataFrame,
    judge_agreement: pd.DataFrame,
) -> tuple[Verdict, list[Section]]:
    """Show what the judges say, the reasons not to rely on them, and the items to read."""
    judges = [replies_table(judge_parse_rates), *show_agreement(judge_agreement)]
    lists = _lists(items, judged_items, judgements)
    notes = [*doubtful_judges(judge_parse_rates, judge_agreement), *_without_spread(judgements)]
    subjects = _subjects(judged_items)
    counts = judged_items["reason"].value_counts()
    n = len(judged_items)
    rows = [
        [words, number(int(counts.get(name, 0))), percent(counts.get(name, 0) / n)]
        for name, words in _REASONS.items()
    ]
    label = "What the check would do; no item is removed"
    decisions = Table(label, ("Result", "Items", "Share"), rows, (1, 2))
    sections = [
        Section("Difficulty", [Plot("judged_difficulty_plot"), subjects], "difficulty"),
        Section("Items to read", [lists], "items", open=True),
        Section("Checking", [decisions], "checking"),
        Section("Judges", judges, "judges"),
    ]
    return write_verdict(_headline(judged_items), kind="Judges", notes=notes), sections


def _headline(judged_items: pd.DataFrame) -> str:
    n = len(judged_items)
    level = judged_items["level"].dropna()
    checked = judged_items.loc[judged_items["reason"] != "unjudged", "reason"]
    parts = []
    if len(level):
        parts.append(
            f"{percent(level.lt(EASY).mean())} of the {len(level):,} rated items have a level "
            f"below {EASY}; the mean is {judged_items['difficulty'].mean():.1f}."
        )
    if len(checked):
        parts.append(f"{percent(checked.eq('good').mean())} of {len(checked):,} pass the check.")
    return " ".join(parts) or f"No judge gave a readable reply about any of {count(n, 'item')}."


def _without_spread(judgements: pd.DataFrame) -> Iterator[str]:
    """Name the judges that gave nearly every item the same level or rating; harms are rare."""
    long = judgements.drop(columns=list(_HARMS)).melt(["item_id", "judge"], var_name="what")
    for (judge, what), part in long.dropna(subset="value").groupby(["judge", "what"]):
        shares = part["value"].value_counts(normalize=True)
        if len(part) > 1 and shares.iloc[0] >= _SAME:
            yield (
                f"{judge} gave {percent(shares.iloc[0])} of {len(part):,} items the same {what} "
                f"({shares.index[0]:g}), so it does not tell them apart."
            )


def _subjects(judged_items: pd.DataFrame) -> Table:
    rows = [
        [
            str(subject),
            number(len(part)),
            number(part["difficulty"].mean(), 1),
            percent(part["level"].dropna().lt(EASY).mean()),
            number(part["mean_rating"].mean(), 2),
            percent(part.loc[part["reason"] != "unjudged", "reason"].eq("good").mean()),
        ]
        for subject, part in judged_items.groupby("subject", sort=True)
    ]
    head = ("Subject", "Items", "Mean level", f"Level below {EASY}", "Mean rating", "Pass")
    return Table("Judged items by subject", head, rows, numbers=range(1, 6))


def _lists(items: pd.DataFrame, judged_items: pd.DataFrame, judgements: pd.DataFrame) -> ItemLists:
    rated = judged_items[judged_items["mean_rating"] < HIGH]
    levels = judged_items[judged_items["level"].notna()]
    lists = {
        "Lowest rated": rated.sort_values("mean_rating", kind="stable"),
        "Flagged as harmful": judged_items[judged_items["harms"] != ""],
        "Easiest": levels.sort_values("difficulty", kind="stable"),
        "Most difficult": levels.sort_values("difficulty", ascending=False, kind="stable"),
    }
    texts = {row["item_id"]: row for row in items.to_dict("records")}
    said = dict(iter(judgements.groupby("item_id", sort=False)))
    shown = {}
    for title, table in lists.items():
        rows = rows_of(table.iloc[:_LISTED])
        if rows:
            items_of = [(row, texts[row["item_id"]], said[row["item_id"]]) for row in rows]
            shown[title] = [_item(*each) for each in items_of]
    return ItemLists(shown)


def _item(row: Row, text: Row, said: pd.DataFrame) -> Folded:
    values = said.drop(columns="item_id").dropna(axis=1, how="all")
    names = [str(name).replace("_", " ") for name in values.columns]
    cells = [[judge, *map(number, rest)] for _, judge, *rest in values.itertuples()]
    question = str(text["question"])
    notes = [
        str(row["item_id"]),
        f"rating {number(row['mean_rating'], 1)}",
        f"level {number(row['level'])}",
        row["harms"].replace("_", " "),
    ]
    table = Table(f"Judgements of {row['item_id']}", names, cells, range(1, len(names)))
    shown = Question(question, list(text["choices"]), int(text["answer"]))
    return Folded(question, [shown, table], note=" · ".join(filter(None, notes)))
