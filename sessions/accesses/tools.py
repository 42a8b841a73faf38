"""The tool `session`: what agents do with files."""

from typing import Annotated, Unpack

from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.limits import PATH, WORD
from ctxhub.core.kit.listing import Listing
from ctxhub.toolbox.actions import action
from ctxhub.toolbox.argument_types import (
    NAMES_FILES,
    About,
    Cursor,
    Limit,
    Number,
    Ref,
    Says,
    Word,
)
from sessions.accesses import services
from sessions.accesses.dependencies import MOST_ROWS, list_dependencies
from sessions.accesses.files import list_session_resources
from sessions.accesses.inputs import MOST_DEPTH, MOST_STRENGTH
from sessions.accesses.queries import AccessFilters, list_accesses
from tracking.files.inputs import FactArguments

File = Annotated[str, NAMES_FILES, About("Relative to the repository.", PATH)]
AccessWord = Annotated[Word, Says("viewed|edited|executed|referenced")]
Session = Annotated[Ref, About("Its id or name; left out: the call's own.")]
Strength = Annotated[
    Number, About("Added to what is known; left out: 1.", {"minimum": 1, "maximum": MOST_STRENGTH})
]
Depth = Annotated[Number, About("Steps; left out: 1.", {"minimum": 1, "maximum": MOST_DEPTH})]
Rows = Annotated[Number, About("Left out: all, up to 1,000.", {"minimum": 1, "maximum": MOST_ROWS})]


@action(
    "session",
    "track",
    writes=True,
    example={"path": "src/api/auth.py", "access": "edited", "content": "def sign_in():\n    ...\n"},
    also_known_as=("track_resource_access", "track_resource"),
)
def track(
    caller: Caller,
    path: File,
    access: AccessWord,
    session: Session | None = None,
    **facts: Unpack[FactArguments],
) -> services.TrackAnswer:
    """Note what you did with a file.

    What you leave out stays as it was. Of a content over 1 MiB only hash, size and tokens are kept; what
    looks like a credential in it is masked. Another hash without a content drops the content that was kept.
    `importance`: your mark, 0 to 100, instead of the computed one. The answer has the importance for your
    session.
    """
    return services.track_access(caller=caller, path=path, access=access, session=session, **facts)


@action(
    "session",
    "accesses",
    quiet=True,
    example={"path": "src/api/auth.py", "access": "edited", "since": "7d"},
    also_known_as=("get_resource_access_logs", "access_log"),
)
def accesses(caller: Caller, **filters: Unpack[AccessFilters]) -> Listing:
    """Who did what with files, newest first.

    Without a session those of all. `access` is viewed, edited, executed or referenced; `since`: a time, a
    time ago ("7d") or an event cursor.
    """
    return list_accesses(caller, **filters)


@action(
    "session",
    "resources",
    example={"sort": "recent", "limit": 10},
    also_known_as=("get_resources_for_session", "files"),
)
def resources(
    caller: Caller,
    session: Session | None = None,
    sort: Annotated[Word, Says("relevance|accessed|recent", in_description=False)] = "relevance",
    limit: Limit = 20,
    cursor: Cursor | None = None,
) -> Listing:
    """The files of a session, yours unless said.

    The most relevant ones first (as `prioritize` found; of equal ones, as all are before it, those edited,
    then executed, referenced, viewed), those accessed most often (accessed), or those accessed last (recent).
    `importance`, 0 to 100, is computed now.
    """
    return list_session_resources(caller, session=session, sort=sort, limit=limit, cursor=cursor)


@action(
    "session",
    "depend",
    quiet=True,
    writes=True,
    example={"source": "src/api/auth.py", "target": "src/tokens.py", "type": "imports"},
    also_known_as=("add_resource_dependency", "add_dependency"),
)
def depend(
    caller: Caller,
    source: Annotated[File, About("The file that needs the other.")],
    target: Annotated[File, About("The file that it needs.")],
    type: Annotated[str, About("How it does: imports, tests, documents, ...", WORD)],
    strength: Strength = 1,
) -> services.DependAnswer:
    """Note that a file depends on another; said again, it gets stronger."""
    return services.add_dependency(caller=caller, source=source, target=target, type=type, strength=strength)


@action(
    "session",
    "dependencies",
    quiet=True,
    example={"path": "src/api/auth.py", "direction": "outgoing", "depth": 3},
    also_known_as=("get_resource_dependencies",),
)
def dependencies(
    caller: Caller,
    path: File,
    direction: Annotated[Word, Says("both|incoming|outgoing")] = "both",
    depth: Depth = 1,
    limit: Rows = MOST_ROWS,
    cursor: Cursor | None = None,
) -> Listing:
    """What a file needs (outgoing) and what needs it (incoming).

    `depth`: how many steps from it, 1 to 100; the nearest come first, each once, 1,000 at most (`more`).
    """
    return list_dependencies(
        caller.project_id, path=path, direction=direction, depth=depth, limit=limit, cursor=cursor
    )
