"""The files that a patch of Codex touches."""

from __future__ import annotations

import re

CHANGES = {"Add File": "created", "Delete File": "deleted", "Move to": "created"}
PATCHED = re.compile(r"^\*\*\* (Add File|Update File|Delete File|Move to): (.+?)\r?$", re.MULTILINE)


def patched_files(patch: str) -> list[tuple[str, str]]:
    """Each file as the patch names it, and its change."""
    return [(name, CHANGES.get(kind, "modified")) for kind, name in PATCHED.findall(patch)]
