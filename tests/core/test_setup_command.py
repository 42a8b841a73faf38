"""`manage.py setup`: sets a hub up once, and prints the lines for clients each time."""

import itertools
import json
import os
import re
import shlex
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from subprocess import PIPE
from typing import Any

import pytest
from django.conf import LazySettings
from django.contrib.auth import authenticate
from django.core.management.base import CommandError
from django.db import connection

from ctxhub import env
from ctxhub.core.accounts.access_tokens import create_token, find_token, revoke_token
from ctxhub.core.accounts.own_tokens import rotate_token
from ctxhub.core.kit.sqlite_file import ConnectionToExisting, close_to_others, make_file
from ctxhub.core.models import AccessToken, Project
from ctxhub.management.commands.setup import project_to_connect
from ctxhub.management.first_user import ensure_superuser
from ctxhub.management.ready_lines import as_text, stdio_environment, stdio_lines
from ctxhub.management.refusals import as_command_errors
from ctxhub.management.setup_token import ensure_token, kept_project
from tests.core.command_line import Installation, installation
from tests.people import person
from tests.timing import PATIENCE_SECONDS


@dataclass(frozen=True)
class TwoRuns:
    """The outputs, and the modes of the files that the first run created though its umask was 0."""

    at: Installation
    first: str
    second: str
    created: dict[str, int]


@pytest.fixture(scope="module")
def two_runs(django_db_setup: None) -> Iterator[TwoRuns]:
    with installation() as at:
        first = at.run("setup", "--no-input", umask=0)
        created = modes(at)
        second = at.run("setup", "--no-input")
        assert (first.returncode, second.returncode, first.stderr) == (0, 0, "")
        yield TwoRuns(at, first.stdout, second.stdout, created)


def modes(at: Installation) -> dict[str, int]:
    return {file.name: file.stat().st_mode & 0o777 for file in at.folder.iterdir() if file.is_file()}


# -- Output ----------------------------------------------------------------------------------------


@pytest.mark.one_engine
def test_only_the_first_run_shows_the_password(two_runs: TwoRuns) -> None:
    assert re.search(r"as admin, password \w{16} \(shown this once\)", two_runs.first)
    assert "password" not in two_runs.second


@pytest.mark.one_engine
def test_a_second_run_changes_nothing_and_prints_the_same_lines(two_runs: TwoRuns) -> None:
    assert re.sub(r", password .*", "", two_runs.first) == two_runs.second
    assert len(two_runs.at.run("token", "list").stdout.splitlines()) == 1


@pytest.mark.one_engine
def test_the_output_fits_one_screen(two_runs: TwoRuns) -> None:
    assert len(two_runs.first.splitlines()) <= 26


@pytest.mark.one_engine
def test_the_static_files_are_collected(two_runs: TwoRuns) -> None:
    assert (two_runs.at.folder / "static" / "unfold").is_dir()


# -- Lines for clients -----------------------------------------------------------------------------


@pytest.mark.one_engine
def test_every_http_line_names_the_hub_and_carries_the_token(two_runs: TwoRuns) -> None:
    token = (two_runs.at.folder / "setup_token").read_text()
    for line in client_lines(two_runs.first)[:4]:
        assert "http://127.0.0.1:8000/mcp" in line
        assert token in line


@pytest.mark.one_engine
def test_the_http_lines_are_in_each_clients_syntax(two_runs: TwoRuns) -> None:
    claude, codex, cursor, vscode = client_lines(two_runs.first)[:4]
    token = (two_runs.at.folder / "setup_token").read_text()
    bearer = f"Authorization: Bearer {token}"
    url = "http://127.0.0.1:8000/mcp"
    assert shlex.split(claude) == [
        *("claude", "mcp", "add", "--transport", "http", "ctxhub", url),
        *("--header", bearer, "--header", "Ctxhub-Agent: claude"),
    ]
    assert codex == (
        f"export CTXHUB_TOKEN={token} && "
        f"codex mcp add ctxhub --url '{url}?client=codex' --bearer-token-env-var CTXHUB_TOKEN"
    )
    headers = {"Authorization": f"Bearer {token}"}
    assert json.loads(cursor) == {
        "mcpServers": {"ctxhub": {"url": url, "headers": {**headers, "Ctxhub-Agent": "cursor"}}}
    }
    assert shlex.split(vscode)[:2] == ["code", "--add-mcp"]
    assert json.loads(shlex.split(vscode)[2]) == {
        "name": "ctxhub",
        "type": "http",
        "url": url,
        "headers": {**headers, "Ctxhub-Agent": "vscode"},
    }


@pytest.mark.one_engine
def test_the_variables_of_hooks_are_a_line_to_copy(two_runs: TwoRuns) -> None:
    token = (two_runs.at.folder / "setup_token").read_text()
    line = f"export CTXHUB_URL=http://127.0.0.1:8000 CTXHUB_TOKEN={token} CTXHUB_AGENT="
    assert line in two_runs.first.splitlines()


CLIENTS = ("claude", "codex", "cursor", "vscode")


@pytest.mark.one_engine
def test_the_stdio_lines_work_as_printed(two_runs: TwoRuns) -> None:
    """The lines differ only in the agent, so the server of one of them is started."""
    servers = [stdio_server(line) for line in client_lines(two_runs.first)[4:]]
    assert [command[-2:] for command, _ in servers] == [["--agent", name] for name in CLIENTS]
    assert all((command[:-2], told) == (servers[0][0][:-2], servers[0][1]) for command, told in servers)
    command, variables = servers[-1]
    environment = {"PATH": os.environ["PATH"], "HOME": os.environ["HOME"], **variables}
    with subprocess.Popen(command, env=environment, cwd="/", stdin=PIPE, stdout=PIPE, text=True) as server:
        initialized = send_request(server, "initialize", INITIALIZE)
        tools = send_request(server, "tools/list", {})
        assert server.stdin
        server.stdin.close()
        assert server.wait(PATIENCE_SECONDS) == 0
    assert initialized["serverInfo"]["name"] == "ctxhub"
    assert "decision" in [tool["name"] for tool in tools["tools"]]


def send_request(server: subprocess.Popen[str], method: str, params: dict[str, Any]) -> dict[str, Any]:
    assert server.stdin
    assert server.stdout
    print(
        json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}),
        file=server.stdin,
        flush=True,
    )
    result: dict[str, Any] = json.loads(server.stdout.readline())["result"]
    return result


@pytest.mark.parametrize("configured_url", ["", "postgres://hub@db/hub"])
def test_a_stdio_line_omits_variables_that_the_server_finds_itself(
    settings: LazySettings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, configured_url: str
) -> None:
    monkeypatch.setattr(env, "ROOT", tmp_path)
    monkeypatch.setattr(env, "kept", {"DATABASE_URL": configured_url}.get)
    settings.VAR_DIR = tmp_path / "var"
    settings.DATABASE_URL = configured_url or f"sqlite:///{tmp_path}/var/ctxhub.sqlite3"
    assert stdio_environment() == {}


INITIALIZE = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "a client", "version": "1"},
}


def client_lines(output: str) -> list[str]:
    """The line under each client's name: four lines for HTTP, four for stdio."""
    lines = output.splitlines()
    return [below for above, below in itertools.pairwise(lines) if above.startswith("# ")]


def stdio_server(line: str) -> tuple[list[str], dict[str, str]]:
    """The command and the variables that a client takes from its line."""
    if line.startswith("{"):
        return command_and_variables(json.loads(line)["mcpServers"]["ctxhub"])
    words = shlex.split(line)
    if "--add-mcp" in words:
        return command_and_variables(json.loads(words[-1]))
    options, command = words[: words.index("--")], words[words.index("--") + 1 :]
    variables = [options[at + 1].split("=", 1) for at, word in enumerate(options) if word == "--env"]
    return command, dict(variables)


def command_and_variables(server: dict[str, Any]) -> tuple[list[str], dict[str, str]]:
    return [server["command"], *server["args"]], server.get("env", {})


# -- The token -------------------------------------------------------------------------------------


@pytest.fixture
def var(settings: LazySettings, tmp_path: Path) -> Path:
    settings.VAR_DIR = tmp_path
    return tmp_path


def test_the_stored_token_is_reused(apollo: Project, var: Path) -> None:
    assert ensure_token(apollo) == ensure_token(apollo)


def test_a_revoked_token_is_replaced(apollo: Project, var: Path) -> None:
    old = ensure_token(apollo)
    row = find_token(old)
    assert row
    revoke_token(row)
    assert ensure_token(apollo) != old


def test_a_rotated_token_is_replaced(apollo: Project, var: Path) -> None:
    old = ensure_token(apollo)
    row = find_token(old)
    assert row
    rotate_token(row)
    assert ensure_token(apollo) != old


def test_a_person_called_setup_stops_no_setup(apollo: Project, var: Path) -> None:
    person("setup", apollo)
    row = find_token(ensure_token(apollo))
    assert row
    assert row.name == "setup-agent"


def test_an_unknown_token_is_replaced(apollo: Project, var: Path) -> None:
    (var / "setup_token").write_text("ctx_of-another-database")
    assert find_token(ensure_token(apollo))


def test_each_project_keeps_its_own_token(apollo: Project, hermes: Project, var: Path) -> None:
    first = {project.slug: ensure_token(project) for project in (apollo, hermes)}
    again = {project.slug: ensure_token(project) for project in (apollo, hermes, apollo)}
    assert first == again
    assert [AccessToken.objects.in_project(project).count() for project in (apollo, hermes)] == [1, 1]


def test_the_last_project_is_the_default_of_the_next_run(apollo: Project, hermes: Project, var: Path) -> None:
    assert kept_project() is None
    for project in (apollo, hermes, apollo):
        ensure_token(project)
        assert kept_project() == project


def test_a_token_file_of_the_old_format_is_read(apollo: Project, hermes: Project, var: Path) -> None:
    old = create_token(project=apollo, name="setup").secret
    (var / "setup_token").write_text(old)
    ensure_token(hermes)
    assert ensure_token(apollo) == old


def test_a_token_of_another_database_stays_in_the_file(apollo: Project, var: Path) -> None:
    (var / "setup_token").write_text("ctx_of-another-database")
    ensure_token(apollo)
    assert (var / "setup_token").read_text().split()[1:] == ["ctx_of-another-database"]


def test_a_revoked_token_leaves_the_file(apollo: Project, hermes: Project, var: Path) -> None:
    row = find_token(ensure_token(apollo))
    assert row
    revoke_token(row)
    token = ensure_token(hermes)
    assert (var / "setup_token").read_text() == token


# -- The first superuser ---------------------------------------------------------------------------


def test_the_shown_password_signs_in(db: None) -> None:
    superuser = ensure_superuser(ask=False)
    assert authenticate(username=superuser.username, password=superuser.password)


def test_the_first_superuser_is_named_by_environment_variables(
    db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DJANGO_SUPERUSER_USERNAME", "grace")
    monkeypatch.setenv("DJANGO_SUPERUSER_PASSWORD", "a-password-of-her-own")
    superuser = ensure_superuser(ask=False)
    assert authenticate(username="grace", password="a-password-of-her-own")
    assert superuser.password == "", "a given password is not shown"


def test_an_existing_superuser_is_left_alone(db: None) -> None:
    ensure_superuser(ask=False)
    assert ensure_superuser(ask=False).password == ""


# -- Files -----------------------------------------------------------------------------------------


@pytest.mark.one_engine
def test_created_files_are_private_though_the_umask_shares_them(two_runs: TwoRuns) -> None:
    assert two_runs.created == private_files()


@pytest.mark.one_engine
def test_created_files_are_private_though_the_umask_denies_the_owner(django_db_setup: None) -> None:
    """`migrate` makes the database, which `setup` calls."""
    with installation() as at:
        migrated = at.run("migrate", "--verbosity=0", umask=0o277)
        assert (migrated.returncode, migrated.stdout, migrated.stderr) == (0, "", "")
        assert at.run("setup", "--no-input", umask=0o277).returncode == 0
        assert modes(at) == private_files()


def private_files() -> dict[str, int]:
    on_sqlite = {"hub.sqlite3", "hub.sqlite3.lock"} if connection.vendor == "sqlite" else set()
    return dict.fromkeys({"secret_key", "setup_token", *on_sqlite}, 0o600)


def test_the_files_beside_the_database_are_private(tmp_path: Path) -> None:
    """SQLite creates the files of its log with the mode of the database."""
    file = tmp_path / "hub.sqlite3"
    before = os.umask(0)
    try:
        make_file(file)
        with closing(sqlite3.connect(file, factory=ConnectionToExisting)) as database:
            database.executescript("PRAGMA journal_mode=WAL; CREATE TABLE t (a); INSERT INTO t VALUES (1)")
            modes = {each.name: each.stat().st_mode & 0o777 for each in tmp_path.iterdir()}
    finally:
        os.umask(before)
    assert modes == dict.fromkeys(("hub.sqlite3", "hub.sqlite3-shm", "hub.sqlite3-wal"), 0o600)


def test_files_of_an_older_hub_become_private(tmp_path: Path) -> None:
    make_file(tmp_path / "hub")
    for name, mode in (("hub", 0o644), ("hub-wal", 0o666), ("hub.lock", 0o660)):
        (tmp_path / name).touch()
        (tmp_path / name).chmod(mode)
    close_to_others(tmp_path / "hub")
    assert [(tmp_path / name).stat().st_mode & 0o777 for name in ("hub", "hub-wal")] == [0o600] * 2
    assert (tmp_path / "hub.lock").stat().st_mode & 0o777 == 0o660, "a group was let in on purpose"


# -- Projects --------------------------------------------------------------------------------------


def test_an_invalid_project_is_refused_with_a_sentence(db: None) -> None:
    with pytest.raises(CommandError, match=r"^slug: 'not a slug' may hold letters"), as_command_errors():
        project_to_connect("not a slug")


def test_a_second_project_is_created_and_stays_the_default(apollo: Project, var: Path) -> None:
    assert project_to_connect(None) == apollo
    second = project_to_connect("second")
    ensure_token(second)
    assert project_to_connect(None) == project_to_connect("second") == second
    assert "--project second" in as_text(stdio_lines(second.slug))
