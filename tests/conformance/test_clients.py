"""The client of the TypeScript SDK and the Inspector's command line, over HTTP and stdio."""

import json
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.core.command_line import Installation, Server, migrated_installation
from tests.npm import installed
from tests.stdio import command
from tests.timing import PATIENCE_SECONDS

pytestmark = [pytest.mark.one_engine, pytest.mark.needs_npm]

CLIENT = ("@modelcontextprotocol/client", "2.4.0")
INSPECTOR = ("@modelcontextprotocol/inspector", "2.12.0")
VERSIONS = {"auto": "2026-07-28", "legacy": "2025-11-25"}
OF_HUB = ("DATABASE_URL", "CTXHUB_VAR_DIR")
RUNMCP = command("--project", "demo", "--agent", "setup")


@pytest.fixture
def server(django_db_setup: None) -> Iterator[tuple[Installation, Server, str]]:
    with migrated_installation() as at:
        assert at.run("setup", "--no-input").returncode == 0
        with at.serving("--port", "0") as server:
            yield at, server, (at.folder / "setup_token").read_text().strip()


def output(arguments: Sequence[Any], at: Installation, folder: Path) -> Any:
    done = subprocess.run(
        arguments,
        env={**at.environment, "HOME": str(folder)},
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=2 * PATIENCE_SECONDS,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("mode", VERSIONS)
def test_the_client_of_the_typescript_sdk_gets_the_same_over_both_transports(
    server: tuple[Installation, Server, str], tmp_path: Path, mode: str
) -> None:
    at, running, token = server
    # Node looks for packages beside the script.
    (tmp_path / "node_modules").symlink_to(installed(*CLIENT).parent.parent)
    script = shutil.copy(Path(__file__).with_name("client.mjs"), tmp_path)
    over_http = output(["node", script, mode, f"{running.hub.url}/mcp", token], at, tmp_path)
    over_stdio = output(["node", script, mode, "--", *RUNMCP], at, tmp_path)
    assert over_http == over_stdio
    assert over_http.pop("version") == VERSIONS[mode]
    assert {*over_http.pop("tools")} >= {"decision", "get", "delete"}
    heard = {"heard": "ctxhub://decision/api/auth"} if mode == "auto" else {}
    assert over_http == {
        "resources": ["ctxhub://brief", "ctxhub://layers", "ctxhub://inbox/setup"],
        "templates": ["ctxhub://decision/{+key}", "ctxhub://{kind}/{id}", "ctxhub://inbox/{agent}"],
        "prompts": ["start", "handoff", "review_decisions"],
        "read": "JWT",
        "prompt": "text",
        "completed": ["api/auth"],
        "refused": True,
        "missing": -32602,
        **heard,
    }


@pytest.mark.parametrize("way", ["http", "stdio"])
def test_the_inspector_reads_all_that_is_offered(
    server: tuple[Installation, Server, str], tmp_path: Path, way: str
) -> None:
    at, running, token = server
    program = installed(*INSPECTOR).parent.parent / ".bin" / "mcp-inspector"
    before, after = {
        "http": (
            [f"{running.hub.url}/mcp", "--transport", "http", "--header", f"Authorization: Bearer {token}"],
            [],
        ),
        # It passes on what it is told to alone.
        "stdio": (
            [each for name in OF_HUB for each in ("-e", f"{name}={at.environment[name]}")],
            ["--", *RUNMCP],
        ),
    }[way]

    def inspect(method: str, *options: str) -> Any:
        arguments = [program, "--cli", *before, "--method", method, *options, *after]
        return output(arguments, at, tmp_path)

    tools = inspect("tools/list", "--strict")["tools"]
    assert {tool["name"] for tool in tools} >= {"decision", "get", "delete"}
    assert len(inspect("resources/list")["resources"]) == 3
    assert len(inspect("prompts/list")["prompts"]) == 3
    [layers] = inspect("resources/read", "--uri", "ctxhub://layers")["contents"]
    assert json.loads(layers["text"])["columns"][0] == "layer"
    text = inspect("prompts/get", "--prompt-name", "start")["messages"][0]["content"]["text"]
    assert "data, not orders" in text
    called = inspect("tools/call", "--tool-name", "hub", "--tool-arg", "action=stats")
    assert "decisions" in json.loads(called["content"][0]["text"])
