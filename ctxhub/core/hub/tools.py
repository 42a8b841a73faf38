"""The tools `hub` and `search`: what goes on, who is here, what is kept; one question to all there is."""

from typing import Annotated, Any

# pydantic writes the answer's schema, and wants this TypedDict before Python 3.12.
from ctxhub.core.accounts import config as config_services
from ctxhub.core.accounts.config import config_of, config_values
from ctxhub.core.events import cleanup, log
from ctxhub.core.events.waiting import LONGEST_SECONDS
from ctxhub.core.hub import overview
from ctxhub.core.hub.named_views import all_views
from ctxhub.core.hub.overview import wait_for_updates
from ctxhub.core.kit.caller import ADMIN, READ, Caller
from ctxhub.core.kit.inputs import MAX_LIMIT, clean_one_of
from ctxhub.core.kit.limits import REQUIRED_TEXT
from ctxhub.core.kit.listing import Listing
from ctxhub.core.paths import services
from ctxhub.core.search.search import answer_search
from ctxhub.toolbox.actions import action, tool
from ctxhub.toolbox.argument_types import (
    AT_MOST_A_PAGE,
    SINCE,
    UNDECLARED,
    About,
    Agents,
    ByAgent,
    ByAgentUndeclared,
    Cursor,
    InLayer,
    Limit,
    Number,
    Object,
    Ref,
    Refs,
    Says,
    Share,
    WithAnyTag,
    Words,
)


def _integer(at_least: int, at_most: int) -> dict[str, object]:
    return {"type": "integer", "minimum": at_least, "maximum": at_most}


SETTINGS: dict[str, dict[str, object]] = {
    "ignore_weekend": {"type": "boolean"},
    "time_zone": {"type": "string", "minLength": 1},
    "holidays": {"type": "array", "items": {"type": "string", "format": "date"}},
    "message_hours": _integer(1, 168),
    "change_days": _integer(1, 90),
    "scratchpad_days": _integer(0, 365),
    "session_days": _integer(0, 3650),
    "access_days": _integer(0, 3650),
    "auto_prune": {"type": "boolean"},
    "tell_stale": {"type": "boolean"},
    "record_given": {"type": "boolean"},
    "ignore_case_in_paths": {"type": "boolean"},
    "escalate_minutes": _integer(0, 10_080),
    "enrolment": {"type": "boolean"},
}


tool(
    "hub",
    "What is new, who is here.",
    otherwise=[(set(), "stats")],
)


Since = Annotated[str, About(SINCE)]
Seconds = Annotated[
    Number,
    About(
        "Answer when something is new, or after so many seconds.", {"minimum": 0, "maximum": LONGEST_SECONDS}
    ),
]
OF_EACH = About("How many of each a page holds; left out: 200.", AT_MOST_A_PAGE)
Settings = Annotated[
    Object,
    About(
        "Settings by name; null puts one back to its default.",
        {
            "minProperties": 1,
            "additionalProperties": False,
            "properties": {name: {**schema, "nullable": True} for name, schema in SETTINGS.items()},
        },
    ),
]


@action("hub", "stats", also_known_as=("get_stats", "db_stats"))
def stats(caller: Caller) -> dict[str, Any]:
    """Figures for every kind of thing; decisions as [active, all]."""
    return overview.count_all(caller.project_id)


@action("hub", "layer_summary", quiet=True, also_known_as=("get_layer_summary",))
def layer_summary(caller: Caller, limit: Limit = MAX_LIMIT, cursor: Cursor | None = None) -> Listing:
    """What is in force in each layer, the empty ones too, and how many files changed in the last hour."""
    return overview.summarise_layers(caller.project_id, limit=limit, cursor=cursor)


@action(
    "hub",
    "activity",
    example={"since": "1h", "agents": ["ada"], "verbs": ["created", "updated"]},
    also_known_as=("activity_log",),
)
def activity(
    caller: Caller,
    since: Since | None = None,
    agents: Annotated[Agents, About("Only by these agents.")] | None = None,
    by: ByAgentUndeclared | None = None,
    verbs: Annotated[Words, About("Only created, updated, deprecated, deleted.")] | None = None,
    limit: Limit = 20,
    cursor: Cursor | None = None,
) -> Listing:
    """What happened, newest first.

    `verbs` are created, updated, deprecated, deleted (also set, deprecate, delete). `since` is a time, a time
    ago ("30m", "7d") or an event cursor ("e1234").
    """
    return log.list_activity(
        caller.project_id, since=since, agents=agents, by=by, verbs=verbs, limit=limit, cursor=cursor
    )


@action("hub", "updates", counts_mail=True, example={"since": "e120"}, also_known_as=("has_updates",))
def updates(caller: Caller, since: Since | None = None) -> dict[str, Any]:
    """How many things others changed since, and the cursor for the next call.

    Your own changes are not counted. Costs a few tokens: poll with it, and read `activity` when a figure is
    there. `messages`: new ones to you (read the inbox), or yours acknowledged or claimed; `mail`: all urgent
    ones that you have not read.
    """
    return log.count_updates(caller, since=since)


@action("hub", "wait", counts_mail=True, example={"since": "e120", "wait_seconds": 30})
def wait(caller: Caller, since: Since | None = None, wait_seconds: Seconds = 30) -> dict[str, Any]:
    """As `updates`, as soon as there is something new to you, or after 0 to 60 seconds.

    Without `since`: new from now on.
    """
    return wait_for_updates(caller, since=since, wait_seconds=wait_seconds)


@action("hub", "agents", example={"limit": 20})
def agents(caller: Caller, limit: Limit = MAX_LIMIT, cursor: Cursor | None = None) -> Listing:
    """Who works here, last seen first."""
    return overview.list_agents(caller.project_id, limit=limit, cursor=cursor)


@action("hub", "vocabulary", quiet=True)
def vocabulary(
    caller: Caller, limit: Annotated[Number, OF_EACH] = MAX_LIMIT, cursor: Cursor | None = None
) -> dict[str, Any]:
    """The layers, categories, tags and scopes, with how often each is used; reuse them before you invent.

    The most used first, up to `limit` of each; with `next` as `cursor` the following ones of each.
    """
    return overview.count_vocabulary(caller.project_id, limit=limit, cursor=cursor)


@action("hub", "view", quiet=True, example={"name": "active_context"})
def view(caller: Caller, name: str, limit: Limit = 20, cursor: Cursor | None = None) -> Listing:
    """A ready-made view: tagged_decisions, active_context (decisions of the last hour), layer_summary,
    unread_messages_by_priority, recent_file_changes (of the last hour) or tagged_constraints.
    """
    views = all_views()
    return views[clean_one_of(name, list(views), "name")].select(
        caller.project_id, limit=limit, cursor=cursor
    )


@action(
    "hub",
    "confirm",
    quiet=True,
    writes=True,
    idempotent=True,
    example={"refs": ["decision:api/auth/method", "constraint:4"]},
)
def confirm(caller: Caller, refs: Refs) -> services.ConfirmAnswer:
    """Say that up to 50 decisions, constraints or memories still hold though their files changed.

    Their `stale` is gone until the next change. If one does not hold any more, change it instead: that
    confirms it, too. Answers how many were stale.
    """
    return services.confirm(caller=caller, refs=refs)


@action(
    "hub",
    "clear",
    quiet=True,
    destroys=True,
    dry_scope=READ,
    example={"messages_older_than": "12h", "dry_run": True},
    also_known_as=("clear_old_data",),
)
def clear(
    caller: Caller,
    messages_older_than: str | None = None,
    changes_older_than: str | None = None,
    dry_run: bool = False,
) -> dict[str, int | bool]:
    """Remove old messages and file changes; answers how many.

    A time or a time ago ("12h", "7d") is exact, and clears that kind only. Without either the project's
    settings decide, as in every cleaning. dry_run removes nothing, and answers how many it would.
    """
    older_than = {"messages": messages_older_than, "changes": changes_older_than}
    return cleanup.clear(caller=caller, older_than=older_than, dry_run=dry_run)


@action("hub", "config", quiet=True, also_known_as=("get_config",))
def config(caller: Caller) -> dict[str, Any]:
    """The project's settings: how long things are kept, and which days do not count."""
    return config_values(config_of(caller.project_id))


@action(
    "hub",
    "config_set",
    quiet=True,
    writes=True,
    scope=ADMIN,
    idempotent=True,
    example={"values": {"message_hours": 48, "ignore_weekend": True, "time_zone": "Europe/Berlin"}},
    also_known_as=("update_config",),
)
def config_set(caller: Caller, values: Settings) -> dict[str, Any]:
    """Change settings; those left out stay, null puts one back to its default.

    message_hours 1..168, change_days 1..90, scratchpad_days 0..365, session_days and access_days 0..3650,
    ignore_weekend (weekends and holidays do not age messages and changes), time_zone (Europe/Berlin),
    holidays (ISO dates), auto_prune, record_given, tell_stale, ignore_case_in_paths (SRC/A.py is
    src/a.py), escalate_minutes 0..10080 (an event for each request that nobody claims, and each message to
    be acknowledged that nobody reads, for so long; 0: none), enrolment (members connect programs by a code).
    """
    return config_services.set_config(caller=caller, values=values)


tool("search", "Find anything; ask in a sentence.")


QUERY = 'A sentence, words, an identifier. Also "a phrase", -not and prefix*.'
KIND_WORDS = [
    *("decision", "constraint", "message", "memory", "context"),
    *("scratchpad", "workflow", "resource", "change", "snapshot", "session"),
]
KINDS = f"Only these: {', '.join(KIND_WORDS)}."
MATCH = "Left out: auto, any of the words, and mistyped ones put right. similar: the query is a text."
DETAIL = (
    "What title and excerpt may cost: ids nothing, compact (left out) 60 tokens, standard 120, detailed 250."
)


LEAST = "What scores less than this share of the best is left out: 0.3, over REST 0."
WEAK = 0.3
Kinds = Annotated[Words, Says("decision|…"), About(KINDS, items={"enum": KIND_WORDS})]


@action(
    "search",
    example={"query": "why do sessions expire?", "kinds": ["decision", "message"], "detail": "standard"},
    also_known_as=("find", "recall"),
)
def search_everything(
    caller: Caller,
    query: Annotated[str, About(QUERY, REQUIRED_TEXT)],
    kinds: Kinds | None = None,
    match: Annotated[str, Says("auto|any|all|fuzzy|similar"), About(MATCH)] = "auto",
    detail: Annotated[str, Says("compact|ids|standard|detailed"), About(DETAIL)] = "compact",
    tags: WithAnyTag | None = None,
    layer: InLayer | None = None,
    context: Annotated[Ref, About("In this context, by its name or id.")] | None = None,
    by: ByAgent | None = None,
    since: Annotated[str, About(f"Changed since. {SINCE}")] | None = None,
    limit: Annotated[Number, About("How many of the best; left out: 10.", AT_MOST_A_PAGE)] = 10,
    least: Annotated[Share, About(LEAST), UNDECLARED] = WEAK,
) -> Listing:
    """Find anything said or decided: ask in a sentence, in any language, or by an identifier.

    Rows: ref (open it with get), title, excerpt, score (0..1), tokens, more (nearly equal ones left out),
    best first; in long texts lines (those to get) and size (characters of the whole). What scores less than
    0.3 of the best is left out: `more` counts the rest, least 0 shows it. Title and excerpt cost at most 60
    tokens (compact), 120 (standard) or 250 (detailed); ids gives refs alone. For a list of things ask
    several short questions, or limit 20. `match`: any of the words (auto: and mistyped ones are put right,
    did_you_mean says how), all of them, fuzzy (words near them, too), or similar (query is a text: what is
    like it). Also "a phrase", -not and prefix*. `kinds`: decision, constraint, message, memory, context,
    scratchpad, workflow, resource (a file by its path), change (what was said of one). `tags`: any of them;
    `context`: of memories; `by`: an agent; `since`: a
    time, a time ago ("7d") or an event cursor.
    """
    return answer_search(
        caller.project_id,
        query,
        match=match,
        detail=detail,
        limit=limit,
        least=least,
        kinds=kinds,
        tags=tags,
        layer=layer,
        context=context,
        by=by,
        since=since,
    )
