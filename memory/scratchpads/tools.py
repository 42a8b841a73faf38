"""The tool `scratchpad`: shared texts in workflows."""

from typing import Annotated, Any, NotRequired

# pydantic writes the answer's schema, and wants this TypedDict before Python 3.12.
from typing_extensions import TypedDict

from ctxhub.core.hub.outlines import Outlined, Part
from ctxhub.core.hub.partial_reads import Reading
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import InvalidInput
from ctxhub.core.kit.limits import ANY_LENGTH, AT_LEAST_A_CHARACTER, NAME, QUESTION
from ctxhub.core.kit.listing import AnyObject, Listing
from ctxhub.core.kit.unset import UNSET, Unset, if_set
from ctxhub.toolbox.actions import action, tool
from ctxhub.toolbox.argument_types import (
    About,
    AsIds,
    ByAgentUndeclared,
    Cursor,
    IdOf,
    Limit,
    Lines,
    Number,
    Object,
    OptionalName,
    Says,
    Tail,
)
from memory.scratchpads import queries
from memory.scratchpads import services as scratchpads_services
from memory.scratchpads.queries import open_many, open_one, open_revision
from memory.scratchpads.search import search_scratchpads
from memory.workflows import services as workflows_services
from memory.workflows.queries import list_workflows

tool(
    "scratchpad",
    "Working pads of a workflow; append to hand on.",
    otherwise=[
        ({"workflow_id", "name"}, "create"),
        ({"scratchpad_id", "content"}, "append"),
        ({"query"}, "search"),
        ({"scratchpad_id"}, "get"),
        ({"scratchpad_ids"}, "get"),
        ({"workflow_id"}, "list"),
        (set(), "workflows"),
    ],
)


PadId = Annotated[Number, IdOf("scratchpad")]
PadIds = Annotated[list[PadId], AsIds]
WorkflowId = Annotated[Number, IdOf("workflow")]
PartOfPad = Annotated[Lines, Says("10-40")]
Mode = Annotated[
    str,
    Says("replace|insert|replace_lines|section|append_section"),
    About("Left out: section with section, replace_lines with end, insert with line, else replace."),
]
ExpectedLength = Annotated[Number, About("In characters; else 409.", {"minimum": 0})]


class Marks(TypedDict):
    """What a text that was cut lacks."""

    truncated: NotRequired[bool]
    total_lines: NotRequired[int]
    next_lines: NotRequired[str]


class GetAnswer(Marks):
    scratchpad: NotRequired[AnyObject | None]
    scratchpads: NotRequired[list[AnyObject]]
    missing: NotRequired[list[int]]
    omitted: NotRequired[int]


class RevisionAnswer(Marks):
    scratchpad: dict[str, Any] | None


# -- Workflows -------------------------------------------------------------------------------------


@action(
    "scratchpad",
    "create_workflow",
    writes=True,
    example={"name": "Code Refactoring Task"},
    also_known_as=("create-workflow", "start", "begin"),
)
def create_workflow(
    caller: Caller,
    name: OptionalName | None = None,
    metadata: Annotated[Object, About('{"keep": "never"} spares it for ever.')] | None = None,
) -> workflows_services.CreateWorkflowAnswer:
    """Begin a piece of work whose agents share up to 50 pads.

    A workflow that nobody writes to for some days (scratchpad_days) is cleaned; metadata {"keep":"never"}
    spares it.
    """
    return workflows_services.create_workflow(caller=caller, name=name, metadata=metadata)


@action(
    "scratchpad",
    "workflows",
    example={"active": True, "text": "refactoring"},
    also_known_as=("list-workflows", "get-workflow", "get-latest-active-workflow", "search-workflows"),
)
def workflows_(
    caller: Caller,
    active: Annotated[bool, About("Only those that are open; false: only the closed ones.")] | None = None,
    text: Annotated[str, About("All its words stand in the name, the metadata or a pad.")] | None = None,
    by: ByAgentUndeclared | None = None,
    limit: Limit = 20,
    cursor: Cursor | None = None,
) -> Listing:
    """Workflows, the one written to last first.

    `text`: all its words stand in the name, the metadata or a pad. `active`: false lists the closed ones.
    """
    return list_workflows(caller.project_id, active=active, text=text, by=by, limit=limit, cursor=cursor)


@action(
    "scratchpad",
    "close_workflow",
    quiet=True,
    writes=True,
    idempotent=True,
    example={"workflow_id": 2},
    also_known_as=("update-workflow-status", "close", "finish"),
)
def close_workflow(
    caller: Caller, workflow_id: WorkflowId, reopen: bool = False
) -> workflows_services.WorkflowAnswer:
    """From now on its pads can only be read; reopen lets them be written to again."""
    return workflows_services.close_workflow(caller=caller, workflow_id=workflow_id, reopen=reopen)


# -- Pads ------------------------------------------------------------------------------------------


@action(
    "scratchpad",
    "create",
    writes=True,
    example={"workflow_id": 2, "name": "code_analysis", "content": "# Findings\n1. A slow query"},
    also_known_as=("create-scratchpad", "add"),
)
def create(
    caller: Caller,
    workflow_id: WorkflowId,
    name: Annotated[str, About(schema=NAME)],
    content: Annotated[str, About("What does not fit into 1,048,576 bytes is cut.", ANY_LENGTH)] | None = "",
) -> scratchpads_services.CreatePadAnswer:
    """Begin a pad in a workflow. It holds 1,048,576 bytes; `warning` says what was cut off."""
    return scratchpads_services.create_scratchpad(
        caller=caller, workflow_id=workflow_id, name=name, content=content
    )


@action(
    "scratchpad",
    "list",
    example={"workflow_id": 2},
    also_known_as=("list-scratchpads", "pads"),
)
def list_(
    caller: Caller,
    workflow_id: Annotated[WorkflowId, About("Of this workflow.")],
    include_content: Annotated[bool, About("With their texts, as many as an answer holds.")] = False,
    by: ByAgentUndeclared | None = None,
    limit: Annotated[Limit, About("How many items a page holds; left out: 50.")] = 50,
    cursor: Cursor | None = None,
) -> Listing:
    """The pads of a workflow in the order of their creation; none of an unknown one."""
    return queries.list_scratchpads(
        caller.project_id, workflow_id, include_content=include_content, by=by, limit=limit, cursor=cursor
    )


@action(
    "scratchpad",
    "get",
    example={"scratchpad_id": 3, "lines": "10-40"},
    also_known_as=("get-scratchpad", "read", "get-scratchpad-outline", "tail-scratchpad"),
)
def get(
    caller: Caller,
    scratchpad_id: PadId | None = None,
    scratchpad_ids: PadIds | None = None,
    lines: PartOfPad | None = None,
    tail: Tail | None = None,
    outline: Outlined = False,
) -> Reading[GetAnswer]:
    """A pad with its text, or several: all of it, some lines, the last ones (tail), or its outline.

    An unknown pad is null, of several it is `missing`. A text that is too long is cut: `next_lines` is the
    `lines` to read on with. `lines`: "10-40", "10", "10-", or "12@21000-", from the 21,000th character of
    line 12. What is read on with, put one behind the other, is the text.
    """
    if (scratchpad_id is None) == (scratchpad_ids is None):
        raise InvalidInput("Name either scratchpad_id or scratchpad_ids.", missing=["scratchpad_id"])
    part = Part(lines=lines, tail=tail, outline=outline)
    if scratchpad_id is not None:
        return open_one(caller.project_id, scratchpad_id, **part)
    return open_many(caller.project_id, scratchpad_ids or [], **part)


@action(
    "scratchpad",
    "append",
    writes=True,
    example={"scratchpad_id": 3, "content": "2. A leak in the pool"},
    also_known_as=("append-scratchpad", "write"),
)
def append(
    caller: Caller,
    scratchpad_id: PadId,
    content: Annotated[str, About(schema=AT_LEAST_A_CHARACTER)],
    separator: Annotated[str, About("Stands between; left out: a blank line.")] | None = None,
) -> scratchpads_services.AppendAnswer:
    """Add to the end of a pad; nobody's lines are lost, however many write at once.

    The separator, a blank line unless said, stands between what is there and what is new.
    """
    return scratchpads_services.append_to_scratchpad(
        caller=caller, scratchpad_id=scratchpad_id, content=content, separator=separator
    )


@action(
    "scratchpad",
    "update",
    writes=True,
    example={
        "scratchpad_id": 3,
        "content": "1. A slow query, mended",
        "section": "Findings",
        "expected_length": 60,
    },
    also_known_as=("update-scratchpad", "edit", "replace", "chop-scratchpad"),
)
def update(
    caller: Caller,
    scratchpad_id: PadId,
    content: str,
    mode: Mode | Unset = UNSET,
    line: Annotated[Number, About("Insert before it, or replace from it on.")] | None = None,
    end: Annotated[Number, About("The last line replaced; left out: line.")] | None = None,
    section: Annotated[str, About("The text of a heading.")] | None = None,
    expected_length: ExpectedLength | None = None,
) -> scratchpads_services.UpdateAnswer:
    """Change a pad: replace all, insert before a line, replace_lines line to end, a section, append_section.

    Without mode, `section` means section, `line` and `end` replace_lines, `line` alone insert, none of them
    replace. Lines count from 1; inserting before the line behind the last adds at the end. `section` is the
    text of a heading: what stands below it, up to the next heading of its level or a higher one, is replaced;
    the heading stays, unless `content` begins with one of that level. append_section adds at its end instead.
    With expected_length (characters, as answers and lists say) nothing is written over that you have not
    read. revisions shows what was there before, restore brings it back.
    """
    return scratchpads_services.update_scratchpad(
        caller=caller,
        scratchpad_id=scratchpad_id,
        content=content,
        mode=if_set(mode, None),
        line=line,
        end=end,
        section=section,
        expected_length=expected_length,
    )


@action(
    "scratchpad",
    "revisions",
    quiet=True,
    example={"scratchpad_id": 3, "revision": 2},
    also_known_as=("history", "versions"),
)
def revisions(
    caller: Caller,
    scratchpad_id: PadId,
    revision: Number | None = None,
    lines: PartOfPad | None = None,
    tail: Tail | None = None,
    limit: Limit = 20,
    cursor: Cursor | None = None,
) -> Listing | Reading[RevisionAnswer]:
    """What a pad was, newest first, the present state included; with revision, its text then.

    `lines` and `tail` read a part of that text, as in get.
    """
    if revision is not None:
        return open_revision(caller.project_id, scratchpad_id, revision, lines=lines, tail=tail)
    if lines is not None or tail is not None:
        raise InvalidInput("lines and tail read one revision.", missing=["revision"])
    return queries.list_revisions(caller.project_id, scratchpad_id, limit=limit, cursor=cursor)


@action(
    "scratchpad",
    "restore",
    quiet=True,
    writes=True,
    idempotent=True,
    example={"scratchpad_id": 3, "revision": 2},
    also_known_as=("undo", "revert"),
)
def restore(
    caller: Caller, scratchpad_id: PadId, revision: Number, expected_length: ExpectedLength | None = None
) -> scratchpads_services.RestorePadAnswer:
    """Make a pad's text what it was at a revision; restoring the one before undoes that."""
    return scratchpads_services.restore_scratchpad(
        caller=caller, scratchpad_id=scratchpad_id, revision=revision, expected_length=expected_length
    )


@action(
    "scratchpad",
    "search",
    example={"query": "slow query", "workflow_id": 2},
    also_known_as=("search-scratchpads", "search-scratchpad-content", "find"),
)
def search(
    caller: Caller,
    query: Annotated[str, About("What to look for.", QUESTION)],
    workflow_id: Annotated[WorkflowId, About("In the pads of this workflow.")] | None = None,
    scratchpad_id: Annotated[PadId, About("In this pad: an item for each line.")] | None = None,
    limit: Annotated[Limit, About("How many are answered; left out: 20.")] = 20,
    include_content: Annotated[
        bool, About("Left out: with a snippet, what is found between « and ».")
    ] = True,
) -> Listing:
    """Find pads by what is written in them, best first; hits stand between « and ».

    With scratchpad_id: the lines of that pad, each with its number.
    """
    return search_scratchpads(
        caller.project_id,
        query,
        workflow_id=workflow_id,
        scratchpad_id=scratchpad_id,
        limit=limit,
        include_content=include_content,
    )
