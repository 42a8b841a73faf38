"""Lists what was called and what the answers cost, and the questions that found nothing."""

from typing import Annotated

from ctxhub.core.kit.buckets import BUCKETS
from ctxhub.core.use.queries import (
    BY,
    ORDERS,
    SEARCH_ORDERS,
    SearchedInVain,
    UseSeen,
    list_empty_searches,
    list_use,
)
from ctxhub.rest.operations import lists
from ctxhub.rest.takes import PageArguments, Takes
from ctxhub.rest.views import ProjectViewSet
from ctxhub.toolbox.argument_types import SINCE, About, Words


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

    list = lists(
        Takes(UseArguments),
        UseSeen,
        by=list_use,
        orders=(ORDERS, "-at"),
        says="How much is called, and what the answers cost: by time, newest first, agent and operation.",
    )
    empty_searches = lists(
        Takes(SearchArguments),
        SearchedInVain,
        by=list_empty_searches,
        orders=(SEARCH_ORDERS, "-last"),
        says="Questions that found nothing, last asked first: what the team does not know.",
    )
