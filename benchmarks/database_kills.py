"""Ends a temporary PostgreSQL under a hub that runs, in one way after the other, and has it come back."""

import os
import signal
import time
from itertools import cycle
from random import Random

import psycopg

from tests import postgres

ATTEMPTS = 200
SECONDS_BETWEEN = 0.05
# Without it the server may lose what was committed in the last half second.
SETTINGS = {"synchronous_commit": "on"}


class DatabaseKills:
    """In turns: the server is killed, stops at once, loses one process (and ends the others itself), or ends
    all connections.
    """

    def __init__(self, server: postgres.Server, random: Random) -> None:
        self._server, self._random = server, random
        self._ways = cycle((self._kill_server, self._kill_process, self._end_connections, self._stop_server))

    def kill(self) -> None:
        """Returns when the server takes connections again."""
        next(self._ways)()
        self._wait()

    def _kill_server(self) -> None:
        os.kill(self._server.pid, signal.SIGKILL)
        self._start_again()

    def _stop_server(self) -> None:
        self._server.stop()
        self._start_again()

    def _kill_process(self) -> None:
        """PostgreSQL takes its memory for damaged then, and recovers as after a crash."""
        os.kill(self._random.choice(self._clients()), signal.SIGKILL)
        time.sleep(SECONDS_BETWEEN)

    def _end_connections(self) -> None:
        with psycopg.connect(self._server.url, autocommit=True) as connection:
            for pid in self._clients():
                connection.execute("SELECT pg_terminate_backend(%s)", [pid])

    def _clients(self) -> list[int]:
        statement = """SELECT pid FROM pg_stat_activity
            WHERE backend_type = 'client backend' AND datname <> current_database()"""
        with psycopg.connect(self._server.url) as connection:
            return [pid for (pid,) in connection.execute(statement).fetchall()]

    def _start_again(self) -> None:
        """The processes of a killed server take a moment to notice."""
        for _ in range(ATTEMPTS):
            time.sleep(SECONDS_BETWEEN)
            try:
                self._server.start_again()
            except SystemExit:
                continue
            return
        raise SystemExit("PostgreSQL does not start again.")

    def _wait(self) -> None:
        for _ in range(ATTEMPTS):
            try:
                psycopg.connect(self._server.url).close()
            except psycopg.OperationalError:
                time.sleep(SECONDS_BETWEEN)
                continue
            return
        raise SystemExit("PostgreSQL does not come back.")
