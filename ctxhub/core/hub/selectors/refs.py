"""Things by their refs, whatever kind they are of: for what points from one to another."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ctxhub.core.kit.errors import NotFound, shown, unknown_word
from ctxhub.core.kit.inputs import read_id
from ctxhub.core.registry import Noun, find_noun, searched_nouns, split_ref
from ctxhub.core.search.documents import Document

ObjectKey = tuple[str, int]
"""A thing's kind and its id."""


@dataclass(frozen=True, slots=True)
class RefObject:
    """What there is to say of a thing before it is opened. `ref` names it as agents do."""

    kind: str
    id: int
    document: Document

    @property
    def ref(self) -> str:
        return self.document.ref

    @property
    def title(self) -> str:
        return self.document.shown_title

    @property
    def place(self) -> ObjectKey:
        return self.kind, self.id


def get_objects(project_id: int, refs: Sequence[str]) -> list[RefObject]:
    """The things of these refs, in their order; raises NotFound for the first that is not there.

    Only what can be searched for can be pointed to; raises InvalidInput for a ref of another kind.
    """
    named = [_searched(ref) for ref in refs]
    ids: dict[tuple[str, str], int] = {}
    for noun, names in _by_noun(named).items():
        ids |= {(noun.kind, name): row_id for name, row_id in _ids_of(noun, project_id, names).items()}
    found = find_objects(project_id, [(kind, row_id) for (kind, _), row_id in ids.items()])
    things = []
    for noun, name in named:
        row_id = ids.get((noun.kind, name))
        if row_id is None or (noun.kind, row_id) not in found:
            raise NotFound(f"There is no {noun.kind} {shown(name)}.", hint="search finds the refs of things.")
        things.append(found[noun.kind, row_id])
    return things


def find_objects(project_id: int, places: Iterable[ObjectKey]) -> dict[ObjectKey, RefObject]:
    """Those that are there, one reading for each kind."""
    ids: dict[str, list[int]] = {}
    for kind, row_id in dict.fromkeys(places):
        ids.setdefault(kind, []).append(row_id)
    return {
        (kind, document.object_id): RefObject(kind, document.object_id, document)
        for kind, row_ids in ids.items()
        if (noun := find_noun(kind)) and noun.documents
        for document in noun.documents(project_id, row_ids)
    }


def _searched(ref: str) -> tuple[Noun, str]:
    noun, name = split_ref(ref)
    if not noun.documents:
        raise unknown_word("ref", noun.kind, [each.kind for each in searched_nouns()])
    return noun, name


def _by_noun(named: Iterable[tuple[Noun, str]]) -> Mapping[Noun, list[str]]:
    names: dict[Noun, list[str]] = {}
    for noun, name in named:
        names.setdefault(noun, []).append(name)
    return names


def _ids_of(noun: Noun, project_id: int, names: Sequence[str]) -> Mapping[str, int]:
    if noun.ids_of:
        return noun.ids_of(project_id, names)
    return {name: row_id for name in names if (row_id := read_id(name))}
