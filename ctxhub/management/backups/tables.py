"""Which tables are a hub's. A hub has a database of its own; what else lies there is left alone."""

from collections.abc import Iterable

PREFIXES = ("core_", "memory_", "messaging_", "tracking_", "agent_sessions_", "auth_", "django_")
# SQLite's tables behind its full-text index; their rows are its own affair.
INDEX = "core_searchfts"


def of_hub(names: Iterable[str]) -> list[str]:
    """Those of a hub of this or another version, in order."""
    return sorted(name for name in names if name.startswith(PREFIXES) and not name.startswith(INDEX))
