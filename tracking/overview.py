"""Counts file changes and leases, and the files that agents changed, for the first page."""

from collections.abc import Sequence
from os.path import commonprefix

from ctxhub.console.away.sources import Kind
from ctxhub.console.dashboard import Amount, ListUrl, counting
from ctxhub.core.kit import clock
from tracking.changes.queries import RECENT
from tracking.models import FileChange, Lease

FILE = "resource:"


def common_path(first: str, last: str) -> str:
    """The file, or the folder of all files between two refs in the order of their characters; "" for none."""
    one, other = first.removeprefix(FILE), last.removeprefix(FILE)
    return one if one == other else one[: _alike(one, other).rfind("/") + 1]


def _alike(one: str, other: str) -> str:
    return commonprefix([one, other])  # noqa: RUF071  # By characters, as refs are ordered.


CHANGED = [
    Kind("change", "files", 3, prefix=FILE, within=common_path),
    Kind("lease", "leases", 8, verbs=("leased",)),
]


def file_amounts(project_ids: Sequence[int], list_url: ListUrl) -> list[Amount]:
    now = clock.now()
    changes = FileChange.unscoped.filter(project__in=project_ids, at__gt=now - RECENT)
    leases = Lease.unscoped.filter(project__in=project_ids, released_at=None, expires_at__gt=now)
    return [
        Amount("file changes", counting(changes), list_url("tracking_filechange"), "in the last hour"),
        Amount("live leases", counting(leases), list_url("tracking_lease", state="live")),
    ]
