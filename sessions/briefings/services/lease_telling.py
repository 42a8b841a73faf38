"""Tells the holder of a lease that somebody else has released it."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from ctxhub.core.accounts.agents import agent_names
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.sql import chunks
from ctxhub.core.models import Project
from ctxhub.core.text.sentences import in_one_line, shortened
from messaging.messages.services import send_message_batch
from tracking.leases.rows import LeaseRow

AT_ONCE = 50
PATHS_CHARACTERS = 200
REASON_CHARACTERS = 1_000


def tell_of_release(
    *, project_id: int, agent_id: int | None, leases: Sequence[LeaseRow], reason: str
) -> None:
    """Send each holder a message from the agent who released its leases, in the same transaction."""
    name = agent_names(project_id, [agent_id]).get(agent_id or 0)
    by_holder: dict[str, list[LeaseRow]] = defaultdict(list)
    for lease in leases:
        if name and lease.folded != name.casefold():
            by_holder[lease.agent].append(lease)
    if name and by_holder:
        sender = Caller(project=Project.objects.get(pk=project_id), agent=name, keeps_secrets=True)
        items = [_message(holder, held, reason) for holder, held in by_holder.items()]
        for some in chunks(items, AT_ONCE):
            send_message_batch(caller=sender, items=some)


def _message(holder: str, leases: Sequence[LeaseRow], reason: str) -> dict[str, Any]:
    refs = [f"lease:{lease.id}" for lease in leases]
    paths = _cut(", ".join(path for lease in leases for path in lease.paths), PATHS_CHARACTERS)
    why = _cut(reason, REASON_CHARACTERS).rstrip(".")
    text = f"I released your lease on {paths}{f': {why}' if why else ''}. Others can lease it now."
    return {
        "text": text,
        "to": [holder],
        "type": "warning",
        "priority": "high",
        "payload": {"refs": refs},
    }


def _cut(text: str, characters: int) -> str:
    line = in_one_line(text)
    return line if len(line) <= characters else shortened(line, characters)
