"""The real clients from npm: they read what connecting writes, and write their files anew meanwhile."""

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from ctxhub_client.connect.line import Line

from tests import npm
from tests.integrations.claude_code import QUIET, installed_client
from tests.integrations.clients.homes import FOLDER, GOLDEN, SCOPES, Home, golden_files
from tests.integrations.codex import installed_codex

pytestmark = [pytest.mark.one_engine, pytest.mark.needs_npm]
SECONDS = 300
# An MCP server without tools, which says with what words it was started.
SERVER = """
import json, sys
with open({told!r}, "a") as file:
    file.write(json.dumps(sys.argv[1:]) + "\\n")
for line in sys.stdin:
    asked = json.loads(line)
    version = asked.get("params", {{}}).get("protocolVersion")
    result = {{"protocolVersion": version, "capabilities": {{"tools": {{}}}}, "tools": []}}
    result["serverInfo"] = {{"name": "stand-in", "version": "1"}}
    if "id" in asked:
        print(json.dumps({{"jsonrpc": "2.0", "id": asked["id"], "result": result}}), flush=True)
"""
ARGUMENTS = ("--hub", "https://hub.example.com", "--project", "apollo", "--agent", "ada")


CACHE = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")


@pytest.fixture(autouse=True)
def installed(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """The clients are not installed into the home of a test."""
    assert home.home.exists()
    monkeypatch.setenv("XDG_CACHE_HOME", CACHE)


@pytest.fixture
def line(home: Home) -> Line:
    server = home.folder / "server.py"
    server.write_text(SERVER.format(told=str(told(home))))
    return Line((sys.executable, str(server)), ARGUMENTS)


def told(home: Home) -> Path:
    return home.folder / "told.json"


def was_started(home: Home) -> bool:
    lines = told(home).read_text().splitlines() if told(home).exists() else []
    return json.dumps(["mcp", *ARGUMENTS]) in lines


def fill(home: Home, case: str, name: str) -> Path:
    """Put one golden file of others into the home."""
    file = home.folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    content = golden_files(GOLDEN / case / "before")[name]
    file.write_bytes(content.replace(FOLDER, os.fsencode(home.folder)))
    return file


def run(home: Home, *command: str) -> str:
    inherited = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
    done = subprocess.run(
        command,
        cwd=home.repository,
        env={**inherited, **QUIET, "HOME": str(home.home)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("scope", SCOPES)
def test_claude_code(home: Home, line: Line, scope: str) -> None:
    file = fill(home, f"claude-code-{scope}", "home/.claude.json")
    client = ("node", str(installed_client()), "mcp")
    home.connect("claude-code", scope, line)
    assert "Connected" in run(home, *client, "get", "ctxhub")
    assert was_started(home)
    run(home, *client, "add", "--scope", "user", "theirs", "--", "true")
    home.disconnect("claude-code", scope)
    left = json.loads(file.read_text())
    assert "theirs" in left["mcpServers"]
    assert "ctxhub" not in file.read_text()
    assert {"unknownKey", "oauthAccount"} & left.keys()


@pytest.mark.parametrize("scope", SCOPES)
def test_codex(home: Home, line: Line, scope: str) -> None:
    user = fill(home, "codex-user", "home/.codex/config.toml")
    file = user if scope == "user" else fill(home, "codex-repository", "repo/.codex/config.toml")
    before = tomllib.loads(file.read_bytes().decode("utf-8-sig"))
    client = ("node", str(installed_codex()), "mcp")
    home.connect("codex", scope, line)
    found = json.loads(run(home, *client, "get", "ctxhub", "--json"))["transport"]
    assert [found["command"], *found["args"]] == line.server
    assert "XDG_CONFIG_HOME" in found["env_vars"]
    run(home, *client, "add", "theirs", "--", "true")
    home.disconnect("codex", scope)
    if scope == "user":
        before["mcp_servers"]["theirs"] = {"command": "true"}
    assert tomllib.loads(file.read_bytes().decode("utf-8-sig")) == before


@pytest.mark.parametrize("scope", SCOPES)
def test_opencode(home: Home, line: Line, scope: str) -> None:
    name = "home/.config/opencode/opencode.jsonc" if scope == "user" else "repo/.opencode/opencode.json"
    file = fill(home, f"opencode-{scope}", name)
    before = file.read_bytes()
    program = npm.installed("opencode-ai", "1.18.33") / "bin" / "opencode.exe"
    home.connect("opencode", scope, line)
    assert "ctxhub" in run(home, str(program), "mcp", "list")
    assert was_started(home)
    home.disconnect("opencode", scope)
    assert file.read_bytes() == before


def test_copilot_cli(home: Home, line: Line) -> None:
    file = fill(home, "copilot-cli-user", "home/.copilot/mcp-config.json")
    program = npm.installed("@github/copilot", "1.0.102") / "npm-loader.js"
    home.connect("copilot-cli", "user", line)
    found = json.loads(run(home, "node", str(program), "mcp", "get", "ctxhub", "--json"))
    assert json.dumps(line.server[1:]) in json.dumps(found)
    run(home, "node", str(program), "mcp", "add", "theirs", "--", "true")
    home.disconnect("copilot-cli", "user")
    assert list(json.loads(file.read_text())["mcpServers"]) == ["github", "theirs"]
