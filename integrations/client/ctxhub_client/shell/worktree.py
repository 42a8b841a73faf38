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
# With changes in them; each needs a run of git.
MOST_SUBMODULES = 5
# What git has begun and not ended, as it notes it.
AT_WORK = ("MERGE_HEAD", "rebase-merge", "rebase-apply", "CHERRY_PICK_HEAD", "REVERT_HEAD")


class Worktree:
    """How it was at one moment.

    `files`: those that differ from the last commit, each with its size and the times of its content and its
    inode in nanoseconds; None for one that is deleted. `new`: those of them that no commit has. `is_reused`:
    they are from an earlier moment than `at`.
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
        is_reused: bool = False,
    ) -> None:
        self.at = at
        self.head = head
        self.stash = stash
        self.reflog = reflog
        self.at_work = at_work
        self.files = files
        self.new = new
        self.is_reused = is_reused

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
            bool(values.get("is_reused")),
        )

    def reused(self, repository: Repository) -> Worktree | None:
        """The same files as those of now, without asking git; None if git has moved something since."""
        now = size_of(reflog_of(repository)), stash_of(repository), at_work(repository)
        if not self.reflog or now != (self.reflog, self.stash, self.at_work):
            return None
        return Worktree(
            time.time(), self.head, self.stash, self.reflog, self.at_work, self.files, self.new, True
        )


class Status:
    """What `git status` lists: HEAD, the files that differ, and those that are new.

    `submodules`: the folders of those with changes in them. Repositories in the tree that are no submodules
    are listed as one name that ends with a slash, and left out.
    """

    def __init__(self) -> None:
        self.head = ""
        self.files: list[str] = []
        self.new: list[str] = []
        self.submodules: list[str] = []


def look_at(repository: Repository) -> Worktree | None:
    """None if git does not answer in time."""
    began, at = time.monotonic(), time.time()
    stash, reflog = stash_of(repository), size_of(reflog_of(repository))
    status = status_of(repository.top)
    if status is not None:
        add_submodules(repository.top, status)
    log("git status took {:.0f} ms".format((time.monotonic() - began) * 1_000))
    if status is None:
        return None
    return Worktree(
        at,
        status.head or "none",
        stash,
        reflog,
        at_work(repository),
        {path: stat_of(os.path.join(repository.top, path)) for path in status.files},
        status.new,
    )


def status_of(top: str) -> Status | None:
    options = ("--porcelain=v2", "-z", "-uall", "--branch", "--no-renames")
    told = run_git(top, "status", *options)
    return None if told is None else read_status(told)


def add_submodules(top: str, status: Status) -> None:
    """The files in submodules, and in theirs."""
    waiting = status.submodules[:MOST_SUBMODULES]
    for path in waiting:
        inner = status_of(os.path.join(top, path))
        if inner is None:
            continue
        status.files += ["{}/{}".format(path, file) for file in inner.files]
        status.new += ["{}/{}".format(path, file) for file in inner.new]
        found = ["{}/{}".format(path, folder) for folder in inner.submodules]
        waiting += found[: MOST_SUBMODULES - len(waiting)]


def read_status(told: bytes) -> Status:
    status = Status()
    for entry in told.split(b"\0"):
        kind, _, rest = os.fsdecode(entry).partition(" ")
        if kind == "#":
            name, _, value = rest.partition(" ")
            if name == "branch.oid":
                status.head = value
        elif kind == "?" and not rest.endswith("/"):
            status.files.append(rest)
            status.new.append(rest)
        elif kind in ("1", "u"):
            # XY sub mH mI mW hH hI path; of a conflict XY sub m1 m2 m3 mW h1 h2 h3 path.
            fields = rest.split(" ", 7 if kind == "1" else 9)
            path = fields[-1]
            if fields[1].startswith("S"):
                # S and marks for another commit, changed files and new ones in it.
                if "M" in fields[1] or "U" in fields[1]:
                    status.submodules.append(path)
                continue
            status.files.append(path)
            if rest.startswith("A"):
                status.new.append(path)
    return status


def stat_of(file: str) -> list[int] | None:
    try:
        found = os.lstat(file)
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


def stash_of(repository: Repository) -> str:
    """A text that differs when something was stashed, or taken back."""
    found = stat_of(os.path.join(repository.common, "logs", "refs", "stash"))
    return repr(found[:2]) if found else ""


def at_work(repository: Repository) -> list[str]:
    return [name for name in AT_WORK if os.path.exists(os.path.join(repository.git, name))]


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
