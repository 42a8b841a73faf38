"""Watches for a session until it is ended, its client has ended, or nobody reads what it writes."""

from __future__ import annotations

import sys
import time

from ctxhub_client.hooks.notices import refused, shown_address, unset
from ctxhub_client.process import log
from ctxhub_client.sessions import committing_session
from ctxhub_client.watching.asking import Asker, Away, Refused
from ctxhub_client.watching.ending import Meanwhile, Over, end_at_signals
from ctxhub_client.watching.lines import Lines, write
from ctxhub_client.watching.news import News
from ctxhub_client.watching.things import Thing, text_of_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Callable, TypeVar

    T = TypeVar("T")

FIRST_PAUSE_SECONDS = 0.5
LONGEST_PAUSE_SECONDS = 60.0
# A shorter absence is not worth a line.
AWAY_SECONDS = 60.0
# Waits that end early with nothing: of a hub that ends, or one that cannot let requests wait.
EARLY_SECONDS = 2.0

OPTIONS = ("--json", "--once")
IS_AWAY = "ctxhub: the hub at {} has been away for {} s ({}): nothing is told until it is back."
IS_BACK = "ctxhub: the hub at {} is back."


def run_watch(arguments: list[str]) -> int:
    unknown = [each for each in arguments if each not in OPTIONS]
    if unknown:
        sys.stderr.write("watch takes --json and --once, not {}.\n".format(" ".join(unknown)))
        return 1
    end_at_signals()
    hub = Asker(*committing_session())
    as_json = "--json" in arguments
    try:
        problem = unusable(hub) or Watch(hub, as_json, "--once" in arguments).run()
        if problem:
            write(text_of_line(Thing("hub", "", "", problem, state="refused"), as_json))
            return 1
    except Over:
        log("nobody is there any more")
    return 0


def unusable(hub: Asker) -> str:
    """Why nothing can be asked; "" if all is well so far."""
    if hub.is_unset:
        return unset(hub)
    return "ctxhub: " + hub.problem if hub.problem else ""


class Watch:
    def __init__(self, hub: Asker, as_json: bool, is_once: bool) -> None:
        self._hub = hub
        self._news = News(hub)
        self._lines = Lines(as_json, self._note_told)
        self._is_once = is_once
        self._failing_since = 0.0
        self._why = ""
        self._is_away_told = False
        self._meanwhile = hub.meanwhile = Meanwhile(self._work)

    def run(self) -> str:
        """Returns why it cannot go on. Raises Over."""
        try:
            self._lines.add(self._insistently(lambda: self._news.begin(self._is_once)))
            while True:
                self._watch_once()
        except Refused:
            return refused(self._hub)

    def _watch_once(self) -> None:
        """Each step by itself: what one has found is not lost when the hub goes away in the next."""
        began = time.monotonic()
        found = self._insistently(self._news.mail) if self._insistently(self._news.wait) else []
        self._lines.add(found)
        wanted = self._insistently(self._news.wanted)
        self._lines.add(wanted)
        if not (found or wanted) and time.monotonic() - began < EARLY_SECONDS:
            self._meanwhile.pause(EARLY_SECONDS)

    def _insistently(self, ask: Callable[[], T]) -> T:
        """Ask until the hub answers."""
        pause = FIRST_PAUSE_SECONDS
        while True:
            try:
                answer = ask()
            except Away as error:
                self._why = str(error)
                self._failing_since = self._failing_since or time.monotonic()
                self._meanwhile.pause(pause)
                pause = min(2 * pause, LONGEST_PAUSE_SECONDS)
                continue
            self._failing_since = 0.0
            if self._is_away_told:
                self._is_away_told = False
                self._tell(IS_BACK.format(shown_address(self._hub)), "back")
            return answer

    def _work(self) -> float:
        """What is done while something is waited for. Returns in how many seconds it is due again."""
        due = self._lines.write_due()
        if not self._failing_since or self._is_away_told:
            return due
        left = self._failing_since + AWAY_SECONDS - time.monotonic()
        if left > 0:
            return min(due, left)
        self._is_away_told = True
        self._tell(IS_AWAY.format(shown_address(self._hub), int(AWAY_SECONDS), self._why), "away")
        return self._lines.write_due()

    def _tell(self, line: str, state: str) -> None:
        self._lines.add([Thing("hub", "", "", line, state=state)])

    def _note_told(self, things: list[Thing]) -> None:
        told = [each for each in things if each.kind != "hub"]
        if told:
            self._news.keep(told)
            if self._is_once:
                raise Over
