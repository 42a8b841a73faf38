"""Confirms objects: they were looked at, and still hold after the changes of their files."""

from collections.abc import Iterable, Mapping, Sequence

# Pydantic builds the answer's schema and needs this TypedDict before Python 3.12.
from typing_extensions import TypedDict

from ctxhub.core.events.log import Change, record
from ctxhub.core.kit import clock
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import InvalidInput, NotFound, shown, unknown_word
from ctxhub.core.kit.inputs import LIST_LENGTH, read_id
from ctxhub.core.kit.transactions import write_transaction
from ctxhub.core.links import Head, ObjectKey
from ctxhub.core.paths.selectors import Stale, find_stale, nouns_with_paths
from ctxhub.core.paths.services.counting import count_batch
from ctxhub.core.paths.services.patterns import confirm_objects
from ctxhub.core.registry import Noun, split_ref
from ctxhub.core.vocabulary.names import register_agent

# Which no process has counted yet: as a rule none.
MOST_CHANGES = 10_000


class ConfirmAnswer(TypedDict):
    confirmed: int


def confirm(*, caller: Caller, refs: Sequence[str]) -> ConfirmAnswer:
    """Say that 1 to 50 objects still hold as they are: they are stale no more. Counts those that were.

    Raises InvalidInput for a ref of a kind that has no paths, and NotFound with all that do not exist.
    """
    if not 1 <= len(refs) <= LIST_LENGTH:
        raise InvalidInput(f"refs has {len(refs)} entries; name 1 to {LIST_LENGTH}.")
    named = {ref: _split(ref) for ref in dict.fromkeys(refs)}
    with write_transaction(caller.project_id):
        heads = _read_heads(caller.project_id, named)
        # The changes up to now, too, are known to who confirms.
        count_batch(caller.project_id, MOST_CHANGES)
        stale = find_stale(caller.project_id, heads)
        if stale:
            _write(caller, {key: (heads[key], found) for key, found in sorted(stale.items())})
    return ConfirmAnswer(confirmed=len(stale))


def _split(ref: str) -> tuple[Noun, str]:
    noun, name = split_ref(ref)
    if noun.kind not in (kinds := nouns_with_paths()):
        raise unknown_word("ref", noun.kind, list(kinds))
    return noun, name


def _read_heads(project_id: int, named: Mapping[str, tuple[Noun, str]]) -> dict[ObjectKey, Head]:
    """The objects that the refs name. Raises NotFound with all that do not exist."""
    heads: dict[ObjectKey, Head] = {}
    missing: list[str] = []
    for noun, names in _by_noun(named.values()).items():
        ids = noun.ids_of(project_id, names) if noun.ids_of else {name: read_id(name) for name in names}
        row_ids = [row_id for row_id in ids.values() if row_id]
        found = noun.heads(project_id, row_ids) if noun.heads and row_ids else {}
        heads |= {(noun.kind, row_id): head for row_id, head in found.items()}
        missing += [f"{noun.kind}:{name}" for name in names if ids.get(name) not in found]
    if missing:
        one = len(missing) == 1
        raise NotFound(
            f"There is no {shown(missing[0])}." if one else f"There are no {', '.join(map(shown, missing))}.",
            hint="search finds the refs of things. Nothing was confirmed.",
        )
    return heads


def _by_noun(named: Iterable[tuple[Noun, str]]) -> Mapping[Noun, list[str]]:
    names: dict[Noun, list[str]] = {}
    for noun, name in named:
        names.setdefault(noun, []).append(name)
    return names


def _write(caller: Caller, confirmed: Mapping[ObjectKey, tuple[Head, Stale]]) -> None:
    at = clock.now()
    for kind in dict.fromkeys(kind for kind, _ in confirmed):
        confirm_objects(kind, [row_id for of_kind, row_id in confirmed if of_kind == kind])
    record(
        project_id=caller.project_id,
        agent_id=register_agent(caller, at),
        changes=[
            Change(kind, "confirmed", str(head.name), {"note": str(stale)})
            for (kind, _), (head, stale) in confirmed.items()
        ],
        at=at,
    )
