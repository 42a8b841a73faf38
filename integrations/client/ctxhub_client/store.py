"""Small files of one's own: what the hub said of a token, what a session was told."""

from __future__ import annotations

import json
import os
import time

from ctxhub_client.process import log
from ctxhub_client.values import number_of, read_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ctxhub_client.values import Json

STATE_KEPT_SECONDS = 7 * 86_400

MOST_STATE_BYTES = 1_000_000

DAY_SECONDS = 86_400
DAILY = "daily.json"


class Store:
    """Small JSON files in the user's cache. What cannot be read or written counts as absent."""

    def __init__(self) -> None:
        home = os.path.expanduser("~")
        base = os.environ.get("LOCALAPPDATA") if os.name == "nt" else os.environ.get("XDG_CACHE_HOME")
        self.folder = os.path.join(base or os.path.join(home, ".cache"), "ctxhub-hooks")

    def read(self, name: str) -> Json:
        try:
            with open(os.path.join(self.folder, name), "rb") as file:
                return read_json(file.read(MOST_STATE_BYTES))
        except OSError:
            return {}

    def all(self, start: str) -> list[Json]:
        """Those whose names begin so."""
        try:
            return [self.read(name) for name in os.listdir(self.folder) if name.startswith(start)]
        except OSError:
            return []

    def write(self, name: str, values: Json) -> bool:
        path = os.path.join(self.folder, name)
        temporary = "{}.{}".format(path, os.getpid())
        try:
            os.makedirs(self.folder, 0o700, exist_ok=True)
            with open(temporary, "w", encoding="utf-8") as file:
                json.dump(values, file)
            os.replace(temporary, path)
        except OSError as error:
            log("cache:", error)
            return False
        return True

    def remove(self, name: str) -> None:
        try:
            os.unlink(os.path.join(self.folder, name))
        except OSError:
            return

    def is_due(self, what: str) -> bool:
        """Whether something that is done once a day is to be done now; it is noted as done."""
        done = self.read(DAILY)
        if 0 <= time.time() - number_of(done, what) < DAY_SECONDS:
            return False
        self.write(DAILY, dict(done, **{what: time.time()}))
        return True

    def clean(self) -> None:
        """Delete what has not been written for a week."""
        oldest = time.time() - STATE_KEPT_SECONDS
        try:
            for entry in os.scandir(self.folder):
                if entry.stat().st_mtime < oldest:
                    os.unlink(entry.path)
        except OSError as error:
            log("cache:", error)


def digest(*parts: str) -> str:
    # hashlib loads OpenSSL first, which takes a fifth of a run.
    try:
        from _sha2 import sha256  # type: ignore[import-not-found,unused-ignore]
    except ImportError:
        try:
            from _sha256 import sha256  # type: ignore[import-not-found,unused-ignore]
        except ImportError:
            from hashlib import sha256

    return str(sha256("\0".join(parts).encode("utf-8", "replace")).hexdigest())[:24]
