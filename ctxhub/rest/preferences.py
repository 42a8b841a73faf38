"""What a client prefers as the answer of a write, in the header Prefer (RFC 7240)."""

import re
from typing import Any, Literal, cast

from rest_framework.request import Request

MINIMAL, REPRESENTATION = "minimal", "representation"
Preferred = Literal["", "minimal", "representation"]

PREFER: dict[str, Any] = {
    "name": "Prefer",
    "in": "header",
    "description": "`return=representation`: the answer has the object, too. `return=minimal`: only what "
    "changed, as of a POST without it. The header `Preference-Applied` says which one was followed.",
    "schema": {"type": "string", "enum": [f"return={MINIMAL}", f"return={REPRESENTATION}"]},
}
# A preference: its name, its value as a token or quoted, and parameters, which are not read.
_RETURN = re.compile(r'\s*return\s*=\s*(?:"(\w+)"|(\w+))\s*(?:;.*)?', re.IGNORECASE)


def preferred(request: Request) -> Preferred:
    """The first preference for a return; "" if there is none, or one that is unknown."""
    for said in request.headers.get("Prefer", "").split(","):
        if found := _RETURN.fullmatch(said):
            word = (found[1] or found[2]).lower()
            return cast(Preferred, word) if word in (MINIMAL, REPRESENTATION) else ""
    return ""


def applied(preference: Preferred, *, is_whole: bool) -> dict[str, str]:
    """The header that says which preference was followed; none if it was not."""
    followed = REPRESENTATION if is_whole else MINIMAL
    return {"Preference-Applied": f"return={preference}"} if preference == followed else {}
