"""REST views of the links from causes to effects, from an object of any kind."""

from typing import Annotated, NotRequired

from rest_framework.request import Request
from rest_framework.response import Response
from typing_extensions import TypedDict

from ctxhub.core.given import give_ref
from ctxhub.core.hub import links
from ctxhub.core.kit.limits import REF
from ctxhub.rest.operations import operation, shows
from ctxhub.rest.pages import Page
from ctxhub.rest.schemas import LinkWalk
from ctxhub.rest.takes import Takes
from ctxhub.rest.views import ProjectViewSet
from ctxhub.toolbox.argument_types import About, Cursor, Number
from ctxhub.toolbox.common_arguments import Budget

UP_TO_ROWS = {"minimum": 1, "maximum": links.ROWS}


class LinkArguments(TypedDict):
    ref: Annotated[str, About("Of anything: `decision:api/auth/method`, `snapshot:17`.", REF)]
    max_tokens: NotRequired[Budget]


class WalkArguments(LinkArguments):
    limit: NotRequired[Annotated[Number, About("How many items a page holds; left out: 1,000.", UP_TO_ROWS)]]
    cursor: NotRequired[Cursor]


class LinkViewSet(ProjectViewSet):
    chain = shows(
        Takes(WalkArguments),
        LinkWalk,
        by=links.list_chain,
        operation_id="links_chain",
        says="What led to an object, its root first, itself last.",
    )
    impact = shows(
        Takes(WalkArguments),
        LinkWalk,
        by=links.list_impact,
        operation_id="links_impact",
        says="What follows from an object, directly or through others; the nearest first.",
    )

    @operation(query=Takes(LinkArguments), responses=LinkWalk, operation_id="links_why")
    def why(self, request: Request, slug: str) -> Response:
        """An object at depth 0, and at depth 1 what it directly follows from, includes or is related to."""
        ref = self.query["ref"]
        reasons = give_ref(self.caller, "why", ref, links.list_reasons(self.project_id, ref))
        return self.listed(Page.of(reasons))
