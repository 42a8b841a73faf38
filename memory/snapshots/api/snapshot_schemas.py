"""REST schemas of the answers about snapshots, for OpenAPI."""

from typing import Annotated, NotRequired

from typing_extensions import TypedDict

from ctxhub.core.api.answers import joined
from ctxhub.core.toolbox.argument_types import Author, Time
from memory.snapshots.selectors.snapshots import CAUSE, ActionLabel, Snapshot, TierLabel
from memory.snapshots.services import snapshots as services


class ViewedSnapshot(TypedDict):
    """A minimalist shows id and summary alone; an auditor the source, too."""

    id: int
    action_type: NotRequired[ActionLabel]
    summary: str
    tier: NotRequired[TierLabel]
    caused_by: NotRequired[Annotated[int | str | None, CAUSE]]
    tags: NotRequired[list[str]]
    agent: NotRequired[Author]
    at: NotRequired[Time]
    source: NotRequired[str]


SavedSnapshot = joined("SavedSnapshot", services.SaveAnswer, Snapshot)
