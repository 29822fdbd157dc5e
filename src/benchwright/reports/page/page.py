"""Render a report as one page that needs no network and runs only its own scripts."""

import base64
import hashlib
import json
from collections.abc import Mapping
from functools import cache, partial
from importlib.resources import files
from typing import Any

from benchwright.reports.page.draw import draw
from benchwright.reports.page.wording import number, percent, words_of

_PACKAGE = "benchwright.reports.page"


def render_report_page(
    package: str,
    template: str,
    context: Mapping[str, Any],
    *,
    more_style: tuple[str, ...] = (),
    more_script: tuple[str, ...] = (),
) -> str:
    """Fill in a report's template, which extends `page.html`.

    Every value is escaped as text, except the page's own files and Plotly's. A content security
    policy lets the browser run these scripts by their hashes and no other. The same context gives
    the same bytes. Templates have the filters `percent`, `share`, `number` and `words`, and the
    macros of `macros.html`.

    Args:
        package: the package whose folder `templates` holds the report's own files.
        template: name of the report's template.
        context: what the template needs; `plots` are plots by name, `sections` pairs of id and
            title for the contents.
        more_style: style sheets of `package`, after the shared one.
        more_script: scripts of `package`, after the shared one.
    """
    from markupsafe import Markup
    from plotly.offline import get_plotlyjs

    plots = {name: _as_json(plot) for name, plot in context["plots"].items()}
    drawn = {
        name: Markup(draw(plot))  # noqa: S704
        for name, plot in plots.items()
        if "drawn" in plot["layout"]["meta"]
    }
    assets = {
        "style": "\n".join(_read("report.css", package, more_style)),
        "script": "".join(_read("page.js", package, more_script)),
        "plotly": get_plotlyjs() if plots.keys() - drawn.keys() else "",
    }
    scripts = filter(None, (assets["plotly"], assets["script"]))
    allowed = " ".join(map(_script_hash, scripts))
    page: str = (
        _environment(package)
        .get_template(template)
        .render(
            **{**context, "plots": plots, "drawn": drawn},
            **{name: Markup(text) for name, text in assets.items()},  # noqa: S704
            allowed_scripts=Markup(allowed),  # noqa: S704
        )
    )
    return page


def _read(shared: str, package: str, names: tuple[str, ...]) -> list[str]:
    """Return a file of the kit, then files of a report's package."""
    paths = [files(_PACKAGE) / "templates" / shared]
    paths += [files(package) / "templates" / name for name in names]
    return [path.read_text("utf-8") for path in paths]


@cache
def _environment(package: str) -> Any:
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=ChoiceLoader([PackageLoader(package), PackageLoader(_PACKAGE)]),
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
    environment.filters.update(
        percent=percent, number=number, words=partial(words_of, {}), share=_share
    )
    return environment


def _as_json(plot: Any) -> Any:
    return json.loads(plot.to_json()) if hasattr(plot, "to_json") else plot


def _script_hash(script: str) -> str:
    """Return the source expression that lets a browser run this script and no other."""
    digest = hashlib.sha256(script.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def _share(part: float, whole: float, digits: int = 1) -> str:
    return percent(part / whole if whole else None, digits)
