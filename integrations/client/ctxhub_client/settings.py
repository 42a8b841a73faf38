"""The variables that a person sets."""

from __future__ import annotations

import os
import re

from ctxhub_client.texts import one_line

CHOICES = {"CTXHUB_ENFORCE": ("deny", "warn", "off"), "CTXHUB_SHELL": ("each", "stop", "off")}


def hub_address() -> str:
    return _variable("CTXHUB_URL") or "http://127.0.0.1:8000"


def access_token() -> str:
    return _variable("CTXHUB_TOKEN")


def agent_name() -> str:
    return _variable("CTXHUB_AGENT")


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
