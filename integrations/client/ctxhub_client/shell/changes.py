"""What a command has changed: two looks at a worktree compared."""

from __future__ import annotations

import os

from ctxhub_client.shell.worktree import committed_files, stat_of, was_committed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ctxhub_client.git import Repository
    from ctxhub_client.shell.worktree import Worktree

# Times of files may be some milliseconds older than the clock's.
CLOCK_SECONDS = 0.05

MOVED = "git has moved HEAD, the stash or a merge: what that command changed is not recorded."


def changed_files(
    repository: Repository, before: Worktree, after: Worktree
) -> tuple[list[tuple[str, str]], str]:
    """Each changed file with its change (created, modified, deleted); why there is nothing to tell, or ""."""
    paths = {*before.files, *after.files}
    new = {*after.new}
    if before.head != after.head:
        if not was_committed(repository, before):
            return [], MOVED
        committed = committed_files(repository, before, after.head)
        paths.update(committed)
        new.update(path for path, is_new in committed.items() if is_new)
    elif before.stash != after.stash or before.at_work != after.at_work:
        return [], MOVED
    found = []
    for path in sorted(filter(is_text, paths)):
        now = after.files[path] if path in after.files else stat_of(os.path.join(repository.top, path))
        if path in before.files and not before.is_reused:
            is_changed = now != before.files[path]
        else:
            # It was as in the last commit, or as it was seen before: it is written now, or had been.
            is_known = path in before.files and now == before.files[path]
            # Such as what `sed -i` writes first, while git looked.
            is_passing = now is None and path in new and path not in before.files
            is_changed = not is_known and not is_passing and is_since(before, repository.top, path, now)
        if is_changed:
            was_there = path in before.files and before.files[path] is not None
            created = "modified" if was_there or path not in new else "created"
            found.append((path, created if now else "deleted"))
    return found, ""


def is_since(before: Worktree, top: str, path: str, now: list[int] | None) -> bool:
    """Whether a file was written or deleted since then."""
    if now is None and not before.is_reused:
        return True
    while now is None and path:
        # When something was deleted is known of its folder alone.
        path = os.path.dirname(path)
        now = stat_of(os.path.join(top, path))
    return now is None or max(now[1:]) >= (before.at - CLOCK_SECONDS) * 1e9


def is_text(path: str) -> bool:
    """Whether a name can be told: files may have names that are in no encoding."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True
