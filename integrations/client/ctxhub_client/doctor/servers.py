"""The hub's MCP server in the files of clients."""

from __future__ import annotations

import os
import re
import sys

from ctxhub_client.install.files import Refused, read_file, read_settings
from ctxhub_client.values import dict_of, text_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Iterator

    from ctxhub_client.paths import Project
    from ctxhub_client.values import Json

BRIDGE, HTTP, STDIO = "bridge", "http", "stdio"
NAMING = ("Ctxhub-Agent", "Ctxhub-Client")


class Server:
    """An entry of a client's file. `url` and `agent` are "" where the entry does not say them itself."""

    def __init__(self, client: str, file: str, entry: Json) -> None:
        self.client = client
        self.file = file
        arguments = entry.get("args")
        command = entry.get("command")
        listed = [*(command if isinstance(command, list) else [command])]
        listed += arguments if isinstance(arguments, list) else []
        self.words = [word for word in listed if isinstance(word, str)]
        address = text_of(entry, "url", "serverUrl", "httpUrl")
        self.kind = HTTP if address else STDIO if "runmcp" in self.words else BRIDGE
        headers = dict_of(entry, "headers") or dict_of(entry, "http_headers")
        in_address = re.search(r"[?&]client=([^&]+)", address)
        named = text_of(headers, *NAMING) or (in_address[1] if in_address else "")
        if "--agent" in self.words[:-1]:
            named = self.words[self.words.index("--agent") + 1]
        environment = dict_of(entry, "env") or dict_of(entry, "environment")
        passed = entry.get("env_vars")
        # Of its variables Codex gives servers those that it is told to.
        self.variables = [*environment, *(passed if isinstance(passed, list) else [])]
        address = address or text_of(environment, "CTXHUB_URL")
        named = named or text_of(environment, "CTXHUB_AGENT")
        self.url = "" if "${" in address else address
        self.agent = "" if "${" in named else named


def find_servers(project: Project) -> list[Server]:
    """Those that the clients of this user have for the folder."""
    found = []
    for client, file in server_files(project):
        found += [Server(client, file, entry) for entry in entries_of(file, project)]
    return found


def server_files(project: Project) -> Iterator[tuple[str, str]]:
    home, tops = os.path.expanduser("~"), tops_of(project)
    config = os.environ.get("CLAUDE_CONFIG_DIR")
    yield "claude-code", os.path.join(config or home, ".claude.json")
    yield "codex", os.path.join(codex_home(), "config.toml")
    yield "cursor", os.path.join(home, ".cursor", "mcp.json")
    yield "vscode", os.path.join(code_folder(), "mcp.json")
    copilot = os.environ.get("COPILOT_HOME") or os.path.join(home, ".copilot")
    yield "copilot-cli", os.path.join(copilot, "mcp-config.json")
    opencode = os.path.join(os.environ.get("XDG_CONFIG_HOME") or os.path.join(home, ".config"), "opencode")
    for name in ("config", "antigravity"):
        yield "antigravity", os.path.join(home, ".gemini", name, "mcp_config.json")
    for folder in (opencode, *tops):
        for name in ("opencode.json", "opencode.jsonc"):
            yield "opencode", os.path.join(folder, name)
    for top in tops:
        yield "copilot-cli", os.path.join(top, ".github", "mcp.json")
        yield "antigravity", os.path.join(top, ".agents", "mcp_config.json")
        yield "claude-code", os.path.join(top, ".mcp.json")
        yield "codex", os.path.join(top, ".codex", "config.toml")
        yield "cursor", os.path.join(top, ".cursor", "mcp.json")
        yield "vscode", os.path.join(top, ".vscode", "mcp.json")


def tops_of(project: Project) -> list[str]:
    """The folders in which clients look for files of a project."""
    own = project.repository.top if project.repository else project.folder
    return list(dict.fromkeys((own, project.folder)))


def named_tops(project: Project) -> list[str]:
    """Those by which Claude Code names a project: all worktrees of a repository have that of the main one."""
    common = project.repository.common if project.repository else ""
    main = [os.path.dirname(common)] if os.path.basename(common) == ".git" else []
    return [top.replace(os.sep, "/") for top in dict.fromkeys([*main, *tops_of(project)])]


def codex_home() -> str:
    return os.environ.get("CODEX_HOME") or os.path.expanduser(os.path.join("~", ".codex"))


def code_folder() -> str:
    """Where VS Code keeps what is the user's."""
    if sys.platform == "darwin":
        base = os.path.expanduser(os.path.join("~", "Library", "Application Support"))
    elif os.name == "nt":
        base = os.environ.get("APPDATA", "")
    else:
        base = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser(os.path.join("~", ".config"))
    return os.path.join(base, "Code", "User")


def entries_of(file: str, project: Project) -> list[Json]:
    settings = read_config(file)
    listed = [dict_of(settings, name) for name in ("mcpServers", "servers", "mcp_servers", "mcp")]
    listed.append(dict_of(dict_of(settings, "mcp"), "servers"))
    projects = dict_of(settings, "projects")
    listed += [dict_of(dict_of(projects, top), "mcpServers") for top in named_tops(project)]
    return [entry for servers in listed for name, entry in servers.items() if is_of_hub(name, entry)]


def is_of_hub(name: str, entry: object) -> bool:
    return isinstance(entry, dict) and ("ctxhub" in name.lower() or "ctxhub" in str(entry).lower())


def read_config(file: str) -> Json:
    """What a file of JSON or TOML holds; {} if it cannot be read."""
    try:
        text = read_file(file)
        if file.endswith(".toml"):
            return read_toml(text)
        return read_settings(text, file)
    except (OSError, Refused, RecursionError):
        return {}


def read_toml(text: str) -> Json:
    """Python before 3.11 reads of it the tables of MCP servers alone, and of these single lines."""
    try:
        import tomllib
    except ImportError:
        return tables_of(text)
    try:
        return tomllib.loads(text)
    except ValueError:
        return {}


def tables_of(text: str) -> Json:
    servers: Json = {}
    heads = r"^\[mcp_servers\.\"?([\w-]+)\"?(\.env)?\][ \t]*$((?:\n(?!\[).*)*)"
    for name, is_environment, body in re.findall(heads, text, re.MULTILINE):
        server = servers.setdefault(name, {})
        lines = dict(re.findall(r"^\s*(\w+)\s*=\s*\"([^\"]*)\"", body, re.MULTILINE))
        if is_environment:
            server["env"] = lines
            continue
        listed = re.search(r"^\s*args\s*=\s*\[(.*)", body, re.MULTILINE)
        server.update(lines, args=re.findall(r"\"([^\"]*)\"", listed[1]) if listed else [])
    return {"mcp_servers": servers}
