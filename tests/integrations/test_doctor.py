"""`doctor` finds what keeps clients from the hub, says what to do, and is quiet where all is well."""

import json
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from ctxhub_client.doctor.servers import tables_of

from ctxhub.connect.archive import client_archive
from tests.integrations.hook import TOKEN, Run, Workplace, put_archive
from tests.integrations.stub_hub import Answer, StubHub

ME = {"project": "apollo", "agent": "setup", "pinned": False, "scopes": ["read", "write"], "role": None}


@dataclass
class Clinic:
    """A client that is unpacked, and connects Claude Code by hooks and the bridge to a hub of its version."""

    at: Workplace
    launcher: Path

    @property
    def home(self) -> Path:
        return self.at.folder / "home"

    def run(self, *arguments: str) -> Run:
        return self.at.run("doctor", *arguments, script=self.launcher)

    def findings(self) -> list[tuple[str, str, str]]:
        """Check, state, and text with what to do."""
        run = self.run("--json")
        assert run.err == ""
        told = json.loads(run.out)
        assert run.code == bool(told["problems"])
        return [
            (each["check"], each["state"], f"{each['text']} -> {each['fix']}") for each in told["findings"]
        ]

    def of(self, check: str, state: str) -> str:
        found = [text for named, is_so, text in self.findings() if (named, is_so) == (check, state)]
        assert len(found) == 1, self.findings()
        return found[0]

    def write(self, file: str, content: Any) -> Path:
        """A file of the home: JSON, or a text."""
        path = self.home / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        return path

    def server(self, **entry: Any) -> None:
        self.write(".claude.json", {"mcpServers": {"ctxhub": entry}})


@pytest.fixture
def clinic(at_stub: Workplace, stub: StubHub) -> Clinic:
    stub.answers["/api/v1/me/"] = Answer(ME, 200)
    version = {"Ctxhub-Client-Version": client_archive().version}
    stub.answers["/connect/ctxhub.pyz"] = Answer("", 200, "text/plain", version)
    archive = put_archive(at_stub.folder)
    for arguments in ((), ("claude-code",), ("pre-commit",)):
        assert at_stub.run("install", *arguments, script=archive).code == 0
    found = Clinic(at_stub, at_stub.folder / "home" / ".local" / "share" / "ctxhub" / "ctxhub.py")
    found.server(command="python3", args=[str(found.launcher), "mcp"])
    return found


def test_where_all_is_well_nothing_is_to_be_done(clinic: Clinic, stub: StubHub) -> None:
    found = clinic.findings()
    assert {state for _, state, _ in found} == {"ok"}, found
    assert [check for check, _, _ in found] == [
        *("program", "hub", "token", "agent", "claude-code", "claude-code", "repository", "commands"),
        "commits",
    ]
    text = clinic.run().out
    assert text.splitlines()[0].startswith(f"ctxhub {client_archive().version}, Python 3.")
    assert "ok       token        of project apollo, with read, write\n" in text
    assert "hooks speak as the client" in text
    assert TOKEN not in text
    assert [sent.method for sent in stub.sent if sent.method not in ("GET", "HEAD")] == []


def test_a_hub_that_is_away(clinic: Clinic) -> None:
    clinic.at.variables["CTXHUB_URL"] = "http://ada:secret@127.0.0.1:9"
    told = clinic.of("hub", "problem")
    assert told.startswith("http://127.0.0.1:9 cannot be reached: ")
    assert "secret" not in told
    assert "token" not in {check for check, _, _ in clinic.findings()}, "it was not asked"


@pytest.mark.parametrize(
    ("variables", "check", "state", "text"),
    [
        ({"CTXHUB_URL": "localhost:8000"}, "hub", "problem", "CTXHUB_URL is 'localhost:8000'"),
        ({"CTXHUB_TOKEN": ""}, "token", "problem", "CTXHUB_TOKEN is not set -> Make one"),
        ({"CTXHUB_TOKEN": "${CTXHUB_TOKEN}"}, "token", "problem", "CTXHUB_TOKEN is the name of a variable"),
        ({"CTXHUB_TOKEN": "two words"}, "hub", "problem", "CTXHUB_TOKEN is no token"),
        ({"CTXHUB_SHELL": "eahc"}, "variables", "warning", "CTXHUB_SHELL=eahc means nothing, so it is each"),
        ({"CTXHUB_ENFORCE": "warn"}, "variables", "note", "CTXHUB_ENFORCE=warn"),
        ({"CTXHUB_SHELL": "off"}, "commands", "note", "CTXHUB_SHELL=off"),
        ({"CTXHUB_AGENT": "zoe"}, "agent", "ok", "hooks speak as zoe"),
    ],
)
def test_variables(clinic: Clinic, variables: dict[str, str], check: str, state: str, text: str) -> None:
    clinic.at.variables |= variables
    assert clinic.of(check, state).startswith(text)


@pytest.mark.parametrize(
    ("answer", "check", "state", "text"),
    [
        (Answer({}, 401), "token", "problem", "the hub refuses it: ended, revoked or mistyped -> Make one"),
        (Answer({}, 500), "token", "problem", "the hub answers 500"),
        (Answer("<html>", 200, "text/html"), "token", "problem", "the hub answers 200"),
        (Answer({**ME, "scopes": ["read"]}, 200), "token", "warning", "of project apollo: without the scope"),
        (Answer({**ME, "pinned": True}, 200), "agent", "ok", "hooks speak as setup, to which the token is"),
    ],
)
def test_what_the_hub_says_of_the_token(
    clinic: Clinic, stub: StubHub, answer: Answer, check: str, state: str, text: str
) -> None:
    stub.answers["/api/v1/me/"] = answer
    assert clinic.of(check, state).startswith(text)


def test_a_name_that_the_token_is_not_for(clinic: Clinic, stub: StubHub) -> None:
    stub.answers["/api/v1/me/"] = Answer({**ME, "pinned": True}, 200)
    clinic.at.variables["CTXHUB_AGENT"] = "zoe"
    assert "as setup, to which the token is pinned, and not as CTXHUB_AGENT=zoe" in clinic.of(
        "agent", "warning"
    )


@pytest.mark.parametrize(
    ("version", "text"), [("9.1.0+ffffffff", "serves version 9.1.0+ffffffff"), ("", "but serves no client")]
)
def test_another_program_of_the_hub(clinic: Clinic, stub: StubHub, version: str, text: str) -> None:
    stub.answers["/connect/ctxhub.pyz"] = Answer("", 200, "text/plain", {"Ctxhub-Client-Version": version})
    told = clinic.of("hub", "warning")
    assert text in told
    assert ("ctxhub.py upgrade` gets it." in told) == bool(version)


BRIDGE_OF_CODEX = '[mcp_servers.ctxhub]\ncommand = "python3"\nargs = ["{}", "mcp"]\n'


@pytest.mark.parametrize(
    ("entry", "state", "text"),
    [
        ({"type": "http", "url": "URL/mcp"}, "ok", "over HTTP; hooks add the session"),
        ({"url": "http://elsewhere:8000/mcp"}, "warning", "asks elsewhere:8000, and the hooks ask 127.0.0.1"),
        (
            {"url": "URL/mcp", "headers": {"Ctxhub-Agent": "zoe", "Authorization": f"Bearer {TOKEN}"}},
            "warning",
            "speaks as zoe, and the hooks as claude: an agent is denied its own edits",
        ),
        ({"url": "${CTXHUB_URL}/mcp", "headers": {"Ctxhub-Agent": "${CTXHUB_AGENT}"}}, "ok", "over HTTP"),
        ({"url": "URL/mcp?client=claude"}, "ok", "over HTTP"),
        ({"url": "URL/mcp?client=zoe"}, "warning", "speaks as zoe"),
        ({"command": "python", "args": ["manage.py", "runmcp", "--agent", "claude"]}, "ok", "on stdio"),
        (
            {"command": "python", "args": ["manage.py", "runmcp", "--agent", "zoe"]},
            "warning",
            "speaks as zoe",
        ),
        (
            {"command": "python3", "args": ["/gone/ctxhub.py", "mcp"]},
            "problem",
            "there is no /gone/ctxhub.py",
        ),
        (
            {"command": "python3", "args": ["LAUNCHER", "mcp"], "env": {"CTXHUB_URL": "http://other"}},
            "warning",
            "asks other, and",
        ),
    ],
)
def test_the_server_of_a_client(clinic: Clinic, stub: StubHub, entry: Any, state: str, text: str) -> None:
    put = json.dumps(entry).replace("URL/mcp", f"{stub.url}/mcp").replace("LAUNCHER", str(clinic.launcher))
    clinic.server(**json.loads(put))
    found = [(is_so, told) for check, is_so, told in clinic.findings() if check == "claude-code"]
    [(is_so, told)] = [each for each in found if "MCP server in" in each[1]]
    assert (is_so, text in told) == (state, True), told
    assert TOKEN not in told


def test_a_server_that_is_of_this_folder_alone(clinic: Clinic) -> None:
    entry = {"mcpServers": {"ctxhub": {"command": "python3", "args": [str(clinic.launcher), "mcp"]}}}
    clinic.write(".claude.json", {"projects": {str(clinic.at.repository): entry, "/elsewhere": entry}})
    assert {state for _, state, _ in clinic.findings()} == {"ok"}
    clinic.write(".claude.json", {"projects": {"/elsewhere": entry}})
    assert "has hooks and no MCP server of the hub" in clinic.of("claude-code", "warning")
    clinic.at.write(".mcp.json", json.dumps(entry))
    assert {state for _, state, _ in clinic.findings()} == {"ok"}


def test_no_client_is_connected(clinic: Clinic) -> None:
    (clinic.home / ".claude.json").unlink()
    shutil.rmtree(clinic.at.repository / ".claude")
    assert clinic.of("clients", "warning").startswith("none is connected to a hub in this folder")


@pytest.mark.parametrize("content", ["{", "[]", '"ctxhub"', "null", '{"mcpServers": []}', "\ufeff{}", "\x00"])
def test_files_of_another_form_do_no_harm(clinic: Clinic, content: str) -> None:
    for file in (".claude.json", ".codex/config.toml", ".codex/hooks.json", ".cursor/mcp.json"):
        clinic.write(file, content)
    assert "has hooks and no MCP server" in clinic.of("claude-code", "warning")


def settings_of(clinic: Clinic) -> Path:
    return clinic.at.repository / ".claude" / "settings.local.json"


@pytest.mark.parametrize(
    ("before", "after", "state", "text"),
    [
        ("Bash|PowerShell|", "", "warning", "are of an earlier version, for PreToolUse"),
        ("python3 -IS", "python9 -IS", "problem", "there is no python9"),
        ("LAUNCHER", "/gone/ctxhub.py", "problem", "there is no /gone/ctxhub.py"),
    ],
)
def test_hooks_that_are_old_or_cannot_run(
    clinic: Clinic, before: str, after: str, state: str, text: str
) -> None:
    settings = settings_of(clinic)
    before = before.replace(
        "LAUNCHER", f"'{clinic.launcher}'" if " " in str(clinic.launcher) else str(clinic.launcher)
    )
    assert before in settings.read_text()
    settings.write_text(settings.read_text().replace(before, after))
    told = clinic.of("claude-code", state)
    assert text in told
    assert "install claude-code` writes them anew" in told


def test_hooks_in_several_places(clinic: Clinic) -> None:
    clinic.write(".claude/settings.json", {"enabledPlugins": {"ctxhub@ctxhub": True}})
    assert "has hooks in several places" in clinic.of("claude-code", "warning")
    clinic.write(".claude/settings.json", {"enabledPlugins": {"ctxhub@ctxhub": False}})
    assert {state for _, state, _ in clinic.findings()} == {"ok"}


def test_a_server_without_hooks(clinic: Clinic) -> None:
    settings_of(clinic).unlink()
    assert "has no hooks: nothing is checked" in clinic.of("claude-code", "note")


def test_codex(clinic: Clinic, stub: StubHub) -> None:
    clinic.at.run("install", "codex", script=clinic.launcher)
    entry = BRIDGE_OF_CODEX.format(clinic.launcher)
    clinic.write(".codex/config.toml", entry)
    assert "Codex does not give it CTXHUB_TOKEN" in clinic.of("codex", "problem")
    for added in ('env_vars = ["CTXHUB_TOKEN"]\n', '[mcp_servers.ctxhub.env]\nCTXHUB_TOKEN = "x"\n'):
        clinic.write(".codex/config.toml", entry + added)
        found = [(state, text) for check, state, text in clinic.findings() if check == "codex"]
        assert [state for state, _ in found] == ["ok", "ok"]
        assert "trust them with /hooks" in found[1][1]


def test_clients_without_hooks_of_their_own(clinic: Clinic, stub: StubHub) -> None:
    entry = {"url": f"{stub.url}/mcp", "headers": {"Ctxhub-Agent": "cursor"}}
    clinic.write(".cursor/mcp.json", {"mcpServers": {"ctxhub": entry}})
    assert "all windows of an agent are one holder" in clinic.of("cursor", "note")
    bridge = {"command": "python3", "args": [str(clinic.launcher), "mcp"]}
    clinic.at.write(".vscode/mcp.json", json.dumps({"servers": {"ctxhub": bridge}}))
    assert "the bridge" in clinic.of("vscode", "ok")


def test_other_clients(clinic: Clinic) -> None:
    words = ["python3", str(clinic.launcher), "mcp"]
    bridge = {"command": words[0], "args": words[1:]}
    clinic.write(".copilot/mcp-config.json", {"mcpServers": {"ctxhub": bridge}})
    clinic.write(".gemini/config/mcp_config.json", {"mcpServers": {"ctxhub": bridge}})
    entry = {"type": "local", "command": words, "environment": {"CTXHUB_AGENT": "zoe"}}
    clinic.at.write("opencode.json", json.dumps({"mcp": {"ctxhub": entry}}))
    assert "the bridge" in clinic.of("copilot-cli", "ok")
    assert "the bridge" in clinic.of("antigravity", "ok")
    assert "the bridge" in clinic.of("opencode", "ok"), "it has no hooks that could speak as another"


def test_worktrees_have_the_servers_of_the_main_one(clinic: Clinic) -> None:
    at = clinic.at
    at.git("commit", "-q", "--no-verify", "--allow-empty", "-m", "First.")
    entry = {"mcpServers": {"ctxhub": {"command": "python3", "args": [str(clinic.launcher), "mcp"]}}}
    clinic.write(".claude.json", {"projects": {str(at.repository): entry}})
    at.git("worktree", "add", "-q", "side")
    at.folder, before = at.folder / "beside", at.folder
    (before / "beside").mkdir()
    (before / "beside" / "a repository").symlink_to(before / "a repository" / "side")
    (before / "beside" / "home").symlink_to(before / "home")
    found = [text for check, _, text in clinic.findings() if check == "claude-code"]
    assert any("the bridge" in text for text in found), found


def test_tables_of_toml_are_read_by_a_python_without_a_parser() -> None:
    text = BRIDGE_OF_CODEX.format("/a/ctxhub.py") + '\n[mcp_servers.ctxhub.env]\nA = "1"\n\n[other]\nb = 2\n'
    server = {"command": "python3", "args": ["/a/ctxhub.py", "mcp"], "env": {"A": "1"}}
    assert tables_of(text) == {"mcp_servers": {"ctxhub": server}}


# -- The folder ------------------------------------------------------------------------------------------


def test_a_folder_without_git(clinic: Clinic) -> None:
    shutil.rmtree(clinic.at.repository / ".git")
    assert "is in no git repository: what commands write is not found" in clinic.of("repository", "warning")


def test_a_guard_that_is_missing_or_cannot_run(clinic: Clinic) -> None:
    hook = clinic.at.repository / ".git" / "hooks" / "pre-commit"
    hook.chmod(0o644)
    assert "is not executable" in clinic.of("commits", "problem")
    hook.unlink()
    assert f"no guard in {hook}" in clinic.of("commits", "note")
    assert clinic.run().code == 0


def slow_git(clinic: Clinic, seconds: float) -> None:
    programs = clinic.at.folder / "programs"
    programs.mkdir(exist_ok=True)
    own = programs / "git"
    own.write_text(f'#!/bin/sh\nsleep {seconds}\nexec {shutil.which("git")} "$@"\n')
    own.chmod(0o755)
    clinic.at.variables["PATH"] = f"{programs}:{clinic.at.environment['PATH']}"


def test_looks_that_take_long(clinic: Clinic) -> None:
    slow_git(clinic, 0.3)
    told = clinic.of("commands", "warning")
    assert "so only at the end of turns" in told
    assert "core.fsmonitor" in told


def test_sessions_that_look_at_the_end_of_turns_alone(clinic: Clinic) -> None:
    for number, slow in enumerate((0, 2, 3, 4)):
        file = clinic.at.folder / "cache" / "ctxhub-hooks" / f"turn-{number}.json"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps({"slow": slow}))
    assert "2 sessions of the last days looked at the end of turns alone" in clinic.of("commands", "note")


def test_unknown_arguments_are_refused(clinic: Clinic) -> None:
    run = clinic.run("--jsn")
    assert (run.code, run.out) == (2, "")
    assert "--jsn" in run.err
