"""The tool `file`, second part: leases."""

from typing import Annotated

from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.limits import OPTIONAL_PATH, PATH
from ctxhub.core.kit.listing import Listing
from ctxhub.core.kit.unset import UNSET, Unset, if_set
from ctxhub.toolbox.actions import action
from ctxhub.toolbox.argument_types import (
    NAMES_FILES,
    UNDECLARED,
    About,
    Cursor,
    IdOf,
    InMinutes,
    Limit,
    Number,
    PathList,
)
from tracking.changes.queries import GLOB
from tracking.leases import services
from tracking.leases.granting import MOST_MINUTES, LeaseAnswer, LeasedAnswer
from tracking.leases.queries import list_leases

MINUTES = {"minimum": 1, "maximum": MOST_MINUTES}

LeaseId = Annotated[Number, IdOf("lease")]
Force = Annotated[bool, About("Another agent's too: an administrator's, told in the log.")]


@action(
    "file",
    "lease",
    writes=True,
    example={"paths": ["src/api/**"], "minutes": 30, "reason": "Token rotation."},
    also_known_as=("lock", "lock_file", "reserve", "acquire"),
)
def lease(
    caller: Caller,
    paths: Annotated[PathList, About("Up to 50 paths or globs.", {"minItems": 1}, items=PATH)],
    minutes: Annotated[Number, InMinutes, About(f"1 to {MOST_MINUTES}; left out: 15.", MINUTES)] = 15,
    exclusive: Annotated[bool, About("False: others may share it. Left out: true.")] = True,
    reason: str | None | Unset = UNSET,
) -> LeasedAnswer:
    """Reserve paths or globs for 1 to 1440 minutes; a conflict names holder and expiry.

    `src/api/**` or `src/api/` is everything below, `src/*.py` one level, `src/api` that path alone. Shared
    leases (exclusive false) may overlap one another; those of one session never conflict, but another window
    of yours is another holder, until it was not heard of for 15 minutes. It ends by itself; `fence`
    grows with every lease, so that who comes later can be told from who came before. Said again for the same
    paths, your live lease is extended, with its fence (`result` extended). An exclusive one ends your shared
    one on the same paths. On every file (`**`) a lease lasts 60 minutes at most.
    """
    return services.acquire_lease(
        caller=caller, paths=paths, minutes=minutes, exclusive=exclusive, reason=reason
    )


@action(
    "file",
    "renew",
    quiet=True,
    writes=True,
    example={"lease_id": 5, "minutes": 30},
    also_known_as=("extend",),
)
def renew(
    caller: Caller,
    lease_id: LeaseId,
    minutes: Annotated[
        Number, InMinutes, About(f"From now: 1 to {MOST_MINUTES}; left out: 15.", MINUTES)
    ] = 15,
) -> LeaseAnswer:
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
    caller: Caller,
    lease_id: Annotated[LeaseId, About("Or this one.")] | Unset = UNSET,
    paths: Annotated[PathList, UNDECLARED, About("Or yours on these paths alone.", items=PATH)]
    | Unset = UNSET,
    all: Annotated[bool, About("All of yours.")] = False,
    force: Force = False,
    reason: str | None = None,
) -> services.ReleaseAnswer:
    """End your lease, or all of yours; `force` ends another's, for administrators.

    Its holder gets a message with your `reason`, which the log tells, too. `all` are those of this session
    and of its subagents; by its id you end that of any session of yours. `paths`: your lease on them, if it
    is on no other path.
    """
    return services.release_leases(
        caller=caller,
        lease_id=if_set(lease_id, None),
        paths=if_set(paths, None),
        all=all,
        force=force,
        reason=reason,
    )


@action(
    "file", "leases", quiet=True, example={"path": "src/api/auth.py"}, also_known_as=("list_leases", "locks")
)
def leases(
    caller: Caller,
    path: Annotated[str, NAMES_FILES, About(f"That overlap it. {GLOB}", OPTIONAL_PATH)] | None = None,
    by: Annotated[str, About("Held by this agent.")] | None = None,
    limit: Limit = 20,
    cursor: Cursor | None = None,
) -> Listing:
    """Live leases, soonest to expire first; `path`, a path or glob: those that overlap it."""
    return list_leases(caller.project_id, path=path, by=by, limit=limit, cursor=cursor)
