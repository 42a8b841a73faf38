"""Finds text that looks like a credential, so that nobody stores one by accident.

Precise rather than complete: keys with their issuer's prefix, and values in a place where credentials
stand (a URL, a bearer header, an assignment) that nobody would write as an example. Each search is for
one rare letter or word, and each find looks a bounded way ahead, so that ordinary texts are done quickly
and hostile ones cost no more than their length.
"""

import re
from collections import defaultdict
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Secret:
    """What the credential looks like, as an error would name it ("GitHub token"), and where it starts."""

    kind: str
    start: int


def find_secret(text: str) -> Secret | None:
    """The first credential in a text, or None."""
    # The one letter that grows when made small is replaced, so that places in both texts agree.
    lowered = text.replace("\u0130", "I").lower()
    found: list[Secret | None] = [_read_key(key) for keys in KEY_PATTERNS if (key := keys.search(text))]
    found += [_first_assigned(pattern, text, lowered) for pattern in ASSIGNMENTS if pattern.search(lowered)]
    found += [_first_in_url(text), _first_bearer(text, lowered)]
    return min(filter(None, found), key=lambda secret: secret.start, default=None)


# (kind, prefix, body). The prefix stands at the start of a word and has a fixed width; its last character
# is what is looked for, so it is split from the body where that is rare.
KEYS = (
    ("ctxhub token", "ctx_", r"(?=[^A-Z\s]{0,39}[A-Z])(?=[^a-z\s]{0,39}[a-z])[\w-]{40}"),
    ("GitHub token", "gh[opusr]_", r"[A-Za-z0-9]{36}"),
    ("GitHub token", "github_pat_", r"[A-Za-z0-9]{22}_[A-Za-z0-9]{59}"),
    ("GitLab token", "gl[cp][abt]t-", r"[\w-]{20}"),
    ("GitLab token", "gl[dfr]t-", r"[\w-]{20}"),
    ("Slack token", "xox[abeoprs]-", r"(?=[A-Za-z-]{0,23}[0-9])[A-Za-z0-9-]{24}"),
    ("Stripe key", "[rs]k_live_", r"[A-Za-z0-9]{16}"),
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
    # Its header says "alg", which base64 may write in three ways.
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


def _compile_keys() -> tuple[re.Pattern[str], ...]:
    """For each last character of a prefix, one pattern of all the keys whose prefix ends in it."""
    befores: dict[str, set[str]] = defaultdict(set)
    keys: dict[str, list[str]] = defaultdict(list)
    for number, (_, prefix, body) in enumerate(KEYS):
        *_, before, last = CHARACTERS.findall(prefix)
        befores[last].add(before)
        # A word starts after no word, or after a line break that is written out: \\n.
        word = rf"(?:(?<![\w-]{prefix})|(?<=\\[nrt]{prefix}))" if re.match(r"\w|\[[a-z]", prefix) else ""
        keys[last].append(f"(?P<key{number}>(?<={prefix}){word}{body})")
    return tuple(
        re.compile(f"{last}(?<=(?:{'|'.join(befores[last])}){last})(?={'|'.join(keys[last])})", re.ASCII)
        for last in keys
    )


CHARACTERS = re.compile(r"\[.*?]|.")
KEY_PATTERNS = _compile_keys()


def _read_key(match: re.Match[str]) -> Secret:
    kind, prefix, _ = KEYS[int(str(match.lastgroup).removeprefix("key"))]
    return Secret(kind, match.end() - len(CHARACTERS.findall(prefix)))


IN_URL = re.compile(
    r"://(?:(?P<user>[^\s/:@\"'<>]{0,64}):(?P<password>[^\s/@\"'<>`]{4,128}+)@[\w\[$<{]"
    r"|hooks\.slack\.com/services/(?P<webhook>T\w{6,12}/B\w{6,12}/\w{20}))"
)
BEARER = re.compile(r"bearer[ \t]{1,4}([\w.~+/-]{20,400}+)")
# Matched in lower case. A value in quotes, or alone up to the end of its word.
ASSIGNED_VALUE = (
    r"[\"'`\\\]]{0,3}(?:: ?str)?[ \t]{0,4}(?::=|=>|==|=|:)[ \t]{0,4}\\?"
    r"(?:[\"'`]([^\s\"'`\\]{12,200}+)\\?[\"'`]|([^\s\"'`\\(){}\[\]<>$.,;:=]{12,200}+)={0,2}(?=[\s\"'`\\,;]|$))"
)
SECRET_KEYS = ("api", "access", "secret", "private", "signing", "encryption", "auth", "storage")
SECRET_NAMES = (
    *(r"pass(?:word|wd|phrase)?s?", r"pwd", r"secrets?", r"tokens?", r"credentials?"),
    f"key(?:{'|'.join(f'(?<={kind}key)|(?<={kind}[_-]key)' for kind in SECRET_KEYS)})",
)
ASSIGNMENTS = tuple(re.compile(name + ASSIGNED_VALUE) for name in SECRET_NAMES)
HARMLESS_TOKENS = ("csrf", "page", "next", "sync", "continuation")


def _first_in_url(text: str) -> Secret | None:
    for match in IN_URL.finditer(text):
        if match["webhook"]:
            return Secret("Slack webhook", match.start("webhook"))
        if match["password"] != match["user"] and not STAND_IN.match(match["password"]):
            return Secret("password in a URL", match.start("password"))
    return None


def _first_bearer(text: str, lowered: str) -> Secret | None:
    for match in BEARER.finditer(lowered):
        start, end = match.span(1)
        if _looks_generated(text[start:end]):
            return Secret("bearer token", start)
    return None


def _first_assigned(pattern: re.Pattern[str], text: str, lowered: str) -> Secret | None:
    for match in pattern.finditer(lowered):
        start, end = match.span(match.lastindex or 0)
        before = lowered[max(match.start() - 14, 0) : match.start()].rstrip("_-")
        if not before.endswith(HARMLESS_TOKENS) and _looks_generated(text[start:end]):
            return Secret("assigned secret", start)
    return None


STAND_IN = re.compile(
    r"[$<{\[%]|[*x.…•-]+$|[0-9.]+$|(.)\1+$"
    r"|.*(?:\$\{|\{\{|<[a-z]|\.\.\.|…|\*\*\*|xxxx|(?-i:example)|placeholder|change.?me|redacted|dummy|your[-_])"
    r"|(?:my|the|some|db|user|new)?[-_]?(?:pass(?:word|wd|phrase)?|pwd|secret|token|(?:api[-_]?)?key"
    r"|user(?:name)?|admin|root|guest|test|demo|dev|local|postgres|mysql|redis|foo|bar|hidden)"
    r"(?:[-_]?here)?\d{0,4}$",
    re.IGNORECASE | re.DOTALL,
)
DIGEST_OR_ADDRESS = re.compile(
    r"(?:sha\d|md5|argon2|bcrypt|pbkdf2|vault:|env:|file:|https?:|[./~])"
    r"|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$",
    re.IGNORECASE,
)


def _looks_generated(value: str) -> bool:
    """Whether characters are mixed as in no word or version: "k3Zp0wQ..." rather than "refresh-token-v2"."""
    if STAND_IN.match(value) or DIGEST_OR_ADDRESS.match(value):
        return False
    kinds = sum(bool(re.search(kind, value)) for kind in ("[a-z]", "[A-Z]", "[0-9]", "[!@#$%^&+=?~]"))
    inner_digits = len(re.findall(r"[0-9](?=[A-Za-z])", value))
    return kinds == 4 or (kinds == 3 and inner_digits >= 2) or (len(value) >= 20 and inner_digits >= 4)
