"""Ready lines: commands and settings to paste that connect each client to this hub."""

import json
import shlex
import sys
from collections.abc import Sequence
from typing import Any

from django.conf import settings

from ctxhub import env
from ctxhub.core.accounts.access_tokens import NewToken
from ctxhub.core.kit.base_url import base_url
from ctxhub.core.kit.frozen import frozen

NAME = "ctxhub"


@frozen
class ReadyLine:
    """What to paste for one client: into a shell, or into the file that `where` names."""

    client: str
    line: str
    where: str = ""

    def __str__(self) -> str:
        return f"# {self.client}{f', in {self.where}' if self.where else ''}\n{self.line}"


def as_text(lines: Sequence[ReadyLine]) -> str:
    return "\n".join(map(str, lines))


# -- By one command --------------------------------------------------------------------------------


def connect_here(project: str, *, opened_at: str = "") -> str:
    """What connects the clients of the hub's own machine, from any folder of it."""
    environment = [f"{name}={value}" for name, value in stdio_environment().items()]
    words = ["env", *environment] if environment else []
    words += [sys.executable, str(env.ROOT / "manage.py"), "connect", "--project", project]
    if base_url(opened_at) != base_url(""):
        words += ["--hub", base_url(opened_at)]
    return shlex.join(words)


# -- Over HTTP -------------------------------------------------------------------------------------


def token_lines(new: NewToken, *, opened_at: str = "") -> list[ReadyLine]:
    """The lines for a new token.

    `opened_at`: the URL at which a person opened the hub; used if CTXHUB_BASE_URL is not set.
    """
    agent = new.row.agent.name if new.row.agent else ""
    return [
        *http_lines(new.secret, pinned=bool(agent), opened_at=opened_at),
        variables(new.secret, agent=agent, opened_at=opened_at),
    ]


def variables(secret: str, *, agent: str = "", opened_at: str = "") -> ReadyLine:
    """What hooks read. `agent`: that of a pinned token; without one each client has its own name."""
    values = {"CTXHUB_URL": base_url(opened_at), "CTXHUB_TOKEN": secret, "CTXHUB_AGENT": agent}
    line = " ".join(
        ["export", *(f"{name}={shlex.quote(value) if value else ''}" for name, value in values.items())]
    )
    return ReadyLine("Hooks", line, where="your shell's profile")


def http_lines(secret: str, *, pinned: bool = False, opened_at: str = "") -> list[ReadyLine]:
    """Lines for a running hub. Each client has its own agent name, unless the token is pinned to one."""
    url = f"{base_url(opened_at)}/mcp"

    def headers(agent: str) -> dict[str, str]:
        name = {} if pinned else {"Ctxhub-Agent": agent}
        return {"Authorization": f"Bearer {secret}", **name}

    claude = " ".join(f'--header "{name}: {value}"' for name, value in headers("claude").items())
    cursor = {"mcpServers": {NAME: {"url": url, "headers": headers("cursor")}}}
    # Its command takes no headers, so the address names the agent.
    codex = url if pinned else shlex.quote(f"{url}?client=codex")
    vscode = {"name": NAME, "type": "http", "url": url, "headers": headers("vscode")}
    return [
        ReadyLine("Claude Code", f"claude mcp add --transport http {NAME} {url} {claude}"),
        ReadyLine(
            "Codex",
            f"export CTXHUB_TOKEN={secret} && "
            f"codex mcp add {NAME} --url {codex} --bearer-token-env-var CTXHUB_TOKEN",
        ),
        ReadyLine("Cursor", _json(cursor), where="~/.cursor/mcp.json"),
        ReadyLine("VS Code", f"code --add-mcp {shlex.quote(_json(vscode))}"),
    ]


# -- Over stdio ------------------------------------------------------------------------------------


def stdio_lines(project: str) -> list[ReadyLine]:
    """Lines for clients on this machine, which start the server themselves."""
    environment = stdio_environment()
    flags = [word for name, value in environment.items() for word in ("--env", f"{name}={value}")]
    # --env takes all values that follow, so an option separates it from the name.
    claude = ["claude", "mcp", "add", *flags, "--transport", "stdio", NAME, "--"]
    codex = ["codex", "mcp", "add", NAME, *flags, "--"]
    return [
        ReadyLine("Claude Code", shlex.join([*claude, *stdio_command(project, "claude")])),
        ReadyLine("Codex", shlex.join([*codex, *stdio_command(project, "codex")])),
        ReadyLine(
            "Cursor",
            _json({"mcpServers": {NAME: _server(stdio_command(project, "cursor"), environment)}}),
            where="~/.cursor/mcp.json",
        ),
        ReadyLine(
            "VS Code",
            "code --add-mcp "
            + shlex.quote(
                _json(
                    {"name": NAME, "type": "stdio", **_server(stdio_command(project, "vscode"), environment)}
                )
            ),
        ),
    ]


def stdio_command(project: str, agent: str) -> list[str]:
    """The command with absolute paths: clients start it in any folder, with an almost empty environment."""
    manage = str(env.ROOT / "manage.py")
    return [sys.executable, manage, "runmcp", "--project", project, "--agent", agent]


def stdio_environment() -> dict[str, str]:
    """Environment variables without which that command would open another database."""
    var_dir = env.ROOT / (env.kept("CTXHUB_VAR_DIR") or "var")
    database = env.kept("DATABASE_URL") or f"sqlite:///{settings.VAR_DIR / 'ctxhub.sqlite3'}"
    environment = {}
    if var_dir != settings.VAR_DIR:
        environment["CTXHUB_VAR_DIR"] = str(settings.VAR_DIR)
    if database != settings.DATABASE_URL:
        environment["DATABASE_URL"] = settings.DATABASE_URL
    return environment


def _server(command: Sequence[str], environment: dict[str, str]) -> dict[str, Any]:
    server: dict[str, Any] = {"command": command[0], "args": list(command[1:])}
    return {**server, "env": environment} if environment else server


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
