"""Search over REST, with the question in the query string or in a body."""

from collections.abc import Mapping
from typing import Any

from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework.request import Request
from rest_framework.response import Response

from ctxhub.core.api.bodies import ProjectBody, Text, WholeNumber, Words
from ctxhub.core.api.hub import SINCE
from ctxhub.core.api.pages import Page
from ctxhub.core.api.queries import Query, number, text, words
from ctxhub.core.api.schemas import SearchAnswer
from ctxhub.core.api.views import ProjectViewSet
from ctxhub.core.kit.answers import MAX_TOKENS
from ctxhub.core.kit.caller import READ
from ctxhub.core.kit.errors import InvalidInput
from ctxhub.core.kit.inputs import MAX_LIMIT
from ctxhub.core.kit.limits import QUESTION, REQUIRED_TEXT
from ctxhub.core.search.selectors.questions import MATCHES
from ctxhub.core.search.selectors.search import DETAILS, answer_search
from ctxhub.core.toolbox.dispatch import clean_max_tokens

QUERY = 'A sentence, words, an identifier. Also "a phrase", -not and prefix*.'
KIND_WORDS = (
    *("decision", "constraint", "message", "memory", "context"),
    *("scratchpad", "workflow", "resource", "change"),
)
KINDS = f"Only these: {', '.join(KIND_WORDS)}."
MATCH = "Left out: auto, any of the words, and mistyped ones put right. similar: the query is a text."
DETAIL = (
    "What title and excerpt may cost: ids nothing, compact (left out) 60 tokens, standard 120, detailed 250."
)
LIMIT = "How many of the best; left out: 10."
BUDGET = f"A budget for the answer, {MAX_TOKENS:,} at most; `omitted` counts what did not fit."


class SearchQuery(Query):
    query = text(QUERY, limits=QUESTION, required=True)
    kinds = words(KINDS, one_of=KIND_WORDS)
    match = text(MATCH, one_of=MATCHES)
    detail = text(DETAIL, one_of=list(DETAILS))
    tags = words("With any of these tags.")
    layer = text("In this layer.")
    context = text("In this context, by its name or id.")
    by = text("By this agent.")
    since = text(f"Changed since. {SINCE}")
    limit = number(LIMIT, at_most=MAX_LIMIT)
    max_tokens = number(BUDGET)


@extend_schema_field({"type": "string", "enum": list(MATCHES)})
class MatchWord(Text):
    """A match by its word."""


@extend_schema_field({"type": "string", "enum": list(DETAILS)})
class DetailWord(Text):
    """A level of detail by its word."""


class AskSearch(ProjectBody):
    example = {"query": "why do sessions expire?", "kinds": ["decision", "message"], "detail": "standard"}
    query = Text(limits=REQUIRED_TEXT, help_text=QUERY)
    kinds = Words(limits={"enum": list(KIND_WORDS)}, required=False, allow_null=True, help_text=KINDS)
    match = MatchWord(required=False, help_text=MATCH)
    detail = DetailWord(required=False, help_text=DETAIL)
    tags = Words(required=False, allow_null=True, help_text="With any of these.")
    layer = Text(required=False, allow_null=True)
    context = Text(  # type: ignore[assignment]  # The contract's name; it does not become an attribute.
        required=False, allow_null=True, help_text="Its name or id."
    )
    by = Text(required=False, allow_null=True, help_text="An agent.")
    since = Text(required=False, allow_null=True, help_text=f"Changed since. {SINCE}")
    limit = WholeNumber(
        at_least=1, at_most=MAX_LIMIT, required=False, help_text=f"{LIMIT} At most {MAX_LIMIT}."
    )
    max_tokens = WholeNumber(at_least=1, required=False, help_text=BUDGET)


class SearchViewSet(ProjectViewSet):
    queries = {"retrieve": SearchQuery}
    bodies = {"ask": AskSearch}
    scopes = {"ask": READ}

    @extend_schema(responses={200: SearchAnswer}, filters=True)
    def retrieve(self, request: Request, slug: str) -> Response:
        """The things that answer best, of every kind, with an excerpt of each."""
        if "query" not in self.query:
            raise InvalidInput("query must be given.", missing=["query"])
        return self._found(self.query)

    @extend_schema(responses={200: SearchAnswer}, operation_id="ask_search")
    def ask(self, request: Request, slug: str) -> Response:
        """The same, with the question in a body: for long ones, and where addresses are logged."""
        self.max_tokens = clean_max_tokens(self.body.pop("max_tokens", MAX_TOKENS))
        return self._found(self.body)

    def _found(self, arguments: Mapping[str, Any]) -> Response:
        return self.listed(Page.of(answer_search(self.project_id, **arguments)))
