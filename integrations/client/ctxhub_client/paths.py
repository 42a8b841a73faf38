"""The names of files in a project: relative to the top of its repository, with slashes."""

from __future__ import annotations

import os
import re

from ctxhub_client.git import find_repository

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Project:
    """The folder that a client works in, and the repository around it."""

    def __init__(self, folder: str) -> None:
        self.folder = os.path.realpath(local_path(folder) or working_folder())
        self.repository = find_repository(self.folder)

    def relative(self, file: str) -> str:
        """The path of a file in its repository, with slashes; "" if it is none of this project's."""
        file = os.path.join(self.folder, local_path(file))
        above = os.path.realpath(os.path.dirname(file))
        return path_below(self._top_of(above), os.path.join(above, os.path.basename(file)))

    def _top_of(self, folder: str) -> str:
        """The top of the repository; of its worktree if the folder is in one."""
        if self.repository is None:
            return os.path.realpath(local_path(os.environ.get("CLAUDE_PROJECT_DIR", "")) or self.folder)
        its = find_repository(folder)
        return its.top if its and its.common == self.repository.common else self.repository.top


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
