"""From the link of an invitation to the first brief in less than a minute, on a hub behind TLS.

Nothing is used but a browser, the line that the page shows, and what that has written.
"""

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from tests.e2e.invited import KEY, VALUE, Guest, hub_behind_tls, invite, visitor
from tests.integrations.claude_code import make_patient
from tests.integrations.desk import Desk, Window
from tests.integrations.hook import Workplace
from tests.integrations.model_stand_in import Block, standing_in, use
from tests.integrations.responses_stand_in import ResponsesHandler
from tests.integrations.tls import TlsHub
from tests.stdio import StdioClient

pytestmark = pytest.mark.one_engine

CLIENTS = ("claude-code", "codex")
FOLDERS = {"claude-code": ".claude", "codex": ".codex"}
AGENTS = {"claude-code": "grace-claude", "codex": "grace-codex"}
# Codex gives a server these of its own, and those that are named.
OF_CODEX = ("HOME", "PATH", "LANG", "TMPDIR")


@pytest.fixture
def hub(tmp_path: Path, django_db_setup: None) -> Iterator[TlsHub]:
    if not shutil.which("curl"):
        pytest.skip("the line of the page runs curl")
    with hub_behind_tls(tmp_path) as (proxy, _):
        yield proxy


@pytest.fixture
def workplace(tmp_path: Path, hub: TlsHub) -> Workplace:
    """A repository, and a shell that trusts the certificate of the hub."""
    made = Workplace(tmp_path / "desk", {"SSL_CERT_FILE": str(hub.certificate)})
    made.git("init", "-q", "-b", "main")
    return made


@pytest.fixture
def guest(browser: Browser, workplace: Workplace) -> Iterator[Guest]:
    environment = workplace.environment
    del environment["CTXHUB_TOKEN"]
    with visitor(browser) as context:
        yield Guest(context, workplace, environment)


@pytest.mark.parametrize("client", CLIENTS)
def test_who_is_invited_has_the_first_brief_within_a_minute(
    guest: Guest, browser: Browser, hub: TlsHub, client: str, record_property: Any
) -> None:
    (guest.workplace.folder / "home" / FOLDERS[client]).mkdir()
    link = invite(browser, hub)
    assert link.startswith(f"{hub.url}/invitation/ctx_")

    page = guest.join(link)
    said = guest.connect(page)
    assert f"{AGENTS[client]} is connected to project apollo at {hub.url}." in said
    make_patient(guest.workplace.folder)

    guest.watch.skip()
    guest.watch.step(3)  # Starts the client, trusts the folder, and its hooks.
    brief = hooked(guest, client)
    guest.watch.note("the first brief")
    assert KEY in brief
    assert VALUE in brief
    expect(page.locator("[data-connected]")).to_contain_text(f"Connected: {AGENTS[client]} ({client} on ")
    guest.watch.note("the page tells it")
    with server(guest, client) as bridge:
        bridge.start()
        assert "decision" in {tool["name"] for tool in bridge.tools()}
        guest.watch.note("the tools")
        assert bridge.call("decision", "get", key=KEY)["decision"]["value"] == VALUE
    guest.watch.tell(record_property, client)
    assert guest.watch.seconds < guest.watch.most_seconds, guest.watch


def hooked(guest: Guest, client: str) -> str:
    """What the hook that starts a session adds to what the model is shown."""
    done = subprocess.run(
        ["sh", "-c", guest.settings.hook(client, "SessionStart")],
        input=guest.workplace.input("session_start_startup"),
        cwd=guest.workplace.repository,
        env=guest.environment,
        capture_output=True,
        check=True,
    )
    assert done.stdout, done.stderr
    context: str = json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"]
    return context


@contextmanager
def server(guest: Guest, client: str) -> Iterator[StdioClient]:
    """The server that the file names, as the client starts it."""
    found = guest.settings.server(client)
    environment = guest.environment
    if client == "codex":
        given = {*OF_CODEX, *found["env_vars"]}
        environment = {name: value for name, value in environment.items() if name in given}
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    command = [found["command"], *found["args"]]
    with subprocess.Popen(command, env=environment, cwd=guest.workplace.repository, **pipes) as process:
        try:
            yield StdioClient(process)
        finally:
            process.kill()


# -- The clients themselves --------------------------------------------------------------------------------


@pytest.fixture(params=CLIENTS)
def window(request: Any, workplace: Workplace) -> Iterator[Window]:
    """One of them, whose model is a stand-in, on a machine that has no other."""
    with standing_in() as claude, standing_in(ResponsesHandler) as codex:
        desk = Desk(workplace, "", claude, codex)
        name = request.param.partition("-")[0]
        for program in desk.programs.iterdir():
            if program.name != name:
                program.unlink()
        yield Window(desk, name, getattr(desk, name), "Bash,mcp__ctxhub")


@pytest.mark.needs_npm
def test_the_client_itself_has_the_first_brief_within_a_minute(
    window: Window, guest: Guest, browser: Browser, hub: TlsHub, record_property: Any, capsys: Any
) -> None:
    guest.environment = window.desk.environment()
    page = guest.join(invite(browser, hub))
    guest.connect(page)
    make_patient(guest.workplace.folder)
    if window.client == "claude":
        window.desk.trust()

    def decides() -> Block:
        if len(window.model.turns) == 1:
            guest.watch.note("the first brief")
        if "mcp__ctxhub" not in json.dumps(window.model.turns[-1]):
            # Codex does not wait for its servers.
            window.model.script.insert(0, decides)
            return window.runs("sleep 1")
        return use("mcp__ctxhub__decision", action="set", key="web/framework", value="Django")

    guest.watch.skip()
    guest.watch.step(5)  # Starts the client, trusts the folder and the hooks, asks, and allows the tool.
    window.ask(decides)
    guest.watch.note("the tool and the end")
    assert VALUE in window.model.shown(1)
    expect(page.locator("[data-connected]")).to_contain_text(f"Connected: grace-{window.client} (")
    page.goto(f"{hub.url}/admin/memory/decision/")
    decided = page.locator("#result_list .ctx-row").filter(has_text="web/framework")
    expect(decided).to_contain_text(f"grace-{window.client}")
    guest.watch.tell(record_property, window.client)
    with capsys.disabled():
        sys.stdout.write(f"\n{window.client}: {guest.watch.told}\n")
    assert guest.watch.seconds < guest.watch.most_seconds, guest.watch
