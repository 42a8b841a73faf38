"""The tokens of this user, by hub, project and agent, in one file that nobody else may read."""

from __future__ import annotations

import json
import os
import time

from ctxhub_client.process import log
from ctxhub_client.values import text_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Iterator

    from ctxhub_client.values import Json

LOCK_SECONDS = 5.0
MOST_BYTES = 10_000_000
NAMES = ("hub", "project", "agent", "client", "token", "expires", "host")


class NotStored(Exception):
    """The file cannot be read or written. Nothing in it was changed."""


class Credential:
    """`expires`: as the hub writes it, 2027-02-26T15:43:03Z. `renews`: the hub replaces it when asked."""

    def __init__(self, values: Json) -> None:
        self.hub = normal_hub(text_of(values, "hub"))
        self.project = text_of(values, "project")
        self.agent = text_of(values, "agent")
        self.client = text_of(values, "client")
        self.token = text_of(values, "token")
        self.expires = text_of(values, "expires")
        self.renews = values.get("renews") is True

    @property
    def key(self) -> tuple[str, str, str]:
        return self.hub, self.project, self.agent.casefold()

    @property
    def values(self) -> Json:
        return dict(vars(self))

    def seconds_left(self) -> float:
        """Until it ends; a year where that is not told."""
        import calendar

        try:
            ends = calendar.timegm(time.strptime(self.expires, "%Y-%m-%dT%H:%M:%SZ"))
        except ValueError:
            return 365 * 86_400.0
        return ends - time.time()


def normal_hub(url: str) -> str:
    """One spelling of a hub's address: without what follows it for a program, and a slash at the end."""
    url = url.strip().rstrip("/")
    for ending in ("/mcp", "/api/v1"):
        url = url[: -len(ending)] if url.endswith(ending) else url
    scheme, separator, rest = url.partition("://")
    host, slash, path = rest.partition("/")
    return "{}{}{}{}{}".format(scheme.lower(), separator, host.lower(), slash, path) if separator else url


def config_folder() -> str:
    base = os.environ.get("APPDATA") if os.name == "nt" else os.environ.get("XDG_CONFIG_HOME")
    return os.path.join(base or os.path.join(os.path.expanduser("~"), ".config"), "ctxhub")


def path() -> str:
    return os.path.join(config_folder(), "credentials.json")


def read_all() -> list[Credential]:
    """Those that are stored; none where there is no such file, or none that can be read."""
    try:
        return _read()
    except NotStored as error:
        log(error)
        return []


def _read() -> list[Credential]:
    try:
        with open(path(), "rb") as file:
            text = file.read(MOST_BYTES).decode("utf-8-sig")
    except FileNotFoundError:
        return []
    except (OSError, ValueError) as error:
        raise NotStored("{} cannot be read: {}".format(path(), error)) from None
    try:
        found = json.loads(text) if text.strip() else {}
    except (ValueError, RecursionError) as error:
        raise NotStored("{} is no JSON, and stays as it is: {}".format(path(), error)) from None
    listed = found.get("tokens", []) if isinstance(found, dict) else None
    if not isinstance(listed, list):
        raise NotStored("{} has another form than is known, and stays as it is.".format(path()))
    all_of = [Credential(each) for each in listed if isinstance(each, dict)]
    return [each for each in all_of if each.hub and each.token]


def keep(new: list[Credential]) -> None:
    """Store them in the place of those for the same hub, project and agent. Raises NotStored."""
    keys = {each.key for each in new}
    with locked():
        _write([each for each in _read() if each.key not in keys] + new)


def forget(old: list[Credential]) -> None:
    """Remove them, where their tokens are still these. Raises NotStored."""
    tokens = {each.token for each in old}
    with locked():
        _write([each for each in _read() if each.token not in tokens])


def _write(credentials: list[Credential]) -> None:
    file = os.path.realpath(path())
    if not credentials:
        if os.path.exists(file):
            os.unlink(file)
        return
    temporary = "{}.{}".format(file, os.getpid())
    text = json.dumps({"tokens": [each.values for each in credentials]}, indent=2) + "\n"
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            os.write(descriptor, text.encode())
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        os.replace(temporary, file)
    except OSError as error:
        if os.path.exists(temporary):
            os.unlink(temporary)
        raise NotStored("{} cannot be written: {}".format(file, error)) from None


class locked:  # noqa: N801 (as a context manager is named)
    """One process at a time changes the file. Raises NotStored where it cannot be waited for."""

    def __enter__(self) -> locked:
        self._file = None
        try:
            os.makedirs(config_folder(), 0o700, exist_ok=True)
            self._file = open(path() + ".lock", "a+b")
            self._wait()
        except OSError as error:
            self.__exit__()
            raise NotStored("{} cannot be locked: {}".format(path(), error)) from None
        return self

    def __exit__(self, *error: object) -> None:
        if self._file is not None:
            self._file.close()

    def _wait(self) -> None:
        until = time.monotonic() + LOCK_SECONDS
        while not self._is_taken():
            if time.monotonic() > until:
                raise OSError("another process has held it for {:.0f} s".format(LOCK_SECONDS))
            time.sleep(0.02)

    def _is_taken(self) -> bool:
        assert self._file is not None
        try:
            if os.name == "nt":
                import msvcrt

                self._file.seek(0)
                msvcrt.locking(self._file.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]
            else:
                import fcntl

                fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except (BlockingIOError, PermissionError):
            return False
        return True


def matching(hub: str, project: str, agent: str, client: str) -> Iterator[Credential]:
    """Those that fit what is named; "" fits all. Those of the client come first."""
    fit = [
        each
        for each in read_all()
        if (not hub or each.hub == normal_hub(hub))
        and (not project or each.project == project)
        and (not agent or each.agent.casefold() == agent.casefold())
    ]
    yield from sorted(fit, key=lambda each: not is_of(each.client, client))


def is_of(client: str, asked: str) -> bool:
    """Whether a client is the one that hooks call so: claude is claude-code."""
    return bool(asked) and (client == asked or client.partition("-")[0] == asked)
