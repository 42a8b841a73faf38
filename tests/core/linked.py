"""Objects for tests of links: decisions, memories and requests, and what follows from what."""

from itertools import pairwise
from typing import Any

from ctxhub.core.hub.links import list_chain, list_impact, list_reasons
from ctxhub.core.kit.caller import Caller
from memory.decisions.services import deprecate_decision, set_decision
from memory.memories.services import add_memory
from memory.relationships.services import relate
from messaging.messages.requests import finish_request
from tests.messaging.mail import send

Walked = list[tuple[Any, ...]]


def decide(caller: Caller, *keys: str) -> list[str]:
    """Set decisions; returns their refs."""
    for key in keys:
        set_decision(caller=caller, key=key, value=f"{key} it is")
    return [f"decision:{key}" for key in keys]


def remember(caller: Caller, *titles: str) -> list[str]:
    return [
        f"memory:{add_memory(caller=caller, title=title, content='x')['id']}" for title in titles or ("note",)
    ]


def rest_on(caller: Caller, *refs: str, relation: str = "depends_on") -> None:
    """Relate each of the refs to the one before it."""
    for target, source in pairwise(refs):
        relate(caller=caller, source=source, target=target, relation=relation)


def supersede(caller: Caller, old: str, new: str) -> None:
    deprecate_decision(caller=caller, key=old, superseded_by=new)


def done(asker: Caller, doer: Caller, *refs: str) -> str:
    """A request that was done with these results; returns its ref."""
    row_id = send(asker, "do it", type="request", to=[doer.agent])
    finish_request(caller=doer, message_id=row_id, result_refs=refs)
    return f"message:{row_id}"


def reasons(caller: Caller, ref: str) -> Walked:
    return _walked(list_reasons(caller.project_id, ref).objects())


def chain(caller: Caller, ref: str) -> Walked:
    """The id, the depth and the link of each row."""
    return _walked(list_chain(caller.project_id, ref).objects())


def impact(caller: Caller, ref: str) -> Walked:
    return _walked(list_impact(caller.project_id, ref).objects())


def _walked(rows: list[dict[str, Any]]) -> Walked:
    return [(row["id"], row["depth"], row["link"]) for row in rows]
