"""Reads a repository at one commit, through git: bare or with a work tree."""

import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

MARK, FIELD = "\x1e", "\x1f"
LINK = "120000"
SUBMODULE = "160000"


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit's message, the paths that it touches, and those of them that it adds."""

    hash: str
    subject: str
    body: str
    touched: tuple[str, ...]
    added: frozenset[str]

    @property
    def message(self) -> str:
        return f"{self.subject}\n\n{self.body}"


@dataclass(frozen=True)
class Repository:
    """`folder`: a git directory, or a work tree with one."""

    folder: Path
    commit: str = "HEAD"

    @cached_property
    def files(self) -> frozenset[str]:
        """The paths of all files; no symbolic links."""
        lines = self._run("ls-tree", "-r", "-z", self.commit).split("\0")
        entries = (line.partition("\t") for line in lines if line)
        return frozenset(path for kind, _, path in entries if kind.split()[0] not in {LINK, SUBMODULE})

    @cached_property
    def folders(self) -> frozenset[str]:
        found: set[str] = set()
        for path in self.files:
            while "/" in path:
                path = path.rpartition("/")[0]
                found.add(path)
        return frozenset(found)

    def read(self, path: str) -> str:
        return self._run("cat-file", "blob", f"{self.commit}:{path}")

    def commits(self, pattern: str) -> list[Commit]:
        """Those whose message has the pattern (extended, any case), newest first; no merges."""
        return self._log("-i", "-E", f"--grep={pattern}")

    def newest(self, count: int) -> list[Commit]:
        """The newest commits; no merges."""
        return self._log(f"--max-count={count}")

    def _log(self, *chosen: str) -> list[Commit]:
        shape = ("--no-merges", "--raw", "--no-renames", f"--format={MARK}%H{FIELD}%s{FIELD}%b{FIELD}")
        log = self._run("log", *shape, *chosen, self.commit)
        return [_commit(text) for text in log.split(MARK)[1:]]

    def resolved(self) -> str:
        return self._run("rev-parse", f"{self.commit}^{{commit}}").strip()

    def has_commit(self) -> bool:
        return self._start("cat-file", "-e", f"{self.commit}^{{commit}}").returncode == 0

    def _run(self, *arguments: str) -> str:
        done = self._start(*arguments)
        if done.returncode:
            raise SystemExit(f"git {arguments[0]} in {self.folder}: {done.stderr.decode(errors='replace')}")
        return done.stdout.decode(errors="replace")

    def _start(self, *arguments: str) -> "subprocess.CompletedProcess[bytes]":
        inner = self.folder / ".git"
        folder = inner if inner.is_dir() else self.folder
        command: Sequence[str] = ["git", f"--git-dir={folder}", "-c", "core.quotePath=false", *arguments]
        return subprocess.run(command, capture_output=True, check=False)


def _commit(text: str) -> Commit:
    digest, subject, body, changes = text.split(FIELD)
    touched = dict(_changes(changes))
    added = frozenset(path for path, status in touched.items() if status == "A")
    return Commit(digest, subject.strip(), body.strip(), tuple(sorted(touched)), added)


def _changes(lines: str) -> Iterator[tuple[str, str]]:
    """Each path and its status: A, M, D or T."""
    for line in lines.splitlines():
        if line.startswith(":"):
            fields, _, path = line.partition("\t")
            yield path, fields.split()[-1][:1]
