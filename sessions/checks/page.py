"""The page that answers what would stop an agent at some files: who else is there, and what must hold."""

from collections.abc import Mapping, Sequence
from typing import Any

from ctxhub.console.service_form import sentence
from ctxhub.core.accounts.agents import known_agents
from ctxhub.core.kit.caller import READ, Caller
from ctxhub.core.kit.errors import CtxhubError
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.inputs import clean_agent
from ctxhub.core.models import Project
from sessions.briefs.packing import CHECK_SHARES
from sessions.briefs.page import AGENTS, CheckForm, ShownRow, shown_rows
from sessions.checks.check import check

TITLES = {
    "leases": "Leases of others",
    "changes": "Changes by others in the last hour",
    "constraints": "What must hold",
    "decisions": "What was decided",
}


@frozen
class FoundSection:
    """A section of the answer. `more`: how many more rows there are."""

    title: str
    rows: Sequence[ShownRow]
    more: int


@frozen
class Stop:
    """Why it is not clear: who did what, and where."""

    by: str
    by_id: int | None
    deed: str
    where: str


@frozen
class ShownCheck:
    """`agent`: who asks; "" for somebody new."""

    agent: str
    is_clear: bool
    stops: Sequence[Stop]
    sections: Sequence[FoundSection]


def check_context(project: Project, query: Mapping[str, str]) -> dict[str, Any]:
    """The template context. `query`: the fields of CheckForm; without paths only the form is shown."""
    form = CheckForm(query) if query.get("paths", "").strip() else CheckForm(initial=dict(query))
    context = {"form": form, "suggestions": {AGENTS: known_agents(project)}}
    if not form.is_valid():
        return context
    try:
        return {**context, "check": _shown_check(project, **form.cleaned_data)}
    except CtxhubError as error:
        return {**context, "problem": sentence(error)}


def _shown_check(project: Project, *, paths: Sequence[str], intent: str, agent: str) -> ShownCheck:
    name = clean_agent(agent) if agent else ""
    caller = Caller(project=project, agent=name, scopes=frozenset({READ}))
    found = check(caller=caller, paths=paths, intent=intent)
    rows = shown_rows(project.pk, found.sections)
    return ShownCheck(
        agent=name,
        is_clear=found.is_clear,
        stops=[
            *_leased(rows["leases"]),
            *(Stop(row.by, row.by_id, row.why, row.text) for row in rows["changes"]),
        ],
        sections=[
            FoundSection(TITLES[section], rows[section], found.counts[section] - len(rows[section]))
            for section in CHECK_SHARES
        ],
    )


def _leased(rows: Sequence[ShownRow]) -> list[Stop]:
    return [
        Stop(row.by, row.by_id, f"has an exclusive lease {row.why}", row.text.removeprefix("exclusive: "))
        for row in rows
        if row.is_must
    ]
