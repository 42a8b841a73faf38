"""The URIs of what the hub holds: ctxhub://decision/api/auth/method for the ref decision:api/auth/method."""

from urllib.parse import quote, unquote_to_bytes

from ctxhub.core.kit.errors import NotFound, shown
from ctxhub.core.kit.frozen import frozen

SCHEME = "ctxhub://"
DECISION = "decision"
BRIEF, LAYERS, INBOX = "brief", "layers", "inbox"
FORMS = "ctxhub://decision/KEY, ctxhub://KIND/ID, ctxhub://inbox/AGENT, ctxhub://brief or ctxhub://layers"
# What RFC 6570 leaves as it is in {+key}, without what begins a query or a fragment.
_IN_KEYS = "/:@!$&'()*+,;="


@frozen
class Uri:
    """`kind`: that of an object, or brief, layers, inbox; `name`: what comes after it, decoded."""

    kind: str
    name: str


def read_uri(text: str) -> Uri:
    """Raises NotFound for what is none of the hub's. `%2F` in a name is a slash, as a slash is."""
    if text[: len(SCHEME)].lower() != SCHEME:
        raise NotFound(f"{shown(text)} is not a URI of this hub.", hint=f"Write {FORMS}.")
    kind, _, name = text[len(SCHEME) :].partition("/")
    try:
        return Uri(kind.strip().lower(), unquote_to_bytes(name).decode())
    except UnicodeError:
        raise NotFound(
            f"{shown(text)} is not a URI: what its %XX stand for is not in UTF-8.",
            hint="Encode the name in UTF-8.",
        ) from None


def uri_of(ref: str) -> str:
    kind, _, name = ref.partition(":")
    return f"{SCHEME}{kind}/{quote(name, safe=_IN_KEYS if kind == DECISION else '')}"
