"""Lists what agents tried and were refused."""

from typing import Annotated

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from ctxhub.core.api.answers import page_of
from ctxhub.core.api.pages import Page
from ctxhub.core.api.takes import PageArguments, Takes
from ctxhub.core.api.views import ProjectViewSet
from ctxhub.core.refusals.selectors import CODES, RefusalSeen, list_refusals
from ctxhub.core.toolbox.argument_types import SINCE, About


class RefusalArguments(PageArguments, total=False):
    by: Annotated[str, About("Of this agent.")]
    ref: Annotated[str, About("Because of this lease or object: lease:7.")]
    code: Annotated[str, About("conflict, not_allowed or limit_reached.", {"enum": list(CODES)})]
    since: Annotated[str, About(f"Refused since. {SINCE}")]
    until: Annotated[str, About(f"Refused before. {SINCE}")]


class RefusalViewSet(ProjectViewSet):
    queries = {"list": Takes(RefusalArguments)}

    @extend_schema(responses=page_of(RefusalSeen))
    def list(self, request: Request, slug: str) -> Response:
        """Who was refused what, newest first: taken leases, versions that had changed, missing scopes, reads
        that took too much processor time."""
        return self.listed(Page.of(list_refusals(self.project_id, **self.query)))
