"""Resolves the Caller of a request: its project and its agent."""

from collections.abc import Mapping
from typing import Any

from django.contrib.auth.models import AbstractBaseUser
from django.db.models import QuerySet
from rest_framework.request import Request

from ctxhub.core.accounts.people import find_person, projects_of
from ctxhub.core.call_sessions import clean_call_session
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import InvalidInput, NotFound
from ctxhub.core.kit.headers import AGENT_HEADER, CLIENT_HEADER, SESSION_HEADER, header_text
from ctxhub.core.kit.inputs import OWN_PROJECT, clean_agent
from ctxhub.core.models import Project


def caller_in(request: Request, slug: str) -> Caller:
    """The caller in a project; "-" is the only one visible. Raises NotFound without access, as if it did not
    exist.
    """
    slug = only_project(request) if slug == OWN_PROJECT else slug
    if isinstance(request.auth, Caller):
        caller = request.auth if request.auth.project.slug == slug else None
    else:
        caller = find_person(signed_in(request), slug)
    if caller is None:
        raise NotFound(f"There is no project {slug!r}.", hint="/api/v1/projects/ lists those you may see.")
    return caller


def only_project(request: Request) -> str:
    """The slug of the only visible project. Raises InvalidInput if there are several or none."""
    if isinstance(request.auth, Caller):
        return request.auth.project.slug
    slugs = list(visible_projects(request).values_list("slug", flat=True)[:20])
    if len(slugs) != 1:
        raise InvalidInput("project must be given.", missing=["project"], allowed=slugs)
    return slugs[0]


def visible_projects(request: Request) -> QuerySet[Project]:
    """The project of a token, or the projects that a person can see."""
    if isinstance(request.auth, Caller):
        return Project.objects.filter(pk=request.auth.project_id)
    return projects_of(signed_in(request))


def speaking(caller: Caller, request: Request, *, body: Any) -> Caller:
    """The caller as the agent named in the header, the query or the body.

    Where none is, and the token is not pinned: as the client that the request names.
    """
    values = {
        AGENT_HEADER: header_text(request.headers.get(AGENT_HEADER, "")) or None,
        "agent in the query": request.query_params.get("agent"),
        "agent": body.get("agent") if isinstance(body, Mapping) else None,
    }
    names = {_clean(agent, source) for source, agent in values.items() if agent is not None}
    if len({name.casefold() for name in names}) > 1:
        raise InvalidInput(f"One agent speaks, not {' and '.join(sorted(map(repr, names)))}.")
    if not names and not (caller.pinned or caller.is_person):
        client = header_text(request.headers.get(CLIENT_HEADER, "")).strip()
        names = {_clean(client, CLIENT_HEADER)} if client else set()
    return caller.speaking_as(names.pop()) if names else caller


def in_session(caller: Caller, request: Request) -> Caller:
    """The caller in the session that the header names, if it names one."""
    session = header_text(request.headers.get(SESSION_HEADER, "")).strip()
    return caller.in_session(clean_call_session(session, SESSION_HEADER)) if session else caller


def _clean(agent: Any, source: str) -> str:
    if not isinstance(agent, str):
        raise InvalidInput(f"{source} must be a text.")
    return clean_agent(agent, source)


def signed_in(request: Request) -> AbstractBaseUser:
    """The person of a request without a token."""
    assert isinstance(request.user, AbstractBaseUser)
    return request.user
