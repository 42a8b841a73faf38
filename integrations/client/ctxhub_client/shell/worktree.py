"""The files of a worktree that differ from its last commit, and where HEAD and the stash stand."""

from __future__ import annotations

import os
import time

from ctxhub_client.process import log
from ctxhub_client.values import dict_of, number_of, text_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ctxhub_client.git import Repository
    from ctxhub_client.values import Json

GIT_SECONDS = 1.2
# What git has begun and not ended, as it notes it.
AT_WORK = ("MERGE_HEAD", "rebase-merge", "rebase-apply", "CHERRY_PICK_HEAD", "REVERT_HEAD")


class Worktree:
    """How it was at one moment.

    `files`: those that differ from the last commit, each with its size and the times of its content and its
    inode in nanoseconds; None for one that is deleted. `new`: those of them that no commit has.
    """

    def __init__(
        self,
        at: float,
        head: str,
        stash: str,
        reflog: int,
        at_work: list[str],
        files: dict[str, list[int] | None],
        new: list[str],
    ) -> None:
        self.at = at
        self.head = head
        self.stash = stash
        self.reflog = reflog
        self.at_work = at_work
        self.files = files
        self.new = new

    @property
    def values(self) -> Json:
        return dict(vars(self))

    @classmethod
    def of_values(cls, values: Json) -> Worktree | None:
        """What `values` gave; None if it is none."""
        files = dict_of(values, "files")
        if not text_of(values, "head"):
            return None
        return cls(
            number_of(values, "at"),
            text_of(values, "head"),
            text_of(values, "stash"),
            int(number_of(values, "reflog")),
            list(values.get("at_work") or ()),
            {path: stat for path, stat in files.items() if stat is None or isinstance(stat, list)},
            list(values.get("new") or ()),
        )


def look_at(repository: Repository) -> Worktree | None:
    """None if git does not answer in time."""
    began, at = time.monotonic(), time.time()
    status = run_git(
        repository.top, "status", "--porcelain=v2", "-z", "-uall", "--branch", "--show-stash", "--no-renames"
    )
    log("git status took {:.0f} ms".format((time.monotonic() - began) * 1_000))
    if status is None:
        return None
    head, stash, paths, new = read_status(status)
    return Worktree(
        at,
        head or "none",
        stash,
        size_of(reflog_of(repository)),
        [name for name in AT_WORK if os.path.exists(os.path.join(repository.git, name))],
        {path: stat_of(repository.top, path) for path in paths},
        new,
    )


def read_status(status: bytes) -> tuple[str, str, list[str], list[str]]:
    """HEAD, number of stashes, the paths that differ, and those that are new, of `git status`."""
    head = stash = ""
    paths: list[str] = []
    new: list[str] = []
    for entry in status.split(b"\0"):
        kind, _, rest = os.fsdecode(entry).partition(" ")
        if kind == "#":
            name, _, value = rest.partition(" ")
            head, stash = (
                (value, stash) if name == "branch.oid" else (head, value if name == "stash" else stash)
            )
        elif kind == "?":
            paths.append(rest)
            new.append(rest)
        elif kind in ("1", "u"):
            # XY sub mH mI mW hH hI path; of a conflict XY sub m1 m2 m3 mW h1 h2 h3 path.
            path = rest.split(" ", 7 if kind == "1" else 9)[-1]
            paths.append(path)
            if rest.startswith("A"):
                new.append(path)
    return head, stash, paths, new


def stat_of(top: str, path: str) -> list[int] | None:
    try:
        found = os.lstat(os.path.join(top, path))
    except OSError:
        return None
    return [found.st_size, found.st_mtime_ns, found.st_ctime_ns]


def was_committed(repository: Repository, before: Worktree) -> bool:
    """Whether HEAD has moved by commits of this worktree alone: not by a checkout, a pull, a rebase."""
    try:
        with open(reflog_of(repository), "rb") as file:
            file.seek(before.reflog)
            entries = file.read(100_000).decode("utf-8", "replace").splitlines()
    except OSError:
        return False
    acts = [entry.partition("\t")[2] for entry in entries]
    return bool(acts) and all(act.startswith("commit") for act in acts)


def committed_files(repository: Repository, before: Worktree, head: str) -> dict[str, bool]:
    """What the commits since then contain, and whether it is new."""
    first = before.head if before.head not in ("none", "(initial)") else EMPTY_TREE
    found = run_git(repository.top, "diff", "--name-status", "-z", "--no-renames", first, head)
    entries = [os.fsdecode(entry) for entry in (found or b"").split(b"\0")]
    return {path: letter == "A" for letter, path in zip(entries[::2], entries[1::2])}


# The tree without files, which every repository knows.
EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"


def reflog_of(repository: Repository) -> str:
    return os.path.join(repository.git, "logs", "HEAD")


def size_of(path: str) -> int:
    try:
        return os.path.getsize(path)
    except OSError:
        return 0


def run_git(folder: str, *arguments: str) -> bytes | None:
    """What git prints; None if it fails or is slow. It takes no lock that a command beside it may want."""
    import subprocess

    try:
        done = subprocess.run(
            ["git", "-C", folder, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=dict(os.environ, GIT_OPTIONAL_LOCKS="0"),
            timeout=GIT_SECONDS,
            check=False,
        )
    except (OSError, subprocess.SubprocessError) as error:
        log("git", arguments[0], error)
        return None
    return done.stdout if done.returncode == 0 else None
