"""Finds whom a request to Django is for, and whether it writes: only writers wait for a write slot."""

import json
import re
from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.db import Error
from django.urls import Resolver404, ResolverMatch, resolve

from ctxhub.core.accounts.access_tokens import find_remembered, find_verified, verify
from ctxhub.core.kit.caller import ADMIN, READ, Caller
from ctxhub.core.kit.errors import CtxhubError
from ctxhub.core.kit.inputs import OWN_PROJECT
from ctxhub.core.transfer.exporting import MOST_BYTES as IMPORT_BYTES
from ctxhub.mcp.db_threads import run_in_thread
from ctxhub.mcp.shares import Share
from ctxhub.rest.calls import CallViewSet
from ctxhub.rest.views import ProjectViewSet
from ctxhub.toolbox import dispatch

_READS = ("GET", "HEAD", "OPTIONS")
_PROJECTS = "/api/v1/projects/"
_IMPORT = re.compile(rf"{_PROJECTS}[^/]+/import/")


def share_of(scope: Mapping[str, Any], headers: Mapping[str, str]) -> Share:
    """Whom a request is for. One without a known token is for a signed-in browser, or an address."""
    if (token := bearer_token(headers)) and (caller := find_remembered(token)):
        return Share.of(caller)
    cookies = (cookie.strip().partition("=") for cookie in headers.get("cookie", "").split(";"))
    if session := next((value for name, _, value in cookies if name == settings.SESSION_COOKIE_NAME), ""):
        return Share("", f"session {session}")
    address, _ = scope.get("client") or ("", 0)
    return Share("", f"address {address}")


async def verified_share(scope: Mapping[str, Any], headers: Mapping[str, str]) -> Share:
    """The same, but a token that is not known yet is verified first: its call may take long."""
    share, token = share_of(scope, headers), bearer_token(headers)
    if token and not share.project and (caller := await _find_caller(share, token)):
        return Share.of(caller)
    return share


def bearer_token(headers: Mapping[str, str]) -> str:
    kind, _, token = headers.get("authorization", "").partition(" ")
    return token.strip() if kind.lower() == "bearer" else ""


async def long_body(scope: Mapping[str, Any], headers: Mapping[str, str]) -> int | None:
    """How long the body may be that an administrator's token imports; None: as any other."""
    if scope["method"] != "POST" or not _IMPORT.fullmatch(scope["path"]):
        return None
    token = bearer_token(headers)
    caller = await _find_caller(share_of(scope, headers), token) if token else None
    return IMPORT_BYTES if caller and caller.may(ADMIN) else None


async def written_project(
    share: Share, scope: Mapping[str, Any], headers: Mapping[str, str], body: bytes
) -> str | None:
    """The slug of the project that the request writes to; None if it reads, or its token does not let it.

    An import locks the project for one step at a time, so that others write between two of them.
    """
    method, path = scope["method"], scope["path"]
    if method in _READS or not path.startswith(_PROJECTS) or _IMPORT.fullmatch(path):
        return None
    token = bearer_token(headers)
    if not token or (caller := await _find_caller(share, token)) is None:
        return None
    return caller.project.slug if _writes(caller, method, path, body) else None


async def _find_caller(share: Share, token: str) -> Caller | None:
    """The caller of a token; None if Django is to refuse it. Counts no request."""
    try:
        return find_verified(token) or await run_in_thread(share, verify, token)
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
