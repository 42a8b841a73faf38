"""Exclusive leases of others on files, and what is said of them."""

from __future__ import annotations

import re

from ctxhub_client.texts import NOTE, one_line
from ctxhub_client.values import dict_of, rows_of, text_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ctxhub_client.hub import Hub
    from ctxhub_client.values import Json

HELD = "Another agent has leased this. Work on something else until then, or ask it with `message` `send`."

HELD_BY_OWN = (
    "Another session of yours has leased this. Work on something else, or, if that session is over: {}"
)

RELEASE = "`file` `release` with lease_id {}."

PLAIN_NAME = re.compile(r"[\w.@+-]+$")

PLAIN_TIME = re.compile(r"until [\dTZ:-]+$")


def exclusive_leases(hub: Hub, check: Json | None, paths: list[str]) -> list[Json]:
    """Exclusive leases of others on the paths: by, why ("until 10:30Z") and text of each."""
    if check is not None:
        found = [row for row in rows_of(check.get("leases")) if is_exclusive(row)]
        if found or check.get("clear") is not False or "leases" not in dict_of(check, "omitted"):
            return found
    elif hub.status != 404:
        return []
    return [lease for path in paths for lease in leases_on(hub, path)]


def is_exclusive(row: Json) -> bool:
    return text_of(row, "text").startswith("exclusive:")


def leases_on(hub: Hub, path: str) -> list[Json]:
    """The same from the list of leases, for servers without `check`."""
    return [
        {
            "ref": "lease:{}".format(row.get("lease_id")),
            "by": row.get("by"),
            "why": "until {}Z".format(text_of(row, "expires")[11:16]),
            "text": "exclusive: {} ({})".format(path, text_of(row, "reason")),
        }
        for row in rows_of(hub.get("leases/", path=path, exact="true"))
        if row.get("exclusive") is True
        and not (is_own_lease(hub, row) and is_same(hub.session, text_of(row, "session")))
    ]


def is_own_lease(hub: Hub, row: Json) -> bool:
    """Whether the agent itself holds a lease, in whichever session."""
    return text_of(row, "by").casefold() == (hub.speaker or text_of(hub.known, "agent")).casefold()


def is_same(session: str, other: str) -> bool:
    """Whether two sessions of an agent are one holder: one within the other, or one unknown."""
    return (
        not session
        or not other
        or (other + "/").startswith(session + "/")
        or (session + "/").startswith(other + "/")
    )


def denial(hub: Hub, paths: list[str], leases: list[Json]) -> str:
    """What to do, and behind the note who holds what until when."""
    files = one_line(", ".join(paths[:3]))
    own = [text_of(lease, "ref")[6:] for lease in leases if is_own_lease(hub, lease)]
    ids = ", ".join(number for number in own if number.isdigit())
    head = HELD_BY_OWN.format(RELEASE.format(ids)) if ids and len(own) == len(leases) else HELD
    return "\n".join([head, NOTE, *("{}: {}".format(files, held_by(lease)) for lease in leases[:3])])


def held_by(lease: Json) -> str:
    """Who holds a lease until when: what others wrote is cut, and in quotes unless it is a plain name."""
    text = text_of(lease, "text")
    return "leased by {} {}{}".format(
        quoted(lease.get("by"), 60, unless=PLAIN_NAME),
        quoted(lease.get("why"), 40, unless=PLAIN_TIME),
        " ({})".format(quoted(text)) if text else "",
    )


def quoted(value: object, most: int = 200, unless: re.Pattern[str] | None = None) -> str:
    line = one_line(value, most)
    return line if unless and unless.match(line) else '"{}"'.format(line.replace('"', "'"))
