"""Each state of a file is recorded once, by whichever window on this machine is the first to see it."""

from __future__ import annotations

import os
import time

from ctxhub_client.process import log
from ctxhub_client.shell.worktree import stat_of
from ctxhub_client.store import Store, digest

TYPE_CHECKING = False

KEPT_SECONDS = 86_400


def claim(files: list[str], since: float) -> list[str]:
    """Those of the files, each with its whole path, whose present state nobody has recorded; now they are.

    `since`: when they were seen before, in seconds. What was deleted has no state but that it is gone: what
    somebody has recorded as deleted since then, and not as there again, is the same deletion.
    """
    folder = os.path.join(Store().folder, "written")
    try:
        os.makedirs(folder, 0o700, exist_ok=True)
    except OSError as error:
        log("claims:", error)
        return files
    return [file for file in files if is_first(folder, file, since)]


def is_first(folder: str, file: str, since: float) -> bool:
    state = stat_of(file)
    deleted = os.path.join(folder, digest(file, "deleted"))
    mark = os.path.join(folder, digest(file, repr(state[:2]))) if state else deleted
    try:
        if state and os.path.exists(deleted):
            os.unlink(deleted)
        os.close(os.open(mark, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    except FileExistsError:
        return state is None and is_older(mark, since)
    except OSError as error:
        log("claims:", error)
    return True


def is_older(mark: str, since: float) -> bool:
    """Whether a mark was set before; it is set anew then."""
    try:
        if os.stat(mark).st_mtime >= since:
            return False
        os.utime(mark)
    except OSError as error:
        log("claims:", error)
    return True


def forget_old() -> None:
    folder = os.path.join(Store().folder, "written")
    oldest = time.time() - KEPT_SECONDS
    try:
        for entry in os.scandir(folder):
            if entry.stat().st_mtime < oldest:
                os.unlink(entry.path)
    except OSError:
        return
