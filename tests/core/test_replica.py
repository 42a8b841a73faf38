"""A process of the hub on a streaming replica reads what the primary has committed, and writes nothing."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from http.cookies import SimpleCookie
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import psycopg
import pytest
from django.db import connection

from tests.core.command_line import Installation, installation
from tests.hub import HttpClient
from tests.postgres import Server, bundled_programs, debian_programs, temporary_server
from tests.replicas import Replica, replica_of
from tests.timing import wait_until

PERSON, PASSWORD = "ada", "only-for-tests-1"


@dataclass(frozen=True)
class Pair:
    """A hub on a primary, the same hub on its replica, and a token for both."""

    source: Server
    primary: Installation
    replica: Installation
    server: Replica
    token: str

    def write(self, key: str) -> None:
        """A decision at the primary, which the replica then has."""
        with self.primary.serving("--port", "0") as serving:
            rest = serving.hub.rest(self.token, project="demo")
            assert (
                rest.send("POST", "/api/v1/projects/demo/decisions/", {"key": key, "value": "v"}).status
                == 201
            )
        self.follow()

    def follow(self) -> None:
        committed = one(self.primary, "SELECT pg_current_wal_flush_lsn()::text")
        wait_until(lambda: one(self.replica, f"SELECT pg_last_wal_replay_lsn() >= '{committed}'"))


def one(at: Installation, statement: str) -> Any:
    with psycopg.connect(at.environment["DATABASE_URL"]) as server:
        [[found]] = server.execute(statement.encode()).fetchall()
        return found


@pytest.fixture(scope="module")
def pair(django_db_setup: None) -> Iterator[Pair]:
    """On servers of its own."""
    if connection.vendor != "postgresql":
        pytest.skip("SQLite has no replicas")
    programs = debian_programs() or bundled_programs()
    if programs is None:
        pytest.skip("no programs of PostgreSQL are here to make a replica with")
    with temporary_server(programs) as server, installation() as at, installation() as other:
        primary = hub_on(at, server)
        made = primary.run(
            *("setup", "--no-input", "--project", "demo"),
            DJANGO_SUPERUSER_USERNAME=PERSON,
            DJANGO_SUPERUSER_PASSWORD=PASSWORD,
        )
        assert made.returncode == 0, made.stderr
        created = primary.run(
            "token", "create", "--project", "demo", "--scopes", "read,write,admin", "--plain"
        )
        (other.folder / "secret_key").write_text((at.folder / "secret_key").read_text())
        with replica_of(server) as standby:
            pair = Pair(server, primary, hub_on(other, standby), standby, created.stdout.strip())
            pair.write("api/auth")
            yield pair


def hub_on(at: Installation, server: Server) -> Installation:
    return replace(at, environment={**at.environment, "DATABASE_URL": server.url})


def test_reads_are_answered_and_writes_refused(pair: Pair) -> None:
    with pair.replica.serving("--port", "0") as serving:
        rest, mcp = serving.hub.rest(pair.token, project="demo"), serving.hub.mcp(pair.token)
        listed = rest.send("GET", "/api/v1/projects/demo/decisions/")
        assert [item["key"] for item in listed.body["items"]] == ["api/auth"]
        assert mcp.call("get", refs=["decision:api/auth"])["items"][0]["value"] == "v"
        refused = rest.send("POST", "/api/v1/projects/demo/decisions/", {"key": "k", "value": "v"})
        assert (refused.status, refused.body["error"]) == (503, "internal")
        assert rest.send("GET", "/healthz").status == 200
        ready = rest.send("GET", "/readyz")
        assert (ready.status, ready.body["database"], ready.body["writable"]) == (503, True, False)
    pair.follow()
    assert one(pair.replica, "SELECT count(*) FROM memory_decision") == 1


def test_who_signed_in_at_the_primary_sees_the_admin(pair: Pair) -> None:
    with pair.primary.serving("--port", "0") as serving:
        status, cookies = signed_in(serving.hub.http())
        assert (status, "sessionid" in cookies) == (302, True)
    pair.follow()
    with pair.replica.serving("--port", "0") as serving:
        http = serving.hub.http()
        for page in ("/admin/", "/admin/memory/decision/", "/admin/core/event/timeline/"):
            shown = http.send("GET", page, headers={"Cookie": cookies})
            assert (shown.status, "location" in shown.headers) == (200, False), page
        assert signed_in(serving.hub.http())[0] == 503


def signed_in(http: HttpClient) -> tuple[int, str]:
    """The status of a sign-in, and the cookies after it."""
    cookie = SimpleCookie(http.send("GET", "/admin/login/").headers["set-cookie"])["csrftoken"].value
    form = {"username": PERSON, "password": PASSWORD, "csrfmiddlewaretoken": cookie, "next": "/admin/"}
    headers = {"Content-Type": "application/x-www-form-urlencoded", "Cookie": f"csrftoken={cookie}"}
    reply = http.send("POST", "/admin/login/", urlencode(form).encode(), headers)
    given = re.findall(r"(?:csrftoken|sessionid)=[^;,\s]+", reply.headers.get("set-cookie", ""))
    return reply.status, "; ".join(given)


def test_an_export_of_the_replica_is_that_of_the_primary(pair: Pair, tmp_path: Path) -> None:
    lines = []
    for name, at in (("primary", pair.primary), ("replica", pair.replica)):
        file = tmp_path / f"{name}.jsonl"
        done = at.run("export", str(file), "--project", "demo")
        assert done.returncode == 0, done.stderr
        lines.append(file.read_text().splitlines()[1:-1])  # The first line has the time of the export.
    assert lines[0] == lines[1]
    assert any('"api/auth"' in line for line in lines[0])


def test_a_backup_is_made_from_the_replica(pair: Pair, tmp_path: Path) -> None:
    file = tmp_path / "hub.ctxhub"
    done = pair.replica.run("backup", str(file))
    assert (done.returncode, file.exists()) == (0, True), done.stderr
    assert "does not remember this backup" in done.stdout + done.stderr


def test_the_doctor_tells_whether_it_follows(pair: Pair) -> None:
    assert replica_finding(pair.primary) == ("ok", "the database is no replica of another one")
    assert replica_finding(pair.replica) == (
        "ok",
        "the database is a replica that follows: reads are answered, writes refused",
    )
    pair.server.stop_following()
    try:
        wait_until(lambda: one(pair.replica, "SELECT count(*) FROM pg_stat_wal_receiver") == 0)
        state, text = replica_finding(pair.replica)
        assert (state, "receives nothing" in text) == ("problem", True)
    finally:
        pair.server.go_on_following()
        wait_until(lambda: one(pair.replica, "SELECT count(*) FROM pg_stat_wal_receiver") == 1)


def replica_finding(at: Installation) -> tuple[str, str]:
    done = at.run("doctor", "--json")
    [found] = [each for each in json.loads(done.stdout)["findings"] if each["check"] == "replica"]
    return found["state"], found["text"]


def test_a_promoted_replica_writes_without_a_restart(pair: Pair) -> None:
    with replica_of(pair.source) as another, hub_on(pair.replica, another).serving("--port", "0") as serving:
        rest = serving.hub.rest(pair.token, project="demo")
        assert rest.send("GET", "/readyz").status == 503
        another.promote()
        wait_until(lambda: rest.send("GET", "/readyz").status == 200)
        written = rest.send("POST", "/api/v1/projects/demo/decisions/", {"key": "after/all", "value": "v"})
        assert written.status == 201
    assert one(pair.primary, "SELECT count(*) FROM memory_decision WHERE key = 'after/all'") == 0
