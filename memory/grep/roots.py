"""Reads the text files that agents may search: those below the folders that the operator has configured.

Each folder is opened relative to its parent's descriptor, and no link is followed, so a folder swapped during
the search cannot lead outside the root.
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

from ctxhub.core.accounts.models import Project
from ctxhub.core.kit.errors import NotAllowed, NotFound, shown
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.progress import tell_progress

SECONDS = 2.0
MOST_FILES = 10_000
MOST_ENTRIES = 10_000  # In one folder.
MOST_BYTES = 2 * 1024 * 1024
DEEPEST = 50
BEGINNING = 8 * 1024  # A NUL byte in here marks a binary file.
OFTEN_LARGE = frozenset({"node_modules", "__pycache__"})


@frozen
class Root:
    name: str
    path: Path


@dataclass(slots=True)
class Budget:
    """Limits the time and the number of files of one search. `is_partial`: the search was incomplete."""

    ends: float = field(default_factory=lambda: time.monotonic() + SECONDS)
    files: int = field(default_factory=lambda: MOST_FILES)
    is_partial: bool = False

    def has_time(self) -> bool:
        return self._note(time.monotonic() < self.ends)

    def has_file(self) -> bool:
        self.files -= 1
        if has_one := self._note(self.files >= 0):
            tell_progress(MOST_FILES - self.files, None, "files")
        return has_one

    def _note(self, is_within: bool) -> bool:
        self.is_partial = self.is_partial or not is_within
        return is_within


PathFilter = Callable[[str, bool], bool]
"""Takes a path below the root and whether it is a folder; returns whether to read or enter it."""


def roots_of(project: Project) -> list[Root]:
    """The folders that this project may search. Raises NotAllowed if there is none."""
    found = [Root(path.name, path) for slug, path in settings.GREP_ROOTS if slug in ("", project.slug)]
    if not found or os.open not in os.supports_dir_fd:
        raise NotAllowed(
            "No folder of this project may be searched.",
            hint="Whoever runs the hub names folders in CTXHUB_GREP_ROOTS.",
        )
    return found


def read_texts(root: Root, path: str, accepts: PathFilter, budget: Budget) -> Iterator[tuple[str, str]]:
    """Yield path and text of each file at or below `path`, in the order of their names.

    Raises NotFound for a path that does not exist, is hidden or leaves the root.
    """
    parts = _real_parts(root, path)
    with _opened_chain(root, parts[:-1], path) as folder:
        if not parts:
            yield from _below(folder, "", accepts, budget, DEEPEST)
        elif (inner := _open_folder(parts[-1], folder)) is not None:
            try:
                yield from _below(inner, "/".join(parts), accepts, budget, DEEPEST)
            finally:
                os.close(inner)
        elif (text := _read(parts[-1], folder)) is not None:
            yield _decoded("/".join(parts)), text
        elif not _is_file(parts[-1], folder):
            raise _unknown(path)


# -- Resolving a path ------------------------------------------------------------------------------


def _real_parts(root: Root, path: str) -> list[str]:
    """The parts of the real path below the root, with links resolved. Raises NotFound outside the root."""
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
    """A descriptor of the folder at the end of `parts`, each part opened relative to the one before."""
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


def _below(
    folder: int, path: str, accepts: PathFilter, budget: Budget, levels: int
) -> Iterator[tuple[str, str]]:
    for name, is_folder in _entries(folder, budget):
        child = _decoded(f"{path}/{name}" if path else name)
        if not budget.has_time():
            return
        if not accepts(child, is_folder):
            continue
        if not is_folder:
            if not budget.has_file():
                return
            if (text := _read(name, folder)) is not None:
                yield child, text
        elif levels == 0:
            budget.is_partial = True
        elif (inner := _open_folder(name, folder)) is not None:
            try:
                yield from _below(inner, child, accepts, budget, levels - 1)
            finally:
                os.close(inner)


def _entries(folder: int, budget: Budget) -> list[tuple[str, bool]]:
    """Sorted names of files and folders, each with whether it is a folder; no links, devices or dot names."""
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
    """A descriptor. None: not a folder, not readable, or the server's own, which holds the secret key."""
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
    """The text of a file, or None if it is binary, too large or unreadable. Does not block on a pipe."""
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


def _decoded(path: str) -> str:
    """The path as valid UTF-8: file names are bytes, and some are not UTF-8."""
    return os.fsencode(path).decode("utf-8", "replace")
