"""Finds credentials by what is written before them: addresses, headers, logins and options of commands."""

import re

from ctxhub.core.text.lazy_patterns import lazy_pattern
from ctxhub.core.text.secret_search import FoundSecret, Search
from ctxhub.core.text.secret_values import (
    is_chosen_password,
    is_filler,
    is_login,
    is_scrambled,
    is_stand_in,
    is_strong,
    is_uuid,
)

# How far before an option its command may be, in characters.
BEFORE = 200

IN_URL = lazy_pattern(
    r"://(?:(?P<user>[^\s/:@\"'<>]{0,64}):(?P<password>[^\s/@\"'<>`]{4,128}+)@[\w\[$<{]"
    r"|hooks\.slack(?:-gov)?\.com/(?:services|workflows|triggers)/(?P<slack>[TE]\w{6,12}/[\w/]{6,34}/\w{16,}+)"
    r"|(?:\w{1,12}\.)?discord(?:app)?\.com/api/(?:v\d+/)?webhooks/(?P<discord>\d{16,21}/[\w-]{40,}+)"
    r"|[\w-]{1,63}\.webhook\.office\.com/webhookb2/(?P<teams>[\w@-]{36,80}/IncomingWebhook/\w{32}[\w/-]*+)"
    r"|hooks\.zapier\.com/hooks/catch/(?P<zapier>\d{4,10}/\w{6,16}+))"
)
# The rest is matched in lower case.
BEARER = lazy_pattern(r"bearer[ \t]{1,4}([\w.~+/-]{20,400}+)")
# "Authorization: Token ...", with any scheme or none, also as an entry of a dictionary or an argument.
AUTHORIZATION = lazy_pattern(
    r"zation(?<=authorization)[\"'`\]]{0,2}[ \t]{0,4}[:=,][ \t]{0,4}[\"'`]?(?!basic\b|bearer\b)"
    r"(?:[a-z][\w-]{1,24}[ \t]{1,4}(?:token=[\"']?)?)?([\w.~+/-]{20,400}+)"
)
LOGIN = lazy_pattern(r"basic[ \t]{1,4}([a-z0-9+/]{8,400}+={0,2})(?![\w+/=])")


# "curl -u ada:...", "the credentials are ada / ...".
# "mysql -u root -p...": the password follows its option without a blank.
OPTION = lazy_pattern(
    r"-(?=[up])(?:u(?:ser)?[ \t=]{1,2}[\"']?[\w.@-]{1,64}:(?P<login>[^\s\"'`:]{6,128}+)"
    r"|p(?<=[ \t]-p)[\"']?(?P<glued>[^\s\"'`;|&<>]{4,128}+))"
)
MYSQL = lazy_pattern(
    r"(?<![\w-])(?:mysql|mariadb)(?:-?(?:dump|admin|import|check|show|slap|upgrade|binlog))?(?:\.exe)?"
    r"[ \t](?:[^\n;|&]|(?<=\\)\r?\n)*$"
)
# Two patterns: letters at the beginning are searched for much faster than a choice.
TOLD_LOGINS = tuple(
    (
        literal,
        lazy_pattern(
            rf"{name}s?:?(?: (?:are|is|with|as|user)){{0,2}}[ \t]"
            r"[\"'`]?[\w.@-]{1,64} ?[/:] ?([^\s\"'`:/,;]{6,128}+)"
        ),
    )
    for literal, name in (("credential", "credential"), ("g", "g(?<=log)-?in"))
)


WEBHOOKS = {
    "slack": "Slack webhook",
    "discord": "Discord webhook",
    "teams": "Teams webhook",
    "zapier": "Zapier webhook",
}


def _read_url(match: re.Match[str], _: str) -> FoundSecret | None:
    if match.lastgroup in WEBHOOKS:
        is_example = is_filler(match[match.lastgroup])
        return None if is_example else FoundSecret(WEBHOOKS[match.lastgroup], *match.span(match.lastgroup))
    if match["password"] == match["user"] or is_stand_in(match["password"]):
        return None
    return FoundSecret("password in a URL", *match.span("password"))


def _read_bearer(match: re.Match[str], text: str) -> FoundSecret | None:
    start, end = match.span(1)
    value = text[start:end]
    return FoundSecret("bearer token", start, end) if is_scrambled(value) or is_uuid(value) else None


def _read_login(match: re.Match[str], text: str) -> FoundSecret | None:
    start, end = match.span(1)
    return FoundSecret("login of HTTP Basic", start, end) if is_login(text[start:end]) else None


def _read_plain_login(match: re.Match[str], text: str) -> FoundSecret | None:
    start, end = match.span(1)
    value = text[start:end].rstrip(".!?)")
    return FoundSecret("assigned secret", start, start + len(value)) if is_strong(value) else None


def _read_option(match: re.Match[str], text: str) -> FoundSecret | None:
    return _read_plain_login(match, text) if match["login"] else _read_glued(match, text)


def _read_glued(match: re.Match[str], text: str) -> FoundSecret | None:
    before = match.string[max(match.start() - BEFORE, 0) : match.start()]
    # The port of mysql is -P.
    if not ("mysql" in before or "mariadb" in before) or text[match.start() + 1] != "p":
        return None
    start, end = match.span("glued")
    is_secret = is_chosen_password(text[start:end]) and MYSQL.search(before)
    return FoundSecret("assigned secret", start, end) if is_secret else None


URLS = Search("://", IN_URL, _read_url)
# For lower-case text.
LOGINS: tuple[Search, ...] = (
    Search("bearer", BEARER, _read_bearer),
    Search("zation", AUTHORIZATION, _read_bearer),
    Search("basic", LOGIN, _read_login),
    Search("-", OPTION, _read_option),
    *(Search(name, login, _read_plain_login) for name, login in TOLD_LOGINS),
)
