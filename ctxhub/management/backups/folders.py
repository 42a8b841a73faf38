"""A folder of dated backups: the name of the next one, and the removal of those that a rule keeps no more."""

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from ctxhub.management.backups.archive import open_archive
from ctxhub.management.backups.keeping import Part, kept
from ctxhub.management.backups.manifest import BadBackup

_NAME = re.compile(r"ctxhub-\d{4}-\d\d-\d\dT\d{6}Z\.tar", re.ASCII)


def dated_name(at: datetime) -> str:
    return f"ctxhub-{at.astimezone(UTC):%Y-%m-%dT%H%M%SZ}.tar"


def remove_superseded(folder: Path, rule: Sequence[Part], *, hub: str) -> list[Path]:
    """Remove the dated backups of the hub that the rule does not keep; returns them, oldest first.

    The newest stays under any rule. A file that is torn, renamed or another hub's stays, and does not count.
    """
    found = dict(_of_hub(folder, hub)) if hub else {}
    keeps = kept(found, rule)
    removed = [found[at] for at in sorted(found) if at not in keeps]
    for file in removed:
        file.unlink()
    return removed


def _of_hub(folder: Path, hub: str) -> Iterator[tuple[datetime, Path]]:
    for file in folder.iterdir():
        if not _NAME.fullmatch(file.name) or file.is_symlink() or not file.is_file():
            continue
        with suppress(BadBackup, OSError):
            manifest = open_archive(file).manifest
            at = manifest.created_at
            if manifest.hub == hub and dated_name(at) == file.name:
                yield at, file
