"""The hub that runs: what answers at its address, its clock, and whether its processes are of this code."""

import json
import os
import re
import socket
import ssl
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any

from django.conf import settings

from ctxhub import env
from ctxhub.core.kit import clock
from ctxhub.management.doctor.findings import PROBLEM, UNKNOWN, WARNING, Finding, ok
from ctxhub.management.doctor.stored import SKEW
from ctxhub.management.holders import PROCESSES, find_holders

SECONDS = 5
SOURCES = ("ctxhub", "memory", "messaging", "tracking", "sessions")
_PROCESS = re.compile(r"process (\d+)(?: of ([^,\s]+))?")


def check_hub() -> Iterator[Finding]:
    """As others ask it: by the base URL, through the proxy."""
    url = f"{settings.BASE_URL}/readyz"
    try:
        with urllib.request.urlopen(url, timeout=SECONDS) as answer:  # noqa: S310  # http or https: see env.origin.
            status, text, date = answer.status, answer.read(10_000), answer.headers.get("Date")
    except urllib.error.HTTPError as error:
        status, text, date = error.code, error.read(10_000), error.headers.get("Date")
    except OSError as error:
        yield _unreachable(url, getattr(error, "reason", error))
        return
    yield _answered(url, status, _read(text))
    if date and abs(parsedate_to_datetime(date) - clock.now()) > SKEW:
        text_of_clock = f"the clock of {settings.BASE_URL} says {date}, and this machine's another time"
        yield Finding(PROBLEM, text_of_clock, "Let both set their clocks: timedatectl set-ntp true")


def _unreachable(url: str, reason: object) -> Finding:
    if isinstance(reason, ssl.SSLError):
        fix = "Renew the certificate of the proxy, for this name and with its whole chain."
        return Finding(PROBLEM, f"{url}: TLS fails: {reason}", fix)
    fix = "Where it should run: systemctl status ctxhub, and is CTXHUB_BASE_URL its address?"
    return Finding(UNKNOWN, f"nothing answers at {url} ({reason}): the running hub was not asked", fix)


def _read(text: bytes) -> dict[str, Any]:
    with suppress(ValueError):
        found = json.loads(text)
        if isinstance(found, dict):
            return found
    return {}


def _answered(url: str, status: int, told: dict[str, Any]) -> Finding:
    if "status" not in told:
        fix = (
            "Let CTXHUB_BASE_URL be the address of the hub, and the proxy pass all paths and the Host header."
        )
        return Finding(PROBLEM, f"{url} answers {status}, and not as a hub does", fix)
    wrong = [f"{name}: {value}" for name, value in told.items() if name != "status" and value is not True]
    if wrong:
        fix = "Its log says more; after an upgrade, restart it."
        return Finding(PROBLEM, f"{url} is not ready: {', '.join(wrong)}", fix)
    return ok(f"{url} is ready")


def check_workers() -> Iterator[Finding]:
    """Processes that have the database open, and were started before the code changed, run older code."""
    holders = find_holders()
    changed = newest_source()
    late, unseen = [], []
    for holder in holders:
        started = _started_at(holder)
        if started is None:
            unseen.append(holder)
        elif started < changed:
            late.append(holder)
    for holder in late:
        text = f"{holder} was started before this code changed ({clock.format_time(_moment(changed))})"
        yield Finding(WARNING, text, "Restart it: systemctl restart ctxhub, or the client's window.")
    for holder in unseen:
        yield Finding(
            UNKNOWN, f"since when {holder} runs cannot be seen from here", "Run doctor where it runs."
        )
    if not PROCESSES.is_dir() and not holders:
        yield Finding(UNKNOWN, "other processes are seen on Linux alone", "Restart them after an upgrade.")
    elif not late and not unseen:
        yield ok(f"{len(holders)} other processes have the database open, with this code")


def newest_source() -> float:
    """When a module was last changed, in seconds since 1970."""
    return max(file.stat().st_mtime for app in SOURCES for file in (env.ROOT / app).rglob("*.py"))


def _started_at(holder: str) -> float | None:
    found = _PROCESS.search(holder)
    if not found or (found[2] and found[2] != socket.gethostname()):
        return None
    with suppress(OSError, ValueError, IndexError):
        ticks = (PROCESSES / found[1] / "stat").read_text().rpartition(")")[2].split()[19]
        uptime = float(Path(PROCESSES / "uptime").read_text().split()[0])
        return time.time() - uptime + int(ticks) / os.sysconf("SC_CLK_TCK")
    return None


def _moment(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, tz=clock.now().tzinfo)
