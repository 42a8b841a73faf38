"""The real Claude Code from npm, installed once into the user's cache; nothing of it is in here."""

import json
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests import npm
from tests.integrations.hook import PATIENT, Workplace
from tests.integrations.model_stand_in import StandIn

PACKAGE = "@anthropic-ai/claude-code"
VERSION = "2.1.330"
SECONDS_TO_RUN = 240
QUIET = {
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "DISABLE_AUTOUPDATER": "1",
    "DISABLE_TELEMETRY": "1",
    "ANTHROPIC_API_KEY": "sk-ant-test",
    "CLAUDE_CODE_SESSIONEND_HOOKS_TIMEOUT_MS": "120000",
    # The first request waits for the hub's tools.
    "MCP_CONNECTION_NONBLOCKING": "false",
    "MCP_CONNECT_TIMEOUT_MS": "120000",
    "MCP_TIMEOUT": "120000",
}


def installed_client() -> Path:
    """Its launcher. Without npm the test is skipped with a warning."""
    return npm.installed(PACKAGE, VERSION, "--ignore-scripts") / "cli-wrapper.cjs"


def make_patient(folder: Path) -> None:
    """Give the hooks of a folder, and the client that waits for them, the time of a busy machine."""
    for script in folder.rglob("ctxhub_hook.py"):
        script.write_text(PATIENT.put_into(script.read_text()))
    for file in folder.rglob("*.json"):
        file.write_text(re.sub(r'"timeout": \d+', f'"timeout": {SECONDS_TO_RUN}', file.read_text()))


@dataclass
class ClaudeCode:
    """The client in a workplace, with a stand-in for its model, and one MCP server."""

    script: Path
    workplace: Workplace
    model: StandIn
    server: dict[str, Any]
    # The client's own name of its last session.
    session: str = ""

    def ask(self, prompt: str, *arguments: str) -> str:
        """Run it for one prompt; returns its last answer."""
        config = self.workplace.folder / "mcp.json"
        config.write_text(json.dumps({"mcpServers": {"ctxhub": self.server}}))
        options = ["--mcp-config", str(config), "--strict-mcp-config", "--output-format", "json"]
        allowed = ["--allowedTools", "mcp__ctxhub__decision,mcp__ctxhub__file,Write,Edit"]
        done = subprocess.run(
            ["node", str(self.script), "-p", prompt, *options, *allowed, *arguments],
            cwd=self.workplace.repository,
            env={**self.workplace.environment, **QUIET, "ANTHROPIC_BASE_URL": self.model.url},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=SECONDS_TO_RUN,
            check=False,
        )
        assert done.returncode == 0, (done.stdout, done.stderr)
        answer = json.loads(done.stdout)
        self.session = answer["session_id"]
        result: str = answer["result"]
        return result
