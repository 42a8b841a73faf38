"""Each state of a file is recorded once, by whichever window on this machine is the first to see it."""

from __future__ import annotations

import os
import time

from ctxhub_client.process import log
from ctxhub_client.shell.worktree import stat_of
from ctxhub_client.store import Store, digest

TYPE_CHECKING = False

KEPT_SECONDS = 86_400


def claim(files: list[str]) -> list[str]:
    """Those of the files, each with its whole path, whose present state nobody has recorded; now they are."""
    folder = os.path.join(Store().folder, "written")
    try:
        os.makedirs(folder, 0o700, exist_ok=True)
    except OSError as error:
        log("claims:", error)
        return files
    return [file for file in files if is_first(os.path.join(folder, state_mark(file)))]


def state_mark(file: str) -> str:
    state = stat_of(file)
    # When something was deleted stands in no file: once within a moment.
    return digest(file, repr(state[:2]) if state else "deleted {:.0f}".format(time.time() / 10))


def is_first(path: str) -> bool:
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    except FileExistsError:
        return False
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
