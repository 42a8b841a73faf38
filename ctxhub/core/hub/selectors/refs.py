"""Looks up objects of any kind by their refs, for links between objects."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress

from ctxhub.core.kit.errors import InvalidInput, NotFound, shown, unknown_word
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.inputs import read_id
from ctxhub.core.links import ObjectKey as ObjectKey
from ctxhub.core.registry import Noun, find_noun, searched_nouns, split_ref
from ctxhub.core.search.documents import Document


@frozen
class RefObject:
    """The ref and title of an object, read from its search document."""

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
    """The objects with these refs, in their order. Raises NotFound for the first that does not exist.

    Only kinds in the search index can be linked to: raises InvalidInput for a ref of another kind.
    """
    named = [_split_indexed(ref) for ref in refs]
    ids: dict[tuple[str, str], int] = {}
    for noun, names in _by_noun(named).items():
        ids |= {(noun.kind, name): row_id for name, row_id in _ids_of(noun, project_id, names).items()}
    found = find_objects(project_id, [(kind, row_id) for (kind, _), row_id in ids.items()])
    objects = []
    for noun, name in named:
        row_id = ids.get((noun.kind, name))
        if row_id is None or (noun.kind, row_id) not in found:
            raise NotFound(f"There is no {noun.kind} {shown(name)}.", hint="search finds the refs of things.")
        objects.append(found[noun.kind, row_id])
    return objects


def find_objects(project_id: int, keys: Iterable[ObjectKey]) -> dict[ObjectKey, RefObject]:
    """The objects that exist, by key; reads the documents of each kind once."""
    ids: dict[str, list[int]] = {}
    for kind, row_id in dict.fromkeys(keys):
        ids.setdefault(kind, []).append(row_id)
    return {
        (kind, document.object_id): RefObject(kind, document.object_id, document)
        for kind, row_ids in ids.items()
        if (noun := find_noun(kind)) and noun.documents
        for document in noun.documents(project_id, row_ids).now()
    }


def find_id(project_id: int, noun: Noun, name: str) -> int | None:
    """The id in a ref, or of the row that it names, which is read only where names are no ids."""
    return _ids_of(noun, project_id, [name]).get(name)


def find_keys(project_id: int, refs: Iterable[str]) -> dict[str, ObjectKey]:
    """The objects that stored refs name, with at most one query for each noun; what is no ref is left out.

    Whether an object with an id for its name exists is not checked.
    """
    named: dict[str, tuple[Noun, str]] = {}
    for ref in refs:
        with suppress(InvalidInput):
            named[ref] = split_ref(ref)
    ids = {
        (noun.kind, name): row_id
        for noun, names in _by_noun(named.values()).items()
        for name, row_id in _ids_of(noun, project_id, names).items()
    }
    return {
        ref: (noun.kind, ids[noun.kind, name])
        for ref, (noun, name) in named.items()
        if (noun.kind, name) in ids
    }


def _split_indexed(ref: str) -> tuple[Noun, str]:
    """The noun and the name of a ref. Raises InvalidInput unless the noun is in the search index."""
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
