"""The actions of the tool `session` on sessions themselves."""

from typing import Annotated, Any

from ctxhub.core.hub.partial_reads import Reading
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.limits import MOST_ENTRIES, OPTIONAL_NAME, OPTIONAL_PATH, PATH, REF, TEXT
from ctxhub.core.kit.listing import AnyObject, Listing
from ctxhub.core.kit.unset import UNSET, Unset
from ctxhub.toolbox.actions import action, tool
from ctxhub.toolbox.argument_types import (
    NAMES_FILES,
    NAMES_OF_BUDGETS,
    UNDECLARED,
    About,
    ByAgent,
    Checks,
    Cursor,
    ItemsOrTexts,
    Limit,
    Lines,
    Number,
    Object,
    Ref,
    Says,
    Shows,
    Tail,
    Words,
    also_called,
)
from ctxhub.toolbox.list_conversions import conversion_error
from sessions.sittings import services
from sessions.sittings.conversations import Conversation
from sessions.sittings.inputs import LEAST_BUDGET, MOST_BUDGET, MOST_FILES, MOST_ITEMS, MOST_TOKENS
from sessions.sittings.models import HASH_LENGTH
from sessions.sittings.queries import list_lineage, list_sessions, read_session
from sessions.sittings.restoring import DEFAULT_BUDGET, RestoreAnswer, restore_session
from sessions.windows.live import list_live_sessions, refuse_other_filters

tool(
    "session",
    "Save before your window ends.",
    otherwise=[({"conversation"}, "save"), ({"session"}, "get"), (set(), "list")],
)


SessionRef = Annotated[Ref, About("Its id, ref or name.", REF)]
Workspace = Annotated[str, About("Left out: default.", OPTIONAL_NAME)]
Name = Annotated[str, About(schema=OPTIONAL_NAME)]


def _text_or_messages(value: Any) -> Any:
    if isinstance(value, str | list | dict):
        return value
    raise conversion_error("conversation", "must be a text, or a list of messages {role, content}")


SavedConversation = Annotated[
    Conversation,
    Checks(_text_or_messages),
    Shows({"type": "string"}, {"type": ["string", "array"]}),
    About("A text, or messages {role, content}."),
]
SavedFiles = Annotated[
    ItemsOrTexts,
    NAMES_FILES,
    Says("{path,hash}"),
    About("path, hash, content, modified_at of each, or paths; replaces.", {"maxItems": MOST_FILES}),
]
SavedItems = Annotated[
    ItemsOrTexts,
    Says("{category,content,importance}"),
    About(
        "category, content, importance 1..10, tokens of each, or texts; replaces.", {"maxItems": MOST_ITEMS}
    ),
]
PRESENT_FILE = {
    "properties": {
        "path": {"type": "string", **PATH},
        "hash": {"type": "string", "nullable": True, "maxLength": HASH_LENGTH},
    },
    "required": ["path"],
    "additionalProperties": False,
}
PresentFiles = Annotated[
    ItemsOrTexts,
    NAMES_FILES,
    Says("{path,hash}"),
    About("path and hash of each; hash null: it is not there.", {"maxItems": MOST_FILES}, PRESENT_FILE),
]
Budget = Annotated[
    Number,
    About("For the whole answer.", {"minimum": LEAST_BUDGET, "maximum": MOST_BUDGET}),
    also_called(*NAMES_OF_BUDGETS),
]
Tokens = Annotated[Number, About("Left out: counted.", {"minimum": 0, "maximum": MOST_TOKENS})]


@action(
    "session",
    "save",
    writes=True,
    example={
        "workspace_id": "shop",
        "conversation": "user: The basket is slow.\nassistant: It asks the database for each row.",
        "summary": "The basket asks once for each row; a join is half written.",
        "items": [{"category": "task", "content": "Finish the join in basket.py", "importance": 9}],
        "files": [{"path": "shop/basket.py", "hash": "3f2a9c"}],
        "active_project": "shop",
        "branch": "faster-basket",
    },
    also_known_as=("save_session", "create", "checkpoint"),
)
def save(
    caller: Caller,
    workspace_id: Workspace | Unset = UNSET,
    conversation: SavedConversation | Unset = UNSET,
    token_count: Tokens | Unset = UNSET,
    summary: Annotated[str, About(schema=TEXT)] | None | Unset = UNSET,
    items: SavedItems | None | Unset = UNSET,
    files: SavedFiles | None | Unset = UNSET,
    active_project: Name | None | Unset = UNSET,
    enabled_mcps: Annotated[Words, About(schema=MOST_ENTRIES)] | None | Unset = UNSET,
    settings: Object | None | Unset = UNSET,
    branch: Name | None | Unset = UNSET,
    worktree: Annotated[str, About(schema=OPTIONAL_PATH)] | None | Unset = UNSET,
    parent: Annotated[Ref, About("The session that it continues.")] | None | Unset = UNSET,
    session: Annotated[SessionRef, About("To update it; a new name opens one.")] | None = None,
    ended: Annotated[bool, About("The window ends: what it and its parts hold is free."), UNDECLARED] = False,
) -> services.SaveAnswer:
    """Keep where you are.

    With `session` that one is updated: a conversation that differs is added; items, files and state given
    replace what was there, and what is left out stays. Without it, a new one is made, or the one that you
    restored is saved. `workspace_id` is default unless said; `conversation` is a text, or messages {role,
    content}, kept as "role: text"; images and tool calls leave a mark. items {category, content, importance
    1..10, tokens}, at most 50, or texts; files {path, hash, content?, modified_at?}, at most 500, or paths.
    Credentials in conversation, items and contents are masked; `masked` counts them. `parent`: what this
    session continues. `ended` also releases the leases of the session and of its parts; `released`
    counts them.
    """
    return services.save_session(
        caller=caller,
        session=session,
        workspace_id=workspace_id,
        conversation=conversation,
        token_count=token_count,
        summary=summary,
        items=items,
        files=files,
        active_project=active_project,
        enabled_mcps=enabled_mcps,
        settings=settings,
        branch=branch,
        worktree=worktree,
        parent=parent,
        ended=ended,
    )


@action(
    "session",
    "restore",
    writes=True,
    example={
        "workspace_id": "shop",
        "budget_tokens": 2_000,
        "files": [{"path": "shop/basket.py", "hash": "77b0e1"}],
    },
    also_known_as=("restore_session", "resume", "continue", "load"),
)
def restore(
    caller: Caller,
    session: Annotated[SessionRef, About("Also another agent's.")] | None = None,
    workspace_id: Annotated[str, About("What you saved last there.", OPTIONAL_NAME)] | None = None,
    budget_tokens: Budget = DEFAULT_BUDGET,
    files: PresentFiles | None = None,
) -> RestoreAnswer:
    """Go on from a session, in a new one.

    `session` names any session of the project; else it is what you saved last in `workspace_id` (default
    unless said). Restored again before you write anything in the new one, that one is answered. The answer
    keeps to `budget_tokens` (200..20000): state and summary, items by importance, conversations newest first
    (the last one without its start), files; `omitted` counts the rest, and get reads it. `files`: path and
    hash of yours now; `changed` is true, false, missing (you gave no hash), or null for files that you did
    not name, or by their path alone ("src/app.py").
    """
    return restore_session(
        caller=caller,
        session=session,
        workspace_id=workspace_id,
        budget_tokens=budget_tokens,
        files=files,
    )


@action(
    "session",
    "list",
    example={"workspace_id": "shop", "limit": 5},
    also_known_as=("list_sessions", "sessions"),
)
def list_(
    caller: Caller,
    workspace_id: Annotated[str, About("In this workspace.", OPTIONAL_NAME)] | None = None,
    by: ByAgent | None = None,
    parent: Annotated[Ref, About("Those that continue this one.")] | None = None,
    implicit: Annotated[bool, About("Also those that nobody saved or named.")] = False,
    live: Annotated[bool, About("The windows and subagents heard of within an hour."), UNDECLARED] = False,
    limit: Limit = 20,
    cursor: Cursor | None = None,
) -> Listing:
    """Sessions, newest first.

    `live` lists the windows and subagents instead that were heard of within an hour, with their branch and
    how many leases each holds; of the filters it takes `by`.
    """
    if live:
        refuse_other_filters(workspace_id=workspace_id, parent=parent, implicit=implicit)
        return list_live_sessions(caller.project_id, by=by, limit=limit, cursor=cursor)
    return list_sessions(
        caller.project_id,
        workspace_id=workspace_id,
        by=by,
        parent=parent,
        implicit=implicit,
        limit=limit,
        cursor=cursor,
    )


@action(
    "session",
    "get",
    example={"session": 5, "full": True},
    also_known_as=("get_session", "read", "show"),
)
def get(
    caller: Caller,
    session: SessionRef,
    full: Annotated[bool, About("With the texts of conversations and items.")] = False,
    conversation: Annotated[Number, About("Only this one, by its id.")] | None = None,
    lines: Lines | None = None,
    tail: Tail | None = None,
) -> Reading[AnyObject]:
    """One session.

    With `full` also the texts of its conversations and items. `conversation`, by its id, reads one of them,
    `lines` ("10-40", "10-") and `tail` a part of it; `next_lines` is the `lines` to read on with.
    """
    return read_session(
        caller.project_id, session, full=full, conversation=conversation, lines=lines, tail=tail
    )


@action(
    "session",
    "lineage",
    quiet=True,
    example={"session": 5},
    also_known_as=("get_lineage", "chain", "ancestors"),
)
def lineage(caller: Caller, session: SessionRef, limit: Limit = 20, cursor: Cursor | None = None) -> Listing:
    """What a session continues, back to the first."""
    return list_lineage(caller.project_id, session, limit=limit, cursor=cursor)
