"""Lists what agents tried and were refused."""

from typing import Annotated

from ctxhub.core.refusals.queries import CODES, ORDERS, RefusalSeen, list_refusals
from ctxhub.rest.operations import lists
from ctxhub.rest.takes import PageArguments, Takes
from ctxhub.rest.views import ProjectViewSet
from ctxhub.toolbox.argument_types import SINCE, About


class RefusalArguments(PageArguments, total=False):
    by: Annotated[str, About("Of this agent.")]
    ref: Annotated[str, About("Because of this lease or object: lease:7.")]
    code: Annotated[str, About("conflict, not_allowed or limit_reached.", {"enum": list(CODES)})]
    since: Annotated[str, About(f"Refused since. {SINCE}")]
    until: Annotated[str, About(f"Refused before. {SINCE}")]


class RefusalViewSet(ProjectViewSet):
    list = lists(
        Takes(RefusalArguments),
        RefusalSeen,
        by=list_refusals,
        orders=(ORDERS, "-last"),
        says="Who was refused what, newest first: taken leases, versions that had changed, missing scopes,"
        " reads\nthat took too much processor time.",
    )
