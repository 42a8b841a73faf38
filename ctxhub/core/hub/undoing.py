"""Brings deleted objects back by their refs, each by itself."""

from collections.abc import Mapping, Sequence
from functools import partial

from ctxhub.core import registry
from ctxhub.core.bin.models import BinItem, BinState
from ctxhub.core.bin.queries import along_in_words, find_items
from ctxhub.core.bin.restoring import Restoring
from ctxhub.core.hub.ref_outcomes import NOT_ALLOWED, NOT_FOUND, RESTORED, Outcome, each_by_itself, refused_as
from ctxhub.core.kit.batches import in_batches, remembered
from ctxhub.core.kit.caller import ADMIN, Caller
from ctxhub.core.kit.errors import Conflict, CtxhubError, InvalidInput, NotAllowed, NotFound
from ctxhub.core.kit.listing import Listing
from ctxhub.core.kit.transactions import write_transaction
from ctxhub.core.registry import Deletion, Noun

Named = Mapping[str, tuple[Noun, str]]
"""Refs, each with its noun and the name in it."""


def undo_deletions(*, caller: Caller, refs: Sequence[str], dry_run: bool = False) -> Listing:
    """Bring up to 50 deleted objects back; `dry_run` only tells what would. Raises as `each_by_itself`."""
    return each_by_itself(caller, refs, _sorted_out, _outcomes, result=RESTORED, dry_run=dry_run)


def restore_entries(*, caller: Caller, item_ids: Sequence[int]) -> dict[int, Outcome]:
    """Bring back what these entries of the bin hold, each by itself; the outcomes by their ids."""
    return in_batches(partial(_restore_entries, caller, item_ids))


def _restore_entries(caller: Caller, item_ids: Sequence[int]) -> dict[int, Outcome]:
    with write_transaction(caller.project_id):
        early = remembered(RESTORED)
        items = BinItem.objects.in_project(caller.project_id).filter(pk__in=item_ids)
        restoring = Restoring(caller)
        outcomes = {row_id: Outcome(RESTORED) for row_id in item_ids if str(row_id) in early}
        for item in sorted(items, key=_order):
            if item.pk not in outcomes:
                outcomes[item.pk] = _restored(caller, restoring, item, [str(item.pk)])
        gone = NotFound("It is not in the bin any more.")
        return {row_id: outcomes.get(row_id) or refused_as(gone, "") for row_id in item_ids}


def _sorted_out(caller: Caller, refs: Sequence[str]) -> tuple[dict[str, Outcome], Named]:
    """What is refused without a look into the bin, and the others."""
    refused: dict[str, Outcome] = {}
    named: dict[str, tuple[Noun, str]] = {}
    for ref in dict.fromkeys(refs):
        try:
            noun, name = registry.split_ref(ref)
        except InvalidInput as error:
            refused[ref] = refused_as(error, ref, NOT_FOUND)
            continue
        try:
            _refuse_scope(caller, noun)
        except NotAllowed as error:
            refused[ref] = refused_as(error, ref, NOT_ALLOWED)
            continue
        named[ref] = (noun, name)
    return refused, named


def _refuse_scope(caller: Caller, noun: Noun) -> None:
    """Raise NotAllowed without the scope that deleting needs."""
    scope = noun.deletion.scope if isinstance(noun.deletion, Deletion) else ADMIN
    caller.require(scope, f"Restoring a {noun.kind}")


def _outcomes(caller: Caller, named: Named, is_dry: bool) -> dict[str, Outcome]:
    """The last deleted comes first: what lay in another object was deleted before that."""
    early = remembered(RESTORED)
    items = find_items(caller.project_id, {ref: each for ref, each in named.items() if ref not in early})
    restoring = Restoring(caller, is_dry=is_dry)
    results: dict[int, Outcome] = {}
    for item in sorted({item.pk: item for item in items.values()}.values(), key=_order):
        refs = [ref for ref, found in items.items() if found.pk == item.pk]
        results[item.pk] = _restored(caller, restoring, item, refs)
    outcomes: dict[str, Outcome] = {}
    for ref in named:
        if ref in early:
            outcomes[ref] = Outcome(RESTORED, early[ref])
        elif ref in items:
            outcomes[ref] = results[items[ref].pk]
        else:
            outcomes[ref] = refused_as(_not_there(ref), ref)
    return outcomes


def _order(item: BinItem) -> tuple[float, bool, int]:
    noun = registry.find_noun(item.kind)
    is_container = bool(noun and isinstance(noun.deletion, Deletion) and noun.deletion.contents)
    return -item.deleted_at.timestamp(), not is_container, -item.pk


def _restored(caller: Caller, restoring: Restoring, item: BinItem, refs: Sequence[str]) -> Outcome:
    note = along_in_words(item)
    try:
        _refuse_entry(caller, item)
        if item.state == BinState.NOT_KEPT:
            raise NotFound(f"{item.ref} was too large for the bin: it is gone.")
        # A large one is back before this transaction, which is then run again.
        keep = dict.fromkeys(refs, note)
        restoring.restore(item, when_begun=lambda: remembered(RESTORED).update(keep))
    except (Conflict, NotAllowed, NotFound) as error:
        return refused_as(error, item.ref)
    return Outcome(RESTORED, note)


def _refuse_entry(caller: Caller, item: BinItem) -> None:
    """Raise NotAllowed without the scope that deleting it needs; another agent's may need more."""
    noun = registry.find_noun(item.kind)
    if noun is None:
        raise NotFound(f"This release knows no {item.kind}.")
    _refuse_scope(caller, noun)
    if isinstance(noun.deletion, Deletion) and noun.deletion.others_scope:
        author = item.author.name if item.author else ""
        if author.casefold() != caller.agent.casefold():
            caller.require(noun.deletion.others_scope, f"Restoring another agent's {noun.kind}")


def _not_there(ref: str) -> CtxhubError:
    return NotFound(f"{ref} is not in the bin.", hint="What was deleted lies there for 30 days.")
