"""Runs the client as its callers do: a process of its own with JSON on stdin, in a repository of its own."""

import atexit
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from ctxhub_client.hooks.commands import SLOW_SECONDS
from ctxhub_client.hub import SILENCE_SECONDS
from ctxhub_client.process import DEADLINE_SECONDS
from ctxhub_client.shell.worktree import GIT_SECONDS

from ctxhub.connect.archive import FOLDER, NAME, build_archive, client_archive
from tests.timing import PATIENCE_SECONDS

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = FOLDER
# The path at which the program was a single file.
STUB = ROOT / "integrations" / "ctxhub_hook.py"
INPUTS = Path(__file__).parent / "inputs"
EVENTS = sorted(path.stem for path in INPUTS.glob("*.json"))
TOKEN = "secret-token-of-ada"
# HOOK_PYTHON=python3.8 runs the hooks with another Python than that of the tests.
PYTHON = os.environ.get("HOOK_PYTHON") or sys.executable
# The environment of the tests is not that of a client.
INHERITED = ("PATH", "SYSTEMROOT", "TMPDIR", "LANG")


@dataclass(frozen=True)
class Limits:
    """How long a hook runs at most, waits for the hub, and for git. It gives up silently then."""

    deadline_seconds: float
    silence_seconds: float
    git_seconds: float = GIT_SECONDS
    slow_seconds: float = SLOW_SECONDS

    def put_into(self, package: Path) -> None:
        for module, name, seconds in (
            ("process", "DEADLINE_SECONDS", self.deadline_seconds),
            ("hub", "SILENCE_SECONDS", self.silence_seconds),
            ("shell/worktree", "GIT_SECONDS", self.git_seconds),
            ("hooks/commands", "SLOW_SECONDS", self.slow_seconds),
        ):
            file = package / f"{module}.py"
            source, found = re.subn(rf"(?m)^({name}) = .*$", rf"\1 = {seconds}", file.read_text())
            assert found == 1, name
            file.write_text(source)


# On a busy machine a hook needs longer than it has: only tests of its limits keep them.
PATIENT = Limits(*[2 * PATIENCE_SECONDS] * 4)
AS_SHIPPED = Limits(DEADLINE_SECONDS, SILENCE_SECONDS)
# Notices a silence long before its deadline.
QUICKLY_TIRED = Limits(2 * PATIENCE_SECONDS, 0.5)


@dataclass(frozen=True)
class Run:
    code: int
    out: str
    err: str
    cpu_seconds: float = field(default=0.0, compare=False)

    @property
    def answer(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.out)
        return found

    @property
    def context(self) -> str:
        """The text for the model."""
        found: str = self.answer["hookSpecificOutput"]["additionalContext"]
        return found


SILENT = Run(0, "", "")


@dataclass
class Workplace:
    """A repository and a home, both empty, and the variables that its hooks see."""

    folder: Path
    variables: dict[str, str] = field(default_factory=dict)
    limits: Limits = PATIENT

    def __post_init__(self) -> None:
        for path in (self.repository, self.folder / "home"):
            path.mkdir(parents=True, exist_ok=True)

    @property
    def repository(self) -> Path:
        return self.folder / "a repository"

    @property
    def environment(self) -> dict[str, str]:
        inherited = {name: os.environ[name] for name in INHERITED if name in os.environ}
        own = {"HOME": str(self.folder / "home"), "XDG_CACHE_HOME": str(self.folder / "cache")}
        return {**inherited, **own, "CTXHUB_TOKEN": TOKEN, **self.variables}

    def git(self, *arguments: str, at: Path | None = None) -> str:
        identity = ("-c", "user.name=Ada", "-c", "user.email=ada@example.com")
        done = subprocess.run(
            ["git", *identity, *arguments],
            cwd=at or self.repository,
            env=self.environment,
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout.strip()

    def write(self, path: str, text: str = "text\n") -> Path:
        file = self.repository / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return file

    def with_submodule(self) -> Path:
        """The repository has one with a file, `vendor/sub/src/s.py`; returns its folder."""
        self.write("vendor/sub/src/s.py")
        self.write(".gitmodules", '[submodule "vendor/sub"]\n\tpath = vendor/sub\n\turl = ../sub\n')
        inner = self.repository / "vendor" / "sub"
        self.git("init", "-q", at=inner)
        return inner

    def input(self, event: str, **changes: Any) -> bytes:
        """A recorded input, as if it had been recorded here."""
        text = (INPUTS / f"{event}.json").read_text()
        text = text.replace("-REPOSITORY", "-repository").replace("REPOSITORY", str(self.repository))
        return json.dumps({**json.loads(text), "transcript_path": str(self.transcript), **changes}).encode()

    @property
    def transcript(self) -> Path:
        path = self.folder / "transcript.jsonl"
        if not path.exists():
            path.write_text((INPUTS / "transcript.jsonl").read_text())
        return path

    def event(self, event: str, client: str = "claude", **changes: Any) -> Run:
        return self.run("hook", client, stdin=self.input(event, **changes))

    def run(self, *arguments: str, stdin: bytes = b"", script: Path | None = None) -> Run:
        return finished(self.start(*arguments, script=script), stdin)

    def start(self, *arguments: str, script: Path | None = None) -> "Started":
        process = subprocess.Popen(
            [PYTHON, "-IS", str(script or program(PYTHON, self.limits)), *arguments],
            cwd=self.repository,
            env=self.environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        return Started(process, _cpu_seconds_of_children())


@dataclass
class Started:
    process: "subprocess.Popen[bytes]"
    cpu_seconds_before: float


def older_python(version: str) -> str | None:
    """Python 3.8, say, where it is installed."""
    installed = [
        *Path.home().glob(f".pyenv/versions/{version}.*/bin/python"),
        shutil.which(f"python{version}"),
    ]
    return next((str(found) for found in installed if found), None)


@cache
def program(python: str, limits: Limits) -> Path:
    """A copy of the client with these limits, and with bytecode."""
    folder = Path(tempfile.mkdtemp(prefix="ctxhub-client-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    package = folder / PACKAGE.name
    copy_package(package)
    limits.put_into(package)
    subprocess.run([python, "-m", "compileall", "-q", str(package)], check=True)
    return package / "__main__.py"


def copy_package(to: Path) -> None:
    shutil.copytree(PACKAGE, to, ignore=shutil.ignore_patterns("__pycache__"))


def put_archive(folder: Path, limits: Limits = AS_SHIPPED) -> Path:
    """The client as a hub serves it, or with other limits: for tests that ask a hub."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / NAME
    built = client_archive()
    if limits != AS_SHIPPED:
        built = build_archive(program(PYTHON, limits).parent)
    file.write_bytes(built.content)
    return file


def finished(started: Started, stdin: bytes = b"") -> Run:
    out, err = started.process.communicate(stdin, timeout=PATIENCE_SECONDS)
    cpu_seconds = _cpu_seconds_of_children() - started.cpu_seconds_before
    return Run(started.process.returncode, out.decode(), err.decode(), cpu_seconds)


def _cpu_seconds_of_children() -> float:
    """Of all children of this process that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def is_silent(run: Run) -> bool:
    return (run.code, run.out, run.err) == (0, "", "")
