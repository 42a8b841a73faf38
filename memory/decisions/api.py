"""REST views of decisions: list, read and write by key, versions, statistics, suggestions, batches."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, NotRequired

from rest_framework.request import Request
from rest_framework.response import Response
from typing_extensions import TypedDict

from ctxhub.core.given import give_opened
from ctxhub.core.hub.partial_reads import Opened, RequestedLines
from ctxhub.core.kit.errors import InvalidInput
from ctxhub.core.kit.listing import preview, with_arrays
from ctxhub.rest.answers import batch_of, in_parts, page_of, written
from ctxhub.rest.etags import IF_MATCH, etag, expecting
from ctxhub.rest.operations import CREATED_OR_FOUND, deletes, lists, operation, performs, shows, writes
from ctxhub.rest.pages import Page
from ctxhub.rest.takes import takes
from ctxhub.rest.views import ProjectViewSet
from ctxhub.toolbox.argument_types import About, Lines, Says, Tail, Words
from memory.decisions import queries, services
from memory.decisions.inputs import clean_key
from memory.decisions.queries import Alternatives, DecisionItem, Reasons, Tradeoffs, Version, find_decisions
from memory.statistics.numbers import Bucket, Statistics
from memory.statistics.trends import ORDERS as TREND_ORDERS
from memory.statistics.trends import TrendRow, list_trends
from memory.suggestions.similar_keys import Similar, near_keys

if TYPE_CHECKING:
    from memory.decisions.rows import DecisionRow


class KeyFilter(TypedDict, total=False):
    key: Annotated[str, About("Exactly this key: the decision whole, whatever its status.")]
    include: Annotated[Words, Says("rationale|history|links"), About("More of the decision; with `key`.")]


class PartOfValue(TypedDict, total=False):
    lines: Lines
    tail: Tail


class Cutting(TypedDict, total=False):
    full: Annotated[bool, About("Values whole, not cut to 200 characters.")]


# -- Answers ---------------------------------------------------------------------------------------


class Included(TypedDict, total=False):
    """What `include` adds."""

    history: list[Version]
    supersedes: list[str]


class WholeDecision(DecisionItem, Reasons, Included):
    pass


class ListedDecision(DecisionItem, Included, total=False):
    rationale: Annotated[str, About("With `key`.")]
    alternatives: Alternatives
    tradeoffs: Tradeoffs


SetAnswer = written("SetAnswer", services.SetAnswer, WholeDecision)


class Analytics(Statistics):
    items: NotRequired[Annotated[list[Bucket], About("With `bucket`: newest first.")]]


class Parts(TypedDict, total=False):
    """What each part adds to the score; left out: nothing."""

    tags: float
    layer: float
    key: float
    text: float
    recency: float


class Suggestion(Similar):
    reason: str
    parts: Parts


class DecisionWrites(ProjectViewSet):
    """What a view does that sets a decision: the version it expects, and the decision as answer."""

    has_versions = True
    kind, named_by = "decision", "key"

    def expecting(self, arguments: dict[str, Any]) -> dict[str, Any]:
        return expecting(self.request, arguments)

    def headers_of(self, answer: Mapping[str, Any]) -> dict[str, str]:
        # Answers stored before requests had digests may belong to another operation.
        return etag(answer["version"]) if "version" in answer else {}

    def item(self, key: str) -> dict[str, Any]:
        return self._full_item(self._get(key), ())

    def _get(self, key: str) -> "DecisionRow":
        key = clean_key(key)
        if (row := queries.find_decision(self.project_id, key)) is None:
            raise services.unknown_key(key, near_keys(self.project_id, key))
        return row

    def _full_item(self, row: "DecisionRow", include: Sequence[str]) -> dict[str, Any]:
        wanted = sorted({"rationale", *(name.lower() for name in include)})
        parts = queries.included(self.project_id, row, wanted)
        return queries.decision_item(row) | parts


LISTED_BY = takes("decision", "list", also=KeyFilter).ordered_by(queries.ORDERS, "-updated")


class DecisionViewSet(DecisionWrites):
    create = writes(
        takes("decision", "set"),
        SetAnswer,
        statuses=CREATED_OR_FOUND,
        parameters=[IF_MATCH],
        says="Set a decision: 201 where it is new, 200 where its key was there.\n\n"
        "What is left out stays as it is; null clears.",
    )
    update = writes(
        takes(
            "decision",
            "set",
            without=["key"],
            name="ReplaceDecision",
            example={"value": "JWT", "rationale": "Stateless: any worker can check it."},
        ),
        SetAnswer,
        by=services.replace_decision,
        statuses=CREATED_OR_FOUND,
        parameters=[IF_MATCH],
        says="Make a decision what the body says and nothing else.",
    )
    partial_update = writes(
        takes(
            "decision",
            "set",
            without=["key"],
            optional=["value"],
            name="ChangeDecision",
            example={"value": "JWT, 15 minutes"},
        ),
        SetAnswer,
        by=services.change_decision,
        parameters=[IF_MATCH],
        says="Change a decision that exists; what is left out stays as it is, and null clears.",
    )
    destroy = deletes(
        by=services.delete_decision,
        parameters=[IF_MATCH],
        says="Remove a decision and its history for good. An administrator's; to end one, set its status.",
    )

    @operation(query=LISTED_BY, responses=page_of(ListedDecision))
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

    @operation(
        query=takes("decision", "get", without=["key"], also=PartOfValue), responses=in_parts(WholeDecision)
    )
    def retrieve(self, request: Request, slug: str, key: str) -> Response:
        """One decision, whole, or some lines of its value. Its ETag is its version."""
        requested = self.requested_lines()
        row = self._get(key)
        item = self._full_item(row, self.query.get("include", ()))
        opened = self.opened(Opened(item, "value", requested, "decision"))
        return Response(opened, headers=etag(row.version))


class AnalyticsViewSet(ProjectViewSet):
    retrieve = shows(
        takes("decision", "analytics"), Analytics, says="Figures over numeric decisions and their history."
    )


class TrendViewSet(ProjectViewSet):
    list = lists(
        takes("hub", "trends"),
        TrendRow,
        by=list_trends,
        orders=(TREND_ORDERS, "-at"),
        says="How decisions grow and change, newest bucket first: in total, or by layer, tag, agent or"
        " status.",
    )


class SuggestionViewSet(ProjectViewSet):
    list = lists(
        takes("decision", "suggest"),
        Suggestion,
        says="Decisions that are like a key, a text or tags; best first.",
    )


class VersionViewSet(ProjectViewSet):
    @operation(
        query=takes("decision", "versions", without=["key"], also=Cutting).ordered_by(["at"], "-at"),
        responses=page_of(in_parts(queries.Version)),
    )
    def list(self, request: Request, slug: str, key: str) -> Response:
        """Every version, newest first, the current one included; none for an unknown key."""
        requested, version = self.requested_lines(), self.query.pop("version", None)
        if version is not None:
            return self.listed(Page(self._one_version(key, version, requested)), whole=True)
        if requested:
            raise InvalidInput("lines and tail read one version.", missing=["version"])
        versions = queries.list_versions(self.project_id, key, **{"limit": 20, **self.query})
        return self.listed(Page.of(versions))

    def _one_version(
        self, key: str, version: str, requested: RequestedLines | None
    ) -> Sequence[dict[str, Any]]:
        row = queries.find_decision(self.project_id, clean_key(key))
        item = queries.find_version(self.project_id, row, version) if row else None
        if item is None:
            return []
        del item["key"]
        return [self.opened(Opened(item, "value", requested), within=Page([]).answer(None))]


class BatchViewSet(ProjectViewSet):
    # The action checks the items, which are checked here already.
    create = performs(
        takes("decision", "set_batch", items=takes("decision", "set", name="DecisionItem")),
        batch_of(services.SetAnswer),
        by=services.set_decision_batch,
        says="Set up to 50 decisions at once: all or nothing, unless `atomic` is false.",
    )


def _listed(row: "DecisionRow", full: bool) -> dict[str, Any]:
    item = queries.decision_item(row)
    return {**item, "value": preview(item["value"], full=full)}
