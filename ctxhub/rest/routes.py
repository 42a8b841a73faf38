"""The routes of a noun: its list and one object of it, with the methods that its view declares."""

from collections.abc import Mapping
from typing import Any

from django.urls import URLPattern, path

from ctxhub.rest.views import ProjectViewSet

OF_ALL = {"get": "list", "post": "create"}
OF_ONE = {"get": "retrieve", "put": "update", "patch": "partial_update", "delete": "destroy"}


def routes(address: str, name: str, view: type[ProjectViewSet]) -> list[URLPattern]:
    """`address`, and below it the objects by `name`, a converter and an argument: `id:memory_id`.

    A name may be any text (`key`): further routes below the address come before these.
    """
    return [_route(address, view, OF_ALL), _route(f"{address}<{name}>/", view, OF_ONE)]


def _route(address: str, view: type[ProjectViewSet], methods: Mapping[str, str]) -> URLPattern:
    declared: dict[str, Any] = {method: name for method, name in methods.items() if hasattr(view, name)}
    return path(address, view.as_view(declared))
