"""Finds what an agent should hear: urgent mail, leases of others, what changed of what it was given."""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta
from functools import cached_property, partial

from ctxhub.core.accounts.access_tokens import TOLD_BEFORE
from ctxhub.core.accounts.speakers import speaker_of
from ctxhub.core.kit import sql
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.clock import format_time
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.text.globs import overlap
from ctxhub.core.text.plurals import counted
from memory.decisions.models import DecisionStatus
from messaging.messages.rows import MESSAGES, MessageRow
from sessions.briefs.rows import one_line, read_documents
from sessions.given.presences import current_readers
from sessions.given.queries import find_stale
from sessions.nudges.notices import NoticeKey, Unheard, find_notices, find_unheard, find_untold_mail
from tracking.changes.queries import files_changed_by
from tracking.leases.queries import leased_paths, leases_on_paths
from tracking.leases.rows import LeaseRow

EVENTS_READ = 10_000
OBJECTS_READ = 500


def changed_refs(project_id: int, after: int, folded: str, nouns: Sequence[str]) -> list[tuple[str, str]]:
    """Noun and ref of the objects with an event after this id that is not of this agent, newest first.

    What was only confirmed is left out: its text is the same. Reads the newest 10,000 events, and names 500
    objects at most.
    """
    among, values = sql.among("noun", nouns)
    return sql.rows(
        f"""
        SELECT noun, ref FROM (
            SELECT id, noun, ref FROM core_event
            WHERE project_id = %s AND id > %s AND {among} AND verb <> 'confirmed'
                AND (agent_id IS NULL OR agent_id NOT IN
                    (SELECT id FROM core_agent WHERE project_id = %s AND folded = %s))
            ORDER BY id DESC LIMIT %s) new
        GROUP BY noun, ref ORDER BY max(id) DESC LIMIT %s""",
        [project_id, after, *values, project_id, folded, EVENTS_READ, OBJECTS_READ],
    )


CHANGED_WITHIN = timedelta(hours=1)
# The most of a kind that are considered at once: a nudge has room for few.
MOST = 20
# The most leases in which those are looked for of which the agent has not heard.
LEASES_READ = 200
TEXT_TOKENS = 30
PATHS_TOKENS = 20
LINE_TOKENS = 80


@frozen(slots=False)
class News:
    """A line that an agent hears once; `key` is by what it is remembered.

    `write` makes the line: it is called only for what the agent has not heard, and while there is room.
    """

    key: NoticeKey
    write: Callable[[], str]

    @cached_property
    def line(self) -> str:
        return self.write()


def find_news(caller: Caller, agent_id: int | None, now: datetime) -> tuple[list[News], int]:
    """What the caller's agent has not heard yet, the most urgent first, and how many messages are of it.

    `agent_id`: None if it is unknown. Messages come first; of many only the most urgent are in the list.
    """
    untold = find_untold_mail(caller.project_id, agent_id, caller.agent.casefold())
    return [
        *_new_mail(caller.project_id, untold[:MOST]),
        *_unheard(caller.project_id, agent_id, _ending_token(caller, now)),
        *_unheard(caller.project_id, agent_id, _leases(caller, now)),
        *(_decisions(caller, agent_id) if agent_id else ()),
        *(_stale(caller.project_id, agent_id, now) if agent_id else ()),
    ], len(untold)


def _unheard(project_id: int, agent_id: int | None, news: Sequence[News]) -> list[News]:
    if not news or agent_id is None:
        return [*news]
    heard = {key for _, key in find_notices(project_id, [agent_id], [each.key for each in news])}
    return [each for each in news if each.key not in heard]


def _new_mail(project_id: int, ids: Sequence[int]) -> list[News]:
    """Unread messages of priority high and critical that the agent owes, as `mail` counts them."""
    messages = MESSAGES.read(project_id, ids)
    return [
        News(NoticeKey("message", message_id), partial(_mail_line, messages[message_id]))
        for message_id in ids
        if message_id in messages
    ]


def _leases(caller: Caller, now: datetime) -> list[News]:
    """Others' leases on what the caller has leased, or its agent changed in the last hour.

    Who of the agent's sessions changed a file is not known: of these only leases on what is leased tell.
    """
    project_id, speaker = caller.project_id, speaker_of(caller)
    leased = leased_paths(project_id, speaker, now)
    own = leased + files_changed_by(project_id, speaker.folded, now - CHANGED_WITHIN)
    found = leases_on_paths(project_id, speaker, own, now)[:LEASES_READ] if own else ()
    found = [
        lease
        for lease in found
        if lease.folded != speaker.folded or any(overlap(a, b) for a in lease.paths for b in leased)
    ]
    return [News(NoticeKey("lease", lease.id), partial(_lease_line, lease)) for lease in found]


def _ending_token(caller: Caller, now: datetime) -> list[News]:
    """That the token of the call expires within a week: only a person can make another."""
    ends_at = caller.token_ends_at
    if ends_at is None or caller.token_id is None or ends_at > now + TOLD_BEFORE:
        return []
    key = NoticeKey("token", caller.token_id, format_time(ends_at))
    return [News(key, partial(_token_line, ends_at))]


def _decisions(caller: Caller, agent_id: int) -> Iterable[News]:
    """Changed decisions of which only a message told, that was not read."""
    for found in find_unheard(caller.project_id, agent_id, caller.agent.casefold(), MOST):
        yield News(found.key, partial(_decision_line, found))


def _stale(project_id: int, agent_id: int, now: datetime) -> list[News]:
    """What the agent was given in its current session, and may be wrong since files changed."""
    found = find_stale(project_id, agent_id)
    current = set(current_readers(project_id, [reader for reader, _, _ in found], now))
    newest = [each for each in found if each[0] in current][:MOST]
    stale = {(reader.kind, reader.object_id): (count, since) for reader, count, since in newest}
    documents = read_documents(project_id, stale)
    news = [
        News(NoticeKey(*key, since.isoformat()), partial(_stale_line, documents[key].ref, count))
        for key, (count, since) in stale.items()
        if key in documents
    ]
    return _unheard(project_id, agent_id, news)


# -- Lines -----------------------------------------------------------------------------------------


def _mail_line(row: MessageRow) -> str:
    return f"message:{row.id} from {row.sender} ({row.priority_label}): {one_line(row.text, TEXT_TOKENS)}"


def _token_line(ends_at: datetime) -> str:
    day = f"{ends_at:%Y-%m-%d}"
    return f"Your access token expires on {day}: ask your person for another (admin, Access tokens)"


def _lease_line(lease: LeaseRow) -> str:
    paths = one_line(", ".join(lease.paths), PATHS_TOKENS)
    verb = "has leased" if lease.exclusive else "shares"
    by = f"{lease.agent} ({lease.session})" if lease.session else lease.agent
    return f"lease:{lease.id}: {by} {verb} {paths} until {format_time(lease.expires_at)[11:16]}Z"


def _decision_line(found: Unheard) -> str:
    ref = f"decision:{found.decision}"
    is_over = found.status == DecisionStatus.DEPRECATED
    state = "deprecated" if is_over else f"now at {found.version}"
    return one_line(f"{ref} is {state} (by {found.by}), not what you were given: get {ref}", LINE_TOKENS)


def _stale_line(ref: str, count: int) -> str:
    changes = counted(count, "changes")
    return one_line(
        f"{ref} may be out of date: {changes} of its files since. Read it: get {ref}", LINE_TOKENS
    )
