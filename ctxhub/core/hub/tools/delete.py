"""The tool `delete`: the one that removes what others may still need."""

from typing import Annotated

from ctxhub.core.hub.services.deleting import delete_refs
from ctxhub.core.hub.services.ref_outcomes import DeletedRow
from ctxhub.core.hub.services.undoing import undo_deletions
from ctxhub.core.kit.caller import ADMIN, READ, WRITE, Caller
from ctxhub.core.kit.listing import Listing
from ctxhub.core.toolbox.actions import action, tool
from ctxhub.core.toolbox.argument_types import About, Refs, RowsOf

tool("delete", "Remove objects by ref; undo brings them back.")


@action(
    "delete",
    destroys=True,
    scope=WRITE,
    or_scope=ADMIN,
    dry_scope=READ,
    example={"refs": ["memory:4", "scratchpad:3"], "dry_run": True},
    also_known_as=("remove", "forget", "hard_delete", "erase", "undelete"),
)
def delete(
    caller: Caller,
    refs: Annotated[Refs, About("What to delete, 1 to 50 refs.", {"minItems": 1})],
    dry_run: Annotated[bool, About("Only tell what would happen.")] = False,
    undo: Annotated[bool, About("Bring back what was deleted in the last 30 days.")] = False,
) -> Annotated[Listing, RowsOf(DeletedRow)]:
    """Delete up to 50 objects by their refs, each by itself, with their history.

    memory, context (with its memories), scratchpad, workflow (with its pads), and your own sessions; a
    decision, a snapshot and another's session need the scope admin. To end a decision deprecate it; a
    constraint is deactivated, a lease released. Rows: ref, result (deleted, not_found, not_allowed,
    conflict), note (what went with it, or why not); an error if none was deleted. dry_run tells the same and
    deletes nothing. What was deleted lies 30 days in a bin: undo with the same refs brings it back under its
    id, with its history, relationships and what went with it (result restored; conflict: its name is taken,
    or what it lay in is gone).
    """
    if undo:
        return undo_deletions(caller=caller, refs=refs, dry_run=dry_run)
    return delete_refs(caller=caller, refs=refs, dry_run=dry_run)
