"""The actions of the tool `session` on sessions themselves."""

from typing import Annotated, Unpack

from ctxhub.core.hub.partial_reads import Reading
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.limits import OPTIONAL_NAME, PATH, REF
from ctxhub.core.kit.listing import AnyObject, Listing
from ctxhub.toolbox.actions import action, tool
from ctxhub.toolbox.argument_types import (
    NAMES_FILES,
    NAMES_OF_BUDGETS,
    UNDECLARED,
    About,
    Cursor,
    Default,
    ItemsOrTexts,
    Limit,
    Lines,
    Number,
    Ref,
    Says,
    Tail,
    also_called,
)
from sessions.sittings import services
from sessions.sittings.inputs import (
    LEAST_BUDGET,
    MOST_BUDGET,
    MOST_FILES,
    SaveArguments,
)
from sessions.sittings.models import HASH_LENGTH
from sessions.sittings.queries import SessionFilters, list_lineage, list_sessions, read_session
from sessions.sittings.restoring import DEFAULT_BUDGET, RestoreAnswer, restore_session
from sessions.windows.live import list_live_sessions

tool(
    "session",
    "Save before your window ends.",
    otherwise=[({"conversation"}, "save"), ({"session"}, "get"), (set(), "list")],
)


SessionRef = Annotated[Ref, About("Its id, ref or name.", REF)]


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


class SaveCall(SaveArguments, total=False):
    session: Annotated[SessionRef, About("To update it; a new name opens one.")] | None
    ended: Annotated[
        bool, Default(False), About("The window ends: what it and its parts hold is free."), UNDECLARED
    ]


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
    **arguments: Unpack[SaveCall],
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
    return services.save_session(caller=caller, **arguments)


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
def list_(caller: Caller, **filters: Unpack[SessionFilters]) -> Listing:
    """Sessions, newest first.

    `live` lists the windows and subagents instead that were heard of within an hour, with their branch and
    how many leases each holds; of the filters it takes `by`.
    """
    listed = list_live_sessions if filters.get("live") else list_sessions
    return listed(caller.project_id, **filters)


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
