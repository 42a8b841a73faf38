"""Files that agents may look into: text below the folders that whoever runs the hub has named, and no other.

Every folder is opened from within the one above it, and no link is followed: what is swapped meanwhile leads
nowhere else.
"""

import os
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from django.conf import settings

from ctxhub.core.accounts.models.project import Project
from ctxhub.core.kit.errors import NotAllowed, NotFound, shown

SECONDS = 2.0
MOST_FILES = 10_000
MOST_ENTRIES = 10_000  # Of one folder.
MOST_BYTES = 2 * 1024 * 1024
DEEPEST = 50
BEGINNING = 8 * 1024  # Where a NUL tells that a file is no text.
OFTEN_LARGE = frozenset({"node_modules", "__pycache__"})


@dataclass(frozen=True, slots=True)
class Root:
    name: str
    path: Path


@dataclass(slots=True)
class Budget:
    """What one search may cost in time and files. `is_partial`: not everything was looked at."""

    ends: float = field(default_factory=lambda: time.monotonic() + SECONDS)
    files: int = field(default_factory=lambda: MOST_FILES)
    is_partial: bool = False

    def has_time(self) -> bool:
        return self._goes_on(time.monotonic() < self.ends)

    def has_file(self) -> bool:
        self.files -= 1
        return self._goes_on(self.files >= 0)

    def _goes_on(self, enough: bool) -> bool:
        self.is_partial = self.is_partial or not enough
        return enough


Wanted = Callable[[str, bool], bool]
"""Whether to read a file, or to enter a folder (True), by its path below the root."""


def roots_of(project: Project) -> list[Root]:
    """The folders that this project may search; NotAllowed where there is none."""
    found = [Root(path.name, path) for slug, path in settings.GREP_ROOTS if slug in ("", project.slug)]
    if not found or os.open not in os.supports_dir_fd:
        raise NotAllowed(
            "No folder of this project may be searched.",
            hint="Whoever runs the hub names folders in CTXHUB_GREP_ROOTS.",
        )
    return found


def read_texts(root: Root, path: str, wanted: Wanted, budget: Budget) -> Iterator[tuple[str, str]]:
    """Path and text of each file at or below `path`, in the order of their names.

    Raises NotFound for a path that is not there, is hidden or leaves the root.
    """
    parts = _real_parts(root, path)
    with _opened_chain(root, parts[:-1], path) as folder:
        if not parts:
            yield from _below(folder, "", wanted, budget, DEEPEST)
        elif (inner := _open_folder(parts[-1], folder)) is not None:
            try:
                yield from _below(inner, "/".join(parts), wanted, budget, DEEPEST)
            finally:
                os.close(inner)
        elif (text := _read(parts[-1], folder)) is not None:
            yield _spelled("/".join(parts)), text
        elif not _is_file(parts[-1], folder):
            raise _unknown(path)


# -- Where a path leads ----------------------------------------------------------------------------


def _real_parts(root: Root, path: str) -> list[str]:
    """The way from the root, without links."""
    folder = os.path.realpath(root.path)
    target = os.path.realpath(os.path.join(folder, path))
    if target != folder and not target.startswith(f"{folder}{os.sep}"):
        raise _unknown(path)
    parts = [part for part in target[len(folder) :].split(os.sep) if part]
    if any(part.startswith(".") for part in parts):
        raise _unknown(path)
    return parts


def _unknown(path: str) -> NotFound:
    return NotFound(
        f"There is no file or folder {shown(path or '.')} that may be searched.",
        hint="Leave path out to search everything that may be.",
    )


@contextmanager
def _opened_chain(root: Root, parts: list[str], path: str) -> Iterator[int]:
    """The last folder of the way, each opened from within the one before."""
    folder = _open_folder(os.path.realpath(root.path), None)
    if folder is None:
        raise NotFound(f"The folder {shown(root.name)} is not there now, or may not be read.")
    try:
        for part in parts:
            inner = _open_folder(part, folder)
            if inner is None:
                raise _unknown(path)
            os.close(folder)
            folder = inner
        yield folder
    finally:
        os.close(folder)


# -- Folders and files -----------------------------------------------------------------------------


def _below(folder: int, path: str, wanted: Wanted, budget: Budget, levels: int) -> Iterator[tuple[str, str]]:
    for name, is_folder in _entries(folder, budget):
        place = _spelled(f"{path}/{name}" if path else name)
        if not budget.has_time():
            return
        if not wanted(place, is_folder):
            continue
        if not is_folder:
            if not budget.has_file():
                return
            if (text := _read(name, folder)) is not None:
                yield place, text
        elif levels == 0:
            budget.is_partial = True
        elif (inner := _open_folder(name, folder)) is not None:
            try:
                yield from _below(inner, place, wanted, budget, levels - 1)
            finally:
                os.close(inner)


def _entries(folder: int, budget: Budget) -> list[tuple[str, bool]]:
    """Files and folders by name; no link, no device, nothing hidden."""
    try:
        with os.scandir(folder) as found:
            listed = list(islice(found, MOST_ENTRIES + 1))
            kept = [
                (entry.name, is_folder)
                for entry in listed[:MOST_ENTRIES]
                if not entry.name.startswith(".")
                and (
                    (is_folder := entry.is_dir(follow_symlinks=False)) or entry.is_file(follow_symlinks=False)
                )
                and not (is_folder and entry.name in OFTEN_LARGE)
            ]
    except OSError:
        return []
    budget.is_partial = budget.is_partial or len(listed) > MOST_ENTRIES
    return sorted(kept)


def _open_folder(name: str, within: int | None) -> int | None:
    """None for what is no folder, may not be read, or is the hub's own, which keeps its secret key."""
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        folder = os.open(name, flags, dir_fd=within)
    except (OSError, ValueError):
        return None
    if _is_own(folder):
        os.close(folder)
        return None
    return folder


def _is_own(folder: int) -> bool:
    try:
        return os.path.samestat(os.fstat(folder), os.stat(settings.VAR_DIR))
    except OSError:
        return False


def _read(name: str, folder: int) -> str | None:
    """The text of a file; None for what is none, is too large or may not be read. Never waits for a pipe."""
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
    try:
        with open(os.open(name, flags, dir_fd=folder), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                return None
            content = file.read(MOST_BYTES + 1)
    except (OSError, ValueError):
        return None
    if len(content) > MOST_BYTES or b"\0" in content[:BEGINNING]:
        return None
    return content.decode("utf-8", "replace").removeprefix("\ufeff")


def _is_file(name: str, folder: int) -> bool:
    try:
        return stat.S_ISREG(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)
    except (OSError, ValueError):
        return False


def _spelled(path: str) -> str:
    """As an answer can hold it: names are bytes, and some are no UTF-8."""
    return os.fsencode(path).decode("utf-8", "replace")
