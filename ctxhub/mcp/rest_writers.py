"""Finds the REST requests that write, so that only these wait for a write slot."""

import json
from collections.abc import Mapping
from typing import Any

from django.db import Error
from django.urls import Resolver404, ResolverMatch, resolve

from ctxhub.core.accounts.services.access_tokens import find_verified, verify
from ctxhub.core.api.calls import CallViewSet
from ctxhub.core.api.views import ProjectViewSet
from ctxhub.core.kit.caller import READ, Caller
from ctxhub.core.kit.errors import CtxhubError
from ctxhub.core.kit.inputs import OWN_PROJECT
from ctxhub.core.toolbox import dispatch
from ctxhub.mcp.db_threads import run_in_thread

_READS = ("GET", "HEAD", "OPTIONS")
_PROJECTS = "/api/v1/projects/"


async def written_project(scope: Mapping[str, Any], headers: Mapping[str, str], body: bytes) -> str | None:
    """The slug of the project that the request writes to; None if it reads, or its token does not let it."""
    method, path = scope["method"], scope["path"]
    if method in _READS or not path.startswith(_PROJECTS):
        return None
    kind, _, token = headers.get("authorization", "").partition(" ")
    if kind.lower() != "bearer" or (caller := await _find_caller(token.strip())) is None:
        return None
    return caller.project.slug if _writes(caller, method, path, body) else None


async def _find_caller(token: str) -> Caller | None:
    """The caller of a token; None if Django is to refuse it. Counts no request."""
    try:
        return find_verified(token) or await run_in_thread(verify, token)
    except (CtxhubError, Error):
        return None


def _writes(caller: Caller, method: str, path: str, body: bytes) -> bool:
    try:
        match = resolve(path)
    except Resolver404:
        return False
    view: type = getattr(match.func, "cls", object)
    action = getattr(match.func, "actions", {}).get(method.lower())
    if action is None or not issubclass(view, ProjectViewSet):
        return False
    if match.kwargs["slug"] not in (OWN_PROJECT, caller.project.slug):
        return False
    if issubclass(view, CallViewSet):
        return _calls_a_write(caller, match, body)
    scope = view.scope_of(action, method)
    return scope is None or (scope != READ and caller.may(scope))


def _calls_a_write(caller: Caller, match: ResolverMatch, body: bytes) -> bool:
    arguments = {"action": match.kwargs["action"]} if "action" in match.kwargs else _arguments(body)
    return dispatch.writes(caller, match.kwargs["tool"], arguments)


def _arguments(body: bytes) -> dict[str, Any]:
    try:
        arguments = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return arguments if isinstance(arguments, dict) else {}
