"""Lines of a pipe, a file or a terminal: reading them up to a limit, and writing them whole."""

import os
import select
import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import IO

from ctxhub.mcp.json_rpc import END_BYTES

LINE_BYTES = 64 * 1024 * 1024
BUFFER_BYTES = 64 * 1024
# U+0085, U+2028 and U+2029 in UTF-8, where no other character holds these bytes.
_SEPARATORS = (
    (b"\xc2\x85", rb"\u0085"),
    (b"\xe2\x80\xa8", rb"\u2028"),
    (b"\xe2\x80\xa9", rb"\u2029"),
)


class LineTooLong(Exception):
    """A line exceeds LINE_BYTES and was skipped to its end; `head` is its beginning."""

    def __init__(self, head: bytes) -> None:
        super().__init__()
        self.head = head


class LineReader:
    """Reads lines where they are asked for; after `read_ahead` a thread reads them, until it is not needed.

    `look` is called with each line that the thread reads, in the thread.
    """

    def __init__(self, fd: int, look: Callable[[bytes], None]) -> None:
        self._file = open(fd, "rb", buffering=BUFFER_BYTES, closefd=False)  # noqa: SIM115
        self._look = look
        self._read: SimpleQueue[bytes | LineTooLong] = SimpleQueue()
        self._lock = threading.Lock()
        self._is_reading = False
        self._goes_on = False

    def next_line(self, *, ahead: bool) -> bytes:
        """The next line, b"" at the end of input. `ahead`: let the thread go on. Raises LineTooLong."""
        with self._lock:
            self._goes_on = ahead
            is_here = not self._is_reading and self._read.empty()
        if is_here:
            return read_line(self._file)
        line = self._read.get()
        if isinstance(line, LineTooLong):
            raise line
        return line

    def read_ahead(self) -> None:
        with self._lock:
            self._goes_on = True
            if not self._is_reading:
                self._is_reading = True
                threading.Thread(target=self._run, name="ctxhub-lines", daemon=True).start()

    def _run(self) -> None:
        while True:
            line: bytes | LineTooLong
            try:
                line = read_line(self._file)
                self._look(line)
            except LineTooLong as error:
                line = error
            with self._lock:
                self._read.put(line)
                if not line or not self._goes_on:
                    self._is_reading = False
                    return


def one_line(json: bytes) -> bytes:
    """The JSON with the line separators of Unicode escaped: some clients split lines at them.

    They can stand in strings alone, and a parser reads the same text.
    """
    if not json.isascii():
        for raw, escaped in _SEPARATORS:
            json = json.replace(raw, escaped)
    return json + b"\n"


def read_line(file: IO[bytes]) -> bytes:
    """The next line, b"" at the end of input. Raises LineTooLong."""
    line = file.readline(LINE_BYTES)
    if len(line) < LINE_BYTES or line.endswith(b"\n"):
        return line
    rest = line
    while rest and not rest.endswith(b"\n"):
        rest = file.readline(BUFFER_BYTES)
    raise LineTooLong(line[:END_BYTES])


class LineWriter:
    """Writes lines from several threads. `on_full` is called when the reader at the other end is slow."""

    def __init__(self, fd: int, on_full: Callable[[], None], *, blocking: bool) -> None:
        self._fd = fd
        self._on_full = on_full
        self._lock = threading.Lock()
        if not blocking:
            os.set_blocking(fd, False)

    def write(self, line: bytes) -> None:
        """Write the line, which ends with a newline. Raises BrokenPipeError if nobody reads it."""
        with self._lock:
            rest = memoryview(line)
            while rest:
                try:
                    rest = rest[os.write(self._fd, rest) :]
                except BlockingIOError:
                    self._on_full()
                    select.select([], [self._fd], [])
