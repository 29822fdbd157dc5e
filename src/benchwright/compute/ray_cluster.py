"""Ray: loading it, a cluster there or one of this machine, and quiet."""

import contextlib
import logging
import os
import secrets
import signal
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchwright.core.errors import InputError, causes

_KNOCK_SECONDS = 10.0


def loaded_ray(section: str) -> Any:
    """Ray with Ray Data.

    Raises:
        InputError: Ray is not installed.
    """
    try:
        import ray
        import ray.data
    except ImportError:
        raise InputError(
            f"{section}.engine is ray, but Ray is not installed: pip install 'benchwright[ray]'"
        ) from None
    return ray


@contextlib.contextmanager
def cluster(
    ray: Any, address: str | None, cores: int, section: str, spill_to: Path | None = None
) -> Iterator[None]:
    """A connection to the cluster, or a cluster of this machine while the block runs.

    Args:
        ray: the package.
        address: of a cluster that is there; None starts one on this machine.
        cores: of the cluster that is started.
        section: the part of conf that asks for it, for messages.
        spill_to: where the cluster that is started writes objects that its store has no room for.

    Raises:
        InputError: no cluster can be reached at the address.
    """
    if ray.is_initialized():
        yield
        return
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    quiet = {"log_to_driver": False, "logging_level": logging.ERROR}
    with _own_sigterm():
        if address is None:
            # Else Ray writes one into the home folder, which need not be there.
            os.environ.setdefault("RAY_AUTH_TOKEN", secrets.token_hex(32))
            spilling = {} if spill_to is None else {"object_spilling_directory": str(spill_to)}
            ray.init(address="local", num_cpus=cores, include_dashboard=False, **spilling, **quiet)
        else:
            try:
                _knock(address)
                ray.init(address=address, **quiet)
            except (OSError, ValueError, ImportError, ray.exceptions.RayError) as error:
                raise InputError(
                    f"{section}.ray.address {address!r}: no Ray cluster can be reached there "
                    f"({root_line(error, -1)}); start one with `ray start --head`, or leave the "
                    "address out to use this machine alone"
                ) from error
    try:
        yield
    finally:
        ray.shutdown()


@contextlib.contextmanager
def _own_sigterm() -> Iterator[None]:
    """Keep the handler of SIGTERM; Ray's exits with the signal's number, as no shell does."""
    before = signal.getsignal(signal.SIGTERM)
    try:
        yield
    finally:
        if before is not None and threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, before)


@contextlib.contextmanager
def quiet_data(ray: Any, *, ordered: bool = False) -> Iterator[None]:
    """Ray Data without bars, banners and statistics: progress is shown elsewhere."""
    context = ray.data.DataContext.get_current()
    options, log = context.execution_options, logging.getLogger("ray.data")
    before = context.enable_progress_bars, context.print_on_execution_start
    order, level = options.preserve_order, log.level
    context.enable_progress_bars = context.print_on_execution_start = False
    options.preserve_order = ordered or order
    log.setLevel(logging.CRITICAL)  # what fails is raised
    try:
        yield
    finally:
        context.enable_progress_bars, context.print_on_execution_start = before
        options.preserve_order = order
        log.setLevel(level)


def root_line(error: BaseException, line: int = 0) -> str:
    """One line, the first or the last (−1), of what an error began with."""
    *_, first = causes(error)
    return (str(first).strip().splitlines() or [type(first).__name__])[line]


def _knock(address: str) -> None:
    """Raise OSError where nothing listens at `host:port`: Ray itself would try for minutes."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if host and port.isdigit():
        socket.create_connection((host.strip("[]"), int(port)), timeout=_KNOCK_SECONDS).close()
