"""A client gets the program of its hub, whole or not at all."""

import socket
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from ctxhub.connect.archive import Archive, build_archive, client_archive
from tests.integrations.hook import PACKAGE, Workplace, copy_package, put_archive
from tests.integrations.stub_hub import Answer, StubHub, not_http, serving

PATH = "/connect/ctxhub.pyz"


def answer(archive: Archive) -> Answer:
    headers = {"Ctxhub-Client-Version": archive.version, "Ctxhub-Client-Sha256": archive.sha256}
    return Answer(archive.content, 200, "application/octet-stream", headers)


@pytest.fixture
def newer(tmp_path: Path) -> Archive:
    package = tmp_path / "newer" / PACKAGE.name
    copy_package(package)
    (package / "help.py").write_text('HELP = "newer\\n"\n')
    return build_archive(package)


@pytest.fixture
def installed(at_stub: Workplace) -> Path:
    """The client in the data folder, at a hub that serves the same version."""
    assert at_stub.run("install", script=put_archive(at_stub.folder)).code == 0
    return at_stub.folder / "home" / ".local" / "share" / "ctxhub" / "ctxhub.py"


def test_the_hubs_program_takes_the_place_of_this_one(
    at_stub: Workplace, stub: StubHub, installed: Path, newer: Archive
) -> None:
    stub.answers[PATH] = answer(newer)
    run = at_stub.run("upgrade", script=installed)
    assert (run.code, run.err) == (0, "")
    assert f"{installed}: written." in run.out
    assert at_stub.run("--version", script=installed).out == f"ctxhub {newer.version}\n"
    assert at_stub.run("help", script=installed).out == "newer\n"


def test_the_same_version_is_left_as_it_is(at_stub: Workplace, stub: StubHub, installed: Path) -> None:
    stub.answers[PATH] = answer(client_archive())
    run = at_stub.run("upgrade", script=installed)
    assert (run.code, run.out) == (0, f"This is the version of the hub: {client_archive().version}.\n")


def test_the_token_is_not_sent(at_stub: Workplace, stub: StubHub, installed: Path) -> None:
    at_stub.run("upgrade", script=installed)
    [sent] = stub.sent
    assert (sent.path, "authorization" in sent.headers) == (PATH, False)


def test_a_hub_below_a_path_is_asked_there(at_stub: Workplace, stub: StubHub, installed: Path) -> None:
    at_stub.variables["CTXHUB_URL"] = f"{stub.url}/hub/mcp"
    at_stub.run("upgrade", script=installed)
    assert [sent.path for sent in stub.sent] == [f"/hub{PATH}"]


def cut(archive: Archive) -> Answer:
    return replace(answer(archive), body=archive.content[:-9])


@pytest.mark.parametrize(
    ("answered", "told"),
    [
        (cut, "is not whole"),
        (lambda archive: replace(answer(archive), headers={}), "serves no client: it answers 200"),
        (lambda archive: Answer("No such page", 404, "text/plain"), "serves no client: it answers 404"),
        (lambda archive: Answer(b"", 302, headers={"Location": "http://127.0.0.1:9/"}), "it answers 302"),
    ],
    ids=["cut", "another server", "an earlier hub", "a redirect"],
)
def test_another_answer_changes_nothing(
    at_stub: Workplace,
    stub: StubHub,
    installed: Path,
    newer: Archive,
    answered: Callable[[Archive], Answer],
    told: str,
) -> None:
    stub.answers[PATH] = answered(newer)
    before = {path: path.read_bytes() for path in installed.parent.rglob("*.py")}
    run = at_stub.run("upgrade", script=installed)
    assert (run.code, run.out) == (1, "")
    assert told in run.err
    assert {path: path.read_bytes() for path in installed.parent.rglob("*.py")} == before


def test_a_server_that_speaks_no_http_is_told(at_stub: Workplace, installed: Path) -> None:
    with serving(not_http) as other:
        at_stub.variables["CTXHUB_URL"] = other.url
        run = at_stub.run("upgrade", script=installed)
    assert (run.code, run.out) == (1, "")
    assert "does not answer as one" in run.err


def test_a_hub_that_is_away_is_told(at_stub: Workplace, installed: Path) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        at_stub.variables["CTXHUB_URL"] = f"http://127.0.0.1:{closed.getsockname()[1]}"
        run = at_stub.run("upgrade", script=installed)
    assert (run.code, run.out) == (1, "")
    assert "refused" in run.err


def test_an_address_that_is_none_is_told(at_stub: Workplace, installed: Path) -> None:
    at_stub.variables["CTXHUB_URL"] = "hub.example.com"
    run = at_stub.run("upgrade", script=installed)
    assert run.code == 1
    assert "write http://hub.example.com" in run.err


def test_an_archive_is_upgraded_into_the_data_folder(
    at_stub: Workplace, stub: StubHub, newer: Archive
) -> None:
    stub.answers[PATH] = answer(newer)
    own = put_archive(at_stub.repository / ".ctxhub")
    before = own.read_bytes()
    assert at_stub.run("upgrade", script=own).code == 0
    assert own.read_bytes() == before
    launcher = at_stub.folder / "home" / ".local" / "share" / "ctxhub" / "ctxhub.py"
    assert at_stub.run("--version", script=launcher).out == f"ctxhub {newer.version}\n"
