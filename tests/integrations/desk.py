"""A person's desk: a shell, a repository, and the real Claude Code and Codex, whose models are stand-ins."""

import json
import shlex
import subprocess
from dataclasses import dataclass
from pathlib import Path

from tests.integrations.claude_code import QUIET, installed_client
from tests.integrations.codex import EVERYWHERE, TRUSTING, asking, installed_codex
from tests.integrations.hook import Workplace
from tests.integrations.model_stand_in import Block, StandIn, Step, text, use
from tests.integrations.responses_stand_in import patch, run

# One client's whole session within the other's, on a busy machine.
SECONDS_TO_RUN = 600
GETTING = "cd ~ && curl -fsSO $CTXHUB_URL/connect/ctxhub.pyz && python3 ctxhub.pyz install"
PROGRAM = "python3 ~/.local/share/ctxhub/ctxhub.py"
# The lines of docs/hooks.md by which the program is a client's MCP server.
BRIDGES = {
    "claude": f"claude mcp add ctxhub -- {PROGRAM} mcp",
    "codex": "codex mcp add ctxhub --env CTXHUB_URL=$CTXHUB_URL --env CTXHUB_TOKEN=$CTXHUB_TOKEN"
    f" -- {PROGRAM} mcp",
}


@dataclass
class Desk:
    """`profile`: the line of variables that stands in the shell's profile."""

    workplace: Workplace
    profile: str
    claude: StandIn
    codex: StandIn

    def __post_init__(self) -> None:
        self.programs.mkdir()
        for name, script in (("claude", installed_client()), ("codex", installed_codex())):
            shim = self.programs / name
            shim.write_text(f'#!/bin/sh\nexec node {shlex.quote(str(script))} "$@"\n')
            shim.chmod(0o755)

    @property
    def programs(self) -> Path:
        return self.workplace.folder / "bin"

    def environment(self, model: StandIn | None = None) -> dict[str, str]:
        """That of its shells, before they read the profile."""
        found = self.workplace.environment
        found |= {**QUIET, "ANTHROPIC_BASE_URL": (model or self.claude).url, "STAND_IN_KEY": "none"}
        found["PATH"] = f"{self.programs}:{found['PATH']}"
        del found["CTXHUB_TOKEN"]
        return found

    def type(self, command: str, model: StandIn | None = None) -> str:
        """Run a command in a new shell; returns what it printed. `model`: Claude's, if it is another one."""
        done = subprocess.run(
            ["bash", "-c", f"{self.profile}\n{command}"],
            cwd=self.workplace.repository,
            env=self.environment(model),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=SECONDS_TO_RUN,
            check=False,
        )
        assert done.returncode == 0, (command, done.stdout, done.stderr)
        return done.stdout

    def ask_claude(self, *options: str, model: StandIn | None = None) -> str:
        return self.type(
            shlex.join(["claude", "-p", "Go on", "--permission-mode", "acceptEdits", *options]), model
        )

    def ask_codex(self, *arguments: str, sandbox: str = EVERYWHERE, model: StandIn | None = None) -> str:
        options = [*TRUSTING, "--sandbox", sandbox, *asking((model or self.codex).url), *arguments]
        return self.type(shlex.join(["codex", "exec", *options, "Go on"]))

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


def add(path: str) -> Block:
    """What Codex' model says to write a file."""
    return patch(f"*** Begin Patch\n*** Add File: {path}\n+a = 1\n*** End Patch")


@dataclass
class Window:
    """One of the clients, with a model of its own. `allowed`: what Claude Code does without asking."""

    desk: Desk
    client: str
    model: StandIn
    allowed: str = "Bash"

    def ask(self, *script: Step) -> str:
        """Run it for one prompt, which its model answers so; returns the hub's name of its session."""
        self.model.then(*script, text("Done."))
        if self.client == "claude":
            options = ("--output-format", "json", "--allowedTools", self.allowed)
            said = self.desk.ask_claude(*options, model=self.model)
            return f"claude-{json.loads(said)['session_id']}"
        said = self.desk.ask_codex("--json", model=self.model)
        return f"codex-{json.loads(said.splitlines()[0])['thread_id']}"

    def runs(self, command: str) -> Block:
        if self.client == "claude":
            return use("Bash", command=command, description="Work")
        return run("exec_command", cmd=command)

    def runs_behind(self, command: str) -> Block:
        """In the background: it is answered before the command has ended."""
        if self.client == "claude":
            return use("Bash", command=command, description="Work", run_in_background=True)
        return run("exec_command", cmd=command, yield_time_ms=250)

    def writes(self, path: str) -> Block:
        return self.desk.write(path) if self.client == "claude" else add(path)

    def delegates(self, *script: Step) -> tuple[Step, ...]:
        """Have a subagent do this, and wait for it."""
        if self.client == "claude":
            task = {"description": "Tests", "prompt": "Write tests.", "subagent_type": "general-purpose"}
            return (use("Agent", run_in_background=False, **task), *script)
        self.model.apart['"recipient": "/root/writer"'] = list(script)
        task = {"task_name": "writer", "message": "Write tests.", "fork_turns": "none"}
        return use("collaboration__spawn_agent", **task), use("collaboration__wait_agent", timeout_ms=60_000)
