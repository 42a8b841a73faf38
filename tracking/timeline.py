"""What leases and file changes add to the timeline: bars, and the files changed by folder."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from django.db.models import Count, Window
from django.db.models.functions import Coalesce

from ctxhub.console.silence import presence
from ctxhub.console.timeline.periods import Period
from ctxhub.console.timeline.sources import Account, Additions, Bar
from ctxhub.console.urls import in_project, list_url, row_urls
from ctxhub.core.kit import clock
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.models import Project
from ctxhub.core.text.sentences import shortened
from tracking.leases.silence import with_silence
from tracking.models import FileChange, Lease, LeasePath

LEASES_SHOWN, PATHS_SHOWN = 300, 200
CHANGES_READ = 2_000
FOLDERS_SHOWN, FILES_NAMED = 8, 3


@frozen
class Folder:
    """The files of a folder that an agent changed. `files` names some of them, `more` counts the others."""

    path: str
    changes: int
    files: Sequence[str]
    more: int
    url: str


class Taken(NamedTuple):
    """A lease of the period. `ends_at`: when it was released or expires. `total`: leases of the period. The
    others: see `with_silence`.
    """

    id: int
    agent_id: int
    agent: str
    heard_at: datetime | None
    others_wait: bool
    exclusive: bool
    begins_at: datetime
    ends_at: datetime
    total: int


def leases_and_changes(project: Project, period: Period) -> Additions:
    leases = _leases(project, period)
    accounts, changes = _changed_files(project, period)
    return Additions(
        bars=_lease_bars(project, leases),
        all_bars=leases[0].total if leases else 0,
        accounts=accounts,
        notes=[f"Files are told from the newest {CHANGES_READ:,} changes."]
        if changes == CHANGES_READ
        else [],
    )


def _lease_bars(project: Project, leases: Sequence[Taken]) -> list[Bar]:
    """From taken to their end, or to now if they are live."""
    paths = _paths(project, [lease.id for lease in leases])
    url_of = row_urls("admin:tracking_lease_change")
    now = clock.now()
    return [
        Bar(
            lease.agent_id,
            lease.begins_at,
            min(lease.ends_at, now),
            f"{lease.agent}{_said(lease, now)}: {_told(sorted(paths[lease.id]))}",
            url_of(lease.id),
            _role(lease, now),
        )
        for lease in leases
    ]


def _told(paths: Sequence[str]) -> str:
    line = ", ".join(paths)
    return line if len(line) <= PATHS_SHOWN else shortened(line, PATHS_SHOWN)


def _leases(project: Project, period: Period) -> list[Taken]:
    """The newest 300 of the period."""
    ends_at = Coalesce("released_at", "expires_at")
    leases = Lease.objects.in_project(project.pk).filter(created_at__lt=period.end)
    shown = with_silence(leases).annotate(ends_at=ends_at).filter(ends_at__gt=period.begin).order_by("-pk")
    counted = shown.annotate(total=Window(Count("pk")))
    columns = (
        *("pk", "agent_id", "agent__name", "heard_at", "others_wait"),
        *("exclusive", "created_at", "ends_at", "total"),
    )
    return [Taken(*row) for row in counted.values_list(*columns)[:LEASES_SHOWN]]


def _paths(project: Project, lease_ids: Sequence[int]) -> Mapping[int, Sequence[str]]:
    paths: dict[int, list[str]] = defaultdict(list)
    found = LeasePath.objects.in_project(project.pk).filter(lease__in=lease_ids).order_by()
    for lease_id, pattern in found.values_list("lease_id", "pattern"):
        paths[lease_id].append(pattern)
    return paths


def _role(lease: Taken, now: datetime) -> str:
    of_holder = presence(lease.heard_at, lease.others_wait)
    if lease.ends_at > now and of_holder.is_silent:
        return of_holder.role
    return "exclusive" if lease.exclusive else "shared"


def _said(lease: Taken, now: datetime) -> str:
    of_holder = presence(lease.heard_at, lease.others_wait)
    return f" ({of_holder})" if lease.ends_at > now and of_holder.is_silent else ""


def _changed_files(project: Project, period: Period) -> tuple[list[Account], int]:
    """For each agent, the folders in which it changed most, of how many of the period's newest changes."""
    changes = FileChange.objects.in_project(project.pk).filter(at__gte=period.begin, at__lt=period.end)
    newest = changes.order_by("-at", "-pk").values("pk")[:CHANGES_READ]
    counted = FileChange.objects.in_project(project.pk).filter(pk__in=newest).order_by()
    by_agent: dict[int | None, Counter[str]] = defaultdict(Counter)
    for agent_id, path, count in counted.values_list("agent_id", "resource__path").annotate(Count("pk")):
        by_agent[agent_id][path] += count
    page = list_url("tracking_filechange")
    accounts = [_account(project, page, agent_id, files) for agent_id, files in by_agent.items()]
    return accounts, sum(files.total() for files in by_agent.values())


def _account(project: Project, page: str, agent_id: int | None, files: Mapping[str, int]) -> Account:
    folders: dict[str, Counter[str]] = defaultdict(Counter)
    for path, count in files.items():
        folder, _, name = path.rpartition("/")
        folders[folder][name] += count
    largest = sorted(folders.items(), key=lambda each: (-each[1].total(), each[0]))
    return Account(
        agent_id,
        "Files",
        "ctxhub/timeline_files.html",
        [_folder(project, page, path, names) for path, names in largest[:FOLDERS_SHOWN]],
        more=max(len(largest) - FOLDERS_SHOWN, 0),
    )


def _folder(project: Project, page: str, path: str, names: Counter[str]) -> Folder:
    named = [name for name, _ in names.most_common(FILES_NAMED)]
    url = in_project(page, project, q=f"{path}/" if path else named[0])
    return Folder(path, names.total(), named, len(names) - len(named), url)
