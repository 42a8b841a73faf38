"""Looks up objects of any kind by their refs, also by refs without a kind, as agents write them."""

import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress

from ctxhub.core.kit.errors import CtxhubError, InvalidInput, NotFound, shown, unknown_word
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.inputs import clean_name, read_id
from ctxhub.core.kit.lengths import PATH_LENGTH
from ctxhub.core.links import ObjectKey as ObjectKey
from ctxhub.core.registry import (
    OTHER_KINDS,
    Noun,
    all_nouns,
    find_noun,
    names_a_kind,
    searched_nouns,
    split_ref,
)
from ctxhub.core.search.documents import Document
from ctxhub.core.search.search import search
from ctxhub.core.text.path_forms import spellings


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


NEAR = 5
RESOURCE = "resource"
_FILE = re.compile(r"(?:[^\s:/\\]+/)*[^\s:/\\]*\w\.[A-Za-z]\w{0,7}")
_KIND_AND_ID = re.compile(r"([A-Za-z]+)\s*[\s/#=-]\s*(\d+)")


def is_bare(ref: str) -> bool:
    """Whether a ref may be the name of an object without its kind: an id is none, as every kind has it."""
    name = ref.strip()
    return bool(name) and not names_a_kind(name) and read_id(name) is None and name.strip(":") == name


def meanings_of(project_id: int, refs: Iterable[str]) -> Mapping[str, Sequence[str]]:
    """For each ref without a kind the refs of the objects of this name, with one query for each kind."""
    names = {ref: name for ref in refs if is_bare(ref) and (name := _name_in(ref))}
    if not names:
        return {}
    meant: dict[str, list[str]] = {ref: [] for ref in names}
    for noun in _named_nouns():
        found = _names_known(noun, project_id, list(names.values()))
        for ref, name in names.items():
            if name in found:
                meant[ref].append(f"{noun.kind}:{name}")
    return meant


def _name_in(ref: str) -> str:
    """The name, as those of objects are read; "" for what none can have."""
    with suppress(InvalidInput):
        return clean_name(ref, "ref", at_most=PATH_LENGTH)
    return ""


def file_named(ref: str) -> str:
    """The ref of the file that a bare path can only mean, whether it is known or not; "" for other names."""
    path = spellings(ref.strip())[-1]
    return f"{RESOURCE}:{path}" if is_bare(ref) and _FILE.fullmatch(path) else ""


def why_not(project_id: int, ref: str, meant: Sequence[str], error: InvalidInput) -> CtxhubError:
    """Why a bare ref names nothing, or not one thing. `error`: what was said of its form."""
    if len(meant) > 1:
        return means_several(ref, meant)
    if suggested := _kind_and_id(ref):
        return InvalidInput(error.message, hint=error.hint, did_you_mean=suggested)
    if ":" in ref or not is_bare(ref) or not _name_in(ref):
        return error
    return NotFound(
        f"{shown(ref)} is not a ref, and nothing is called so.",
        hint="A ref is a kind, a colon and a name: decision:api/auth/method.",
        near=refs_near(project_id, ref),
    )


def refs_near(project_id: int, text: str, kinds: Sequence[str] | None = None) -> list[str]:
    """The refs of the 5 objects that a search for the text finds first."""
    return [hit.ref for hit in search(project_id, text, detail="ids", limit=NEAR, kinds=kinds).hits]


def means_several(ref: str, meant: Sequence[str]) -> InvalidInput:
    return InvalidInput(
        f"{shown(ref)} is the name of {len(meant)} things.", hint="Name one by its ref.", allowed=list(meant)
    )


def _kind_and_id(ref: str) -> str:
    """`memory:17` for `memory 17`, `memory/17` and `memory #17`."""
    found = _KIND_AND_ID.fullmatch(ref.strip())
    kind = found[1].lower() if found else ""
    kind = OTHER_KINDS.get(kind, kind)
    return f"{kind}:{found[2]}" if found and find_noun(kind) else ""


def _named_nouns() -> Sequence[Noun]:
    """The kinds whose refs hold names: of the others an id is the name."""
    return [noun for noun in all_nouns() if noun.open and (noun.ids_of or noun.is_named)]


def _names_known(noun: Noun, project_id: int, names: Sequence[str]) -> Iterable[str]:
    if noun.ids_of:
        return noun.ids_of(project_id, names)
    assert noun.open is not None
    return noun.open(project_id, names, False)
