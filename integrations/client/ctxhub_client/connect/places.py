"""Where each client reads its servers, its hooks and its rules: docs/clients.md names the sources."""

from __future__ import annotations

import os
import re

from ctxhub_client.connect.jsonc import find, parse
from ctxhub_client.connect.line import NAME
from ctxhub_client.doctor.servers import code_folder, codex_home
from ctxhub_client.install.files import Refused, read_file
from ctxhub_client.install.rules import CURSOR_HEAD

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ctxhub_client.connect.line import Scope

MCP_SERVERS = ("mcpServers", NAME)
RULES_HEAD = '---\napplyTo: "**"\n---\n\n'
OPENCODE_FILES = ("opencode.json", "opencode.jsonc")
OPENCODE_KEYS = (("mcp", NAME), ("mcp", "servers", NAME))


class Place:
    """A file, and the keys under which the server stands in it; () in a file of TOML."""

    def __init__(self, file: str, keys: tuple[str, ...] = ()) -> None:
        self.file = file
        self.keys = keys


def in_home(*names: str) -> str:
    return os.path.join(os.path.expanduser("~"), *names)


def claude_folder() -> str:
    return os.environ.get("CLAUDE_CONFIG_DIR") or in_home(".claude")


def copilot_folder() -> str:
    return os.environ.get("COPILOT_HOME") or in_home(".copilot")


def opencode_folder() -> str:
    return os.path.join(os.environ.get("XDG_CONFIG_HOME") or in_home(".config"), "opencode")


def server_places(client: str, scope: Scope) -> list[Place]:
    """Those to which the server belongs."""
    if client == "opencode":
        candidates = opencode_places(scope)
        there = [place for place in candidates if os.path.exists(place.file)]
        return [next((place for place in there if is_in(place)), (there or candidates)[0])]
    if client == "antigravity" and scope.is_user:
        shared, before = antigravity_places()
        is_old = os.path.isdir(os.path.dirname(before.file)) and not os.path.exists(
            os.path.join(os.path.dirname(shared.file), ".migrated")
        )
        return [shared, before] if is_old else [shared]
    return all_places(client, scope)


def all_places(client: str, scope: Scope) -> list[Place]:
    """Those in which the server may stand."""
    top, is_user = scope.top, scope.is_user
    if client == "claude-code":
        file = os.path.join(os.environ.get("CLAUDE_CONFIG_DIR") or in_home(), ".claude.json")
        project = scope.shared_top.replace(os.sep, "/")
        return [Place(file, MCP_SERVERS if is_user else ("projects", project, *MCP_SERVERS))]
    if client == "codex":
        folder = codex_home() if is_user else os.path.join(top, ".codex")
        return [Place(os.path.join(folder, "config.toml"))]
    if client == "cursor":
        return [Place(os.path.join(in_home() if is_user else top, ".cursor", "mcp.json"), MCP_SERVERS)]
    if client == "vscode":
        folder = code_folder() if is_user else os.path.join(top, ".vscode")
        return [Place(os.path.join(folder, "mcp.json"), ("servers", NAME))]
    if client == "copilot-cli":
        names = (copilot_folder(), "mcp-config.json") if is_user else (top, ".github", "mcp.json")
        return [Place(os.path.join(*names), MCP_SERVERS)]
    if client == "opencode":
        return [Place(place.file, keys) for place in opencode_places(scope) for keys in OPENCODE_KEYS]
    if is_user:
        return antigravity_places()
    return [Place(os.path.join(top, ".agents", "mcp_config.json"), MCP_SERVERS)]


def antigravity_places() -> list[Place]:
    """The file that its programs share, and the one that its editor read before version 2."""
    return [
        Place(in_home(".gemini", name, "mcp_config.json"), MCP_SERVERS) for name in ("config", "antigravity")
    ]


def opencode_places(scope: Scope) -> list[Place]:
    folders = [opencode_folder()] if scope.is_user else [scope.top, os.path.join(scope.top, ".opencode")]
    files = [os.path.join(folder, name) for folder in folders for name in OPENCODE_FILES]
    return [Place(file, opencode_keys(file)) for file in files]


def opencode_keys(file: str) -> tuple[str, ...]:
    """Its version 2 reads servers where version 1 does, and in `mcp.servers`, if the file uses that."""
    try:
        servers = find(parse(text_in(file)), ("mcp", "servers"))
    except Refused:
        servers = None
    is_map = servers is not None and servers.kind == "{" and all(item.node.kind for item in servers.items)
    return OPENCODE_KEYS[is_map]


def is_in(place: Place) -> bool:
    try:
        return find(parse(text_in(place.file)), place.keys) is not None
    except Refused:
        return False


def hooks_file(client: str, scope: Scope, is_user: bool | None = None) -> str:
    """The file of a client that runs this program's hooks; "" for the others."""
    is_user = scope.is_user if is_user is None else is_user
    if client == "claude-code":
        # A path of this machine is not for the file that a team shares.
        own = os.path.join(scope.top, ".claude", "settings.local.json")
        return os.path.join(claude_folder(), "settings.json") if is_user else own
    if client == "codex":
        return os.path.join(codex_home() if is_user else os.path.join(scope.top, ".codex"), "hooks.json")
    return ""


def rules_places(client: str, scope: Scope) -> list[str]:
    """The files that a client reads rules from, the one to write first; none if it has no such file."""
    if scope.is_user:
        return user_rules(client)
    if client == "claude-code":
        return claude_rules(scope.top)
    if client == "cursor":
        return [os.path.join(scope.top, ".cursor", "rules", "ctxhub.mdc")]
    return [os.path.join(scope.top, "AGENTS.md")]


def user_rules(client: str) -> list[str]:
    instructions = os.path.join("instructions", "ctxhub.instructions.md")
    places = {
        "claude-code": os.path.join(claude_folder(), "CLAUDE.md"),
        "codex": os.path.join(codex_home(), "AGENTS.md"),
        "vscode": in_home(".copilot", instructions),
        "copilot-cli": os.path.join(copilot_folder(), instructions),
        "opencode": os.path.join(opencode_folder(), "AGENTS.md"),
        "antigravity": in_home(".gemini", "GEMINI.md"),
    }
    return [places[client]] if client in places else []


def claude_rules(top: str) -> list[str]:
    """CLAUDE.md, unless it imports AGENTS.md."""
    own, below, agents = (
        os.path.join(top, *names) for names in (["CLAUDE.md"], [".claude", "CLAUDE.md"], ["AGENTS.md"])
    )
    if os.path.exists(below) and not os.path.exists(own):
        return [below, own, agents]
    imports = re.search(r"^@(?:\./)?AGENTS\.md[ \t]*\r?$", text_in(own), re.MULTILINE)
    return [agents, own, below] if imports else [own, below, agents]


def rules_head(file: str) -> str:
    """What a file of rules that is this program's own begins with."""
    return {"ctxhub.mdc": CURSOR_HEAD, "ctxhub.instructions.md": RULES_HEAD}.get(os.path.basename(file), "")


def text_in(file: str) -> str:
    """The text of a file without its byte order mark; "" if it cannot be read."""
    try:
        return read_file(file).lstrip("\ufeff")
    except OSError:
        return ""
