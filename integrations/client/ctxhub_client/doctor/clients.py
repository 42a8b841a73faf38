"""Each client: its MCP server and its hooks, and whether both are of one agent and one hub."""

from __future__ import annotations

import os
import re

from ctxhub_client.doctor.findings import NOTE, OK, PROBLEM, WARNING, Finding
from ctxhub_client.doctor.hooks import find_hooks, has_plugin
from ctxhub_client.doctor.servers import BRIDGE, HTTP, find_servers
from ctxhub_client.hooks.notices import shown_address
from ctxhub_client.texts import one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ctxhub_client.doctor.hooks import Hooks
    from ctxhub_client.doctor.hub import Asked
    from ctxhub_client.doctor.servers import Server
    from ctxhub_client.install.program import Program
    from ctxhub_client.paths import Project

# The client, and what its hooks speak as.
CLIENTS = {
    "claude-code": "claude",
    "codex": "codex",
    "cursor": "cursor",
    "vscode": "vscode",
    "copilot-cli": "copilot",
    "opencode": "opencode",
    "antigravity": "antigravity",
}
WITH_HOOKS = ("claude-code", "codex")


def findings(project: Project, asked: Asked, program: Program) -> list[Finding]:
    servers, hooks, plugin = find_servers(project), find_hooks(project), has_plugin(project)
    bridge = program.shown() + " mcp"
    found = []
    for client in CLIENTS:
        own_servers = [each for each in servers if each.client == client]
        own_hooks = [each for each in hooks if each.client == client]
        is_plugin = plugin and client == "claude-code"
        if own_servers or own_hooks or is_plugin:
            has_hooks = bool(own_hooks) or is_plugin
            named = [each.agent for each in own_hooks if each.agent]
            speaks = named[0] if named else asked.speaks_as(CLIENTS[client]) if has_hooks else ""
            found += [server_finding(each, asked, speaks, has_hooks, program) for each in own_servers]
            found += hook_findings(client, own_hooks, is_plugin, program)
            if not own_servers and not is_plugin:
                fix = "`{}` is one; how to add it: {}/connect/".format(bridge, shown_address(asked.hub))
                text = "has hooks and no MCP server of the hub: its agent cannot ask"
                found.append(Finding(client, WARNING, text, fix))
    if not found:
        fix = "`{} install claude-code` (or codex, cursor) adds the hooks.".format(program.shown())
        return [Finding("clients", WARNING, "none is connected to a hub in this folder", fix)]
    return found


def server_finding(server: Server, asked: Asked, speaks: str, has_hooks: bool, program: Program) -> Finding:
    """`speaks`: the name of the hooks, "" where there are none or it is not known."""
    text = "MCP server in {}: ".format(server.file)
    if server.agent and speaks and server.agent.casefold() != speaks.casefold():
        told = "speaks as {}, and the hooks as {}: an agent is denied its own edits"
        fix = "Let both have one name: CTXHUB_AGENT, and the header Ctxhub-Agent."
        return Finding(server.client, WARNING, text + told.format(one_line(server.agent, 40), speaks), fix)
    if server.url and address_of(server.url) != address_of(asked.hub.url):
        told = "asks {}, and the hooks ask {}".format(address_of(server.url), address_of(asked.hub.url))
        return Finding(server.client, WARNING, text + told, "Let both have one address: CTXHUB_URL.")
    if server.kind == HTTP:
        if has_hooks and server.client == "claude-code":
            text += "over HTTP; hooks add the session to what holds something"
            return Finding(server.client, OK, text)
        fix = "As a server on stdio, `{} mcp`, each window has its own session.".format(program.shown())
        told = "over HTTP: all windows of an agent are one holder"
        return Finding(server.client, NOTE, text + told, fix)
    if server.kind == BRIDGE:
        files = [word for word in server.words if word.endswith((".py", ".pyz"))]
        absent = [file for file in files if not os.path.isfile(os.path.expanduser(file))]
        if absent:
            told = "there is no {}".format(absent[0])
            return Finding(server.client, PROBLEM, text + told, "`python3 ctxhub.pyz install` puts it there.")
        if server.client == "codex" and "CTXHUB_TOKEN" not in server.variables:
            told = "Codex does not give it CTXHUB_TOKEN"
            fix = 'Name it in the entry: env_vars = ["CTXHUB_TOKEN", "CTXHUB_URL", "CTXHUB_AGENT"].'
            return Finding(server.client, PROBLEM, text + told, fix)
        return Finding(server.client, OK, text + "the bridge; each window is a session of its own")
    return Finding(server.client, OK, text + "on stdio, beside the hub's database")


def hook_findings(client: str, hooks: list[Hooks], is_plugin: bool, program: Program) -> list[Finding]:
    again = "`{} install {}` writes them anew.".format(program.shown(), client)
    found = []
    for each in hooks:
        text = "hooks in {}".format(each.file)
        if each.problem:
            found.append(Finding(client, PROBLEM, "{}: {}".format(text, each.problem), again))
        elif each.missing:
            told = "{} are of an earlier version, for {}".format(text, ", ".join(each.missing))
            found.append(Finding(client, WARNING, told, again))
        elif each.is_of_before:
            found.append(Finding(client, NOTE, text + " run the program at its old path", again))
        else:
            trust = "; trust them with /hooks" if client == "codex" else ""
            found.append(Finding(client, OK, text + trust))
    if is_plugin:
        found.append(Finding(client, OK, "hooks and MCP server by the plugin"))
    if len(hooks) + is_plugin > 1:
        fix = "Take one away, with `uninstall` or in the file."
        found.append(Finding(client, WARNING, "has hooks in several places: each event runs them all", fix))
    if client in WITH_HOOKS and not hooks and not is_plugin:
        found.append(Finding(client, NOTE, "has no hooks: nothing is checked or recorded by itself", again))
    return found


def address_of(url: str) -> str:
    """Host and path of a hub, as each of its addresses begins."""
    rest = url.partition("://")[2].partition("?")[0].rpartition("@")[2].rstrip("/")
    return re.sub(r"/(mcp|api/v1)$", "", rest).replace("localhost", "127.0.0.1").lower()
