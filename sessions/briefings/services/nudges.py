"""Nudges an agent: tells it each thing once, in few tokens."""

import logging
from collections.abc import Sequence
from datetime import datetime
from typing import Annotated

from django.db import Error
from typing_extensions import TypedDict

from ctxhub.core.accounts.selectors.agents import find_agent_id
from ctxhub.core.accounts.services.agents import touch_agent
from ctxhub.core.events.selectors.events import latest_cursor
from ctxhub.core.kit import clock
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.failures import log_failure
from ctxhub.core.kit.transactions import try_touch_transaction
from ctxhub.core.toolbox.argument_types import About
from sessions.briefings.rules.nudges import fitting, nudge_text, with_rest
from sessions.briefings.selectors.news import News, find_news
from sessions.briefings.sql.notices import NewNotice, write_notices

# Longer than the longest wait with 16 busy writers (0.1 s).
MARKED_WITHIN_SECONDS = 0.3


class NudgeAnswer(TypedDict):
    text: Annotated[str, About("At most 100 tokens; empty if there is nothing new.")]
    messages: Annotated[int, About("How many of its lines are unread high and critical messages.")]
    cursor: str


def nudge(*, caller: Caller) -> NudgeAnswer:
    """What the caller's agent should hear now, and has not heard by a nudge before.

    What it tells is marked; where that fails, the same is told again.
    """
    now, cursor = clock.now(), latest_cursor(caller.project_id)
    touch_agent(caller)
    agent_id = find_agent_id(caller.project_id, caller.agent)
    news, mail = find_news(caller, agent_id, now)
    chosen = [news[position] for position in fitting(each.line for each in news)]
    lines = with_rest([each.line for each in chosen], sum(map(_is_mail, chosen)), mail)
    told = chosen[: len(lines)]
    if told and agent_id is not None:
        _mark(caller, agent_id, told, now)
    return NudgeAnswer(
        text=nudge_text(lines),
        messages=sum(map(_is_mail, told)),
        cursor=str(cursor),
    )


def _is_mail(each: News) -> bool:
    return each.key.kind == "message"


def _mark(caller: Caller, agent_id: int, told: Sequence[News], now: datetime) -> None:
    notices = [NewNotice(agent_id, each.key, None, now) for each in told]
    try:
        with try_touch_transaction(MARKED_WITHIN_SECONDS) as may_write:
            if may_write:
                write_notices(caller.project_id, notices, now)
    except Error as error:  # The answer is known, and must not be lost.
        log_failure(f"noting what {caller.agent!r} was told", error, level=logging.WARNING)
