"""Versions in HTTP headers: `ETag` in responses, `If-Match` in writes."""

import re
from typing import Any
from urllib.parse import quote, unquote

from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request

from ctxhub.core.kit.errors import InvalidInput

# Characters of a tag that are not percent-encoded, besides letters and digits.
_PLAIN = "!#$&'()*+,-./:;<=>?@[\\]^_`{|}~"
_TAG = re.compile(r'(?:W/)?"(?P<quoted>[^"]*)"|(?P<bare>[^\s",*]+)')
TAG = r'(W/)?"[^"]+"|[^\s",*]+'  # The same pattern for the schema.

IF_MATCH = OpenApiParameter(
    "If-Match",
    {"type": "string", "pattern": f"^(?:{TAG})$"},
    OpenApiParameter.HEADER,
    description='Only if this is still the version: the quoted `ETag` you have read, `"1.0.0"`. Else 412.',
)


def etag(version: str) -> dict[str, str]:
    return {"ETag": f'"{quote(version, safe=_PLAIN)}"'}


def expecting(request: Request, arguments: dict[str, Any]) -> dict[str, Any]:
    """The arguments with `expected_version` from If-Match, if the request has one."""
    if (header := request.headers.get("If-Match")) is None:
        return arguments
    tag = _TAG.fullmatch(header.strip())
    if tag is None:
        raise InvalidInput(f"If-Match: {header[:60]!r} is not one quoted version.", hint='Send "1.0.0".')
    version = unquote(tag["quoted"] or tag["bare"] or "")
    if arguments.get("expected_version", version) != version:
        raise InvalidInput("expected_version and If-Match differ.")
    return {**arguments, "expected_version": version}
