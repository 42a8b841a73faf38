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
from pathlib import Path
from types import SimpleNamespace

import django
from django.conf import settings
from django.core.management import get_commands, load_command_class
from django.db import connections
from django.db.migrations.loader import MigrationLoader
from django.utils.functional import empty

from manage import WITHOUT_WEB

ROOT = Path(__file__).parent.parent
MANAGE = str(ROOT / "manage.py")
VARIABLE_PREFIXES = ("CTXHUB_", "DJANGO_", "DATABASE_URL")


# -- Where a command is asked for ------------------------------------------------------------------


def run(
    arguments: Sequence[str], environment: Mapping[str, str], *, timeout: float, umask: int = -1
) -> subprocess.CompletedProcess[str]:
    """`manage.py` with these arguments, as `subprocess.run` runs it."""
    return _run([MANAGE, *arguments], environment, timeout=timeout, umask=umask)


def run_script(
    script: str, arguments: Sequence[str], environment: Mapping[str, str], *, timeout: float
) -> subprocess.CompletedProcess[str]:
    """`python -c SCRIPT` with these arguments, as `subprocess.run` runs it."""
    return _run(["-c", *arguments], environment, timeout=timeout, script=script)


def without_own_variables(environment: Mapping[str, str]) -> dict[str, str]:
    """Without those that the settings are made of."""
    return {name: value for name, value in environment.items() if not name.startswith(VARIABLE_PREFIXES)}


def _run(
    argv: Sequence[str],
    environment: Mapping[str, str],
    *,
    timeout: float,
    umask: int = -1,
    script: str = "",
) -> subprocess.CompletedProcess[str]:
    request = {
        "argv": argv,
        "environment": dict(environment),
        "folder": os.getcwd(),
        "umask": umask,
        "script": script,
    }
    address, _ = _loaded(is_without_web=_is_without_web(argv, environment))
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as errors:
        with socket.socket(socket.AF_UNIX) as line, line.makefile() as answers:
            line.connect(address)
            line.settimeout(timeout)
            socket.send_fds(line, [b"\0"], [out.fileno(), errors.fileno()])
            line.sendall(json.dumps(request).encode())
            line.shutdown(socket.SHUT_WR)
            pid = int(answers.readline())
            try:
                code = int(answers.readline())
            except TimeoutError as error:
                os.kill(pid, signal.SIGKILL)
                raise subprocess.TimeoutExpired(list(argv), timeout) from error
        out.seek(0)
        errors.seek(0)
        return subprocess.CompletedProcess(list(argv), code, out.read(), errors.read())


def _is_without_web(argv: Sequence[str], environment: Mapping[str, str]) -> bool:
    """Whether `manage.py` will turn the apps of the web off."""
    command = "".join(argv[1:2]) if argv[0] == MANAGE else ""
    return "CTXHUB_WEB" not in environment and (command in WITHOUT_WEB or command.startswith("import_"))


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
    _, [out, errors], _, _ = socket.recv_fds(line, 1, 2)
    with line.makefile() as text:
        request = SimpleNamespace(**json.load(text))
    if pid := os.fork():
        line.sendall(f"{pid}\n".encode())
        _, status = os.waitpid(pid, 0)
        line.sendall(f"{os.waitstatus_to_exitcode(status)}\n".encode())
        os._exit(0)
    line.close()
    nothing = os.open(os.devnull, os.O_RDONLY)
    for opened, number in ((nothing, 0), (out, 1), (errors, 2)):
        os.dup2(opened, number)
        os.close(opened)
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
