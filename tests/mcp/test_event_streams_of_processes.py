"""Event streams of several processes, of one that is killed, and of one that ends."""

import signal
from collections.abc import Iterator

import pytest

from tests.core.command_line import Installation, Server, migrated_installation
from tests.mcp.test_event_streams import slow_reader
from tests.streams import ask, following
from tests.timing import PATIENCE_SECONDS


@pytest.fixture(scope="module")
def ready(django_db_setup: None) -> Iterator[Installation]:
    with migrated_installation() as at:
        assert at.run("setup", "--no-input").returncode == 0
        yield at


@pytest.fixture(scope="module")
def token(ready: Installation) -> str:
    return (ready.folder / "setup_token").read_text()


def write(server: Server, token: str, key: str) -> None:
    reply = server.hub.rest(token, project="demo").post(
        "decisions/", {"key": key, "value": 1, "agent": "ben"}
    )
    assert reply.status in (200, 201), reply


def test_what_one_process_writes_reaches_the_streams_of_another(ready: Installation, token: str) -> None:
    with (
        ready.serving("--port", "0") as one,
        ready.serving("--port", "0") as other,
        following(one.hub, token, project="demo", agent="ada") as stream,
    ):
        write(other, token, "of/another")
        write(one, token, "of/its/own")
        assert stream.refs(2) == ["decision:of/another", "decision:of/its/own"]


def test_a_reader_of_a_killed_process_misses_nothing(ready: Installation, token: str) -> None:
    got: list[str] = []
    with ready.serving("--port", "0") as other:
        with ready.serving("--port", "0") as killed:
            with following(killed.hub, token, project="demo", agent="ada") as stream:
                last = stream.beginning
                write(other, token, "killed/0")
                last = stream.next()
                got.append(last.data["ref"])
                write(killed, token, "killed/1")
                killed.process.kill()
                killed.process.wait(PATIENCE_SECONDS)
                for last in stream.rest():
                    got.append(last.data["ref"])
            write(other, token, "killed/2")
        with ready.serving("--port", "0") as again:
            write(again, token, "killed/3")
            with following(again.hub, token, project="demo", agent="ada", last_id=last.id) as stream:
                write(other, token, "killed/4")
                got += stream.refs(5 - len(got))
    assert got == [f"decision:killed/{number}" for number in range(5)]


def test_a_process_ends_at_once_beside_open_streams(ready: Installation, token: str) -> None:
    with ready.serving("--port", "0") as server:
        with (
            following(server.hub, token, project="demo", agent="ada") as stream,
            slow_reader(server.hub, token, project="demo"),
        ):
            for number in range(3):
                write(server, token, f"end/{number}")
            assert stream.refs(3)
            server.process.send_signal(signal.SIGTERM)
            stream.ends()
            server.process.wait(PATIENCE_SECONDS)
        told = server.log.read_text()
        assert "Exception" not in told
        assert "timeout graceful shutdown exceeded" not in told


@pytest.mark.one_engine
@pytest.mark.parametrize(("mode", "status"), [("api", 200), ("both", 200), ("mcp", 404)])
def test_who_serves_rest_serves_streams(mode: str, status: int, ready: Installation, token: str) -> None:
    with ready.serving("--port", "0", "--mode", mode) as server:
        answer = ask(server.hub, "/api/v1/projects/demo/events/", token)
        assert answer.status == status
        answer.close()
