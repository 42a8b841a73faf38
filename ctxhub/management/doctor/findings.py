"""What a check has found, in the words of the client's own `doctor`."""

from urllib.parse import urlsplit

from django.conf import settings

from ctxhub.core.kit.frozen import frozen

OK, NOTE, WARNING, PROBLEM, UNKNOWN = "ok", "note", "warning", "problem", "unknown"
THIS_MACHINE = {"localhost", "127.0.0.1", "::1"}


@frozen
class Finding:
    """`state`: ok; note, a choice that may be meant; warning, works with less; problem, must be mended;
    unknown, could not be looked at. `fix`: what mends it, or how it can be looked at.
    """

    state: str
    text: str
    fix: str = ""


def ok(text: str) -> Finding:
    return Finding(OK, text)


def is_for_others() -> bool:
    """Whether the hub has an address by which other machines reach it."""
    return urlsplit(settings.BASE_URL).hostname not in THIS_MACHINE


def worse(is_bad: bool) -> str:
    """What is a warning on a hub of one's own may be a problem on one of many."""
    return PROBLEM if is_bad else WARNING
