"""Sections of a page: each node of a report's pipeline makes one."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from benchwright.reports.page.page import render_report_page
from benchwright.reports.page.provenance import package_versions

Section = dict[str, Any]
"""Values that a template shows, by name; `plots` are plots as JSON text."""


def make_section(plots: Mapping[str, Any] | None = None, **values: Any) -> Section:
    """Make a section of these values and plots (by their place on the page).

    Plots become text, which the catalog passes on without a deep copy.
    """
    return {**values, "plots": {name: plot.to_json() for name, plot in (plots or {}).items()}}


def gather_plots(**plots: Any) -> Section:
    """Gather the plots of a report by their places on the page."""
    return make_section(plots)


def render_sections(
    package: str,
    template: str,
    titles: Iterable[tuple[str, str]],
    sections: Iterable[Section],
    *,
    more_style: tuple[str, ...] = (),
    more_script: tuple[str, ...] = (),
) -> str:
    """Fill in a report's template with all its sections.

    `titles` are id and title of each section of the page, in order; for the other parameters see
    `render_report_page`.
    """
    context: dict[str, Any] = {}
    plots: dict[str, Any] = {}
    for section in sections:
        context |= section
        plots |= {name: json.loads(text) for name, text in section["plots"].items()}
    context |= {"sections": titles, "titles": dict(titles), "versions": package_versions()}
    context["plots"] = plots
    return render_report_page(
        package, template, context, more_style=more_style, more_script=more_script
    )
