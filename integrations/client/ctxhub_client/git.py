"""Repositories of git, found without starting it."""

from __future__ import annotations

import os


class Repository:
    """A git repository or worktree: its folder, and the git folder that its worktrees share."""

    def __init__(self, top: str, git: str) -> None:
        self.top = top
        self.git = git
        self.common = os.path.realpath(os.path.join(git, first_line(os.path.join(git, "commondir")) or "."))

    def superproject(self) -> Repository | None:
        """The repository that this one is a submodule of, as its .gitmodules says."""
        outer = find_repository(os.path.dirname(self.top))
        if outer is None or outer.top == self.top:
            return None
        path = os.path.relpath(self.top, outer.top).replace(os.sep, "/")
        try:
            with open(os.path.join(outer.top, ".gitmodules"), "rb") as listed:
                lines = os.fsdecode(listed.read(1_000_000)).splitlines()
        except OSError:
            return None
        return outer if path in [line.partition("=")[2].strip().strip('"') for line in lines] else None

    def outermost(self) -> Repository:
        """The repository itself, or the one around it of which it is a submodule."""
        outer = self.superproject()
        return outer.outermost() if outer else self

    @property
    def branch(self) -> str:
        """The name of the branch; of a detached HEAD the beginning of its hash."""
        head = first_line(os.path.join(self.git, "HEAD"))
        if head.startswith("ref:"):
            name = head[4:].strip()
            return name[len("refs/heads/") :] if name.startswith("refs/heads/") else name
        return head[:12]


def first_line(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.readline(4_096).strip()
    except OSError:
        return ""


def find_repository(folder: str) -> Repository | None:
    """What `git rev-parse --show-toplevel` says of a folder, without starting git."""
    folder = os.path.realpath(folder)
    while True:
        git = os.path.join(folder, ".git")
        if os.path.isfile(os.path.join(git, "HEAD")):
            return Repository(folder, git)
        pointer = first_line(git) if os.path.isfile(git) else ""
        if pointer.startswith("gitdir:"):
            return Repository(folder, os.path.join(folder, pointer[len("gitdir:") :].strip()))
        above = os.path.dirname(folder)
        if above == folder:
            return None
        folder = above


def run_git(*arguments: str) -> bytes:
    import subprocess

    done = subprocess.run(
        ["git", *arguments], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=3, check=False
    )
    return done.stdout if done.returncode == 0 else b""
