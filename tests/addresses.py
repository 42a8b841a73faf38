"""The REST operations below a project, from Django's URL configuration."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.urls import get_resolver
from django.urls.resolvers import URLResolver

BELOW_A_PROJECT = "api/v1/projects/<slug:slug>/"


@dataclass(frozen=True)
class Operation:
    """For example `PATCH` `memories/<id:memory_id>/`; `body` is the schema that the view validates with."""

    method: str
    address: str
    body: Any

    def __str__(self) -> str:
        return f"{self.method} {self.address}"

    def nullable(self) -> dict[str, bool]:
        """The fields of its body, and whether each may be null."""
        return {argument.name: argument.nullable for argument in self.body.arguments.all}

    def path(self, names: dict[str, Any]) -> str:
        """The path with the values of `names` for its parameters, and 1 for other parameters."""
        parts = [
            str(names.get(part[1:-1].partition(":")[2], 1)) if part.startswith("<") else part
            for part in self.address.split("/")
        ]
        return "/".join(parts)


def operations(*methods: str) -> list[Operation]:
    return [
        Operation(method.upper(), route.removeprefix(BELOW_A_PROJECT), view.cls.bodies.get(action))
        for route, view in views_below(get_resolver().url_patterns)
        if route.startswith(BELOW_A_PROJECT)
        for method, action in view.actions.items()
        if method.upper() in methods
    ]


def views_below(patterns: Any, before: str = "") -> Iterator[tuple[str, Any]]:
    """The route and the view of each address, of those of an `include` as well."""
    for pattern in patterns:
        route = f"{before}{pattern.pattern}"
        if isinstance(pattern, URLResolver):
            yield from views_below(pattern.url_patterns, route)
        else:
            yield route, pattern.callback
