"""One run: when it began and has to end, its input, its answer, its log."""

from __future__ import annotations

import os
import time

from ctxhub_client.settings import access_token, log_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

STARTED = time.monotonic()

# Of 5 seconds: on a slow machine the start of Python, which is not counted here, takes the rest.
DEADLINE_SECONDS = 3.0


def end_at_deadline() -> None:
    time.sleep(max(0.0, remaining_seconds()))
    log("ended at the deadline")
    os._exit(0)


def remaining_seconds() -> float:
    return DEADLINE_SECONDS - (time.monotonic() - STARTED)


def leave(code: int, output: bytes) -> NoReturn:
    """Write the answer at once and end, without what could fail or wait at the end of a process."""
    try:
        while output:
            output = output[os.write(1, output) :]
    except OSError as error:
        log("stdout:", error)
    os._exit(code)


def log(*parts: object) -> None:
    """Append a line to the file that CTXHUB_DEBUG names, without the token."""
    path = log_path()
    if not path:
        return
    try:
        line = " ".join(str(part) for part in parts)
        if token := access_token():
            line = line.replace(token, "***")
        at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        took = (time.monotonic() - STARTED) * 1_000
        text = "{} {} +{:.0f}ms {}\n".format(at, os.getpid(), took, line.replace("\n", " ")[:2_000])
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            os.write(descriptor, text.encode("utf-8", "replace"))
        finally:
            os.close(descriptor)
    except (OSError, ValueError):
        return
