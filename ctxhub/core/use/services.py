"""Adds up use in the background: a call neither waits for it nor writes it."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from ctxhub.core.accounts.models import Config
from ctxhub.core.accounts.projects import by_existing_project
from ctxhub.core.events.cleanup import REMOVED_AT_ONCE
from ctxhub.core.kit.transactions import touch_transaction
from ctxhub.core.text.secrets import mask_secrets
from ctxhub.core.text.token_count import count_tokens
from ctxhub.core.use.models import OPERATION_LENGTH, QUERY_LENGTH
from ctxhub.core.use.queries import (
    AskedTimes,
    Counted,
    Key,
    add_empty_searches,
    add_use,
    count_rows,
    delete_empty_searches,
    delete_use,
)

Behind = str | int | Callable[[], Iterable[str]]
"""What an answer left out or cut: a text, its tokens, or what reads the texts when they are counted."""


Kind = tuple[int, str, str, bool, int]
"""What calls are added up by: project id, agent, operation, whether it writes, hours since 1970."""


@dataclass(slots=True, eq=False)
class Use:
    """The calls of a kind since the last time they were written.

    `shortened`: the tokens of each answer that left something out or cut it, and what stands behind it.
    """

    kind: Kind
    calls: int = 0
    errors: int = 0
    tokens: int = 0
    most_tokens: int = 0
    shortened: list[tuple[int, Sequence[Behind]]] = field(default_factory=list)


class Asked(NamedTuple):
    """A question that found nothing."""

    project_id: int
    agent: str
    query: str
    at: datetime


# Rows of a project in an hour; beyond, calls are counted without agent and operation.
ROWS_OF_HOUR = 2_000
QUESTIONS_KEPT = 1_000


def write_use(uses: Sequence[Use]) -> None:
    """Add calls to the counts, one transaction a project. No project's write lock is needed."""
    for project_id, of_project in by_existing_project(uses, lambda use: use.kind[0]):
        counts = _added_up(of_project)
        with touch_transaction():
            rows = count_rows(project_id, {key.hour for key in counts})
            add_use(project_id, _capped(counts, rows).items())


def write_empty_searches(asked: Sequence[Asked]) -> None:
    """Add questions that found nothing, one transaction a project."""
    for project_id, of_project in by_existing_project(asked, lambda each: each.project_id):
        times: dict[str, AskedTimes] = {}
        for each in of_project:
            query = _masked(each.query)
            folded = query.casefold()
            old = times.get(folded, AskedTimes(query, each.agent, 0, each.at, each.at))
            times[folded] = AskedTimes(query, each.agent, old.times + 1, old.first_at, each.at)
        with touch_transaction():
            add_empty_searches(project_id, times.items())


def clean_use(project_id: int, now: datetime, config: Config) -> dict[str, int]:
    """Delete what is older than accesses are kept (0 days: nothing is), and too many questions."""
    before = now - timedelta(days=config.access_days) if config.access_days else None
    use = delete_use(project_id, before, REMOVED_AT_ONCE) if before else 0
    searches = delete_empty_searches(project_id, before, QUESTIONS_KEPT, REMOVED_AT_ONCE)
    removed = {"use": use, "empty searches": searches}
    return {plural: count for plural, count in removed.items() if count}


# -- Pieces ----------------------------------------------------------------------------------------


def _added_up(uses: Iterable[Use]) -> dict[Key, Counted]:
    counts: dict[Key, Counted] = {}
    for use in uses:
        _, agent, operation, writes, hour = use.kind
        key = Key(_moment(hour), agent.casefold(), operation[:OPERATION_LENGTH])
        saved = sum(max(0, sum(map(_tokens, behind)) - tokens) for tokens, behind in use.shortened)
        new = Counted(agent, writes, use.calls, use.errors, use.tokens, use.tokens + saved, use.most_tokens)
        counts[key] = _sum(counts[key], new) if key in counts else new
    return counts


def _capped(counts: Mapping[Key, Counted], rows: Mapping[datetime, int]) -> dict[Key, Counted]:
    """The counts, without agent and operation for an hour that has too many rows."""
    capped: dict[Key, Counted] = {}
    for key, count in counts.items():
        if rows[key.hour] < ROWS_OF_HOUR:
            capped[key] = count
            continue
        nameless, count = Key(key.hour, "", ""), count._replace(name="")
        capped[nameless] = _sum(capped[nameless], count) if nameless in capped else count
    return capped


def _sum(old: Counted, new: Counted) -> Counted:
    return Counted(
        old.name,
        old.writes or new.writes,
        old.calls + new.calls,
        old.errors + new.errors,
        old.tokens + new.tokens,
        old.whole_tokens + new.whole_tokens,
        max(old.most_tokens, new.most_tokens),
    )


def _tokens(behind: Behind) -> int:
    if isinstance(behind, int):
        return behind
    return sum(map(count_tokens, [behind] if isinstance(behind, str) else behind()))


def _moment(hour: int) -> datetime:
    return datetime.fromtimestamp(hour * 3_600, UTC)


def _masked(query: str) -> str:
    """The beginning of a question, which may contain anything."""
    plain = " ".join(query.replace("\0", "").split())
    return mask_secrets(plain)[0][:QUERY_LENGTH]
