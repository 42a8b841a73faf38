"""The actions of the tool `decision`: versioned decisions and the reasons for them."""

from typing import Annotated, NotRequired, Unpack

# Pydantic builds the answer's schema and needs this TypedDict before Python 3.12.
from typing_extensions import TypedDict

from ctxhub.core.hub.partial_reads import Opened, Reading, clean_requested_lines
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import InvalidInput
from ctxhub.core.kit.inputs import MAX_LIMIT
from ctxhub.core.kit.limits import NAME
from ctxhub.core.kit.listing import AnyObject, Listing
from ctxhub.core.kit.unset import UNSET, Unset
from ctxhub.toolbox.actions import action, tool
from ctxhub.toolbox.argument_types import (
    NAMES_FILES,
    SINCE,
    About,
    Cursor,
    Items,
    KeyOf,
    Limit,
    Lines,
    RowsOf,
    Says,
    Tail,
    Text,
    Value,
    Words,
)
from ctxhub.toolbox.batch_writes import BatchAnswer
from ctxhub.toolbox.batches import checked_items
from memory.decisions import queries, services
from memory.decisions.inputs import DecisionArguments, DecisionFilters, Numeric, clean_key
from memory.decisions.queries import list_decisions
from memory.statistics.numbers import AnalyticsFilters, Bucket, Statistics, analyse_decisions
from memory.statistics.trends import list_trends
from memory.suggestions.similar_keys import near_keys
from memory.suggestions.suggest import SuggestArguments, suggest_decisions

tool(
    "decision",
    "Decisions with reasons. Read before you choose; set what must last.",
    otherwise=[({"key", "value"}, "set"), ({"key"}, "get"), (set(), "list")],
)

Key = Annotated[str, KeyOf("decision")]
NewKey = Annotated[Key, About(schema=NAME)]
ONE_VERSION = "This version alone, its value whole; `lines` and `tail` read a part of it."


class GetAnswer(TypedDict):
    found: bool
    decision: NotRequired[AnyObject]
    similar: NotRequired[list[str]]
    truncated: NotRequired[bool]
    total_lines: NotRequired[int]
    next_lines: NotRequired[str]
    also_cut: NotRequired[list[str]]


@action(
    "decision",
    "set",
    writes=True,
    example={
        "key": "api/auth/method",
        "value": "JWT",
        "layer": "business",
        "tags": ["api"],
        "rationale": "Stateless.",
    },
    also_known_as=("set_decision", "set_context", "add", "create", "update", "add_decision_context"),
)
def set_(caller: Caller, key: NewKey, value: Value, **rest: Unpack[DecisionArguments]) -> services.SetAnswer:
    """Record a decision, or change it; what you leave out stays as it is.

    Keys are paths of words (api/auth/method). A new value raises the version and keeps the old one as a
    revision. `expected_version`: refuse if somebody changed it since you read it. `alternatives`: texts or
    {option, why_not}; `tradeoffs`: {pros[], cons[]}; `paths`: globs of files it bears on, such as
    src/*.{ts,tsx}; !src/gen/** behind them exempts files. Empty clears: "" a text, [] a list, {} the
    tradeoffs; metadata merges by key, null removes one. `similar` in the answer: keys that may mean what your
    new one does. `numeric`: a value in text that is a plain number (50, -1.5) is stored as a number; so it is
    by itself where the value is a number already. false: as a text.
    """
    return services.set_decision(caller=caller, key=key, value=value, **rest)


@action(
    "decision",
    "set_batch",
    writes=True,
    example={"items": [{"key": "db/engine", "value": "PostgreSQL"}, {"key": "perf/p95_ms", "value": 50}]},
)
def set_batch(
    caller: Caller,
    items: Annotated[Items, NAMES_FILES, About("Up to 50.")],
    atomic: Annotated[bool, About("All or nothing: the default.")] = True,
) -> BatchAnswer:
    """Set up to 50 decisions; each item takes what `set` takes.

    atomic: all or nothing, the error names the `index`. Otherwise each result tells how its item went.
    """
    return services.set_decision_batch(
        caller=caller, items=checked_items(items, "decision", "set"), atomic=atomic
    )


@action("decision", "quick_set", quiet=True, writes=True, example={"key": "api/rate-limit", "value": 100})
def quick_set(
    caller: Caller, key: Key, value: Value, numeric: Numeric | None | Unset = UNSET
) -> services.QuickSetAnswer:
    """Set a decision with two arguments: layer, tags and scope follow from the key."""
    return services.quick_set_decision(caller=caller, key=key, value=value, numeric=numeric)


@action(
    "decision",
    "get",
    example={"key": "api/auth/method", "include": ["rationale"]},
    also_known_as=("get_decision",),
)
def get(
    caller: Caller,
    key: Key,
    include: Annotated[Words, Says("rationale|history|links"), About("More of the decision.")] | None = None,
) -> Reading[GetAnswer]:
    """One decision whole; unknown: found false, and the nearest keys.

    What is too long is cut; get with its ref (decision:KEY) reads on, by `lines` or `tail`.
    """
    key = clean_key(key)
    row = queries.find_decision(caller.project_id, key)
    if row is None:
        return _unknown(caller, key)
    parts = queries.included(caller.project_id, row, include or ())
    return _found(Opened(queries.decision_item(row) | parts, "value", kind="decision"))


def _found(decision: Opened) -> Reading[GetAnswer]:
    return Reading([decision], lambda items: {"found": True, "decision": items[0]})


def _unknown(caller: Caller, key: str) -> Reading[GetAnswer]:
    similar = near_keys(caller.project_id, key)
    return Reading([], lambda _: {"found": False, "similar": similar})


@action(
    "decision",
    "list",
    example={"tags": ["api"], "status": "active", "limit": 10},
    also_known_as=(
        "get_context",
        "search_by_tags",
        "search_tags",
        "search_by_layer",
        "search_layer",
        "search_advanced",
    ),
)
def list_(caller: Caller, **filters: Unpack[DecisionFilters]) -> Listing:
    """Decisions that pass every filter, newest first, values cut to 200 characters unless full.

    `scope` may be a glob (api/*); `by` is an agent; `text`: all its words are in key, value, reasons or tags
    ("a phrase", -not, prefix*); `since`, `until`: a time, a time ago ("7d") or an event cursor. `tags`:
    security finds security/tls, too, as do the globs sec*, security/* and {api,security}. `stale`: true, only
    those whose files changed since; false, only the others.
    """
    return list_decisions(caller.project_id, **filters)


@action("decision", "versions", example={"key": "api/auth/method"}, also_known_as=("get_versions", "history"))
def versions(
    caller: Caller,
    key: Key,
    version: Annotated[Text, About(ONE_VERSION)] | None = None,
    lines: Lines | None = None,
    tail: Tail | None = None,
    limit: Limit = MAX_LIMIT,
    cursor: Cursor | None = None,
) -> Listing | Reading[GetAnswer]:
    """Every version, newest first, the current one included; values cut to 200 characters.

    With `version` that one, its value whole: {"found", "decision":{key, version, value, status, agent, at}}.
    A value that is too long is cut: `next_lines` is the `lines` to read on with. `lines`: "10-40", "10-",
    "12" or "12@21000-", from the 21,000th character of line 12; `tail`: the last ones.
    """
    requested = clean_requested_lines(lines, tail)
    if version is None:
        if requested:
            raise InvalidInput("lines and tail read one version.", missing=["version"])
        return queries.list_versions(caller.project_id, key, limit=limit, cursor=cursor)
    key = clean_key(key)
    row = queries.find_decision(caller.project_id, key)
    if row is None:
        return _unknown(caller, key)
    item = queries.find_version(caller.project_id, row, version)
    return _found(Opened(item, "value", requested)) if item else Reading([], lambda _: {"found": False})


@action(
    "decision",
    "deprecate",
    writes=True,
    idempotent=True,
    example={
        "key": "api/auth/method",
        "reason": "Sessions need revocation.",
        "superseded_by": "api/auth/sessions",
    },
    also_known_as=("supersede", "supersede_decision"),
)
def deprecate(
    caller: Caller, key: Key, reason: str | Unset = UNSET, superseded_by: Key | Unset = UNSET
) -> services.DeprecateAnswer:
    """End a decision: say why, and which key stands in its place."""
    return services.deprecate_decision(caller=caller, key=key, reason=reason, superseded_by=superseded_by)


@action(
    "decision",
    "suggest",
    quiet=True,
    example={"key": "api/auth/token-type", "text": "How do clients authenticate?", "tags": ["api"]},
    also_known_as=("by_key", "by_tags", "by_context", "check_duplicate", "suggest_decisions"),
)
def suggest(caller: Caller, **given: Unpack[SuggestArguments]) -> Listing:
    """What was decided already that is like a key, a text or tags; best first.

    Rows: key, score (0..100), reason, parts. Tags count 40 (what both have of what either has), text 40,
    layer 25, key 20 (words and path), scaled to 90 for those that are asked for; a change in the last 30 days
    adds 10, in 90 days 5, in 180 days 2. A key that exists asks with its own layer and tags.
    """
    return suggest_decisions(caller.project_id, **given)


@action(
    "decision",
    "analytics",
    quiet=True,
    example={"pattern": "perf/*", "since": "7d", "bucket": "day"},
)
def analytics(
    caller: Caller,
    pattern: Annotated[str, About("A whole key, in which `*` stands for anything: `perf/*`.", NAME)],
    **filters: Unpack[AnalyticsFilters],
) -> Annotated[Listing, RowsOf(Bucket)] | Statistics:
    """Figures over numeric values and their history.

    `pattern` is a whole key, in which * stands for anything (perf/*/p95_ms). Every number counts at the
    moment it was written, also one stored as a text (50, -1.5, 2e6); `left_out` counts other texts. p50 and
    p95 lie between two values by linear interpolation. `bucket` adds rows at (its beginning, UTC), count,
    mean, newest first. `more`: only the newest 100,000 numbers were read.
    """
    return analyse_decisions(caller.project_id, pattern, **filters)


@action("hub", "trends", quiet=True, example={"since": "30d", "bucket": "week", "by": "layer"})
def trends(
    caller: Caller,
    since: Annotated[str, About(f"Buckets since. {SINCE}")] | None = None,
    until: Annotated[str, About(f"Changes before. {SINCE}")] | None = None,
    bucket: Annotated[str, Says("day|hour|week|month")] = "day",
    by: Annotated[str, Says("layer|tag|agent|status")] | None = None,
    limit: Limit = 20,
    cursor: Cursor | None = None,
) -> Listing:
    """How decisions grow and change: created, changed, deprecated, and how many are in force.

    Rows at (the bucket's beginning, in the project's time zone), of (the layer, tag, agent or status), newest
    first; buckets without a change are left out. By layer and tag: as the decisions have them now. By agent:
    who wrote them. By status in_force is how many had that status. Deleted decisions are not counted.
    """
    return list_trends(
        caller.project_id, since=since, until=until, bucket=bucket, by=by, limit=limit, cursor=cursor
    )
