"""Lock check: whether another agent has leased a file or changed it recently."""

from datetime import timedelta
from typing import Annotated, Literal, NotRequired

# pydantic writes the answer's schema, and wants this TypedDict before Python 3.12.
from typing_extensions import TypedDict

from ctxhub.core.accounts.speakers import speaker_of
from ctxhub.core.kit import clock
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.clock import format_time
from ctxhub.core.kit.inputs import clean_from_to
from ctxhub.core.paths.case import as_written, compared_by
from ctxhub.core.paths.reading import reader_of
from ctxhub.core.text.globs import is_glob, matches
from ctxhub.toolbox.argument_types import About, Time
from tracking.changes.queries import last_within_by_another
from tracking.changes.rows import last_by_another
from tracking.files.paths import clean_filter
from tracking.leases.queries import find_in_the_way
from tracking.leases.rows import held_paths, read_leases

LONGEST = 24 * 60 * 60


class Lock(TypedDict):
    locked: bool
    by: NotRequired[str]
    at: NotRequired[Annotated[Time, About("When it was changed, or leased.")]]
    change: NotRequired[Literal["created", "modified", "deleted"]]
    expires: NotRequired[Annotated[Time, About("When the lease ends.")]]


def check_lock(caller: Caller, *, path: str, within_seconds: int = 300) -> Lock:
    """Which other holder has leased the file or changed it within that time (1..86400 seconds), if any.

    A glob checks every file that it matches. A lease takes precedence over a change: `at` is then when it was
    taken and `expires` when it ends; `change` is added if the holder has also changed the file.
    """
    patterns = clean_filter(path, reader=reader_of(caller))
    within = timedelta(seconds=clean_from_to(within_seconds, "within_seconds", 1, LONGEST))
    now, own, speaker = clock.now(), caller.agent.casefold(), speaker_of(caller)
    compared = compared_by(caller)
    if len(patterns) > 1 or is_glob(patterns[0]) or compared is not as_written:
        changed = last_within_by_another(caller.project_id, patterns, own, now - within)
        held = find_in_the_way(caller.project_id, speaker, patterns, now, compared)
    else:
        [file] = patterns
        changed = last_by_another(caller.project_id, file, own, now - within)
        held = [
            each
            for each in held_paths(caller.project_id, patterns, now, speaker.holder)
            if matches(each.pattern, file) and speaker.is_blocked_by(each.holder, each.since, now)
        ]
    lock = Lock(locked=bool(changed or held))
    if held:
        # The lease that expires last: the file is not free before.
        [lease] = read_leases(caller.project_id, [held[-1].lease_id])
        lock |= {
            "by": lease.agent,
            "at": format_time(lease.created_at),
            "expires": format_time(lease.expires_at),
        }
    if changed and changed.agent == lock.get("by", changed.agent):
        lock |= {"by": changed.agent, "at": format_time(changed.at), "change": changed.change_label}  # type: ignore[typeddict-item]
    return lock
