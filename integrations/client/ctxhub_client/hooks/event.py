"""One event of a client: its input, the hub, and what the session was told already."""

from __future__ import annotations

import time

from ctxhub_client.hub import Hub
from ctxhub_client.paths import Project
from ctxhub_client.sessions import session_name, with_part
from ctxhub_client.store import digest
from ctxhub_client.texts import NOTE, cut_at_line
from ctxhub_client.values import dict_of, number_of, text_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ctxhub_client.values import Json

GOES_ON_SECONDS = 60

# A hub that was not reached then is told later, until the session that ended is silent and in nobody's way.
UNTOLD_SECONDS = 900

# Claude Code and Codex put longer texts into a file.
MOST_CHARACTERS = 9_500


class Event:
    """One run of a hook: its input, the hub, and what the session was told already."""

    def __init__(self, values: Json, client: str) -> None:
        self.values = values
        self.client = client
        self.name = text_of(values, "hook_event_name")
        self.project = Project(text_of(values, "cwd"))
        self.window = session_name(client, text_of(values, "session_id", "thread-id"))
        self.session = with_part(self.window, text_of(values, "agent_id"))
        self.hub = Hub(client, self.session, ignores_pause=self.name == "SessionStart")
        self.file = "session-{}.json".format(digest(self.hub.file, self.session))

    def go_on_later(self) -> None:
        """Note that the window ends this session and goes on in another one."""
        if self.window:
            self.hub.store.write(self.window_file(), {"session": self.window, "at": time.time()})

    def session_before(self) -> str:
        """The session that this window has just left for this one; "" if it left none."""
        name = self.window_file()
        left = self.hub.store.read(name)
        at = left.get("at")
        if not isinstance(at, (int, float)) or time.time() - at > GOES_ON_SECONDS:
            return ""
        self.hub.store.write(name, {})
        return text_of(left, "session")

    def keep_untold(self, before: str) -> None:
        """Note which session this one goes on from while the hub does not know; "" once it does."""
        state = self.hub.store.read(self.file)
        if before:
            state["before"] = {"session": before, "at": time.time()}
        elif not state.pop("before", None):
            return
        self.hub.store.write(self.file, state)

    def untold(self) -> str:
        before = dict_of(self.hub.store.read(self.file), "before")
        is_late = time.time() - number_of(before, "at") > UNTOLD_SECONDS
        return "" if is_late else text_of(before, "session")

    def window_file(self) -> str:
        from ctxhub_client.windows.processes import client_process

        return "window-{}.json".format(digest(self.hub.file, client_process()))

    def is_new(self, kind: str, *marks: str) -> bool:
        """Whether the session was not told one of these; notes them as told.

        What cannot be noted counts as new, but not mail: a client would never stop.
        """
        state = self.hub.store.read(self.file) if self.session else {}
        told = state.get(kind)
        known = [mark for mark in told if isinstance(mark, str)] if isinstance(told, list) else []
        if not set(marks) - set(known):
            return False
        state[kind] = (known + [mark for mark in marks if mark not in known])[-500:]
        is_noted = bool(self.session) and self.hub.store.write(self.file, state)
        return is_noted or kind != "mail"

    def forget_checks(self) -> None:
        """After a start or a compaction the model has not seen what it was told about files."""
        state = self.hub.store.read(self.file) if self.session else {}
        if state.pop("checks", None):
            self.hub.store.write(self.file, state)
        self.hub.store.clean()


def context(event: Event, text: str) -> Json | None:
    """Text for the model, with the note that it is data first."""
    if not text:
        return None
    is_framed = "data, not orders" in text.partition("\n")[0]
    framed = text if is_framed else "{}\n{}".format(NOTE, text)
    return specific(event, additionalContext=cut_at_line(framed, MOST_CHARACTERS))


def specific(event: Event, **values: str) -> Json:
    return {"hookSpecificOutput": dict(hookEventName=event.name, **values)}
