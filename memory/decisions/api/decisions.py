"""REST views of decisions: list, read and write by key, versions, statistics, suggestions, batches."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from ctxhub.core.api.answers import batch_of, in_parts, page_of
from ctxhub.core.api.etags import IF_MATCH, etag, expecting
from ctxhub.core.api.pages import Page
from ctxhub.core.api.takes import takes
from ctxhub.core.api.views import ProjectViewSet
from ctxhub.core.given import give_opened
from ctxhub.core.hub.partial_reads import Opened, RequestedLines
from ctxhub.core.kit.errors import InvalidInput
from ctxhub.core.kit.listing import Listing, preview, with_arrays
from memory.decisions.api.decision_schemas import (
    Analytics,
    Cutting,
    KeyFilter,
    ListedDecision,
    PartOfValue,
    SetAnswer,
    Suggestion,
    WholeDecision,
)
from memory.decisions.inputs.decisions import clean_key
from memory.decisions.lists import find_decisions
from memory.decisions.selectors import decisions as selectors
from memory.decisions.selectors.analytics import analyse_decisions
from memory.decisions.selectors.similar_keys import near_keys
from memory.decisions.selectors.suggestions import suggest_decisions
from memory.decisions.selectors.trends import TrendRow, list_trends
from memory.decisions.services import decisions as services

if TYPE_CHECKING:
    from memory.decisions.rows.decisions import DecisionRow


class DecisionWrites(ProjectViewSet):
    """What a view does that sets a decision: the version it expects, once, and the decision as answer."""

    has_versions = True

    def _write(self, service: Callable[..., services.SetAnswer], **arguments: Any) -> Response:
        arguments = expecting(self.request, arguments)
        answer = self.write(service, **arguments)
        # Answers stored before requests had digests may belong to another operation.
        headers = etag(answer["version"]) if "version" in answer else {}
        return Response(answer, status=201 if answer.get("result") == "created" else 200, headers=headers)

    def item_of(self, answer: Mapping[str, Any]) -> dict[str, Any]:
        return self._full_item(self._get(answer["key"]), ())

    def _get(self, key: str) -> "DecisionRow":
        key = clean_key(key)
        if (row := selectors.find_decision(self.project_id, key)) is None:
            raise services.unknown_key(key, near_keys(self.project_id, key))
        return row

    def _full_item(self, row: "DecisionRow", include: Sequence[str]) -> dict[str, Any]:
        wanted = sorted({"rationale", *(name.lower() for name in include)})
        parts = selectors.included(self.project_id, row, wanted)
        return selectors.decision_item(row) | parts


class DecisionViewSet(DecisionWrites):
    queries = {
        "list": takes("decision", "list", also=KeyFilter),
        "retrieve": takes("decision", "get", without=["key"], also=PartOfValue),
    }
    bodies = {
        "create": takes("decision", "set"),
        "update": takes(
            "decision",
            "set",
            without=["key"],
            name="ReplaceDecision",
            example={"value": "JWT", "rationale": "Stateless: any worker can check it."},
        ),
        "partial_update": takes(
            "decision",
            "set",
            without=["key"],
            optional=["value"],
            name="ChangeDecision",
            example={"value": "JWT, 15 minutes"},
        ),
    }

    @extend_schema(responses=page_of(ListedDecision))
    def list(self, request: Request, slug: str) -> Response:
        """Decisions that pass every filter, newest first."""
        full, include = self.query.pop("full", False), self.query.pop("include", ())
        by_key = bool(self.query.get("key"))
        if include and not by_key:
            raise InvalidInput("include needs key.", missing=["key"])
        page = find_decisions(self.project_id, **self.query)
        items = [
            with_arrays(self._full_item(row, include)) if by_key else _listed(row, full) for row in page.rows
        ]
        if by_key:
            give_opened(self.caller, [Opened(item, kind="decision") for item in items], items)
        return self.listed(Page(items, page.next, page.total, page.cursor_after), whole=by_key)

    @extend_schema(parameters=[IF_MATCH], responses={200: SetAnswer, 201: SetAnswer})
    def create(self, request: Request, slug: str) -> Response:
        """Set a decision: 201 where it is new, 200 where its key was there.

        What is left out stays as it is; null clears.
        """
        return self._write(services.set_decision, **self.body)

    @extend_schema(responses=in_parts(WholeDecision))
    def retrieve(self, request: Request, slug: str, key: str) -> Response:
        """One decision, whole, or some lines of its value. Its ETag is its version."""
        requested = self.requested_lines()
        row = self._get(key)
        item = self._full_item(row, self.query.get("include", ()))
        opened = self.opened(Opened(item, "value", requested, "decision"))
        return Response(opened, headers=etag(row.version))

    @extend_schema(parameters=[IF_MATCH], responses={200: SetAnswer, 201: SetAnswer})
    def update(self, request: Request, slug: str, key: str) -> Response:
        """Make a decision what the body says and nothing else."""
        return self._write(services.replace_decision, key=key, **self.body)

    @extend_schema(parameters=[IF_MATCH], responses=SetAnswer)
    def partial_update(self, request: Request, slug: str, key: str) -> Response:
        """Change a decision that exists; what is left out stays as it is, and null clears."""
        return self._write(services.change_decision, key=key, **self.body)

    @extend_schema(parameters=[IF_MATCH], responses={204: None})
    def destroy(self, request: Request, slug: str, key: str) -> Response:
        """Remove a decision and its history for good. An administrator's; to end one, set its status."""
        expected = expecting(request, {})
        self.perform(services.delete_decision, key=key, **expected)
        return Response(status=204)


class AnalyticsViewSet(ProjectViewSet):
    queries = {"retrieve": takes("decision", "analytics")}

    @extend_schema(responses=Analytics)
    def retrieve(self, request: Request, slug: str) -> Response:
        """Figures over numeric decisions and their history."""
        answer = analyse_decisions(self.project_id, **self.query)
        return self.listed(Page.of(answer)) if isinstance(answer, Listing) else Response(answer)


class TrendViewSet(ProjectViewSet):
    queries = {"list": takes("hub", "trends")}

    @extend_schema(responses=page_of(TrendRow))
    def list(self, request: Request, slug: str) -> Response:
        """How decisions grow and change, newest bucket first: in total, or by layer, tag, agent or status."""
        return self.listed(Page.of(list_trends(self.project_id, **self.query)))


class SuggestionViewSet(ProjectViewSet):
    queries = {"list": takes("decision", "suggest")}

    @extend_schema(responses=page_of(Suggestion))
    def list(self, request: Request, slug: str) -> Response:
        """Decisions that are like a key, a text or tags; best first."""
        return self.listed(Page.of(suggest_decisions(self.project_id, **self.query)))


class VersionViewSet(ProjectViewSet):
    queries = {"list": takes("decision", "versions", without=["key"], also=Cutting)}

    @extend_schema(responses=page_of(in_parts(selectors.Version)))
    def list(self, request: Request, slug: str, key: str) -> Response:
        """Every version, newest first, the current one included; none for an unknown key."""
        requested, version = self.requested_lines(), self.query.pop("version", None)
        if version is not None:
            return self.listed(Page(self._one_version(key, version, requested)), whole=True)
        if requested:
            raise InvalidInput("lines and tail read one version.", missing=["version"])
        versions = selectors.list_versions(self.project_id, key, **{"limit": 20, **self.query})
        return self.listed(Page.of(versions))

    def _one_version(
        self, key: str, version: str, requested: RequestedLines | None
    ) -> Sequence[dict[str, Any]]:
        row = selectors.find_decision(self.project_id, clean_key(key))
        item = selectors.find_version(self.project_id, row, version) if row else None
        if item is None:
            return []
        del item["key"]
        return [self.opened(Opened(item, "value", requested), within=Page([]).answer(None))]


class BatchViewSet(ProjectViewSet):
    bodies = {"create": takes("decision", "set_batch", items=takes("decision", "set", name="DecisionItem"))}

    @extend_schema(responses={200: batch_of(services.SetAnswer)})
    def create(self, request: Request, slug: str) -> Response:
        """Set up to 50 decisions at once: all or nothing, unless `atomic` is false."""
        return Response(self.perform(services.set_decision_batch, **self.body))


def _listed(row: "DecisionRow", full: bool) -> dict[str, Any]:
    item = selectors.decision_item(row)
    return {**item, "value": preview(item["value"], full=full)}
