"""The real Claude Code from npm, installed once into the user's cache; nothing of it is in here."""

import json
import re
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests import npm
from tests.integrations.hook import PATIENT, Workplace
from tests.integrations.model_stand_in import StandIn
from tests.integrations.terminal import Terminal, in_terminal
from tests.timing import PATIENCE_SECONDS

PACKAGE = "@anthropic-ai/claude-code"
VERSION = "2.1.330"
SECONDS_TO_RUN = 240
ALLOWED = "mcp__ctxhub__decision,mcp__ctxhub__file,Read,Write,Edit"
# Its title's beginning while it waits for its user.
AT_REST = "✳"
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
    for package in folder.rglob("ctxhub_client"):
        PATIENT.put_into(package)
    for file in folder.rglob("*.json"):
        file.write_text(re.sub(r'"timeout": \d+', f'"timeout": {SECONDS_TO_RUN}', file.read_text()))


@dataclass
class Talk:
    """A client that a program speaks with, line by line."""

    process: "subprocess.Popen[str]"

    def say(self, prompt: str) -> dict[str, Any]:
        """The result of a prompt or a command: `session_id`, `result`, `num_turns` and more."""
        assert self.process.stdin
        assert self.process.stdout
        message = {"type": "user", "message": {"role": "user", "content": prompt}}
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()
        for line in self.process.stdout:
            answer: dict[str, Any] = json.loads(line)
            if answer["type"] == "result":
                return answer
        raise AssertionError(f"{prompt!r} was not answered")


@dataclass
class Window:
    """A client in a terminal, as a person has it before them."""

    terminal: Terminal

    def say(self, line: str) -> None:
        """Type a prompt or a command, and wait until it is done."""
        self.wait(after=self.terminal.type(line))

    def wait(self, after: int = 0) -> None:
        """Wait until it waits for its user: at its start, or after it has worked since this byte."""

        def is_done() -> bool:
            rests = [title.startswith(AT_REST) for title in self.terminal.titles(after)]
            return rests[-1:] == [True] and (False in rests or not after)

        self.terminal.wait_until(is_done, "it does not come to rest")

    def leave(self) -> None:
        self.terminal.type("/exit")
        assert self.terminal.process.wait(PATIENCE_SECONDS) == 0


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
        done = subprocess.run(
            self._command("-p", prompt, "--output-format", "json", *arguments),
            cwd=self.workplace.repository,
            env=self._environment,
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

    @contextmanager
    def talking(self) -> Iterator[Talk]:
        """Run it for many prompts, as a program does that is built on it. It ends with the block."""
        form = ("--input-format", "stream-json", "--output-format", "stream-json", "--verbose")
        with subprocess.Popen(
            self._command("-p", *form),
            cwd=self.workplace.repository,
            env=self._environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        ) as process:
            # What hangs does not end by itself.
            timer = threading.Timer(SECONDS_TO_RUN, process.kill)
            timer.start()
            try:
                yield Talk(process)
            finally:
                process.communicate()
                timer.cancel()
        assert process.returncode == 0

    @contextmanager
    def window(self, *arguments: str) -> Iterator[Window]:
        """Run it in a terminal of somebody who has used it before. It is killed at the end of the block."""
        self._know_its_user()
        with in_terminal(self._command(*arguments), self.workplace.repository, self._environment) as terminal:
            window = Window(terminal)
            window.wait()
            yield window

    @property
    def _environment(self) -> dict[str, str]:
        return {**self.workplace.environment, **QUIET, "ANTHROPIC_BASE_URL": self.model.url}

    def _command(self, *arguments: str) -> list[str]:
        config = self.workplace.folder / "mcp.json"
        config.write_text(json.dumps({"mcpServers": {"ctxhub": self.server}}))
        options = ["--mcp-config", str(config), "--strict-mcp-config", "--allowedTools", ALLOWED]
        return ["node", str(self.script), *arguments, *options]

    def _know_its_user(self) -> None:
        """Answer beforehand what it asks at its first start: colours, the key, and trust in the folder."""
        known = {
            "hasCompletedOnboarding": True,
            "theme": "dark",
            "customApiKeyResponses": {"approved": [QUIET["ANTHROPIC_API_KEY"][-20:]], "rejected": []},
            "projects": {str(self.workplace.repository): {"hasTrustDialogAccepted": True}},
        }
        (Path(self.workplace.environment["HOME"]) / ".claude.json").write_text(json.dumps(known))
