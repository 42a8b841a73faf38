"""Lists what was called and what the answers cost, and the questions that found nothing."""

from typing import Annotated

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from ctxhub.core.api.answers import page_of
from ctxhub.core.api.pages import Page
from ctxhub.core.api.takes import PageArguments, Takes
from ctxhub.core.api.views import ProjectViewSet
from ctxhub.core.kit.buckets import BUCKETS
from ctxhub.core.toolbox.argument_types import SINCE, About, Words
from ctxhub.core.use.selectors import BY, SearchedInVain, UseSeen, list_empty_searches, list_use


class UseArguments(PageArguments, total=False):
    since: Annotated[str, About(f"Calls since, by full hours; left out: 7 days. {SINCE}")]
    until: Annotated[str, About(f"Calls before. {SINCE}")]
    bucket: Annotated[str, About("Left out: day, of the project's time zone.", {"enum": list(BUCKETS)})]
    by: Annotated[Words, About("Apart for each agent, each operation.", items={"enum": list(BY)})]
    of: Annotated[str, About("Of this agent.")]
    tool: Annotated[str, About("Of this tool's operations: decision.")]


class SearchArguments(PageArguments, total=False):
    since: Annotated[str, About(f"Last asked since. {SINCE}")]


class UseViewSet(ProjectViewSet):
    has_authors = False
    queries = {"list": Takes(UseArguments), "empty_searches": Takes(SearchArguments)}

    @extend_schema(responses=page_of(UseSeen))
    def list(self, request: Request, slug: str) -> Response:
        """Calls, errors and tokens of answers by time, newest first, and by agent and operation."""
        return self.listed(Page.of(list_use(self.project_id, **self.query)))

    @extend_schema(responses=page_of(SearchedInVain))
    def empty_searches(self, request: Request, slug: str) -> Response:
        """Questions that found nothing, last asked first: what the team does not know."""
        return self.listed(Page.of(list_empty_searches(self.project_id, **self.query)))
