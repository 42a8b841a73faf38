"""Search over REST, with the question in the query string or in a body."""

from collections.abc import Mapping
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from ctxhub.core.api.pages import Page
from ctxhub.core.api.schemas import SearchAnswer
from ctxhub.core.api.takes import takes
from ctxhub.core.api.views import ProjectViewSet
from ctxhub.core.kit.answers import MAX_TOKENS
from ctxhub.core.kit.caller import READ
from ctxhub.core.search.selectors.search import answer_search
from ctxhub.core.toolbox.dispatch import clean_max_tokens


class SearchViewSet(ProjectViewSet):
    queries = {"retrieve": takes("search")}
    bodies = {"ask": takes("search")}
    scopes = {"ask": READ}

    @extend_schema(responses={200: SearchAnswer})
    def retrieve(self, request: Request, slug: str) -> Response:
        """The things that answer best, of every kind, with an excerpt of each."""
        return self._found(self.query)

    @extend_schema(responses={200: SearchAnswer}, operation_id="ask_search")
    def ask(self, request: Request, slug: str) -> Response:
        """The same, with the question in a body: for long ones, and where addresses are logged."""
        self.max_tokens = clean_max_tokens(self.body.pop("max_tokens", MAX_TOKENS))
        return self._found(self.body)

    def _found(self, arguments: Mapping[str, Any]) -> Response:
        return self.listed(Page.of(answer_search(self.project_id, **arguments)))
