"""Runs the hook as a client does: a process of its own with JSON on stdin, in a repository of its own."""

import atexit
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
HOOK = ROOT / "integrations" / "ctxhub_hook.py"
INPUTS = Path(__file__).parent / "inputs"
EVENTS = sorted(path.stem for path in INPUTS.glob("*.json"))
TOKEN = "secret-token-of-ada"
# HOOK_PYTHON=python3.8 runs the hooks with another Python than that of the tests.
PYTHON = os.environ.get("HOOK_PYTHON") or sys.executable
# The environment of the tests is not that of a client.
INHERITED = ("PATH", "SYSTEMROOT", "TMPDIR", "LANG")


@dataclass(frozen=True)
class Run:
    code: int
    out: str
    err: str
    seconds: float

    @property
    def answer(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.out)
        return found

    @property
    def context(self) -> str:
        """The text for the model."""
        found: str = self.answer["hookSpecificOutput"]["additionalContext"]
        return found


SILENT = Run(0, "", "", 0.0)


@dataclass
class Workplace:
    """A repository and a home, both empty, and the variables that its hooks see."""

    folder: Path
    variables: dict[str, str] = field(default_factory=dict)

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

    def event(self, event: str, *arguments: str, **changes: Any) -> Run:
        return self.run(*arguments, stdin=self.input(event, **changes))

    def run(self, *arguments: str, stdin: bytes = b"", script: Path | None = None) -> Run:
        return finished(self.start(*arguments, script=script), stdin)

    def start(self, *arguments: str, script: Path | None = None) -> "Started":
        process = subprocess.Popen(
            [PYTHON, "-IS", str(script or compiled_hook(PYTHON)), *arguments],
            cwd=self.repository,
            env=self.environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        return Started(process, time.monotonic())


@dataclass
class Started:
    process: "subprocess.Popen[bytes]"
    at: float


@cache
def compiled_hook(python: str) -> Path:
    """The hook as bytecode: Python compiles a script each time, which took a third of a run."""
    folder = tempfile.mkdtemp(prefix="ctxhub-hook-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    compiled = Path(folder, "ctxhub_hook.pyc")
    compile_file = "import py_compile, sys; py_compile.compile(sys.argv[1], cfile=sys.argv[2], doraise=True)"
    subprocess.run([python, "-c", compile_file, str(HOOK), str(compiled)], check=True)
    return compiled


def finished(started: Started, stdin: bytes = b"") -> Run:
    out, err = started.process.communicate(stdin, timeout=30)
    seconds = time.monotonic() - started.at
    return Run(started.process.returncode, out.decode(), err.decode(), seconds)


def is_silent(run: Run) -> bool:
    return (run.code, run.out, run.err) == (0, "", "")
