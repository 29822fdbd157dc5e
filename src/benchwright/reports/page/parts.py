"""Pages of sections, given as data and rendered by one template."""

import base64
import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, partial
from importlib.resources import files
from typing import Any, NamedTuple

from benchwright.core.wording import interval, number, p_value, percent, points, words_of
from benchwright.reports.verdict import Verdict

LONGEST_TABLE = 300
"""Rows of a table on a page; the dataset has them all."""


class Text(NamedTuple):
    """A paragraph; text between backticks is shown as code."""

    text: str
    kind: str = ""


class Bullets(NamedTuple):
    """A list; text between backticks is shown as code."""

    lines: Sequence[str]


class Cell(NamedTuple):
    """A cell: text, quiet text beside it, small lines under it, or a link."""

    text: str
    under: Sequence[str] = ()
    link: str = ""
    quiet: str = ""


class Table(NamedTuple):
    """A table with a caption."""

    label: str  # the caption; "" for none
    head: Sequence[str | Cell]  # titles of the columns
    rows: Sequence[Sequence[Any]]  # of texts and cells
    numbers: Sequence[int] = ()  # which columns hold numbers
    header: int = 0  # the column that names the row


class ItemTable(NamedTuple):
    """The table of all items, which a script fills, sorts and searches."""

    contents: Mapping[str, Any]
    names: Sequence[str]  # rules and tags to choose from
    columns: Sequence[tuple[str, str]]  # keys and titles; "" is the question


class Plot(NamedTuple):
    """One of the page's plots, by its name."""

    name: str


class Question(NamedTuple):
    """An item's question and options with the gold one marked; texts of data."""

    question: str
    choices: Sequence[str] = ()
    answer: int = -1
    above: str = ""


class Folded(NamedTuple):
    """Blocks that a click on the summary shows; in a list of items it has a note."""

    summary: str
    blocks: Sequence[Any]
    open: bool = False
    note: str = ""


class ItemLists(NamedTuple):
    """Lists of folded items by title, the first 20 of each shown, and a box that searches them."""

    lists: Mapping[str, Sequence[Folded]]


class Article(NamedTuple):
    """Blocks about one item."""

    title: str
    blocks: Sequence[Any]
    quiet: str = ""


class Sides(NamedTuple):
    """Blocks side by side."""

    blocks: Sequence[Any]


class Section(NamedTuple):
    """A part of a page under a title; one with an id is in the page's contents."""

    title: str
    blocks: Sequence[Any]
    id: str = ""
    open: bool = False  # on a page that folds all but its first section


class Page(NamedTuple):
    """The contents of a page."""

    window: str  # the title of the browser's window
    title: str  # the title on the page
    verdict: Verdict
    sections: Sequence[Section]
    plots: Mapping[str, Any] = {}  # by name
    kicker: str = ""  # a line above the title
    lead: Sequence[Any] = ()  # blocks under the verdict
    folded: bool = False  # whether sections after the first, if not open, are folded


def render_sections(
    window: str, title: str, kicker: str, verdict: Verdict, shown: Mapping[str, Any]
) -> str:
    """Render a page of what is shown by name: plots, and sections or lists of them, in order.

    Sections without contents are left out.
    """
    plots: dict[str, Any] = {}
    sections: list[Section] = []
    for name, part in shown.items():
        if name.endswith("_plot"):
            plots[name] = part
        else:
            sections += part if isinstance(part, list) else [part]
    filled = [section for section in sections if section.blocks]
    page = Page(window, title, verdict, sections=filled, plots=plots, kicker=kicker, folded=True)
    return render_page(page)


def render_page(page: Page) -> str:
    """Render one HTML page that needs no network.

    Every value is escaped as text. A content security policy lets the browser run the page's own
    script, by its hash, and no other. The same page gives the same bytes.
    """
    from markupsafe import Markup

    folder = files("benchwright.reports.page") / "templates"
    style, *scripts = (
        (folder / name).read_text("utf-8") for name in ("page.css", "page.js", "items.js")
    )
    script = "".join(scripts)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    plots = {
        name: {**plot["layout"]["meta"], "drawing": Markup(plot["layout"]["meta"]["drawing"])}  # noqa: S704
        for name, plot in page.plots.items()
    }
    rendered: str = _template().render(
        page=page,
        plots=plots,
        style=Markup(style),  # noqa: S704
        script=Markup(script),  # noqa: S704
        script_hash=f"sha256-{digest}",
    )
    return rendered.lstrip()


@cache
def _template() -> Any:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("benchwright.reports.page"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.policies["json.dumps_kwargs"] = {
        "sort_keys": True,
        "separators": (",", ":"),
        "ensure_ascii": False,
        "allow_nan": False,
    }
    environment.filters.update(number=number, words=partial(words_of, {}))
    return environment.get_template("page.html")


Column = tuple[str, Callable[[Mapping[Any, Any], str], str | Cell], str]
"""The title of a column, how a cell is written from a record and a name, and that name."""


def columns(names: str, *others: Column) -> list[Column]:
    """Return columns by names between spaces, titled by their names, and others after them."""
    titles = {
        name: name.removeprefix("n_").replace("_", " ").capitalize() for name in names.split()
    }
    return [*((title, as_value, name) for name, title in titles.items()), *others]


def table_of(
    records: Iterable[Mapping[Any, Any]],
    columns: Sequence[Column],
    numbers: Sequence[int] | None = None,
    label: str = "",
) -> Table:
    """Return a table with a row per record; without `numbers`, all but texts are numbers."""
    records = list(records)
    rows = [_cells(record, columns) for record in records]
    if numbers is None:
        numbers = []
        for place, (_, write, name) in enumerate(columns):
            texts = any(isinstance(record.get(name), str) for record in records)
            if place and not texts and write not in (as_text, as_words):
                numbers.append(place)
    return Table(label, [title for title, *_ in columns], rows, numbers=numbers)


def _cells(record: Mapping[Any, Any], columns: Sequence[Column]) -> list[str | Cell]:
    return [write(record, name) for _, write, name in columns]


def cut_table(
    label: str, records: Sequence[Mapping[Any, Any]], columns: Sequence[Column], dataset: str
) -> list[Any]:
    """Return a table of the first rows, and a note where there are more."""
    table = table_of(records[:LONGEST_TABLE], columns, label=label)
    if len(records) <= LONGEST_TABLE:
        return [table]
    note = f"The first {LONGEST_TABLE} of {len(records):,}; the dataset `{dataset}` has them all."
    return [table, Text(note, "quiet")]


def as_value(record: Mapping[Any, Any], name: str) -> str:
    """Return a text as it is, a whole number as a count, another one as a share of 1."""
    value = record[name]
    if isinstance(value, float):
        return as_share(record, name)
    return as_count(record, name) if isinstance(value, int) else str(value or "—")


def as_text(record: Mapping[Any, Any], name: str) -> str:
    """Return a value as text."""
    return str(record[name])


def as_words(record: Mapping[Any, Any], name: str) -> str:
    """Return a name with spaces instead of underscores."""
    return str(record[name]).replace("_", " ")


def as_share(record: Mapping[Any, Any], name: str) -> str:
    """Return 0.1443 as `14.4%`, — where it is missing."""
    return percent(record.get(name))


def as_metric(record: Mapping[Any, Any], name: str) -> str:
    """Return 0.95554 as `0.956`, — where it is missing."""
    return number(record.get(name), 3)


def as_count(record: Mapping[Any, Any], name: str) -> str:
    """Return 14042 as `14,042`, — where it is missing."""
    return number(record.get(name))


def as_bounded_share(record: Mapping[Any, Any], name: str) -> Cell:
    """Return a share with its interval: `<name>_low` to `<name>_high`, or `low` to `high`."""
    of = f"{name}_" if f"{name}_low" in record else ""
    known = record.get(f"{of}low") is not None and record.get(f"{of}high") is not None
    bounds = f"[{as_share(record, f'{of}low')}, {as_share(record, f'{of}high')}]" if known else ""
    return Cell(as_share(record, name), quiet=bounds)


def as_points(record: Mapping[Any, Any], name: str) -> Cell:
    """Return a difference in points, with its interval `low` to `high` below it."""
    return Cell(points(record[name]), [interval(record.get("low"), record.get("high"))])


def as_p(record: Mapping[Any, Any], name: str) -> str:
    """Return a p-value as `0.012` or `< 0.001`, — where it is missing."""
    return p_value(record[name])
