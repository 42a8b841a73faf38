"""The files that a patch of Codex touches."""

from __future__ import annotations

import re

CHANGES = {"Add File": "created", "Delete File": "deleted", "Move to": "created"}
PATCHED = re.compile(r"^\*\*\* (Add File|Update File|Delete File|Move to): (.+?)\r?$", re.MULTILINE)


def patched_files(patch: str) -> list[tuple[str, str]]:
    """Each file as the patch names it, and its change; one that is moved is deleted and created."""
    found: list[tuple[str, str]] = []
    for kind, name in PATCHED.findall(patch):
        if kind == "Move to" and found and found[-1][0] != name:
            found[-1] = (found[-1][0], "deleted")
        found.append((name, CHANGES.get(kind, "modified")))
    return found
