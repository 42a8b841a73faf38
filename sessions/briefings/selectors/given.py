"""Finds what an agent was given lately."""

from collections.abc import Collection
from datetime import datetime

from ctxhub.core.kit.caller import Caller
from ctxhub.core.links import ObjectKey
from sessions.briefings.sql.given import find_given


def given_since(caller: Caller, keys: Collection[ObjectKey], since: datetime) -> set[ObjectKey]:
    """Those of the objects that the caller's agent was given after a time, with a query for each kind."""
    ids: dict[str, list[int]] = {}
    for kind, object_id in keys:
        ids.setdefault(kind, []).append(object_id)
    folded = caller.agent.casefold()
    return {
        (kind, object_id)
        for kind, some in ids.items()
        for object_id in find_given(caller.project_id, folded, kind, some, since)
    }
