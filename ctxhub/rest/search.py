"""Search over REST, with the question in the query string or in a body."""

from rest_framework.request import Request
from rest_framework.response import Response

from ctxhub.core.kit.answers import MAX_TOKENS
from ctxhub.core.kit.caller import READ
from ctxhub.core.search.search import answer_search
from ctxhub.rest.operations import operation, shows
from ctxhub.rest.pages import Page
from ctxhub.rest.schemas import SearchAnswer
from ctxhub.rest.takes import takes
from ctxhub.rest.views import ProjectViewSet
from ctxhub.toolbox.dispatch import clean_max_tokens


class SearchViewSet(ProjectViewSet):
    scopes = {"ask": READ}

    # The action leaves out weak hits unless `least` says otherwise.
    retrieve = shows(
        takes("search"),
        SearchAnswer,
        by=answer_search,
        says="The things that answer best, of every kind, with an excerpt of each.",
    )

    @operation(body=takes("search"), responses={200: SearchAnswer}, operation_id="ask_search")
    def ask(self, request: Request, slug: str) -> Response:
        """Search with the question in a body: for long ones, and where addresses are logged."""
        self.max_tokens = clean_max_tokens(self.body.pop("max_tokens", MAX_TOKENS))
        return self.listed(Page.of(answer_search(self.project_id, **self.body)))
