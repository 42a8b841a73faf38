"""Which session a window has: its hooks know the client's name of it, its bridge to the hub does not.

Both are run by the same process of the client, so both know its id and when it started: a hook leaves the
session's name under these, and the bridge looks there at each call. Where one process has two bridges, or
several conversations at once, nothing is joined: their calls look alike.
"""

from __future__ import annotations

import json
import os
import time

from ctxhub_client.process import log
from ctxhub_client.store import digest
from ctxhub_client.values import number_of, read_json, text_of
from ctxhub_client.windows.processes import LAUNCHERS, ancestors, finder, is_alive, machine

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Callable

    from ctxhub_client.values import Json
    from ctxhub_client.windows.processes import Process

    Find = Callable[[int], Process | None]

MOST_BYTES = 10_000
SESSION, BRIDGE = "session", "bridge"
CALL = "call-"
# A call was made long before, or never: the client may have refused it, or asked another server.
CALL_KEPT_SECONDS = 3_600


def state_folder() -> str:
    base = os.environ.get("LOCALAPPDATA") if os.name == "nt" else os.environ.get("XDG_STATE_HOME")
    home = os.path.expanduser("~")
    return os.path.join(base or os.path.join(home, ".local", "state"), "ctxhub", "windows")


def client_of(find: Find) -> Process | None:
    """The process of the client that runs this one; None if a launcher has lost it."""
    for process in ancestors(find):
        if not LAUNCHERS.fullmatch(process.name):
            return process if process.id > 1 else None
    return None


def path_of(client: Process, ending: str) -> str:
    return os.path.join(state_folder(), "{}-{}.{}".format(client.id, client.started, ending))


# -- Hooks -----------------------------------------------------------------------------------------------


def begin_session(name: str, *, goes_on: bool, find: Find | None = None) -> None:
    """A hook's: the window has this session from now on. `goes_on`: in place of the one that it had."""
    client = client_of(find or finder())
    remove_old_calls()
    if client is None or not name:
        return
    path = path_of(client, SESSION)
    before = read_file(path)
    if before.get("machine") != machine():
        before = {}
    had = text_of(before, "name")
    is_another = had not in ("", name) and not before.get("ended") and not goes_on
    if before.get("many") or is_another:
        write_file(path, {"many": True})
    elif had != name or before.get("ended"):
        write_file(path, {"name": name})


def end_session(name: str, find: Find | None = None) -> None:
    """A hook's: what starts in this window next is no second conversation."""
    client = client_of(find or finder())
    if client is None:
        return
    path = path_of(client, SESSION)
    if text_of(read_file(path), "name") == name:
        write_file(path, {"name": name, "ended": True})


def name_subagent(tool_use: str, part: str) -> None:
    """A hook's: the call of this id is a subagent's."""
    write_file(subagent_path(tool_use), {"part": part})


# -- The bridge ------------------------------------------------------------------------------------------


class Window:
    def __init__(self, name: str, find: Find | None = None) -> None:
        """`name`: the session's while no hook tells another one; "": one is made up."""
        self._is_named = bool(name)
        self._own = self._name = name or "mcp-" + os.urandom(4).hex()
        self._changed = 0
        self._told = self._path = ""
        client = client_of(find or finder())
        if client is not None:
            self._told = path_of(client, SESSION)
            self._announce(client)

    def session(self, tool_use: object = None) -> str:
        """The name of the session; with the subagent's part if a hook has told that the call is one's."""
        if self._told:
            self._look()
        if self._name and isinstance(tool_use, str) and self._path:
            path = subagent_path(tool_use)
            if part := text_of(read_file(path), "part"):
                remove(path)
                return "{}/{}".format(self._name, part)
        return self._name

    def is_made_up(self, session: str) -> bool:
        """Whether nobody but this process calls the session so."""
        return not self._is_named and (session + "/").startswith(self._own + "/")

    def close(self) -> None:
        if self._path:
            remove(self._path)

    def _announce(self, client: Process) -> None:
        remove_dead()
        path = path_of(client, "{}.{}".format(os.getpid(), BRIDGE))
        if write_file(path, {"id": os.getpid()}):
            self._path = path

    def _look(self) -> None:
        try:
            changed = os.stat(self._told).st_mtime_ns
        except OSError:
            return
        if changed == self._changed:
            return
        self._changed = changed
        told = read_file(self._told)
        is_here = told.get("machine") == machine() and self._is_alone()
        self._name = (text_of(told, "name") if is_here else "") or self._own

    def _is_alone(self) -> bool:
        """Whether no other living bridge has the same client."""
        start = os.path.basename(self._told)[: -len(SESSION)]
        return not any(
            name.startswith(start) and is_living(name)
            for name in names_left()
            if name.endswith(BRIDGE) and name != os.path.basename(self._path)
        )


# -- Files -----------------------------------------------------------------------------------------------


def remove_dead() -> None:
    """Those of bridges and clients that are gone, also by a start of the machine."""
    for name in names_left():
        if (name.endswith(BRIDGE) and not is_living(name)) or (
            name.endswith(SESSION) and not is_client_living(name)
        ):
            remove(os.path.join(state_folder(), name))


def remove_old_calls() -> None:
    """What hooks told of calls that no bridge has seen."""
    for name in names_left():
        if name.startswith(CALL):
            path = os.path.join(state_folder(), name)
            try:
                is_old = time.time() - os.stat(path).st_mtime > CALL_KEPT_SECONDS
            except OSError:
                continue
            if is_old:
                remove(path)


def names_left() -> list[str]:
    try:
        return os.listdir(state_folder())
    except OSError:
        return []


def is_living(name: str) -> bool:
    """Whether the bridge that has left a file is alive."""
    values = read_file(os.path.join(state_folder(), name))
    return values.get("machine") == machine() and is_alive(int(number_of(values, "id")))


def is_client_living(name: str) -> bool:
    process_id, _, started = name.rpartition(".")[0].partition("-")
    return process_id.isdigit() and started.isdigit() and is_alive(int(process_id), int(started))


def subagent_path(tool_use: str) -> str:
    return os.path.join(state_folder(), CALL + digest(tool_use))


def read_file(path: str) -> Json:
    try:
        with open(path, "rb") as file:
            return read_json(file.read(MOST_BYTES))
    except OSError:
        return {}


def write_file(path: str, values: Json) -> bool:
    """Whether it could be written: without such a folder nothing is joined, and all else goes on."""
    temporary = "{}.{}".format(path, os.getpid())
    try:
        os.makedirs(os.path.dirname(path), 0o700, exist_ok=True)
        with open(temporary, "w", encoding="utf-8") as file:
            json.dump(dict(values, machine=machine()), file)
        os.replace(temporary, path)
    except OSError as error:
        log("window:", error)
        return False
    return True


def remove(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:
        return
