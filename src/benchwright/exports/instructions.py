"""Render the texts of an export: how to run its tasks, and what their scores mean."""

from typing import Any

from benchwright.datasets.export_folder import MANIFEST

HARNESS = "lm-eval 0.4.13"


def render(template: str, **values: Any) -> str:
    """Render one of the templates."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(  # noqa: S701  (Markdown)
        loader=PackageLoader("benchwright.exports"),
        trim_blocks=True,
        keep_trailing_newline=True,
        undefined=StrictUndefined,
    )
    names = {"harness": HARNESS, "manifest": MANIFEST}
    return environment.get_template(template).render(values | names)
