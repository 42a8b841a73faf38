"""Clients on this machine, in this folder: their addresses, tokens and versions, as the client's own doctor
finds them; and tokens that were left as the name of a variable.
"""

import importlib
import json
import os
import re
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

from ctxhub.connect.archive import FOLDER, NoClient, client_archive
from ctxhub.management.doctor.findings import NOTE, PROBLEM, UNKNOWN, Finding, ok

ELSEWHERE = "On the machine of a client, in its folder: python3 ctxhub.pyz doctor"
TOKEN, ADDRESS = "CTXHUB_TOKEN", "CTXHUB_URL"  # What clients read, and the hub does not.
SECONDS, SECONDS_OF_A_REQUEST = 60, 5
# What bears on the repository and the hooks in it, and not on the hub.
OF_THE_FOLDER = {"program", "variables", "clients", "repository", "commands", "commits", "state", "window"}
VARIABLE = re.compile(r"\$\{(?:(env|input):)?(\w+)(:-[^}]*)?\}")
# They fill in ${NAME}; Cursor and VS Code only ${env:NAME}, Codex none.
FILLS_IN = {"claude-code": ("",), "copilot-cli": ("", "env"), "cursor": ("env",), "vscode": ("env", "input")}


def check_clients() -> Iterator[Finding]:
    """The way of a token from a client to the hub, in the folder in which the command is run."""
    if not any(map(os.environ.get, (TOKEN, ADDRESS))) and not _servers():
        yield Finding(UNKNOWN, "no client is configured here: no token's way to the hub was tried", ELSEWHERE)
        return
    asked = [sys.executable, str(FOLDER), "doctor", "--json"]
    told = subprocess.run(asked, capture_output=True, text=True, timeout=SECONDS, check=False)  # noqa: S603
    for found in json.loads(told.stdout)["findings"]:
        if found["check"] not in OF_THE_FOLDER and found["state"] != NOTE:
            yield Finding(found["state"], f"{found['check']}: {found['text']}", found["fix"])
    for server in _servers():
        yield from _tried(*server)


def _tried(client: str, file: str, entry: dict[str, Any]) -> Iterator[Finding]:
    """Whether the address of an entry answers to its token; nothing of one that names none itself."""
    url, token = _module("doctor.servers").Server(client, file, entry).url, _token_of(entry)
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not token:
        return
    asked = f"{parts.scheme}://{parts.netloc}{parts.path.removesuffix('/').removesuffix('/mcp')}/api/v1/me/"
    request = urllib.request.Request(asked, headers={"Authorization": f"Bearer {token}"})  # noqa: S310
    try:
        with urllib.request.urlopen(request, timeout=SECONDS_OF_A_REQUEST):  # noqa: S310
            yield ok(f"{client}: the address and the token in {file} answer")
    except urllib.error.HTTPError as error:
        fix = "Make a new one, or connect the client again: manage.py connect"
        yield Finding(PROBLEM, f"{client}: the hub answers {error.code} to the token in {file}", fix)
    except OSError as error:
        reason = getattr(error, "reason", error)
        fix = "Is the hub running, and is that its address? manage.py connect writes it anew."
        yield Finding(PROBLEM, f"{client}: {parts.netloc} in {file} does not answer: {reason}", fix)


def _token_of(entry: dict[str, Any]) -> str:
    """As the client would send it; "" where it is not in the entry, or its variable is not set here."""
    headers = entry.get("headers") or entry.get("http_headers") or {}
    given = str(headers.get("Authorization", "")) if isinstance(headers, dict) else ""
    scheme, _, token = VARIABLE.sub(lambda found: os.environ.get(found[2], ""), given).partition(" ")
    if name := entry.get("bearer_token_env_var"):
        return os.environ.get(str(name), "")
    return token.strip() if scheme.lower() == "bearer" else ""


def check_client_version() -> Iterator[Finding]:
    """Whether the hub can serve its client, with which others are compared."""
    try:
        version = client_archive().version
    except NoClient as error:
        yield Finding(PROBLEM, str(error), "Check out the whole repository: git checkout integrations")
        return
    yield ok(f"serves version {version} of the client")
    text = "which versions clients on other machines have is not stored"
    yield Finding(UNKNOWN, text, f"{ELSEWHERE}; it says how to upgrade.")


def check_literal_tokens() -> Iterator[Finding]:
    """A client that does not fill in a variable sends its name as the token."""
    looked_at = 0
    for client, file, entry in _servers():
        looked_at += 1
        if name := left_literal(client, entry):
            text = f"{file}: {client} sends the literal ${{{name}}} as its token"
            fix = f"export {name}=ctx_... where the client starts; or connect it again: manage.py connect"
            yield Finding(PROBLEM, text, fix)
    if looked_at:
        yield ok(f"looked at {looked_at} entries of clients for tokens that are names of variables")
    else:
        yield Finding(UNKNOWN, "no files of clients are here: no tokens in them were looked at", ELSEWHERE)


def left_literal(client: str, entry: dict[str, Any]) -> str:
    """The variable that the client would not fill in; "" if there is none."""
    headers = entry.get("headers") or entry.get("http_headers") or {}
    values = [*headers.values()] if isinstance(headers, dict) else []
    environment = entry.get("env") or entry.get("environment") or {}
    if isinstance(environment, dict):
        values.append(environment.get(TOKEN, ""))
    for kind, name, default in VARIABLE.findall(" ".join(map(str, values))):
        is_filled = kind in FILLS_IN.get(client, ("", "env"))
        if not is_filled or (kind != "input" and not default and not os.environ.get(name)):
            return str(name)
    return ""


def _servers() -> list[tuple[str, str, dict[str, Any]]]:
    """Client, file and entry of each MCP server of a hub that a client has in this folder."""
    servers = _module("doctor.servers")
    project = _module("paths").Project("")
    return [
        (client, file, entry)
        for client, file in servers.server_files(project)
        for entry in servers.entries_of(file, project)
    ]


def _module(name: str) -> Any:
    """Of the client, which imports nothing of the hub."""
    if str(FOLDER.parent) not in sys.path:
        sys.path.insert(0, str(FOLDER.parent))
    return importlib.import_module(f"ctxhub_client.{name}")
