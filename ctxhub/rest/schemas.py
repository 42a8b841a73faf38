"""Rows of lists and other answers of core's endpoints, for OpenAPI; queries build them."""

from typing import Annotated, NotRequired

from typing_extensions import TypedDict

from ctxhub.core.hub.links import LinkedObject
from ctxhub.toolbox.argument_types import About, Author, LinesOfHit, SizeOfHit, StaleChanges, Time


class UsedWord(TypedDict):
    name: str
    uses: Annotated[int, About("How many things carry it.")]


class LayerName(TypedDict):
    name: str


class AgentSeen(TypedDict):
    name: str
    last_seen: Time | None
    session: NotRequired[Annotated[int | None, About("The one that it works in.")]]
    sessions: NotRequired[Annotated[int | None, About("Heard of in the last hour.")]]
    leases: NotRequired[Annotated[int | None, About("Live ones.")]]
    unread: NotRequired[Annotated[int | None, About("Messages.")]]
    writes: NotRequired[Annotated[int | None, About("Calls that write, of the last 24 hours.")]]
    reads: NotRequired[Annotated[int | None, About("Other calls, of the last 24 hours.")]]
    tokens: NotRequired[Annotated[int | None, About("Of the answers, of the last 24 hours.")]]


class LayerStats(TypedDict):
    layer: str
    decisions: Annotated[int, About("Active ones.")]
    changes: Annotated[int, About("Of the last hour.")]
    constraints: Annotated[int, About("Active ones.")]


class Activity(TypedDict):
    at: Time
    agent: Author
    verb: str
    ref: Annotated[str, About("What it was done to: `decision:api/auth`.")]
    note: str


class LinkWalk(TypedDict):
    items: list[LinkedObject]
    why: NotRequired[Annotated[str, About("Why what was asked for is as it is; on the first page.")]]
    next: Annotated[str | None, About("The `cursor` of the next page; null: this is the last one.")]
    count: int
    more: NotRequired[
        Annotated[bool, About("There are more than 1,000, or some that are too many steps away.")]
    ]
    omitted: NotRequired[Annotated[int, About("Left out to keep to `max_tokens`.")]]
    truncated: NotRequired[Annotated[bool, About("The one item is longer than that, and cut.")]]


class SearchHit(TypedDict):
    ref: Annotated[str, About("Opens it: `decision:api/auth`.")]
    title: Annotated[str | None, About("Null where only ids are asked for.")]
    excerpt: Annotated[str | None, About("What of it answers.")]
    score: Annotated[float, About(schema={"minimum": 0, "maximum": 1})]
    tokens: Annotated[int, About("What title and excerpt cost.")]
    lines: LinesOfHit | None
    size: SizeOfHit | None
    more: Annotated[int | None, About("How many nearly equal ones are left out.")]
    stale: StaleChanges | None


class SearchAnswer(TypedDict):
    items: Annotated[list[SearchHit], About("Best first.")]
    next: Annotated[str | None, About("Null: ask for more with `limit`.")]
    count: Annotated[int, About("How many items there are.")]
    total: Annotated[int, About("How many things answer, counted to 1,000.")]
    more: NotRequired[
        Annotated[bool | int, About("True: there are more than `total`. With `least`: the rest of it.")]
    ]
    omitted: NotRequired[Annotated[int, About("Left out to keep to `max_tokens`.")]]
    total_tokens: Annotated[int, About("What titles and excerpts cost together.")]
    avg_tokens: int
    method: Annotated[str, About("How it was found: any, corrected, all, fuzzy, similar.")]
    did_you_mean: NotRequired[Annotated[str, About("The question without its slips.")]]
    hint: NotRequired[Annotated[str, About("What kept everything out, or words that nothing has.")]]
    near: NotRequired[Annotated[list[str], About("Nothing found: refs of what is nearest.")]]


COUNTS = {
    "type": "object",
    "additionalProperties": {
        "oneOf": [
            {"type": "integer"},
            {"type": "array", "items": {"type": "integer"}, "description": "Active, all."},
        ]
    },
}

UPDATES = {
    "type": "object",
    "required": ["cursor"],
    "properties": {
        "cursor": {"type": "string", "description": "Pass it as `since` the next time."},
        "mail": {"type": "integer", "description": "Unread messages of priority high and critical."},
    },
    "additionalProperties": {"oneOf": [{"type": "integer"}, {"type": "string"}]},
}

ANYTHING = {"type": "object", "additionalProperties": True}
