"""What decisions add to the timeline: for each agent, the values it changed, from old to new."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from django.db.models.functions import Left

from ctxhub.console.timeline.periods import Period
from ctxhub.console.timeline.sources import Account, Additions
from ctxhub.console.urls import row_urls
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.models import Event, Project
from memory.decisions.models import Decision, DecisionRevision

EVENTS_READ = 500
SHOWN = 10
VALUE_SHOWN = 120


@frozen
class Changed:
    """A decision that an agent wrote: from the version before its first change to that after its last.

    `was` is "" for a new decision; `version` is "" for one that was deleted.
    """

    key: str
    verb: str
    was: str
    version: str
    old: str = ""
    new: str = ""
    url: str = ""


def changed_decisions(project: Project, period: Period) -> Additions:
    """Of the period's newest 500 events of decisions."""
    events = Event.objects.in_project(project.pk).filter(
        noun="decision", at__gte=period.begin, at__lt=period.end
    )
    # By time, as the period is: by id, SQLite would sort all that the period has.
    newest = events.order_by("-at", "-pk").values_list("agent_id", "ref", "verb", "data")[:EVENTS_READ]
    by_agent: dict[int | None, dict[str, Changed]] = defaultdict(dict)
    for agent_id, ref, verb, data in reversed(newest):
        key = ref.removeprefix("decision:")
        by_agent[agent_id][key] = _joined(by_agent[agent_id].get(key), key, verb, data)
    shown = {agent_id: list(reversed(changes.values())) for agent_id, changes in by_agent.items()}
    values = _Values(project.pk, [each for changes in shown.values() for each in changes[:SHOWN]])
    return Additions(
        accounts=[
            Account(
                agent_id,
                "Decisions",
                "ctxhub/timeline_decisions.html",
                [values.completed(each) for each in changes[:SHOWN]],
                more=max(len(changes) - SHOWN, 0),
            )
            for agent_id, changes in shown.items()
        ],
        notes=[f"Decisions are told from the newest {EVENTS_READ:,} changes."]
        if len(newest) == EVENTS_READ
        else [],
    )


def _joined(earlier: Changed | None, key: str, verb: str, data: Mapping[str, Any]) -> Changed:
    was = earlier.was if earlier else str(data.get("was", ""))
    is_new = verb == "created" or (earlier is not None and earlier.verb == "created")
    version = "" if verb == "deleted" else str(data.get("version", ""))
    return Changed(key, "created" if is_new and verb == "updated" else verb, "" if is_new else was, version)


class _Values:
    """The values of decisions at versions, read with two statements."""

    def __init__(self, project_id: int, changes: Sequence[Changed]) -> None:
        self._url_of = row_urls("admin:memory_decision_read")
        self._ids: dict[str, int] = {}
        self._values: dict[tuple[int, str], str] = {}
        decisions = Decision.objects.in_project(project_id).filter(key__in={each.key for each in changes})
        beginning = Left("value", VALUE_SHOWN)
        for row_id, key, version, value in decisions.order_by().values_list(
            "pk", "key", "version", beginning
        ):
            self._ids[key] = row_id
            self._values[row_id, version] = value
        versions = {version for each in changes for version in (each.was, each.version)}
        revisions = DecisionRevision.objects.in_project(project_id).filter(
            decision__in=self._ids.values(), version__in=versions
        )
        found: Iterable[tuple[int, str, str]] = revisions.order_by("pk").values_list(
            "decision_id", "version", beginning
        )
        for row_id, version, value in found:
            self._values.setdefault((row_id, version), value)

    def completed(self, change: Changed) -> Changed:
        row_id = self._ids.get(change.key)
        if row_id is None:
            return change
        return replace(
            change,
            old=self._values.get((row_id, change.was), ""),
            new=self._values.get((row_id, change.version), ""),
            url=self._url_of(row_id),
        )
