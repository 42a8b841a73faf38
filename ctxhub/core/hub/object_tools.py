"""The tools `delete` and `get`: remove, bring back, and open anything by its ref."""

from collections.abc import Sequence
from functools import partial
from typing import Annotated, Any, NotRequired

# pydantic writes the answer's schema, and wants this TypedDict before Python 3.12.
from typing_extensions import TypedDict

from ctxhub.core import registry
from ctxhub.core.hub.deleting import delete_refs
from ctxhub.core.hub.partial_reads import Excerpt, Opened, Reading, RequestedLines, clean_requested_lines
from ctxhub.core.hub.ref_outcomes import DeletedRow
from ctxhub.core.hub.refs import meanings_of, why_not
from ctxhub.core.hub.undoing import undo_deletions
from ctxhub.core.kit.answers import MAX_TOKENS, fit
from ctxhub.core.kit.caller import ADMIN, READ, WRITE, Caller
from ctxhub.core.kit.errors import InvalidInput
from ctxhub.core.kit.inputs import LIST_LENGTH, clean_one_of
from ctxhub.core.kit.listing import AnyObject, Listing
from ctxhub.core.use import tally
from ctxhub.core.use.whole import texts_of
from ctxhub.toolbox.actions import action, tool
from ctxhub.toolbox.argument_types import (
    About,
    Lines,
    Refs,
    RowsOf,
    Says,
    Tail,
)

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


tool("get", "Open anything by its ref (decision:api/auth).")


# If several objects are too long together, none is cut to less than this fraction (1/4) of the budget.
LEAST_SHARE = 4


class GetAnswer(TypedDict):
    items: list[AnyObject]
    missing: list[str]
    hint: NotRequired[str]
    omitted: NotRequired[int]
    omitted_refs: NotRequired[list[str]]
    truncated: NotRequired[bool]
    total_lines: NotRequired[int]
    next_lines: NotRequired[str]
    also_cut: NotRequired[list[str]]


@action("get", example={"refs": ["decision:api/auth/method"], "detail": "digest"})
def get(
    caller: Caller,
    refs: Refs,
    detail: Annotated[str, Says("full|digest")] = "full",
    lines: Lines | None = None,
    tail: Tail | None = None,
) -> Reading[GetAnswer]:
    """Open up to 50 things by their refs.

    What does not exist in this project is listed in `missing`, and so is what is no ref (`hint` says why);
    `omitted` counts the last ones, for which max_tokens left no room, and `omitted_refs` names the first of
    these. `digest` is a short form for deciding
    what to read. What is too long is cut: `truncated`, and `next_lines` is the `lines` to read on with, of
    one ref at a time. `lines`: "10-40", "10-", "12", or "12@21000-": from the 21,000th character of line 12;
    `tail`: the last ones. They read the main text (value, text, content); "rationale:1-" reads another field,
    and `also_cut` names such fields.
    """
    if not 1 <= len(refs) <= LIST_LENGTH:
        raise InvalidInput(f"refs has {len(refs)} entries; name 1 to {LIST_LENGTH}.")
    full = clean_one_of(detail, ["full", "digest"], "detail") == "full"
    requested = clean_requested_lines(lines, tail)
    readable, hint = _readable(caller, refs)
    if requested and (len(set(refs)) > 1 or not full):
        raise InvalidInput("lines and tail read one ref, with detail full.")
    opened = _open(caller, list(readable.values()), full)
    objects = [
        _object(noun, {"ref": f"{noun.kind}:{name}", **opened[noun.kind, name]}, full, requested)
        for noun, name in _found(readable.values(), opened)
    ]
    found = {ref for ref, (noun, name) in readable.items() if (noun.kind, name) in opened}
    missing = [ref for ref in dict.fromkeys(refs) if ref not in found]
    missing = fit({"missing": missing}, MAX_TOKENS // 2)["missing"]
    extra = {"hint": hint} if hint else {}
    if not full:
        refs_found = [f"{noun.kind}:{name}" for noun, name in _found(readable.values(), opened)]
        tally.behind(partial(texts_of, caller.project_id, refs_found))
    return Reading(objects, lambda items: {"items": items, "missing": missing, **extra}, LEAST_SHARE)


def _readable(caller: Caller, refs: Sequence[str]) -> tuple[dict[str, tuple[registry.Noun, str]], str]:
    """The refs that name something, split, and why the first of the others does not; raises it if all do not.

    A name without a kind is the ref of the only thing called so.
    """
    read: dict[str, tuple[registry.Noun, str]] = {}
    refused: dict[str, InvalidInput] = {}
    for ref in refs:
        try:
            read[ref] = registry.split_ref(ref)
        except InvalidInput as error:
            refused[ref] = error
    meant = meanings_of(caller.project_id, refused)
    for ref in [ref for ref in refused if len(meant.get(ref, ())) == 1]:
        read[ref] = registry.split_ref(meant[ref][0])
        del refused[ref]
    if not refused:
        return read, ""
    ref, problem = next(iter(refused.items()))
    reason = why_not(caller.project_id, ref, meant.get(ref, ()), problem)
    if not read:
        raise reason
    return read, f"{reason.message} {reason.hint}".strip()


def _object(
    noun: registry.Noun, item: dict[str, Any], full: bool, requested: RequestedLines | None
) -> Opened | Excerpt:
    return Opened(item, noun.text, requested, noun.kind) if full else Excerpt(item, noun.kind)


def _open(
    caller: Caller, refs: Sequence[tuple[registry.Noun, str]], full: bool
) -> dict[tuple[str, str], Any]:
    """The items by kind and name, with one query for each noun."""
    names: dict[str, list[str]] = {}
    nouns = {}
    for noun, name in refs:
        names.setdefault(noun.kind, []).append(name)
        nouns[noun.kind] = noun
    found: dict[tuple[str, str], Any] = {}
    for kind, noun in nouns.items():
        assert noun.open is not None
        items = noun.open(caller.project_id, names[kind], full)
        found |= {(kind, name): item for name, item in items.items()}
        if noun.on_open and items:
            noun.on_open(caller, list(items))
    return found


def _found(refs: Any, opened: Any) -> list[tuple[registry.Noun, str]]:
    return list(dict.fromkeys((noun, name) for noun, name in refs if (noun.kind, name) in opened))
