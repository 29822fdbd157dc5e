"""What Kedro logs: names of its loggers and its messages. Importing this does not import Kedro."""

import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager

_ERROR_LOGGERS = ("kedro.pipeline.node", "kedro.validation.parameter_validator")
RUNNER_LOGGERS = tuple(
    f"kedro.runner.{kind}_runner" for kind in ("parallel", "sequential", "thread")
)
"""The loggers of Kedro's runners."""
NODE_DONE = "Completed node: %s"
"""The message that Kedro's runners log after a node."""
RESUME_HINT = re.compile(r'(--from-nodes "[^"]*")|^No nodes ran\b')
"""What Kedro's runners log after a failure: the option that resumes the run, if there is one."""


@contextmanager
def kedro_errors_once() -> Iterator[None]:
    """Silence Kedro's loggers of errors that are raised as well."""
    loggers = [logging.getLogger(name) for name in _ERROR_LOGGERS]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)
