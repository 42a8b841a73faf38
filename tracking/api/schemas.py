"""What only REST takes about files, and the responses about files and leases, for the OpenAPI schema."""

from typing import Annotated

from typing_extensions import TypedDict

from ctxhub.core.api.takes import Budget
from ctxhub.core.kit.limits import OPTIONAL_PATH
from ctxhub.core.toolbox.argument_types import About, Cursor, Limit, Time, one_of

CHANGES = ("created", "modified", "deleted")
STATES = ("live", "expired", "released")


class ListResources(TypedDict, total=False):
    path: Annotated[
        str, About("A path, or a glob: `src/*.py`, `src/**`, `src/` for everything below.", OPTIONAL_PATH)
    ]
    limit: Limit
    cursor: Cursor
    max_tokens: Budget


# -- Answers ---------------------------------------------------------------------------------------


class Change(TypedDict):
    id: int
    path: str
    change: Annotated[str, one_of(*CHANGES)]
    by: str
    layer: str | None
    description: str
    at: Time


class ListedLease(TypedDict):
    lease_id: int
    paths: list[str]
    by: str
    exclusive: bool
    reason: str
    expires: Time
    fence: Annotated[int, About("Grows with every lease of a project.")]


class Lease(ListedLease):
    state: Annotated[str, one_of(*STATES)]
    created: Time


class Resource(TypedDict):
    path: str
    change: Annotated[Annotated[str, one_of(*CHANGES)] | None, About("The last one, while it is kept.")]
    by: str | None
    at: Time | None
