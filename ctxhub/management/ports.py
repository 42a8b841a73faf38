"""Where a server can listen."""

import errno
import socket

from django.core.management.base import CommandError


def free_port(host: str, port: int) -> int:
    """The port, if one can listen there: uvicorn would only log that it cannot."""
    try:
        family, kind, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind) as trial:
            trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            trial.bind(address)
            return int(trial.getsockname()[1])
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            said = f"Port {port} on {host} is taken, perhaps by another hub. Choose one: --port {port + 1}"
        else:
            said = f"Cannot listen on {host}, port {port}: {error}."
        raise CommandError(said) from error
