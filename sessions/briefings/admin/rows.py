"""The rows of briefs and checks on pages, each with the URL of the page of what it is about."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import TypeVar

from ctxhub.core.accounts.selectors.agents import ids_of_names
from ctxhub.core.admin import refs
from ctxhub.core.kit.frozen import frozen
from sessions.briefings.rules.candidates import Candidate

Name = TypeVar("Name", bound=Hashable)


@frozen
class ShownRow:
    """`by_id`: of the agent, if one of this name is registered.

    `percent`: how well it matches the task, at most 100; `is_must`: it is packed before all others.
    """

    ref: str
    url: str
    text: str
    by: str
    by_id: int | None
    at: datetime
    why: str
    percent: int
    is_must: bool


def shown_rows(
    project_id: int, groups: Mapping[Name, Iterable[Candidate]]
) -> Mapping[Name, Sequence[ShownRow]]:
    """The rows of each group, in a fixed number of queries."""
    listed = {name: list(rows) for name, rows in groups.items()}
    urls = refs.pages_of(project_id, (one.ref for rows in listed.values() for one in rows))
    agents = ids_of_names(project_id, {one.by.casefold() for rows in listed.values() for one in rows})
    return {name: [_shown(one, urls, agents) for one in rows] for name, rows in listed.items()}


def _shown(one: Candidate, urls: Mapping[str, str], agents: Mapping[str, int]) -> ShownRow:
    return ShownRow(
        ref=one.ref,
        url=urls.get(one.ref, ""),
        text=one.text,
        by=one.by,
        by_id=agents.get(one.by.casefold()),
        at=datetime.fromisoformat(one.at),
        why=one.why,
        percent=min(round(100 * one.score), 100),
        is_must=one.is_must,
    )
