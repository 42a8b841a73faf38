"""How each client writes a server."""

from __future__ import annotations

from ctxhub_client.install.files import Refused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ctxhub_client.connect.line import Line
    from ctxhub_client.values import Json

# What each client replaces in the words of a server.
REPLACED = {
    "claude-code": ("${",),
    "cursor": ("${",),
    "vscode": ("${",),
    "copilot-cli": ("$",),
    "opencode": ("{env:", "{file:"),
}
VARIABLE = {
    "claude-code": "${{{}}}",
    "cursor": "${{env:{}}}",
    "vscode": "${{env:{}}}",
    "copilot-cli": "${{{}}}",
    "opencode": "{{env:{}}}",
}
# Codex gives servers a few variables, and those that are named.
FOR_CODEX = (
    *("CTXHUB_URL", "CTXHUB_TOKEN", "CTXHUB_AGENT", "CTXHUB_SESSION", "CTXHUB_DEBUG"),
    *("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"),
    *("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy"),
    *("SSL_CERT_FILE", "SSL_CERT_DIR"),
)


def entry_of(client: str, line: Line, keys: tuple[str, ...] = ()) -> Json:
    """The value that a client reads as the server. Raises Refused for words that it would replace."""
    if line.url:
        return remote(client, line, keys)
    command, *arguments = line.server
    for sign in REPLACED.get(client, ()):
        if any(sign in word for word in line.server):
            raise Refused("the client would replace {!r} in the words of the server".format(sign))
    variables = line.environment
    if client == "opencode":
        entry: Json = {"type": "local", "command": line.server, **enabled(keys)}
        return dict(entry, environment=variables) if variables else entry
    entry = {"command": command, "args": arguments}
    if client in ("claude-code", "cursor", "vscode"):
        entry = {"type": "stdio", **entry}
    if client == "copilot-cli":
        entry = {"type": "local", **entry, "tools": ["*"]}
    if client == "codex":
        entry["env_vars"] = [name for name in FOR_CODEX if name not in variables]
    return dict(entry, env=variables) if variables else entry


def remote(client: str, line: Line, keys: tuple[str, ...]) -> Json:
    """Without a token: the client reads it from a variable."""
    agent = {"Ctxhub-Agent": line.agent} if line.agent else {}
    if client == "codex":
        entry: Json = {"url": line.url, "bearer_token_env_var": line.token_variable}
        return dict(entry, http_headers=agent) if agent else entry
    if client not in VARIABLE:
        raise Refused("the client cannot read a token from a variable: connect it without --http")
    headers = {"Authorization": "Bearer " + VARIABLE[client].format(line.token_variable), **agent}
    if client == "opencode":
        return {"type": "remote", "url": line.url, "headers": headers, "oauth": False, **enabled(keys)}
    kind = {} if client == "cursor" else {"type": "http"}
    tools = {"tools": ["*"]} if client == "copilot-cli" else {}
    return {**kind, "url": line.url, "headers": headers, **tools}


def enabled(keys: tuple[str, ...]) -> Json:
    return {} if "servers" in keys else {"enabled": True}
