"""The tool `file`, second part: leases."""

from typing import Annotated

from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.listing import Listing
from ctxhub.core.toolbox.actions import action
from ctxhub.core.toolbox.argument_types import IdOf, Number, Words
from tracking.selectors.leases import list_leases
from tracking.services import leases as services

LeaseId = Annotated[Number, IdOf("lease")]


@action(
    "file",
    "lease",
    writes=True,
    example={"paths": ["src/api/**"], "minutes": 30, "reason": "Token rotation."},
    also_known_as=("lock", "lock_file", "reserve", "acquire"),
)
def lease(
    caller: Caller,
    paths: Words,
    minutes: Number = 15,
    exclusive: bool = True,
    reason: str | None = None,
) -> services.LeaseAnswer:
    """Reserve paths or globs for 1 to 1440 minutes; a conflict names holder and expiry.

    `src/api/**` or `src/api/` is everything below, `src/*.py` one level, `src/api` that path alone. Shared
    leases (exclusive false) may overlap one another; your own never conflict. It ends by itself; `fence`
    grows with every lease, so that who comes later can be told from who came before.
    """
    return services.acquire_lease(
        caller=caller, paths=paths, minutes=minutes, exclusive=exclusive, reason=reason
    )


@action("file", "renew", writes=True, example={"lease_id": 5, "minutes": 30}, also_known_as=("extend",))
def renew(caller: Caller, lease_id: LeaseId, minutes: Number = 15) -> services.LeaseAnswer:
    """Let your live lease last that long from now; its fence stays.

    One that has expired or was released is a conflict: lease it again.
    """
    return services.renew_lease(caller=caller, lease_id=lease_id, minutes=minutes)


@action(
    "file",
    "release",
    writes=True,
    idempotent=True,
    example={"lease_id": 5},
    also_known_as=("unlock", "unlock_file"),
)
def release(
    caller: Caller, lease_id: LeaseId | None = None, all: bool = False, force: bool = False
) -> services.ReleaseAnswer:
    """End your lease, or all of yours; `force` ends another's, for administrators."""
    return services.release_leases(caller=caller, lease_id=lease_id, all=all, force=force)


@action("file", "leases", example={"path": "src/api/auth.py"}, also_known_as=("list_leases", "locks"))
def leases(
    caller: Caller,
    path: str | None = None,
    by: str | None = None,
    limit: Number = 20,
    cursor: str | None = None,
) -> Listing:
    """Live leases, soonest to expire first; `path`, a path or glob: those that overlap it."""
    return list_leases(caller.project_id, path=path, by=by, limit=limit, cursor=cursor)
