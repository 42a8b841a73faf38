"""The names of files in a project: relative to the top of its repository, with slashes."""

from __future__ import annotations

import os
import re

from ctxhub_client.git import find_repository

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Project:
    """The folder that a client works in, and the repository around it.

    A file belongs to the repository that it lies in, wherever the client is: to the same worktree or another
    one, and a submodule to the repository around it. Other repositories are other projects, unless the client
    was started in a folder above them.
    """

    def __init__(self, folder: str) -> None:
        self.folder = os.path.realpath(local_path(folder) or working_folder())
        self.repository = find_repository(self.folder)
        started = local_path(os.environ.get("CLAUDE_PROJECT_DIR", ""))
        self.started = os.path.realpath(started) if started else self.folder
        outer = self.repository.outermost() if self.repository else None
        self.top = outer.top if outer else self.started
        first = find_repository(self.started) if self.started != self.folder else None
        self._commons = {each.common for each in (outer, first.outermost() if first else None) if each}

    @property
    def prefix(self) -> str:
        """What names of the project begin with, of files in the repository around the folder."""
        own = self.repository.top if self.repository else self.top
        return "" if own == self.top else os.path.relpath(own, self.top).replace(os.sep, "/") + "/"

    def place(self, file: str) -> str:
        """Where a file lies, behind links."""
        return os.path.realpath(os.path.join(self.folder, local_path(file)))

    def relative(self, file: str) -> str:
        """The name of a file, of a link its own; "" if it is none of this project's."""
        file = os.path.join(self.folder, local_path(file))
        above = os.path.realpath(os.path.dirname(file))
        return path_below(self._top_of(above), os.path.join(above, os.path.basename(file)))

    def names(self, file: str) -> list[str]:
        """The names of a file in the project: first that of what is written to, then those of links to it."""
        real, written = self.place(file), os.path.normpath(os.path.join(self.folder, local_path(file)))
        found = [self.relative(real), *self._around(real)]
        if real != written:
            found += [self.relative(file), self._through_links(written)]
        return list(dict.fromkeys(name for name in found if name))

    def _top_of(self, folder: str) -> str:
        its = find_repository(folder)
        outer = its.outermost() if its else None
        if outer is None:
            return self.top
        is_below = not self._commons and path_below(self.top, outer.top) != ""
        return outer.top if is_below or outer.common in self._commons else self.top

    def _around(self, real: str) -> list[str]:
        """Its names in repositories around that of the client, which may be the project."""
        found = []
        outer = find_repository(os.path.dirname(self.top)) if self._commons else None
        while outer is not None and path_below(self.top, real):
            found.append(path_below(outer.top, real))
            above = os.path.dirname(outer.top)
            outer = find_repository(above) if above != outer.top else None
        return found

    def _through_links(self, written: str) -> str:
        """Its name as it is written, where a folder on the way is a link."""
        above = os.path.dirname(written)
        while os.path.dirname(above) != above:
            if os.path.realpath(above) == self.top:
                return path_below(above, written)
            above = os.path.dirname(above)
        return ""


def path_below(top: str, file: str, paths: Any = os.path) -> str:
    """The file as a path below a folder, with slashes; "" if it is not below it, or git's own."""
    try:
        found = paths.relpath(file, top)
    except ValueError:  # another drive of Windows
        return ""
    parts = found.replace(paths.sep, "/").split("/")
    if paths.isabs(found) or parts[0] in ("..", ".", ".git") or len("/".join(parts)) > 1_000:
        return ""
    return "/".join(parts)


def local_path(path: str) -> str:
    r"""A path as the system writes it: Git Bash on Windows writes C:\repo as /c/repo."""
    if os.name == "nt" and re.match(r"/[A-Za-z](/|$)", path):
        return "{}:{}".format(path[1], path[2:] or "/")
    return path


def working_folder() -> str:
    try:
        return os.getcwd()
    except OSError:  # it was deleted
        return os.path.expanduser("~")
