"""The addresses of operations, for hints: over REST `memory search` is `GET memories/search/`."""

import re
from collections.abc import Iterator
from functools import cache
from typing import Any

from django.urls import get_resolver
from django.urls.resolvers import URLResolver

BELOW_A_PROJECT = "api/v1/projects/<slug:slug>/"
# bin/restore/ takes the arguments of `delete`, and undoes it.
OF_OTHERS = {"delete": "POST call/delete/"}
_ARGUMENT = re.compile(r"<(?:\w+:)?(\w+)>")


def address_of(name: str) -> str:
    """The method and the address of an operation, `decision list`; one without its own is run by call/."""
    tool, _, action = name.partition(" ")
    known = _addresses().get(f"{tool}.{action}" if action else tool)
    return known or f"POST call/{tool}/{f'{action}/' if action else ''}"


@cache
def _addresses() -> dict[str, str]:
    """Of several addresses that take the arguments of an operation the one that names the least."""
    found: dict[str, str] = {}
    for route, view in _views(get_resolver().url_patterns, ""):
        if not route.startswith(BELOW_A_PROJECT):
            continue
        place = _ARGUMENT.sub(r"{\1}", route.removeprefix(BELOW_A_PROJECT))
        for method, action in view.actions.items():
            for takes in (view.cls.bodies.get(action), view.cls.queries.get(action)):
                if takes and takes.operation:
                    address = f"{method.upper()} {place}"
                    found[takes.operation] = min(found.get(takes.operation, address), address, key=_names)
    return {**found, **OF_OTHERS}


def _names(address: str) -> tuple[int, int]:
    return address.count("{"), len(address)


def _views(patterns: Any, before: str) -> Iterator[tuple[str, Any]]:
    for pattern in patterns:
        route = f"{before}{pattern.pattern}"
        if isinstance(pattern, URLResolver):
            yield from _views(pattern.url_patterns, route)
        elif hasattr(pattern.callback, "cls") and hasattr(pattern.callback, "actions"):
            yield route, pattern.callback
