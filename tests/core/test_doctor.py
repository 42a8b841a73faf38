"""`manage.py doctor`: each fault is found, with what mends it; what cannot be looked at is no pass."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterable
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import StringIO
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from django.conf import settings as django_settings
from django.core.management import CommandError, call_command
from django.db import OperationalError, connection
from pytest_django import Settings

from ctxhub import env
from ctxhub.connect import archive
from ctxhub.core.kit import clock
from ctxhub.core.kit.restored import key_mark
from ctxhub.core.models import Event, Project
from ctxhub.core.records.models import HubRecord
from ctxhub.core.records.services import note
from ctxhub.management.doctor import clients, configured, machine, safety, serving, stored
from ctxhub.management.doctor.checks import CHECKS, examine
from ctxhub.management.doctor.findings import Finding, ok
from ctxhub.toolbox.dispatch import call

Check = Callable[[], Iterable[Finding]]


def states(check: Check) -> list[str]:
    return [found.state for found in check()]


def only(check: Check) -> Finding:
    [found] = check()
    return found


def fault(check: Check, state: str = "problem") -> str:
    """What is said of the only fault, and how it is mended."""
    [found] = [each for each in check() if each.state not in ("ok", "note")]
    assert found.state == state
    assert found.fix, found
    return f"{found.text} -> {found.fix}"


@pytest.fixture
def var(tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder as setup leaves it."""
    folder = tmp_path / "var"
    folder.mkdir(mode=0o700)
    for name in ("secret_key", "ctxhub.sqlite3"):
        (folder / name).write_text("x")
        (folder / name).chmod(0o600)
    settings.VAR_DIR, settings.KEY_FILE = folder, folder / "secret_key"
    monkeypatch.setattr(machine, "database_file", lambda: folder / "ctxhub.sqlite3")
    return folder


# -- The machine -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("version", "state"), [((3, 10, 0), "warning"), ((3, 12, 1), "ok"), ((3, 15, 0), "warning")]
)
def test_python(version: tuple[int, ...], state: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.version_info", version)
    assert states(machine.check_python) == [state]


def test_files_of_the_hub_are_their_owners(var: Path) -> None:
    assert states(machine.check_rights) == ["ok"]
    (var / "secret_key").chmod(0o644)
    assert f"secret_key can be read by others -> chmod 600 {var / 'secret_key'}" in fault(
        machine.check_rights
    )


def test_nobody_else_writes_into_the_folder(var: Path) -> None:
    var.chmod(0o777)
    assert f"-> chmod go-w {var}" in fault(machine.check_rights)


def test_a_folder_that_is_missing(var: Path, settings: Settings) -> None:
    settings.VAR_DIR = var / "other"
    assert "there is no folder" in fault(machine.check_rights)


def test_a_database_beside_it_is_looked_at_as_well(var: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = var.parent / "other.sqlite3-wal"
    file.write_text("x")
    file.chmod(0o640)
    monkeypatch.setattr(machine, "database_file", lambda: file.with_name("other.sqlite3"))
    assert "other.sqlite3-wal can be read by others" in fault(machine.check_rights)


@pytest.mark.parametrize(("free", "state"), [(2**20, "problem"), (2**28, "warning"), (2**40, "ok")])
def test_space_on_the_disk(free: int, state: str, var: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.disk_usage", lambda folder: _Usage(free))
    assert states(machine.check_disk) == [state]


class _Usage:
    def __init__(self, free: int) -> None:
        self.free = free


def test_agents_do_not_search_where_secrets_are(var: Path, settings: Settings) -> None:
    settings.GREP_ROOTS = [("", var.parent)]
    assert "secret key" in fault(machine.check_grep_roots)
    code = var.parent / "code"
    code.mkdir()
    settings.GREP_ROOTS = [("", code)]
    assert states(machine.check_grep_roots) == ["ok"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_a_root_that_cannot_be_read(var: Path, settings: Settings) -> None:
    code = var.parent / "code"
    code.mkdir(mode=0o000)
    settings.GREP_ROOTS = [("", code)]
    assert "cannot be read" in fault(machine.check_grep_roots)


# -- The settings ----------------------------------------------------------------------------------


def test_debug_is_a_problem_where_others_are(settings: Settings) -> None:
    settings.DEBUG = True
    fault(configured.check_settings, "warning")
    settings.BASE_URL = "https://hub.example.com"
    assert "CTXHUB_DEBUG" in fault(configured.check_settings)


def test_a_mistyped_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CTXHUB_ALOWED_HOSTS", "x")
    assert "CTXHUB_ALLOWED_HOSTS is meant" in fault(configured.check_settings, "warning")


def test_a_missing_key_is_told_and_not_made(var: Path, db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CTXHUB_SECRET_KEY", raising=False)
    assert states(configured.check_secret_key) == ["ok"]
    (var / "secret_key").unlink()
    assert "secret_key is missing -> Restore it" in fault(configured.check_secret_key)
    assert not (var / "secret_key").exists()


def test_a_database_that_was_restored_with_another_key(db: None) -> None:
    note(HubRecord.Kind.RESTORE, {"key": key_mark("another")})
    assert "restored with another secret key" in fault(configured.check_secret_key)
    note(HubRecord.Kind.RESTORE, {"key": key_mark(str(django_settings.SECRET_KEY))})
    assert states(configured.check_secret_key) == ["ok"]


def test_the_base_url_is_among_the_hosts(settings: Settings) -> None:
    settings.BASE_URL, settings.ALLOWED_HOSTS = "https://hub.example.com", ["localhost"]
    assert "-> CTXHUB_ALLOWED_HOSTS=localhost,hub.example.com" in fault(configured.check_hosts)
    settings.ALLOWED_HOSTS = ["*"]
    assert "any host" in fault(configured.check_hosts)
    settings.ALLOWED_HOSTS = [".example.com"]
    assert states(configured.check_hosts) == ["ok"]


def test_others_need_tls(settings: Settings) -> None:
    settings.BASE_URL, settings.HTTPS = "http://hub.example.com", False
    assert "https" in fault(configured.check_tls)
    settings.BASE_URL, settings.HTTPS = "https://hub.example.com", True
    assert states(configured.check_tls) == ["ok"]


@pytest.mark.parametrize(
    ("https", "behind", "state"),
    [(True, False, "problem"), (False, True, "warning"), (True, True, "ok"), (False, False, "ok")],
)
def test_headers_of_a_proxy(https: bool, behind: bool, state: str, settings: Settings) -> None:
    settings.HTTPS, settings.BEHIND_PROXY = https, behind
    assert states(configured.check_proxy) == [state]


# -- The database ----------------------------------------------------------------------------------


def test_a_right_database_has_no_fault(apollo: Project) -> None:
    for check in (
        stored.check_database,
        stored.check_migrations,
        stored.check_connections,
        stored.check_clock,
    ):
        assert states(check) == ["ok"], check
    assert states(stored.check_index) == ["ok"]


def test_a_slow_database(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored, "_seconds", lambda: 0.2)
    assert "200.0 ms" in fault(stored.check_database)


def test_a_database_that_does_not_answer(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> None:
        raise OperationalError("connection refused")

    monkeypatch.setattr(stored, "refuse_unreachable", refuse)
    assert "connection refused. Is DATABASE_URL right" in fault(stored.check_database)


def test_missing_migrations(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> None:
        raise CommandError("The database lacks 1 migration(s)")

    monkeypatch.setattr(stored, "refuse_unmigrated", refuse)
    assert "lacks 1 migration(s) -> manage.py setup" in fault(stored.check_migrations)


def test_a_wrong_index(apollo: Project, ada: Any) -> None:
    call(ada, "decision", {"action": "set", "key": "k", "value": "v"})
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM core_searchentry")
    assert "-> manage.py reindex" in fault(stored.check_index)


def test_an_event_that_is_still_to_come(apollo: Project, ada: Any) -> None:
    call(ada, "decision", {"action": "set", "key": "k", "value": "v"})
    Event.unscoped.update(at=clock.now() + timedelta(hours=1))
    assert "still to come here -> " in fault(stored.check_clock)


def test_more_workers_than_connections(db: None) -> None:
    if connection.vendor == "sqlite":
        assert states(lambda: stored.check_connections(1_000)) == ["ok"]
    else:
        assert "max_connections = " in fault(lambda: stored.check_connections(1_000))
        assert states(lambda: stored.check_connections(1)) == ["ok"]


def test_a_database_of_its_own_is_no_replica(db: None) -> None:
    assert states(stored.check_replica) == ["ok"]


@pytest.mark.parametrize(
    ("has_all", "behind", "state"), [(True, 900, "ok"), (False, 2, "ok"), (False, 40, "problem")]
)
def test_a_replica_that_is_behind(has_all: bool, behind: float, state: str) -> None:
    """One that has all that there is may have heard nothing new for long."""
    found = stored.replica_finding(True, True, has_all, behind)
    assert found.state == state
    assert state == "ok" or "40 s behind" in found.text


# -- Backup and drill ------------------------------------------------------------------------------


def test_backups_grow_old(db: None, settings: Settings) -> None:
    fault(safety.check_backup, "warning")
    note(HubRecord.Kind.BACKUP, {})
    assert states(safety.check_backup) == ["ok"]
    note(HubRecord.Kind.BACKUP, {}, at=clock.now() - timedelta(days=8))
    fault(safety.check_backup, "warning")
    settings.BASE_URL = "https://hub.example.com"
    assert "more than a week ago -> manage.py backup" in fault(safety.check_backup)


def test_a_drill_that_failed(db: None) -> None:
    fault(safety.check_drill, "warning")
    note(HubRecord.Kind.DRILL, {"is_right": False, "result": "rows differ"})
    assert "failed: rows differ" in fault(safety.check_drill)
    note(HubRecord.Kind.DRILL, {"is_right": True})
    assert states(safety.check_drill) == ["ok"]
    note(HubRecord.Kind.DRILL, {"is_right": True}, at=clock.now() - timedelta(days=31))
    assert "-> manage.py drill" in fault(safety.check_drill, "warning")


# -- The hub that runs -----------------------------------------------------------------------------


class _Answer(BaseHTTPRequestHandler):
    status, body, date = 200, b'{"status": "ok", "database": true}', ""

    def do_GET(self) -> None:
        self.send_response_only(self.status)
        if self.date:
            self.send_header("Date", self.date)
        self.send_header("Content-Length", str(len(self.body)))
        self.end_headers()
        self.wfile.write(self.body)

    def log_message(self, *_: Any) -> None: ...


@pytest.fixture
def answer(settings: Settings) -> Iterable[type[_Answer]]:
    """What answers at the base URL."""
    handler = type("Answer", (_Answer,), {})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    Thread(target=server.serve_forever, daemon=True).start()
    settings.BASE_URL = f"http://127.0.0.1:{server.server_port}"
    yield handler
    server.shutdown()
    server.server_close()


def test_a_hub_that_is_ready(answer: type[_Answer]) -> None:
    assert states(serving.check_hub) == ["ok"]


def test_a_hub_that_is_not_ready(answer: type[_Answer]) -> None:
    answer.status, answer.body = 503, b'{"status": "not ready", "writable": false}'
    assert "not ready: writable: False" in fault(serving.check_hub)


def test_what_answers_is_no_hub(answer: type[_Answer]) -> None:
    answer.status, answer.body = 400, b"<h1>Bad Request</h1>"
    assert "answers 400, and not as a hub does" in fault(serving.check_hub)


def test_the_clock_of_the_hub(answer: type[_Answer]) -> None:
    answer.date = "Mon, 01 Jan 2024 00:00:00 GMT"
    assert "timedatectl" in fault(serving.check_hub)


def test_nothing_answers(answer: type[_Answer], settings: Settings) -> None:
    settings.BASE_URL = "http://127.0.0.1:1"
    assert "was not asked" in fault(serving.check_hub, "unknown")


def test_processes_of_older_code(monkeypatch: pytest.MonkeyPatch) -> None:
    mine = f"process {os.getpid()} (manage.py serve)"
    monkeypatch.setattr(serving, "find_holders", lambda: [mine])
    assert states(serving.check_workers) == ["ok"]
    monkeypatch.setattr(serving, "newest_source", lambda: clock.now().timestamp() + 60)
    assert "before this code changed" in fault(serving.check_workers, "warning")
    monkeypatch.setattr(serving, "find_holders", lambda: ["ctxhub, process 1 of elsewhere, at 10.0.0.2"])
    assert "Run doctor where it runs" in fault(serving.check_workers, "unknown")


# -- Clients ---------------------------------------------------------------------------------------


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user without clients, in a folder of their own."""
    for name in [*os.environ]:
        if name.startswith(("CTXHUB_", "CLAUDE", "CODEX", "COPILOT", "XDG_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    return work


def configure(home: Path, file: str, headers: dict[str, str], url: str = "http://127.0.0.1:1/mcp") -> None:
    (home / file).parent.mkdir(exist_ok=True)
    (home / file).write_text(json.dumps({"mcpServers": {"ctxhub": {"url": url, "headers": headers}}}))


def test_without_clients_nothing_was_looked_at(home: Path) -> None:
    assert "ctxhub.pyz doctor" in fault(clients.check_clients, "unknown")
    assert "no tokens" in fault(clients.check_literal_tokens, "unknown")


@pytest.mark.parametrize(
    ("file", "value", "is_literal"),
    [
        (".cursor/mcp.json", "Bearer ${CTXHUB_TOKEN}", True),
        (".cursor/mcp.json", "Bearer ${env:CTXHUB_TOKEN}", False),
        (".mcp.json", "Bearer ${CTXHUB_TOKEN}", False),
        (".mcp.json", "Bearer ${OTHER_TOKEN}", True),
        (".mcp.json", "Bearer ${OTHER_TOKEN:-ctx_a}", False),
        (".mcp.json", "Bearer ctx_abc", False),
    ],
)
def test_tokens_that_are_the_name_of_a_variable(
    file: str, value: str, is_literal: bool, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CTXHUB_TOKEN", "ctx_abc")
    configure(home, file, {"Authorization": value})
    assert ("problem" in states(clients.check_literal_tokens)) == is_literal


def test_the_way_of_a_token_is_tried(
    home: Path, answer: type[_Answer], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CTXHUB_TOKEN", "ctx_abc")
    monkeypatch.setenv("CTXHUB_URL", "http://127.0.0.1:1")
    found = [each for each in clients.check_clients() if each.state == "problem"]
    assert ["hub: " in each.text and "cannot be reached" in each.text for each in found] == [True]


def test_the_address_and_the_token_of_an_entry_are_tried(
    home: Path, answer: type[_Answer], settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTHER_TOKEN", "ctx_abc")
    configure(home, ".mcp.json", {"Authorization": "Bearer ${OTHER_TOKEN}"}, f"{settings.BASE_URL}/mcp")
    told = [found for found in clients.check_clients() if found.text.startswith("claude-code: the ")]
    assert [found.state for found in told] == ["ok"]
    answer.status = 401
    assert "claude-code: the hub answers 401" in "".join(found.text for found in clients.check_clients())
    configure(home, ".mcp.json", {"Authorization": "Bearer ctx_abc"}, "http://127.0.0.1:1/mcp")
    assert "127.0.0.1:1 in" in "".join(found.text for found in clients.check_clients())
    assert "ctx_abc" not in str(list(clients.check_clients()))


def test_a_hub_without_the_sources_of_the_client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def none() -> None:
        raise archive.NoClient("The sources of the client are not here.")

    monkeypatch.setattr(clients, "client_archive", none)
    assert "Check out" in fault(clients.check_client_version)


# -- The command -----------------------------------------------------------------------------------


def test_what_cannot_be_looked_at_stops_nothing_and_is_no_pass() -> None:
    def fails() -> Iterable[Finding]:
        raise ValueError("odd\nmore")

    found = list(examine({"one": fails, "two": lambda: [ok("fine")]}))
    assert [(each.check, each.state, each.text) for each in found] == [
        ("one", "unknown", "could not be looked at: odd"),
        ("two", "ok", "fine"),
    ]


def run(*arguments: str) -> tuple[int, str]:
    out = StringIO()
    try:
        call_command("doctor", *arguments, stdout=out)
    except SystemExit as end:
        return int(end.code or 0), out.getvalue()
    return 0, out.getvalue()


def test_the_command_tells_every_check_as_json(home: Path, apollo: Project, settings: Settings) -> None:
    settings.BASE_URL = "http://127.0.0.1:1"
    _, text = run("--json", "--workers", "2")
    told = json.loads(text)
    assert {each["check"] for each in told["findings"]} == {*CHECKS}
    assert all(each["fix"] for each in told["findings"] if each["state"] in ("problem", "warning", "unknown"))
    assert told["problems"] == sum(each["state"] == "problem" for each in told["findings"])


def test_the_exit_code_is_1_with_a_problem(home: Path, apollo: Project, settings: Settings) -> None:
    settings.BASE_URL, settings.HTTPS = "http://hub.invalid", False
    code, text = run()
    assert code == 1
    assert "problem  tls" in text
    assert "-> Put a proxy with TLS in front" in text


def test_checks_of_a_missing_database_are_unknown(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> None:
        raise OperationalError("gone")

    monkeypatch.setattr(safety, "find_record", lambda kind: refuse())
    found = list(examine({"backup": safety.check_backup}))
    assert [each.state for each in found] == ["unknown"]


def test_a_wrong_variable_is_told_as_json_as_well(tmp_path: Path) -> None:
    environment = {**os.environ, "DATABASE_URL": f"sqlite:///{tmp_path}/nowhere/x.sqlite3"}
    command = [sys.executable, str(env.ROOT / "manage.py"), "doctor", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    [finding] = json.loads(done.stdout)["findings"]
    assert (done.returncode, finding["check"], finding["state"]) == (1, "settings", "problem")
    assert "DATABASE_URL" in finding["text"]
