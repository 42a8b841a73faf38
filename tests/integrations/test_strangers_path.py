"""From the lines that `serve --setup` prints to "denied, told, released", in the real Claude Code and Codex.

Nothing is used but what a stranger copies: the printed lines and the quick start's. Models are stand-ins.
"""

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.core.command_line import Server, installation
from tests.integrations.claude_code import make_patient
from tests.integrations.desk import BRIDGES, GETTING, PROGRAM, Desk, add
from tests.integrations.hook import ROOT, Workplace
from tests.integrations.model_stand_in import Block, StandIn, standing_in, text, use
from tests.integrations.responses_stand_in import ResponsesHandler

pytestmark = [pytest.mark.one_engine, pytest.mark.needs_npm]

KEY = "api/auth/method"
WAYS = ("http", "stdio", "bridge")


@dataclass
class Stranger(Desk):
    """Whose profile and MCP servers are what the hub printed, the bridge what docs/hooks.md says."""

    server: Server
    over: str

    @property
    def printed(self) -> list[str]:
        return self.server.said.splitlines()

    def line_of(self, client: str) -> str:
        """The line that connects a client."""
        name = {"claude": "# Claude Code", "codex": "# Codex"}[client]
        lines = [below for above, below in itertools.pairwise(self.printed) if above == name]
        return [*lines, BRIDGES[client]][WAYS.index(self.over)]

    def rows(self, path: str, **query: Any) -> list[dict[str, Any]]:
        """What the hub's REST lists, over a new connection: the clients take their time."""
        [token] = re.findall(r"CTXHUB_TOKEN=(\S+)", self.profile)
        rest = self.server.hub.rest(token, "demo")
        found: list[dict[str, Any]] = rest.get(path, **{"agent": "observer", **query}).body["items"]
        return found

    @property
    def holders(self) -> list[str]:
        return sorted(lease["by"] for lease in self.rows("leases/"))


def results_of_tools(claude: StandIn) -> list[Any]:
    contents = [message["content"] for message in claude.turns[-1]["messages"]]
    blocks = [block for content in contents if isinstance(content, list) for block in content]
    return [block["content"] for block in blocks if block["type"] == "tool_result"]


@pytest.fixture(params=WAYS)
def stranger(request: Any, tmp_path: Path, django_db_setup: None) -> Iterator[Stranger]:
    workplace = Workplace(tmp_path)
    workplace.git("init", "-q", "-b", "main")
    with (
        standing_in() as claude,
        standing_in(ResponsesHandler) as codex,
        installation() as at,
        at.serving("--setup", "--port", "0") as server,
    ):
        profile = next(line for line in server.said.splitlines() if line.startswith("export CTXHUB_URL="))
        made = Stranger(workplace, profile, claude, codex, server, request.param)
        made.type(GETTING)
        made.type(made.line_of("claude"))
        made.trust()
        made.type(made.line_of("codex"))
        made.type(f"{PROGRAM} install claude-code --approve")
        # Over stdio Codex would begin before its server has started.
        wait = "" if request.param == "http" else "--wait"
        made.type(f"{PROGRAM} install codex --approve {wait}")
        make_patient(workplace.folder)
        yield made


def test_one_client_is_denied_what_the_other_has_leased_until_it_ends(stranger: Stranger) -> None:
    def meanwhile() -> Block:
        """Claude's whole session, while Codex is in the middle of its own."""
        stranger.claude.then(
            use("mcp__ctxhub__decision", action="get", key=KEY),
            use("mcp__ctxhub__file", action="lease", paths=["lib/**"], reason="Tests"),
            stranger.write("src/auth.py"),
            stranger.write("lib/own.py"),
            use("mcp__ctxhub__message", action="send", to=["codex"], text="Break!", priority="high"),
            text("Done."),
            text("I have seen it."),
        )
        stranger.ask_claude()
        assert stranger.holders == ["codex"]
        return add("src/auth.py")

    stranger.codex.then(
        use("mcp__ctxhub__decision", action="set", key=KEY, value="JWT"),
        use("mcp__ctxhub__file", action="lease", paths=["src/**"], reason="Rotation"),
        use("mcp__ctxhub__message", action="send", to=["claude"], text="Stop!", priority="high"),
        meanwhile,
        text("Done."),
        text("I have seen it."),
    )
    stranger.ask_codex()

    told = stranger.claude.shown
    assert "src/auth.py: leased by codex until " in told(4)
    assert "Rotation" in told(4)
    assert stranger.has("lib/own.py"), "its own lease denies nothing"
    assert "from codex: Stop!" in told(len(stranger.claude.turns))
    assert "leased by" not in stranger.codex.shown(5)
    assert stranger.has("src/auth.py"), "its own lease denies nothing"
    assert "from claude: Break!" in stranger.codex.shown(len(stranger.codex.turns))
    assert stranger.holders == []
    edits = {(change["path"], change["by"]) for change in stranger.rows("changes/")}
    assert edits == {("lib/own.py", "claude"), ("src/auth.py", "codex")}


def test_the_other_client_is_denied_and_is_free_afterwards(stranger: Stranger) -> None:
    def meanwhile() -> Block:
        stranger.codex.then(add("lib/b.py"), add("src/b.py"), text("Done."))
        stranger.ask_codex()
        assert stranger.holders == ["claude"]
        return text("Done.")

    stranger.claude.then(
        use("mcp__ctxhub__file", action="lease", paths=["lib/**"], reason="Tests"), meanwhile
    )
    stranger.ask_claude()
    assert "lib/b.py: leased by claude until " in stranger.codex.shown(2)
    assert (stranger.has("lib/b.py"), stranger.has("src/b.py")) == (False, True)

    stranger.codex.then(add("lib/b.py"), text("Done."))
    stranger.ask_codex()
    assert stranger.has("lib/b.py"), "the end of Claude's session has released it"


def test_hooks_and_tools_are_one_agent_and_one_session_each(stranger: Stranger) -> None:
    stranger.codex.then(use("mcp__ctxhub__decision", action="set", key=KEY, value="JWT"), text("Done."))
    stranger.ask_codex()
    stranger.claude.then(use("mcp__ctxhub__decision", action="get", key=KEY), text("It is JWT."))
    stranger.ask_claude()
    assert "JWT" in str(results_of_tools(stranger.claude))
    assert {row["agent"] for row in stranger.rows("sessions/")} == {"claude", "codex"}
    assert {row["name"] for row in stranger.rows("agents/")} == {"claude", "codex", "observer"}

    stranger.codex.then(use("mcp__ctxhub__decision", action="set", key=KEY, value="sessions"), text("Done."))
    stranger.ask_codex()
    [told] = stranger.rows("messages/", agent="claude")
    assert f"decision:{KEY}" in told["text"], "what its tools were given has changed"
    stranger.claude.then(text("It is sessions now."))
    stranger.ask_claude("--continue")
    assert f"decision:{KEY}" in stranger.claude.shown(1), (
        "its hooks say so: with the start or with the prompt"
    )


def test_codex_deletes_only_where_it_was_installed_with_approve(stranger: Stranger) -> None:
    """In its sandbox. What removes nothing it does anyway."""
    deletes = use("mcp__ctxhub__delete", refs=["memory:1"])
    add_memory = use("mcp__ctxhub__memory", action="add", title="CI", content="It needs Docker.")
    save = use("mcp__ctxhub__session", action="save", summary="Half done")
    stranger.type(f"{PROGRAM} uninstall codex")
    stranger.type(f"{PROGRAM} install codex --wait")
    summaries: list[str] = []

    def then_delete() -> Block:
        summaries.extend(session["summary"] for session in stranger.rows("sessions/"))
        return deletes

    stranger.codex.then(add_memory, save, then_delete, text("Done."))
    stranger.ask_codex(sandbox="workspace-write")
    assert len(stranger.rows("memories/")) == 1
    assert "Half done" in summaries

    stranger.type(f"{PROGRAM} install codex --approve")
    stranger.codex.then(deletes, text("Done."))
    stranger.ask_codex(sandbox="workspace-write")
    assert stranger.rows("memories/") == []


def test_the_lines_used_are_those_of_the_documents() -> None:
    quick_start = (ROOT / "docs" / "quickstart.md").read_text()
    assert GETTING in quick_start
    for client in ("claude-code", "codex"):
        assert f"{PROGRAM} install {client}" in quick_start
    hooks = (ROOT / "docs" / "hooks.md").read_text()
    for line in BRIDGES.values():
        assert f"\n{line}\n" in hooks
