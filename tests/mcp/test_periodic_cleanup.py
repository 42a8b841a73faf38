"""What falls due while nobody writes is seen to by a process that serves."""

import asyncio
from datetime import timedelta

import pytest

from ctxhub.core.events.services import cleanup as retention
from ctxhub.core.kit import clock
from ctxhub.core.kit.caller import Caller
from ctxhub.mcp import periodic_cleanup as housekeeping
from ctxhub.mcp.periodic_cleanup import run_periodic_cleanup
from messaging.models import Message
from messaging.services.messages import send_message


async def for_a_while() -> None:
    house = asyncio.create_task(run_periodic_cleanup())
    await asyncio.sleep(0.5)
    house.cancel()


@pytest.mark.usefixtures("transactional_db")
def test_old_messages_go_without_a_write(ada: Caller, cy: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(housekeeping, "EVERY_SECONDS", 0.05)
    for caller in (ada, cy):
        send_message(caller=caller, text="Old.")
        send_message(caller=caller, text="New.")
    old = clock.now() - timedelta(days=2)
    Message.unscoped.filter(text="Old.").update(created_at=old)
    retention._cleaned.clear()
    asyncio.run(for_a_while())
    assert sorted(Message.unscoped.values_list("text", flat=True)) == ["New.", "New."]
