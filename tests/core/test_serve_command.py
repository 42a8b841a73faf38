"""`manage.py serve`: one process serves everything; errors are clear sentences."""

import os
import re
import signal
import socket
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from ctxhub.management.commands.serve import _warnings
from manage import STARTING
from sessions.given.models import BriefingItem
from tests.core.command_line import Installation, Server, installation, migrated_installation
from tests.hub import HttpClient
from tests.timing import PATIENCE_SECONDS, SOON_SECONDS, wait_until


@pytest.fixture(scope="module")
def ready(django_db_setup: None) -> Iterator[Installation]:
    with migrated_installation() as at:
        assert at.run("setup", "--no-input").returncode == 0
        yield at


def test_serve_answers_every_interface_and_stops_cleanly(ready: Installation) -> None:
    with ready.serving("--port", "0") as server:
        token = (ready.folder / "setup_token").read_text()
        assert server.hub.http().send("GET", "/healthz").body == {"status": "ok"}
        assert server.hub.http().send("GET", "/readyz").status == 200
        assert server.hub.http().send("POST", "/mcp", {}).status == 401
        assert "decision" in [tool["name"] for tool in server.hub.mcp(token).tools()]
        assert_the_admin_has_its_static_files(server.hub.http())
        server.process.send_signal(signal.SIGINT)
        assert server.process.wait(PATIENCE_SECONDS) == 0
        assert server.process.stdout
        assert server.process.stdout.read().endswith("Stopped.\n")


def assert_the_admin_has_its_static_files(http: HttpClient) -> None:
    page = http.send("GET", "/admin/login/").body
    [style, *_] = re.findall(r'href="(/static/unfold/[^"]+\.css[^"]*)"', page)
    answer = http.send("GET", style)
    assert (answer.status, answer.headers["content-type"]) == (200, 'text/css; charset="utf-8"')


def test_a_stopped_serve_answers_waiting_calls_and_writes_what_was_given(ready: Installation) -> None:
    token = (ready.folder / "setup_token").read_text()
    with ready.serving("--port", "0") as server, ThreadPoolExecutor() as pool:
        mcp, rest = server.hub.mcp(token), server.hub.rest(token, project="demo")
        mcp.call("decision", "set", key="k", value="v")
        over_mcp = pool.submit(mcp.call, "message", "inbox", agent="zed", wait_seconds=50)
        over_rest = pool.submit(rest.get, "updates/", wait_seconds=50)
        time.sleep(2)  # Nothing tells that a call waits; a call that has not begun is answered too.
        assert not over_mcp.done()
        assert not over_rest.done()
        given = ready.count(BriefingItem)
        server.hub.mcp(token).call("get", refs=["decision:k"])
        server.process.send_signal(signal.SIGTERM)
        assert over_mcp.result(SOON_SECONDS)["count"] == 0
        assert over_rest.result(SOON_SECONDS).status == 200
        server.process.wait(PATIENCE_SECONDS)
        assert ready.count(BriefingItem) == given + 1


@pytest.mark.one_engine
@pytest.mark.skipif(not Path("/proc").is_dir(), reason="finds the workers in /proc")
def test_workers_end_with_a_killed_serve(ready: Installation) -> None:
    with ready.serving("--port", "0", "--workers", "2") as server:
        workers = children_of(server.process.pid)
        assert len(workers) >= 2
        server.process.kill()
        wait_until(lambda: not any(is_alive(worker) for worker in workers))


@pytest.mark.one_engine
@pytest.mark.skipif(sys.platform != "linux", reason="shares connections on Linux alone")
def test_each_worker_listens_itself_and_the_others_go_on_when_one_dies(ready: Installation) -> None:
    with ready.serving("--port", "0", "--workers", "2") as server:
        port = server.hub.port
        # The first one that listens does so when all can.
        listeners = wait_until(lambda: _of_two_workers(server.process.pid, port))
        sockets = [each for of_worker in listeners.values() for each in of_worker]
        assert len(set(sockets)) == len(sockets) == 2
        os.kill(min(listeners), signal.SIGKILL)
        wait_until(lambda: not listeners[min(listeners)] <= listening_sockets(port))
        assert [server.hub.http().send("GET", "/healthz").status for _ in range(20)] == [200] * 20


def _of_two_workers(parent: int, port: int) -> dict[int, set[str]] | None:
    """Their sockets by process, once both listen."""
    listeners = listening_workers(parent, port)
    return listeners if len(listeners) == 2 else None


def listening_workers(parent: int, port: int) -> dict[int, set[str]]:
    """By process: its sockets that listen at the port."""
    listening = listening_sockets(port)
    found = {process: open_files(process) & listening for process in children_of(parent)}
    return {process: sockets for process, sockets in found.items() if sockets}


def listening_sockets(port: int) -> set[str]:
    lines = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    return {f"socket:[{line[9]}]" for line in lines if line[3] == "0A" and line[1].endswith(f":{port:04X}")}


def open_files(process: int) -> set[str]:
    """Without those that it closes meanwhile; none if it ends."""
    found = set()
    with suppress(FileNotFoundError, ProcessLookupError):
        for each in Path(f"/proc/{process}/fd").iterdir():
            with suppress(FileNotFoundError):
                found.add(os.readlink(each))
    return found


def children_of(parent: int) -> list[int]:
    processes = [int(folder.name) for folder in Path("/proc").iterdir() if folder.name.isdigit()]
    return [process for process in processes if state_and_parent(process)[1:] == [str(parent)]]


def is_alive(process: int) -> bool:
    return state_and_parent(process)[:1] not in ([], ["Z"])


def state_and_parent(process: int) -> list[str]:
    """Empty if there is no such process."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[:2]
    except (FileNotFoundError, ProcessLookupError):
        return []


def test_several_workers_serve_every_address_warn_and_write_what_was_given(ready: Installation) -> None:
    options = ("--port", "0", "--host", "0.0.0.0", "--workers", "2", "--mode", "mcp")
    with ready.serving(*options) as server:
        assert server.hub.http().send("GET", "/readyz").status == 200
        assert server.hub.http().send("GET", "/admin/").status == 404, "they serve MCP alone"
        mcp = server.hub.mcp((ready.folder / "setup_token").read_text())
        mcp.call("decision", "set", key="k", value="v")
        given = ready.count(BriefingItem)
        mcp.call("get", refs=["decision:k"])
        server.process.send_signal(signal.SIGTERM)
        server.process.wait(PATIENCE_SECONDS)
        assert ready.count(BriefingItem) == given + 1
        log = server.log.read_text()
    assert "CTXHUB_ALLOWED_HOSTS" in log
    assert ("on SQLite one process writes at a time" in log) == (
        "sqlite" in ready.environment["DATABASE_URL"]
    )


def test_serve_with_setup_prints_lines_with_its_port(django_db_setup: None) -> None:
    """What `make serve ARGS="--port N"` does, in a fresh clone and again."""
    port = free_port()
    with installation() as at:
        for _ in range(2):
            with at.serving("--setup", "--port", str(port)) as server:
                token = (at.folder / "setup_token").read_text()
                assert server.said.startswith(STARTING), "what takes so long is told at once"
                assert f"Admin: http://127.0.0.1:{port}/admin/" in server.said
                assert server.said.count(f"http://127.0.0.1:{port}/mcp") == 4
                assert server.said.count(token) == 5, "four clients, and hooks"
                assert ":8000" not in server.said
                assert "decision" in [tool["name"] for tool in server.hub.mcp(token).tools()]
                assert server.log.read_text() == "", "no note that the lines name another port"
        assert len(at.run("token", "list").stdout.splitlines()) == 1


@pytest.fixture(scope="module")
def configured(ready: Installation) -> Iterator[Server]:
    """A server that was told its public address, to log what it does, and to leave out MCP."""
    with ready.copied() as at:
        at.environment.update(CTXHUB_BASE_URL="https://hub.example.com", CTXHUB_LOG_LEVEL="INFO")
        with at.serving("--setup", "--port", "0", "--mode", "api") as server:
            yield server


@pytest.mark.one_engine
def test_a_configured_base_url_is_printed_in_the_lines(configured: Server) -> None:
    assert configured.said.count("https://hub.example.com/mcp") == 4


@pytest.mark.one_engine
def test_a_mode_serves_only_its_part(configured: Server) -> None:
    """Of MCP alone: test_several_workers_serve_every_address_warn_and_write_what_was_given."""
    assert configured.hub.http().send("GET", "/admin/").status == 302
    assert configured.hub.http().send("POST", "/mcp", {}).status == 404


@pytest.mark.one_engine
def test_the_log_masks_a_token_in_an_address(configured: Server) -> None:
    token = (configured.log.parent / "setup_token").read_text().strip()
    configured.hub.http().send("GET", f"/api/v1/{token}/?token={token}")
    log = configured.log.read_text()
    assert "/api/v1/[credential: ctxhub token]/?token=[credential" in log
    assert token not in log


@pytest.mark.one_engine
def test_setup_refuses_a_taken_port_before_creating_files(django_db_setup: None) -> None:
    with installation() as at, socket.create_server(("127.0.0.1", 0)) as other:
        port = str(other.getsockname()[1])
        refused = at.run("serve", "--setup", "--port", port)
        assert refused.returncode == 1
        assert refused.stderr.startswith(f"CommandError: Port {port} on 127.0.0.1 is taken")
        assert (refused.stdout, list(at.folder.iterdir())) == (STARTING, [])


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
    return port


def test_a_taken_port_is_refused_without_setup_too() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(CommandError, match=f"^Port {port} on 127.0.0.1 is taken"):
            call_command("serve", "--port", str(port))


@pytest.mark.parametrize("arguments", [("--port", "65536"), ("--workers", "0"), ("--mode", "none")])
def test_an_invalid_option_is_refused(arguments: tuple[str, str]) -> None:
    with pytest.raises(CommandError, match=arguments[0]):
        call_command("serve", *arguments)


def test_a_database_without_tables_is_refused_with_a_sentence(django_db_setup: None) -> None:
    with installation() as at:
        refused = at.run("serve", "--port", "0")
    assert refused.returncode == 1
    assert "`manage.py setup`" in refused.stderr


@pytest.mark.one_engine
def test_an_unreachable_database_is_refused_with_a_sentence(ready: Installation) -> None:
    """A missing file is refused in tests/core/test_bad_variables.py."""
    refused = ready.run("serve", "--port", "0", DATABASE_URL="postgres://nobody@127.0.0.1:1/none")
    assert refused.returncode == 1
    assert refused.stderr.startswith("CommandError: The database cannot be used:")
    assert len(refused.stderr.splitlines()) == 1


@pytest.mark.one_engine
@pytest.mark.parametrize(
    ("base", "proxy", "told"), [("https", True, 0), ("https", False, 1), ("http", True, 1)]
)
def test_plain_http_is_told_unless_a_proxy_has_tls(settings: Any, base: str, proxy: bool, told: int) -> None:
    settings.BEHIND_PROXY, settings.HTTPS = proxy, base == "https"
    notes = _warnings("0.0.0.0", 8000, 1, knows_port=True)
    assert len([note for note in notes if "plain text over http" in note]) == told
