"""What is told at most once a day when a session starts: no token, a refused one, another program to get."""

from __future__ import annotations

import os

from ctxhub_client.texts import one_line
from ctxhub_client.version import RELEASE, version

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ctxhub_client.hub import Hub
    from ctxhub_client.install.program import Program

UNSET = (
    "ctxhub: CTXHUB_TOKEN is not set, so the hub is not asked. `{} connect {}` connects; `doctor` says more."
)
REFUSED = (
    "ctxhub: the hub at {} refuses the token, which has ended or was revoked: nothing is checked or recorded."
    " `{} connect {}` gets another one."
)
OTHER = "ctxhub: the hub serves version {} of its client, and this is {}: {}."


def token_notice(hub: Hub) -> str:
    """Why nothing that follows will work; "" if it was told, or all is well."""
    if hub.is_unset:
        return unset(hub) if hub.store.is_due("unset") else ""
    if hub.status == 401 and hub.store.is_due(hub.file):
        return refused(hub)
    return ""


def unset(hub: Hub) -> str:
    return UNSET.format(own_program().shown(), shown_address(hub))


def refused(hub: Hub) -> str:
    address = shown_address(hub)
    return REFUSED.format(address, own_program().shown(), address)


def version_notice(hub: Hub) -> str:
    """That the hub serves another program than this one, and which is not of an earlier release; else ""."""
    if hub.status != 200 or not hub.store.is_due("version-" + hub.file):
        return ""
    served, own = hub.served_version(), version()
    if served in ("", own) or number_of_release(served) < number_of_release(RELEASE):
        return ""
    return OTHER.format(one_line(served, 40), own, way_to_upgrade(own_program(), hub))


def own_program() -> Program:
    from ctxhub_client.install.program import Program

    return Program()


def way_to_upgrade(program: Program, hub: Hub) -> str:
    from ctxhub_client.install.unpacking import data_folder

    if program.path.startswith(os.path.realpath(data_folder()) + os.sep):
        return "`{} upgrade` gets it".format(program.shown())
    if program.is_archive:
        return "replace {} by {}/connect/ctxhub.pyz".format(program.path, shown_address(hub))
    return "{} is not the one that `upgrade` replaces: renew it as you got it".format(program.path)


def shown_address(hub: Hub) -> str:
    """Without what may be a password, and as the hub is served."""
    scheme, _, rest = hub.url.partition("://")
    return one_line("{}://{}".format(scheme, rest.rpartition("@")[2]).rstrip("/"), 200)


def number_of_release(told: str) -> tuple[int, ...]:
    """0.1.0+1a2b3c4d as (0, 1, 0)."""
    parts = told.partition("+")[0].split(".")
    return tuple(int(part) if part.isdigit() else 0 for part in parts)
