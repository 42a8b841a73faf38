"""Finds a port to listen on."""

import errno
import socket

from django.core.management.base import CommandError


def free_port(host: str, port: int) -> int:
    """The port if it is free; 0 picks any. Raises CommandError, where uvicorn would only log."""
    try:
        family, kind, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind) as trial:
            trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            trial.bind(address)
            return int(trial.getsockname()[1])
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            message = f"Port {port} on {host} is taken, perhaps by another hub. Choose one: --port {port + 1}"
        else:
            message = f"Cannot listen on {host}, port {port}: {error}."
        raise CommandError(message) from error
