"""Names of metrics, as MLflow takes them."""

import re


def metric_name(text: str) -> str:
    """A name MLflow takes: letters, digits, `_`, `-` and `.`, anything else becomes `_`."""
    return re.sub(r"[^A-Za-z0-9_.-]", "_", text)
