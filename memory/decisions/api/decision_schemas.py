"""What only REST takes about decisions, and its responses, for the OpenAPI schema."""

from typing import Annotated, Any, NotRequired

from typing_extensions import TypedDict

from ctxhub.core.toolbox.argument_types import About, Lines, Says, Tail, Time, Words, one_of
from memory.decisions.inputs.schemas import ALTERNATIVES, TRADEOFFS
from memory.decisions.selectors.similar_keys import Similar

STATUSES = ("active", "draft", "deprecated")
RESULTS = ("created", "updated", "unchanged")


class KeyFilter(TypedDict, total=False):
    key: Annotated[str, About("Exactly this key: the decision whole, whatever its status.")]
    include: Annotated[Words, Says("rationale|history|links"), About("More of the decision; with `key`.")]


class PartOfValue(TypedDict, total=False):
    lines: Lines
    tail: Tail


class Cutting(TypedDict, total=False):
    full: Annotated[bool, About("Values whole, not cut to 200 characters.")]


# -- Answers ---------------------------------------------------------------------------------------


Value = str | int | float
Alternatives = Annotated[list[Any], About(schema={**ALTERNATIVES, "nullable": True})]
Tradeoffs = Annotated[dict[str, Any], About(schema={**TRADEOFFS, "nullable": True})]


class Decision(TypedDict):
    key: str
    value: Value
    version: str
    status: Annotated[str, one_of(*STATUSES)]
    layer: str | None
    tags: list[str]
    scopes: list[str]
    paths: list[str]
    agent: str
    updated: Time
    metadata: NotRequired[dict[str, Any]]
    reason: NotRequired[Annotated[str, About("Why it was deprecated.")]]
    superseded_by: NotRequired[str | None]


class Version(TypedDict):
    version: str
    value: Value
    status: Annotated[str, one_of(*STATUSES)]
    agent: str
    at: Time


class Reasons(TypedDict):
    rationale: str
    alternatives: Alternatives
    tradeoffs: Tradeoffs


class WholeDecision(Reasons, Decision):
    history: NotRequired[list[Version]]
    supersedes: NotRequired[list[str]]


class ListedDecision(Decision):
    rationale: NotRequired[Annotated[str, About("With `key`.")]]
    alternatives: NotRequired[Alternatives]
    tradeoffs: NotRequired[Tradeoffs]
    history: NotRequired[list[Version]]
    supersedes: NotRequired[list[str]]


class SetAnswer(WholeDecision):
    id: int
    result: Annotated[str, one_of(*RESULTS)]
    hint: NotRequired[str]
    similar: NotRequired[Annotated[list[Similar], About("Keys that may mean what this new one does.")]]


class Parts(TypedDict):
    """What each part adds to the score; left out: nothing."""

    tags: NotRequired[float]
    layer: NotRequired[float]
    key: NotRequired[float]
    text: NotRequired[float]
    recency: NotRequired[float]


class Suggestion(Similar):
    reason: str
    parts: Parts


class Analytics(TypedDict):
    """With nothing to measure: `count` 0 and perhaps a `hint`."""

    count: Annotated[int, About("How many numbers.")]
    min: NotRequired[float]
    max: NotRequired[float]
    mean: NotRequired[float]
    p50: NotRequired[float]
    p95: NotRequired[float]
    last: NotRequired[Annotated[float, About("The one written last.")]]
    columns: NotRequired[list[str]]
    rows: NotRequired[
        Annotated[
            list[list[Value]],
            About("For each bucket: when it begins (UTC), count, mean; newest first."),
        ]
    ]
    omitted: NotRequired[Annotated[int, About("Older buckets that are not shown.")]]
    more: NotRequired[Annotated[bool, About("Only the newest 100,000 numbers were read.")]]
    hint: NotRequired[str]
