"""The params of the protocol's methods: checks of what a client sends.

They follow the schemas of the protocol, and coerce where the SDK does. What may be absent may be null.
"""

import re
from collections.abc import Callable
from typing import Any

from ctxhub.mcp.json_rpc import kind_of, object_in

Check = Callable[[Any], bool]

_WHOLE = re.compile(r"\s*[+-]?[0-9]+(\.0*)?\s*")


def text(value: Any) -> bool:
    return isinstance(value, str)


def token(value: Any) -> bool:
    """A progress token: a text or an integer."""
    return text(value) or whole(value)


def whole(value: Any) -> bool:
    """An integer, also as 1.0, "1", "1.0" or true."""
    if isinstance(value, str):
        return _WHOLE.fullmatch(value) is not None
    return isinstance(value, int) or (isinstance(value, float) and value.is_integer())


def flag(value: Any) -> bool:
    """A boolean, also as 0 or 1 and by its names."""
    if isinstance(value, str):
        return value.lower() in ("true", "false", "t", "f", "yes", "no", "y", "n", "on", "off", "1", "0")
    return isinstance(value, int | float) and value in (0, 1)


def mapping(value: Any) -> bool:
    return isinstance(value, dict)


def arguments(value: Any) -> bool:
    """An object, also as the text of its JSON."""
    return mapping(object_in(value))


class maybe:  # noqa: N801
    """What may be absent."""

    def __init__(self, check: Check) -> None:
        self.check = check

    def __call__(self, value: Any) -> bool:
        return value is None or self.check(value)


def either(*checks: Check) -> Check:
    return lambda value: any(check(value) for check in checks)


def one_of(*allowed: str) -> Check:
    return lambda value: isinstance(value, str) and value in allowed


def list_of(check: Check) -> Check:
    return lambda value: isinstance(value, list) and all(check(item) for item in value)


def mapping_of(check: Check) -> Check:
    return lambda value: isinstance(value, dict) and all(check(item) for item in value.values())


class fields:  # noqa: N801
    """An object with these fields; it may have others."""

    def __init__(self, checks: dict[str, Check]) -> None:
        self._named = tuple(checks.items())

    def __call__(self, value: Any) -> bool:
        return isinstance(value, dict) and all(check(value.get(name)) for name, check in self._named)

    def problem(self, value: dict[str, Any], path: str = "params") -> str:
        """What is wrong with the first field that is refused: "params.name is missing."; "" if none is."""
        for name, check in self._named:
            given, at = value.get(name), f"{path}.{name}"
            if check(given):
                continue
            if isinstance(check, fields) and isinstance(given, dict):
                return check.problem(given, at)
            if given is None:
                return f"{at} is missing."
            if wanted := _WANTED.get(check.check if isinstance(check, maybe) else check):
                kind = kind_of(given)
                return f"{at} must be {wanted}{'' if wanted.startswith(kind) else f', not {kind}'}."
            return f"{at} is not valid."
        return ""


_WANTED: dict[Check, str] = {
    text: "a text",
    token: "a text or a whole number",
    flag: "true or false",
    arguments: "an object",
    mapping: "an object",
}


def with_token(check: Check) -> Check:
    """A `_meta` that also may have a progress token, which is not null."""
    return lambda value: check(value) and ("progressToken" not in value or token(value["progressToken"]))


MAPPINGS = maybe(mapping_of(mapping))
TEXTS = maybe(mapping_of(text))
_WANTED[TEXTS.check] = "an object of texts"
LEVEL = one_of("alert", "critical", "debug", "emergency", "error", "info", "notice", "warning")
ICON = fields(
    {
        "src": text,
        "mimeType": maybe(text),
        "sizes": maybe(list_of(text)),
        "theme": maybe(one_of("light", "dark")),
    }
)
IMPLEMENTATION = fields(
    {
        "name": text,
        "version": text,
        **dict.fromkeys(("title", "description", "websiteUrl"), maybe(text)),
        "icons": maybe(list_of(ICON)),
    }
)
REFERENCE = either(
    fields({"type": one_of("ref/prompt"), "name": text, "title": maybe(text)}),
    fields({"type": one_of("ref/resource"), "uri": text}),
)
_WANTED[REFERENCE] = "an object {type: ref/prompt, name} or {type: ref/resource, uri}"
COMPLETION: dict[str, Check] = {
    "ref": REFERENCE,
    "argument": fields({"name": text, "value": text}),
    "context": maybe(fields({"arguments": TEXTS})),
}
CAPABILITIES: dict[str, Check] = {
    "elicitation": maybe(fields({"form": maybe(mapping), "url": maybe(mapping)})),
    "sampling": maybe(fields({"context": maybe(mapping), "tools": maybe(mapping)})),
    "experimental": MAPPINGS,
    "extensions": MAPPINGS,
}

# Of requests that are sent again with the input that a server has asked for; this one asks for none.
_RETRY: dict[str, Check] = {"inputResponses": MAPPINGS, "requestState": maybe(text)}
_CALL: dict[str, Check] = {
    **_RETRY,
    "name": text,
    "arguments": maybe(arguments),
    "task": maybe(fields({"ttl": maybe(whole)})),
}

# -- Until 2025-11-25 ------------------------------------------------------------------------------

_META: dict[str, Check] = {"_meta": maybe(with_token(mapping))}
_TASKS = fields(
    {
        "cancel": maybe(mapping),
        "list": maybe(mapping),
        "requests": maybe(
            fields(
                {
                    "elicitation": maybe(fields({"create": maybe(mapping)})),
                    "sampling": maybe(fields({"createMessage": maybe(mapping)})),
                }
            )
        ),
    }
)
_CAPABILITIES = fields(
    {**CAPABILITIES, "roots": maybe(fields({"listChanged": maybe(flag)})), "tasks": maybe(_TASKS)}
)

PARAMS = fields(_META)
PAGE = fields({**_META, "cursor": maybe(text)})
HANDSHAKE = fields(
    {**_META, "protocolVersion": text, "capabilities": _CAPABILITIES, "clientInfo": IMPLEMENTATION}
)
CALL = fields({**_META, **_CALL})
URI = fields({**_META, "uri": text})
READ = fields({**_META, **_RETRY, "uri": text})
PROMPT = fields({**_META, **_RETRY, "name": text, "arguments": TEXTS})
COMPLETE = fields({**_META, **COMPLETION})
SET_LEVEL = fields({**_META, "level": LEVEL})
NOTE = fields({"_meta": maybe(mapping)})

# -- From 2026-07-28 -------------------------------------------------------------------------------

VERSION, CLIENT_CAPABILITIES, CLIENT_INFO, LOG_LEVEL = (
    f"io.modelcontextprotocol/{name}"
    for name in ("protocolVersion", "clientCapabilities", "clientInfo", "logLevel")
)

_ENVELOPE: dict[str, Check] = {
    "_meta": with_token(
        fields(
            {
                VERSION: text,
                CLIENT_CAPABILITIES: fields({**CAPABILITIES, "roots": maybe(mapping)}),
                CLIENT_INFO: maybe(IMPLEMENTATION),
                LOG_LEVEL: maybe(LEVEL),
            }
        )
    )
}
_CHANGES = {name: maybe(flag) for name in ("promptsListChanged", "resourcesListChanged", "toolsListChanged")}

LATER_PARAMS = fields(_ENVELOPE)
LATER_PAGE = fields({**_ENVELOPE, "cursor": maybe(text)})
LATER_CALL = fields({**_ENVELOPE, **_CALL})
LATER_READ = fields({**_ENVELOPE, **_RETRY, "uri": text})
LATER_PROMPT = fields({**_ENVELOPE, **_RETRY, "name": text, "arguments": TEXTS})
LATER_COMPLETE = fields({**_ENVELOPE, **COMPLETION})
LISTEN = fields(
    {
        **_ENVELOPE,
        "notifications": fields({**_CHANGES, "resourceSubscriptions": maybe(list_of(text))}),
    }
)
