"""The settings: those of no effect, the secret key, hosts and base URL, cookies, headers of a proxy."""

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

from django.conf import settings
from django.http.request import validate_host

from ctxhub import env
from ctxhub.core.kit.restored import key_mark
from ctxhub.core.records.models import HubRecord
from ctxhub.core.records.services import find_record
from ctxhub.management.doctor.findings import PROBLEM, WARNING, Finding, is_for_others, ok, worse
from ctxhub.management.unread_variables import unread_variables


def check_settings() -> Iterator[Finding]:
    """Wrong values are refused before any command runs; here is what has no effect, or the wrong one."""
    if settings.DEBUG:
        text = "CTXHUB_DEBUG is on: pages of errors show settings and code"
        yield Finding(worse(is_for_others()), text, "Leave it out of .env, and restart the hub.")
    unread = list(unread_variables())
    for sentence in unread:
        yield Finding(WARNING, sentence.rstrip("."), "Mend its name, or remove it.")
    if not settings.DEBUG and not unread:
        yield ok("every variable is read")


def check_secret_key() -> Iterator[Finding]:
    """Without making one."""
    if not env.text("CTXHUB_SECRET_KEY") and not Path(settings.KEY_FILE).exists():
        text = f"there is no secret key: {settings.KEY_FILE} is missing"
        fix = "Restore it from a backup, or tokens and sign-ins end; a new hub makes it: manage.py setup"
        yield Finding(PROBLEM, text, fix)
        return
    str(settings.SECRET_KEY)  # Raises BadVariable for a weak one.
    if _is_of_another_restore():
        text = "the database was restored with another secret key: no token of it is known"
        fix = (
            "Unset CTXHUB_SECRET_KEY if it is the old one, or name that of the backup in it; restart the hub."
        )
        yield Finding(PROBLEM, text, fix)
    else:
        place = "CTXHUB_SECRET_KEY" if env.text("CTXHUB_SECRET_KEY") else str(settings.KEY_FILE)
        yield ok(f"the key of {place} is strong enough")


def _is_of_another_restore() -> bool:
    record = find_record(HubRecord.Kind.RESTORE)
    keys = (str(settings.SECRET_KEY), *settings.SECRET_KEY_FALLBACKS)
    return record is not None and record.details.get("key", "") not in ("", *map(key_mark, keys))


def check_hosts() -> Iterator[Finding]:
    host = urlsplit(settings.BASE_URL).hostname or ""
    named = f"[{host}]" if ":" in host else host
    listed = ", ".join(settings.ALLOWED_HOSTS)
    if not validate_host(named, settings.ALLOWED_HOSTS):
        text = f"CTXHUB_BASE_URL names {host}, and CTXHUB_ALLOWED_HOSTS does not: its requests get 400"
        yield Finding(PROBLEM, text, f"CTXHUB_ALLOWED_HOSTS={','.join([*settings.ALLOWED_HOSTS, named])}")
    elif "*" in settings.ALLOWED_HOSTS:
        text = "CTXHUB_ALLOWED_HOSTS takes any host: links may name a stranger's"
        yield Finding(worse(is_for_others()), text, f"CTXHUB_ALLOWED_HOSTS={named}")
    else:
        yield ok(f"{settings.BASE_URL} is among the hosts {listed}")


def check_tls() -> Iterator[Finding]:
    """Whether cookies and tokens are encrypted on their way, and cookies are for TLS alone."""
    if settings.HTTPS:
        yield ok("cookies are sent over TLS alone")
    elif is_for_others():
        text = f"{settings.BASE_URL} has no TLS: tokens, passwords and cookies can be read on their way"
        fix = "Put a proxy with TLS in front, and set CTXHUB_BASE_URL=https://...: docs/team-server.md"
        yield Finding(PROBLEM, text, fix)
    else:
        yield ok(f"{settings.BASE_URL} is of this machine alone, and needs no TLS")


def check_proxy() -> Iterator[Finding]:
    """The hub itself has no TLS, so https needs a proxy, whose headers say who asks and by which scheme."""
    if settings.HTTPS and not settings.BEHIND_PROXY:
        text = "https comes from a proxy whose headers are not believed: all requests seem to be its own"
        fix = "CTXHUB_BEHIND_PROXY=true, with a proxy that sets X-Forwarded-For and X-Forwarded-Proto."
        yield Finding(PROBLEM, text, fix)
    elif settings.BEHIND_PROXY and not settings.HTTPS:
        text = "headers of a proxy are believed, and CTXHUB_BASE_URL is no https: is there a proxy at all?"
        yield Finding(WARNING, text, "Set CTXHUB_BASE_URL=https://..., or leave CTXHUB_BEHIND_PROXY out.")
    else:
        yield ok(f"headers of a proxy are {'believed' if settings.BEHIND_PROXY else 'not believed'}")
