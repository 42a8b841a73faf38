"""From the lines that `serve --setup` prints to "denied, told, released", in the real Claude Code and Codex.

Nothing is used but what a stranger copies: the printed lines and the quick start's. Models are stand-ins.
"""

import itertools
import json
import re
import shlex
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.core.command_line import Server, installation
from tests.integrations.claude_code import QUIET, installed_client, make_patient
from tests.integrations.codex import EVERYWHERE, TRUSTING, asking, installed_codex
from tests.integrations.hook import ROOT, Workplace
from tests.integrations.model_stand_in import Block, StandIn, standing_in, text, use
from tests.integrations.responses_stand_in import ResponsesHandler, patch

pytestmark = [pytest.mark.one_engine, pytest.mark.needs_npm]

# One client's whole session within the other's, on a busy machine.
SECONDS_TO_RUN = 600
KEY = "api/auth/method"
GETTING = "cd ~ && curl -fsSO $CTXHUB_URL/connect/ctxhub.pyz && python3 ctxhub.pyz install"
CLIENT = "python3 ~/.local/share/ctxhub/ctxhub.py"


@dataclass
class Stranger:
    """A person with a shell, in whose profile the printed variables stand, and a repository."""

    workplace: Workplace
    programs: Path
    server: Server
    over: str
    claude: StandIn
    codex: StandIn
    profile: str = field(init=False)

    def __post_init__(self) -> None:
        self.profile = next(line for line in self.printed if line.startswith("export CTXHUB_URL="))
        self.programs.mkdir()
        for name, script in (("claude", installed_client()), ("codex", installed_codex())):
            shim = self.programs / name
            shim.write_text(f'#!/bin/sh\nexec node {shlex.quote(str(script))} "$@"\n')
            shim.chmod(0o755)

    @property
    def printed(self) -> list[str]:
        return self.server.said.splitlines()

    def line_of(self, client: str) -> str:
        """The printed line that connects a client."""
        lines = [below for above, below in itertools.pairwise(self.printed) if above == f"# {client}"]
        return lines[("http", "stdio").index(self.over)]

    def type(self, command: str) -> str:
        """Run a command in a new shell; returns what it printed."""
        environment = self.workplace.environment
        environment |= {**QUIET, "ANTHROPIC_BASE_URL": self.claude.url, "STAND_IN_KEY": "none"}
        environment["PATH"] = f"{self.programs}:{environment['PATH']}"
        del environment["CTXHUB_TOKEN"]
        done = subprocess.run(
            ["bash", "-c", f"{self.profile}\n{command}"],
            cwd=self.workplace.repository,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=SECONDS_TO_RUN,
            check=False,
        )
        assert done.returncode == 0, (command, done.stdout, done.stderr)
        return done.stdout

    def ask_claude(self, *options: str) -> None:
        self.type(shlex.join(["claude", "-p", "Go on", "--permission-mode", "acceptEdits", *options]))

    def ask_codex(self, sandbox: str = EVERYWHERE) -> None:
        options = [*TRUSTING, "--sandbox", sandbox, *asking(self.codex.url)]
        self.type(shlex.join(["codex", "exec", *options, "Go on"]))

    def trust(self) -> None:
        """Say yes to Claude Code's question whether it may trust the folder, and follow its permissions."""
        file = self.workplace.folder / "home" / ".claude.json"
        config = json.loads(file.read_text())
        config["projects"].setdefault(str(self.workplace.repository), {})["hasTrustDialogAccepted"] = True
        file.write_text(json.dumps(config))

    def write(self, path: str) -> Block:
        """What Claude's model says to write a file."""
        return use("Write", file_path=str(self.workplace.repository / path), content="a = 1\n")

    def has(self, path: str) -> bool:
        return (self.workplace.repository / path).exists()

    def rows(self, path: str, **query: Any) -> list[dict[str, Any]]:
        """What the hub's REST lists, over a new connection: the clients take their time."""
        [token] = re.findall(r"CTXHUB_TOKEN=(\S+)", self.profile)
        rest = self.server.hub.rest(token, "demo")
        found: list[dict[str, Any]] = rest.get(path, **{"agent": "observer", **query}).body["items"]
        return found

    @property
    def holders(self) -> list[str]:
        return sorted(lease["by"] for lease in self.rows("leases/"))


def add(path: str) -> Block:
    """What Codex' model says to write a file."""
    return patch(f"*** Begin Patch\n*** Add File: {path}\n+a = 1\n*** End Patch")


def results_of_tools(claude: StandIn) -> list[Any]:
    contents = [message["content"] for message in claude.turns[-1]["messages"]]
    blocks = [block for content in contents if isinstance(content, list) for block in content]
    return [block["content"] for block in blocks if block["type"] == "tool_result"]


@pytest.fixture(params=["http", "stdio"])
def stranger(request: Any, tmp_path: Path, django_db_setup: None) -> Iterator[Stranger]:
    workplace = Workplace(tmp_path)
    workplace.git("init", "-q", "-b", "main")
    with (
        standing_in() as claude,
        standing_in(ResponsesHandler) as codex,
        installation() as at,
        at.serving("--setup", "--port", "0") as server,
    ):
        made = Stranger(workplace, tmp_path / "bin", server, request.param, claude, codex)
        made.type(made.line_of("Claude Code"))
        made.trust()
        made.type(made.line_of("Codex"))
        made.type(GETTING)
        made.type(f"{CLIENT} install claude-code --approve")
        # Over stdio Codex would begin before its server has started.
        wait = "--wait" if request.param == "stdio" else ""
        made.type(f"{CLIENT} install codex --approve {wait}")
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
    stranger.type(f"{CLIENT} uninstall codex")
    stranger.type(f"{CLIENT} install codex --wait")
    stranger.codex.then(add_memory, save, deletes, text("Done."))
    stranger.ask_codex(sandbox="workspace-write")
    assert len(stranger.rows("memories/")) == 1
    assert "Half done" in {session["summary"] for session in stranger.rows("sessions/")}

    stranger.type(f"{CLIENT} install codex --approve")
    stranger.codex.then(deletes, text("Done."))
    stranger.ask_codex(sandbox="workspace-write")
    assert stranger.rows("memories/") == []


def test_the_lines_used_are_those_of_the_quick_start() -> None:
    quick_start = (ROOT / "docs" / "quickstart.md").read_text()
    assert GETTING in quick_start
    for client in ("claude-code", "codex"):
        assert f"{CLIENT} install {client}" in quick_start
