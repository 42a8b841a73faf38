"""Lists, creates and revokes access tokens, for administrators of a project. A token is shown once."""

from django.conf import settings
from django.contrib.auth.models import AbstractBaseUser
from django.utils.module_loading import import_string
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from ctxhub.core.accounts.selectors.access_tokens import COLUMNS, list_tokens, token_row
from ctxhub.core.accounts.services.access_tokens import create_token, revoke_token
from ctxhub.core.api import schemas
from ctxhub.core.api.bodies import Body, Text, Texts
from ctxhub.core.api.pages import Page
from ctxhub.core.api.project import caller_in, only_project, visible_projects
from ctxhub.core.api.queries import ListQuery, text
from ctxhub.core.api.views import HubViewSet
from ctxhub.core.kit.caller import ADMIN, Caller
from ctxhub.core.kit.errors import NotFound
from ctxhub.core.kit.limits import OPTIONAL_WORD, SCOPE
from ctxhub.core.models import AccessToken


class TokenQuery(ListQuery):
    project = text("Of this project; left out where you see only one.")


class CreateToken(Body):
    example = {"name": "ci", "scopes": ["read"]}
    project = Text(required=False, help_text="For this project; left out where you see only one.")
    name = Text(limits=OPTIONAL_WORD, required=False)
    agent = Text(
        limits=OPTIONAL_WORD, required=False, help_text="Speaks for this agent only; left out: for any."
    )
    scopes = Texts(
        limits=SCOPE,
        at_least=1,
        required=False,
        help_text="Any of read, write, admin; left out: read and write.",
    )
    expires_at = serializers.DateTimeField(required=False, allow_null=True)


class TokenViewSet(HubViewSet):
    queries = {"list": TokenQuery}
    bodies = {"create": CreateToken}

    @extend_schema(responses=schemas.Token)
    def list(self, request: Request) -> Response:
        """The project's tokens, newest first, without what would open it."""
        caller = self.administrator(self.query.pop("project", None))
        return self.listed(Page.of(list_tokens(caller.project_id, **self.query)))

    @extend_schema(responses={201: schemas.NewToken})
    def create(self, request: Request) -> Response:
        """A new token. `secret` is shown in this answer and never again."""
        caller = self.administrator(self.body.pop("project", None))
        person = request.user if isinstance(request.user, AbstractBaseUser) else None
        token = create_token(project=caller.project, created_by=person, **self.body)
        lines = import_string(settings.READY_LINES)(
            token.secret, pinned=token.row.agent is not None, opened_at=request.build_absolute_uri("/")
        )
        connect = "\n".join(map(str, lines))
        item = dict(zip(COLUMNS, token_row(token.row), strict=True))
        return Response({**item, "secret": token.secret, "connect": connect}, status=201)

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
