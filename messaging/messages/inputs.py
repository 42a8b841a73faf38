"""Validates the input of message operations. Runs before the write lock."""

import re
from collections.abc import Collection, Sequence
from datetime import timedelta
from typing import Annotated, Any, Unpack

from typing_extensions import TypedDict

from ctxhub.core.accounts.named_agents import means_everyone, means_people, names_meant
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import InvalidInput, shown
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.inputs import MAX_LIMIT, clean_agent, clean_choice, clean_json, clean_names, clean_text
from ctxhub.core.kit.limits import WORD
from ctxhub.core.kit.priority import Priority
from ctxhub.toolbox.argument_types import About, Agents, Default, IdOf, Json, Number, Says, Text, Word
from messaging.models import MessageType
from messaging.questions.choices import Choice, Choices, clean_choices

LONGEST_ACK = timedelta(days=30)
LARGEST_ID = 2**63 - 1

_SPAN = re.compile(r"(\d{1,6})\s*([smhdw])", re.ASCII)
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


TYPES = {"enum": MessageType.labels}  # In the order of their numbers.
TypeWord = Annotated[
    Word,
    Says("info|request|warning|decision"),
    About("Left out: info. A request is what one agent claims.", TYPES),
]
PriorityWord = Annotated[Word, Says("low|medium|high|critical")]
Id = Annotated[Number, IdOf("message")]


class MessageArguments(TypedDict, total=False):
    """The arguments of `send` besides the text."""

    to: Annotated[Agents, About("Left out: everyone; in a reply, who wrote.", WORD)] | None
    type: TypeWord
    priority: Annotated[PriorityWord, About("Left out: medium.")]
    payload: Annotated[Json, About("Any JSON.")] | None
    choices: Choices | None
    choice: Choice | None
    reply_to: Annotated[Id, About("The id of what it answers.")] | None
    ack: Annotated[bool, Default(False), About("Each recipient is to acknowledge it.")]
    ack_within: Annotated[Text, About('"2h": until when. Implies ack.')] | None


@frozen
class MessageFields:
    """Validated fields. `to`: names without the sender's own; None: not given, (): everyone, unless it goes
    `to_people`.

    `choice`: as it was given, then one of the choices of the message it answers, "" for none.
    `thread`: the one that it joins though it is no reply.
    """

    text: str
    to: Sequence[str] | None
    type: MessageType
    priority: Priority
    payload: Any
    reply_to: int | None
    choices: Sequence[str] = ()
    choice: str | None = None
    ack: bool = False
    ack_within: timedelta | None = None
    thread: int | None = None
    to_people: bool = False


def clean_message(
    caller: Caller, *, text: str = "", known: Collection[str] | None = None, **rest: Unpack[MessageArguments]
) -> MessageFields:
    """Validate everything that needs no database. Raises InvalidInput.

    `known`: the names of agents among those that `to` may mean, case-folded; None: each entry is a name.
    """
    payload, reply_to, choice = rest.get("payload"), rest.get("reply_to"), rest.get("choice")
    within = clean_span(value, "ack_within") if (value := rest.get("ack_within")) else None
    to, to_people = _clean_recipients(rest.get("to"), known, caller)
    return MessageFields(
        text=_clean_text(text if choice is None else text or choice, caller),
        to=to,
        to_people=to_people,
        type=clean_choice(rest.get("type", MessageType.INFO), MessageType, "type"),
        priority=clean_choice(rest.get("priority", Priority.MEDIUM), Priority, "priority"),
        payload=None if payload is None else clean_json(payload, "payload", caller),
        reply_to=None if reply_to is None else clean_id(reply_to, "reply_to"),
        choices=clean_choices(rest.get("choices"), caller),
        choice=_clean_choice(choice, reply_to, caller),
        ack=rest.get("ack", False) or within is not None,
        ack_within=within,
    )


def clean_id(value: int, name: str) -> int:
    if not 0 < value <= LARGEST_ID:
        raise InvalidInput(f"{name}: {shown(value)} is not the id of a message.")
    return value


def clean_ids(value: Sequence[int], name: str = "ids") -> list[int]:
    """Distinct message ids: at least one, at most MAX_LIMIT. Raises InvalidInput."""
    if not value:
        raise InvalidInput(f"{name} is empty.", missing=[name])
    if len(value) > MAX_LIMIT:
        raise InvalidInput(f"{name} has {len(value):,} entries; the limit is {MAX_LIMIT}.")
    return list(dict.fromkeys(clean_id(one, f"{name}[{index}]") for index, one in enumerate(value)))


def clean_span(value: str, name: str) -> timedelta:
    """Parse a duration ("30m", "2h"): at least a second, at most 30 days. Raises InvalidInput."""
    found = _SPAN.fullmatch(value.strip())
    span = timedelta(**{_UNITS[found[2]]: int(found[1])}) if found else timedelta()
    if not timedelta() < span <= LONGEST_ACK:
        raise InvalidInput(
            f"{name}: {shown(value)} is not a length of time.",
            hint='Use "30m", "2h" or "3d"; at most 30 days.',
        )
    return span


def _clean_choice(choice: str | None, reply_to: int | None, caller: Caller) -> str | None:
    if choice is None or reply_to is not None:
        return None if choice is None else clean_text(choice, "choice", caller)
    raise InvalidInput(
        "choice answers a message: name it in reply_to.",
        missing=["reply_to"],
        hint="To offer answers, give `choices`.",
    )


def _clean_text(value: str, caller: Caller) -> str:
    text = clean_text(value, "text", caller)
    if not text.strip():
        raise InvalidInput("text must not be blank.")
    return text


def _clean_recipients(
    value: Sequence[str] | None, known: Collection[str] | None, caller: Caller
) -> tuple[Sequence[str] | None, bool]:
    """The names, and whether it goes to the people, too."""
    if value is None:
        return None, False
    meant = value if known is None else _meant(value, known)
    named = [name for name in meant if known is None or not means_people(name, known)]
    to_people = len(named) < len(meant)
    meant = named
    names = [clean_agent(name, f"to[{index}]") for index, name in enumerate(clean_names(meant, "to"))]
    others = [name for name in names if name.casefold() != caller.agent.casefold()]
    if names and not others and not to_people:
        raise InvalidInput(
            "to names nobody but you, and your own messages are not in your inbox.",
            hint="Name another agent, or leave `to` out for everyone.",
        )
    return tuple(others), to_people


def _meant(value: Sequence[str], known: Collection[str]) -> list[str]:
    names = names_meant(value, known, "to")
    for name in names:
        if means_everyone(name, known):
            raise InvalidInput(
                f"to: no agent is called {shown(name)}.",
                hint="Leave `to` out for everyone; in a reply, `to` is [] for everyone.",
            )
    return names
