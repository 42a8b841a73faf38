"""The tool `delete`: the one that removes what others may still need."""

from typing import Annotated

from ctxhub.core.hub.services import deleting
from ctxhub.core.kit.caller import ADMIN, READ, WRITE, Caller
from ctxhub.core.kit.listing import Listing
from ctxhub.core.toolbox.actions import action, tool
from ctxhub.core.toolbox.argument_types import About, Refs, RowsOf

tool("delete", "Remove objects by ref, for good.")


@action(
    "delete",
    destroys=True,
    scope=WRITE,
    or_scope=ADMIN,
    dry_scope=READ,
    example={"refs": ["memory:4", "scratchpad:3"], "dry_run": True},
    also_known_as=("remove", "forget", "hard_delete", "erase"),
)
def delete(
    caller: Caller,
    refs: Annotated[Refs, About("What to delete, 1 to 50 refs.", {"minItems": 1})],
    dry_run: Annotated[bool, About("Only tell what would happen.")] = False,
) -> Annotated[Listing, RowsOf(deleting.DeletedRow)]:
    """Delete up to 50 objects by their refs for good, each by itself, with their history.

    memory, context (with its memories), scratchpad, workflow (with its pads), and your own sessions; a
    decision, a snapshot and another's session need the scope admin. To end a decision deprecate it; a
    constraint is deactivated, a lease released. Rows: ref, result (deleted, not_found, not_allowed,
    conflict), note (what went with it, or why not); an error if none was deleted. dry_run tells the same and
    deletes nothing.
    """
    return deleting.delete_refs(caller=caller, refs=refs, dry_run=dry_run)
