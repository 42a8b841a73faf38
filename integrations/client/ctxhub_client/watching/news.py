"""What is new to one agent and session: its mail, changed decisions, and leases that others were refused."""

from __future__ import annotations

import re
import time

from ctxhub_client.leases import is_own_lease, is_same
from ctxhub_client.store import digest
from ctxhub_client.values import number_of, rows_of, text_of
from ctxhub_client.watching.things import Thing, message_of, wanted_lease

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ctxhub_client.values import Json
    from ctxhub_client.watching.asking import Asker

# A refusal wakes no request that waits: leases that others want are looked up as often.
WAIT_SECONDS = 15
MOST_AT_ONCE = 50
MOST_LEASES = 200
MOST_KEPT = 500
GOES_ON_SECONDS = 3_600.0
# As a nudge writes it: - message:2 from ada (high): The build is broken.
URGENT = re.compile(r"- (message:\d+) from (.+?) \((high|critical)\): (.*)")


class News:
    """Raises Away and Refused.

    `since`: the hub's cursor, up to which everything was found; up to `_seen` everything was told as well.
    """

    def __init__(self, hub: Asker) -> None:
        self.hub = hub
        self.since = self._seen = ""
        self._file = "watch-{}.json".format(digest(hub.file, hub.session))
        # What this run has found, and what was told to the session, by this or by its hook at Stop.
        self._found: set[str] = set()
        self._kept = hub.store.read(self._file) if hub.session else {}

    # -- The beginning -----------------------------------------------------------------------------

    def begin(self, goes_on: bool) -> list[Thing]:
        """Urgent mail that nobody has told this agent; the rest from now on, or from where it was left."""
        answer = self.hub.ask_if_known("nudge/", dry_run="true")
        if not answer:
            answer = self.hub.ask("updates/", since="1m")
        self.since = text_of(answer, "cursor")
        self._found.update(key_of(row) for row in self._refusals())
        left_at = time.time() - number_of(self._kept, "at")
        if goes_on and 0 <= left_at < GOES_ON_SECONDS and (since := text_of(self._kept, "since")):
            self.since = since
        self._seen = self.since
        urgent = [thing_of_nudge(line) for line in text_of(answer, "text").splitlines()]
        return self._new([each for each in urgent if each])

    # -- Later -------------------------------------------------------------------------------------

    def wait(self) -> bool:
        """Whether there is mail that is not told; False after the longest wait as well."""
        answer = self.hub.ask("messages/", since=self.since, limit=1, wait_seconds=WAIT_SECONDS)
        return bool(rows_of(answer))

    def mail(self) -> list[Thing]:
        """What came, the most urgent first; from the cursor before to one that was read before the mail."""
        cursor = text_of(self.hub.ask("updates/", since=self.since), "cursor")
        rows, page = [], self.hub.ask("messages/", since=self.since, limit=MOST_AT_ONCE)
        while rows_of(page):
            rows += rows_of(page)
            place = text_of(page, "next")
            if not place or len(rows) >= MOST_KEPT:
                break
            page = self.hub.ask("messages/", since=self.since, limit=MOST_AT_ONCE, cursor=place)
        self._seen, self.since = self.since, cursor or self.since
        return self._new([message_of(row) for row in rows])

    def wanted(self) -> list[Thing]:
        """Leases of the session that others have asked for, and were refused."""
        refusals = [row for row in self._refusals() if key_of(row) not in self._found]
        if not refusals:
            return []
        name = self.hub.speaker or text_of(self.hub.known, "agent")
        answer = self.hub.ask_if_known("leases/", by=name, limit=MOST_LEASES)
        held = {
            "lease:{}".format(row.get("lease_id")): row
            for row in rows_of(answer)
            if is_same(self.hub.session, text_of(row, "session"))
        }
        found = []
        for row in refusals:
            self._found.add(key_of(row))
            if text_of(row, "ref") in held:
                found.append(wanted_lease(held[text_of(row, "ref")], row))
        return found

    def keep(self, told: list[Thing]) -> None:
        """Note what the session was told: another watch of it does not tell that again."""
        if not self.hub.session:
            return
        refs = [each.ref for each in told if each.ref.startswith("message:")]
        self._kept["told"] = (told_refs(self._kept, "told") + refs)[-MOST_KEPT:]
        self._kept.update(since=self._seen, at=time.time())
        self.hub.store.write(self._file, self._kept)

    # -- Pieces ------------------------------------------------------------------------------------

    def _new(self, things: list[Thing]) -> list[Thing]:
        known = self._found | set(told_refs(self._kept, "told")) | self._told_at_stop()
        found = [each for each in things if each.ref not in known]
        self._found.update(each.ref for each in found)
        return found

    def _told_at_stop(self) -> set[str]:
        """The mail that the hook of this session has shown when its agent stopped."""
        if not self.hub.session:
            return set()
        state = self.hub.store.read("session-{}.json".format(digest(self.hub.file, self.hub.session)))
        return {"message:" + mark for mark in told_refs(state, "mail")}

    def _refusals(self) -> list[Json]:
        answer = self.hub.ask_if_known("refusals/", code="conflict", since=self.since, limit=MOST_AT_ONCE)
        return [
            row
            for row in rows_of(answer)
            if text_of(row, "ref").startswith("lease:") and not self._is_of_session(row)
        ]

    def _is_of_session(self, refusal: Json) -> bool:
        session = text_of(refusal, "session")
        is_own = is_own_lease(self.hub, {"by": text_of(refusal, "agent", "by")})
        return is_own and is_same(self.hub.session, session)


def thing_of_nudge(line: str) -> Thing | None:
    found = URGENT.match(line)
    if not found:
        return None
    ref, by, priority, text = found.groups()
    row = {"id": ref.partition(":")[2], "from": by, "priority": priority, "text": text}
    return message_of(row)


def key_of(refusal: Json) -> str:
    """An agent that asks for a lease again and again is told of once."""
    return "{} {}".format(text_of(refusal, "ref"), text_of(refusal, "agent", "by").casefold())


def told_refs(state: Json, name: str) -> list[str]:
    told = state.get(name)
    return [each for each in told if isinstance(each, str)] if isinstance(told, list) else []
