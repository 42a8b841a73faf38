"""The HTTP request that is being answered, with its id. Over stdio there is none."""

import re
from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from secrets import token_hex
from typing import Any

ID_HEADER = "X-Request-ID"
ID = "request_id"
# As proxies make them: UUIDs, hexadecimal numbers, those of Amazon with "Root=1-...".
_PLAUSIBLE = re.compile(r"[A-Za-z0-9._:=+/@-]{1,128}")


@dataclass(slots=True, eq=False)
class Served:
    """A request to this process while it is answered."""

    id: str


at_work: ContextVar[Served | None] = ContextVar("ctxhub_served", default=None)


def id_of(sent: str) -> str:
    """The id that a proxy or a client has sent, if it is plausible, else a new one."""
    return sent if _PLAUSIBLE.fullmatch(sent) else token_hex(16)


def request_id() -> str:
    """The id of the request that is being answered; "" outside of one."""
    served = at_work.get()
    return served.id if served else ""


def identified(body: Mapping[str, Any]) -> dict[str, Any]:
    """The body of an error with the id of its request, by which the log has what belongs to it."""
    told = request_id()
    return {**body, ID: told} if told else dict(body)
