"""The addresses below /connect/ that programs ask, as OpenAPI: RFC 8628 has no document of its own."""

from typing import Any

from ctxhub.connect.devices import GRANT_TYPE

Document = dict[str, Any]
WORD: Document = {"type": "string", "maxLength": 100}
NAME: Document = {**WORD, "minLength": 1}
SECONDS: Document = {"type": "integer", "minimum": 1}
TEXT: Document = {"type": "string", "minLength": 1}
FORM = "application/x-www-form-urlencoded"


def closed(required: Document, **more: Document) -> Document:
    """An object of these fields alone."""
    fields = {**required, **more}
    return {
        "type": "object",
        "properties": fields,
        "required": list(required),
        "additionalProperties": False,
    }


def json_of(name: str) -> Document:
    return {"application/json": {"schema": {"$ref": f"#/components/schemas/{name}"}}}


REFUSED: Document = {"description": "Why not.", "content": json_of("Refusal")}
LATER: Document = {
    "description": "Too many wait.",
    "content": json_of("Refusal"),
    "headers": {"Retry-After": {"required": True, "schema": SECONDS}},
}
UNKNOWN: Document = {
    "description": "No token, or none that is good.",
    "content": json_of("Refusal"),
    "headers": {"WWW-Authenticate": {"required": True, "schema": {"type": "string", "enum": ["Bearer"]}}},
}
TOKEN = {
    "access_token": {"type": "string", "pattern": r"^ctx_[\w-]+$"},
    "token_type": {"type": "string", "enum": ["Bearer"]},
    "expires_in": SECONDS,
    "expires": {"type": "string", "format": "date-time"},
    "scope": {"type": "string", "pattern": "^(read|write|admin)( (write|admin))*$"},
    "client": WORD,
    "agent": TEXT,
    "renews": {"type": "boolean"},
}
WHERE = {"hub": {"type": "string", "pattern": "^https?://"}, "project": TEXT}


def answers(name: str, **refusals: Document) -> Document:
    told = {"description": "Done.", "content": json_of(name)}
    return {"200": told, **{status.lstrip("_"): each for status, each in refusals.items()}}


def posted(properties: Document, responses: Document, **more: Any) -> Document:
    """Fields that are not known are left alone, as OAuth has it."""
    schema = {"type": "object", "properties": properties, **more}
    content = {"application/json": {"schema": schema}, FORM: {"schema": schema}}
    return {"post": {"requestBody": {"required": True, "content": content}, "responses": responses}}


def with_token(responses: Document) -> Document:
    return {"post": {"security": [{"token": []}], "responses": responses}}


def served(media_type: str, *, is_kept: bool) -> Document:
    """A file; for one that caches may keep, its ETag, and 304 for whoever has it."""
    answer: Document = {"description": "It.", "content": {media_type: {"schema": {"type": "string"}}}}
    etag = {"required": True, "schema": {"type": "string", "pattern": '^"[0-9a-f]{64}"$'}}
    told: Document = {"200": {**answer, "headers": {"ETag": etag}} if is_kept else answer}
    known = {"name": "If-None-Match", "in": "header", "schema": {"type": "string"}}
    if is_kept:
        told["304"] = {"description": "You have it."}
    return {"get": {"parameters": [known] if is_kept else [], "responses": told}}


DOCUMENT: Document = {
    "openapi": "3.1.0",
    "info": {"title": "Connecting", "version": "1"},
    "components": {
        "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        "schemas": {
            "Refusal": closed({"error": TEXT, "error_description": TEXT}, hint=TEXT, interval=SECONDS),
            "Codes": closed(
                {
                    "device_code": TEXT,
                    "user_code": {"type": "string", "pattern": "^[A-Z]{4}-[A-Z]{4}$"},
                    "verification_uri": {"type": "string", "pattern": "^https?://.*/connect/code/$"},
                    "expires_in": SECONDS,
                    "interval": SECONDS,
                }
            ),
            "Tokens": closed(
                {**TOKEN, **WHERE, "tokens": {"type": "array", "minItems": 1, "items": closed(TOKEN)}}
            ),
            "Renewed": closed({**TOKEN, **WHERE}),
            "Revoked": closed({"revoked": {"type": "boolean", "enum": [True]}}),
        },
    },
    "paths": {
        "/connect/device/": posted(
            {
                "client": {"anyOf": [NAME, {"type": "array", "items": NAME, "minItems": 1, "maxItems": 10}]},
                "agent": WORD,
                "host": WORD,
                "user": WORD,
            },
            answers("Codes", _400=REFUSED, _429=LATER),
            required=["client"],
        ),
        "/connect/token/": posted(
            {"device_code": TEXT, "grant_type": {"type": "string", "enum": [GRANT_TYPE]}},
            answers("Tokens", _400=REFUSED),
            required=["device_code"],
        ),
        "/connect/renew/": with_token(answers("Renewed", _401=UNKNOWN, _403=REFUSED, _409=REFUSED)),
        "/connect/revoke/": with_token(answers("Revoked", _401=UNKNOWN)),
        "/connect/": served("text/html", is_kept=False),
        "/connect/ctxhub.pyz": served("application/octet-stream", is_kept=True),
        "/connect/ctxhub.pyz.sha256": served("text/plain", is_kept=True),
    },
}
