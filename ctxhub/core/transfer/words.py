"""The exports of agents and of the vocabulary."""

from typing import Any

from django.db.models import Exists, OuterRef, Q, QuerySet

from ctxhub.core.models import AccessToken, Agent, Category, Layer, Scope, Tag
from ctxhub.core.transfer.declaration import Exported, Values, register


def folded_name(values: Values) -> Values:
    """The case-folded name, by which a name is found."""
    return {"folded": values["name"].casefold()}


def _that_spoke(agents: QuerySet[Any]) -> QuerySet[Any]:
    """Without those that only a token names: tokens are not exported."""
    has_token = Exists(AccessToken.unscoped.filter(agent=OuterRef("pk")))
    return agents.exclude(Q(last_seen_at=None) & has_token)


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
            derived=("folded",),
            derive=folded_name,
            kind=_kind,
            natural=("folded",),
            has_ids=False,
            is_word=True,
            only=_that_spoke if _model is Agent else None,
        )
    )
