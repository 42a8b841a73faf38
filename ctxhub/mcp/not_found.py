"""What is not there beside `/mcp`: short JSON for clients that look for OAuth, which this hub lacks."""

from ctxhub.core.kit.errors import NotFound, shown

MCP = "/mcp"
WELL_KNOWN = "/.well-known/"
METADATA = ("oauth-authorization-server", "oauth-protected-resource", "openid-configuration")
# Where clients turn to when they find no metadata.
ENDPOINTS = ("/authorize", "/token", "/register")

NO_OAUTH = "This hub has no OAuth: static tokens only."
HOW_TO_SEND = "Send the header Authorization: Bearer TOKEN (manage.py token create)."


def nothing_at(path: str, *, serves_mcp: bool) -> NotFound | None:
    """The error for an address that neither MCP nor Django serves; None for all others."""
    plain = path.lower().rstrip("/")
    if plain in ENDPOINTS or (WELL_KNOWN in plain and any(name in plain for name in METADATA)):
        return NotFound(NO_OAUTH, hint=HOW_TO_SEND)
    if plain == MCP and not serves_mcp:
        return NotFound("This process serves no MCP.")
    if plain == MCP or plain.startswith(f"{MCP}/"):
        return NotFound(f"There is no {shown(path)}.", hint=f"MCP is at {MCP}." if serves_mcp else "")
    is_well_known = f"{plain}/".startswith(WELL_KNOWN)
    return NotFound(f"There is no {shown(path)}.") if is_well_known else None
