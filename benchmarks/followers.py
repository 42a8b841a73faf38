"""A reader of an event stream that comes back with the id of the last event, whatever ends the stream."""

import json
import threading
import time
from collections.abc import Iterable
from contextlib import suppress
from http.client import HTTPConnection, HTTPException, HTTPResponse
from itertools import pairwise

from benchmarks.ledger import Ledger

# The hub sends a comment every 15 s.
SILENT_SECONDS = 40
SECONDS_BETWEEN = 0.05


class Follower(threading.Thread):
    """`told`: the id and the ref of each event, as they came. `opened`: how many streams it took."""

    def __init__(self, ledger: Ledger, agent: str, noun: str) -> None:
        super().__init__(daemon=True)
        self._ledger = ledger
        self._path = f"/api/v1/projects/{ledger.project}/events/?agent={agent}&nouns={noun}"
        self._last = ""
        self.told: list[tuple[int, str]] = []
        self.opened = self.resets = 0
        self.is_following = threading.Event()

    def run(self) -> None:
        while not self._ledger.is_over.is_set():
            self._ledger.is_up.wait()
            with suppress(OSError, HTTPException):  # The hub was killed.
                self._follow()
            time.sleep(SECONDS_BETWEEN)

    def _follow(self) -> None:
        connection = HTTPConnection("127.0.0.1", self._ledger.port, timeout=SILENT_SECONDS)
        headers = {"Authorization": f"Bearer {self._ledger.token}"}
        if self._last:
            headers["Last-Event-ID"] = self._last
        try:
            connection.request("GET", self._path, headers=headers)
            response = connection.getresponse()
            if response.status == 200:
                self.opened += 1
                self._read(response)
            elif response.status != 503:
                self._ledger.refused.append(f"events/: {response.status} {response.read(500)!r}")
        finally:
            connection.close()

    def _read(self, response: HTTPResponse) -> None:
        lines: list[str] = []
        while line := response.readline():
            if text := line.decode().rstrip("\n"):
                lines.append(text)
            else:
                self._take(dict(each.split(": ", 1) for each in lines if not each.startswith(":")))
                lines = []

    def _take(self, block: dict[str, str]) -> None:
        """A block is taken as a whole or not at all."""
        if "data" in block:
            self.resets += block["event"] == "reset"
            self.told.append((int(block["id"][1:]), json.loads(block["data"]).get("ref", "")))
        self._last = block.get("id", self._last)
        self.is_following.set()

    def missing(self, keys: Iterable[str]) -> int:
        """How many of these decisions it was not told of."""
        refs = {ref for _, ref in self.told}
        return sum(f"decision:{key}" not in refs for key in keys)

    @property
    def doubles(self) -> int:
        return len(self.told) - len(set(self.told))

    @property
    def out_of_order(self) -> int:
        ids = [event_id for event_id, _ in self.told]
        return sum(after < before for before, after in pairwise(ids))
