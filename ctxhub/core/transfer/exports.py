"""The exports of agents, of the vocabulary, and of the log."""

from collections.abc import Iterator
from typing import Any

from django.db.models import Exists, Model, OuterRef, Q, QuerySet

from ctxhub.core.models import (
    AccessToken,
    Agent,
    Category,
    EmptySearch,
    Event,
    Layer,
    Refusal,
    Scope,
    Tag,
    TokenUse,
)
from ctxhub.core.transfer import cleaners
from ctxhub.core.transfer.declaration import Exported, exported_kinds, register


def _that_wrote(agents: QuerySet[Any]) -> QuerySet[Any]:
    """Without those that have a token and wrote nothing: tokens are not exported, nor who only looked."""
    with_token = AccessToken.unscoped.filter(agent=OuterRef("pk"))
    silent = Q(Exists(with_token))
    for model, column in _columns_of_agents():
        rows = model._base_manager.filter(**{"project": OuterRef("project"), column: OuterRef("pk")})
        silent &= ~Q(Exists(rows))
    return agents.exclude(silent)


def _columns_of_agents() -> Iterator[tuple[type[Model], str]]:
    """The foreign keys to agents of all that is exported."""
    for exported in exported_kinds(with_log=True):
        for rows in (exported, *exported.parts):
            yield from ((rows.model, column) for column, target in rows.keys.items() if target is Agent)


for _kind, _model in (
    ("tag", Tag),
    ("scope", Scope),
    ("category", Category),
    ("layer", Layer),
    ("agent", Agent),
):
    register(
        Exported(
            _model,
            kind=_kind,
            natural=("folded",),
            has_ids=False,
            is_word=True,
            only=_that_wrote if _model is Agent else None,
        )
    )


register(
    Exported(
        Event,
        refs=("ref", "data"),
        cleaners={"data": cleaners.object_},
        kind="event",
        has_ids=False,
        is_word=True,
        is_log=True,
        is_past=True,
    ),
    Exported(
        TokenUse,
        kind="use",
        natural=("hour", "folded", "operation"),
        has_ids=False,
        is_word=True,
        is_log=True,
    ),
    Exported(
        Refusal,
        refs=("ref",),
        kind="refusal",
        natural=("ref", "folded", "code", "minute"),
        has_ids=False,
        is_word=True,
        is_log=True,
    ),
    Exported(
        EmptySearch,
        derived=("folded",),
        derive=lambda values: {"folded": values["query"].casefold()},
        kind="empty_search",
        natural=("folded",),
        has_ids=False,
        is_word=True,
        is_log=True,
    ),
)
