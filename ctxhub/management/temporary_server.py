"""Runs a temporary hub with its own database, by the same commands as a person, and removes it."""

import os
import re
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from django.core.management.base import CommandError

from ctxhub import env
from ctxhub.core.kit.frozen import frozen

MANAGE = str(env.ROOT / "manage.py")
SECONDS_TO_START = 120  # Only what hangs takes as long, also on a busy machine.
SECONDS_TO_STOP = 10


@frozen
class TemporaryServer:
    """A running hub. `environment` makes other ctxhub processes use the same database."""

    project: str
    token: str
    environment: Mapping[str, str]
    server: subprocess.Popen[str]
    log: Path

    def url(self) -> str:
        """The URL that the server prints, once it answers. Raises CommandError if it does not."""
        assert self.server.stdout
        found = (re.search(r"(http://\S+)/mcp$", line) for line in self.server.stdout)
        url = next((match[1] for match in found if match), None)
        if url is None or not _answers(f"{url}/healthz", self.server):
            raise CommandError(f"serve failed:\n{self.log.read_text()}")
        return url


@contextmanager
def temporary_server(project: str) -> Iterator[TemporaryServer]:
    """Run `setup`, then `serve` on a free port, with everything in a temporary folder."""
    with tempfile.TemporaryDirectory(prefix="ctxhub-") as name:
        folder = Path(name)
        environment = _environment(folder)
        _setup(project, environment)
        with _serving(environment, folder / "log") as server:
            token = (folder / "setup_token").read_text().split()[0]
            yield TemporaryServer(project, token, environment, server, folder / "log")


def _environment(folder: Path) -> dict[str, str]:
    """Variables that override the user's `.env`; empty means the default."""
    return {
        "CTXHUB_VAR_DIR": str(folder),
        "DATABASE_URL": f"sqlite:///{folder / 'ctxhub.sqlite3'}",
        **dict.fromkeys(
            (
                "CTXHUB_ALLOWED_HOSTS",
                "CTXHUB_BASE_URL",
                "CTXHUB_DEBUG",
                "CTXHUB_MODE",
                "CTXHUB_RATE_LIMIT",
                "CTXHUB_SECRET_KEY",
                "CTXHUB_SESSION",
                "DJANGO_SUPERUSER_PASSWORD",
                "DJANGO_SUPERUSER_USERNAME",
            ),
            "",
        ),
    }


def _setup(project: str, environment: Mapping[str, str]) -> None:
    done = subprocess.run(  # noqa: S603
        [sys.executable, MANAGE, "setup", "--no-input", "--project", project],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise CommandError(f"setup failed:\n{done.stderr}")


@contextmanager
def _serving(environment: Mapping[str, str], log: Path) -> Iterator[subprocess.Popen[str]]:
    with log.open("w") as errors:
        server = subprocess.Popen(  # noqa: S603
            [sys.executable, MANAGE, "serve", "--port", "0"],
            env={**os.environ, **environment},
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        )
    try:
        yield server
    finally:
        server.terminate()
        try:
            server.communicate(timeout=SECONDS_TO_STOP)
        except subprocess.TimeoutExpired:
            server.kill()
            server.communicate()


def _answers(url: str, server: subprocess.Popen[str]) -> bool:
    until = time.monotonic() + SECONDS_TO_START
    while server.poll() is None and time.monotonic() < until:
        try:
            with urllib.request.urlopen(url, timeout=SECONDS_TO_START):  # noqa: S310
                return True
        except OSError:
            time.sleep(0.05)
    return False
