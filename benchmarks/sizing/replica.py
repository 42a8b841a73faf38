"""How old what a streaming replica answers is: `python -m benchmarks.sizing.replica [--people 100]`.

A hub writes to a primary at the team's peak, then as fast as it can. Meanwhile the replica is asked when it
has what the primary has committed. At the end, a process on the replica has to answer as the primary does.
"""

import argparse
import json
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import psycopg

from benchmarks.databases import ROOT, Engine, Hub, databases_of, temporary_server
from benchmarks.figures import timing
from benchmarks.report import table
from benchmarks.servers import Server, serving
from benchmarks.sizing.filling import agent_name, slug
from benchmarks.sizing.loading import Answered, Load
from benchmarks.sizing.measuring import CLIENTS, SERVER_SETTINGS, Place, agents_of, filled
from benchmarks.sizing.model import Team
from benchmarks.sizing.places import fill_places
from tests.replicas import Replica, replica_of

PAGE = ROOT / "docs" / "sizing.md"
EVERY_SECONDS, PATIENCE_SECONDS = 0.05, 60
# The hub also writes in the background, up to some seconds later.
CATCH_UP_SECONDS = 30
LISTS = ("decisions/", "memories/", "changes/", "sessions/", "activity/", "trends/", "stats/")


class Watch(threading.Thread):
    """Notes, again and again, how long the replica takes to have what the primary has committed by then."""

    def __init__(self, primary: str, replica: str) -> None:
        super().__init__(daemon=True)
        self.primary, self.replica = primary, replica
        self.lags: list[float] = []
        self._ended = threading.Event()

    def run(self) -> None:
        with (
            psycopg.connect(self.primary, autocommit=True) as ours,
            psycopg.connect(self.replica, autocommit=True) as theirs,
        ):
            while not self._ended.wait(EVERY_SECONDS):
                committed, began = _one(ours, "SELECT pg_current_wal_flush_lsn()"), time.perf_counter()
                while not _one(theirs, "SELECT pg_last_wal_replay_lsn() >= %s::pg_lsn", committed):
                    if time.perf_counter() - began > PATIENCE_SECONDS:
                        raise SystemExit("The replica does not follow.")
                self.lags.append(time.perf_counter() - began)

    def end(self) -> None:
        self._ended.set()
        self.join()


def _one(connection: psycopg.Connection[Any], statement: str, *values: object) -> Any:
    row = connection.execute(statement, values).fetchone()
    assert row is not None
    return row[0]


@contextmanager
def watched(hub: Hub, replica: Hub) -> Iterator[Watch]:
    watch = Watch(hub.url, replica.url)
    watch.start()
    try:
        yield watch
    finally:
        watch.end()


def on_replica(hub: Hub, replica: Replica) -> Hub:
    """The same database on the replica, with a folder of its own."""
    home = hub.home / "replica"
    home.mkdir()
    url = urlunsplit(urlsplit(replica.url)._replace(path=urlsplit(hub.url).path))
    return replace(hub, url=url, home=home)


def different_answers(server: Server, other: Server) -> list[str]:
    """Of the lists that both are asked for, those that they still answer differently after a while."""
    different, ends = [*LISTS], time.monotonic() + CATCH_UP_SECONDS
    while different and time.monotonic() < ends:
        different = [path for path in different if _answer(server, path) != _answer(other, path)]
    return different


def _answer(server: Server, path: str) -> dict[str, Any]:
    """Without the place of the next page, in which the moment of the call may stand."""
    channel = server.connect_rest()
    channel.send(channel.frame("GET", path, agent=agent_name(0)))
    while (body := channel.receive()) is None:
        pass
    channel.close()
    answer: dict[str, Any] = json.loads(body)
    return {name: value for name, value in answer.items() if name != "next"}


def measure(team: Team, seconds: float, months: float) -> str:
    """As a table."""
    with temporary_server(SERVER_SETTINGS) as primary, databases_of(primary.url) as factory:
        hub, tokens = filled(Place(Engine.POSTGRES, factory), str(team.people), str(months))
        hub = replace(hub, token=tokens[0], project=slug(0))
        with replica_of(primary) as replica, serving(hub) as server:
            copy = on_replica(hub, replica)
            load = Load([*agents_of(server, hub, team, months, tokens)])
            rows = [
                _row(hub, copy, f"{team.peak:,.1f} a second", lambda: load.at_rate(team.peak, seconds)),
                _row(
                    hub,
                    copy,
                    f"{CLIENTS} clients without pauses",
                    lambda: load.without_pause(CLIENTS, seconds),
                ),
            ]
            with serving(copy) as other:
                wrong = different_answers(server, other)
    if wrong:
        raise SystemExit(f"The replica answered otherwise: {', '.join(wrong)}")
    return table(["calls", "reached a second", "looks", "p50, ms", "p95, ms", "worst, ms"], rows)


def _row(hub: Hub, copy: Hub, asked: str, run: Callable[[], Answered]) -> list[str]:
    with watched(hub, copy) as watch:
        answered = run()
    found = timing([watch.lags])
    figures = [f"{found.p50:.0f}", f"{found.p95:.0f}", f"{found.worst:.0f}"]
    return [asked, f"{answered.per_second:,.1f}", f"{found.calls:,}", *figures]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.sizing.replica")
    parser.add_argument("--people", type=int, default=100)
    parser.add_argument("--months", type=float, default=0.02, help="what the hub holds before")
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--write", action="store_true", help=f"put the table into {PAGE.relative_to(ROOT)}")
    options = parser.parse_args()
    made = measure(Team(options.people), options.seconds, options.months)
    print(made)
    if options.write:
        PAGE.write_text(fill_places(PAGE.read_text(), {"replica": made}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
