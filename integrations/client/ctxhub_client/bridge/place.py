"""Where the client works: the branch and the worktree, which the hub keeps with a session that is saved."""

from __future__ import annotations

import os
import re

from ctxhub_client.git import find_repository
from ctxhub_client.paths import working_folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ctxhub_client.git import Repository

BRANCH, WORKTREE = "Ctxhub-Branch", "Ctxhub-Worktree"
# As much as the hub stores.
MOST_CHARACTERS = {BRANCH: 200, WORKTREE: 1_000}
# Control characters, and bytes of a name that are no UTF-8.
UNSENDABLE = re.compile("[\x00-\x1f\x7f\ud800-\udfff]")


class Place:
    """The folder that this process runs in. Its repository is looked for again when that has no HEAD."""

    def __init__(self) -> None:
        self._repository: Repository | None = None

    def headers(self) -> dict[str, str]:
        """What it is now; nothing where it is in no repository."""
        repository = self._repository
        branch = repository.branch if repository else ""
        if not branch:
            repository = self._repository = find_repository(working_folder())
            branch = repository.branch if repository else ""
        if repository is None:
            return {}
        told = {BRANCH: branch, WORKTREE: repository.top.replace(os.sep, "/")}
        return {name: in_header(text) for name, text in told.items() if fits(text, MOST_CHARACTERS[name])}


def fits(text: str, most: int) -> bool:
    """Whether a header can have it whole, as UTF-8."""
    return 0 < len(text) <= most and not UNSENDABLE.search(text)


def in_header(text: str) -> str:
    """A text as UTF-8, which http.client sends byte for byte."""
    return text.encode("utf-8", "replace").decode("latin-1")
