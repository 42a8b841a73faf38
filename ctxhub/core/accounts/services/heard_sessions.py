"""Notes when sessions were heard of, and under which name a window goes on."""

from datetime import datetime, timedelta

from ctxhub.core.accounts.selectors.speakers import named_by
from ctxhub.core.call_sessions import name_of_session
from ctxhub.core.events.services.cleanup import cleanup_tasks
from ctxhub.core.kit import sql
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import CtxhubError

KEPT = timedelta(days=7)
REMOVED_AT_ONCE = 500


def note_session(caller: Caller, at: datetime) -> None:
    """Note that the session of a call was heard of; nothing for a call without one. Inside a transaction."""
    if not named_by(caller):
        return
    try:
        name = name_of_session(caller) if caller.session else named_by(caller)
    except CtxhubError:  # The call did not need the session that it names.
        return
    made_up = not caller.session and caller.window is not None and caller.window.made_up
    sql.insert(
        "core_heardsession",
        ("project_id", "folded", "name", "made_up", "now_called", "heard_at"),
        [(caller.project_id, caller.agent.casefold(), name, made_up, "", sql.stored_time(at))],
        "ON CONFLICT (project_id, folded, name) DO UPDATE SET heard_at = excluded.heard_at",
    )


def go_on(caller: Caller, name: str, old: str, at: datetime) -> None:
    """Let a session have its own name, and an old one mean it; "": no other. Inside a transaction."""
    folded = caller.agent.casefold()
    sql.execute(
        "UPDATE core_heardsession SET now_called = '' WHERE project_id = %s AND folded = %s AND name = %s",
        [caller.project_id, folded, name],
    )
    if old:
        sql.insert(
            "core_heardsession",
            ("project_id", "folded", "name", "made_up", "now_called", "heard_at"),
            [(caller.project_id, folded, old, False, name, sql.stored_time(at))],
            "ON CONFLICT (project_id, folded, name) DO UPDATE SET now_called = excluded.now_called",
        )


def forget_sessions(project_id: int, now: datetime) -> None:
    """Remove up to 500 sessions that were not heard of for a week."""
    found = sql.rows(
        "SELECT id FROM core_heardsession WHERE project_id = %s AND heard_at < %s ORDER BY heard_at LIMIT %s",
        [project_id, sql.stored_time(now - KEPT), REMOVED_AT_ONCE],
    )
    if found:
        among, values = sql.among("id", [row_id for (row_id,) in found])
        sql.execute(f"DELETE FROM core_heardsession WHERE {among}", values)


cleanup_tasks.append(lambda project_id, now, _: forget_sessions(project_id, now))
