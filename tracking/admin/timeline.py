"""What leases and file changes add to the timeline: bars, and the files changed by folder."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime

from django.db.models import Count
from django.db.models.functions import Coalesce
from django.urls import reverse

from ctxhub.core.admin.timeline import sources
from ctxhub.core.admin.timeline.periods import Period
from ctxhub.core.admin.timeline.sources import Account, Bar
from ctxhub.core.admin.urls import list_url
from ctxhub.core.kit import clock
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.models import Project
from tracking.models import FileChange, Lease
from tracking.selectors.leases import is_silent

LEASES_SHOWN = 300
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


def lease_bars(project: Project, period: Period) -> list[Bar]:
    """The newest 300 leases of the period, from taken to their end, or to now if they are live."""
    ended = Coalesce("released_at", "expires_at")
    leases = Lease.objects.in_project(project.pk).filter(created_at__lt=period.end)
    shown = leases.annotate(ended=ended).filter(ended__gt=period.begin).select_related("agent")
    now = clock.now()
    return [
        Bar(
            lease.agent_id,
            lease.created_at,
            min(lease.ended, now),
            f"{lease.agent.name}: {', '.join(sorted(path.pattern for path in lease.paths.all()))[:200]}",
            reverse("admin:tracking_lease_change", args=[lease.pk]),
            _role(lease, now),
        )
        for lease in shown.prefetch_related("paths").order_by("-pk")[:LEASES_SHOWN]
    ]


def _role(lease: Lease, now: datetime) -> str:
    if lease.state(now) == "live" and is_silent(lease.agent.last_seen_at, now):
        return "silent"
    return "exclusive" if lease.exclusive else "shared"


def changed_files(project: Project, period: Period) -> list[Account]:
    """For each agent, the folders in which it changed most, of the period's newest changes."""
    changes = FileChange.objects.in_project(project.pk).filter(at__gte=period.begin, at__lt=period.end)
    newest = changes.order_by("-at", "-pk").values("pk")[:CHANGES_READ]
    counted = FileChange.objects.in_project(project.pk).filter(pk__in=newest).order_by()
    by_agent: dict[int | None, Counter[str]] = defaultdict(Counter)
    for agent_id, path, count in counted.values_list("agent_id", "resource__path").annotate(Count("pk")):
        by_agent[agent_id][path] += count
    return [_account(project, agent_id, files) for agent_id, files in by_agent.items()]


def _account(project: Project, agent_id: int | None, files: Mapping[str, int]) -> Account:
    folders: dict[str, Counter[str]] = defaultdict(Counter)
    for path, count in files.items():
        folder, _, name = path.rpartition("/")
        folders[folder][name] += count
    largest = sorted(folders.items(), key=lambda each: (-each[1].total(), each[0]))
    return Account(
        agent_id,
        "Files",
        "ctxhub/timeline_files.html",
        [_folder(project, path, names) for path, names in largest[:FOLDERS_SHOWN]],
        more=max(len(largest) - FOLDERS_SHOWN, 0),
    )


def _folder(project: Project, path: str, names: Counter[str]) -> Folder:
    named = [name for name, _ in names.most_common(FILES_NAMED)]
    url = list_url("tracking_filechange", project, q=f"{path}/" if path else named[0])
    return Folder(path, names.total(), named, len(names) - len(named), url)


sources.bars.append(lease_bars)
sources.accounts.append(changed_files)
