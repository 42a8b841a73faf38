"""Lists, creates, rotates and revokes access tokens: administrators all of a project, members their own.

A token is shown once.
"""

from typing import Annotated, NotRequired

from django.conf import settings
from django.contrib.auth.models import User
from django.utils.module_loading import import_string
from rest_framework.request import Request
from rest_framework.response import Response
from typing_extensions import TypedDict

from ctxhub.core.accounts.access_tokens import NewToken as NewSecret
from ctxhub.core.accounts.access_tokens import (
    Token,
    create_token,
    list_tokens,
    revoke_token,
    token_item,
    tokens_of,
)
from ctxhub.core.accounts.own_tokens import GRACE, clean_grace, create_own_token, rotate_token
from ctxhub.core.kit.caller import ADMIN, Caller
from ctxhub.core.kit.errors import NotAllowed, NotFound
from ctxhub.core.kit.limits import SCOPE, WORD
from ctxhub.core.models import AccessToken
from ctxhub.rest.answers import page_of
from ctxhub.rest.filters import TokenFilter
from ctxhub.rest.operations import operation
from ctxhub.rest.pages import Page
from ctxhub.rest.project import caller_in, only_project, visible_projects
from ctxhub.rest.takes import PageArguments, Takes
from ctxhub.rest.views import HubViewSet
from ctxhub.toolbox.argument_types import About, Moment, OptionalWord, Words


class OfProject(TypedDict, total=False):
    project: Annotated[str, About("Of this project; left out where you see only one.")]


class CreateToken(TypedDict, total=False):
    project: Annotated[str, About("For this project; left out where you see only one.")]
    name: OptionalWord
    agent: Annotated[OptionalWord, About("Speaks for this agent only; left out: for any.")]
    scopes: Annotated[
        Words, About("Any of read, write, admin; left out: read and write.", {"minItems": 1}, items=SCOPE)
    ]
    expires_at: Moment | None


class NewToken(Token):
    secret: Annotated[str, About("The token. It is shown here and never again.")]
    connect: Annotated[str, About("Lines to paste, for each client.")]


class RotateToken(TypedDict, total=False):
    grace: Annotated[str, About('How long the old one stays good: "24h" (default), "90m", "7d" or "0".')]
    agent: Annotated[OptionalWord, About("Pin the new one to this agent; left out: as the old one.")]


class CreateOwnToken(TypedDict):
    project: NotRequired[Annotated[str, About("For this project; left out where you see only one.")]]
    agent: Annotated[str, About("Speaks for this agent only: a new one, or one of your own.", WORD)]
    name: NotRequired[OptionalWord]
    scopes: NotRequired[
        Annotated[
            Words, About("Of those of your role; left out: read, and write.", {"minItems": 1}, items=SCOPE)
        ]
    ]
    expires_at: NotRequired[Moment | None]


class TokenViewSet(HubViewSet):
    filters = {"list": TokenFilter}
    queryset = AccessToken.unscoped.none()

    @operation(query=Takes(PageArguments, also=OfProject), responses=page_of(Token))
    def list(self, request: Request) -> Response:
        """The project's tokens, newest first, without what would open it."""
        caller = self.administrator(self.query.pop("project", None))
        return self.listed(Page.of(list_tokens(self.filtered(tokens_of(caller.project_id)), **self.query)))

    @operation(body=Takes(CreateToken, example={"name": "ci", "scopes": ["read"]}), responses={201: NewToken})
    def create(self, request: Request) -> Response:
        """A new token. `secret` is shown in this answer and never again."""
        caller = self.administrator(self.body.pop("project", None))
        token = create_token(project=caller.project, created_by=_person(request), **self.body)
        return _shown_once(token, request)

    @operation(responses={204: None})
    def destroy(self, request: Request, token_id: int) -> Response:
        """Revoke a token, at once. It stays in the list. Members revoke their own."""
        revoke_token(self.row)
        return Response(status=204)

    @operation(body=Takes(RotateToken, example={"grace": "24h"}), responses={201: NewToken})
    def rotate(self, request: Request, token_id: int) -> Response:
        """A new token in the place of this one, which ends after `grace`. Members rotate their own."""
        body = dict(self.body)
        grace = clean_grace(body.pop("grace")) if "grace" in body else GRACE
        return _shown_once(rotate_token(self.row, grace=grace, by=_person(request), **body), request)

    def check_place(self, request: Request, token_id: int | None = None, **where: object) -> None:
        if token_id is not None:
            self.row = self.kept_by_caller(token_id)

    def kept_by_caller(self, token_id: int) -> AccessToken:
        """The token, if it is the caller's own or of a project that they administrate.

        Raises NotFound, NotAllowed.
        """
        visible = AccessToken.unscoped.filter(project__in=visible_projects(self.request))
        row = visible.select_related("project", "agent", "owner").filter(pk=token_id).first()
        if row is None:
            raise NotFound(f"There is no token {token_id}.")
        person = _person(self.request)
        if person is not None and row.owner == person:
            self.act_as(caller_in(self.request, row.project.slug))
        else:
            self.administrator(row.project.slug)
        return row

    def administrator(self, slug: str | None) -> Caller:
        caller = caller_in(self.request, slug or only_project(self.request))
        caller.require(ADMIN, "Keeping tokens")
        return self.act_as(caller)


class OwnTokenViewSet(HubViewSet):
    """A signed-in person's own tokens. A token makes no tokens for its owner."""

    filters = {"list": TokenFilter}
    queryset = AccessToken.unscoped.none()

    @operation(query=Takes(PageArguments, also=OfProject), responses=page_of(Token))
    def list(self, request: Request) -> Response:
        """Your own tokens of a project, newest first, without what would open it."""
        caller, owner = self.person(self.query.pop("project", None))
        tokens = tokens_of(caller.project_id).filter(owner=owner)
        return self.listed(Page.of(list_tokens(self.filtered(tokens), **self.query)))

    @operation(body=Takes(CreateOwnToken, example={"agent": "grace-claude"}), responses={201: NewToken})
    def create(self, request: Request) -> Response:
        """A token for an agent of your own, for 90 days unless `expires_at` says otherwise, a year at most.

        `secret` is shown in this answer and never again.
        """
        caller, owner = self.person(self.body.pop("project", None))
        return _shown_once(create_own_token(caller=caller, owner=owner, **self.body), request)

    @operation(responses={204: None})
    def destroy(self, request: Request, token_id: int) -> Response:
        """Revoke one of your own tokens, at once. It stays in the list."""
        owner = _person(request)  # A token has none.
        own = AccessToken.unscoped.filter(project__in=visible_projects(request), owner=owner, pk=token_id)
        if owner is None or (row := own.select_related("project").first()) is None:
            raise NotFound(f"You have no token {token_id}.")
        self.person(row.project.slug)
        revoke_token(row)
        return Response(status=204)

    def person(self, slug: str | None) -> tuple[Caller, User]:
        """The signed-in person, in a project. Raises NotAllowed for a token."""
        if (owner := _person(self.request)) is None:
            raise NotAllowed(
                "A token makes no tokens for its owner.", hint="Sign in to the admin, or use tokens/."
            )
        return self.act_as(caller_in(self.request, slug or only_project(self.request))), owner


def _person(request: Request) -> User | None:
    return request.user if isinstance(request.user, User) else None


def _shown_once(token: NewSecret, request: Request) -> Response:
    lines = import_string(settings.READY_LINES)(token, opened_at=request.build_absolute_uri("/"))
    connect = "\n".join(map(str, lines))
    return Response({**token_item(token.row), "secret": token.secret, "connect": connect}, status=201)
