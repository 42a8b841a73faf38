"""The pipes to the client: one JSON-RPC message a line."""

from __future__ import annotations

import os
import threading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Iterator

# As much as the hub's own server on stdio takes.
MOST_LINE_BYTES = 64 * 1024 * 1024
# U+0085, U+2028 and U+2029 in UTF-8: some clients take them for ends of lines. They stand in strings alone,
# and a parser reads the same text.
SEPARATORS = ((b"\xc2\x85", b"\\u0085"), (b"\xe2\x80\xa8", b"\\u2028"), (b"\xe2\x80\xa9", b"\\u2029"))


class LineTooLong(Exception):
    pass


class Pipes:
    """What the client writes and reads. File descriptor 1 is stderr from then on: a print breaks nothing."""

    def __init__(self, source: int = 0, sink: int = 1) -> None:
        self._source = os.fdopen(os.dup(source), "rb", 65_536)
        self._sink = os.dup(sink)
        self._lock = threading.Lock()
        if sink == 1:
            os.dup2(2, 1)

    def lines(self) -> Iterator[bytes | LineTooLong]:
        """Each line that has content, without its end, until the client closes the pipe."""
        while True:
            line = self._source.readline(MOST_LINE_BYTES)
            if not line:
                return
            if len(line) == MOST_LINE_BYTES and not line.endswith(b"\n"):
                self._skip_line()
                yield LineTooLong()
            elif line.strip():
                yield line.strip()

    def write(self, message: bytes) -> None:
        """One message, from any thread. Raises OSError if nobody reads it."""
        if not message.isascii():
            for raw, escaped in SEPARATORS:
                message = message.replace(raw, escaped)
        rest = message + b"\n"
        with self._lock:
            while rest:
                rest = rest[os.write(self._sink, rest) :]

    def _skip_line(self) -> None:
        while True:
            rest = self._source.readline(65_536)
            if not rest or rest.endswith(b"\n"):
                return
