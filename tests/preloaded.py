"""Runs commands of `manage.py` in forks of a process that has loaded the code.

Loading it takes one or two seconds of a processor, and was most of what tests of commands took. Each
fork has its own environment, arguments and output, and reads the settings anew: nothing reads them while it
is loaded, as `tests/architecture/test_settings.py` shows. What a start itself does other processes show.

As a program, `python -m tests.preloaded SOCKET`, it is that process, until its stdin ends.
"""

import gc
import json
import os
import runpy
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import django
from django.conf import settings
from django.core.management import get_commands, load_command_class
from django.db import connections
from django.db.migrations.loader import MigrationLoader
from django.utils.functional import empty

from manage import WITHOUT_WEB

ROOT = Path(__file__).parent.parent
MANAGE = str(ROOT / "manage.py")
# What commands that serve load when they have looked at their arguments; the first one is runmcp's.
LOADED_LATER = ("ctxhub.mcp.stdio", "ctxhub.mcp.http", "ctxhub.mcp.django_handler", "ctxhub.urls")
VARIABLE_PREFIXES = ("CTXHUB_", "DJANGO_", "DATABASE_URL")


# -- Where a command is asked for ------------------------------------------------------------------


class Forked(subprocess.Popen[Any]):
    """`subprocess.Popen` of `[MANAGE, ...]` or, with `script`, of `python -c SCRIPT`, whose arguments then
    follow "-c": what runs is a fork of a process that has loaded the code. `env` is needed."""

    def __init__(self, argv: Sequence[str], *, script: str = "", **options: Any) -> None:
        self._script = script
        super().__init__(argv, **options)

    def _execute_child(self, argv: Any, *options: Any) -> None:
        _, _, _, _, folder, environment, _, _, _, *ends, _, _, _, _, umask, _, _ = options
        request = {
            "argv": argv,
            "environment": dict(environment),
            "folder": folder or os.getcwd(),
            "umask": umask,
            "script": self._script,
        }
        address, _ = _loaded(is_without_web=_is_without_web(argv, environment))
        own = (ends[0], ends[3], ends[5])
        files = [number if file == -1 else file for number, file in enumerate(own)]
        self._line = socket.socket(socket.AF_UNIX)
        self._line.connect(address)
        socket.send_fds(self._line, [b"\0"], files)
        self._line.sendall(json.dumps(request).encode())
        self._line.shutdown(socket.SHUT_WR)
        self._answers = self._line.makefile()
        self.pid = int(self._answers.readline())
        self._child_created = True
        self._close_pipe_fds(*ends)  # type: ignore[attr-defined]

    def _internal_poll(self, *_: Any, **__: Any) -> int | None:
        if self.returncode is None and select.select([self._line], [], [], 0)[0]:
            self._ended()
        return self.returncode

    def _wait(self, timeout: float | None) -> int:
        if self.returncode is None:
            if not select.select([self._line], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired(self.args, timeout or 0)
            self._ended()
        return self.returncode

    def _ended(self) -> None:
        self.returncode = int(self._answers.readline())
        self._answers.close()
        self._line.close()


def run(
    arguments: Sequence[str], environment: Mapping[str, str], *, timeout: float, umask: int = -1
) -> subprocess.CompletedProcess[str]:
    """`manage.py` with these arguments, as `subprocess.run` runs it."""
    return _run([MANAGE, *arguments], timeout, env=environment, umask=umask)


def run_script(
    script: str, arguments: Sequence[str], environment: Mapping[str, str], *, timeout: float
) -> subprocess.CompletedProcess[str]:
    """`python -c SCRIPT` with these arguments, as `subprocess.run` runs it."""
    return _run(["-c", *arguments], timeout, env=environment, script=script)


def without_own_variables(environment: Mapping[str, str]) -> dict[str, str]:
    """Without those that the settings are made of."""
    return {name: value for name, value in environment.items() if not name.startswith(VARIABLE_PREFIXES)}


def _run(argv: Sequence[str], timeout: float, **options: Any) -> subprocess.CompletedProcess[str]:
    pipes: dict[str, Any] = {
        "stdin": subprocess.DEVNULL,
        "stdout": subprocess.PIPE,
        "stderr": subprocess.PIPE,
    }
    with Forked(argv, text=True, **pipes, **options) as process:
        try:
            out, errors = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
    return subprocess.CompletedProcess(list(argv), process.returncode, out, errors)


def _is_without_web(argv: Sequence[str], environment: Mapping[str, str]) -> bool:
    """Whether the command has, or `manage.py` will turn, the apps of the web off."""
    if web := environment.get("CTXHUB_WEB"):
        return web == "false"
    command = "".join(argv[1:2]) if argv[0] == MANAGE else ""
    is_stdio = command == "runmcp" and "--http" not in argv
    return is_stdio or command in WITHOUT_WEB or command.startswith("import_")


@cache
def _loaded(*, is_without_web: bool) -> tuple[str, subprocess.Popen[bytes]]:
    """The socket of a process that has loaded the code, and that process: it ends with this one."""
    folder = tempfile.mkdtemp(prefix="ctxhub-preloaded-")
    own = {
        "CTXHUB_VAR_DIR": folder,
        "CTXHUB_WEB": str(not is_without_web).lower(),
        # Nothing connects to it while the code is loaded.
        "DATABASE_URL": os.environ.get("DATABASE_URL", ""),
    }
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.preloaded", f"{folder}/socket"],
        cwd=ROOT,
        env={**without_own_variables(os.environ), **own},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert process.stdout
    assert process.stdout.readline() == b"ready\n"
    return f"{folder}/socket", process


# -- The process that has loaded the code ----------------------------------------------------------


def load() -> None:
    """All that a command may need, so that no fork has to load it."""
    os.environ["DJANGO_SETTINGS_MODULE"] = "ctxhub.settings"
    django.setup()
    MigrationLoader(None)
    for name, app in get_commands().items():
        if app == "ctxhub":
            load_command_class(app, name)
    for name in LOADED_LATER if settings.WEB else LOADED_LATER[:1]:
        import_module(name)


def wait_for_request(address: str) -> SimpleNamespace:
    """Returns a request in a fork of its own."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(address)
    listener.listen(64)
    gc.collect()
    gc.freeze()
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    while True:
        readable, _, _ = select.select([listener, sys.stdin], [], [])
        if sys.stdin in readable:
            shutil.rmtree(Path(address).parent)
            os._exit(0)
        line, _ = listener.accept()
        if not os.fork():
            listener.close()
            return _receive(line)
        line.close()


def _receive(line: socket.socket) -> SimpleNamespace:
    """Returns in one more fork; this one waits for it, and tells its id and exit code."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    _, files, _, _ = socket.recv_fds(line, 1, 3)
    with line.makefile() as text:
        request = SimpleNamespace(**json.load(text))
    if pid := os.fork():
        for file in files:
            os.close(file)
        line.sendall(f"{pid}\n".encode())
        _, status = os.waitpid(pid, 0)
        line.sendall(f"{os.waitstatus_to_exitcode(status)}\n".encode())
        os._exit(0)
    line.close()
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    return request


def begin(request: SimpleNamespace) -> None:
    """As if the process were new: its own environment and arguments, and no settings read."""
    os.environ.clear()
    os.environ.update(request.environment)
    os.chdir(request.folder)
    if request.umask >= 0:
        os.umask(request.umask)
    sys.argv = request.argv
    sys.modules.pop("ctxhub.settings", None)
    settings._wrapped = empty
    connections.__dict__.pop("settings", None)
    connections.__init__()  # type: ignore[misc]


if __name__ == "__main__":
    load()
    asked = wait_for_request(sys.argv[1])
    begin(asked)
    if asked.script:
        exec(asked.script, {"__name__": "__main__"})
    else:
        runpy.run_path(asked.argv[0], run_name="__main__")
