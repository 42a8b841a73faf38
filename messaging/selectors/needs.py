"""The messages that wait for a person: overdue acknowledgements, and requests that nobody claims."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from ctxhub.core.kit import clock
from messaging.sql.needs import Owing, Unclaimed, read_owing, read_unclaimed, replies_with_payload

# Requests are left to the agents for so long.
UNCLAIMED_AFTER = timedelta(minutes=15)
# In the payload of a reminder: the ids of the messages that it reminds of.
REMINDS_OF = "reminds_of"
REPLIES_READ = 200
# Another reminder can be sent after so long.
REMINDED_FOR = timedelta(hours=1)


def find_owing(project_ids: Sequence[int], *, at_most: int) -> list[Owing]:
    """The agents that owe overdue acknowledgements, the most urgent first."""
    return read_owing(project_ids, at_most)


def find_reminders(
    project_ids: Sequence[int], message_ids: Sequence[int]
) -> Mapping[tuple[int, str], datetime]:
    """When agents were last reminded of messages, by message id and folded name, in the last hour."""
    if not message_ids:
        return {}
    newest: dict[tuple[int, str], datetime] = {}
    since = clock.now() - REMINDED_FOR
    for message_id, folded, at, payload in replies_with_payload(
        project_ids, message_ids, since, REPLIES_READ
    ):
        if isinstance(payload, Mapping) and REMINDS_OF in payload:
            newest.setdefault((message_id, folded), at)
    return newest


def find_unclaimed(project_ids: Sequence[int], *, at_most: int) -> list[Unclaimed]:
    """The most urgent unclaimed request of each project that has some."""
    now = clock.now()
    return read_unclaimed(project_ids, now - UNCLAIMED_AFTER, now, at_most)
