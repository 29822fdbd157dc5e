"""Python without a network: attempts are refused and noted in the file BENCHWRIGHT_TRIED."""

import os
import socket
import traceback
from typing import Any

_LOCAL = ("127.", "localhost", "::1", "0.0.0.0", "/")  # noqa: S104  (compared, not bound)


def _refuse(address: object) -> None:
    host = address[0] if isinstance(address, tuple) else address
    if isinstance(host, bytes):
        host = host.decode()
    if not host or str(host).startswith(_LOCAL):
        return
    with open(os.environ["BENCHWRIGHT_TRIED"], "a") as noted:  # noqa: PTH123
        noted.write(f"{address}\n{''.join(traceback.format_stack(limit=12))}\n")
    raise OSError(f"no network here: {address}")


_connect, _look_up = socket.socket.connect, socket.getaddrinfo


def _refusing_connect(self: socket.socket, address: Any) -> None:
    _refuse(address)
    _connect(self, address)


def _refusing_look_up(host: Any, *arguments: Any, **options: Any) -> Any:
    _refuse(host)
    return _look_up(host, *arguments, **options)


socket.socket.connect = _refusing_connect  # type: ignore[method-assign]
socket.getaddrinfo = _refusing_look_up
