"""The bridge as a process of its own, and its client's ends of the pipes."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.conf import settings

from tests.hub import LiveHub
from tests.integrations.hook import PACKAGE, PYTHON
from tests.stdio import StdioClient

COMMAND = [PYTHON, "-IS", str(PACKAGE), "mcp"]


@contextmanager
def bridge(hub: LiveHub, token: str, folder: str | Path = "/", **variables: str) -> Iterator[StdioClient]:
    environment = {"CTXHUB_URL": hub.url, "CTXHUB_TOKEN": token, "HOME": str(settings.VAR_DIR), **variables}
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(COMMAND, env=environment, cwd=folder, **pipes) as process:
        try:
            yield StdioClient(process)
        finally:
            process.kill()
