"""Lists, creates and revokes access tokens, for administrators of a project. A token is shown once."""

from typing import Annotated

from django.conf import settings
from django.contrib.auth.models import AbstractBaseUser
from django.utils.module_loading import import_string
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from typing_extensions import TypedDict

from ctxhub.core.accounts.selectors.access_tokens import Token, list_tokens, token_item, tokens_of
from ctxhub.core.accounts.services.access_tokens import create_token, revoke_token
from ctxhub.core.api.answers import page_of
from ctxhub.core.api.filters import TokenFilter
from ctxhub.core.api.pages import Page
from ctxhub.core.api.project import caller_in, only_project, visible_projects
from ctxhub.core.api.takes import PageArguments, Takes
from ctxhub.core.api.views import HubViewSet
from ctxhub.core.kit.caller import ADMIN, Caller
from ctxhub.core.kit.errors import NotFound
from ctxhub.core.kit.limits import SCOPE
from ctxhub.core.models import AccessToken
from ctxhub.core.toolbox.argument_types import About, Moment, OptionalWord, Texts


class OfProject(TypedDict, total=False):
    project: Annotated[str, About("Of this project; left out where you see only one.")]


class CreateToken(TypedDict, total=False):
    project: Annotated[str, About("For this project; left out where you see only one.")]
    name: OptionalWord
    agent: Annotated[OptionalWord, About("Speaks for this agent only; left out: for any.")]
    scopes: Annotated[
        Texts, About("Any of read, write, admin; left out: read and write.", {"minItems": 1}, items=SCOPE)
    ]
    expires_at: Moment | None


class NewToken(Token):
    secret: Annotated[str, About("The token. It is shown here and never again.")]
    connect: Annotated[str, About("Lines to paste, for each client.")]


class TokenViewSet(HubViewSet):
    queries = {"list": Takes(PageArguments, also=OfProject)}
    filters = {"list": TokenFilter}
    queryset = AccessToken.unscoped.none()
    bodies = {"create": Takes(CreateToken, example={"name": "ci", "scopes": ["read"]})}

    @extend_schema(responses=page_of(Token))
    def list(self, request: Request) -> Response:
        """The project's tokens, newest first, without what would open it."""
        caller = self.administrator(self.query.pop("project", None))
        return self.listed(Page.of(list_tokens(self.filtered(tokens_of(caller.project_id)), **self.query)))

    @extend_schema(responses={201: NewToken})
    def create(self, request: Request) -> Response:
        """A new token. `secret` is shown in this answer and never again."""
        caller = self.administrator(self.body.pop("project", None))
        person = request.user if isinstance(request.user, AbstractBaseUser) else None
        token = create_token(project=caller.project, created_by=person, **self.body)
        lines = import_string(settings.READY_LINES)(
            token.secret, pinned=token.row.agent is not None, opened_at=request.build_absolute_uri("/")
        )
        connect = "\n".join(map(str, lines))
        return Response({**token_item(token.row), "secret": token.secret, "connect": connect}, status=201)

    @extend_schema(responses={204: None})
    def destroy(self, request: Request, token_id: int) -> Response:
        """Revoke a token, at once. It stays in the list."""
        visible = AccessToken.unscoped.filter(project__in=visible_projects(request))
        if (row := visible.select_related("project").filter(pk=token_id).first()) is None:
            raise NotFound(f"There is no token {token_id}.")
        self.administrator(row.project.slug)
        revoke_token(row)
        return Response(status=204)

    def administrator(self, slug: str | None) -> Caller:
        caller = caller_in(self.request, slug or only_project(self.request))
        caller.require(ADMIN, "Keeping tokens")
        return self.act_as(caller)
