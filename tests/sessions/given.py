"""What tests of briefings share: opening things as an agent does, and reading what was recorded."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.test import TestCase

from ctxhub.core.kit.caller import Caller
from ctxhub.toolbox.dispatch import call
from memory.decisions.services import set_decision
from messaging.models import Delivery
from sessions.given.models import Briefing, BriefingItem, Writing
from sessions.given.services import WRITER

KEY = "api/auth/method"
REF = f"decision:{KEY}"


def decide(caller: Caller, value: Any = "JWT", key: str = KEY, **rest: Any) -> None:
    set_decision(caller=caller, key=key, value=value, **rest)


def read(caller: Caller, *refs: str, **rest: Any) -> None:
    """Open things, and let that be recorded."""
    call(caller, "get", {"refs": list(refs or (REF,)), **rest})
    WRITER.flush()


def items(caller: Caller) -> list[tuple[str, str, str]]:
    """Kind, version and detail of all that the caller's agent was given, the oldest first."""
    found = BriefingItem.objects.in_project(caller.project).filter(briefing__agent__name=caller.agent)
    return list(found.order_by("pk").values_list("kind", "version", "detail"))


def vias(caller: Caller) -> list[str]:
    found = Briefing.objects.in_project(caller.project).filter(agent__name=caller.agent)
    return list(found.order_by("pk").values_list("via", flat=True))


def told(caller: Caller) -> list[str]:
    """The texts of the messages to the caller's agent, the oldest first."""
    found = Delivery.objects.in_project(caller.project).filter(folded=caller.agent)
    return list(found.order_by("pk").values_list("message__text", flat=True))


@contextmanager
def recorded() -> Iterator[None]:
    """As after a commit and a second: what is written in the block is recorded."""
    with TestCase.captureOnCommitCallbacks(execute=True):
        yield
    WRITER.flush()


def written(caller: Caller) -> list[tuple[str, str, str]]:
    """Kind, version and session of all that the caller's agent wrote, as far as it is recorded."""
    found = Writing.objects.in_project(caller.project).filter(agent__name=caller.agent)
    return list(found.order_by("pk").values_list("kind", "version", "session_name"))
