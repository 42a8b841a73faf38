"""Whether somebody else is at a file: a change of a moment ago, or a lease."""

from datetime import timedelta
from typing import Literal, NotRequired

# pydantic writes the answer's schema, and wants this TypedDict before Python 3.12.
from typing_extensions import TypedDict

from ctxhub.core.kit import clock
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.clock import format_time
from ctxhub.core.kit.inputs import clean_from_to
from ctxhub.core.text.globs import is_glob, matches
from tracking.selectors.changes import last_within_by_another
from tracking.selectors.leases import find_overlapping
from tracking.selectors.paths import clean_pattern
from tracking.sql.changes import last_by_another
from tracking.sql.leases import held_paths, read_leases

LONGEST = 24 * 60 * 60


class Lock(TypedDict):
    locked: bool
    by: NotRequired[str]
    at: NotRequired[str]
    change: NotRequired[Literal["created", "modified", "deleted"]]
    expires: NotRequired[str]


def check_lock(caller: Caller, *, path: str, within_seconds: int = 300) -> Lock:
    """Who else holds a lease on the file or has changed it in that time (1..86400 seconds), if anybody.

    Of a glob, on any file that it matches. A lease, the clearer word, goes before a change: then `at` is when
    it was taken and `expires` when it ends. `change` stands beside it where the holder made one.
    """
    pattern = clean_pattern(path)
    within = timedelta(seconds=clean_from_to(within_seconds, "within_seconds", 1, LONGEST))
    now, own = clock.now(), caller.agent.casefold()
    if is_glob(pattern):
        changed = last_within_by_another(caller.project_id, pattern, own, now - within)
        held = find_overlapping(caller.project_id, [pattern], now, but=own)
    else:
        changed = last_by_another(caller.project_id, pattern, own, now - within)
        held = [h for h in held_paths(caller.project_id, [pattern], now, own) if matches(h.pattern, pattern)]
    lock = Lock(locked=bool(changed or held))
    if held:
        # The last to expire: until then the file is not free.
        [lease] = read_leases(caller.project_id, [held[-1].lease_id])
        lock |= {
            "by": lease.by,
            "at": format_time(lease.created_at),
            "expires": format_time(lease.expires_at),
        }
    if changed and changed.by == lock.get("by", changed.by):
        lock |= {"by": changed.by, "at": format_time(changed.at), "change": changed.change_label}  # type: ignore[typeddict-item]
    return lock
