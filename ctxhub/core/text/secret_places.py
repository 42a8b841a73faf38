"""Finds credentials where programs keep them: in their files, in headers, in signed addresses.

All of these places end in an equals sign or a colon, and each is searched for once. For lower-case text.
"""

import re
from collections.abc import Callable

from ctxhub.core.text import secret_values as values
from ctxhub.core.text.lazy_patterns import lazy_pattern
from ctxhub.core.text.secret_search import FoundSecret, Search

# -- After an equals sign --------------------------------------------------------------------------

# `_authToken=` of npm; the signature of an address, of a request to AWS; NAME_KEY= with a uuid.
AFTER_EQUALS = lazy_pattern(
    r"=(?<=[eghny]=)(?:"
    r"(?<=_auth=)(?P<npm>)|(?<=_authtoken=)(?P<npm_token>)"
    r"|(?<=[?&;\s\"']sig=)(?P<sas>)(?=[\w%+/-]{40})"
    r"|(?<=signature=)(?P<signature>)(?=[0-9a-f]{64})"
    r"|(?<=_key=)(?P<key>)(?=[\"']?[0-9a-f]{8}-[0-9a-f]{4}-)"
    r")"
)
UNQUOTED = lazy_pattern(r"[^\s\"'`&;,]{8,512}")
# Keys that name a thing.
NAMING_KEYS = lazy_pattern(
    r"(?:idempotency|idem|primary|partition|foreign|cache|sort|request|public|unique|object|row|routing|project"
    r"|correlation|dedup\w*|group|session|instance|hash|shard|range|test|site|host|issue|record|node|product"
    r"|license)_key=$"
)


def _read_after_equals(match: re.Match[str], text: str) -> FoundSecret | None:
    start = match.end() + (text[match.end() : match.end() + 1] in ('"', "'"))
    found = UNQUOTED.match(text, start)
    if not found or values.is_stand_in(found[0].lstrip("%")):
        return None
    return _EQUALS[str(match.lastgroup)](match, found[0], start)


def _npm(_: re.Match[str], value: str, start: int) -> FoundSecret | None:
    return FoundSecret("npm token", start, start + len(value)) if values.is_mixed(value) else None


def _sas(_: re.Match[str], value: str, start: int) -> FoundSecret | None:
    end = start + len(value)
    return FoundSecret("shared access signature", start, end) if values.is_mixed(value) else None


def _signature(_: re.Match[str], value: str, start: int) -> FoundSecret:
    return FoundSecret("signature of a request", start, start + len(value))


def _key(match: re.Match[str], value: str, start: int) -> FoundSecret | None:
    before = match.string[max(match.start() - 40, 0) : match.end()]
    if NAMING_KEYS.search(before) or not values.is_uuid(value):
        return None
    return FoundSecret("assigned secret", start, start + len(value))


_EQUALS: dict[str, Callable[[re.Match[str], str, int], FoundSecret | None]] = {
    "npm": _npm,
    "npm_token": _npm,
    "sas": _sas,
    "signature": _signature,
    "key": _key,
}


# -- After a colon ---------------------------------------------------------------------------------

_USER = r"[\w.@+-]{1,64}"
# A cookie, Docker's login, a line of .pgpass, of htpasswd and of shadow, the private part of a PuTTY key.
AFTER_COLON = lazy_pattern(
    r":(?:"
    r"(?<=[ieh][es\"']:)(?:"
    r"(?:(?<=cookie:)|(?<=cookie[\"']:))(?P<cookie>)|(?<=\"auth\":)(?P<docker>)|(?<=private-lines:)(?P<putty>))"
    r"|(?=[0-9*{$])(?:(?=\$(?:apr1|2[abxy]|[1567y]|argon2id?|md5)\$[^\s:\"']{20})(?P<hash>)"
    r"|(?=\{s?sha\}[a-z0-9+/]{27})(?P<sha>)"
    r"|(?=(?:[0-9]{4,5}|\*):[\w.*-]{1,63}:[\w.*-]{1,63}:[^\s:])(?P<pgpass>))"
    r")"
)


def _read_after_colon(match: re.Match[str], text: str) -> FoundSecret | None:
    return _COLON[str(match.lastgroup)](match.end(), text)


# A line begins, or one that is written out: \\n.
_LINE = r"(?:^|(?<=[\s\"'`]))"
HASHED = lazy_pattern(r"(?:\$\S{1,16}?\$[^\s:\"'`,]{20,400}|\{s?sha\}[a-z0-9+/]{27,80}={0,2})", re.IGNORECASE)
USER_BEFORE = lazy_pattern(rf"(?:^|[\s\"'`>]|\\n){_USER}:$")
PGPASS = lazy_pattern(
    r"([0-9]{4,5}|\*):[\w.*-]{1,63}:[\w.*-]{1,63}:((?:[^\s:\"'`\\]|\\[:\\]){4,128})(?![^\s\"'`\\])"
)
HOST_BEFORE = lazy_pattern(r"(?:^|[\s\"'`>]|\\n)(?:\*|[\w.-]{1,255}):$")
DOCKER_LOGIN = lazy_pattern(r"[ \t\r\n]{0,8}\"([A-Za-z0-9+/]{8,2000}={0,2})\"")
PRIVATE_LINES = lazy_pattern(
    r"[ \t]{0,4}[0-9]{1,4}(?:\r?\n|\\r|\\n){1,2}[A-Za-z0-9+/]{16,}={0,2}"
    r"(?:(?:\r?\n|\\r|\\n){1,2}[A-Za-z0-9+/]{4,64}={0,2}(?![\w:+-]))*"
    r"(?:(?:\r?\n|\\r|\\n){1,2}Private-MAC: [0-9a-f]{1,64})?"
)
COOKIE = lazy_pattern(r"([\w.-]{1,64})=([^\s;,\"'`]{16,512})")
COOKIE_LENGTH = 600
# At the next header, too: a long line of them is read once.
END_OF_COOKIES = lazy_pattern(r"\n|cookie[\"']?:", re.IGNORECASE)
OF_LOGIN = lazy_pattern(r"sess|sid$|auth|token|jwt|login|remember|ticket|credential", re.IGNORECASE)
OF_FORM = lazy_pattern(r"[cx]srf", re.IGNORECASE)
# The usual ports of PostgreSQL and its poolers: nothing else is written so.
PORTS = ("5432", "5433", "5434", "6432", "6543", "*")


def _cookie(start: int, text: str) -> FoundSecret | None:
    line = END_OF_COOKIES.split(text[start : start + COOKIE_LENGTH], maxsplit=1)[0]
    for match in COOKIE.finditer(line):
        name, value = match.groups()
        if not OF_LOGIN.search(name) or OF_FORM.search(name) or values.is_stand_in(value):
            continue
        if values.is_uuid(value) or (values.is_mixed(value) and not values.is_wordy(value)):
            return FoundSecret("session of a cookie", start + match.start(2), start + match.end(2))
    return None


def _docker(start: int, text: str) -> FoundSecret | None:
    match = DOCKER_LOGIN.match(text, start)
    return FoundSecret("login of HTTP Basic", *match.span(1)) if match and values.is_login(match[1]) else None


def _putty(start: int, text: str) -> FoundSecret | None:
    match = PRIVATE_LINES.match(text, start)
    return FoundSecret("PuTTY key", start - len("Private-Lines:"), match.end()) if match else None


def _hashed(start: int, text: str) -> FoundSecret | None:
    match = HASHED.match(text, start)
    if not match or values.is_filler(match[0]) or not USER_BEFORE.search(text[max(start - 70, 0) : start]):
        return None
    return FoundSecret("password hash", start, match.end())


def _pgpass(start: int, text: str) -> FoundSecret | None:
    match = PGPASS.match(text, start)
    if not match or not HOST_BEFORE.search(text[max(start - 260, 0) : start]):
        return None
    value = match[2]
    is_password = values.is_chosen_password if match[1] in PORTS else values.is_strong
    return FoundSecret("assigned secret", *match.span(2)) if is_password(value) else None


_COLON: dict[str, Callable[[int, str], FoundSecret | None]] = {
    "cookie": _cookie,
    "docker": _docker,
    "putty": _putty,
    "hash": _hashed,
    "sha": _hashed,
    "pgpass": _pgpass,
}

PLACES = (Search("=", AFTER_EQUALS, _read_after_equals), Search(":", AFTER_COLON, _read_after_colon))
