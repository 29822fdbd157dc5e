"""Small pages that open from disk: one file, nothing from the network, texts escaped."""

import math
from importlib.resources import files
from typing import Any


def render_page(template: str, **values: Any) -> str:
    """Fill a template of `benchwright/templates` in; every value is escaped as text.

    Templates have the filters `percent`, `figure` (three decimals) and `count` (thousands), which
    show a missing value as a dash.
    """
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(_read),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"percent": percent, "figure": figure, "count": count}
    return environment.get_template(template).render(css=_read("page.css"), **values)


def _read(name: str) -> str:
    return (files("benchwright.reports.page") / "templates" / name).read_text(encoding="utf-8")


def missing(value: Any) -> bool:
    """None, NaN and pandas' NA."""
    if value is None or str(value) == "<NA>":
        return True
    return isinstance(value, float) and math.isnan(value)


def percent(share: Any) -> str:
    """0.1443 as `14.4%`."""
    return "–" if missing(share) else f"{float(share):.1%}"


def figure(value: Any) -> str:
    """0.95554 as `0.956`."""
    return "–" if missing(value) else f"{float(value):.3f}"


def count(value: Any) -> str:
    """14042 as `14,042`."""
    return "–" if missing(value) else f"{int(value):,}"
