"""Deletes objects of any kind by their refs, each by itself."""

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import accumulate
from typing import Any

from ctxhub.core import registry
from ctxhub.core.bin.binning import not_kept
from ctxhub.core.hub.ref_outcomes import DELETED, NOT_ALLOWED, NOT_FOUND, Outcome, each_by_itself, refused_as
from ctxhub.core.hub.refs import meanings_of
from ctxhub.core.kit.batches import BYTES_AT_ONCE, do_first, done_before, remembered
from ctxhub.core.kit.caller import READ, Caller
from ctxhub.core.kit.errors import CtxhubError, InvalidInput, NotAllowed
from ctxhub.core.kit.listing import Listing
from ctxhub.core.kit.tool_names import call_of, operation
from ctxhub.core.kit.transactions import write_transaction
from ctxhub.core.registry import Deletion, Kept, Noun

# The refs of a kind, by the names in them.
Names = Mapping[str, Sequence[str]]


def delete_refs(*, caller: Caller, refs: Sequence[str], dry_run: bool = False) -> Listing:
    """Delete up to 50 objects; `dry_run` only tells what would happen. Raises as `each_by_itself` does."""
    return each_by_itself(caller, refs, _sorted_out, _outcomes, result=DELETED, dry_run=dry_run)


# -- What is asked for -----------------------------------------------------------------------------


def _sorted_out(
    caller: Caller, refs: Sequence[str]
) -> tuple[dict[str, Outcome], list[tuple[Deletion, Names]]]:
    """What is refused without a look at the objects, and the others; containers come after contents."""
    refused: dict[str, Outcome] = {}
    nouns: dict[str, Noun] = {}
    names: dict[str, dict[str, list[str]]] = {}
    for ref in dict.fromkeys(refs):
        try:
            noun, name = registry.split_ref(ref)
        except InvalidInput as error:
            refused[ref] = refused_as(error, ref, NOT_FOUND)
            continue
        if refusal := _why_not(caller, noun):
            refused[ref] = refused_as(refusal, ref, NOT_ALLOWED)
            continue
        nouns[noun.kind] = noun
        names.setdefault(noun.kind, {}).setdefault(name, []).append(ref)
    allowed = [(noun.deletion, names[kind]) for kind, noun in nouns.items()]
    found = [(deletion, of_kind) for deletion, of_kind in allowed if isinstance(deletion, Deletion)]
    _suggest(caller, refused)
    return refused, sorted(found, key=lambda each: bool(each[0].contents))


def _suggest(caller: Caller, refused: Mapping[str, Outcome]) -> None:
    """Add what names without a kind mean to their errors: a deletion is never taken from a guess."""
    for ref, meant in meanings_of(caller.project_id, refused).items() if caller.may(READ) else ():
        if (error := refused[ref].error) and meant:
            error.details |= {"allowed": meant} if len(meant) > 1 else {"did_you_mean": meant[0]}


def _why_not(caller: Caller, noun: Noun) -> CtxhubError | None:
    if isinstance(noun.deletion, Deletion):
        return _missing_scope(caller, noun, noun.deletion.scope)
    kept = noun.deletion or Kept("")
    told = f"{operation(' '.join(kept.call))} {kept.instead}" if kept.call else kept.instead
    call = call_of(*kept.call) if kept.call else None
    return InvalidInput(f"A {noun.kind} is not deleted by its ref: {told}.", call=call)


def _missing_scope(caller: Caller, noun: Noun, scope: str) -> NotAllowed | None:
    try:
        caller.require(scope, f"Deleting a {noun.kind}")
    except NotAllowed as error:
        return error
    return None


# -- Deleting --------------------------------------------------------------------------------------


def _outcomes(caller: Caller, named: Sequence[tuple[Deletion, Names]], is_dry: bool) -> dict[str, Outcome]:
    outcomes: dict[str, Outcome] = {}
    for deletion, names in named:
        early = _deleted_early(deletion, names)
        found = deletion.find(caller, [name for name in names if name not in early])
        rows = _rows_in(found)
        along = deletion.along(rows) if deletion.along and rows else {}
        if rows and not is_dry:
            _delete_early(caller, deletion, names, rows)
            deletion.delete(caller, rows)
        for name, refs in names.items():
            row = found.get(name)
            note = early[name] if name in early else _note(along, refs[0], row)
            for ref in refs:
                refusal = row if isinstance(row, CtxhubError) else None
                outcomes[ref] = refused_as(refusal, ref) if refusal else Outcome(DELETED, note)
    return outcomes


def _note(along: Mapping[int, str], ref: str, row: Any) -> str:
    """What went with an object, and whether it is in the bin."""
    if isinstance(row, CtxhubError):
        return ""
    noun = registry.noun_of_ref(ref)  # Its name may be one that no object may have any more.
    assert noun
    return ", ".join(filter(None, (along.get(row.id, ""), not_kept(noun.model, row.id))))


def _rows_in(found: Mapping[str, Any]) -> list[Any]:
    return list({row.id: row for row in found.values() if not isinstance(row, CtxhubError)}.values())


# -- What is too much for one transaction ----------------------------------------------------------


def _delete_early(caller: Caller, deletion: Deletion, names: Names, rows: Sequence[Any]) -> None:
    """Delete large objects but the last batch of them, and begin the transaction again."""
    key = _key(deletion, names)
    if len(rows) > 1 and done_before(key) is None and _ends(deletion, rows)[-1] > BYTES_AT_ONCE:
        do_first(key, partial(_delete_batch, caller, deletion, names))


def _deleted_early(deletion: Deletion, names: Names) -> Mapping[str, str]:
    """The notes of what was deleted before the transaction, by name."""
    return remembered(_key(deletion, names))


def _delete_batch(caller: Caller, deletion: Deletion, names: Names) -> Mapping[str, int]:
    """Delete as many as fit into a transaction, unless all that are left do."""
    with write_transaction(caller.project_id):
        found = deletion.find(caller, [name for name in names if name not in _deleted_early(deletion, names)])
        rows = _rows_in(found)
        ends = _ends(deletion, rows)
        if not rows or ends[-1] <= BYTES_AT_ONCE:
            return {}
        batch = rows[: max(sum(end <= BYTES_AT_ONCE for end in ends), 1)]
        along = deletion.along(batch) if deletion.along else {}
        deletion.delete(caller, batch)
    ids = {row.id for row in batch}
    gone = {n: row for n, row in found.items() if not isinstance(row, CtxhubError) and row.id in ids}
    notes = {name: _note(along, names[name][0], row) for name, row in gone.items()}
    remembered(_key(deletion, names)).update(notes)
    return dict.fromkeys(gone, 1)


def _ends(deletion: Deletion, rows: Sequence[Any]) -> list[int]:
    """How many bytes go with the first rows: with one, two, ..."""
    sizes = deletion.sizes(rows) if deletion.sizes and rows else {}
    return list(accumulate(sizes.get(row.id, 0) for row in rows))


def _key(deletion: Deletion, names: Names) -> str:
    return f"{deletion.find.__name__} {list(names)}"
