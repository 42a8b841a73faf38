"""Finds text that looks like a credential, so that nobody stores one by accident.

Precise rather than complete: keys with the prefix of their issuer, and values where credentials are written
(a URL, a bearer header, an assignment), unless they look like examples. Each pattern begins with a rare
letter or word and looks ahead by a bounded length: ordinary texts are fast, hostile ones take linear time.
"""

import re
import string
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import field, replace
from functools import partial

from ctxhub.core.kit.frozen import frozen
from ctxhub.core.text.lazy_patterns import lazy_pattern
from ctxhub.core.text.secret_assignments import FOREIGN_NAMES, NAMES, Judge, is_password, read_assigned
from ctxhub.core.text.secret_spans import whole_span
from ctxhub.core.text.secret_values import is_chosen_password, is_generated, is_login, is_stand_in, is_strong

# The maximum length of a credential, and of the context before it that identifies it, in characters.
LONGEST, BEFORE = 10_240, 200
MASKING_PASSES = 4


@frozen
class Secret:
    """A credential found: its kind as errors name it ("GitHub token"), and its span in the text."""

    kind: str
    start: int
    end: int = field(default=0, compare=False)


def find_secret(text: str) -> Secret | None:
    """Return the first credential in a text, or None."""
    found = [
        next(_read_from(match, text, read), None)
        for pattern, searched, read in _searches(text)
        if (match := pattern.search(searched))
    ]
    return min(filter(None, found), key=lambda secret: secret.start, default=None)


def mask_secrets(text: str) -> tuple[str, int]:
    """Replace each whole credential by `[credential: KIND]`; returns the text and the number of credentials.

    A mask may make a value beside it look assigned ("password [credential: X] is Y"): such a value is masked
    as well, so that `find_secret` finds nothing in the result.
    """
    count = 0
    for _ in range(MASKING_PASSES):
        if not (found := _secrets(text)):
            break
        text, count = _masked(text, found), count + len(found)
    return text, count


def _masked(text: str, found: Iterable[Secret]) -> str:
    parts, end = [], 0
    for secret in found:
        parts += [text[end : secret.start], f"[credential: {secret.kind}]"]
        end = secret.end
    return "".join([*parts, text[end:]])


def find_joined_secret(*pieces: str) -> Secret | None:
    """Return the first credential that only the joined pieces contain, or None.

    Searches only around the seams, as far as a credential can reach: the cost does not grow with the pieces.
    """
    seams = range(1, len(pieces))
    found = (_find_at_seam("".join(pieces[:seam]), "".join(pieces[seam:])) for seam in seams)
    return next(filter(None, found), None)


def _find_at_seam(before: str, after: str) -> Secret | None:
    left, right = before[-LONGEST:], after[:LONGEST]
    left = left[max(len(left.rstrip(UNBROKEN)) - BEFORE, 0) :]
    right = right[: len(right) - len(right.lstrip(UNBROKEN)) + BEFORE]
    if not find_secret(left + right):
        return None
    known = {secret.start for secret in _secrets(left)}
    known |= {len(left) + secret.start for secret in _secrets(right)}
    offset = len(before) - len(left)
    joined = (secret for secret in _secrets(left + right) if secret.start not in known)
    return next((Secret(found.kind, found.start + offset, found.end + offset) for found in joined), None)


def _secrets(text: str) -> list[Secret]:
    """Return all credentials in a text with their whole spans, by position; overlapping ones are one."""
    found = [
        secret
        for pattern, searched, read in _searches(text)
        if (match := pattern.search(searched))
        for secret in _read_from(match, text, read)
    ]
    merged: list[Secret] = []
    for secret in sorted(found, key=lambda secret: secret.start):
        if merged and secret.end <= merged[-1].end:
            continue
        start, end = whole_span(secret.kind, secret.start, secret.end, text)
        if merged and start < merged[-1].end:
            merged[-1] = replace(merged[-1], end=end)
        else:
            merged.append(Secret(secret.kind, start, end))
    return merged


# Reads a match as a credential. Positions in the text that was searched are those in the text as written.
Read = Callable[[re.Match[str], str], Secret | None]
Search = tuple[re.Pattern[str], str, Read]


def _searches(text: str) -> list[Search]:
    """Return the patterns, the text that each one searches, and what reads its matches."""
    lowered = _lowered(text)
    searches: list[Search] = [(keys, text, _read_key) for keys in KEY_PATTERNS]
    searches.append((IN_URL, text, _read_url))
    searches += [(name, lowered, read) for name, read in IN_LOWERED]
    if not text.isascii():
        searches += [
            (name, text, _read_password)
            for letters, first_byte, name in FOREIGN_NAMES
            if first_byte in lowered and letters in text
        ]
    return searches


def _read_from(match: re.Match[str] | None, text: str, read: Read) -> Iterator[Secret]:
    """Yield the credentials among a match and the following matches."""
    while match:
        if secret := read(match, text):
            yield secret
        match = match.re.search(match.string, secret.end if secret else match.end())


def _lowered(text: str) -> str:
    """Map each character to one: ASCII to lower case, others to the first byte of their UTF-8."""
    if text.isascii():
        return text.lower()
    return text.encode("utf-8", "surrogatepass").translate(LOWERED, CONTINUING).decode("latin-1")


UNBROKEN = string.ascii_letters + string.digits + "_.~+/=-"
LOWERED = bytes(range(256)).lower()
CONTINUING = bytes(range(0x80, 0xC0))

# -- Keys by their issuers' prefixes ---------------------------------------------------------------

# (kind, prefix, body). The prefix begins a word and has a fixed width. The search is for its last character,
# so prefix and body are split after a rare one.
KEYS = (
    ("ctxhub token", "ctx_", r"(?=[^A-Z\s]{0,39}[A-Z])(?=[^a-z\s]{0,39}[a-z])[\w-]{40}"),
    ("GitHub token", "gh[opusr]_", r"[A-Za-z0-9]{36}"),
    ("GitHub token", "github_pat_", r"[A-Za-z0-9]{22}_[A-Za-z0-9]{59}"),
    ("GitLab token", "gl[cp][abt]t-", r"[\w-]{20}"),
    ("GitLab token", "gl[dfr]t-", r"[\w-]{20}"),
    ("Slack token", "xox[abeoprs]-", r"(?=[A-Za-z-]{0,23}[0-9])[A-Za-z0-9-]{24}"),
    ("Stripe key", "[rs]k_live_", r"[A-Za-z0-9]{16}"),
    ("Stripe key", "[rs]k_test_", r"[A-Za-z0-9]{16}"),
    ("Vault token", "hv[bs]", r"\.(?=[^\s0-9]{0,23}[0-9])[\w-]{24}"),
    ("Docker token", "dckr_[op]at_", r"[\w-]{27}"),
    ("Shopify token", "shp[acps][at]_", r"[0-9a-fA-F]{32}"),
    ("age key", "AGE-SECRET-KEY-", r"1[0-9A-Z]{58}"),
    ("Grafana token", "glsa_", r"[A-Za-z0-9]{32}_[0-9a-f]{8}"),
    ("Linear key", "lin_api_", r"[A-Za-z0-9]{40}"),
    ("Databricks token", "dap", r"i[0-9a-f]{32}(?!\w)"),
    ("Groq key", "gsk_", r"[A-Za-z0-9]{52}"),
    ("Anthropic key", "sk-", r"ant-[a-z0-9]{3,8}-[\w-]{40}"),
    (
        "OpenAI key",
        "sk-",
        r"(?:(?:proj|svcacct|admin)-[\w-]{40}|(?=[A-Za-z]{0,31}[0-9])[A-Za-z0-9]{32}|[A-Za-z0-9]{40})",
    ),
    ("npm token", "npm_", r"[A-Za-z0-9]{36}"),
    ("PyPI token", "pypi-", r"Ag[\w-]{60}"),
    ("Hugging Face token", "hf_", r"[A-Za-z0-9]{34}"),
    ("DigitalOcean token", "do[opr]_v1_", r"[0-9a-f]{64}"),
    ("Azure storage key", "AccountK", r"ey=[A-Za-z0-9+/]{86}=="),
    ("AWS access key", "A[KS]I", r"A[A-Z0-9]{16}(?!\w)"),
    ("Google API key", "AI", r"za[\w-]{35}"),
    ("SendGrid key", "SG", r"\.[\w-]{22}\.[\w-]{43}"),
    ("Twilio key", "SK", r"[0-9a-f]{32}(?!\w)"),
    ("Telegram bot token", "[0-9]:A", r"(?<=[0-9]{8}:A)A[\w-]{33}"),
    # Its header has "alg", which base64 may write in three ways.
    (
        "JSON Web Token",
        "eyJ",
        r"(?=hbGci|[\w-]{1,1000}?(?:ImFsZyI|JhbGci|iYWxnI))[\w-]{9,1000}+\.[\w-]{9,9000}+\.[\w-]{20}",
    ),
    (
        "private key",
        "-----B",
        # The line alone is enough; in a sentence it is not, unless the key follows.
        r"EGIN (?:[A-Z0-9]{1,12} ){0,4}PRIVATE KEY(?: BLOCK)?-----"
        r"(?:\s{0,8}+$|[\r\n]|\\[nr]|\s{1,8}+[A-Za-z0-9+/]{40})",
    ),
)


def _patterns_of_keys() -> tuple[re.Pattern[str], ...]:
    """Return a pattern for all keys whose prefixes end in the same character."""
    befores: dict[str, list[list[str]]] = defaultdict(list)
    keys: dict[str, list[str]] = defaultdict(list)
    for number, (_, prefix, body) in enumerate(KEYS):
        *before, last = CHARACTERS.findall(prefix)
        befores[last].append(before)
        # A word starts after no word, or after a line break that is written out: \\n.
        word = rf"(?:(?<![\w-]{prefix})|(?<=\\[nrt]{prefix}))" if re.match(r"\w|\[[a-z]", prefix) else ""
        keys[last].append(f"(?P<key{number}>(?<={prefix}){word}{body})")
    return tuple(
        lazy_pattern(f"{last}(?<={_ends(befores[last])}{last})(?={'|'.join(keys[last])})", re.ASCII)
        for last in keys
    )


def _ends(prefixes: list[list[str]]) -> str:
    """Return character classes for the last two characters of the prefixes, or the last if one is shorter."""
    width = min(2, *map(len, prefixes))
    columns = zip(*(prefix[-width:] for prefix in prefixes), strict=True)
    return "".join(
        f"[{''.join(dict.fromkeys(character.strip('[]') for character in column))}]" for column in columns
    )


CHARACTERS = re.compile(r"\[.*?]|.")
KEY_PATTERNS = _patterns_of_keys()


def _read_key(match: re.Match[str], _: str) -> Secret:
    kind, prefix, _ = KEYS[int(str(match.lastgroup).removeprefix("key"))]
    return Secret(kind, match.end() - len(CHARACTERS.findall(prefix)), match.end(str(match.lastgroup)))


# -- Credentials by their context ------------------------------------------------------------------

IN_URL = lazy_pattern(
    r"://(?:(?P<user>[^\s/:@\"'<>]{0,64}):(?P<password>[^\s/@\"'<>`]{4,128}+)@[\w\[$<{]"
    r"|hooks\.slack\.com/services/(?P<webhook>T\w{6,12}/B\w{6,12}/\w{20}))"
)
# The rest is matched in lower case.
BEARER = lazy_pattern(r"bearer[ \t]{1,4}([\w.~+/-]{20,400}+)")
# "Authorization: Token ...", also as an entry of a dictionary or an argument of a call.
AUTHORIZATION = lazy_pattern(
    r"zation(?<=authorization)[\"'`\]]{0,2}[ \t]{0,4}[:=,][ \t]{0,4}[\"'`]?(?:token|api-?key)"
    r"[ \t]{1,4}([\w.~+/-]{20,400}+)"
)
LOGIN = lazy_pattern(r"basic[ \t]{1,4}([a-z0-9+/]{8,400}+={0,2})(?![\w+/=])")


# "curl -u ada:...", "the credentials are ada / ...".
OPTION_LOGIN = lazy_pattern(r"-u(?:ser)?[ \t=]{1,2}[\"']?[\w.@-]{1,64}:([^\s\"'`:]{6,128}+)")
# "mysql -u root -p...": the password follows its option without a blank.
GLUED = lazy_pattern(r"-p(?<=[ \t]-p)[\"']?([^\s\"'`;|&<>]{4,128}+)")
MYSQL = lazy_pattern(
    r"(?<![\w-])(?:mysql|mariadb)(?:-?(?:dump|admin|import|check|show|slap|upgrade|binlog))?(?:\.exe)?"
    r"[ \t](?:[^\n;|&]|(?<=\\)\r?\n)*$"
)
# Two patterns: letters at the beginning are searched for much faster than a choice.
TOLD_LOGINS = tuple(
    lazy_pattern(
        rf"{name}s?:?(?: (?:are|is|with|as|user)){{0,2}}[ \t]"
        r"[\"'`]?[\w.@-]{1,64} ?[/:] ?([^\s\"'`:/,;]{6,128}+)"
    )
    for name in ("credential", "log-?in")
)


def _read_url(match: re.Match[str], _: str) -> Secret | None:
    if match["webhook"]:
        return Secret("Slack webhook", *match.span("webhook"))
    if match["password"] == match["user"] or is_stand_in(match["password"]):
        return None
    return Secret("password in a URL", *match.span("password"))


def _read_bearer(match: re.Match[str], text: str) -> Secret | None:
    start, end = match.span(1)
    return Secret("bearer token", start, end) if is_generated(text[start:end]) else None


def _read_login(match: re.Match[str], text: str) -> Secret | None:
    start, end = match.span(1)
    return Secret("login of HTTP Basic", start, end) if is_login(text[start:end]) else None


def _read_plain_login(match: re.Match[str], text: str) -> Secret | None:
    start, end = match.span(1)
    value = text[start:end].rstrip(".!?)")
    return Secret("assigned secret", start, start + len(value)) if is_strong(value) else None


def _read_glued(match: re.Match[str], text: str) -> Secret | None:
    before = match.string[max(match.start() - BEFORE, 0) : match.start()]
    # The port of mysql is -P.
    if not ("mysql" in before or "mariadb" in before) or text[match.start() + 1] != "p":
        return None
    start, end = match.span(1)
    is_secret = is_chosen_password(text[start:end]) and MYSQL.search(before)
    return Secret("assigned secret", start, end) if is_secret else None


def _read_assigned(judge: Judge, match: re.Match[str], text: str) -> Secret | None:
    span = read_assigned(match, text, judge)
    return Secret("assigned secret", *span) if span else None


_read_password = partial(_read_assigned, is_password)

IN_LOWERED: tuple[tuple[re.Pattern[str], Read], ...] = (
    (BEARER, _read_bearer),
    (AUTHORIZATION, _read_bearer),
    (LOGIN, _read_login),
    (OPTION_LOGIN, _read_plain_login),
    *((login, _read_plain_login) for login in TOLD_LOGINS),
    (GLUED, _read_glued),
    *((name, partial(_read_assigned, judge)) for name, judge in NAMES),
)
