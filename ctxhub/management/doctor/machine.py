"""The machine: Python, rights of the hub's files, space on the disk, folders that agents search."""

import os
import shutil
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

from django.conf import settings

from ctxhub.health import FREE_BYTES
from ctxhub.management.doctor.findings import PROBLEM, UNKNOWN, WARNING, Finding, ok

OLDEST, TOO_NEW = (3, 11), (3, 15)
OTHERS, WRITING_OTHERS = 0o077, 0o022
PRIVATE = ("secret_key", "setup_token")
LOW_BYTES = 1024**3


def check_python() -> Iterator[Finding]:
    if not OLDEST <= sys.version_info[:2] < TOO_NEW:
        text = f"Python {sys.version.split()[0]} is none that this version is tested with"
        yield Finding(WARNING, text, "Make .venv with Python 3.11 to 3.14: make setup PYTHON=python3.13")
    else:
        yield ok(f"Python {sys.version.split()[0]}")


def database_file() -> Path | None:
    """Of SQLite."""
    database = settings.DATABASES["default"]
    return Path(database["NAME"]) if database["ENGINE"].endswith("sqlite3") else None


def check_rights() -> Iterator[Finding]:
    """Secrets and the database are their owner's; nobody else puts files beside them."""
    if os.name == "nt":
        yield Finding(UNKNOWN, "rights of files are not read on Windows", "Look at them in the Explorer.")
        return
    files = private_files()
    folders = {Path(settings.VAR_DIR), *(file.parent for file in files)}
    found = [*_of_folders(sorted(folders)), *_of_files(files)]
    yield from found or [ok(f"{len(files)} files of the hub are readable by their owner alone")]


def private_files() -> list[Path]:
    files = [Path(settings.VAR_DIR) / name for name in PRIVATE]
    if database := database_file():
        files += [database.with_name(database.name + ending) for ending in ("", "-wal", "-shm")]
    return [file for file in files if file.is_file()]


def _of_folders(folders: list[Path]) -> Iterator[Finding]:
    for folder in folders:
        if not folder.is_dir():
            yield Finding(PROBLEM, f"there is no folder {folder}", "manage.py setup makes it.")
        elif not os.access(folder, os.W_OK | os.X_OK):
            yield Finding(PROBLEM, f"{folder} cannot be written by this user", f"chown $USER {folder}")
        elif (mode := _mode(folder)) & WRITING_OTHERS and not mode & stat.S_ISVTX:
            yield Finding(PROBLEM, f"{folder} can be written by others", f"chmod go-w {folder}")


def _of_files(files: list[Path]) -> Iterator[Finding]:
    for file in files:
        if _mode(file) & OTHERS:
            yield Finding(PROBLEM, f"{file} can be read by others", f"chmod 600 {file}")
        elif not os.access(file, os.R_OK | os.W_OK):
            yield Finding(PROBLEM, f"{file} cannot be written by this user", f"chown $USER {file}")


def _mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def check_disk() -> Iterator[Finding]:
    database = database_file()
    folder = database.parent if database else Path(settings.VAR_DIR)
    free = shutil.disk_usage(folder).free
    text = f"{free / 1024**2:,.0f} MiB are free at {folder}"
    fix = "Free space: move old backups elsewhere; `manage.py cleanup --vacuum` returns what was deleted."
    if free < FREE_BYTES:
        yield Finding(PROBLEM, f"{text}: nothing can be written", fix)
    elif free < LOW_BYTES:
        yield Finding(WARNING, text, fix)
    else:
        yield ok(text)


def check_grep_roots() -> Iterator[Finding]:
    """Agents read what is below these folders: secrets of the hub must not be."""
    kept = Path(settings.VAR_DIR).resolve()
    for _, root in settings.GREP_ROOTS:
        if kept.is_relative_to(root.resolve()):
            text = f"agents may search {root}, below which the hub keeps its secret key"
            yield Finding(PROBLEM, text, "Name folders of code alone in CTXHUB_GREP_ROOTS.")
        elif not os.access(root, os.R_OK | os.X_OK):
            text = f"{root} of CTXHUB_GREP_ROOTS cannot be read by this user"
            yield Finding(PROBLEM, text, f"chmod o+rx {root}, or leave it out.")
        else:
            yield ok(f"agents may search {root}")
    if not settings.GREP_ROOTS:
        yield ok("agents may search no folders")
