"""What leases tell a person on the first page: holders that are silent, and holders of very many."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ctxhub.core.admin.needs import sources
from ctxhub.core.admin.needs.sources import (
    SHOWN,
    Ago,
    Button,
    Files,
    Found,
    Link,
    Name,
    Need,
    Part,
    Reader,
    Since,
)
from ctxhub.core.kit.caller import ADMIN
from ctxhub.core.kit.priority import Priority
from ctxhub.core.text.plurals import counted, often
from tracking.selectors.leases import SILENT_AFTER
from tracking.selectors.needs import (
    RELEASED_AT_ONCE,
    HeldLease,
    find_full_holders,
    find_silent_holders,
    live_leases_of,
)
from tracking.services.granting import MOST_LIVE

if TYPE_CHECKING:
    from tracking.sql.needs import Holder

LIST = "tracking_lease"
NEARLY = 0.9


# -- Silent holders --------------------------------------------------------------------------------


def silent_holders(reader: Reader) -> Found:
    holders = find_silent_holders(reader.project_ids, SILENT_AFTER, at_most=SHOWN)
    held = live_leases_of([each.agent_id for each in holders], limit_of_each=RELEASED_AT_ONCE)
    return Found(
        [_silent_need(each, held[each.agent_id], reader) for each in holders if held.get(each.agent_id)],
        holders[0].holders if holders else 0,
        "leaseholders",
        "that fell silent",
        reader.list_url(LIST, state="live"),
    )


def _silent_need(holder: "Holder", leases: Sequence[HeldLease], reader: Reader) -> Need:
    ids = ",".join(str(lease_id) for lease_id, _ in leases)
    release = Button("Release", reader.button_url(f"{LIST}_release", holder.project_id), "leases", ids, ADMIN)
    return Need(
        f"silent-{holder.agent_id}",
        holder.project_id,
        Priority.HIGH if holder.refused else Priority.MEDIUM,
        "lock_clock",
        _silent(holder, leases[0][1]),
        holder.seen_at,
        [Link("Open", _url(holder, reader)), release],
    )


def _silent(holder: "Holder", path: str) -> list[Part]:
    others = f" and {counted(holder.leases - 1, 'more leases')}" if holder.leases > 1 else ""
    refused = f"; others were refused {often(holder.refused)}" if holder.refused else ""
    return [
        Name(holder.name, holder.agent_id),
        " holds ",
        Files(path),
        others,
        " and is silent ",
        Since(holder.seen_at),
        refused,
    ]


def _url(holder: "Holder", reader: Reader) -> str:
    return reader.list_url(LIST, holder.project_id, state="live", agent=holder.name)


# -- Holders of very many --------------------------------------------------------------------------


def full_holders(reader: Reader) -> Found:
    holders = find_full_holders(reader.project_ids, at_least=round(MOST_LIVE * NEARLY), at_most=SHOWN)
    return Found(
        [_full_need(each, reader) for each in holders],
        holders[0].holders if holders else 0,
        "limits",
        "of leases nearly reached",
        reader.list_url(LIST, state="live"),
    )


def _full_need(holder: "Holder", reader: Reader) -> Need:
    is_full = holder.leases >= MOST_LIVE
    return Need(
        f"full-{holder.agent_id}",
        holder.project_id,
        Priority.HIGH if is_full else Priority.MEDIUM,
        "speed",
        [
            Name(holder.name, holder.agent_id),
            f" holds {holder.leases} leases of at most {MOST_LIVE}, the last one taken ",
            Ago(holder.seen_at),
        ],
        holder.seen_at,
        [Link("Open", _url(holder, reader))],
    )


sources.sources += [silent_holders, full_holders]
