"""What becomes of the leases of a session when its window goes on in another one, or ends."""

from dataclasses import replace
from datetime import datetime

from ctxhub.core.accounts.speakers import Speaker
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.holder import is_part
from tracking.leases import rows
from tracking.leases.granting import end_leases
from tracking.leases.history import record_leases
from tracking.leases.rows import LEASES


def hand_over_leases(caller: Caller, agent_id: int, old: str, new: str, at: datetime) -> int:
    """Let what a session of the agent and its parts hold be held by another one; returns how many leases.

    Runs inside the write transaction of the call, after its other writes.
    """
    live = rows.live_leases_of(caller.project_id, caller.agent.casefold(), at)
    passed = [lease for lease in live if lease.holder.is_named and is_part(lease.session, old)]
    for lease in passed:
        session = new + lease.session.removeprefix(old)
        LEASES.update(caller.project_id, lease, replace(lease, session=session))
    if passed:
        record_leases(
            project_id=caller.project_id,
            agent_id=agent_id,
            verb="handed_over",
            leases=passed,
            at=at,
            reason=f"{old} goes on as {new}.",
        )
    return len(passed)


def release_all(caller: Caller, speaker: Speaker, at: datetime) -> int:
    """End what ends with a session, inside a write transaction; returns how many leases."""
    live = rows.live_leases_of(caller.project_id, speaker.folded, at)
    if leases := [lease for lease in live if speaker.releases(lease.holder, at)]:
        end_leases(caller, leases, "", at)
    return len(leases)
