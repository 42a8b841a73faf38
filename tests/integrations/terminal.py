"""A program in a pseudo-terminal, as a person has it before them."""

import fcntl
import os
import pty
import re
import signal
import struct
import subprocess
import termios
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.timing import PATIENCE_SECONDS, wait_until

ROWS, COLUMNS = 50, 120
TITLE = re.compile(rb"\x1b\]0;([^\x07]*)\x07")
# What a program writes besides its text: titles, colours, moves of the cursor. Spaces are often such moves.
CONTROLS = re.compile(r"\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b\[[0-?]*[ -/]*[@-~]|\x1b.|\s")
SHOWN_CHARACTERS = 3_000


@dataclass
class Terminal:
    process: "subprocess.Popen[bytes]"
    descriptor: int
    written: bytearray = field(default_factory=bytearray)

    def type(self, line: str) -> int:
        """Write a line as a person does, and press enter once it is on the screen; returns how much had been
        written before.
        """
        before = len(self.written)
        wanted = "".join(line.split())
        os.write(self.descriptor, line.encode())
        self.wait_until(lambda: wanted in self.shown(after=before), f"{line!r} is not shown")
        os.write(self.descriptor, b"\r")
        return before

    def titles(self, after: int = 0) -> list[str]:
        """What the window was called, one after another: many programs say there whether they work."""
        return [title.decode("utf-8", "replace") for title in TITLE.findall(self.written[after:])]

    def wait_until(self, is_so: Callable[[], bool], problem: str) -> None:
        """Wait with patience; a failure shows the end of what was written."""
        try:
            wait_until(is_so)
        except AssertionError:
            raise AssertionError(f"{problem}: {self.shown()[-SHOWN_CHARACTERS:]!r}") from None

    def shown(self, after: int = 0) -> str:
        """What was written so far, from this byte on, without spaces."""
        return CONTROLS.sub("", self.written[after:].decode("utf-8", "replace"))

    def read(self) -> None:
        """Keep what the program writes, until it ends."""
        try:
            while data := os.read(self.descriptor, 65_536):
                self.written += data
        except OSError:  # Linux' end of a terminal
            return


@contextmanager
def in_terminal(command: Sequence[str], folder: Path, environment: Mapping[str, str]) -> Iterator[Terminal]:
    """Run a program; it is ended with all its processes if it has not ended by itself."""
    own, its = pty.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    process = subprocess.Popen(
        command,
        cwd=folder,
        env={**environment, "TERM": "xterm-256color"},
        stdin=its,
        stdout=its,
        stderr=its,
        start_new_session=True,
    )
    os.close(its)
    terminal = Terminal(process, own)
    reader = threading.Thread(target=terminal.read, daemon=True)
    reader.start()
    try:
        yield terminal
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait(PATIENCE_SECONDS)
        reader.join(PATIENCE_SECONDS)
        os.close(own)
