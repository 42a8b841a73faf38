"""Periodic cleanup in a serving process, when nobody writes."""

import asyncio
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.db import connection

from ctxhub.core.events import cleanup
from ctxhub.core.kit import clock
from ctxhub.core.kit.caller import Caller
from ctxhub.mcp import periodic_cleanup as housekeeping
from ctxhub.mcp.periodic_cleanup import run_periodic_cleanup
from messaging.messages.services import send_message
from messaging.models import Message
from tests.timing import wait_until


async def clean_until(is_clean: Callable[[], bool]) -> None:
    task = asyncio.create_task(run_periodic_cleanup())
    await asyncio.to_thread(wait_until, is_clean)
    task.cancel()


@pytest.mark.usefixtures("transactional_db")
def test_old_messages_are_removed_without_a_write(
    ada: Caller, cy: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(housekeeping, "EVERY_SECONDS", 0.05)
    for caller in (ada, cy):
        send_message(caller=caller, text="Old.")
        send_message(caller=caller, text="New.")
    old = clock.now() - timedelta(days=2)
    Message.unscoped.filter(text="Old.").update(created_at=old)
    cleanup._cleaned.clear()
    asyncio.run(clean_until(lambda: texts() == ["New.", "New."]))


def texts() -> list[str]:
    try:
        return sorted(Message.unscoped.values_list("text", flat=True))
    finally:
        connection.close()
