"""Writes very many messages without the services, for tests of large inboxes."""

from datetime import timedelta
from typing import Any

from ctxhub.core.kit import clock
from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Agent
from messaging.models import Delivery, Message, MessageType, RequestState
from tests.messaging.mail import known


def fill(
    sender: Caller, count: int, *, to: str = "ben", read: bool = False, kind: int = 0, **fields: Any
) -> None:
    """`count` messages of all types (or of one `kind`) and priorities, a second apart, the newest now."""
    known(sender)
    agent = Agent.objects.in_project(sender.project).get(folded=sender.agent.casefold())
    now = clock.now()
    messages = Message.unscoped.bulk_create(
        [
            Message(
                project=sender.project,
                sender=agent,
                type=(type_ := kind or 1 + n % 4),
                state=1 + n // 16 % 3 if type_ == MessageType.REQUEST else RequestState.NONE,
                claimed_by=agent,
                claimed_until=now + timedelta(hours=1),
                priority=1 + n // 4 % 4,
                text=f"m{n}",
                to_everyone=False,
                created_at=now - timedelta(seconds=count - n),
                **fields,
            )
            for n in range(count)
        ],
        batch_size=500,
    )
    Delivery.unscoped.bulk_create(
        [
            Delivery(
                project=sender.project,
                message=message,
                name=to,
                folded=to.casefold(),
                type=message.type,
                state=message.state,
                priority=message.priority,
                at=message.created_at,
                read_at=now if read else None,
            )
            for message in messages
        ],
        batch_size=500,
    )
