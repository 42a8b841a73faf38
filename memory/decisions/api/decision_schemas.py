"""What only REST takes and answers about decisions."""

from typing import Annotated, NotRequired

from typing_extensions import TypedDict

from ctxhub.core.api.answers import joined
from ctxhub.core.toolbox.argument_types import About, Lines, Says, Tail, Words
from memory.decisions.selectors.analytics import Bucket, Statistics
from memory.decisions.selectors.decisions import Alternatives, DecisionItem, Reasons, Tradeoffs, Version
from memory.decisions.selectors.similar_keys import Similar
from memory.decisions.services import decisions as services


class KeyFilter(TypedDict, total=False):
    key: Annotated[str, About("Exactly this key: the decision whole, whatever its status.")]
    include: Annotated[Words, Says("rationale|history|links"), About("More of the decision; with `key`.")]


class PartOfValue(TypedDict, total=False):
    lines: Lines
    tail: Tail


class Cutting(TypedDict, total=False):
    full: Annotated[bool, About("Values whole, not cut to 200 characters.")]


# -- Answers ---------------------------------------------------------------------------------------


class Included(TypedDict, total=False):
    """What `include` adds."""

    history: list[Version]
    supersedes: list[str]


class WholeDecision(DecisionItem, Reasons, Included):
    pass


class ListedDecision(DecisionItem, Included, total=False):
    rationale: Annotated[str, About("With `key`.")]
    alternatives: Alternatives
    tradeoffs: Tradeoffs


SetAnswer = joined("SetAnswer", WholeDecision, services.SetAnswer)


class Analytics(Statistics):
    items: NotRequired[Annotated[list[Bucket], About("With `bucket`: newest first.")]]


class Parts(TypedDict, total=False):
    """What each part adds to the score; left out: nothing."""

    tags: float
    layer: float
    key: float
    text: float
    recency: float


class Suggestion(Similar):
    reason: str
    parts: Parts
