"""The variables that a person sets, and the connection that a client's line or the repository names."""

from __future__ import annotations

import os
import re

from ctxhub_client.texts import one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ctxhub_client.access.credentials import Credential

CHOICES = {"CTXHUB_ENFORCE": ("deny", "warn", "off"), "CTXHUB_SHELL": ("each", "stop", "off")}


DEFAULT_HUB = "http://127.0.0.1:8000"


def hub_address() -> str:
    stored = stored_token()
    return stored.hub if stored else _named.get("hub") or _variable("CTXHUB_URL") or DEFAULT_HUB


def access_token() -> str:
    """That which `connect` has stored, or that of the environment: it is sent to its own address alone."""
    stored = stored_token()
    if stored:
        return stored.token
    token, named = _variable("CTXHUB_TOKEN"), _named.get("hub")
    if token and named:
        from ctxhub_client.access.credentials import normal_hub

        return token if normal_hub(named) == normal_hub(_variable("CTXHUB_URL") or DEFAULT_HUB) else ""
    return token


def agent_name() -> str:
    stored = stored_token()
    return stored.agent if stored else _named.get("agent") or _variable("CTXHUB_AGENT")


# What the line of a client names: hub, project, agent, client.
_named: dict[str, str] = {}
_found: list[Credential | None] = []


def name_connection(**named: str) -> None:
    """What the command line says, and which client runs it. Without it the variables come first."""
    _named.clear()
    _named.update({name: value for name, value in named.items() if value})
    _found.clear()


def stored_token() -> Credential | None:
    """The token that `connect` has stored for the connection that is named; None for the environment's."""
    is_named = any(_named.get(name) for name in ("hub", "project", "agent"))
    if _variable("CTXHUB_TOKEN") and not is_named:
        return None
    if not _found:
        from ctxhub_client.access.resolving import resolve

        _found.append(resolve(_named))
    return _found[0]


def use_token(credential: Credential) -> None:
    """From now on, in the place of the one that was found."""
    _found[:] = [credential]


def is_capturing() -> bool:
    return _variable("CTXHUB_CAPTURE").lower() in ("1", "true", "yes", "on")


def log_path() -> str:
    """The file that CTXHUB_DEBUG names; "" if it is the flag that it may be for the hub."""
    path = _variable("CTXHUB_DEBUG")
    return path if any(mark in path for mark in "/\\.") else ""


def enforcement() -> str:
    return chosen("CTXHUB_ENFORCE")


def shell_mode() -> str:
    """When to look for what commands wrote: after each, at the end of a turn (stop), or never (off)."""
    return chosen("CTXHUB_SHELL")


def chosen(name: str) -> str:
    """The value of a variable that takes one of several; the first of them for any other."""
    value = _variable(name).lower()
    return value if value in CHOICES[name] else CHOICES[name][0]


def _variable(name: str) -> str:
    return os.environ.get(name, "").strip()


def token_problem(token: str) -> str:
    """What is wrong with CTXHUB_TOKEN; "" if it may be a token."""
    if re.fullmatch(r"[!-~]+", token):
        return ""
    return (
        "CTXHUB_TOKEN is no token: it has spaces or signs that no token has. Until then the hub is not asked."
    )


def address_problem(url: str) -> str:
    """What is wrong with CTXHUB_URL, and what to write instead; "" if it is an address."""
    from urllib.parse import urlsplit

    try:
        parts = urlsplit(url)
        is_address = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != -1
    except ValueError:
        is_address = False
    if is_address:
        return ""
    # Without what may be a password.
    given = one_line(url.rpartition("@")[2], 100)
    host = re.sub(r"^[a-z+]*:?/*", "", given) if "://" in given else given
    is_host = re.match(r"[\w.-]+(:\d+)?(/|$)|\[[\da-f:]+\]", host, re.ASCII) is not None
    named = host if is_host else "hub.example.com"
    return (
        "CTXHUB_URL is {!r}, which is no address: write http://{} or https://{}. "
        "Until then the hub is not asked."
    ).format(given, named, named)
