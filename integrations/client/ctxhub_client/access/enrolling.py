"""Asks a hub for tokens, for which a person types a code (RFC 8628)."""

from __future__ import annotations

import getpass
import os
import platform
import sys
import time
from time import sleep

from ctxhub_client.access.credentials import Credential
from ctxhub_client.access.requests import HubRefused, post
from ctxhub_client.texts import one_line, printable
from ctxhub_client.values import number_of, rows_of, text_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ctxhub_client.values import Json

LONGEST_SECONDS = 900
LONGEST_INTERVAL = 60


def enrol(hub: str, clients: list[str], agent: str, opens_page: bool) -> list[Credential]:
    """The tokens that were approved, one for each client. Raises HubRefused."""
    asked: Json = {"client": clients, "host": host_name()[:100], "user": user_name()[:100], "agent": agent}
    codes = post(hub, "device", asked)
    page = text_of(codes, "verification_uri")
    tell("Open {} and type the code:\n\n    {}\n".format(shown(page), shown(text_of(codes, "user_code"))))
    if opens_page and is_web(page):
        open_page(page)
    answer = wait_for(hub, codes)
    found = rows_of({"items": answer.get("tokens")})
    return [credential_of(each, answer) for each in found]


def wait_for(hub: str, codes: Json) -> Json:
    """Ask until somebody has decided."""
    interval = max(1.0, min(number_of(codes, "interval") or 5.0, LONGEST_INTERVAL))
    until = time.monotonic() + min(number_of(codes, "expires_in") or 600.0, LONGEST_SECONDS)
    tell("Waiting for somebody to approve it ...")
    while time.monotonic() < until:
        sleep(interval)
        try:
            return post(hub, "token", {"device_code": text_of(codes, "device_code")})
        except HubRefused as error:
            if error.error == "slow_down":
                interval = min(max(number_of(error.values, "interval"), interval + 5.0), LONGEST_INTERVAL)
            elif error.error not in ("authorization_pending", ""):
                raise
    raise HubRefused("Nobody has approved it in time. Run the command again for a new code.", "expired_token")


def credential_of(told: Json, answer: Json) -> Credential:
    return Credential(
        {
            "hub": text_of(answer, "hub"),
            "project": text_of(answer, "project"),
            "token": text_of(told, "access_token"),
            **{name: told.get(name) for name in ("agent", "client", "expires", "renews")},
        }
    )


def host_name() -> str:
    return one_line(platform.node() or "", 100)


def user_name() -> str:
    try:
        return one_line(getpass.getuser(), 100)
    except Exception:  # Neither a variable nor the system knows.
        return ""


def open_page(page: str) -> None:
    """In a browser, where there is one to see."""
    import webbrowser

    if os.name != "nt" and sys.platform != "darwin":
        if not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
            return
    try:
        webbrowser.open(page)
    except Exception as error:
        tell("The browser did not open: {}".format(error))


def is_web(page: str) -> bool:
    return page.startswith(("https://", "http://"))


def shown(text: str) -> str:
    return printable(text)[:500]


def tell(text: str) -> None:
    sys.stderr.write(text + "\n")
    sys.stderr.flush()
