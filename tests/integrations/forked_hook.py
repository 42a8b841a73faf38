"""Runs the hook in processes that are forked, not started: for tests that run it hundreds of times."""

import atexit
import json
import os
import select
import socket
import subprocess
import tempfile
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import IO

from tests.integrations.hook import PYTHON, Limits, Run, Workplace, program
from tests.integrations.hook_forks import LENGTH
from tests.timing import PATIENCE_SECONDS

SCRIPT = Path(__file__).parent / "hook_forks.py"


@dataclass
class Forked:
    """A run that has begun."""

    stdin: IO[bytes] = field(default_factory=tempfile.TemporaryFile)
    out: IO[bytes] = field(default_factory=tempfile.TemporaryFile)
    err: IO[bytes] = field(default_factory=tempfile.TemporaryFile)
    code: tuple[int, int] = field(default_factory=os.pipe)

    def finished(self) -> Run:
        with self.stdin, self.out, self.err, open(self.code[0], "rb") as code:
            assert select.select([code], [], [], PATIENCE_SECONDS)[0], "the hook does not end"
            number = int(code.read())
            self.out.seek(0)
            self.err.seek(0)
            return Run(number, self.out.read().decode(), self.err.read().decode())


def fork_hook(workplace: Workplace, stdin: bytes) -> Forked:
    started = Forked()
    started.stdin.write(stdin)
    started.stdin.seek(0)
    streams = [file.fileno() for file in (started.stdin, started.out, started.err)]
    request = {"folder": str(workplace.repository), "variables": workplace.environment}
    text = json.dumps(request).encode()
    requests = _requests(workplace.limits)
    socket.send_fds(requests, [LENGTH.pack(len(text))], [*streams, started.code[1]])
    requests.sendall(text)
    os.close(started.code[1])
    return started


def forked_event(workplace: Workplace, event: str, **changes: object) -> Run:
    return fork_hook(workplace, workplace.input(event, **changes)).finished()


@cache
def _requests(limits: Limits) -> socket.socket:
    """To a process that has the hook loaded, which ends with this one."""
    here, there = socket.socketpair()
    with there:
        command = [PYTHON, "-IS", str(SCRIPT), str(program(PYTHON, limits).parents[1]), str(there.fileno())]
        process = subprocess.Popen(command, pass_fds=[there.fileno()], stdin=subprocess.DEVNULL)
    atexit.register(process.wait)
    atexit.register(here.close)
    return here
