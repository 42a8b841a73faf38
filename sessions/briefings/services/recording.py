"""Records in the background what agents were given."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from ctxhub.core import registry
from ctxhub.core.accounts.selectors.config import read_config
from ctxhub.core.events.services.cleanup import REMOVED_AT_ONCE
from ctxhub.core.given import GivenAnswer
from ctxhub.core.kit import clock
from ctxhub.core.kit.answers import size
from ctxhub.core.kit.background import BackgroundWriter
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.inputs import read_id
from ctxhub.core.kit.listing import with_rows
from ctxhub.core.kit.transactions import write_transaction
from ctxhub.core.models import Agent, Project
from ctxhub.core.text.token_count import count_tokens
from ctxhub.core.vocabulary.services.names import register_agent
from sessions.briefings.services.telling import tell_of_missed_changes
from sessions.briefings.sql.given import (
    NewBriefing,
    NewItem,
    delete_briefings,
    insert_briefings,
    insert_items,
)
from sessions.sittings.selectors.calls import find_places

Ids = Mapping[tuple[str, str], int]
"""Ids of things by kind and by the name in a ref."""


def record_given(answers: Sequence[GivenAnswer]) -> None:
    """Write what was given, one transaction a project, and tell of what has changed meanwhile."""
    by_project: dict[int, list[GivenAnswer]] = {}
    for answer in answers:
        by_project.setdefault(answer.caller.project_id, []).append(answer)
    for project in Project.objects.filter(pk__in=by_project):
        if read_config(project.config).record_given:
            _record(project.pk, by_project[project.pk])


def clean_briefings(project_id: int, now: datetime, days: int) -> dict[str, int]:
    """Delete what agents were given more than `days` ago (0: nothing), at most 500."""
    count = delete_briefings(project_id, now - timedelta(days=days), REMOVED_AT_ONCE) if days else 0
    return {"briefings": count} if count else {}


def _record(project_id: int, answers: Sequence[GivenAnswer]) -> None:
    ids = _find_ids(project_id, answers)
    found = [answer for answer in answers if any((i.kind, i.name) in ids for i in answer.items)]
    tokens = [count_answer(answer.answer) for answer in found]
    if not found:
        return
    with write_transaction(project_id):
        agents = _find_agents(project_id, [answer.caller for answer in found])
        places = find_places(project_id, [answer.caller for answer in found], agents, clock.now())
        briefings = [
            NewBriefing(agents[answer.caller.agent.casefold()], *place, answer.via, count, answer.at)
            for answer, place, count in zip(found, places, tokens, strict=True)
        ]
        briefing_ids = insert_briefings(project_id, briefings)
        insert_items(project_id, list(_items(briefing_ids, found, ids)))
        tell_of_missed_changes(project_id=project_id, briefing_ids=briefing_ids, at=clock.now())


def count_answer(answer: Any) -> int | None:
    """The tokens of an answer; None if it was not kept."""
    answer = answer() if callable(answer) else answer
    if answer is None or isinstance(answer, str):
        return None if answer is None else count_tokens(answer)
    return size(with_rows(answer))


def _find_ids(project_id: int, answers: Iterable[GivenAnswer]) -> Ids:
    """With a query for each kind whose names are not the ids."""
    names: dict[str, dict[str, None]] = {}
    for answer in answers:
        for item in answer.items:
            names.setdefault(item.kind, {})[item.name] = None
    found: dict[tuple[str, str], int] = {}
    for kind, some in names.items():
        noun = registry.find_noun(kind)
        known = noun.ids_of(project_id, list(some)) if noun and noun.ids_of else _read_ids(some)
        found |= {(kind, name): row_id for name, row_id in known.items()}
    return found


def _read_ids(names: Iterable[str]) -> Mapping[str, int]:
    return {name: row_id for name in names if (row_id := read_id(name))}


def _find_agents(project_id: int, callers: Iterable[Caller]) -> Mapping[str, int]:
    """The ids of the agents by case-folded name. One that is new is registered, as its first call does."""
    by_name = {caller.agent.casefold(): caller for caller in callers}
    stored = Agent.objects.in_project(project_id).filter(folded__in=by_name)
    known = dict(stored.values_list("folded", "pk"))
    new = {name: register_agent(by_name[name], clock.now()) for name in by_name if name not in known}
    return known | new


def _items(briefing_ids: Sequence[int], answers: Sequence[GivenAnswer], ids: Ids) -> Iterator[NewItem]:
    for briefing_id, answer in zip(briefing_ids, answers, strict=True):
        for item in answer.items:
            if row_id := ids.get((item.kind, item.name)):
                yield NewItem(briefing_id, item.kind, row_id, item.version, item.detail)


WRITER = BackgroundWriter("recording what agents were given", record_given)
